//! Sums over bags.
//!
//! A task takes neighbouring bags. It locates the rows of some hundred indices at a time, as a gather does, and combines the rows of
//! one bag in `f32`s that stay in registers, some columns at a time. Encoded rows are decoded to the first cache before.

use std::ops::Range;

use super::copy::{Prefetch, Slices};
use super::encoded::EncodedRows;
use super::gather::judged;
#[cfg(feature = "rayon")]
use super::gather::{BYTES_PER_SLICE, MIN_BYTES_PER_TASK, threads_for};
use super::index_rows::{IndexRows, LOCATED_ROWS};
use super::operands::Params;
use crate::bags::{BLOCK_PLACES, Bags, Combine, Ends};
use crate::encoding::{Encoded, Float, FloatKind, Parts, store};
use crate::error::RunError;
use crate::index::{Index, IndexValues, by_index_type};
use crate::memory::{Byte, Leveled, SliceBytes, address, extend, run_at_best_level, write_into};
use crate::operand::Operand;
use crate::plan::GatherPlan;
use crate::plan::lengths::check_len;
use crate::reduce::sealed::Number;

/// Bytes of decoded rows that a task keeps.
const ROOM_BYTES: usize = 16 << 10;

/// Rows of more elements are combined one after another; those of fewer, some columns of all of a bag's rows at a time, whose
/// sums stay in registers.
const MAX_LEN_OF_COLUMNS: usize = 512;

impl GatherPlan {
    /// Combines the rows that each bag of indices selects, and returns one slice for each bag: [`Bags`] says how. `T` is `f32`, or
    /// with the feature `half` also `half::f16` or `half::bf16`.
    ///
    /// The plan gathers along the first axis, without batch dims, shards or an output stride. Bags count index rows in
    /// row-major order. [`BadIndices::Fill`](crate::BadIndices::Fill) leaves bad rows out.
    ///
    /// # Errors
    ///
    /// - [`PlanError::Bags`](crate::PlanError::Bags) for other plans.
    /// - [`RunError::Length`] for params, indices, weights or offsets of another length, and if bags of one size do not have all indices.
    /// - [`RunError::Offset`] for offsets that are not in order.
    /// - [`RunError::BadIndex`], as [`gather`](Self::gather).
    /// - [`RunError::OutOfMemory`].
    pub fn gather_bags<T: Float, I: Index>(
        &self,
        params: &[T],
        indices: &[I],
        bags: Bags<&[u8], &[f32]>,
    ) -> Result<Vec<T>, RunError> {
        self.bags_of_values(Params::Elements(params), I::values(indices), bags)
    }

    /// As [`gather_bags`](Self::gather_bags), but into `output` instead of a new vector. After an error, `output` is as it was.
    ///
    /// # Errors
    ///
    /// As [`gather_bags`](Self::gather_bags), and an `output` that does not have a slice for each bag.
    pub fn gather_bags_into<T: Float, I: Index>(
        &self,
        params: &[T],
        indices: &[I],
        bags: Bags<&[u8], &[f32]>,
        output: &mut [T],
    ) -> Result<(), RunError> {
        Call::of(self, Params::Elements(params), I::values(indices), bags)?.run_into(output)
    }

    /// As [`gather_bags`](Self::gather_bags), but `params` is encoded, and only the selected rows are decoded. The result is `f32`, or
    /// halves by [`Encoded::to`].
    ///
    /// # Errors
    ///
    /// As [`gather_bags`](Self::gather_bags) and [`gather_encoded`](Self::gather_encoded).
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{Bags, Encoded, Encoding, Gather};
    ///
    /// // Two rows of bytes, each with a scale and a bias: PyTorch's embedding_bag_byte_rowwise_offsets.
    /// let row = |bytes: [u8; 2], scale: f32| [&bytes[..], &scale.to_le_bytes(), &0.0_f32.to_le_bytes()].concat();
    /// let table = Encoded::new(Encoding::RowWise8, [row([1, 2], 0.5), row([3, 4], 2.0)].concat());
    /// let plan = Gather::new().plan(&[2, 2], &[3])?;
    /// let sums = plan.gather_bags_encoded(&table, &[0, 1, 1], Bags::sum(&[0, 2, 3][..]))?;
    /// assert_eq!(sums, [6.5, 9.0, 6.0, 8.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gather_bags_encoded<T: Float, I: Index>(
        &self,
        params: &Encoded<impl AsRef<[u8]>, T>,
        indices: &[I],
        bags: Bags<&[u8], &[f32]>,
    ) -> Result<Vec<T>, RunError> {
        let params = Params::Encoded(params.map(AsRef::as_ref), T::KIND);
        self.bags_of_values(params, I::values(indices), bags)
    }

    /// As [`gather_bags_encoded`](Self::gather_bags_encoded), but into `output` instead of a new vector. After an error, `output` is as it was.
    ///
    /// # Errors
    ///
    /// As [`gather_bags_encoded`](Self::gather_bags_encoded), and an `output` that does not have a slice for each bag.
    pub fn gather_bags_encoded_into<T: Float, I: Index>(
        &self,
        params: &Encoded<impl AsRef<[u8]>, T>,
        indices: &[I],
        bags: Bags<&[u8], &[f32]>,
        output: &mut [T],
    ) -> Result<(), RunError> {
        let params = Params::<T>::Encoded(params.map(AsRef::as_ref), T::KIND);
        Call::of(self, params, I::values(indices), bags)?.run_into(output)
    }
}

impl GatherPlan {
    /// As [`gather_bags`](Self::gather_bags), for operands of types that are known only at run time.
    pub(crate) fn bags_of_values<T: Float>(
        &self,
        params: Params<'_, T>,
        indices: IndexValues<'_>,
        bags: Bags<&[u8], &[f32]>,
    ) -> Result<Vec<T>, RunError> {
        Call::of(self, params, indices, bags)?.run_new()
    }
}

/// The rows of params, which the loop reads or decodes.
#[derive(Debug, Clone, Copy)]
enum Source<'a> {
    Floats(&'a [f32]),
    Encoded(EncodedRows<'a>),
}

/// Sums over bags, with checked operands.
struct Call<'a> {
    plan: &'a GatherPlan,
    source: Source<'a>,
    to: FloatKind,
    indices: IndexValues<'a>,
    ends: Ends<'a>,
    combine: Combine<&'a [f32]>,
    /// In elements.
    slice_len: usize,
    slices: Slices,
}

impl<'a> Call<'a> {
    fn of<T: Float>(
        plan: &'a GatherPlan,
        params: Params<'a, T>,
        indices: IndexValues<'a>,
        bags: Bags<&'a [u8], &'a [f32]>,
    ) -> Result<Self, RunError> {
        plan.check_bags()?;
        let (encoded, to) = match params {
            Params::Encoded(encoded, to) => (encoded, to),
            Params::Elements(elements) => {
                plan.check_lengths(elements.len(), indices.len())?;
                match T::params(elements) {
                    Ok(floats) => {
                        return Self::new(plan, Source::Floats(floats), T::KIND, indices, bags);
                    }
                    Err((encoding, rows)) => (Encoded::new(encoding, rows), T::KIND),
                }
            }
        };
        let parts = plan.check_encoded(&encoded.map(|of| of.len()))?;
        plan.check_indices_length(indices.len())?;
        let rows = EncodedRows::new(encoded, FloatKind::F32, parts, plan.dims());
        let call = Self::new(plan, Source::Encoded(rows), to, indices, bags)?;
        Ok(call.of_parts(parts))
    }

    fn new(
        plan: &'a GatherPlan,
        source: Source<'a>,
        to: FloatKind,
        indices: IndexValues<'a>,
        bags: Bags<&'a [u8], &'a [f32]>,
    ) -> Result<Self, RunError> {
        let ends = Ends::checked(bags.offsets, indices.len())?;
        if let Combine::Weighted(weights) = bags.combine {
            let len = indices.len() as u64;
            check_len(Operand::Weights, len..=len, weights.len())?;
        }
        let call = Self {
            plan,
            source,
            to,
            indices,
            ends,
            combine: bags.combine,
            slice_len: address(plan.dims().slice_len),
            slices: Slices {
                bytes: SliceBytes {
                    slice: 0,
                    params_slice: 0,
                    params_stride: 0,
                    output_stride: 0,
                },
                prefetch: Prefetch::default(),
            },
        };
        Ok(call.of_parts(Parts::elements(4)))
    }

    /// The call, with params in these parts.
    fn of_parts(mut self, parts: Parts) -> Self {
        let dims = self.plan.dims();
        let in_parts = |len| usize::try_from(parts.bytes_of(len)).unwrap_or(usize::MAX);
        let (params_slice, rows) = (in_parts(dims.slice_len), dims.params_rows());
        let params_bytes = in_parts(dims.params_stride).saturating_mul(address(rows));
        self.slices = Slices {
            bytes: SliceBytes {
                slice: 4 * self.slice_len,
                params_slice,
                params_stride: in_parts(dims.params_stride),
                output_stride: 4 * self.slice_len,
            },
            prefetch: Prefetch::above(Prefetch::MIN_DECODED_BYTES, params_bytes, params_slice),
        };
        self
    }

    fn output_len(&self) -> u64 {
        (self.ends.bags as u64).saturating_mul(self.slice_len as u64)
    }

    fn run_new<T: Float>(&self) -> Result<Vec<T>, RunError> {
        self.check()?;
        let (mut output, len) = (Vec::new(), self.output_len());
        Operand::Output.reserve(&mut output, len)?;
        extend(&mut output, address(len), |output| self.run(output))?;
        Ok(output)
    }

    fn run_into<T: Float>(&self, output: &mut [T]) -> Result<(), RunError> {
        let len = self.output_len();
        check_len(Operand::Output, len..=len, output.len())?;
        self.check()?;
        write_into(output, |output| self.run(output))
    }

    /// The error of the first bad row, unless bad rows are left out.
    fn check(&self) -> Result<(), RunError> {
        match self.plan.bad_indices().fills_on_cpu() || self.output_len() == 0 {
            true => Ok(()),
            false => by_index_type!(self.indices, |indices| {
                Ok(IndexRows::new(self.plan, indices).check()?)
            }),
        }
    }

    /// Writes a slice for each bag.
    fn run(&self, output: &mut [Byte]) -> Result<(), RunError> {
        if output.is_empty() {
            return Ok(());
        }
        let bag_bytes = self.slice_len * address(self.to.bytes());
        let all = 0..self.ends.bags;
        #[cfg(feature = "rayon")]
        if threads_for(self.work(&all), self.slices.bytes.params_slice) > 1 {
            return self.share(all, bag_bytes, output);
        }
        self.combine_bags(all, bag_bytes, output)
    }

    /// The slices that some bags read and write.
    #[cfg(feature = "rayon")]
    fn work(&self, bags: &Range<usize>) -> u64 {
        let places = self.ends.start(bags.end) - self.ends.start(bags.start);
        places + (bags.end - bags.start) as u64
    }

    /// Shares bags among threads, in halves of about as many slices.
    #[cfg(feature = "rayon")]
    fn share(
        &self,
        bags: Range<usize>,
        bag_bytes: usize,
        output: &mut [Byte],
    ) -> Result<(), RunError> {
        let slice = (self.slices.bytes.params_slice + BYTES_PER_SLICE) as u64;
        let work = self.work(&bags);
        if bags.len() == 1 || work.saturating_mul(slice) <= MIN_BYTES_PER_TASK as u64 {
            return self.combine_bags(bags, bag_bytes, output);
        }
        // The first bag after which half of the slices are done.
        let (mut low, mut high) = (bags.start + 1, bags.end - 1);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.work(&(bags.start..middle)) < work / 2 {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let (first, second) = output.split_at_mut((low - bags.start) * bag_bytes);
        let (first, second) = rayon::join(
            || self.share(bags.start..low, bag_bytes, first),
            || self.share(low..bags.end, bag_bytes, second),
        );
        first.and(second)
    }

    fn combine_bags(
        &self,
        bags: Range<usize>,
        bag_bytes: usize,
        output: &mut [Byte],
    ) -> Result<(), RunError> {
        let room = |len: usize| {
            let mut room = Operand::Output.vector(len as u64)?;
            room.resize(len, 0.0_f32);
            Ok::<_, RunError>(room)
        };
        let decoded = match self.source {
            Source::Floats(_) => 0,
            Source::Encoded(_) => (ROOM_BYTES / 4).max(self.slice_len),
        };
        let (mut sums, mut later) = (room(self.slice_len)?, Vec::new());
        let mut decoded = room(decoded)?;
        let mut rows =
            LocatedRows::new(self, self.ends.start(bags.start)..self.ends.start(bags.end));
        let blocks = match self.combine {
            Combine::Max => u64::MAX,
            _ => BLOCK_PLACES,
        };
        for (bag, output) in bags.zip(output.chunks_exact_mut(bag_bytes)) {
            let places = self.ends.start(bag)..self.ends.start(bag + 1);
            sums.fill(match self.combine {
                Combine::Max => f32::NEG_INFINITY,
                _ => 0.0,
            });
            let first = places.end.min(places.start.saturating_add(blocks));
            let mut good =
                self.combine_rows(places.start..first, &mut rows, &mut decoded, &mut sums);
            for start in (first..places.end).step_by(address(blocks)) {
                let block = start..places.end.min(start + blocks);
                later.clear();
                later.resize(self.slice_len, 0.0);
                good += self.combine_rows(block, &mut rows, &mut decoded, &mut later);
                for (sum, &later) in sums.iter_mut().zip(&later) {
                    *sum += later;
                }
            }
            match self.combine {
                _ if good == 0 => sums.fill(0.0),
                Combine::Mean => divide(&mut sums, good),
                _ => {}
            }
            store(self.to, &sums, output);
        }
        Ok(())
    }

    /// Combines the good rows of some places. Returns their number.
    fn combine_rows(
        &self,
        mut places: Range<u64>,
        rows: &mut LocatedRows<'_>,
        decoded: &mut [f32],
        sums: &mut [f32],
    ) -> u64 {
        let (mut good, row_count) = (0, self.plan.dims().params_rows());
        let may_be_bad = self.plan.bad_indices().fills_on_cpu();
        while places.start < places.end {
            let located = rows.at(places.start);
            let left = address(places.end - places.start).min(located.ready);
            let rows = located.rows;
            let is_bad = |row: &u64| *row >= row_count;
            let bad = may_be_bad.then(|| rows[..left].iter().position(is_bad));
            let count = bad.flatten().unwrap_or(left);
            if count == 0 {
                places.start += 1;
                continue;
            }
            let done = self.combine_good(places.start, rows, count, decoded, sums);
            good += done as u64;
            places.start += done as u64;
        }
        good
    }

    /// Combines the first `count` rows, or as many as fit the room for decoded ones. Returns their number.
    fn combine_good(
        &self,
        place: u64,
        rows: &[u64],
        count: usize,
        decoded: &mut [f32],
        sums: &mut [f32],
    ) -> usize {
        const IN_ORDER: [u64; LOCATED_ROWS] = {
            let mut rows = [0; LOCATED_ROWS];
            let mut row = 0;
            while row < LOCATED_ROWS {
                rows[row] = row as u64;
                row += 1;
            }
            rows
        };
        let len = self.slice_len;
        let (params, stride, rows, count, prefetch) = match &self.source {
            Source::Floats(floats) => {
                let stride = address(self.plan.dims().params_stride);
                (*floats, stride, rows, count, self.slices.prefetch)
            }
            Source::Encoded(of) => {
                let count = count.min(decoded.len() / len).min(LOCATED_ROWS);
                let row_count = self.plan.dims().params_rows();
                write_into(&mut decoded[..count * len], |decoded| {
                    of.decode(row_count, &self.slices, rows, count, decoded)
                });
                (&*decoded, len, &IN_ORDER[..], count, Prefetch::default())
            }
        };
        let weights = match self.combine {
            Combine::Weighted(weights) => &weights[address(place)..][..count],
            _ => &[],
        };
        let of = Combined {
            params,
            stride,
            rows,
            count,
            weights,
            prefetch,
            sums,
        };
        match self.combine {
            Combine::Sum | Combine::Mean => run_at_best_level(Sums(of)),
            Combine::Weighted(_) => run_at_best_level(Weighted(of)),
            Combine::Max => run_at_best_level(Greatest(of)),
        }
        count
    }
}

/// The rows that the indices of a task select, located some at a time.
struct LocatedRows<'a> {
    call: &'a Call<'a>,
    rows: [u64; LOCATED_ROWS],
    /// The place of the first row, and how many rows there are.
    first: u64,
    len: usize,
    /// The place after the task's last.
    end: u64,
}

/// Located rows, of which the first `ready` are to be combined now. Prefetch looks ahead at the others.
struct Ready<'b> {
    rows: &'b [u64],
    ready: usize,
}

impl<'a> LocatedRows<'a> {
    fn new(call: &'a Call<'a>, places: Range<u64>) -> Self {
        Self {
            call,
            rows: [0; LOCATED_ROWS],
            first: places.start,
            len: 0,
            end: places.end,
        }
    }

    /// The rows from a place on, which is never before one that was asked for.
    #[inline]
    fn at(&mut self, place: u64) -> Ready<'_> {
        let ahead = self.call.slices.prefetch.rows_ahead();
        let mut at = address(place - self.first);
        if at + ahead >= self.len && self.first + (self.len as u64) < self.end {
            self.locate(place);
            at = 0;
        }
        let is_end = self.first + self.len as u64 == self.end;
        let ahead = if is_end { 0 } else { ahead };
        Ready {
            rows: &self.rows[at..self.len],
            ready: self.len - at - ahead,
        }
    }

    #[inline(never)]
    fn locate(&mut self, place: u64) {
        let at = address(place - self.first);
        let kept = self.len.saturating_sub(at);
        self.rows.copy_within(self.len - kept..self.len, 0);
        self.first = place;
        let left = address(self.end - place);
        self.len = left.min(LOCATED_ROWS);
        let new = &mut self.rows[kept..self.len];
        let plan = self.call.plan;
        by_index_type!(judged(plan, self.call.indices), |indices| {
            IndexRows::new(plan, indices).locate(place + kept as u64, new);
        });
    }
}

/// Rows that are combined with sums.
struct Combined<'a> {
    params: &'a [f32],
    stride: usize,
    rows: &'a [u64],
    /// How many rows are combined; prefetch looks at later ones.
    count: usize,
    weights: &'a [f32],
    prefetch: Prefetch,
    sums: &'a mut [f32],
}

/// The kinds of combinations, each a loop of its own.
struct Sums<'a>(Combined<'a>);
struct Weighted<'a>(Combined<'a>);
struct Greatest<'a>(Combined<'a>);

impl Leveled for Sums<'_> {
    #[inline(always)]
    fn run(self) {
        self.0.each(|sum, value, _| sum + value);
    }
}

impl Leveled for Weighted<'_> {
    #[inline(always)]
    fn run(self) {
        self.0.each(|sum, value, weight| sum + weight * value);
    }
}

impl Leveled for Greatest<'_> {
    #[inline(always)]
    fn run(self) {
        self.0.each(|most, value, _| most.greater(value));
    }
}

impl Combined<'_> {
    #[inline(always)]
    fn each(mut self, combine: impl Fn(f32, f32, f32) -> f32) {
        match self.sums.len() {
            0..=MAX_LEN_OF_COLUMNS => self.each_column(0..self.count, &combine),
            _ => {
                for k in 0..self.count {
                    self.each_column(k..k + 1, &combine);
                }
            }
        }
    }

    #[inline(always)]
    fn each_column(&mut self, rows: Range<usize>, combine: &impl Fn(f32, f32, f32) -> f32) {
        let done = self.columns::<64>(0, rows.clone(), combine);
        let done = self.columns::<16>(done, rows.clone(), combine);
        let done = self.columns::<4>(done, rows.clone(), combine);
        self.columns::<1>(done, rows, combine);
    }

    /// Combines columns from this one on, `N` at a time. Returns how far it came.
    #[inline(always)]
    fn columns<const N: usize>(
        &mut self,
        mut first: usize,
        rows: Range<usize>,
        combine: &impl Fn(f32, f32, f32) -> f32,
    ) -> usize {
        let len = self.sums.len();
        let ahead = self.prefetch.rows_ahead();
        for columns in self.sums[first..].as_chunks_mut::<N>().0 {
            let mut sums = *columns;
            for k in rows.clone() {
                if first == 0
                    && ahead > 0
                    && let Some(&row) = self.rows.get(k + ahead)
                {
                    let start = address(row).wrapping_mul(self.stride);
                    self.prefetch.slice(self.params, start, len);
                }
                let start = address(self.rows[k]) * self.stride + first;
                let values: &[f32; N] = self.params[start..].first_chunk().expect("a row's");
                let weight = self.weights.get(k).copied().unwrap_or_default();
                for (sum, &value) in sums.iter_mut().zip(values) {
                    *sum = combine(*sum, value, weight);
                }
            }
            *columns = sums;
            first += N;
        }
        first
    }
}

/// Divides sums by a number of rows, with one rounding.
fn divide(sums: &mut [f32], rows: u64) {
    #[expect(clippy::cast_precision_loss, reason = "2^24 and all below are floats")]
    if rows <= 1 << 24 {
        let rows = rows as f32;
        return sums.iter_mut().for_each(|sum| *sum /= rows);
    }
    for sum in sums {
        *sum = divided(*sum, rows);
    }
}

/// The quotient, rounded once: of an `f64` whose last bit is set if it is not exact, so that the second rounding sees no false tie.
#[expect(clippy::cast_precision_loss, reason = "fewer than 2^53 rows")]
#[expect(clippy::cast_possible_truncation, reason = "rounded once")]
fn divided(sum: f32, rows: u64) -> f32 {
    let (sum, rows) = (f64::from(sum), rows as f64);
    let quotient = sum / rows;
    let rest = quotient.mul_add(-rows, sum);
    if rest == 0.0 || !rest.is_finite() {
        return quotient as f32;
    }
    // The quotient that is not further from 0 than the exact one.
    let is_beyond = (rest < 0.0) != (sum < 0.0);
    let toward_zero = quotient.to_bits() - u64::from(is_beyond);
    f64::from_bits(toward_zero | 1) as f32
}

#[cfg(all(test, feature = "rayon"))]
mod tests {
    use super::*;
    use crate::Gather;

    /// Large bags and small ones, some of a block and more.
    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let rows = 500_usize;
        let value = |at: usize| (at * at % 7919) as f32 / 7.0 - 500.0;
        let params: Vec<f32> = (0..rows * 33).map(value).collect();
        let sizes = (0..9000_u32).map(|bag| if bag % 4000 == 7 { 5000 } else { bag % 7 });
        let mut offsets = vec![0_u32];
        offsets.extend(sizes.scan(0, |end, size| {
            *end += size;
            Some(*end)
        }));
        let indices: Vec<u16> = (0..offsets[offsets.len() - 1])
            .map(|place| u16::try_from(place * 31 % 500).expect("few"))
            .collect();
        let plan = Gather::new().plan(&[rows, 33], &[indices.len()]);
        let plan = plan.expect("valid shapes");
        let bits = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let sums = pool
                .expect("threads")
                .install(|| plan.gather_bags(&params, &indices, Bags::mean(&offsets[..])));
            let sums = sums.expect("valid operands").into_iter();
            sums.map(f32::to_bits).collect::<Vec<_>>()
        };
        let one = bits(1);
        assert!(one.iter().any(|&bits| bits != 0));
        for threads in [2, 3, 7] {
            assert!(bits(threads) == one, "{threads} threads");
        }
    }

    #[test]
    fn a_quotient_is_rounded_once() {
        // 2^24 + 1 rows, by which no f32 divides.
        for rows in [(1 << 24) + 1, (1 << 31) + 12_345, u32::MAX.into()] {
            for sum in [
                1.0_f32,
                -3.0e30,
                1.0e-38,
                16_777_215.0,
                f32::MAX,
                0.0,
                f32::INFINITY,
            ] {
                let found = divided(sum, rows);
                let exact = |other: f32| (f64::from(other) * rows as f64 - f64::from(sum)).abs();
                let [below, above] = [found.next_down(), found.next_up()];
                assert!(
                    exact(found) <= exact(below) && exact(found) <= exact(above)
                        || !sum.is_finite()
                );
            }
        }
    }
}
