//! The CPU's decoders: one function for each encoding turns a block's bytes into its values.
//!
//! All products with a scale are exact in `f32`, so the order of factors changes no bit; a sum or a difference rounds once.
//! quantized.rs decodes where a row's values share a scale, or scales lie apart.
//!
//! The compiler vectorises the loops, for each processor level. So each function is `#[inline(always)]`, a number that half a
//! byte selects is computed, not read from a table, and each value is written once, at its place in the output.

use std::array::from_fn;

use super::row::Value;
use crate::memory::value;

/// Writes the value of each byte.
#[inline(always)]
pub(super) fn each(bytes: &[u8], to: &mut [Value], value_of: impl Fn(u8) -> f32) {
    let to = &mut to[..bytes.len()];
    for (at, &byte) in bytes.iter().enumerate() {
        to[at] = value(value_of(byte));
    }
}

/// Writes a value for each half byte in 16 bytes: first for the low halves, then for the high ones.
#[inline(always)]
fn each_half(bytes: &[u8], to: &mut [Value], value_of: impl Fn(u8) -> f32) {
    for at in 0..16 {
        to[at] = value(value_of(bytes[at] & 15));
        to[16 + at] = value(value_of(bytes[at] >> 4));
    }
}

/// Writes the values of 5-bit numbers: 4 bytes hold all fifth bits, then 16 bytes hold the low bits, two numbers each.
#[inline(always)]
fn each_fifth(bytes: &[u8], to: &mut [Value], value_of: impl Fn(u8) -> f32) {
    let fifths = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let fifth = |at: usize| if fifths & 1 << at == 0 { 0 } else { 16 };
    for at in 0..16 {
        let byte = bytes[4 + at];
        to[at] = value(value_of(byte & 15 | fifth(at)));
        to[16 + at] = value(value_of(byte >> 4 | fifth(16 + at)));
    }
}

/// The value of a half float. Subnormals are exact, and a NaN keeps its payload.
#[inline(always)]
pub(crate) fn half(bytes: [u8; 2]) -> f32 {
    let half = u32::from(u16::from_le_bytes(bytes));
    let magnitude = (half & 0x7fff) << 13;
    // A half's exponent bias is 112 less; an all-ones exponent stays all ones.
    let is_finite = magnitude < 0x0f80_0000;
    let normal = magnitude + if is_finite { 0x3800_0000 } else { 0x7000_0000 };
    let subnormal = (int(half & 0x3ff) / 16_777_216.0).to_bits();
    let bits = if magnitude < 0x0080_0000 {
        subnormal
    } else {
        normal
    };
    f32::from_bits(bits | (half & 0x8000) << 16)
}

/// Converts up to 24 bits, exactly.
#[inline(always)]
#[expect(clippy::cast_precision_loss, reason = "an f32 has 24 bits")]
fn int(number: u32) -> f32 {
    number as f32
}

#[inline(always)]
fn half_at<const BYTES: usize>(block: &[u8; BYTES], at: usize) -> f32 {
    half([block[at], block[at + 1]])
}

#[inline(always)]
pub(super) fn f32(block: &[u8; 4], [to]: &mut [Value; 1]) {
    *to = value(f32::from_le_bytes(*block));
}

#[inline(always)]
pub(super) fn f16(block: &[u8; 2], [to]: &mut [Value; 1]) {
    *to = value(half(*block));
}

#[inline(always)]
pub(super) fn bf16(block: &[u8; 2], [to]: &mut [Value; 1]) {
    *to = value(high_half(*block));
}

/// An `f32` from its high half.
#[inline(always)]
pub(crate) fn high_half(bytes: [u8; 2]) -> f32 {
    f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16)
}

#[inline(always)]
pub(super) fn f8_e4m3(&[byte]: &[u8; 1], [to]: &mut [Value; 1]) {
    let magnitude = u32::from(byte & 0x7f);
    // The exponent bias is 7, and 127 in an f32: add 120 to the exponent.
    let normal = (magnitude << 20) + 0x3c00_0000;
    let subnormal = (int(magnitude) / 512.0).to_bits();
    let number = if magnitude < 8 { subnormal } else { normal };
    let bits = if magnitude == 0x7f {
        0x7fc0_0000
    } else {
        number
    };
    *to = value(f32::from_bits(bits | u32::from(byte & 0x80) << 24));
}

#[inline(always)]
pub(super) fn f8_e5m2(&[byte]: &[u8; 1], [to]: &mut [Value; 1]) {
    *to = value(half([0, byte]));
}

/// A scale, then the values.
#[inline(always)]
pub(super) fn q8_0(block: &[u8; 34], to: &mut [Value; 32]) {
    let scale = half_at(block, 0);
    each(&block[2..], to, |q| f32::from(q.cast_signed()) * scale);
}

/// A scale, then half bytes.
#[inline(always)]
pub(super) fn q4_0(block: &[u8; 18], to: &mut [Value; 32]) {
    let scale = half_at(block, 0);
    each_half(&block[2..], to, |q| (f32::from(q) - 8.0) * scale);
}

/// A scale, a minimum, then half bytes.
#[inline(always)]
pub(super) fn q4_1(block: &[u8; 20], to: &mut [Value; 32]) {
    let (scale, least) = (half_at(block, 0), half_at(block, 2));
    each_half(&block[4..], to, |q| f32::from(q) * scale + least);
}

/// A scale, then 5-bit numbers.
#[inline(always)]
pub(super) fn q5_0(block: &[u8; 22], to: &mut [Value; 32]) {
    let scale = half_at(block, 0);
    each_fifth(&block[2..], to, |q| (f32::from(q) - 16.0) * scale);
}

/// A scale, a minimum, then 5-bit numbers.
#[inline(always)]
pub(super) fn q5_1(block: &[u8; 24], to: &mut [Value; 32]) {
    let (scale, least) = (half_at(block, 0), half_at(block, 2));
    each_fifth(&block[4..], to, |q| f32::from(q) * scale + least);
}

/// The IQ4 number that half a byte, `q`, selects: -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89 or 113.
/// A polynomial comes within 0.449 of each, and is rounded to the nearest whole number.
#[inline(always)]
fn iq4(q: u8) -> f32 {
    /// 1.5 * 2^23: a sum with it has no fraction bits.
    const TO_ROUND: f32 = 12_582_912.0;
    let x = f32::from(q) - 7.5;
    let number = -4.301 + x * (11.52 + x * (-0.1372 + x * (0.07867 + x * 0.001586)));
    number + TO_ROUND - TO_ROUND
}

/// A scale, then half bytes, each of which selects a number.
#[inline(always)]
pub(super) fn iq4_nl(block: &[u8; 18], to: &mut [Value; 32]) {
    let scale = half_at(block, 0);
    each_half(&block[2..], to, |q| iq4(q) * scale);
}

/// The block's scale; the scales for 8 parts, their high 2 bits in 2 bytes and their low 4 bits in 4 bytes; then 16 bytes for
/// each part. Their half bytes select a number for each of its 32 values.
#[inline(always)]
pub(super) fn iq4_xs(block: &[u8; 136], to: &mut [Value; 256]) {
    let scale = half_at(block, 0);
    let high_bits = u16::from_le_bytes([block[2], block[3]]);
    for (part, to) in to.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let low = block[4 + part / 2] >> (part % 2 * 4) & 15;
        let [high, _] = (high_bits >> (part * 2) & 3).to_le_bytes();
        let scale = scale * (f32::from(low | high << 4) - 32.0);
        each_half(&block[8 + 16 * part..], to, |q| iq4(q) * scale);
    }
}

/// An exponent, then half bytes. Each selects a number: twice a 4-bit float's value, but never -0.
#[inline(always)]
pub(super) fn mxfp4(block: &[u8; 17], to: &mut [Value; 32]) {
    // 2^(exponent - 128), which is subnormal for 0 and 1.
    let scale = f32::from_bits(match u32::from(block[0]) {
        exponent @ 0..2 => 0x0020_0000 << exponent,
        exponent => (exponent - 1) << 23,
    });
    each_half(&block[1..], to, |q| {
        // 0, 1, 2, 3, 4, 6, 8, 12: the steps double at 4 and at 6.
        let magnitude = q & 7;
        let magnitude = magnitude + magnitude.saturating_sub(4) + 2 * magnitude.saturating_sub(6);
        let number = magnitude.cast_signed();
        f32::from(if q & 8 == 0 { number } else { -number }) * scale
    });
}

/// A byte with a scale and a minimum for each part of 16 values; 64 bytes, each with four values that are 32 apart; then
/// a scale for the scales and one for the minima.
#[inline(always)]
pub(super) fn q2_k(block: &[u8; 84], to: &mut [Value; 256]) {
    let (scale, least) = (half_at(block, 80), half_at(block, 82));
    for (of_two, to) in to.as_chunks_mut::<128>().0.iter_mut().enumerate() {
        for side in 0..2 {
            let parts: [_; 4] = from_fn(|quarter| {
                let part = block[8 * of_two + 2 * quarter + side];
                (scale * f32::from(part & 15), least * f32::from(part >> 4))
            });
            for at in 16 * side..16 * side + 16 {
                let byte = block[16 + 32 * of_two + at];
                for (quarter, (scale, least)) in parts.iter().enumerate() {
                    to[32 * quarter + at] =
                        value(f32::from(byte >> (2 * quarter) & 3) * scale - least);
                }
            }
        }
    }
}

/// 32 bytes, each with the third bits for eight values that are 32 apart; 64 bytes, each with the low bits for four values
/// that are 32 apart; 16 scales, their low 4 bits in 8 bytes and their high 2 bits in 4; then a scale for these.
#[inline(always)]
pub(super) fn q3_k(block: &[u8; 110], to: &mut [Value; 256]) {
    let scale = half_at(block, 108);
    for (part, to) in to.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let low = block[96 + part % 8] >> (part / 8 * 4) & 15;
        let high = block[104 + part % 4] >> (part / 4 * 2) & 3;
        let scale = scale * (f32::from(low | high << 4) - 32.0);
        let thirds = &block[part % 2 * 16..][..16];
        let bytes = &block[32 + part / 8 * 32 + part % 2 * 16..][..16];
        for (at, &byte) in bytes.iter().enumerate() {
            let low = byte >> (part / 2 % 4 * 2) & 3;
            let third = thirds[at] >> (part / 2) & 1;
            to[at] = value((f32::from(low | third << 2) - 4.0) * scale);
        }
    }
}

/// Scales and minima for 8 parts. The block starts with a scale for the scales, one for the minima, and 12 bytes with a
/// 6-bit scale and minimum for each part.
#[inline(always)]
fn scales_and_leasts<const BYTES: usize>(block: &[u8; BYTES]) -> [(f32, f32); 8] {
    let (scale, least) = (half_at(block, 0), half_at(block, 2));
    let mut parts = [(0.0, 0.0); 8];
    for at in 0..4 {
        let (low, high, both) = (block[4 + at], block[8 + at], block[12 + at]);
        let of = |of_scale, of_least| (scale * f32::from(of_scale), least * f32::from(of_least));
        parts[at] = of(low & 63, high & 63);
        parts[4 + at] = of(both & 15 | (low >> 6) << 4, both >> 4 | (high >> 6) << 4);
    }
    parts
}

/// 16 bytes with scales, then 32 bytes for each two parts of 32 values.
#[inline(always)]
pub(super) fn q4_k(block: &[u8; 144], to: &mut [Value; 256]) {
    let parts = scales_and_leasts(block);
    for (part, to) in to.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let (scale, least) = parts[part];
        let bytes = &block[16 + part / 2 * 32..][..32];
        let shift = part % 2 * 4;
        each(bytes, to, |byte| {
            f32::from(byte >> shift & 15) * scale - least
        });
    }
}

/// 16 bytes with scales; 32 bytes, each with the fifth bits for eight values that are 32 apart; then 32 bytes for each two
/// parts of 32 values.
#[inline(always)]
pub(super) fn q5_k(block: &[u8; 176], to: &mut [Value; 256]) {
    let parts = scales_and_leasts(block);
    for (part, to) in to.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let (scale, least) = parts[part];
        let bytes = &block[48 + part / 2 * 32..][..32];
        for (at, &byte) in bytes.iter().enumerate() {
            let low = byte >> (part % 2 * 4) & 15;
            let fifth = block[16 + at] >> part & 1;
            to[at] = value(f32::from(low | fifth << 4) * scale - least);
        }
    }
}

/// The low 4 bits for 256 values, their high 2 bits, a scale for each part of 16 values, and a scale for these.
#[inline(always)]
pub(super) fn q6_k(block: &[u8; 210], to: &mut [Value; 256]) {
    let scale = half_at(block, 208);
    for (of_two, to) in to.as_chunks_mut::<128>().0.iter_mut().enumerate() {
        let (low, high) = (
            &block[64 * of_two..][..64],
            &block[128 + 32 * of_two..][..32],
        );
        for side in 0..2 {
            let scales: [f32; 4] = from_fn(|quarter| {
                let part = 8 * of_two + 2 * quarter + side;
                scale * f32::from(block[192 + part].cast_signed())
            });
            for at in 16 * side..16 * side + 16 {
                let (first, second, high) = (low[at], low[32 + at], high[at]);
                let number = |low: u8, high: u8| f32::from(low | (high & 3) << 4) - 32.0;
                to[at] = value(number(first & 15, high) * scales[0]);
                to[32 + at] = value(number(second & 15, high >> 2) * scales[1]);
                to[64 + at] = value(number(first >> 4, high >> 4) * scales[2]);
                to[96 + at] = value(number(second >> 4, high >> 6) * scales[3]);
            }
        }
    }
}
