//! The copy loop of gather_elements, where an index row selects by its place too: along the innermost of the place
//! dims the place grows by one stride.

use std::mem;

use super::block::{Run, Source};
use super::memory;
use super::slices::in_memory;
use crate::dims::{GatherDims, PlaceDim};
use crate::element::GatherIndex;

impl<T: Copy, I: GatherIndex> Source<'_, T, I> {
    /// Copies the slices of a run from params that hold all rows; those of bad rows are filled, or the first of
    /// them is returned. Slices have `LEN` elements, or any number if that is 0.
    pub(super) fn copy_placed<const LEN: usize>(
        &self,
        run: Run,
        output: &mut [T],
    ) -> Option<usize> {
        let slice_len = if LEN == 0 { self.slice_len } else { LEN };
        // Batches follow each other, and so do their index rows: behind the last place comes the first.
        let mut places = Places::from(self.index_rows.gather_dims(), run.index_row as u64);
        for (part, mut output) in output.chunks_mut(run.rows * slice_len).enumerate() {
            let params = self.part(run.part + part);
            let mut index_row = run.index_row + part * run.next_index_rows;
            loop {
                let copied = self.copy_at::<LEN>(params, &mut places, index_row, output);
                let rest = &mut mem::take(&mut output)[copied * slice_len..];
                let Some((slice, rest)) = rest.split_at_mut_checked(slice_len) else {
                    break;
                };
                if !self.fills {
                    return Some(index_row + copied);
                }
                slice.fill(self.fill);
                places.skip(1);
                (index_row, output) = (index_row + copied + 1, rest);
            }
        }
        None
    }

    /// Copies slices until the output is full or a row is bad. Returns how many.
    #[inline]
    fn copy_at<const LEN: usize>(
        &self,
        params: &[T],
        places: &mut Places<'_>,
        index_row: usize,
        output: &mut [T],
    ) -> usize {
        let slice_len = if LEN == 0 { self.slice_len } else { LEN };
        let from_end = self.index_rows.counts_from_end();
        let dim = self.index_rows.gather_dims().indexed_dims[0];
        let strides = (
            self.index_rows.gather_dims().index_stride,
            places.innermost.stride,
        );
        let rows = output.len() / slice_len;
        let mut indices = self.index_rows.values_at(index_row..index_row + rows);
        let mut slices = output;
        while !indices.is_empty() {
            let line;
            let len = in_memory(places.left).min(indices.len());
            (line, indices) = indices.split_at(len);
            let line_slices;
            (line_slices, slices) = slices.split_at_mut(len * slice_len);
            let copied = copy_line::<_, _, LEN>(
                &params[in_memory(places.place) * slice_len..],
                line,
                dim,
                from_end,
                strides,
                slice_len,
                line_slices,
            );
            places.skip(copied as u64);
            if copied < len {
                return rows - indices.len() - len + copied;
            }
        }
        rows
    }
}

/// Copies slices along the innermost place dim until the output is full or a row is bad. Returns how many. A function
/// of its own, which keeps what the loop needs in registers.
#[inline(never)]
fn copy_line<T: Copy, I: GatherIndex, const LEN: usize>(
    params: &[T],
    indices: &[I],
    dim: u64,
    from_end: bool,
    (index_stride, stride): (u64, u64),
    slice_len: usize,
    output: &mut [T],
) -> usize {
    let slice_len = if LEN == 0 { slice_len } else { LEN };
    let mut place = 0;
    let mut copied = 0;
    for (index, slice) in indices.iter().zip(output.chunks_exact_mut(slice_len)) {
        let position = index.position(dim, from_end);
        if position >= dim {
            break;
        }
        let row = in_memory(position * index_stride + place);
        if LEN == 1 {
            slice[0] = params[row];
        } else {
            memory::copy(&params[row * slice_len..][..slice_len], slice);
        }
        place += stride;
        copied += 1;
    }
    copied
}

/// The places of index rows, one after another, over all batches.
struct Places<'a> {
    /// Of the index row at hand.
    place: u64,
    /// Index rows that are left along the innermost place dim.
    left: u64,
    innermost: PlaceDim,
    outer_dims: &'a [PlaceDim],
    coordinates: Vec<u64>,
    /// What the outer dims add to a place.
    outer_place: u64,
}

impl<'a> Places<'a> {
    fn from(dims: &'a GatherDims, index_row: u64) -> Self {
        let (&innermost, outer_dims) =
            (dims.place_dims.split_last()).expect("the places of index rows count");
        let n = index_row % dims.index_count;
        let done = n % innermost.size;
        let mut rest = n / innermost.size;
        let mut coordinates = vec![0; outer_dims.len()];
        let mut outer_place = 0;
        for (coordinate, dim) in coordinates.iter_mut().zip(outer_dims).rev() {
            *coordinate = rest % dim.size;
            outer_place += *coordinate * dim.stride;
            rest /= dim.size;
        }
        Self {
            place: outer_place + done * innermost.stride,
            left: innermost.size - done,
            innermost,
            outer_dims,
            coordinates,
            outer_place,
        }
    }

    /// Goes on by no more rows than are left.
    fn skip(&mut self, rows: u64) {
        self.place += rows * self.innermost.stride;
        self.left -= rows;
        if self.left > 0 {
            return;
        }
        for (coordinate, dim) in self.coordinates.iter_mut().zip(self.outer_dims).rev() {
            *coordinate += 1;
            self.outer_place += dim.stride;
            if *coordinate < dim.size {
                break;
            }
            self.outer_place -= dim.size * dim.stride;
            *coordinate = 0;
        }
        (self.place, self.left) = (self.outer_place, self.innermost.size);
    }
}
