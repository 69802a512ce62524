//! The oracle: gather, gather_nd and gather_elements from their definitions, by coordinates. The oracle is slow and
//! shares no code with the library.

use std::collections::BTreeSet;

pub use crate::coordinates::unravel;
use crate::coordinates::{flat, for_each_coordinate};
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
        let output = self.output_shape().unwrap();
        let mut answer = Answer {
            elements: Vec::with_capacity(output.iter().product()),
            bad_rows: BTreeSet::new(),
        };
        let value = |at: usize| self.indices[at];
        let gather = self.with_values(&value);
        for_each_coordinate(&output, |output_at| {
            let (row, element) = gather.element(output_at);
            if element.is_none() {
                answer.bad_rows.insert(row);
            }
            answer.elements.push(element);
        });
        answer
    }

    fn with_values<'a>(&'a self, value: &'a dyn Fn(usize) -> i128) -> Values<'a> {
        Values {
            op: self.op,
            params_shape: &self.params_shape,
            indices_shape: &self.indices_shape,
            from_end: self.from_end,
            value,
        }
    }

    /// For each index row, true if one of its values selects no entry of its dim, also if the output is empty. The shapes
    /// must be valid.
    pub fn out_of_range(&self) -> Vec<bool> {
        let rows = match self.op {
            Op::Gather { .. } | Op::GatherElements { .. } => &self.indices_shape[..],
            Op::GatherNd { .. } => &self.indices_shape[..self.indices_shape.len() - 1],
        };
        let value = |at: usize| self.indices[at];
        let gather = self.with_values(&value);
        let rows = 0..rows.iter().product();
        rows.map(|row| gather.is_bad(row)).collect()
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
}

/// A gather's operation and shapes, with index values that a function looks up: tensors of any size need no memory.
/// The shapes must be valid.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    pub op: Op,
    pub params_shape: &'a [usize],
    pub indices_shape: &'a [usize],
    pub from_end: bool,
    /// The index value at a position of indices.
    pub value: &'a dyn Fn(usize) -> i128,
}

impl Values<'_> {
    /// The number of the index row of an output element, and the position of the params element that it copies; `None`
    /// if the index row is bad.
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

    /// The dims of params that the values of an index row select in.
    pub fn indexed_dims(&self) -> Vec<usize> {
        self.op.indexed_dims(self.params_shape, self.indices_shape)
    }

    /// True if a value of the index row selects no entry of its dim.
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
