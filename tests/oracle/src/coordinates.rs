//! Coordinates in tensors, in row-major order.

/// Visits all coordinates in row-major order.
pub fn for_each_coordinate(shape: &[usize], mut visit: impl FnMut(&[usize])) {
    if shape.contains(&0) {
        return;
    }
    let mut at = vec![0; shape.len()];
    loop {
        visit(&at);
        let Some(k) = (0..shape.len()).rfind(|&k| at[k] + 1 < shape[k]) else {
            return;
        };
        at[k] += 1;
        at[k + 1..].fill(0);
    }
}

/// The row-major position of coordinates in this shape.
pub fn flat(at: &[usize], shape: &[usize]) -> usize {
    at.iter()
        .zip(shape)
        .fold(0, |flat, (at, dim)| flat * dim + at)
}

/// The coordinates of a position in this shape.
pub fn unravel(flat: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    let mut rest = flat;
    for k in (0..shape.len()).rev() {
        at[k] = rest % shape[k];
        rest /= shape[k];
    }
    at
}

/// A dim's number from the front; a negative `dim` counts from the end.
pub fn from_front(dim: i64, rank: usize) -> Option<usize> {
    let dim = i128::from(dim);
    usize::try_from(if dim < 0 { dim + rank as i128 } else { dim }).ok()
}
