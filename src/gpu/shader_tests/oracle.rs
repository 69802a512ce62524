//! The expected output of a gather, computed from shapes and from the definition of each operation. Of a plan's sizes
//! the oracle uses the rows that a shard holds, and the row count of gather_elements.

use crate::bad_indices::{BadIndices, NegativeIndices};
use crate::plan::{GatherPlan, Operation};

/// The content of an output row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slice {
    /// The index row is out of range.
    Bad,
    /// Params is a shard that does not hold the row.
    Absent,
    /// A slice: the row of params, counted over all blocks.
    Row(u64),
}

/// The value at each place of an operand.
pub(crate) type Values<'a> = &'a dyn Fn(u64) -> i128;

fn product(dims: &[usize]) -> u64 {
    dims.iter().map(|&dim| dim as u64).product()
}

/// The index row and the slice of an output row.
pub(crate) fn slice_of(plan: &GatherPlan, index: Values<'_>, output_row: u64) -> (u64, Slice) {
    let (params, indices) = (&plan.params_shape[..], &plan.indices_shape[..]);
    let (axis, batch_dims) = (plan.axis, plan.batch_dims);
    // The block and its rows, the index row, and the row in the block unless it is a bad row.
    let (block, block_rows, index_row, row) = match plan.operation {
        Operation::Gather => {
            let (outer, count) = (
                product(&params[batch_dims..axis]),
                product(&indices[batch_dims..]),
            );
            let block = output_row / count;
            let index_row = block / outer * count + output_row % count;
            let row = position(plan, index(index_row), params[axis]);
            (block, params[axis] as u64, index_row, row)
        }
        Operation::GatherNd => {
            let (&depth, rows) = indices.split_last().expect("indices is no scalar");
            let dims = &params[axis..axis + depth];
            let (outer, count) = (
                product(&params[batch_dims..axis]),
                product(&rows[batch_dims..]),
            );
            let block = output_row / count;
            let index_row = block / outer * count + output_row % count;
            let mut row = Some(0);
            for (k, &dim) in (index_row * depth as u64..).zip(dims) {
                let at = position(plan, index(k), dim);
                row = row.zip(at).map(|(row, at)| row * dim as u64 + at);
            }
            (block, product(dims), index_row, row)
        }
        Operation::GatherElements => {
            let mut end = params.len();
            while product(&params[end..]) < plan.dims().slice_len {
                end -= 1;
            }
            let (mut rest, mut coordinates) = (output_row, vec![0; end]);
            for (coordinate, &size) in coordinates.iter_mut().zip(&plan.output_shape[..end]).rev() {
                *coordinate = rest % size as u64;
                rest /= size as u64;
            }
            // A dim of 1 is stretched, if the coordinate is not 0.
            let flat = |shape: &[usize], axis_at: Option<u64>| {
                (0..end).fold(0, |flat, dim| {
                    let at = match shape[dim] {
                        _ if dim == axis => axis_at.unwrap_or(coordinates[dim]),
                        1 => 0,
                        _ => coordinates[dim],
                    };
                    flat * shape[dim] as u64 + at
                })
            };
            let index_row = flat(indices, None);
            let at = position(plan, index(index_row), params[axis]);
            let element = flat(params, Some(at.unwrap_or(0)));
            let block_rows = plan.dims().row_count.max(1);
            let row = at.map(|_| element % block_rows);
            (element / block_rows, block_rows, index_row, row)
        }
    };
    let Some(row) = row else {
        return (index_row, Slice::Bad);
    };
    let (first, held) = (plan.dims().first_row, plan.dims().held_rows);
    assert!(row < block_rows, "{plan}: row {row}");
    let slice = match row.checked_sub(first).filter(|&row| row < held) {
        Some(row) => Slice::Row(block * held + row),
        None => Slice::Absent,
    };
    (index_row, slice)
}

/// True if a value of an index row is out of range, whatever the policy.
pub(crate) fn is_bad(plan: &GatherPlan, index: Values<'_>, index_row: u64) -> bool {
    let plan = GatherPlan {
        bad_indices: BadIndices::Fill,
        ..plan.clone()
    };
    let dims = match plan.operation {
        Operation::Gather | Operation::GatherElements => &plan.params_shape[plan.axis..][..1],
        Operation::GatherNd => {
            let &depth = plan.indices_shape.last().expect("indices is no scalar");
            &plan.params_shape[plan.axis..][..depth]
        }
    };
    let first = index_row * dims.len() as u64;
    let mut values = (first..).zip(dims);
    values.any(|(k, &dim)| position(&plan, index(k), dim).is_none())
}

/// The entry of a dim that an index selects; `None` if it is out of range.
fn position(plan: &GatherPlan, index: i128, dim: usize) -> Option<u64> {
    let last = dim as i128 - 1;
    let counts_back = index < 0 && plan.negative_indices == NegativeIndices::FromEnd;
    let mut at = if counts_back { index + last + 1 } else { index };
    match plan.bad_indices() {
        BadIndices::Clamp if dim > 0 => at = at.clamp(0, last),
        BadIndices::Wrap if dim > 0 => at = index.rem_euclid(dim as i128),
        _ => {}
    }
    u64::try_from(at).ok().filter(|_| at <= last)
}
