//! The decoders of encoded rows: one function for each encoding, from the bytes of a block to its values.
//!
//! All products are exact in `f32`, so the order of factors changes no bit.

use std::array::from_fn;

use crate::memory::{self, Byte};

/// Decodes whole blocks, some at a time, so that the compiler finds several values to decode at once.
#[inline(always)]
pub(crate) fn blocks<const BYTES: usize, const LEN: usize, const GROUP: usize>(
    from: &[u8],
    to: &mut [Byte],
    decode: impl Fn(&[u8; BYTES]) -> [f32; LEN],
) {
    let (groups, left) = from.as_chunks::<BYTES>().0.as_chunks::<GROUP>();
    let (group_bytes, block_bytes) = (size_of::<[[f32; LEN]; GROUP]>(), size_of::<[f32; LEN]>());
    let (whole, rest) = to.split_at_mut(groups.len() * group_bytes);
    for (group, to) in groups.iter().zip(whole.chunks_exact_mut(group_bytes)) {
        let values: [[f32; LEN]; GROUP] = from_fn(|block| decode(&group[block]));
        to.copy_from_slice(memory::bytes(&values));
    }
    for (block, to) in left.iter().zip(rest.chunks_exact_mut(block_bytes)) {
        to.copy_from_slice(memory::bytes(&decode(block)));
    }
}

/// The value of a half float. Subnormals are exact, and a NaN keeps its payload.
fn half(bytes: [u8; 2]) -> f32 {
    let half = u32::from(u16::from_le_bytes(bytes));
    let magnitude = (half & 0x7fff) << 13;
    // The exponent's bias is 112 less in a half; all ones stay all ones.
    let is_finite = magnitude < 0x0f80_0000;
    let normal = magnitude + if is_finite { 0x3800_0000 } else { 0x7000_0000 };
    let subnormal = (int(half & 0x3ff) * 2.0_f32.powi(-24)).to_bits();
    let bits = if magnitude < 0x0080_0000 {
        subnormal
    } else {
        normal
    };
    f32::from_bits(bits | (half & 0x8000) << 16)
}

/// A number of up to 24 bits.
#[expect(clippy::cast_precision_loss, reason = "an f32 has 24 bits")]
fn int(number: u32) -> f32 {
    number as f32
}

fn half_at<const BYTES: usize>(block: &[u8; BYTES], at: usize) -> f32 {
    half([block[at], block[at + 1]])
}

pub(crate) fn f16(block: &[u8; 2]) -> [f32; 1] {
    [half(*block)]
}

pub(crate) fn bf16(block: &[u8; 2]) -> [f32; 1] {
    [f32::from_bits(u32::from(u16::from_le_bytes(*block)) << 16)]
}

/// A scale, then the values.
pub(crate) fn q8_0(block: &[u8; 34]) -> [f32; 32] {
    let scale = half_at(block, 0);
    from_fn(|value| f32::from(block[2 + value].cast_signed()) * scale)
}

/// A scale, then bytes, each with a value of the first half and one of the second.
pub(crate) fn q4_0(block: &[u8; 18]) -> [f32; 32] {
    let scale = half_at(block, 0);
    let mut values = [0.0; 32];
    for (at, &pair) in block[2..].iter().enumerate() {
        values[at] = (f32::from(pair & 15) - 8.0) * scale;
        values[16 + at] = (f32::from(pair >> 4) - 8.0) * scale;
    }
    values
}

/// A scale and a scale of minima; 12 bytes with a scale and a minimum of 6 bits for each part of 32 values; then 32 bytes
/// for each two parts.
pub(crate) fn q4_k(block: &[u8; 144]) -> [f32; 256] {
    let (scale, least) = (half_at(block, 0), half_at(block, 2));
    let part = |part: usize| {
        let (low, high) = (block[4 + part % 4], block[8 + part % 4]);
        let both = block[12 + part % 4];
        let of_part = match part {
            0..4 => (low & 63, high & 63),
            _ => (both & 15 | (low >> 6) << 4, both >> 4 | (high >> 6) << 4),
        };
        (scale * f32::from(of_part.0), least * f32::from(of_part.1))
    };
    let mut values = [0.0; 256];
    for (pair, values) in values.as_chunks_mut::<64>().0.iter_mut().enumerate() {
        let (first, second) = (part(2 * pair), part(2 * pair + 1));
        for (at, &byte) in block[16 + 32 * pair..][..32].iter().enumerate() {
            values[at] = f32::from(byte & 15) * first.0 - first.1;
            values[32 + at] = f32::from(byte >> 4) * second.0 - second.1;
        }
    }
    values
}

/// The low 4 bits of 256 values, their high 2 bits, a scale for each part of 16 values, and the scale of these.
pub(crate) fn q6_k(block: &[u8; 210]) -> [f32; 256] {
    let scale = half_at(block, 208);
    let mut values = [0.0; 256];
    for (half, values) in values.as_chunks_mut::<128>().0.iter_mut().enumerate() {
        let (low, high) = (&block[64 * half..][..64], &block[128 + 32 * half..][..32]);
        let scales: [f32; 8] =
            from_fn(|part| scale * f32::from(block[192 + 8 * half + part].cast_signed()));
        for at in 0..32 {
            let (first, second, high) = (low[at], low[32 + at], high[at]);
            let value = |low: u8, high: u8| f32::from(low | (high & 3) << 4) - 32.0;
            values[at] = value(first & 15, high) * scales[at / 16];
            values[32 + at] = value(second & 15, high >> 2) * scales[2 + at / 16];
            values[64 + at] = value(first >> 4, high >> 4) * scales[4 + at / 16];
            values[96 + at] = value(second >> 4, high >> 6) * scales[6 + at / 16];
        }
    }
    values
}
