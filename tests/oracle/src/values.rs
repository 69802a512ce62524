//! The element that each output element copies.

use crate::coordinates::flat;
use crate::op::Op;

/// A gather's operation and shapes, with index values that a function looks up: tensors of any size need no memory.
/// The shapes must be valid.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    pub op: Op,
    pub params_shape: &'a [usize],
    pub indices_shape: &'a [usize],
    pub from_end: bool,
    /// The index value at a position in indices.
    pub value: &'a dyn Fn(usize) -> i128,
}

impl Values<'_> {
    /// The index row that an output element reads, and the position of the params element that it copies; `None` if the
    /// index row is bad.
    pub fn element(&self, output_at: &[usize]) -> (usize, Option<usize>) {
        let (params, indices) = (self.params_shape, self.indices_shape);
        let axis = self.op.axis(params).unwrap();
        let batch_dims = self.op.batch_dims(indices).unwrap();
        let (row, params_at) = match self.op {
            // output[p.., i.., q..] = params[p.., indices[p[..batch_dims].., i..], q..]
            Op::Gather { .. } => {
                let (p, rest) = output_at.split_at(axis);
                let (i, q) = rest.split_at(indices.len() - batch_dims);
                let row = flat(&[&p[..batch_dims], i].concat(), indices);
                let at = self.position((self.value)(row), params[axis]);
                (row, at.map(|at| [p, &[at], q].concat()))
            }
            // output[p.., i.., q..] = params[p.., indices[p[..batch_dims].., i..].., q..]
            Op::GatherNd { .. } => {
                let last = indices.len() - 1;
                let (p, rest) = output_at.split_at(axis);
                let (i, q) = rest.split_at(last - batch_dims);
                let i = [&p[..batch_dims], i].concat();
                let row = flat(&i, &indices[..last]);
                let index = (0..indices[last]).map(|k| {
                    let value = (self.value)(flat(&[&i[..], &[k]].concat(), indices));
                    self.position(value, params[axis + k])
                });
                let at: Option<Vec<usize>> = index.collect();
                (row, at.map(|at| [p, &at, q].concat()))
            }
            // output[p.., i, q..] = params[p.., indices[p.., i, q..], q..], where a dim of 1 that broadcasting
            // stretches has the coordinate 0
            Op::GatherElements { broadcast, .. } => {
                let in_shape = |shape: &[usize]| -> Vec<usize> {
                    let stretches = |k: usize| broadcast && k != axis && shape[k] == 1;
                    let at = |k: usize| if stretches(k) { 0 } else { output_at[k] };
                    (0..shape.len()).map(at).collect()
                };
                let row = flat(&in_shape(indices), indices);
                let at = self.position((self.value)(row), params[axis]);
                let mut params_at = in_shape(params);
                let params_at = at.map(|at| {
                    params_at[axis] = at;
                    params_at
                });
                (row, params_at)
            }
        };
        (row, params_at.map(|at| flat(&at, params)))
    }

    /// The params dims that an index row's values select in.
    pub fn indexed_dims(&self) -> Vec<usize> {
        self.op.indexed_dims(self.params_shape, self.indices_shape)
    }

    /// True if a value in the index row is out of range.
    pub fn is_bad(&self, row: usize) -> bool {
        let dims = self.indexed_dims();
        let mut values = (row * dims.len()..).zip(&dims);
        values.any(|(at, &dim)| self.position((self.value)(at), dim).is_none())
    }

    /// The position that an index value selects in a dim; `None` if out of range.
    fn position(&self, value: i128, dim: usize) -> Option<usize> {
        let at = match self.from_end && value < 0 {
            true => value + dim as i128,
            false => value,
        };
        usize::try_from(at).ok().filter(|&at| at < dim)
    }
}
