//! Samples all figures in turn, so that a disturbance affects all.

use std::time::Duration;

use super::workloads::Random;

/// One figure's times.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    pub median: Duration,
    pub min: Duration,
}

/// Takes `rounds` samples of each figure. A round samples each once, in random order: a figure finds another's data in the
/// caches, and little of params after a copy.
///
/// # Panics
///
/// `rounds` is 0.
pub fn in_turn(figures: &mut [Box<dyn FnMut() -> Duration + '_>], rounds: usize) -> Vec<Times> {
    let mut samples = vec![Vec::with_capacity(rounds); figures.len()];
    let mut order: Vec<usize> = (0..figures.len()).collect();
    let mut random = Random::new();
    for _ in 0..rounds {
        for left in (1..order.len()).rev() {
            let other = random.below(u32::try_from(left + 1).expect("a few figures"));
            order.swap(left, other as usize);
        }
        for &number in &order {
            samples[number].push(figures[number]());
        }
    }
    let times = |mut samples: Vec<Duration>| {
        samples.sort();
        Times {
            median: samples[samples.len() / 2],
            min: samples[0],
        }
    };
    samples.into_iter().map(times).collect()
}
