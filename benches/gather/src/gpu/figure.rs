//! Times a call on a card, in microseconds: the time between timestamps before and after many calls, divided by their
//! number.

use std::time::{Duration, Instant};

use testkit::bench::timing::in_turn;

use super::card::Card;

/// A sample lasts about this long, so that neither the host's launch nor the clock's period counts.
const SAMPLE: Duration = Duration::from_micros(1500);

/// An idle card lowers its clock, and raises it again after about this much work: an H200 from 345 to 1,980 MHz.
const WAKING: Duration = Duration::from_millis(300);

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
}

/// Takes `rounds` samples of each figure, in turn, after work that raises the card's clock. Before each sample, two calls
/// leave the caches as the figure's own work does.
pub fn time(figures: &[Figure<'_>], rounds: usize) -> Vec<Timed> {
    let start = Instant::now();
    for figure in figures.iter().cycle() {
        if start.elapsed() > WAKING {
            break;
        }
        figure.card.time(|encoder| (figure.record)(encoder, 2));
    }
    let calls = figures.iter().map(|figure| {
        let time = |calls| figure.card.time(|encoder| (figure.record)(encoder, calls));
        time(1);
        let each = (time(4) / 4).max(Duration::from_nanos(500));
        let calls = SAMPLE.as_secs_f64() / each.as_secs_f64();
        calls.ceil().clamp(2.0, MOST_CALLS) as usize
    });
    let calls: Vec<usize> = calls.collect();
    let samplers = figures.iter().zip(&calls).map(|(figure, &calls)| {
        let sample = move || {
            figure.card.time(|encoder| (figure.record)(encoder, 2));
            figure.card.time(|encoder| (figure.record)(encoder, calls))
        };
        Box::new(sample) as Box<dyn FnMut() -> Duration + '_>
    });
    let times = in_turn(&mut samplers.collect::<Vec<_>>(), rounds);
    let timed = figures.iter().zip(calls).zip(times);
    timed
        .map(|((figure, calls), times)| {
            let us = |time: Duration| time.as_secs_f64() * 1e6 / calls as f64;
            Timed {
                measure: figure.measure.clone(),
                median_us: us(times.median),
                min_us: us(times.min),
                calls,
            }
        })
        .collect()
}
