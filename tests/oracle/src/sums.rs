//! Sums of floats, whose result depends on the order.

/// Adds the first `most` updates to the target one by one. Each later `most` are summed by themselves, from the first of them,
/// and then added.
pub fn float_sum<T: Copy>(
    target: T,
    updates: &[T],
    most: usize,
    add: impl Fn(T, T) -> T + Copy,
) -> T {
    let (first, later) = updates.split_at(updates.len().min(most));
    let target = first.iter().copied().fold(target, add);
    let sums = later.chunks(most);
    let sums = sums.filter_map(|updates| updates.iter().copied().reduce(add));
    sums.fold(target, add)
}
