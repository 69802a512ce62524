//! Samples all peers in turn, so that a disturbance affects all.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};
use testkit::bench::timing::{Times, in_turn};

use crate::data::Data;
use crate::peers::{COPY, Device, Job, Peer};

/// A sample on the CPU is 1,000 calls if the output has fewer bytes than this.
const SMALL_BYTES: usize = 1 << 20;

/// One figure of one workload.
#[derive(Debug, Clone)]
pub struct Figure {
    pub peer: &'static str,
    pub package: Option<&'static str>,
    pub device: Device,
    /// 0 on the GPU.
    pub threads: usize,
    pub measure: &'static str,
    pub median: Duration,
    pub min: Duration,
}

/// A workload's figures, and the peers that cannot do it, with the reason.
#[derive(Debug, Default)]
pub struct Timed {
    pub figures: Vec<Figure>,
    pub refusals: Vec<(&'static str, String)>,
}

/// Thread pools: one with one thread, and one with all.
pub struct Threads {
    one: ThreadPool,
    /// `None` on a machine with one thread.
    all: Option<ThreadPool>,
}

impl Threads {
    pub fn new() -> Self {
        let pool = |threads| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("threads")
        };
        let all = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            one: pool(1),
            all: (all > 1).then(|| pool(all)),
        }
    }
}

/// A job with the pool that it runs in; `None` on the GPU, where jobs run on the caller's thread.
struct Entry<'a> {
    peer: &'a dyn Peer,
    job: Box<dyn Job + 'a>,
    pool: Option<&'a ThreadPool>,
    calls: u32,
    times: Option<Times>,
}

/// Checks every peer's output against `expected`, then takes `samples` samples of each, in turn on each device.
///
/// # Errors
///
/// A peer's output differs from `expected`.
pub fn time(
    peers: &[Box<dyn Peer>],
    data: &Data,
    expected: &[u8],
    threads: &Threads,
    samples: usize,
) -> Result<Timed, String> {
    let mut timed = Timed::default();
    let mut entries = Vec::new();
    for peer in peers {
        let pools = match peer.device() {
            Device::Gpu => vec![None],
            Device::Cpu if peer.uses_threads() => std::iter::once(&threads.one)
                .chain(&threads.all)
                .map(Some)
                .collect(),
            Device::Cpu => vec![Some(&threads.one)],
        };
        for pool in pools {
            match enter(&**peer, data, pool) {
                Ok(mut entry) => {
                    if peer.measure() != COPY && entry.job.output() != expected {
                        let workload = &data.workload.name;
                        return Err(format!(
                            "{workload}: the output of {} is wrong",
                            peer.name()
                        ));
                    }
                    entry.job.forget();
                    entries.push(entry);
                }
                Err(reason) => {
                    timed.refusals.push((peer.name(), reason));
                    break;
                }
            }
        }
    }
    // The devices are timed apart.
    let (cpu, gpu): (Vec<_>, Vec<_>) =
        (entries.iter_mut()).partition(|entry| entry.peer.device() == Device::Cpu);
    for mut entries in [cpu, gpu] {
        let mut samplers: Vec<Box<dyn FnMut() -> Duration + '_>> = Vec::new();
        for entry in &mut entries {
            samplers.push(Box::new(|| entry.sample()));
        }
        let times = in_turn(&mut samplers, samples);
        drop(samplers);
        for (entry, times) in entries.iter_mut().zip(times) {
            entry.times = Some(times);
        }
    }
    timed.figures = entries.into_iter().map(Entry::figure).collect();
    Ok(timed)
}

/// Starts the job and runs it once. If the library panics, that is why it cannot do the workload.
fn enter<'a>(
    peer: &'a dyn Peer,
    data: &'a Data,
    pool: Option<&'a ThreadPool>,
) -> Result<Entry<'a>, String> {
    let started = catch_unwind(AssertUnwindSafe(|| {
        let mut entry = Entry {
            peer,
            job: peer.start(data)?,
            pool,
            calls: match peer.device() {
                Device::Cpu if data.output_bytes() < SMALL_BYTES => 1000,
                _ => 1,
            },
            times: None,
        };
        entry.install(|job| job.run());
        Ok(entry)
    }));
    started.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied());
        Err(format!("it panics: {}", text.unwrap_or("without a word")))
    })
}

impl<'a> Entry<'a> {
    fn install<T: Send>(&mut self, work: impl FnOnce(&mut (dyn Job + 'a)) -> T + Send) -> T {
        let job = &mut *self.job;
        match self.pool {
            Some(pool) => pool.install(|| work(job)),
            None => work(job),
        }
    }

    /// Takes one sample: the time of one call. An uncounted call before it leaves caches and allocator as the peer's own
    /// work does.
    fn sample(&mut self) -> Duration {
        let calls = self.calls;
        self.install(|job| {
            job.run();
            job.forget();
            let start = Instant::now();
            for _ in 0..calls {
                job.run();
            }
            let took = start.elapsed();
            job.forget();
            took / calls
        })
    }

    fn figure(self) -> Figure {
        let times = self.times.expect("every entry is timed");
        Figure {
            peer: self.peer.name(),
            package: self.peer.package(),
            device: self.peer.device(),
            threads: self.pool.map_or(0, ThreadPool::current_num_threads),
            measure: self.peer.measure(),
            median: times.median,
            min: times.min,
        }
    }
}
