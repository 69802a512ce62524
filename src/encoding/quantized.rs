//! Decoders for packed numbers whose scales lie outside their blocks: at a row's end, or in their own operand. Each product and
//! each sum rounds once.

use super::block_quantized::BlockQuantized;
use super::decode::{each, half, high_half};
use super::float::FloatKind;
use super::row::{VALUE_BYTES, Value};
use crate::memory::{Byte, Leveled, address, run_at_best_level};

/// Values, then the scale and the bias of the row.
pub(super) fn row_wise_8(row: &[u8], first: usize, to: &mut [Byte]) {
    let (numbers, end) = row.split_at(row.len() - 8);
    let [scale, bias] = [0, 4].map(|at| f32_at(&end[at..]));
    let numbers = &numbers[first..][..to.len() / 4];
    run_at_best_level(RowWise::<8> {
        numbers,
        scale,
        bias,
        to,
    });
}

/// Half bytes, then the scale and the bias of the row.
pub(super) fn row_wise_4(row: &[u8], first: usize, to: &mut [Byte]) {
    let (numbers, end) = row.split_at(row.len() - 4);
    let [scale, bias] = [0, 2].map(|at| half([end[at], end[at + 1]]));
    let numbers = &numbers[first / 2..][..to.len() / 8];
    run_at_best_level(RowWise::<4> {
        numbers,
        scale,
        bias,
        to,
    });
}

struct RowWise<'a, const BITS: usize> {
    numbers: &'a [u8],
    scale: f32,
    bias: f32,
    to: &'a mut [Byte],
}

impl<const BITS: usize> Leveled for RowWise<'_, BITS> {
    #[inline(always)]
    fn run(self) {
        let Self {
            numbers,
            scale,
            bias,
            to,
        } = self;
        packed::<BITS>(numbers, to, |q| f32::from(q) * scale + bias);
    }
}

/// A row of the last dim in an `Encoding::BlockQuantized`, with the scales and zero points of its blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuantizedRow<'a> {
    pub(crate) numbers: BlockQuantized,
    pub(crate) values: &'a [u8],
    pub(crate) scales: &'a [u8],
    pub(crate) zero_points: &'a [u8],
}

impl QuantizedRow<'_> {
    /// As a [`Decode`](super::Decode) of the row.
    pub(crate) fn decode(self, first: usize, to: &mut [Byte]) {
        run_at_best_level(QuantizedValues {
            row: self,
            first,
            to,
        });
    }
}

/// Values of a row, from a block's first one on, and the room for them.
struct QuantizedValues<'a> {
    row: QuantizedRow<'a>,
    first: usize,
    to: &'a mut [Byte],
}

impl Leveled for QuantizedValues<'_> {
    #[inline(always)]
    fn run(self) {
        match self.row.numbers.bits() {
            2 => self.blocks::<2>(),
            4 => self.blocks::<4>(),
            _ => self.blocks::<8>(),
        }
    }
}

impl QuantizedValues<'_> {
    #[inline(always)]
    fn blocks<const BITS: usize>(self) {
        let Self { row, first, to } = self;
        let (len, flipped) = (row.numbers.block_len(), row.numbers.flipped());
        let [block, block_of_output] = [len * BITS as u64 / 8, len * VALUE_BYTES].map(address);
        let scale_of: fn(&[u8]) -> f32 = match row.numbers.scale_kind() {
            FloatKind::F32 => f32_at,
            FloatKind::F16 => |scale| half([scale[0], scale[1]]),
            FloatKind::Bf16 => |scale| high_half([scale[0], scale[1]]),
        };
        let scale_bytes = address(row.numbers.scale_kind().bytes());
        let number = first / address(len);
        let scales = row.scales[number * scale_bytes..].chunks(scale_bytes);
        let values = row.values[first * BITS / 8..].chunks(block);
        let blocks = values.zip(to.chunks_mut(block_of_output));
        for (number, ((values, to), scale)) in (number..).zip(blocks.zip(scales)) {
            let zero_point = row.numbers.zero_point().unwrap_or_else(|| {
                let bit = number * BITS;
                let low_bits = u8::MAX >> (8 - BITS);
                (row.zero_points[bit / 8] >> (bit % 8) & low_bits) ^ flipped
            });
            let (zero_point, scale) = (f32::from(zero_point), scale_of(scale));
            let value_of = |q| (f32::from(q ^ flipped) - zero_point) * scale;
            packed::<BITS>(values, to, value_of);
        }
    }
}

#[inline(always)]
fn f32_at(bytes: &[u8]) -> f32 {
    f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// Decodes packed `BITS`-bit numbers, the first in a byte's low bits.
#[inline(always)]
fn packed<const BITS: usize>(from: &[u8], to: &mut [Byte], value_of: impl Fn(u8) -> f32) {
    let to = to.as_chunks_mut().0;
    match BITS {
        2 => each_of_bytes(from, to, value_of, |byte| {
            let bits = u32::from(byte);
            let bits = (bits | bits << 12) & 0x000f_000f;
            ((bits | bits << 6) & 0x0303_0303).to_le_bytes()
        }),
        4 => each_of_bytes(from, to, value_of, |byte| {
            let bits = u16::from(byte);
            ((bits | bits << 4) & 0x0f0f).to_le_bytes()
        }),
        _ => each(from, to, value_of),
    }
}

/// Writes a value for each number that a byte holds.
#[inline(always)]
fn each_of_bytes<const NUMBERS: usize>(
    bytes: &[u8],
    to: &mut [Value],
    value_of: impl Fn(u8) -> f32,
    numbers: impl Fn(u8) -> [u8; NUMBERS],
) {
    for (&byte, to) in bytes.iter().zip(to.as_chunks_mut::<NUMBERS>().0) {
        each(&numbers(byte), to, &value_of);
    }
}
