//! The decoders of packed numbers whose scales are not in their blocks: at the end of a row, or in operands of their own. Each
//! product and each sum rounds once.

use std::array::from_fn;

use super::block_quantized::{BlockQuantized, ScaleKind};
use super::decode::{bf16, half};
use super::row::VALUE_BYTES;
use crate::memory::{self, Byte};

/// Values, then the scale and the bias of the row.
pub(crate) fn row_wise_8(row: &[u8], to: &mut [Byte]) {
    let (values, end) = row.split_at(row.len() - 8);
    let [scale, bias] = [0, 4].map(|at| f32_at(&end[at..]));
    each_16::<8>(values, to, |q| f32::from(q) * scale + bias);
}

/// Half bytes, then the scale and the bias of the row.
pub(crate) fn row_wise_4(row: &[u8], to: &mut [Byte]) {
    let (values, end) = row.split_at(row.len() - 4);
    let [scale, bias] = [0, 2].map(|at| half([end[at], end[at + 1]]));
    each_16::<4>(values, to, |q| f32::from(q) * scale + bias);
}

/// A row of the last dim, whose blocks have their scales and zero points in `scales` and `zero_points`.
pub(crate) fn block_quantized(
    numbers: BlockQuantized,
    row: &[u8],
    scales: &[u8],
    zero_points: &[u8],
    to: &mut [Byte],
) {
    match numbers.bits() {
        2 => blocks::<2>(numbers, row, scales, zero_points, to),
        4 => blocks::<4>(numbers, row, scales, zero_points, to),
        _ => blocks::<8>(numbers, row, scales, zero_points, to),
    }
}

fn blocks<const BITS: usize>(
    numbers: BlockQuantized,
    row: &[u8],
    scales: &[u8],
    zero_points: &[u8],
    to: &mut [Byte],
) {
    let (len, flipped) = (numbers.block_len(), numbers.flipped());
    let [block, block_of_output] = [len * BITS as u64 / 8, len * VALUE_BYTES].map(memory::address);
    let scale_of: fn(&[u8]) -> f32 = match numbers.scale_kind() {
        ScaleKind::F32 => f32_at,
        ScaleKind::F16 => |scale| half([scale[0], scale[1]]),
        ScaleKind::Bf16 => |scale| bf16(&[scale[0], scale[1]])[0],
    };
    let scales = scales.chunks(memory::address(numbers.scale_kind().bytes()));
    let blocks = row.chunks(block).zip(to.chunks_mut(block_of_output));
    for (number, ((values, to), scale)) in blocks.zip(scales).enumerate() {
        let zero_point = numbers.zero_point().unwrap_or_else(|| {
            let bit = number * BITS;
            (zero_points[bit / 8] >> (bit % 8) & low_bits::<BITS>()) ^ flipped
        });
        let (zero_point, scale) = (f32::from(zero_point), scale_of(scale));
        each_16::<BITS>(values, to, |q| {
            (f32::from(q ^ flipped) - zero_point) * scale
        });
    }
}

fn f32_at(bytes: &[u8]) -> f32 {
    f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

const fn low_bits<const BITS: usize>() -> u8 {
    u8::MAX >> (8 - BITS)
}

/// Decodes packed numbers of `BITS` bits, 16 at a time, so that the compiler finds several to decode at once.
#[inline(always)]
fn each_16<const BITS: usize>(from: &[u8], to: &mut [Byte], value: impl Fn(u8) -> f32) {
    for (from, to) in from
        .chunks(2 * BITS)
        .zip(to.chunks_mut(16 * size_of::<f32>()))
    {
        let mut bytes = [0; 16];
        bytes[..from.len()].copy_from_slice(from);
        let values: [f32; 16] = from_fn(|at| {
            let bit = at * BITS;
            value(bytes[bit / 8] >> (bit % 8) & low_bits::<BITS>())
        });
        to.copy_from_slice(&memory::bytes(&values)[..to.len()]);
    }
}
