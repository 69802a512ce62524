//! Sums over bags.
//!
//! A task takes neighbouring bags. It locates the rows of some hundred indices at a time, as a gather does, and combines the rows of
//! one bag in `f32`s that stay in registers, some columns at a time. Halves and `RowWise8` become `f32`s there too; other encoded rows
//! are decoded to the first cache before.

use std::ops::Range;

use super::copy::{Prefetch, Slices};
use super::encoded::EncodedRows;
use super::gather::judged;
#[cfg(feature = "rayon")]
use super::gather::{BYTES_PER_SLICE, MIN_BYTES_PER_TASK, threads_for};
use super::index_rows::{IndexRows, LOCATED_ROWS};
use super::operands::Params;
use crate::bags::{BLOCK_PLACES, Bags, Combine, Ends};
use crate::encoding::{Encoded, Encoding, Float, FloatKind, Parts, half, high_half, store};
use crate::error::RunError;
use crate::index::{Index, IndexValues, by_index_type};
use crate::memory::{
    Byte, Leveled, SliceBytes, address, extend, run_at_best_level, value, write_into,
};
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

    /// As [`gather_bags`](Self::gather_bags), but into `output` instead of a new vector. After an error, but [`RunError::OutOfMemory`], `output`
    /// is as it was.
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

    /// As [`gather_bags_encoded`](Self::gather_bags_encoded), but into `output` instead of a new vector. After an error, but [`RunError::OutOfMemory`], `output`
    /// is as it was.
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

/// The rows of params, which the loop reads, or which are decoded before.
#[derive(Debug, Clone, Copy)]
enum Source<'a> {
    Floats(Floats<'a>),
    RowWise8(RowWise8<'a>),
    F16(Halves<'a, true>),
    Bf16(Halves<'a, false>),
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
        let (dims, floats) = (plan.dims(), Parts::elements(4));
        let (source, parts, to) = match params {
            Params::Elements(elements) => {
                plan.check_lengths(elements.len(), indices.len())?;
                match T::params(elements) {
                    Ok(params) => {
                        let stride = address(dims.params_stride);
                        (Source::Floats(Floats { params, stride }), floats, T::KIND)
                    }
                    Err(rows) => {
                        let halves = Encoded::new(T::KIND.encoding(), rows);
                        Self::encoded(plan, halves, T::KIND)?
                    }
                }
            }
            Params::Encoded(encoded, to) => Self::encoded(plan, encoded, to)?,
        };
        plan.check_indices_length(indices.len())?;
        let ends = Ends::checked(bags.offsets, indices.len())?;
        if let Combine::Weighted(weights) = bags.combine {
            let len = indices.len() as u64;
            check_len(Operand::Weights, len..=len, weights.len())?;
        }
        let in_parts = |len| usize::try_from(parts.bytes_of(len)).unwrap_or(usize::MAX);
        let (slice_len, params_slice) = (address(dims.slice_len), in_parts(dims.slice_len));
        let params_bytes = in_parts(dims.params_len());
        Ok(Self {
            plan,
            source,
            to,
            indices,
            ends,
            combine: bags.combine,
            slice_len,
            slices: Slices {
                bytes: SliceBytes {
                    slice: 4 * slice_len,
                    params_slice,
                    params_stride: in_parts(dims.params_stride),
                    output_stride: 4 * slice_len,
                },
                prefetch: Prefetch::above(Prefetch::MIN_DECODED_BYTES, params_bytes, params_slice),
            },
        })
    }

    /// Rows that are decoded to `f32`s, their parts, and what the output holds.
    fn encoded(
        plan: &'a GatherPlan,
        encoded: Encoded<&'a [u8]>,
        to: FloatKind,
    ) -> Result<(Source<'a>, Parts, FloatKind), RunError> {
        let (parts, dims) = (
            plan.check_encoded(&encoded.map(|of| of.len()))?,
            plan.dims(),
        );
        let halves = encoded.rows.as_chunks().0;
        let stride = address(dims.params_stride);
        let source = match encoded.encoding {
            Encoding::F16 => Source::F16(Halves { halves, stride }),
            Encoding::Bf16 => Source::Bf16(Halves { halves, stride }),
            Encoding::RowWise8 if parts.len == dims.slice_len => Source::RowWise8(RowWise8 {
                params: encoded.rows,
                stride: address(parts.bytes_of(dims.params_stride)),
                len: address(parts.len),
            }),
            _ => Source::Encoded(EncodedRows::new(encoded, FloatKind::F32, parts, dims)),
        };
        Ok((source, parts, to))
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
            Source::Encoded(_) => (ROOM_BYTES / 4).max(self.slice_len),
            _ => 0,
        };
        let mut room_of_decoded = room(decoded)?;
        let task = TaskBags {
            call: self,
            bags,
            bag_bytes,
            output,
            sums: room(self.slice_len)?,
            later: Vec::new(),
        };
        match self.source {
            Source::Floats(floats) => task.run(floats),
            Source::RowWise8(rows) => task.run(rows),
            Source::F16(halves) => task.run(halves),
            Source::Bf16(halves) => task.run(halves),
            Source::Encoded(rows) => task.run(Decoded {
                rows,
                call: self,
                room: &mut room_of_decoded,
            }),
        }
        Ok(())
    }
}

/// A task: neighbouring bags, their output, and room for the sums of a bag and of a later block.
struct TaskBags<'t> {
    call: &'t Call<'t>,
    bags: Range<usize>,
    bag_bytes: usize,
    output: &'t mut [Byte],
    sums: Vec<f32>,
    later: Vec<f32>,
}

impl<'t> TaskBags<'t> {
    fn run<R: Rows>(self, rows: R) {
        match self.call.combine {
            Combine::Sum | Combine::Mean => run_at_best_level(Task::<R, Sums>(self, rows, Sums)),
            Combine::Weighted(weights) => run_at_best_level(Task(self, rows, Weighted(weights))),
            Combine::Max => run_at_best_level(Task(self, rows, Greatest)),
        }
    }
}

/// A way to combine a row's value with what earlier rows gave.
trait Kind: Copy {
    /// The number that a bag's or a block's first row is combined with.
    const START: f32;
    /// How many places are combined one by one.
    const BLOCK: u64 = BLOCK_PLACES;
    /// The weight of a place.
    #[inline(always)]
    fn weight(self, _: u64) -> f32 {
        0.0
    }
    fn combine(before: f32, value: f32, weight: f32) -> f32;
}

#[derive(Clone, Copy)]
struct Sums;
#[derive(Clone, Copy)]
struct Weighted<'a>(&'a [f32]);
#[derive(Clone, Copy)]
struct Greatest;

impl Kind for Sums {
    const START: f32 = 0.0;

    #[inline(always)]
    fn combine(before: f32, value: f32, _: f32) -> f32 {
        before + value
    }
}

impl Kind for Weighted<'_> {
    const START: f32 = 0.0;

    #[inline(always)]
    fn weight(self, place: u64) -> f32 {
        self.0[address(place)]
    }

    #[inline(always)]
    fn combine(before: f32, value: f32, weight: f32) -> f32 {
        before + weight * value
    }
}

impl Kind for Greatest {
    const START: f32 = f32::NEG_INFINITY;
    const BLOCK: u64 = u64::MAX;

    #[inline(always)]
    fn combine(before: f32, value: f32, _: f32) -> f32 {
        before.greater(value)
    }
}

/// The values of rows.
trait Values: Copy {
    /// `N` values of a row, from this one on.
    fn columns<const N: usize>(self, row: u64, first: usize) -> [f32; N];

    /// Prefetches a row of `len` values.
    fn prefetch(self, prefetch: Prefetch, row: u64, len: usize);
}

/// Rows of params, some of which are decoded before they are combined.
trait Rows {
    /// The first rows that can be combined now, `count` of them or fewer: their values, their numbers there, and how many they are.
    fn ready<'r>(
        &'r mut self,
        rows: &'r [u64],
        count: usize,
    ) -> (impl Values + 'r, &'r [u64], usize);
}

#[derive(Debug, Clone, Copy)]
struct Floats<'a> {
    params: &'a [f32],
    stride: usize,
}

impl Values for Floats<'_> {
    #[inline(always)]
    fn columns<const N: usize>(self, row: u64, first: usize) -> [f32; N] {
        let start = address(row) * self.stride + first;
        *self.params[start..].first_chunk().expect("a row's")
    }

    #[inline(always)]
    fn prefetch(self, prefetch: Prefetch, row: u64, len: usize) {
        prefetch.whole_slice(self.params, address(row).wrapping_mul(self.stride), len);
    }
}

/// Rows of bytes that end with their scale and their bias.
#[derive(Debug, Clone, Copy)]
struct RowWise8<'a> {
    params: &'a [u8],
    stride: usize,
    len: usize,
}

impl Values for RowWise8<'_> {
    #[inline(always)]
    fn columns<const N: usize>(self, row: u64, first: usize) -> [f32; N] {
        let (bytes, end) = self.params[address(row) * self.stride..].split_at(self.len);
        let end: &[u8; 8] = end.first_chunk().expect("a scale and a bias");
        let [scale, bias] =
            [0, 4].map(|at| f32::from_le_bytes([end[at], end[at + 1], end[at + 2], end[at + 3]]));
        let bytes: [u8; N] = *bytes[first..].first_chunk().expect("a row's");
        bytes.map(|byte| f32::from(byte) * scale + bias)
    }

    #[inline(always)]
    fn prefetch(self, prefetch: Prefetch, row: u64, len: usize) {
        prefetch.whole_slice(self.params, address(row).wrapping_mul(self.stride), len + 8);
    }
}

/// Params of `f16`, or of `bf16`: their bytes, and the elements from one row to the next.
#[derive(Debug, Clone, Copy)]
struct Halves<'a, const ARE_F16: bool> {
    halves: &'a [[u8; 2]],
    stride: usize,
}

impl<const ARE_F16: bool> Values for Halves<'_, ARE_F16> {
    #[inline(always)]
    fn columns<const N: usize>(self, row: u64, first: usize) -> [f32; N] {
        let start = address(row) * self.stride + first;
        let halves: [[u8; 2]; N] = *self.halves[start..].first_chunk().expect("a row's");
        halves.map(if ARE_F16 { half } else { high_half })
    }

    #[inline(always)]
    fn prefetch(self, prefetch: Prefetch, row: u64, len: usize) {
        prefetch.whole_slice(self.halves, address(row).wrapping_mul(self.stride), len);
    }
}

impl<V: Values> Rows for V {
    #[inline(always)]
    fn ready<'r>(
        &'r mut self,
        rows: &'r [u64],
        count: usize,
    ) -> (impl Values + 'r, &'r [u64], usize) {
        (*self, rows, count)
    }
}

/// Rows that are decoded to a room.
struct Decoded<'t> {
    rows: EncodedRows<'t>,
    call: &'t Call<'t>,
    room: &'t mut [f32],
}

impl Rows for Decoded<'_> {
    fn ready<'r>(
        &'r mut self,
        rows: &'r [u64],
        count: usize,
    ) -> (impl Values + 'r, &'r [u64], usize) {
        const IN_ORDER: [u64; LOCATED_ROWS] = {
            let mut rows = [0; LOCATED_ROWS];
            let mut row = 0;
            while row < LOCATED_ROWS {
                rows[row] = row as u64;
                row += 1;
            }
            rows
        };
        let len = self.call.slice_len;
        let count = count.min(self.room.len() / len).min(LOCATED_ROWS);
        let row_count = self.call.plan.dims().params_rows();
        write_into(&mut self.room[..count * len], |room| {
            self.rows
                .decode(row_count, &self.call.slices, rows, count, room)
        });
        let floats = Floats {
            params: self.room,
            stride: len,
        };
        // All have been prefetched.
        (floats, &IN_ORDER[..count], count)
    }
}

struct Task<'t, R, K>(TaskBags<'t>, R, K);

impl<R: Rows, K: Kind> Leveled for Task<'_, R, K> {
    #[inline(always)]
    fn run(self) {
        let Self(task, mut rows, kind) = self;
        let TaskBags {
            call,
            bags,
            bag_bytes,
            output,
            mut sums,
            mut later,
        } = task;
        let is_mean = matches!(call.combine, Combine::Mean);
        let is_direct = call.to == FloatKind::F32 && call.slice_len <= MAX_LEN_OF_COLUMNS;
        let mut end = call.ends.start(bags.start);
        let mut located = LocatedRows::new(call, end..call.ends.start(bags.end));
        for (bag, output) in bags.zip(output.chunks_exact_mut(bag_bytes)) {
            let places = end..call.ends.start(bag + 1);
            end = places.end;
            let count = address(places.end - places.start);
            // The sums of most bags stay in registers.
            if is_direct && count > 0 && places.end - places.start <= K::BLOCK {
                let Ready { rows: found, ready } = located.at(places.start);
                if ready >= count && !call.has_bad_rows(&found[..count]) {
                    let (values, found, ready) = rows.ready(found, count);
                    if ready == count {
                        let by = is_mean.then_some(count);
                        let to = OfBag(output.as_chunks_mut().0, by);
                        call.combine_columns(kind, values, found, count, places.start, to);
                        continue;
                    }
                }
            }
            sums.fill(K::START);
            let first = places.end.min(places.start.saturating_add(K::BLOCK));
            let of_first = places.start..first;
            let mut good = call.combine_rows(kind, of_first, &mut located, &mut rows, &mut sums);
            let mut start = first;
            while start < places.end {
                let block = start..places.end.min(start.saturating_add(K::BLOCK));
                start = block.end;
                later.clear();
                later.resize(call.slice_len, K::START);
                good += call.combine_rows(kind, block, &mut located, &mut rows, &mut later);
                for (sum, &later) in sums.iter_mut().zip(&later) {
                    *sum += later;
                }
            }
            if good == 0 {
                sums.fill(0.0);
            } else if is_mean {
                divide(&mut sums, good);
            }
            store(call.to, &sums, output);
        }
    }
}

/// Where combined columns go, and what they begin with.
trait Columns {
    fn start<const N: usize>(&self, first: usize, start: f32) -> [f32; N];
    fn store<const N: usize>(&mut self, first: usize, columns: [f32; N]);
}

/// The sums so far.
impl Columns for &mut [f32] {
    #[inline(always)]
    fn start<const N: usize>(&self, first: usize, _: f32) -> [f32; N] {
        *self[first..].first_chunk().expect("columns")
    }

    #[inline(always)]
    fn store<const N: usize>(&mut self, first: usize, columns: [f32; N]) {
        self[first..][..N].copy_from_slice(&columns);
    }
}

/// The output of a whole bag, which is divided by a number of rows.
struct OfBag<'a>(&'a mut [[Byte; 4]], Option<usize>);

impl Columns for OfBag<'_> {
    #[inline(always)]
    fn start<const N: usize>(&self, _: usize, start: f32) -> [f32; N] {
        [start; N]
    }

    #[inline(always)]
    #[expect(clippy::cast_precision_loss, reason = "a block's rows")]
    fn store<const N: usize>(&mut self, first: usize, mut columns: [f32; N]) {
        if let Some(rows) = self.1 {
            columns = columns.map(|sum| sum / rows as f32);
        }
        for (to, column) in self.0[first..][..N].iter_mut().zip(columns) {
            *to = value(column.of_one_nan());
        }
    }
}

impl Call<'_> {
    #[inline(always)]
    fn has_bad_rows(&self, rows: &[u64]) -> bool {
        let row_count = self.plan.dims().params_rows();
        self.plan.bad_indices().fills_on_cpu() && rows.iter().any(|&row| row >= row_count)
    }

    /// Combines the good rows of some places. Returns their number.
    #[inline(always)]
    fn combine_rows<K: Kind>(
        &self,
        kind: K,
        mut places: Range<u64>,
        located: &mut LocatedRows<'_>,
        rows: &mut impl Rows,
        sums: &mut [f32],
    ) -> u64 {
        let (mut good, row_count) = (0, self.plan.dims().params_rows());
        while places.start < places.end {
            let Ready { rows: found, ready } = located.at(places.start);
            let left = address(places.end - places.start).min(ready);
            let bad = found[..left].iter().position(|&row| row >= row_count);
            let count = bad.unwrap_or(left);
            if count == 0 {
                places.start += 1;
                continue;
            }
            let (values, found, count) = rows.ready(found, count);
            match self.slice_len {
                0..=MAX_LEN_OF_COLUMNS => {
                    self.combine_columns(kind, values, found, count, places.start, &mut *sums);
                }
                _ => {
                    for k in 0..count {
                        let place = places.start + k as u64;
                        self.combine_columns(kind, values, &found[k..], 1, place, &mut *sums);
                    }
                }
            }
            good += count as u64;
            places.start += count as u64;
        }
        good
    }

    /// Combines the first `count` rows, some columns at a time.
    #[inline(always)]
    fn combine_columns<K: Kind>(
        &self,
        kind: K,
        values: impl Values,
        rows: &[u64],
        count: usize,
        place: u64,
        mut to: impl Columns,
    ) {
        macro_rules! columns {
            ($($n:literal)*) => {
                let mut first = 0;
                $(while self.slice_len - first >= $n {
                    let is_first = first == 0;
                    let columns = to.start::<$n>(first, K::START);
                    let columns = self.columns(kind, values, rows, count, place, columns, first, is_first);
                    to.store(first, columns);
                    first += $n;
                })*
            };
        }
        columns!(64 16 4 1);
    }

    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the innermost loop")]
    fn columns<const N: usize, K: Kind>(
        &self,
        kind: K,
        values: impl Values,
        rows: &[u64],
        count: usize,
        place: u64,
        mut columns: [f32; N],
        first: usize,
        prefetches: bool,
    ) -> [f32; N] {
        let ahead = self.slices.prefetch.rows_ahead();
        for (k, &row) in rows[..count].iter().enumerate() {
            if prefetches
                && ahead > 0
                && let Some(&later) = rows.get(k + ahead)
            {
                values.prefetch(self.slices.prefetch, later, self.slice_len);
            }
            let weight = kind.weight(place + k as u64);
            let found = values.columns::<N>(row, first);
            for (column, value) in columns.iter_mut().zip(found) {
                *column = K::combine(*column, value, weight);
            }
        }
        columns
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
