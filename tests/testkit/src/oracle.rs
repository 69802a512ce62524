//! Cases: gathers with the oracle's results.

use std::collections::BTreeSet;

pub use gather_oracle::{Op, Rejection};
use gather_oracle::{Policy, Values, for_each_coordinate, unravel};
use wgpu_gather::BadIndices;

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
    /// For each output element, the position of the params element that it copies; `None` in a bad row's slice.
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

    /// For each index row, true if one of its values is out of range, even if the output is empty. The shapes must be
    /// valid.
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

    /// This case with each index replaced by the one in range that the policy takes, unless its dim is 0; `None` if the
    /// policy replaces none. The shapes must be valid.
    pub fn replaced_by(&self, policy: BadIndices) -> Option<Self> {
        let policy = match policy {
            BadIndices::Clamp => Policy::Clamp,
            BadIndices::Wrap => Policy::Wrap,
            _ => return None,
        };
        let dims = self
            .op
            .indexed_dims(&self.params_shape, &self.indices_shape);
        let values = self.indices.iter().enumerate();
        let entry = |(n, &value)| policy.replaced(self.from_end, value, dims[n % dims.len()]);
        Some(Self {
            indices: values.map(entry).collect(),
            ..self.clone()
        })
    }

    /// The error text that names this bad row.
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
