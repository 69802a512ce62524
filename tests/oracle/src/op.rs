//! The operations, with the shapes that each allows.

use crate::coordinates::from_front;

/// An operation and its attributes, as a caller gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Gather { axis: Option<i64>, batch_dims: i64 },
    GatherNd { axis: Option<i64>, batch_dims: i64 },
    GatherElements { axis: i64, broadcast: bool },
}

/// The name of the `PlanError` variant that planning returns.
pub type Rejection = &'static str;

impl Op {
    /// The output shape, or the first reason to reject the shapes. An index below 0 is out of range or, with `from_end`,
    /// counts from the end.
    pub fn output_shape(
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
            Self::GatherElements { broadcast, .. } => {
                if params.is_empty() {
                    return Err("ParamsScalar");
                }
                let axis = self.axis(params).ok_or("AxisOutOfRange")?;
                if params.len() != indices.len() {
                    return Err("RanksUnequal");
                }
                let mut output = indices.to_vec();
                for k in (0..params.len()).filter(|&k| k != axis) {
                    let (p, i) = (params[k], indices[k]);
                    if broadcast && p != i && p != 1 && i != 1 {
                        return Err("DimsNotBroadcast");
                    }
                    if !broadcast && i > p {
                        return Err("IndicesDimAboveParams");
                    }
                    if broadcast && i == 1 {
                        output[k] = p;
                    }
                }
                addressable(params, indices, output)
            }
        }
    }

    /// The params dims that an index row's values select in. The shapes must be valid.
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

    /// Index rows in one batch. In gather_elements, a batch is one coordinate of the leading dims that params and indices
    /// share, up to the axis. The shapes must be valid.
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

    /// Params rows in all blocks. The shapes must be valid.
    pub fn params_rows(self, params: &[usize], indices: &[usize]) -> usize {
        let end = match self {
            Self::Gather { .. } => self.axis(params).unwrap() + 1,
            Self::GatherNd { .. } => self.axis(params).unwrap() + indices[indices.len() - 1],
            Self::GatherElements { .. } => self.repeats(params, indices).1,
        };
        params[..end].iter().product()
    }

    /// For gather_elements: true if a dim outside the slice and the outer dims repeats indices, and the slice's first dim.
    pub fn repeats(self, params: &[usize], indices: &[usize]) -> (bool, usize) {
        let axis = self.axis(params).unwrap();
        let stretches = matches!(
            self,
            Self::GatherElements {
                broadcast: true,
                ..
            }
        );
        let repeated = |k: &usize| stretches && *k != axis && indices[*k] == 1;
        let shared = (0..axis).take_while(|&k| params[k] == indices[k]).count();
        let outer = (shared..axis).take_while(repeated).count();
        let slice = (axis + 1..params.len()).rev().take_while(repeated).count();
        let end = params.len() - slice;
        let within = (shared + outer..end).any(|k| repeated(&k) && params[k] != 1);
        (within, end)
    }

    /// The axis, counted from the front; `None` if out of range. The default axis is batch_dims as written. For gather_nd
    /// it may be the params rank, if the index depth is 0.
    pub fn axis(self, params: &[usize]) -> Option<usize> {
        let (axis, end) = match self {
            Self::Gather { axis, batch_dims } => (axis.unwrap_or(batch_dims), params.len()),
            Self::GatherElements { axis, .. } => (axis, params.len()),
            Self::GatherNd { axis, batch_dims } => (axis.unwrap_or(batch_dims), params.len() + 1),
        };
        from_front(axis, params.len()).filter(|&a| a < end)
    }

    pub fn batch_dims(self, indices: &[usize]) -> Option<usize> {
        let batch_dims = match self {
            Self::Gather { batch_dims, .. } | Self::GatherNd { batch_dims, .. } => batch_dims,
            Self::GatherElements { .. } => 0,
        };
        from_front(batch_dims, indices.len()).filter(|&b| b <= indices.len())
    }
}

/// The output shape, unless a tensor's nonzero dims multiply to more than `i64::MAX`.
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
