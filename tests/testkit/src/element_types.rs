//! Gathers many element types by any runner, compared bit for bit.

use bytemuck::{Pod, Zeroable};
use half::{bf16, f16};
use num_complex::Complex;
use wgpu_gather::{BadIndices, Gather};

use super::samples::{Element, Runner, bytes_of};

/// An element type that an app defines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Vertex {
    pub position: [f32; 3],
    pub color: [u8; 4],
    pub weight: u16,
    pub bone: u16,
}

/// Gathers three elements of each type, with a bad row among them. The floats are values that arithmetic could change
/// (signalling NaNs with payloads, -0, subnormals) and infinities.
#[rustfmt::skip]
pub fn check_element_types(runner: &impl Runner) {
    let f32s = [0x7f80_0001, 0xffc1_2345, 0x8000_0000].map(f32::from_bits);
    let f64s = [0x7ff0_0000_0000_0001, 0xfff8_0000_dead_beef, 1 << 63].map(f64::from_bits);
    let f16s = [0x7c01, 0xfe55, 0x8000].map(f16::from_bits);
    let bf16s = [0x7f81, 0xffc5, 0x8000].map(bf16::from_bits);

    check(runner, [true, false, true]);
    check(runner, ['a', 'é', '🦀']);
    check(runner, [i8::MIN, -1, i8::MAX]);
    check(runner, [u8::MAX, 1, 128]);
    check(runner, [i16::MIN, -1, i16::MAX]);
    check(runner, [u16::MAX, 1, 0x8000]);
    check(runner, [i32::MIN, -1, i32::MAX]);
    check(runner, [u32::MAX, 1, 1 << 31]);
    check(runner, [i64::MIN, -1, i64::MAX]);
    check(runner, [u64::MAX, 1, 1 << 63]);
    check(runner, [i128::MIN, -1, i128::MAX]);
    check(runner, [u128::MAX, 1, 1 << 127]);
    check(runner, f16s);
    check(runner, [f16::INFINITY, f16::NEG_INFINITY, f16::from_bits(1)]);
    check(runner, bf16s);
    check(runner, [bf16::INFINITY, bf16::NEG_INFINITY, bf16::from_bits(1)]);
    check(runner, f32s);
    check(runner, [f32::INFINITY, f32::NEG_INFINITY, f32::from_bits(1)]);
    check(runner, f64s);
    check(runner, [f64::INFINITY, f64::NEG_INFINITY, f64::from_bits(1)]);
    check(runner, f32s.map(|re| Complex { re, im: f32s[1] }));
    check(runner, f64s.map(|im| Complex { re: f64s[0], im }));
    check(runner, [[1_u8, 2, 3], [4, 5, 6], [7, 8, 9]]);
    check(runner, [[1_u16, 2, 3], [4, 5, 6], [7, 8, 9]]);
    check(runner, [f32s, [1.0, f32s[0], -0.0], [f32::INFINITY; 3]]);
    check(runner, [[1_u32, 2, 3, 4], [5, 6, 7, 8], [u32::MAX; 4]]);
    check(runner, [[1_u64, 2, 3, 4], [5, 6, 7, 8], [u64::MAX; 4]]);
    check(runner, [1, 2, 3].map(|bone| Vertex { position: f32s, color: [bone; 4], weight: 9, bone: bone.into() }));
}

#[track_caller]
fn check<T: Element>(runner: &impl Runner, [a, b, c]: [T; 3]) {
    let gather = Gather::new().bad_indices(BadIndices::Fill);
    let plan = gather.plan(&[3], &[5]).unwrap();
    let output = runner.gather(&plan, &[a, b, c], &[2, 0, 3, 1, 0]).unwrap();
    let expected = [c, a, T::zeroed(), b, a];
    assert_eq!(bytes_of(&output), bytes_of(&expected), "{expected:?}");

    // Slices of two elements, because a slice of one may be copied differently.
    let plan = gather.plan(&[2, 2], &[3]).unwrap();
    let output = runner.gather(&plan, &[a, b, c, a], &[1_u32, 2, 0]).unwrap();
    let expected = [c, a, T::zeroed(), T::zeroed(), a, b];
    assert_eq!(bytes_of(&output), bytes_of(&expected), "{expected:?}");
}
