//! The ranges of operands that dispatches bind: aligned offsets and whole words. Pure.

use std::ops::Range;

use super::types::range_bytes;

/// The bytes of an operand that a dispatch binds. They start at an aligned offset, counted from the last aligned offset at
/// or before the operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct BoundRange {
    pub(crate) offset: u64,
    /// Whole words; 0 if nothing is bound.
    pub(crate) bytes: u64,
    /// The bytes from the offset to the first byte that the dispatch needs.
    pub(crate) start: u64,
}

impl BoundRange {
    /// The range that binds `bytes`, at an offset that is a multiple of `alignment`.
    pub(crate) fn of(bytes: Range<u64>, alignment: u64) -> Self {
        if bytes.is_empty() {
            return Self::default();
        }
        let offset = bytes.start / alignment * alignment;
        Self {
            offset,
            bytes: range_bytes(bytes.end - offset),
            start: bytes.start - offset,
        }
    }
}

/// The bytes of which the offsets of bindings are multiples: what the device needs, and whole units.
pub(crate) fn alignment(limits: &wgpu::Limits) -> u64 {
    u64::from(limits.min_storage_buffer_offset_alignment.max(16))
}

/// The most bytes of a binding: the device's limit, and at most 2^32 - 64, since the shader counts bytes in 32 bits and
/// adds up to 63.
pub(crate) fn binding_bytes(limits: &wgpu::Limits) -> u64 {
    limits.max_storage_buffer_binding_size.min((1 << 32) - 64) & !3
}

/// The largest power of two that divides all `numbers` and `most`.
pub(crate) fn common_alignment(numbers: impl IntoIterator<Item = u64>, most: u64) -> u64 {
    let power = |number: u64| number.trailing_zeros();
    1 << numbers.into_iter().map(power).fold(power(most), u32::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_starts_at_an_aligned_offset() {
        let of = |bytes| BoundRange::of(bytes, 256);
        let range = |offset, bytes, start| BoundRange {
            offset,
            bytes,
            start,
        };
        assert_eq!(of(0..6), range(0, 8, 0));
        assert_eq!(of(256..512), range(256, 256, 0));
        assert_eq!(of(515..600), range(512, 88, 3));
        assert_eq!(of(300..300), BoundRange::default());
    }

    #[test]
    fn an_alignment_divides_all_numbers() {
        assert_eq!(common_alignment([48, 32, 0], 256), 16);
        assert_eq!(common_alignment([48, 6], 256), 2);
        assert_eq!(common_alignment([0], 256), 256);
        assert_eq!(common_alignment([1 << 40, 7], 256), 1);
    }
}
