//! Samples of all figures, taken in turn so that a disturbance affects all figures.

use std::time::{Duration, Instant};

/// A figure to be measured, with the function that takes a sample.
pub struct Figure<'a> {
    pub device: &'static str,
    pub threads: usize,
    pub measure: &'static str,
    /// Calls in one sample.
    pub calls: u32,
    pub sample: Box<dyn FnMut() -> Duration + 'a>,
}

/// A measured figure: times of one call.
#[derive(Debug, Clone)]
pub struct Timed {
    pub device: &'static str,
    pub threads: usize,
    pub measure: &'static str,
    pub median: Duration,
    pub min: Duration,
}

/// Takes a sample of each figure in turn, `rounds` times, in alternating order. A sample that is not counted precedes
/// each, so that a figure finds the caches as its own work leaves them.
pub fn time(mut figures: Vec<Figure<'_>>, rounds: usize) -> Vec<Timed> {
    let mut samples = vec![Vec::with_capacity(rounds); figures.len()];
    let mut order: Vec<usize> = (0..figures.len()).collect();
    for _ in 0..rounds {
        for &number in &order {
            let figure = &mut figures[number];
            (figure.sample)();
            samples[number].push((figure.sample)() / figure.calls);
        }
        order.reverse();
    }
    let timed = figures.iter().zip(samples).map(|(figure, mut samples)| {
        samples.sort();
        Timed {
            device: figure.device,
            threads: figure.threads,
            measure: figure.measure,
            median: samples[samples.len() / 2],
            min: samples[0],
        }
    });
    timed.collect()
}

pub fn took(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

pub fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

pub fn ratio(time: Duration, to: Duration) -> f64 {
    time.as_secs_f64() / to.as_secs_f64()
}
