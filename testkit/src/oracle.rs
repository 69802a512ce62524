//! The oracle: gather, gather_nd and gather_elements from their definitions, by coordinates. The oracle is slow and
//! shares no code with the library.

use std::collections::BTreeSet;

use crate::coordinates::{flat, for_each_coordinate, unravel};
pub use crate::op::{Op, Rejection};

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

impl Case {
    /// The output shape, or the first reason to reject the shapes.
    pub fn output_shape(&self) -> Result<Vec<usize>, Rejection> {
        self.op
            .output_shape(&self.params_shape, &self.indices_shape, self.from_end)
    }

    /// True if broadcasting repeats index rows within a block of output rows. The shapes must be valid.
    pub fn repeats_index_rows(&self) -> bool {
        matches!(self.op, Op::GatherElements { .. })
            && self.op.repeats(&self.params_shape, &self.indices_shape).0
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
                // output[p.., i, q..] = params[p.., indices[p.., i, q..], q..], where a dim of 1 that broadcasting
                // stretches has the coordinate 0
                Op::GatherElements { broadcast, .. } => {
                    let axis = self.op.axis(params).unwrap();
                    let in_shape = |shape: &[usize]| -> Vec<usize> {
                        let stretches = |k: usize| broadcast && k != axis && shape[k] == 1;
                        let at = |k: usize| if stretches(k) { 0 } else { output_at[k] };
                        (0..shape.len()).map(at).collect()
                    };
                    let row = flat(&in_shape(indices), indices);
                    let at = self.position(self.indices[row], params[axis]);
                    let mut params_at = in_shape(params);
                    (
                        row,
                        at.map(|at| {
                            params_at[axis] = at;
                            params_at
                        }),
                    )
                }
            };
            if params_at.is_none() {
                answer.bad_rows.insert(row);
            }
            answer.elements.push(params_at.map(|at| flat(&at, params)));
        });
        answer
    }

    /// For each index row, true if one of its values selects no entry of its dim, also if the output is empty. The shapes
    /// must be valid.
    pub fn out_of_range(&self) -> Vec<bool> {
        let dims = self
            .op
            .indexed_dims(&self.params_shape, &self.indices_shape);
        let rows = match self.op {
            Op::Gather { .. } | Op::GatherElements { .. } => &self.indices_shape[..],
            Op::GatherNd { .. } => &self.indices_shape[..self.indices_shape.len() - 1],
        };
        let is_bad = |row: usize| {
            let values = &self.indices[row * dims.len()..][..dims.len()];
            let mut pairs = values.iter().zip(&dims);
            pairs.any(|(&value, &dim)| self.position(value, dim).is_none())
        };
        (0..rows.iter().product()).map(is_bad).collect()
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
