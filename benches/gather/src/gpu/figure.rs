//! Times a call on a card, in microseconds: the time between timestamps before and after many calls, divided by their
//! number.

use std::cell::Cell;
use std::time::{Duration, Instant};

use testkit::bench::timing::in_turn;

use super::card::Card;

/// A sample lasts about this long, so that neither the host's launch nor the clock's period counts.
const SAMPLE: Duration = Duration::from_micros(1500);

/// An idle card lowers its clock, and raises it again after about this much work: an H200 from 345 to 1,980 MHz.
const WAKING: Duration = Duration::from_millis(300);

/// How often a sample is taken again if the clock was low.
const AGAIN: usize = 3;

/// The most calls in a sample.
const MOST_CALLS: f64 = 256.0;

/// A figure to be measured.
pub struct Figure<'a> {
    pub measure: String,
    pub card: &'a Card,
    /// Records this many calls.
    pub record: Record<'a>,
}

type Record<'a> = Box<dyn Fn(&mut wgpu_gather::wgpu::CommandEncoder, usize) + 'a>;

/// A measured figure: times of one call.
pub struct Timed {
    pub measure: String,
    pub median_us: f64,
    pub min_us: f64,
    /// Calls in a sample.
    pub calls: usize,
    /// Samples that were taken at a low clock, again and again.
    pub resting: usize,
}

/// Calls the figures until the card's clock is up.
fn wake(figures: &[Figure<'_>]) {
    let start = Instant::now();
    for figure in figures.iter().cycle() {
        if start.elapsed() > WAKING {
            break;
        }
        figure.card.time(|encoder| (figure.record)(encoder, 2));
    }
}

/// Takes `rounds` samples of each figure, in turn, after work that raises the card's clock. Before each sample, two calls
/// leave the caches as the figure's own work does. A sample at a low clock is taken again.
pub fn time(figures: &[Figure<'_>], rounds: usize) -> Vec<Timed> {
    wake(figures);
    let calls = figures.iter().map(|figure| {
        let time = |calls| figure.card.time(|encoder| (figure.record)(encoder, calls));
        time(1);
        let each = (time(4) / 4).max(Duration::from_nanos(500));
        let calls = SAMPLE.as_secs_f64() / each.as_secs_f64();
        calls.ceil().clamp(2.0, MOST_CALLS) as usize
    });
    let calls: Vec<usize> = calls.collect();
    let resting = vec![Cell::new(0); figures.len()];
    let samplers = figures.iter().zip(&calls).zip(&resting);
    let samplers = samplers.map(|((figure, &calls), resting)| {
        let sample = move || {
            let take = || {
                figure.card.time(|encoder| (figure.record)(encoder, 2));
                figure.card.time(|encoder| (figure.record)(encoder, calls))
            };
            for _ in 0..AGAIN {
                let took = take();
                if figure.card.is_awake() {
                    return took;
                }
                wake(figures);
            }
            resting.set(resting.get() + 1);
            take()
        };
        Box::new(sample) as Box<dyn FnMut() -> Duration + '_>
    });
    let times = in_turn(&mut samplers.collect::<Vec<_>>(), rounds);
    let timed = figures.iter().zip(calls).zip(times).zip(resting);
    timed
        .map(|(((figure, calls), times), resting)| {
            let us = |time: Duration| time.as_secs_f64() * 1e6 / calls as f64;
            Timed {
                measure: figure.measure.clone(),
                median_us: us(times.median),
                min_us: us(times.min),
                calls,
                resting: resting.get(),
            }
        })
        .collect()
}
