//! Bags of index rows, and how the rows of a bag are combined. cpu/bags.rs combines them on the CPU.

use std::ops::RangeInclusive;

use crate::error::{PlanError, RunError};
use crate::index::{Index, IndexKind, IndexValues};
use crate::memory::{halfwords, longs, u8s, u16s, u32s, u64s, words};
use crate::operand::Operand;
use crate::plan::lengths::{check_byte_len, check_len};
use crate::plan::{GatherPlan, Operation};

/// How many places of a bag are summed one by one; each later so many are summed by themselves.
pub(crate) const BLOCK_PLACES: u64 = 1024;

/// Which indices are in a bag: those from its offset to the next one, or equally many in each bag.
///
/// `from` a slice takes `bags + 1` offsets: bag `b` has the indices from `offsets[b]` to before `offsets[b + 1]`. The first offset is 0, none is
/// less than the one before it, and none is more than the number of indices.
///
/// `D` holds the offsets: bytes on the CPU.
///
/// ```
/// use wgpu_gather::{Bags, Gather, Offsets};
///
/// let (params, ids) = ([1.0_f32, 10.0, 100.0], [0_u32, 1, 2, 2]);
/// let plan = Gather::new().plan(&[3], &[4])?;
/// let sums = |offsets| plan.gather_bags(&params, &ids, Bags::sum(offsets));
/// assert_eq!(sums(Offsets::from(&[0, 3, 3, 4][..]))?, [111.0, 0.0, 100.0]);
/// assert_eq!(sums(Offsets::from(&[0_i64, 3][..]).without_last())?, [111.0, 100.0]); // torch's embedding_bag
/// assert_eq!(sums(Offsets::each(2, 2))?, [11.0, 200.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offsets<D> {
    pub(crate) given: Given<D>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Given<D> {
    Each {
        bags: usize,
        size: usize,
    },
    Offsets {
        data: D,
        kind: IndexKind,
        len: usize,
        has_last: bool,
    },
}

impl<D> Offsets<D> {
    /// Offsets of this type, `len` of them, the last one at the end of the last bag.
    pub const fn new(data: D, kind: IndexKind, len: usize) -> Self {
        let has_last = true;
        Self {
            given: Given::Offsets {
                data,
                kind,
                len,
                has_last,
            },
        }
    }

    /// Bags of `size` indices each.
    pub const fn each(bags: usize, size: usize) -> Self {
        Self {
            given: Given::Each { bags, size },
        }
    }

    /// Says that each offset begins a bag. The last bag has all indices from its offset on: torch's `include_last_offset=False`.
    #[must_use]
    pub fn without_last(mut self) -> Self {
        if let Given::Offsets { has_last, .. } = &mut self.given {
            *has_last = false;
        }
        self
    }

    /// The number of bags.
    pub(crate) const fn bags(&self) -> usize {
        match self.given {
            Given::Each { bags, .. } => bags,
            Given::Offsets { len, has_last, .. } => len.saturating_sub(has_last as usize),
        }
    }
}

impl<'a, I: Index> From<&'a [I]> for Offsets<&'a [u8]> {
    fn from(offsets: &'a [I]) -> Self {
        let bytes = match I::values(offsets) {
            IndexValues::I8(offsets) => u8s(offsets),
            IndexValues::U8(offsets) => offsets,
            IndexValues::I16(offsets) => halfwords(u16s(offsets)),
            IndexValues::U16(offsets) => halfwords(offsets),
            IndexValues::I32(offsets) => words(u32s(offsets)),
            IndexValues::U32(offsets) => words(offsets),
            IndexValues::I64(offsets) => longs(u64s(offsets)),
            IndexValues::U64(offsets) => longs(offsets),
        };
        Self::new(bytes, I::KIND, offsets.len())
    }
}

/// Bags of index rows, and how the rows that a bag selects are combined: PyTorch's `embedding_bag`, a combiner of TensorFlow's
/// `embedding_lookup_sparse`, a segment sum of gathered rows.
///
/// | made by | a bag without good rows gives 0, others |
/// |---|---|
/// | [`sum`](Self::sum) | `+0 + row + row + ..` in the order of the indices |
/// | [`weighted`](Self::weighted) | `+0 + weight * row + ..`; each product is rounded to `f32` before it is added |
/// | [`mean`](Self::mean) | the sum divided by the number of good rows, rounded once more |
/// | [`max`](Self::max) | the greatest of each element, as [`Reduce::Max`](crate::Reduce::Max) |
///
/// All is counted in `f32`. The first 1,024 places of a bag are summed one by one; each later 1,024 by themselves, from +0, and
/// that sum is added. A place counts whether its index is good or bad. So the result has the same bits on each device, but for the encoded
/// values that [`Encoding`](crate::Encoding) lists, and with any number of threads. A NaN is 0x7fc00000. Halves are rounded once, at the end.
///
/// `O` holds the offsets and `W` the weights, one `f32` for each index: bytes and a slice on the CPU.
///
/// ```
/// use wgpu_gather::{Bags, BadIndices, Gather};
///
/// // Sentences of word ids, padded with -1.
/// let table = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let plan = Gather::new().bad_indices(BadIndices::Fill).plan(&[3, 2], &[5])?;
/// let (ids, offsets) = ([2, 0, -1, 1, -1], [0, 2, 5]);
/// assert_eq!(plan.gather_bags(&table, &ids, Bags::sum(&offsets[..]))?, [6.0, 8.0, 3.0, 4.0]);
/// assert_eq!(plan.gather_bags(&table, &ids, Bags::mean(&offsets[..]))?, [3.0, 4.0, 3.0, 4.0]);
/// assert_eq!(plan.gather_bags(&table, &ids, Bags::max(&offsets[..]))?, [5.0, 6.0, 3.0, 4.0]);
/// let weights = [0.5, 1.0, 9.0, 2.0, 9.0];
/// let weighted = Bags::weighted(&offsets[..], &weights[..]);
/// assert_eq!(plan.gather_bags(&table, &ids, weighted)?, [3.5, 5.0, 6.0, 8.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bags<O, W = O> {
    pub(crate) offsets: Offsets<O>,
    pub(crate) combine: Combine<W>,
}

/// How the rows of a bag are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Combine<W> {
    Sum,
    Weighted(W),
    Mean,
    Max,
}

impl<O, W> Bags<O, W> {
    /// The sums of bags.
    pub fn sum(offsets: impl Into<Offsets<O>>) -> Self {
        Self::of(offsets, Combine::Sum)
    }

    /// The sums of rows times the weights of their indices.
    pub fn weighted(offsets: impl Into<Offsets<O>>, weights: W) -> Self {
        Self::of(offsets, Combine::Weighted(weights))
    }

    /// The means of bags. Bad rows that are left out do not count.
    pub fn mean(offsets: impl Into<Offsets<O>>) -> Self {
        Self::of(offsets, Combine::Mean)
    }

    /// The greatest elements of bags.
    pub fn max(offsets: impl Into<Offsets<O>>) -> Self {
        Self::of(offsets, Combine::Max)
    }

    fn of(offsets: impl Into<Offsets<O>>, combine: Combine<W>) -> Self {
        Self {
            offsets: offsets.into(),
            combine,
        }
    }

    /// The same bags, whose offsets and weights lie where these functions say.
    #[cfg(feature = "gpu")]
    pub(crate) fn try_map<'b, P, V, E>(
        &'b self,
        of_offsets: impl FnOnce(&'b O) -> Result<P, E>,
        of_weights: impl FnOnce(&'b W) -> Result<V, E>,
    ) -> Result<Bags<P, V>, E> {
        let given = match &self.offsets.given {
            &Given::Each { bags, size } => Given::Each { bags, size },
            Given::Offsets {
                data,
                kind,
                len,
                has_last,
            } => Given::Offsets {
                data: of_offsets(data)?,
                kind: *kind,
                len: *len,
                has_last: *has_last,
            },
        };
        let combine = match &self.combine {
            Combine::Sum => Combine::Sum,
            Combine::Weighted(weights) => Combine::Weighted(of_weights(weights)?),
            Combine::Mean => Combine::Mean,
            Combine::Max => Combine::Max,
        };
        let offsets = Offsets { given };
        Ok(Bags { offsets, combine })
    }
}

impl GatherPlan {
    /// Checks that each index selects a row of whole params, along the first axis.
    pub(crate) fn check_bags(&self) -> Result<(), PlanError> {
        let dims = self.dims();
        let needs = [
            ("batch_dims", 0, self.batch_dims as u64),
            ("axis", 0, self.axis as u64),
            ("index depth", 1, dims.index_depth() as u64),
            ("rows in its shard", dims.row_count, dims.held_rows),
            ("output stride", dims.slice_len, dims.output_stride),
        ];
        let mut needs = needs.into_iter();
        if let Some((part, expected, found)) = needs.find(|&(_, expected, found)| expected != found)
        {
            return Err(PlanError::Bags {
                part,
                expected,
                found,
            });
        }
        // Along the only axis, gather_elements is gather.
        match (self.operation, self.params_shape.len()) {
            (Operation::GatherElements, rank @ 2..) => Err(PlanError::Bags {
                part: "for gather_elements, a params rank",
                expected: 1,
                found: rank as u64,
            }),
            _ => Ok(()),
        }
    }
}

/// The ends of bags among `indices` indices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends<'a> {
    given: Given<&'a [u8]>,
    pub(crate) bags: usize,
    indices: u64,
}

impl<'a> Ends<'a> {
    /// The ends, if all are in order.
    pub(crate) fn checked(offsets: Offsets<&'a [u8]>, indices: usize) -> Result<Self, RunError> {
        let bags = offsets.bags();
        let ends = Self {
            given: offsets.given,
            bags,
            indices: indices as u64,
        };
        match offsets.given {
            Given::Each { size, .. } => {
                let len = (bags as u64).saturating_mul(size as u64);
                check_len(Operand::Indices, len..=len, indices)?;
            }
            Given::Offsets {
                data,
                kind,
                len,
                has_last,
            } => {
                let bytes = (len as u64).saturating_mul(kind.bytes());
                check_byte_len(Operand::Offsets, bytes..=bytes, data.len())?;
                check_len(Operand::Offsets, u64::from(has_last)..=u64::MAX, len)?;
                let mut least = 0;
                for place in 0..len {
                    let expected = match place {
                        0 => 0..=0,
                        _ => least..=ends.indices,
                    };
                    let offset = offset(data, kind, place);
                    least = in_range(place, expected, offset)?;
                }
            }
        }
        Ok(ends)
    }

    /// The first place of a bag, or the end of the last one.
    #[inline]
    pub(crate) fn start(&self, bag: usize) -> u64 {
        match self.given {
            Given::Each { size, .. } => bag as u64 * size as u64,
            Given::Offsets {
                data, kind, len, ..
            } if bag < len => checked_offset(data, kind, bag),
            Given::Offsets { .. } => self.indices,
        }
    }
}

/// Checks the offset at a place.
fn in_range(place: usize, expected: RangeInclusive<u64>, found: i128) -> Result<u64, RunError> {
    let offset = u64::try_from(found).ok();
    offset
        .filter(|offset| expected.contains(offset))
        .ok_or(RunError::Offset {
            place,
            expected,
            found,
        })
}

/// The offset at a place.
fn offset(bytes: &[u8], kind: IndexKind, place: usize) -> i128 {
    let bits = checked_offset(bytes, kind, place);
    match kind.is_signed() {
        true => bits.cast_signed().into(),
        false => bits.into(),
    }
}

/// The offset at a place, with its sign extended.
#[inline]
#[expect(
    clippy::cast_lossless,
    clippy::cast_sign_loss,
    reason = "one conversion for all types"
)]
fn checked_offset(bytes: &[u8], kind: IndexKind, place: usize) -> u64 {
    macro_rules! read {
        ($($kind:ident: $integer:ty,)*) => {
            match kind {
                $(IndexKind::$kind => <$integer>::from_ne_bytes(bytes.as_chunks().0[place]) as u64,)*
            }
        };
    }
    read! {
        I8: i8,
        U8: u8,
        I16: i16,
        U16: u16,
        I32: i32,
        U32: u32,
        I64: i64,
        U64: u64,
    }
}
