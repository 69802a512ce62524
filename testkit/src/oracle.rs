//! The oracle: gather, gather_nd and gather_elements from their definitions, by coordinates. The oracle is slow and
//! shares no code with the library.

use std::collections::BTreeSet;

use crate::coordinates::{flat, for_each_coordinate, from_front, unravel};

/// An operation and its attributes, as a caller gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Gather { axis: Option<i64>, batch_dims: i64 },
    GatherNd { axis: Option<i64>, batch_dims: i64 },
    GatherElements { axis: i64 },
}

/// A gather's operation, shapes and indices, without a policy for bad rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    pub op: Op,
    pub params_shape: Vec<usize>,
    pub indices_shape: Vec<usize>,
    pub indices: Vec<i128>,
    pub from_end: bool,
}

/// The result of a gather, for elements of any type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// For each output element, the position of the params element that it copies; `None` in the slice of a bad row.
    pub elements: Vec<Option<usize>>,
    /// The numbers of the bad rows. An empty output has none: its index rows are not read.
    pub bad_rows: BTreeSet<usize>,
}

/// The name of the `PlanError` variant that planning returns.
pub type Rejection = &'static str;

impl Op {
    /// The output shape, or the first reason to reject the shapes, if an index below 0 is out of range or, with
    /// `from_end`, counts from the end.
    fn output_shape(
        self,
        params: &[usize],
        indices: &[usize],
        from_end: bool,
    ) -> Result<Vec<usize>, Rejection> {
        match self {
            Self::Gather { .. } => {
                if params.is_empty() {
                    return Err("ParamsScalar");
                }
                let axis = self.axis(params).ok_or("AxisOutOfRange")?;
                let batch_dims = self.batch_dims(indices).ok_or("BatchDimsOutOfRange")?;
                if batch_dims >= params.len() {
                    return Err("BatchDimsNotBelowParamsRank");
                }
                if batch_dims > axis {
                    return Err("BatchDimsAboveAxis");
                }
                if params[..batch_dims] != indices[..batch_dims] {
                    return Err("BatchDimsUnequal");
                }
                let output = [&params[..axis], &indices[batch_dims..], &params[axis + 1..]];
                addressable(params, indices, output.concat())
            }
            Self::GatherNd { axis, batch_dims } => {
                let batch_dims = usize::try_from(batch_dims).map_err(|_| "BatchDimsNegative")?;
                if batch_dims > 0 && batch_dims >= indices.len() {
                    return Err("BatchDimsNotBelowIndicesRank");
                }
                if batch_dims > 0 && batch_dims >= params.len() {
                    return Err("BatchDimsNotBelowParamsRank");
                }
                if params[..batch_dims] != indices[..batch_dims] {
                    return Err("BatchDimsUnequal");
                }
                if params.is_empty() {
                    return Err("ParamsScalar");
                }
                let (&index_depth, rows) = indices.split_last().ok_or("IndicesScalar")?;
                let at = self.axis(params);
                let axis = match axis {
                    Some(_) => at.filter(|&a| a < params.len()).ok_or("AxisOutOfRange")?,
                    None => batch_dims,
                };
                if batch_dims > axis {
                    return Err("BatchDimsAboveAxis");
                }
                if index_depth > params.len() - axis {
                    return Err("IndexDepthAboveRank");
                }
                let slice = &params[axis + index_depth..];
                let output = [&params[..axis], &rows[batch_dims..], slice].concat();
                let output = addressable(params, indices, output)?;
                match !rows.contains(&0) {
                    true if params.contains(&0) && !from_end => Err("EmptyParams"),
                    true if index_depth > 8 => Err("IndexDepthAboveLimit"),
                    _ => Ok(output),
                }
            }
            Self::GatherElements { .. } => {
                if params.is_empty() {
                    return Err("ParamsScalar");
                }
                let axis = self.axis(params).ok_or("AxisOutOfRange")?;
                if params.len() != indices.len() {
                    return Err("RanksUnequal");
                }
                if (0..params.len()).any(|k| k != axis && indices[k] > params[k]) {
                    return Err("IndicesDimAboveParams");
                }
                addressable(params, indices, indices.to_vec())
            }
        }
    }

    /// The dims of params that the values of an index row select in. The shapes must be valid.
    pub fn indexed_dims(self, params: &[usize], indices: &[usize]) -> Vec<usize> {
        match self {
            Self::Gather { .. } | Self::GatherElements { .. } => {
                vec![params[self.axis(params).unwrap()]]
            }
            Self::GatherNd { .. } => {
                params[self.axis(params).unwrap()..][..indices[indices.len() - 1]].to_vec()
            }
        }
    }

    /// Index rows of one batch. A batch of gather_elements is one coordinate of the leading dims before the axis that
    /// both operands share. The shapes must be valid.
    pub fn index_count(self, params: &[usize], indices: &[usize]) -> usize {
        let rows = match self {
            Self::Gather { .. } => &indices[self.batch_dims(indices).unwrap()..],
            Self::GatherNd { .. } => &indices[self.batch_dims(indices).unwrap()..indices.len() - 1],
            Self::GatherElements { .. } => {
                let axis = self.axis(params).unwrap();
                let shared = (0..axis).take_while(|&dim| params[dim] == indices[dim]);
                &indices[shared.count()..]
            }
        };
        rows.iter().product()
    }

    /// Rows of params in all blocks. The shapes must be valid.
    pub fn params_rows(self, params: &[usize], indices: &[usize]) -> usize {
        let end = match self {
            Self::Gather { .. } => self.axis(params).unwrap() + 1,
            Self::GatherNd { .. } => self.axis(params).unwrap() + indices[indices.len() - 1],
            Self::GatherElements { .. } => params.len(),
        };
        params[..end].iter().product()
    }

    /// The axis, counted from the front; `None` if out of range. The default axis is batch_dims as written, and for
    /// gather_nd it may be the rank of params, if the index depth is 0.
    fn axis(self, params: &[usize]) -> Option<usize> {
        let (axis, end) = match self {
            Self::Gather { axis, batch_dims } => (axis.unwrap_or(batch_dims), params.len()),
            Self::GatherElements { axis } => (axis, params.len()),
            Self::GatherNd { axis, batch_dims } => (axis.unwrap_or(batch_dims), params.len() + 1),
        };
        from_front(axis, params.len()).filter(|&a| a < end)
    }

    fn batch_dims(self, indices: &[usize]) -> Option<usize> {
        let batch_dims = match self {
            Self::Gather { batch_dims, .. } | Self::GatherNd { batch_dims, .. } => batch_dims,
            Self::GatherElements { .. } => 0,
        };
        from_front(batch_dims, indices.len()).filter(|&b| b <= indices.len())
    }
}

impl Case {
    /// The output shape, or the first reason to reject the shapes.
    pub fn output_shape(&self) -> Result<Vec<usize>, Rejection> {
        self.op
            .output_shape(&self.params_shape, &self.indices_shape, self.from_end)
    }

    /// Looks up each element of the output. The shapes must be valid.
    pub fn answer(&self) -> Answer {
        let (params, indices) = (&self.params_shape, &self.indices_shape);
        let output = self.output_shape().unwrap();
        let batch_dims = self.op.batch_dims(indices).unwrap();
        let mut answer = Answer {
            elements: Vec::with_capacity(output.iter().product()),
            bad_rows: BTreeSet::new(),
        };
        for_each_coordinate(&output, |output_at| {
            let (row, params_at) = match self.op {
                // output[p.., i.., q..] = params[p.., indices[p[..batch_dims].., i..], q..]
                Op::Gather { .. } => {
                    let axis = self.op.axis(params).unwrap();
                    let (p, rest) = output_at.split_at(axis);
                    let (i, q) = rest.split_at(indices.len() - batch_dims);
                    let row = flat(&[&p[..batch_dims], i].concat(), indices);
                    let at = self.position(self.indices[row], params[axis]);
                    (row, at.map(|at| [p, &[at], q].concat()))
                }
                // output[p.., i.., q..] = params[p.., indices[p[..batch_dims].., i..].., q..]
                Op::GatherNd { .. } => {
                    let (axis, last) = (self.op.axis(params).unwrap(), indices.len() - 1);
                    let (p, rest) = output_at.split_at(axis);
                    let (i, q) = rest.split_at(last - batch_dims);
                    let i = [&p[..batch_dims], i].concat();
                    let row = flat(&i, &indices[..last]);
                    let index = (0..indices[last]).map(|k| {
                        let value = self.indices[flat(&[&i[..], &[k]].concat(), indices)];
                        self.position(value, params[axis + k])
                    });
                    let at: Option<Vec<usize>> = index.collect();
                    (row, at.map(|at| [p, &at, q].concat()))
                }
                // output[p.., i, q..] = params[p.., indices[p.., i, q..], q..]
                Op::GatherElements { .. } => {
                    let axis = self.op.axis(params).unwrap();
                    let row = flat(output_at, indices);
                    let at = self.position(self.indices[row], params[axis]);
                    let (p, q) = (&output_at[..axis], &output_at[axis + 1..]);
                    (row, at.map(|at| [p, &[at], q].concat()))
                }
            };
            if params_at.is_none() {
                answer.bad_rows.insert(row);
            }
            answer.elements.push(params_at.map(|at| flat(&at, params)));
        });
        answer
    }

    /// The text of the error that names this bad row.
    pub fn bad_index_text(&self, row: usize) -> String {
        // TensorFlow prints positions and shapes without spaces: `[1,2]`.
        let tight = |list: &[usize]| format!("{list:?}").replace(' ', "");
        let position = |shape: &[usize]| match unravel(row, shape) {
            at if at.is_empty() => String::new(),
            at => tight(&at),
        };
        match self.op {
            Op::Gather { .. } | Op::GatherElements { .. } => {
                let dim = self
                    .op
                    .indexed_dims(&self.params_shape, &self.indices_shape)[0]
                    as i128;
                let first = if self.from_end { -dim } else { 0 };
                let (at, value) = (position(&self.indices_shape), self.indices[row]);
                format!("indices{at} = {value} is not in [{first}, {dim})")
            }
            Op::GatherNd { .. } => {
                let (&index_depth, rows) = self.indices_shape.split_last().unwrap();
                let batch_dims = self.op.batch_dims(&self.indices_shape).unwrap();
                let batch = unravel(row, rows).into_iter().take(batch_dims);
                let values = &self.indices[row * index_depth..][..index_depth];
                let index: Vec<i128> = batch.map(|at| at as i128).chain(values.to_vec()).collect();
                let (at, params) = (position(rows), tight(&self.params_shape));
                let axis = self.op.axis(&self.params_shape).unwrap();
                if axis > batch_dims {
                    let end = axis + index_depth;
                    return format!(
                        "indices{at} = {values:?} does not index into dims {axis}..{end} of param shape {params}"
                    );
                }
                format!("indices{at} = {index:?} does not index into param shape {params}")
            }
        }
    }

    /// The position that an index value selects in a dim; `None` if out of range.
    fn position(&self, value: i128, dim: usize) -> Option<usize> {
        let dim = dim as i128;
        let at = if self.from_end && value < 0 {
            value + dim
        } else {
            value
        };
        (0..dim)
            .contains(&at)
            .then(|| usize::try_from(at).expect("below a dim"))
    }
}

/// The output shape, unless the nonzero dims of a tensor multiply to more than `i64::MAX`.
fn addressable(
    params: &[usize],
    indices: &[usize],
    output: Vec<usize>,
) -> Result<Vec<usize>, Rejection> {
    let too_large = |shape: &[usize]| {
        let dims = shape.iter().filter(|&&dim| dim > 0);
        let elements = dims.fold(1_u128, |product, &dim| product.saturating_mul(dim as u128));
        elements > i64::MAX as u128
    };
    if [params, indices, &output].into_iter().any(too_large) {
        return Err("TooManyElements");
    }
    Ok(output)
}
