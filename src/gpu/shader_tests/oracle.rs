//! The oracle, one output row at a time, for plans of any size and for shards.

use gather_oracle::{Op, Policy, unravel};

use crate::bad_indices::{BadIndices, NegativeIndices};
use crate::plan::{GatherPlan, Operation};

/// What an output row holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slice {
    /// The index row is out of range.
    Bad,
    /// Params is a shard that does not hold the row.
    Absent,
    /// The slice at this params row, counted over all blocks.
    Row(u64),
}

/// The value at each position in an operand.
pub(crate) type Values<'a> = &'a dyn Fn(u64) -> i128;

/// The index row that an output row follows, and what the output row holds.
pub(crate) fn slice_of(plan: &GatherPlan, index: Values<'_>, output_row: u64) -> (u64, Slice) {
    let policy = match plan.bad_indices() {
        BadIndices::DeviceDefault | BadIndices::Error | BadIndices::Fill => Policy::Bad,
        BadIndices::Clamp => Policy::Clamp,
        BadIndices::Wrap => Policy::Wrap,
    };
    let dims = with_values(plan, &|_| 0).indexed_dims();
    let value = |at: usize| {
        let counts_back = plan.negative_indices == NegativeIndices::FromEnd;
        policy.replaced(counts_back, index(at as u64), dims[at % dims.len()])
    };
    let sizes = plan.dims();
    let element = usize::try_from(output_row * sizes.slice_len).expect("an element has a number");
    let output_at = unravel(element, &plan.output_shape);
    let (index_row, element) = with_values(plan, &value).element(&output_at);
    let Some(element) = element else {
        return (index_row as u64, Slice::Bad);
    };
    let row_of_all = element as u64 / sizes.slice_len;
    let (block, row) = (row_of_all / sizes.row_count, row_of_all % sizes.row_count);
    let held = row
        .checked_sub(sizes.first_row)
        .filter(|&row| row < sizes.held_rows);
    let slice = held.map_or(Slice::Absent, |row| {
        Slice::Row(block * sizes.held_rows + row)
    });
    (index_row as u64, slice)
}

/// True if an index row holds a value out of range, whatever the policy.
pub(crate) fn is_bad(plan: &GatherPlan, index: Values<'_>, index_row: u64) -> bool {
    let row = usize::try_from(index_row).expect("a row has a number");
    with_values(plan, &|at| index(at as u64)).is_bad(row)
}

fn with_values<'a>(
    plan: &'a GatherPlan,
    value: &'a dyn Fn(usize) -> i128,
) -> gather_oracle::Values<'a> {
    let [axis, batch_dims] =
        [plan.axis, plan.batch_dims].map(|dim| i64::try_from(dim).expect("a small rank"));
    gather_oracle::Values {
        op: match plan.operation {
            Operation::Gather => Op::Gather {
                axis: Some(axis),
                batch_dims,
            },
            Operation::GatherNd => Op::GatherNd {
                axis: Some(axis),
                batch_dims,
            },
            // The output's shape says which dims of 1 are stretched.
            Operation::GatherElements => Op::GatherElements {
                axis,
                broadcast: true,
            },
        },
        params_shape: &plan.params_shape,
        indices_shape: &plan.indices_shape,
        from_end: plan.negative_indices == NegativeIndices::FromEnd,
        value,
    }
}
