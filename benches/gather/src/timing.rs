//! Figures to be measured, and their times.

use std::time::{Duration, Instant};

use testkit::bench::timing::in_turn;

/// A figure to be measured, with the function that takes a sample.
pub struct Figure<'a> {
    pub threads: usize,
    pub measure: &'static str,
    /// Calls in one sample.
    pub calls: u32,
    pub sample: Box<dyn FnMut() -> Duration + 'a>,
}

/// A measured figure: times of one call.
#[derive(Debug, Clone)]
pub struct Timed {
    pub threads: usize,
    pub measure: &'static str,
    pub median: Duration,
    pub min: Duration,
}

/// Takes `rounds` samples of each figure, in turn. Before each, an uncounted sample leaves the caches as the figure's own
/// work does.
pub fn time(mut figures: Vec<Figure<'_>>, rounds: usize) -> Vec<Timed> {
    let mut samplers: Vec<Box<dyn FnMut() -> Duration + '_>> = Vec::new();
    for figure in &mut figures {
        samplers.push(Box::new(|| {
            (figure.sample)();
            (figure.sample)() / figure.calls
        }));
    }
    let times = in_turn(&mut samplers, rounds);
    drop(samplers);
    let timed = figures.iter().zip(times).map(|(figure, times)| Timed {
        threads: figure.threads,
        measure: figure.measure,
        median: times.median,
        min: times.min,
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
