//! Slices of 1, 2, 4, 8 or 16 bytes that no prefetch helps: to locate their rows first would take longer than to copy them.

use super::copy::Slices;
use super::cursor::Cursor;
use super::index_rows::IndexRows;
use crate::index::Index;
use crate::memory::{self, Byte, address};

/// Bytes of a block that a near cache holds, so that its slices need no prefetch.
const MAX_CACHED_BYTES: u64 = 1 << 20;

/// A function that copies the slices of stretches up to the first bad row, and returns the number of slices copied.
pub(super) type CopyStretches<I> = fn(&[Byte], Stretches<'_, I>, &mut [Byte]) -> usize;

/// Stretches of output rows: one, in a block, or several, each a whole block. Equal indices of neighbours in a stretch
/// select rows that are one stride apart.
pub(super) struct Stretches<'a, I> {
    indices: &'a [I],
    /// The output rows of a stretch, and the stretches.
    len: usize,
    count: usize,
    /// The index rows from one stretch to the next: 0 for blocks of one batch, which share index rows.
    step: usize,
    /// The indexed dim, and the params rows from one entry of the dim to the next.
    dim: u64,
    index_stride: u64,
    /// The params row that index 0 of the first output row selects, counted over all blocks, and the rows to that of the
    /// next output row, and of the next block.
    first_row: u64,
    stride: u64,
    block_rows: u64,
    /// Params rows from a copy to the one that is prefetched with it: those of some blocks; 0 for no prefetch.
    ahead: u64,
}

impl<I> Stretches<'_, I> {
    /// The output rows of all stretches.
    pub(super) fn rows(&self) -> usize {
        self.len * self.count
    }
}

impl<'a, I: Index> IndexRows<'a, I> {
    /// The function that copies the stretches of a gather. `None`, and another loop copies them, unless slices have 1, 2, 4,
    /// 8 or 16 bytes and no gaps, no prefetch helps, an index row is one value, and index rows are [plain](Self::are_plain).
    /// Narrow indices must be unsigned.
    pub(super) fn copy_of_stretches(&self, slices: &Slices) -> Option<CopyStretches<I>> {
        let (dims, bytes) = (self.plan.dims(), slices.bytes);
        let is_short_and_dense =
            bytes.slice <= 16 && bytes.params_stride.max(bytes.output_stride) == bytes.slice;
        let block_bytes = dims.held_rows.saturating_mul(bytes.slice as u64);
        let needs_prefetch = slices.prefetch.rows_ahead() > 0
            && !dims.has_element_dims()
            && block_bytes > MAX_CACHED_BYTES;
        if !is_short_and_dense || needs_prefetch || !self.are_plain() || dims.index_depth() != 1 {
            return None;
        }
        // Each function has a size, and signed narrow indices are rare.
        match (I::KIND.is_signed(), I::KIND.bytes()) {
            (false, _) => of_width::<false, I>(bytes.slice),
            (true, 1 | 2) => None,
            (true, _) => self.from_end.then(|| of_width::<true, I>(bytes.slice))?,
        }
    }

    /// The stretches from a cursor's output row on, in at most `rows` output rows.
    pub(super) fn stretches(
        &self,
        cursor: &Cursor<'_>,
        rows: usize,
        slices: &Slices,
    ) -> Stretches<'a, I> {
        let dims = self.plan.dims();
        let block_bytes = dims.held_rows.saturating_mul(slices.bytes.slice as u64);
        let len = usize::try_from(cursor.left).map_or(rows, |left| left.min(rows));
        // Blocks without element dims follow each other. Those of one batch share index rows, and if each is of a batch of
        // its own, index rows follow each other too.
        let are_blocks = cursor.left == dims.index_count && !dims.has_element_dims();
        let (count, step) = match (are_blocks, dims.outer_size) {
            (false, _) => (1, 0),
            (true, 1) => (rows / len, len),
            (true, outer_size) => {
                let left = usize::try_from(outer_size - cursor.outer).unwrap_or(usize::MAX);
                ((rows / len).min(left), 0)
            }
        };
        let first = address(cursor.index_row());
        Stretches {
            indices: self.values_of(first..first + (count - 1) * step + len),
            len,
            count,
            step,
            dim: dims.indexed_dims[0],
            index_stride: dims.index_stride,
            first_row: cursor.block_row + cursor.offset,
            stride: cursor.innermost.stride,
            block_rows: dims.held_rows,
            ahead: match count > 1 {
                true => dims.held_rows * slices.prefetch.blocks_ahead(block_bytes),
                false => 0,
            },
        }
    }
}

fn of_width<const FROM_END: bool, I: Index>(slice_bytes: usize) -> Option<CopyStretches<I>> {
    match slice_bytes {
        1 => Some(copy::<1, FROM_END, I>),
        2 => Some(copy::<2, FROM_END, I>),
        4 => Some(copy::<4, FROM_END, I>),
        8 => Some(copy::<8, FROM_END, I>),
        16 => Some(copy::<16, FROM_END, I>),
        _ => None,
    }
}

/// Copies slices of `N` bytes. If `FROM_END`, indices below zero count from the end of the dim.
fn copy<const N: usize, const FROM_END: bool, I: Index>(
    params: &[Byte],
    stretches: Stretches<'_, I>,
    output: &mut [Byte],
) -> usize {
    let (len, step, dim) = (stretches.len, stretches.step, stretches.dim);
    let (index_stride, stride) = (stretches.index_stride, stretches.stride);
    let (bytes, params) = (params, params.as_chunks::<N>().0);
    let slices = output.as_chunks_mut::<N>().0;
    let blocks = slices.chunks_exact_mut(len).take(stretches.count);
    for (block, slices) in blocks.enumerate() {
        let indices = &stretches.indices[block * step..][..len];
        let mut row = stretches.first_row + block as u64 * stretches.block_rows;
        if (index_stride, stride, stretches.ahead) == (1, 0, 0) {
            // One comparison judges an index and finds its slice.
            let params = &params[address(row)..][..address(dim)];
            let copy = |(index, slice): (&I, &mut [Byte; N])| {
                let position = usize::try_from(index.position(if FROM_END { dim } else { 0 }));
                match position.ok().and_then(|at| params.get(at)) {
                    Some(of_params) => *slice = *of_params,
                    None => return true,
                }
                false
            };
            // Slices of 4 bytes are copied four at a time. On a Zen 3 a loop of six instructions takes up to twice as long if
            // its code lies across two cache lines, and that changes with each build.
            let whole = if N == 4 && !FROM_END { len / 4 * 4 } else { 0 };
            let fours = indices[..whole].as_chunks::<4>().0.iter();
            let mut fours = fours.zip(slices[..whole].as_chunks_mut::<4>().0);
            let bad_four = fours.position(|(four, to)| four.iter().zip(to).any(copy));
            let done = bad_four.map_or(whole, |four| 4 * four);
            let mut rest = indices[done..].iter().zip(&mut slices[done..]);
            if let Some(bad) = rest.position(copy) {
                return block * len + done + bad;
            }
            continue;
        }
        let bad = indices.iter().zip(slices).position(|(index, slice)| {
            let position = index.position(if FROM_END { dim } else { 0 });
            if position < dim {
                let at = position * index_stride + row;
                if stretches.ahead > 0 {
                    memory::prefetch(bytes, address(at + stretches.ahead).wrapping_mul(N));
                }
                *slice = params[address(at)];
                row += stride;
            }
            position >= dim
        });
        if let Some(bad) = bad {
            return block * len + bad;
        }
    }
    stretches.rows()
}
