//! Copies of long slices, in pieces.

/// The bytes that one call of memcpy copies of a long slice, unless one element has more.
pub(crate) const MAX_PIECE_BYTES: usize = 2048;

/// A slice as pieces that are better copied by a call of memcpy each.
///
/// glibc before 2.40 copies more than 2,112 bytes by `rep movsb` where the core calls that fast. On a Zen 3 with
/// glibc 2.36 it took about 25 times as long where the output's place in its page of 4 KiB was 1, 4 or 16 bytes
/// after that of the source: 16 if the source is mapped from a file and the output is malloc's. On a Xeon with glibc 2.36
/// slices of 64 KiB take as long in pieces as in one call.
pub(crate) fn pieces<T>(slice: &[T]) -> std::slice::Chunks<'_, T> {
    slice.chunks((MAX_PIECE_BYTES / size_of::<T>().max(1)).max(1))
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn pieces_have_at_most_2048_bytes() {
        assert!(pieces(&[0_u8; 5000]).all(|piece| piece.len() <= 2048));
        assert!(pieces(&[[0_u8; 3]; 5000]).all(|piece| size_of_val(piece) <= 2048));
        assert!(pieces(&[[0_u8; 4096]; 3]).all(|piece| piece.len() == 1));
        assert_eq!(pieces(&[(); 5000]).count(), 3);
    }
}
