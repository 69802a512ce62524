//! Gather implementations that run the cases.

use std::fmt;
use std::ops::Range;

use bytemuck::{CheckedBitPattern, NoUninit, Zeroable};
use wgpu_gather::{BadIndices, Encoded, Float, GatherPlan, Index, IndexKind, RunError};

use super::indices::Hash;

/// An element type that every runner can gather.
pub trait Element:
    NoUninit + CheckedBitPattern + Zeroable + Default + Send + Sync + fmt::Debug
{
}

impl<T> Element for T where
    T: NoUninit + CheckedBitPattern + Zeroable + Default + Send + Sync + fmt::Debug
{
}

/// A gather implementation.
pub trait Runner {
    /// The policy that `DeviceDefault` stands for.
    const DEVICE_DEFAULT: BadIndices;

    fn gather<T: Element, I: Index>(
        &self,
        plan: &GatherPlan,
        params: &[T],
        indices: &[I],
    ) -> Result<Vec<T>, RunError>;

    fn gather_decoded<T: Element + Float, I: Index>(
        &self,
        plan: &GatherPlan,
        params: &Encoded<&[u8], T>,
        indices: &[I],
    ) -> Result<Vec<T>, RunError>;
}

/// Gathers by `GatherPlan::gather`, and asserts that `gather_into` gives an equal result and keeps the output's gaps.
pub struct Cpu;

impl Runner for Cpu {
    const DEVICE_DEFAULT: BadIndices = BadIndices::Error;

    fn gather<T: Element, I: Index>(
        &self,
        plan: &GatherPlan,
        params: &[T],
        indices: &[I],
    ) -> Result<Vec<T>, RunError> {
        let old = params.last().copied().unwrap_or_default();
        let into = |output: &mut [T]| plan.gather_into(params, indices, output);
        both(plan, dense(plan).gather(params, indices), old, into)
    }

    fn gather_decoded<T: Element + Float, I: Index>(
        &self,
        plan: &GatherPlan,
        params: &Encoded<&[u8], T>,
        indices: &[I],
    ) -> Result<Vec<T>, RunError> {
        let result = dense(plan).gather_encoded(params, indices);
        let old = bytemuck::checked::pod_read_unaligned(&[7; 4][..size_of::<T>()]);
        both(plan, result, old, |output: &mut [T]| {
            plan.gather_encoded_into(params, indices, output)
        })
    }
}

/// The plan without gaps in the output, as calls that allocate the output need.
pub fn dense(plan: &GatherPlan) -> GatherPlan {
    let dense = plan.with_output_stride(plan.slice_len());
    dense.expect("rows without gaps")
}

/// Returns `result`, and asserts that `gather_into` on an output of `old` elements equals it.
fn both<T: Element>(
    plan: &GatherPlan,
    result: Result<Vec<T>, RunError>,
    old: T,
    gather_into: impl FnOnce(&mut [T]) -> Result<(), RunError>,
) -> Result<Vec<T>, RunError> {
    let output_len = plan.output_len();
    let mut output = vec![old; output_len];
    let into = gather_into(&mut output);
    match &result {
        Ok(result) => {
            assert_eq!(into, Ok(()), "gather_into differs from run");
            let mut expected = vec![old; output_len];
            let mut slices = result.iter();
            for range in output_slices(plan) {
                let slice = expected[range].iter_mut();
                slice
                    .zip(&mut slices)
                    .for_each(|(place, &element)| *place = element);
            }
            assert!(slices.next().is_none(), "run has more slices");
            assert_eq!(
                bytes_of(&expected),
                bytes_of(&output),
                "gather_into differs"
            );
        }
        Err(error) => assert_eq!(into, Err(error.clone()), "gather_into differs from run"),
    }
    result
}

/// Each slice's elements in an output that the caller gives, which may have gaps.
pub fn output_slices(plan: &GatherPlan) -> impl Iterator<Item = Range<usize>> {
    let dense: usize = plan.output_shape().iter().product();
    let slice_len = plan.slice_len();
    let rows = dense.checked_div(slice_len).unwrap_or(0);
    let with_gaps = plan.output_len();
    // The last slice has no gap after it.
    let stride = match rows {
        0 | 1 => slice_len,
        _ => (with_gaps - slice_len) / (rows - 1),
    };
    (0..rows).map(move |row| row * stride..row * stride + slice_len)
}

pub fn bytes_of<T: NoUninit>(elements: &[T]) -> &[u8] {
    bytemuck::cast_slice(elements)
}

/// Nonzero bytes without a short period.
pub fn pattern(len: usize) -> Vec<u8> {
    let mut hash = Hash::new(len as u64);
    (0..len)
        .map(|_| u8::try_from(1 + hash.below(255)).expect("a byte"))
        .collect()
}

/// Index values as little-endian bytes. The index kind must be able to hold the values.
pub fn index_bytes(index_kind: IndexKind, values: &[i128]) -> Vec<u8> {
    let width = usize::try_from(index_kind.bytes()).expect("1 to 8 bytes");
    let bytes = |&value: &i128| value.to_le_bytes().into_iter().take(width);
    values.iter().flat_map(bytes).collect()
}
