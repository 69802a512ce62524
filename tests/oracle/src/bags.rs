//! Sums over bags, from their definition.

/// How the rows of a bag are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    Sum,
    Mean,
    Max,
}

/// Combines numbers, a good one or none for each place of a bag. Each later `most` places are summed by themselves.
pub fn combined(places: &[Option<f32>], combine: Combine, most: usize) -> f32 {
    let good: Vec<f32> = places.iter().copied().flatten().collect();
    let sum = |places: &[Option<f32>]| places.iter().flatten().fold(0.0, |sum, x| sum + x);
    let sums = || places.chunks(most).map(sum).reduce(|a, b| a + b);
    let found = match combine {
        _ if good.is_empty() => 0.0,
        Combine::Sum => sums().unwrap(),
        Combine::Mean => sums().unwrap() / good.len() as f32,
        Combine::Max if good.iter().any(|x| x.is_nan()) => f32::NAN,
        Combine::Max => good.into_iter().max_by(f32::total_cmp).unwrap(),
    };
    match found.is_nan() {
        true => f32::from_bits(0x7fc0_0000),
        false => found,
    }
}
