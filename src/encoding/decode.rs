//! The decoders of encoded rows: one function for each encoding, from the bytes of a block to its values.
//!
//! All products are exact in `f32`, so the order of factors changes no bit; what is added or subtracted rounds once.
//! Decoders of rows that share a scale, or whose scales lie apart, are in quantized.rs.

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
pub(super) fn half(bytes: [u8; 2]) -> f32 {
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

/// The half bytes of 16 bytes: first the low ones, then the high ones.
fn halves(bytes: &[u8]) -> [u8; 32] {
    from_fn(|at| match at {
        0..16 => bytes[at] & 15,
        _ => bytes[at - 16] >> 4,
    })
}

/// Numbers of five bits: half bytes, and the fifth bits of all in the 4 bytes before them.
fn fifths(bytes: &[u8]) -> [u8; 32] {
    let numbers = halves(&bytes[4..]);
    from_fn(|at| numbers[at] | (bytes[at / 8] >> (at % 8) & 1) << 4)
}

pub(crate) fn bf16(block: &[u8; 2]) -> [f32; 1] {
    [f32::from_bits(u32::from(u16::from_le_bytes(*block)) << 16)]
}

pub(crate) fn f8_e4m3(&[byte]: &[u8; 1]) -> [f32; 1] {
    let magnitude = u32::from(byte & 0x7f);
    let bits = match magnitude {
        // The exponent's bias is 120 less than that of an f32.
        0x08..0x7f => (magnitude << 20) + 0x3c00_0000,
        0x7f => 0x7fc0_0000,
        _ => (int(magnitude) * 2.0_f32.powi(-9)).to_bits(),
    };
    [f32::from_bits(bits | u32::from(byte & 0x80) << 24)]
}

pub(crate) fn f8_e5m2(&[byte]: &[u8; 1]) -> [f32; 1] {
    [half([0, byte])]
}

/// A scale, then the values.
pub(crate) fn q8_0(block: &[u8; 34]) -> [f32; 32] {
    let scale = half_at(block, 0);
    from_fn(|value| f32::from(block[2 + value].cast_signed()) * scale)
}

/// A scale, then half bytes.
pub(crate) fn q4_0(block: &[u8; 18]) -> [f32; 32] {
    let (scale, numbers) = (half_at(block, 0), halves(&block[2..]));
    from_fn(|value| (f32::from(numbers[value]) - 8.0) * scale)
}

/// A scale, a minimum, then half bytes.
pub(crate) fn q4_1(block: &[u8; 20]) -> [f32; 32] {
    let (scale, least, numbers) = (half_at(block, 0), half_at(block, 2), halves(&block[4..]));
    from_fn(|value| f32::from(numbers[value]) * scale + least)
}

/// A scale, then numbers of five bits.
pub(crate) fn q5_0(block: &[u8; 22]) -> [f32; 32] {
    let (scale, numbers) = (half_at(block, 0), fifths(&block[2..]));
    from_fn(|value| (f32::from(numbers[value]) - 16.0) * scale)
}

/// A scale, a minimum, then numbers of five bits.
pub(crate) fn q5_1(block: &[u8; 24]) -> [f32; 32] {
    let (scale, least, numbers) = (half_at(block, 0), half_at(block, 2), fifths(&block[4..]));
    from_fn(|value| f32::from(numbers[value]) * scale + least)
}

/// The numbers that the half bytes of 16 bytes select, times a scale.
fn selected(bytes: &[u8], scale: f32) -> [f32; 32] {
    const NUMBERS: [i8; 16] = [
        -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,
    ];
    let at = halves(bytes);
    from_fn(|value| f32::from(NUMBERS[usize::from(at[value] & 15)]) * scale)
}

/// A scale, then half bytes, each of which selects a number.
pub(crate) fn iq4_nl(block: &[u8; 18]) -> [f32; 32] {
    selected(&block[2..], half_at(block, 0))
}

/// A scale of the block; 2 bytes with the high 2 bits and 4 bytes with the low 4 bits of the scales of 8 parts, of 32 values
/// each; then 16 bytes for each part. The half bytes of these select a number for each value.
pub(crate) fn iq4_xs(block: &[u8; 136]) -> [f32; 256] {
    let scale = half_at(block, 0);
    let high_bits = u16::from_le_bytes([block[2], block[3]]);
    let mut values = [0.0; 256];
    for (part, values) in values.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let low = block[4 + part / 2] >> (part % 2 * 4) & 15;
        let [high, _] = (high_bits >> (part * 2) & 3).to_le_bytes();
        let scale = scale * (f32::from(low | high << 4) - 32.0);
        *values = selected(&block[8 + 16 * part..][..16], scale);
    }
    values
}

/// An exponent, then half bytes, each of which selects a number: twice the value of a float of 4 bits, but never -0.
pub(crate) fn mxfp4(block: &[u8; 17]) -> [f32; 32] {
    const NUMBERS: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];
    // 2^(exponent - 128), which is subnormal for 0 and 1.
    let scale = match u32::from(block[0]) {
        exponent @ 0..2 => 0x0020_0000 << exponent,
        exponent => (exponent - 1) << 23,
    };
    let (scale, at) = (f32::from_bits(scale), halves(&block[1..]));
    from_fn(|value| f32::from(NUMBERS[usize::from(at[value] & 15)]) * scale)
}

/// A byte with a scale and a minimum for each part of 16 values; 64 bytes, each with four values that are 32 apart; then
/// the scale of the scales and that of the minima.
pub(crate) fn q2_k(block: &[u8; 84]) -> [f32; 256] {
    let (scale, least) = (half_at(block, 80), half_at(block, 82));
    let mut values = [0.0; 256];
    for (part, values) in values.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let scale = scale * f32::from(block[part] & 15);
        let least = least * f32::from(block[part] >> 4);
        let bytes = &block[16 + part / 8 * 32 + part % 2 * 16..][..16];
        for (value, byte) in values.iter_mut().zip(bytes) {
            *value = f32::from(byte >> (part / 2 % 4 * 2) & 3) * scale - least;
        }
    }
    values
}

/// 32 bytes, each with the third bits of eight values that are 32 apart; 64 bytes, each with the low bits of four values
/// that are 32 apart; 8 bytes with the low 4 bits and 4 bytes with the high 2 bits of 16 scales; the scale of these.
pub(crate) fn q3_k(block: &[u8; 110]) -> [f32; 256] {
    let scale = half_at(block, 108);
    let mut values = [0.0; 256];
    for (part, values) in values.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let low = block[96 + part % 8] >> (part / 8 * 4) & 15;
        let high = block[104 + part % 4] >> (part / 4 * 2) & 3;
        let scale = scale * (f32::from(low | high << 4) - 32.0);
        let thirds = &block[part % 2 * 16..][..16];
        let bytes = &block[32 + part / 8 * 32 + part % 2 * 16..][..16];
        for ((value, byte), third) in values.iter_mut().zip(bytes).zip(thirds) {
            let number = byte >> (part / 2 % 4 * 2) & 3 | (third >> (part / 2) & 1) << 2;
            *value = (f32::from(number) - 4.0) * scale;
        }
    }
    values
}

/// The scale and the minimum of one of 8 parts. The block starts with a scale, a scale of minima, and 12 bytes with a scale
/// and a minimum of 6 bits for each part.
fn scale_and_least<const BYTES: usize>(block: &[u8; BYTES], part: usize) -> (f32, f32) {
    let (low, high) = (block[4 + part % 4], block[8 + part % 4]);
    let both = block[12 + part % 4];
    let (scale, least) = match part {
        0..4 => (low & 63, high & 63),
        _ => (both & 15 | (low >> 6) << 4, both >> 4 | (high >> 6) << 4),
    };
    (
        half_at(block, 0) * f32::from(scale),
        half_at(block, 2) * f32::from(least),
    )
}

/// 16 bytes of scales, then 32 bytes for each two parts of 32 values.
pub(crate) fn q4_k(block: &[u8; 144]) -> [f32; 256] {
    let mut values = [0.0; 256];
    for (pair, values) in values.as_chunks_mut::<64>().0.iter_mut().enumerate() {
        let first = scale_and_least(block, 2 * pair);
        let second = scale_and_least(block, 2 * pair + 1);
        for (at, &byte) in block[16 + 32 * pair..][..32].iter().enumerate() {
            values[at] = f32::from(byte & 15) * first.0 - first.1;
            values[32 + at] = f32::from(byte >> 4) * second.0 - second.1;
        }
    }
    values
}

/// 16 bytes of scales; 32 bytes, each with the fifth bits of eight values that are 32 apart; then 32 bytes for each two
/// parts of 32 values.
pub(crate) fn q5_k(block: &[u8; 176]) -> [f32; 256] {
    let mut values = [0.0; 256];
    for (part, values) in values.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let (scale, least) = scale_and_least(block, part);
        let bytes = &block[48 + part / 2 * 32..][..32];
        for ((value, byte), fifth) in values.iter_mut().zip(bytes).zip(&block[16..48]) {
            let number = byte >> (part % 2 * 4) & 15 | (fifth >> part & 1) << 4;
            *value = f32::from(number) * scale - least;
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
