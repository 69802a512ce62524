//! Gathers of slices by index rows of one value or two, from params that hold all rows, where a bad row is not clamped:
//! most gathers. What the CPU needs of such a plan is worked out with it, so that a call does little more than copy, be
//! it one row.

use super::block::Loops;
use super::memory;
use super::pays_to_share;
use super::slices::in_memory;
use crate::bad_indices::{BadIndices, NegativeIndices};
use crate::dims::GatherDims;
use crate::element::GatherIndex;

/// The sizes of such a gather as numbers of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct WholeRows {
    indices_len: usize,
    output_len: usize,
    /// Output rows, if all are of one part of params; else 0.
    rows_of_one_part: usize,
    params_len: usize,
    /// One that does not look ahead, and one that does: which, the width of an element decides.
    selections: [Selection; 2],
}

/// How index rows select slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Selection {
    /// What rows are selected in, in each part of params; the second one only at depth 2.
    pub(super) dims: [u64; 2],
    pub(super) depth: usize,
    pub(super) slice_len: usize,
    pub(super) from_end: bool,
    /// Whether slices are asked for before they are copied.
    pub(super) looks_ahead: bool,
}

impl WholeRows {
    /// `None` if the gather is no such one, or its output is empty.
    pub(crate) fn new(
        dims: &GatherDims,
        bad_indices: BadIndices,
        negative_indices: NegativeIndices,
    ) -> Option<Self> {
        let (depth, selects_in) = match dims.indexed_dims[..] {
            [dim] => (1, [dim, 1]),
            [dim, columns] => (2, [dim, columns]),
            _ => return None,
        };
        if dims.has_places()
            || dims.held_rows != dims.row_count
            || bad_indices == BadIndices::Clamp
            || dims.output_len() == 0
        {
            return None;
        }
        let size = |size: u64| usize::try_from(size).ok();
        let is_one_part = dims.batch_size * dims.outer_size == 1;
        let selection = Selection {
            dims: selects_in,
            depth,
            slice_len: size(dims.slice_len)?,
            from_end: negative_indices == NegativeIndices::FromEnd,
            looks_ahead: false,
        };
        let ahead = Selection {
            looks_ahead: true,
            ..selection
        };
        Some(Self {
            indices_len: size(dims.indices_len())?,
            output_len: size(dims.output_len())?,
            rows_of_one_part: if is_one_part {
                size(dims.index_count)?
            } else {
                0
            },
            params_len: size(dims.params_len())?,
            selections: [selection, ahead],
        })
    }

    /// Gathers rows of one part until one is bad; then the error is how many came before it. It is 0 too where that is
    /// left to others: operands of other lengths than the plan's, several parts, elements without bytes, several rows
    /// that threads share or that are written past caches.
    #[inline]
    pub(super) fn copy<T: Copy, I: GatherIndex>(
        &self,
        params: &[T],
        indices: &[I],
        output: &mut [T],
    ) -> Result<(), usize> {
        if size_of::<T>() == 0
            || self.rows_of_one_part == 0
            || params.len() != self.params_len
            || indices.len() != self.indices_len
            || output.len() != self.output_len
        {
            return Err(0);
        }
        let copied = match self.rows_of_one_part {
            1 => usize::from(self.copy_row(params, indices, output)),
            _ => self.copy_rows(params, indices, output),
        };
        if copied == self.rows_of_one_part {
            Ok(())
        } else {
            Err(copied)
        }
    }

    /// Copies the only row where the caller is: to choose a loop for it, and to call that, takes longer. Returns
    /// whether it is in range.
    #[inline]
    fn copy_row<T: Copy, I: GatherIndex>(
        &self,
        params: &[T],
        indices: &[I],
        output: &mut [T],
    ) -> bool {
        let Selection {
            dims: [dim, columns],
            depth,
            slice_len,
            from_end,
            ..
        } = self.selections[0];
        let mut row = indices[0].position(dim, from_end);
        if row >= dim {
            return false;
        }
        if depth == 2 {
            let column = indices[1].position(columns, from_end);
            if column >= columns {
                return false;
            }
            row = row * columns + column;
        }
        let from = &params[in_memory(row) * slice_len..];
        if slice_len == 1 {
            output[0] = from[0];
        } else {
            memory::copy(&from[..slice_len], output);
        }
        true
    }

    /// Copies rows until one is bad, and returns how many.
    #[inline(never)]
    fn copy_rows<T: Copy, I: GatherIndex>(
        &self,
        params: &[T],
        indices: &[I],
        output: &mut [T],
    ) -> usize {
        let selection = self.selection::<T>();
        let slice_bytes = selection.slice_len * size_of::<T>();
        if pays_to_share(size_of_val(output), self.rows_of_one_part as u64)
            || memory::pays_to_stream(size_of_val(output), slice_bytes)
        {
            return 0;
        }
        Loops::of(selection).map_or(0, |loops| (loops.part)(selection, params, indices, output))
    }

    /// How index rows select slices of elements `T`.
    pub(super) fn selection<T>(&self) -> &Selection {
        let [selection, ahead] = &self.selections;
        let bytes = |len: usize| len.saturating_mul(size_of::<T>());
        if memory::pays_to_ask(bytes(self.params_len), bytes(selection.slice_len)) {
            ahead
        } else {
            selection
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gather, GatherIndex, GatherNd, GatherPlan, RunError};

    const POLICIES: [BadIndices; 4] = [
        BadIndices::DeviceDefault,
        BadIndices::Error,
        BadIndices::Zero,
        BadIndices::Clamp,
    ];

    /// With a fill of 99.
    fn gathered<I: GatherIndex>(
        plan: &GatherPlan,
        params: &[u16],
        indices: &[I],
    ) -> Result<Vec<u16>, RunError> {
        let mut output = vec![9; plan.output_shape().iter().product()];
        plan.run_filled_into(params, indices, 99, &mut output)
            .map(|()| output)
    }

    /// The only row of a gather, and one of three, which a loop copies.
    #[test]
    fn one_row_is_judged_as_one_of_several_is() {
        let params: Vec<u16> = (1..=48).collect();
        let plans = |rows: usize, slice_len: usize, policy, negative| {
            let gather = Gather::new().bad_indices(policy).negative_indices(negative);
            let gather_nd = GatherNd::new()
                .bad_indices(policy)
                .negative_indices(negative);
            [
                gather
                    .plan(&[48 / slice_len, slice_len], &[rows])
                    .expect("a valid shape"),
                gather_nd
                    .plan(&[4, 12 / slice_len, slice_len], &[rows, 2])
                    .expect("a valid shape"),
            ]
        };
        for slice_len in [1, 2, 3, 6, 12] {
            for (policy, negative) in POLICIES.into_iter().flat_map(|policy| {
                [NegativeIndices::Invalid, NegativeIndices::FromEnd]
                    .map(|negative| (policy, negative))
            }) {
                let [one, one_nd] = plans(1, slice_len, policy, negative);
                let [several, several_nd] = plans(3, slice_len, policy, negative);
                for (x, y) in (-50..50_i64).flat_map(|x| (-14..14).map(move |y| (x, y))) {
                    for (one, several, index) in
                        [(&one, &several, &[x][..]), (&one_nd, &several_nd, &[x, y])]
                    {
                        // The first or the second of three; the others are rows 0.
                        let zeros = vec![0; index.len()];
                        let found = gathered(one, &params, index);
                        for place in [0, 1] {
                            let mut rows = [&zeros[..]; 3];
                            rows[place] = index;
                            let expected = gathered(several, &params, &rows.concat());
                            let (Ok(found), Ok(expected)) = (&found, &expected) else {
                                assert_eq!(found.is_ok(), expected.is_ok(), "{one} {index:?}");
                                continue;
                            };
                            let slices = expected.chunks(slice_len).enumerate();
                            for (row, slice) in slices {
                                let all = if row == place {
                                    &found[..]
                                } else {
                                    &params[..slice_len]
                                };
                                assert_eq!(slice, all, "{one} {index:?}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn one_row_is_judged_at_the_full_width_of_its_index() {
        let plans = [
            Gather::new().plan(&[3, 2], &[1]),
            GatherNd::new().plan(&[3, 1, 2], &[1, 2]),
        ]
        .map(|plan| plan.expect("a valid shape"));
        fn rows<I: GatherIndex>(
            plans: &[GatherPlan; 2],
            index: I,
            zero: I,
        ) -> [Option<Vec<u16>>; 2] {
            let params = [1, 2, 3, 4, 5, 6];
            [
                gathered(&plans[0], &params, &[index]).ok(),
                gathered(&plans[1], &params, &[index, zero]).ok(),
            ]
        }
        let last = [const { Some([5, 6]) }; 2].map(|row| row.map(Vec::from));
        assert_eq!(rows(&plans, 2_i32, 0), last);
        assert_eq!(rows(&plans, 2_u32, 0), last);
        assert_eq!(rows(&plans, 2_i64, 0), last);
        assert_eq!(rows(&plans, 2_u64, 0), last);
        let bad = [const { None }; 2];
        assert_eq!(rows(&plans, i32::MIN, 0), bad);
        assert_eq!(rows(&plans, u32::MAX, 0), bad);
        assert_eq!(rows(&plans, (1_i64 << 32) + 2, 0), bad);
        assert_eq!(rows(&plans, i64::MIN, 0), bad);
        assert_eq!(rows(&plans, u64::MAX, 0), bad);
        assert_eq!(rows(&plans, (1_u64 << 63) + 2, 0), bad);
    }

    #[test]
    fn one_row_of_other_lengths_is_an_error_and_writes_nothing() {
        let plan = Gather::new().plan(&[4, 3], &[1]).expect("a valid shape");
        let mut output = [9_u8; 4];
        for (params, indices, output_len) in
            [(11, 1, 3), (12, 0, 3), (12, 2, 3), (12, 1, 4), (12, 1, 2)]
        {
            let result = plan.run_into(
                &vec![1; params],
                &vec![0_i32; indices],
                &mut output[..output_len],
            );
            assert!(matches!(result, Err(RunError::Length { .. })));
        }
        assert_eq!(output, [9; 4]);
    }

    #[test]
    fn parts_and_shards_are_no_rows_of_one_part() {
        let rows = |plan: &GatherPlan| plan.whole_rows.as_ref().map(|whole| whole.rows_of_one_part);
        let plan = Gather::new().plan(&[4, 3], &[1]).expect("a valid shape");
        assert_eq!(rows(&plan), Some(1));
        assert_eq!(rows(&plan.shard(1..4).expect("rows of the plan")), None);
        assert_eq!(rows(&plan.shard(0..4).expect("rows of the plan")), Some(1));
        let parts = Gather::new()
            .axis(1)
            .plan(&[4, 3], &[1])
            .expect("a valid shape");
        assert_eq!(rows(&parts), Some(0));
        let clamped = Gather::new().bad_indices(BadIndices::Clamp);
        assert_eq!(
            rows(&clamped.plan(&[4, 3], &[1]).expect("a valid shape")),
            None
        );
    }
}
