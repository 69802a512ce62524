//! Vectors in memory that allocators have from the system each time anew. Its pages are made when they are first
//! written, which takes longer than what is written there: several threads do it.

/// From where on allocators return memory to the system, and have it anew.
#[cfg(feature = "rayon")]
const MIN_BYTES: usize = 32 << 20;

/// Fills a vector that is empty and has room for `len` elements.
pub(crate) fn fill<T: Copy + Send + Sync>(vector: &mut Vec<T>, value: T, len: usize) {
    #[cfg(feature = "rayon")]
    if len.saturating_mul(size_of::<T>()) >= MIN_BYTES {
        use rayon::prelude::*;

        return rayon::iter::repeat_n(value, len).collect_into_vec(vector);
    }
    vector.resize(len, value);
}

/// Copies `elements` to a vector that is empty and has room for them.
#[cfg(feature = "gpu")]
pub(crate) fn copy<T: Copy + Send + Sync>(vector: &mut Vec<T>, elements: &[T]) {
    #[cfg(feature = "rayon")]
    if size_of_val(elements) >= MIN_BYTES {
        use rayon::prelude::*;

        return elements.par_iter().copied().collect_into_vec(vector);
    }
    vector.extend_from_slice(elements);
}
