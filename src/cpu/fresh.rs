//! Vectors in memory that is new. Its pages are made when they are first written, which takes longer than what is written
//! there, so all threads do it.

/// From where on glibc asks the system for memory each time anew.
#[cfg(feature = "rayon")]
const MIN_BYTES: usize = 32 << 20;

/// Threads share this by halves, of which each keeps an element on its stack.
#[cfg(feature = "rayon")]
const MAX_ELEMENT_BYTES: usize = 256;

/// Fills a vector that is empty and has room for `len` elements.
pub(super) fn fill<T: Copy + Send + Sync>(vector: &mut Vec<T>, value: T, len: usize) {
    #[cfg(feature = "rayon")]
    if len.saturating_mul(size_of::<T>()) >= MIN_BYTES && size_of::<T>() <= MAX_ELEMENT_BYTES {
        use rayon::prelude::*;

        return rayon::iter::repeat_n(value, len).collect_into_vec(vector);
    }
    vector.resize(len, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_and_large_elements_are_filled_in() {
        let mut bytes = Vec::new();
        fill(&mut bytes, 7_u8, (33 << 20) + 5);
        assert_eq!(bytes.len(), (33 << 20) + 5);
        assert!(bytes.iter().all(|&byte| byte == 7));

        // Of which a thread's stack holds a few only.
        const LEN: usize = 1 << 18;
        let mut large = Vec::new();
        fill(&mut large, [9_u8; LEN], 130);
        assert_eq!(large.len(), 130);
        assert!(large.as_flattened().iter().all(|&byte| byte == 9));
    }
}
