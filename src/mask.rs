//! Masks: which rows they select, in order, as numbers or as copies. A GPU's part is gpu/nonzero.rs.
//!
//! 64 entries become the bits of a word, whatever the mask is made of. Words with many bits are walked without a branch for each
//! entry, words with few by their bits.

use std::ops::Range;

use crate::error::RunError;
use crate::memory::{ask_for_huge_pages, bits_of_bytes, bools, prefetch, words};
use crate::operand::Operand;
use crate::plan::lengths::{check_byte_len, check_len};

/// Words with more true entries than this are walked entry by entry, unless they are in so few runs.
const MANY: u32 = 16;
const FEW_RUNS: u32 = 4;

/// Words of 64 entries from the one whose slices are copied to the one whose slices are prefetched.
const WORDS_AHEAD: usize = 16;

/// The type of a mask's entries: single bits, bytes or `u32`s; as a number, the bits of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MaskKind {
    Bits = 1,
    Bytes = 8,
    Words = 32,
}

/// A mask, which selects the rows whose entry is true: `x[mask]`. An entry is true if it is not 0.
///
/// | made by | entries |
/// |---|---|
/// | `from` a slice of `bool`, `u8` or `u32` | one for each element |
/// | [`bytes`](Self::bytes), [`words`](Self::words) | bytes, as NumPy's `bool`; `u32` |
/// | [`bits`](Self::bits) | Arrow's, `np.packbits(bitorder="little")`: entry k is bit k mod 8 of byte k / 8 |
///
/// `D` holds the entries: bytes on the CPU, a `wgpu::BufferSlice` for a `Gatherer`, a reference to a `Tensor` for an `Executor`. On the
/// CPU a call takes a bit for each entry besides its result.
///
/// ```
/// use wgpu_gather::Mask;
///
/// let life = [3_u32, 0, 0, 7];
/// assert_eq!(Mask::from(&life[..]).nonzero()?, [0, 3]); // np.flatnonzero(life)
/// assert_eq!(Mask::from(&life[..]).inverted().nonzero()?, [1, 2]);
///
/// // The validity of six rows of Arrow, from the third bit on.
/// let valid = Mask::bits(&[0b1011_0100][..], 2, 6);
/// assert_eq!(valid.compress(&["a", "b", "c", "d", "e", "f"], &[6], 0)?, ["a", "c", "d", "f"]);
/// # Ok::<(), wgpu_gather::RunError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mask<D> {
    pub(crate) data: D,
    pub(crate) kind: MaskKind,
    /// The first bit, of a mask of bits.
    pub(crate) first: usize,
    pub(crate) len: usize,
    pub(crate) inverted: bool,
}

impl<D> Mask<D> {
    /// A mask of `len` bytes.
    pub const fn bytes(data: D, len: usize) -> Self {
        Self::of(data, MaskKind::Bytes, 0, len)
    }

    /// A mask of `len` bits, from bit `first` on. Bit 0 is the lowest of the first byte.
    pub const fn bits(data: D, first: usize, len: usize) -> Self {
        Self::of(data, MaskKind::Bits, first, len)
    }

    /// A mask of `len` little-endian `u32`s.
    pub const fn words(data: D, len: usize) -> Self {
        Self::of(data, MaskKind::Words, 0, len)
    }

    const fn of(data: D, kind: MaskKind, first: usize, len: usize) -> Self {
        Self {
            data,
            kind,
            first,
            len,
            inverted: false,
        }
    }

    /// The mask that is true where this one is false: for instance, of the rows that
    /// [`out_of_range`](crate::GatherPlan::out_of_range) does not mark.
    #[must_use]
    pub fn inverted(mut self) -> Self {
        self.inverted = !self.inverted;
        self
    }

    /// A mask of this one's type, length and sense, whose entries lie in `data`.
    #[cfg(feature = "gpu")]
    pub(crate) fn over<E>(&self, data: E) -> Mask<E> {
        Mask {
            data,
            kind: self.kind,
            first: self.first,
            len: self.len,
            inverted: self.inverted,
        }
    }

    /// How many bytes the entries take, from the first byte of `data` on.
    pub(crate) const fn byte_len(&self) -> u64 {
        let bits = (self.len as u64).saturating_mul(self.kind as u64);
        bits.saturating_add(self.first as u64).div_ceil(8)
    }
}

impl<'a> From<&'a [bool]> for Mask<&'a [u8]> {
    fn from(mask: &'a [bool]) -> Self {
        Self::bytes(bools(mask), mask.len())
    }
}

impl<'a> From<&'a [u8]> for Mask<&'a [u8]> {
    fn from(mask: &'a [u8]) -> Self {
        Self::bytes(mask, mask.len())
    }
}

impl<'a> From<&'a [u32]> for Mask<&'a [u8]> {
    fn from(mask: &'a [u32]) -> Self {
        Self::words(words(mask), mask.len())
    }
}

impl<D: AsRef<[u8]>> Mask<D> {
    /// The numbers of the true entries, in order: `np.flatnonzero(mask)`. A mask of several dims is numbered in row-major order.
    /// The numbers select rows in a gather or a scatter, on the CPU and on a GPU.
    ///
    /// # Errors
    ///
    /// - [`RunError::ByteLength`] if `data` does not have as many bytes as the entries take.
    /// - [`RunError::Length`] if a `u32` does not count the entries.
    /// - [`RunError::OutOfMemory`].
    #[expect(clippy::cast_possible_truncation, reason = "an entry of 64")]
    pub fn nonzero(&self) -> Result<Vec<u32>, RunError> {
        self.check()?;
        let words = self.entries()?;
        let mut numbers = vector(count(&words), Operand::Indices)?;
        each_word(&words, |first, bits| {
            let first = u32::try_from(first).expect("checked");
            push(&mut numbers, bits, |entry| first + entry as u32);
        });
        Ok(numbers)
    }

    /// The slices of `params` whose entry is true, in order: NumPy's `x[mask]` and `np.compress`, TensorFlow's `boolean_mask`.
    ///
    /// `shape` is that of params. The mask has an entry for each element of one or several of its dims, from `axis` on.
    ///
    /// ```
    /// use wgpu_gather::Mask;
    ///
    /// let params = [1, 2, 3, 4, 5, 6];
    /// let rows = Mask::from(&[false, true][..]);
    /// assert_eq!(rows.compress(&params, &[2, 3], 0)?, [4, 5, 6]); // x[mask]
    /// let columns = Mask::from(&[true, false, true][..]);
    /// assert_eq!(columns.compress(&params, &[2, 3], 1)?, [1, 3, 4, 6]); // np.compress(mask, x, axis=1)
    /// let elements = Mask::from(&[0_u8, 0, 9, 0, 1, 0][..]);
    /// assert_eq!(elements.compress(&params, &[2, 3], 0)?, [3, 5]); // x[mask], a mask of two dims
    /// # Ok::<(), wgpu_gather::RunError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - As [`nonzero`](Self::nonzero).
    /// - [`RunError::Length`] if no dims from `axis` on have as many elements as the mask has entries, or if params does not have the
    ///   shape's elements.
    pub fn compress<T: Copy>(
        &self,
        params: &[T],
        shape: &[usize],
        axis: usize,
    ) -> Result<Vec<T>, RunError> {
        let slice_len = self.check_shape(shape, axis, Operand::Params, params.len())?;
        // Larger elements are not copied only to be left out.
        let is_short = slice_len == 1 && size_of::<T>() <= 16;
        let blocks = blocks(self.len.saturating_mul(slice_len), params.len());
        let words = self.entries()?;
        // At most as many as params has.
        let selected = count(&words) * slice_len * blocks.len();
        let mut output = vector(selected, Operand::Output)?;
        for block in blocks {
            let block = &params[block];
            each_word(&words, |first, bits| match block.get(first..) {
                Some(elements) if is_short => match elements.first_chunk::<64>() {
                    Some(elements) => push(&mut output, bits, |entry| elements[entry]),
                    None => each_run(bits, |run| output.extend_from_slice(&elements[run])),
                },
                _ => {
                    let at = |entry: usize| (first + entry) * slice_len;
                    // Processors prefetch neighbours by themselves, but no lone slices.
                    let later = words.get(first / 64 + WORDS_AHEAD).unwrap_or(&0);
                    if later.count_ones() <= FEW_RUNS {
                        each_run(*later, |run| {
                            prefetch(block, at(64 * WORDS_AHEAD + run.start))
                        });
                    }
                    each_run(bits, |run| {
                        output.extend_from_slice(&block[at(run.start)..at(run.end)])
                    });
                }
            });
        }
        Ok(output)
    }

    /// Writes the slices of `updates`, in order, to the slices of `target` whose entry is true: NumPy's `x[mask] = updates`,
    /// torch's `masked_scatter_`. `shape` is that of the target; see [`compress`](Self::compress), which reads what this writes.
    ///
    /// ```
    /// use wgpu_gather::Mask;
    ///
    /// let mut target = [1, 2, 3, 4];
    /// Mask::from(&[true, false, false, true][..]).scatter(&[7, 8], &[4], 0, &mut target)?;
    /// assert_eq!(target, [7, 2, 3, 8]);
    /// # Ok::<(), wgpu_gather::RunError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - As [`compress`](Self::compress).
    /// - [`RunError::Length`] if there are not as many updates as true entries take. Nothing has been written then.
    pub fn scatter<T: Copy>(
        &self,
        updates: &[T],
        shape: &[usize],
        axis: usize,
        target: &mut [T],
    ) -> Result<(), RunError> {
        let slice_len = self.check_shape(shape, axis, Operand::Target, target.len())?;
        let blocks = blocks(self.len.saturating_mul(slice_len), target.len());
        let words = self.entries()?;
        let expected = (count(&words) * slice_len * blocks.len()) as u64;
        check_len(Operand::Updates, expected..=expected, updates.len())?;
        let mut next = 0;
        for block in blocks {
            each_word(&words, |first, bits| {
                each_run(bits, |run| {
                    let at = |entry: usize| block.start + (first + entry) * slice_len;
                    let (start, len) = (next, (run.end - run.start) * slice_len);
                    next += len;
                    target[at(run.start)..at(run.end)].copy_from_slice(&updates[start..next]);
                });
            });
        }
        Ok(())
    }

    fn check(&self) -> Result<(), RunError> {
        check_len(Operand::Mask, 0..=u32::MAX.into(), self.len)?;
        let bytes = self.byte_len();
        check_byte_len(Operand::Mask, bytes..=bytes, self.data.as_ref().len())
    }

    /// Checks the mask, and that it covers whole dims from `axis` on. Returns how many elements an entry selects.
    fn check_shape(
        &self,
        shape: &[usize],
        axis: usize,
        operand: Operand,
        found: usize,
    ) -> Result<usize, RunError> {
        self.check()?;
        let product = |dims: &[usize]| match dims.contains(&0) {
            true => Some(0),
            false => (dims.iter()).try_fold(1_u64, |len, &dim| len.checked_mul(dim as u64)),
        };
        let len = product(shape).unwrap_or(u64::MAX);
        check_len(operand, len..=len, found)?;
        let dims = shape.get(axis..).unwrap_or_default();
        let covers = |&dims_len: &usize| product(&dims[..dims_len]) == Some(self.len as u64);
        let Some(covered) = (1..=dims.len()).find(covers) else {
            let expected = dims.first().map_or(0, |&dim| dim as u64);
            return Err(RunError::Length {
                operand: Operand::Mask,
                expected: expected..=expected,
                found: self.len,
            });
        };
        let slice_len = product(&dims[covered..]).and_then(|len| usize::try_from(len).ok());
        Ok(slice_len.unwrap_or(0))
    }

    /// Every 64 entries as bits. The mask must have the bytes of its entries.
    fn entries(&self) -> Result<Vec<u64>, RunError> {
        let data = self.data.as_ref();
        let word = |first: usize| {
            let entries = (self.len - first).min(64);
            let bits = match self.kind {
                MaskKind::Bits => bits_from(data, self.first + first),
                MaskKind::Bytes => bits_of(&data[first..first + entries]),
                MaskKind::Words => bits_of_words(&data[4 * first..4 * (first + entries)]),
            };
            let bits = if self.inverted { !bits } else { bits };
            bits & u64::MAX >> (64 - entries)
        };
        let mut words = Operand::Mask.vector(self.len.div_ceil(64) as u64)?;
        words.extend((0..self.len).step_by(64).map(word));
        Ok(words)
    }
}

/// How many entries are true.
fn count(words: &[u64]) -> usize {
    words.iter().map(|bits| bits.count_ones() as usize).sum()
}

/// Calls `of` with each word of bits that has a true entry, after the number of its first entry.
fn each_word(words: &[u64], mut of: impl FnMut(usize, u64)) {
    for (number, &bits) in words.iter().enumerate() {
        if bits != 0 {
            of(64 * number, bits);
        }
    }
}

/// The ranges of `len` elements into which `all` are cut; none if there are no elements.
fn blocks(len: usize, all: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    (0..all.checked_div(len).unwrap_or(0)).map(move |block| block * len..(block + 1) * len)
}

/// 64 bits from one on, as far as there are any.
fn bits_from(data: &[u8], first: usize) -> u64 {
    let (data, shift) = (&data[first / 8..], first % 8);
    let (mut low, mut high) = ([0; 8], 0);
    match data.split_first_chunk::<8>() {
        Some((found, rest)) => (low, high) = (*found, *rest.first().unwrap_or(&0)),
        None => low[..data.len()].copy_from_slice(data),
    }
    // No bits of `high` are left if the shift is 0.
    u64::from_le_bytes(low) >> shift | u64::from(high) << 1 << (63 - shift)
}

/// A bit for each of up to 64 bytes: 1 if it is not 0.
fn bits_of(bytes: &[u8]) -> u64 {
    let mut whole = [0; 64];
    bits_of_bytes(bytes.first_chunk().unwrap_or_else(|| {
        whole[..bytes.len()].copy_from_slice(bytes);
        &whole
    }))
}

/// A bit for each of up to 64 words.
fn bits_of_words(bytes: &[u8]) -> u64 {
    let words = bytes.as_chunks::<4>().0.iter().enumerate();
    words.fold(0, |bits, (at, &word)| {
        bits | u64::from(u32::from_le_bytes(word) != 0) << at
    })
}

/// Pushes those of 64 elements whose bit is set.
fn push<T: Copy>(output: &mut Vec<T>, mut bits: u64, element: impl Fn(usize) -> T) {
    if bits.count_ones() <= MANY {
        while bits != 0 {
            output.push(element(bits.trailing_zeros() as usize));
            bits &= bits - 1;
        }
    } else if (bits & !(bits << 1)).count_ones() <= FEW_RUNS {
        each_run(bits, |run| output.extend(run.map(&element)));
    } else {
        let (mut found, mut count) = ([element(0); 64], 0);
        for entry in 0..64 {
            found[count] = element(entry);
            count += usize::from(bits >> entry & 1 == 1);
        }
        output.extend_from_slice(&found[..count]);
    }
}

fn vector<T>(len: usize, operand: Operand) -> Result<Vec<T>, RunError> {
    let mut vector = operand.vector(len as u64)?;
    ask_for_huge_pages(vector.spare_capacity_mut());
    Ok(vector)
}

/// Calls `of` with each run of set bits.
fn each_run(mut bits: u64, mut of: impl FnMut(Range<usize>)) {
    let mut start = 0;
    while bits != 0 {
        let zeros = bits.trailing_zeros();
        bits >>= zeros;
        start += zeros as usize;
        let ones = bits.trailing_ones();
        of(start..start + ones as usize);
        // A shift by 64 bits would be no shift.
        bits = bits.checked_shr(ones).unwrap_or(0);
        start += ones as usize;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries as each kind of mask, with bits before and after those of a mask of bits.
    fn masks(entries: &[bool], first: usize) -> [(Vec<u8>, MaskKind, usize); 3] {
        let bits: Vec<bool> = [&vec![true; first][..], entries, &[true; 7]].concat();
        let byte =
            |bits: &[bool]| (bits.iter().rev()).fold(0, |all, &bit| all << 1 | u8::from(bit));
        let mut packed: Vec<u8> = bits.chunks(8).map(byte).collect();
        packed.truncate((first + entries.len()).div_ceil(8));
        let number = |at: usize| u8::try_from(at % 255 + 1).expect("a byte");
        let bytes = entries.iter().enumerate();
        let bytes = bytes.map(|(at, &entry)| number(at) * u8::from(entry));
        let word = |(at, &entry): (usize, &bool)| (u32::from(entry) << (at % 32)).to_le_bytes();
        let words = entries.iter().enumerate().flat_map(word);
        [
            (packed, MaskKind::Bits, first),
            (bytes.collect(), MaskKind::Bytes, 0),
            (words.collect(), MaskKind::Words, 0),
        ]
    }

    /// Numbers without a pattern.
    fn random() -> impl FnMut(usize) -> usize {
        let mut state = 90_u64;
        move |end| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            usize::try_from(state >> 33).expect("31 bits") % end
        }
    }

    #[test]
    fn each_kind_selects_what_a_loop_selects() {
        let mut random = random();
        for case in 0..3000 {
            let [outer, len, slice_len] = [1 + random(3), random(300), random(4)];
            let share = [0, 2, 50, 98, 100][random(5)];
            let entries: Vec<_> = (0..len).map(|_| random(100) < share).collect();
            let params: Vec<_> = (0..outer * len * slice_len).collect();
            let shape = [outer, len, slice_len];
            for (data, kind, first) in masks(&entries, random(20)) {
                for inverted in [false, true] {
                    let mut mask = Mask::of(data.as_slice(), kind, first, len);
                    mask.inverted = inverted;
                    let is_true = |&at: &usize| entries[at] != inverted;
                    let numbers: Vec<_> = (0..len).filter(is_true).collect();
                    let found = mask.nonzero().expect("a valid mask");
                    assert!(
                        found.iter().map(|&at| at as usize).eq(numbers),
                        "{case} {mask:?}"
                    );
                    let selected = |&at: &usize| is_true(&(at / slice_len % len));
                    let expected: Vec<_> = params.iter().copied().filter(selected).collect();
                    let found = mask.compress(&params, &shape, 1);
                    // A dim of 1 and the next may be the masked ones, with the same result.
                    assert_eq!(found.as_ref(), Ok(&expected), "{case} {mask:?} {shape:?}");
                    let mut target = vec![usize::MAX; params.len()];
                    let done = mask.scatter(&expected, &shape, 1, &mut target);
                    done.expect("as many updates as true entries");
                    let expected = params.iter().map(|at| match selected(at) {
                        true => *at,
                        false => usize::MAX,
                    });
                    assert!(target.iter().copied().eq(expected), "{case} {mask:?}");
                }
            }
        }
    }

    #[test]
    fn masks_of_other_lengths_are_refused() {
        let text = |result: Result<(), RunError>| result.expect_err("a mistake").to_string();
        let data = &[1_u8; 4][..];
        let mask = Mask::from(data);
        let compress = |shape: &[usize], axis| text(mask.compress(&[0; 12], shape, axis).map(drop));
        assert_eq!(compress(&[3, 4], 0), "mask must have 3 elements, found 4");
        assert_eq!(compress(&[3, 4], 2), "mask must have 0 elements, found 4");
        assert_eq!(
            compress(&[4, 4], 0),
            "params must have 16 elements, found 12"
        );
        let numbers = |mask: Mask<&[u8]>| text(mask.nonzero().map(drop));
        assert_eq!(
            numbers(Mask::bytes(data, 3)),
            "mask must have 3 bytes, found 4"
        );
        assert_eq!(
            numbers(Mask::bits(data, 1, 32)),
            "mask must have 5 bytes, found 4"
        );
        assert_eq!(
            numbers(Mask::words(data, 2)),
            "mask must have 8 bytes, found 4"
        );
        let most = "mask must have 0 to 4294967295 elements, found 4294967296";
        assert_eq!(numbers(Mask::bits(data, 0, 1 << 32)), most);
        let mut target = [0; 4];
        let updates = "updates must have 4 elements, found 3";
        assert_eq!(text(mask.scatter(&[1; 3], &[4], 0, &mut target)), updates);
        assert_eq!(target, [0; 4]);
    }
}
