//! Awaits of a gather that takes long: what they cost the app, and what ends them. Each trial runs in a process
//! of its own, since it looks at times and threads.

use std::fs;
use std::panic::resume_unwind;
use std::path::Path;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use wgpu_gather::{GpuError, Tensor, wgpu};

use crate::polling::{on_a_polled_gpu, poll_threads};
use crate::support::{App, Machine, Work, poll_once};
use testkit::device;

/// A gather that takes long takes at least this time.
const LONG: Duration = Duration::from_millis(250);

pub fn trials() -> Vec<Trial> {
    vec![
        on_a_slow_gpu("an awaited gather costs no CPU time", costs_no_cpu_time),
        on_a_slow_gpu("an awaited gather wakes its task once", wakes_once),
        on_a_slow_gpu("an awaited gather holds up no call", holds_up_no_call),
        on_a_slow_gpu(
            "a panic of an app's callback ends no poll",
            panic_of_the_app,
        ),
    ]
}

/// A trial that needs a gather that takes [`LONG`], and Linux, which tells the CPU time of a thread.
fn on_a_slow_gpu(name: &str, run: fn(&Machine)) -> Trial {
    if cfg!(target_os = "linux") {
        return on_a_polled_gpu(name, run);
    }
    Trial::ignorable_test(format!("gpu: {name}"), || {
        Ok(device::ignored("needs Linux"))
    })
}

/// The time that a thread has been on a CPU; none if it has ended.
fn cpu_time(task: &Path) -> Duration {
    let text = fs::read_to_string(task.join("schedstat")).unwrap_or_default();
    let nanoseconds = text.split(' ').next().unwrap_or_default();
    Duration::from_nanos(nanoseconds.parse().unwrap_or_default())
}

/// The CPU time of all threads in this process; the driver's threads gather.
fn cpu_time_of_process() -> Duration {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    tasks.map(|task| cpu_time(&task.unwrap().path())).sum()
}

/// The CPU time of this thread and the poll threads.
fn cpu_time_of_waiting() -> Duration {
    let polling: Duration = poll_threads().iter().map(|task| cpu_time(task)).sum();
    cpu_time(Path::new("/proc/thread-self")) + polling
}

/// A gather into a tensor, of which only the report comes to the host. It takes [`LONG`]: on a CPU by itself, since a
/// submit to lavapipe waits for the work before it; on a GPU behind copies that were submitted before.
struct LongGather {
    work: Work,
    table: Tensor<f32>,
    indices: Tensor<i32>,
    output: Tensor<f32>,
    copied: [wgpu::Buffer; 2],
    copies: usize,
}

impl LongGather {
    /// Looks for the size in a process's first gather only.
    fn new(machine: &Machine, app: &App) -> Self {
        static SIZE: OnceLock<usize> = OnceLock::new();
        let of = |size| match machine.is_on_the_cpu() {
            true => Self::of(app, size << 19, 0),
            false => Self::of(app, 1 << 12, size),
        };
        if let Some(&size) = SIZE.get() {
            let mut gather = of(size);
            pollster::block_on(gather.start(app)).unwrap();
            return gather;
        }
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let mut size = 1;
        loop {
            let mut gather = of(size);
            let least = match machine.is_on_the_cpu() {
                // With each core for itself a gather takes no less than its CPU time on all of them.
                true => LONG * u32::try_from(cores).unwrap(),
                false => LONG,
            };
            // The first run makes pipelines and clears memory, and starts the poll thread.
            let times = [(); 2].map(|()| {
                let (started, before) = (Instant::now(), cpu_time_of_process());
                pollster::block_on(gather.start(app)).unwrap();
                match machine.is_on_the_cpu() {
                    // Beside other processes a gather takes longer.
                    true => cpu_time_of_process() - before,
                    false => started.elapsed(),
                }
            });
            if times[1] >= least {
                SIZE.get_or_init(|| size);
                return gather;
            }
            // A quarter more, as times vary.
            let times_more = least.as_micros() * 5 / (times[1].as_micros() * 4).max(1) + 1;
            size *= usize::try_from(times_more).unwrap();
        }
    }

    fn of(app: &App, index_count: usize, copies: usize) -> Self {
        let work = Work::rows(1 << 10, 4, index_count);
        let copied_bytes = if copies == 0 { 4 } else { 64 << 20 };
        Self {
            table: app.upload(&work),
            indices: app
                .gpu
                .upload(&work.indices, work.plan.indices_shape())
                .unwrap(),
            output: app.gpu.zeros(work.plan.output_shape()).unwrap(),
            copied: [(); 2].map(|()| app.buffer(copied_bytes, false)),
            copies,
            work,
        }
    }

    /// Submits the copies.
    fn keep_busy(&self, app: &App) {
        let mut encoder = app.device().create_command_encoder(&Default::default());
        let [from, to] = &self.copied;
        for _ in 0..self.copies {
            encoder.copy_buffer_to_buffer(from, 0, to, 0, None);
        }
        app.gpu.queue().submit([encoder.finish()]);
    }

    fn gather<'a>(
        &'a mut self,
        app: &'a App,
    ) -> impl Future<Output = Result<(), GpuError>> + Send + Unpin {
        let gather = app.gpu.gather(&self.work.plan, &self.table, &self.indices);
        gather.into_tensor(&mut self.output).into_future()
    }

    fn start<'a>(
        &'a mut self,
        app: &'a App,
    ) -> impl Future<Output = Result<(), GpuError>> + Send + Unpin {
        self.keep_busy(app);
        self.gather(app)
    }
}

/// At most 10 ms for each 200 ms, and nothing after it.
fn costs_no_cpu_time(machine: &Machine) {
    let app = machine.app();
    let mut gather = LongGather::new(machine, &app);
    // One of three, as the machine may be busy.
    let costs = [(); 3].map(|()| {
        gather.keep_busy(&app);
        let (started, before) = (Instant::now(), cpu_time_of_waiting());
        pollster::block_on(gather.gather(&app)).unwrap();
        let (took, spent) = (started.elapsed(), cpu_time_of_waiting() - before);
        assert!(took >= Duration::from_millis(100), "{took:?}");
        (spent, took)
    });
    eprintln!("CPU times of awaits: {costs:?}");
    let is_cheap = |&(spent, took): &(Duration, Duration)| spent * 20 <= took;
    assert!(costs.iter().any(is_cheap), "{costs:?}");

    let before = cpu_time_of_waiting();
    thread::sleep(Duration::from_millis(200));
    let idle = cpu_time_of_waiting() - before;
    assert!(
        idle <= Duration::from_millis(2),
        "{idle:?} without a future"
    );
    assert_eq!(poll_threads().len(), 1);
    app.assert_handlers_are_the_apps();
}

/// The future wakes when its report has come; before that, only at the start.
fn wakes_once(machine: &Machine) {
    let app = machine.app();
    let mut gather = LongGather::new(machine, &app);
    let wakes = Arc::new(Wakes {
        of: thread::current(),
        started: Instant::now(),
        count: AtomicUsize::new(0),
    });
    let waker = Waker::from(wakes.clone());
    let mut future = gather.start(&app);
    let gathered = loop {
        match pin!(&mut future).poll(&mut Context::from_waker(&waker)) {
            Poll::Pending => thread::park(),
            Poll::Ready(gathered) => break gathered,
        }
    };
    drop(future);
    assert_eq!(gathered, Ok(()));
    assert_eq!(
        wakes.count.load(Ordering::Relaxed),
        1,
        "once, for the report"
    );
    let right = machine.answer(&gather.work);
    assert!(gather.output.download_blocking() == Ok(right));
    app.assert_handlers_are_the_apps();
}

struct Wakes {
    of: Thread,
    started: Instant,
    /// Wakes after the time in which a future polls by itself, with room for a busy machine.
    count: AtomicUsize,
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        if self.started.elapsed() > LONG / 2 {
            self.count.fetch_add(1, Ordering::Relaxed);
        }
        self.of.unpark();
    }
}

/// The longest that another thread may wait for wgpu while a gather is awaited.
const LONGEST: Duration = Duration::from_millis(20);

/// A wait in wgpu holds up the call. A submit is no measure: llvmpipe's waits for the gather before it.
fn holds_up_no_call(machine: &Machine) {
    let app = machine.app();
    let mut gather = LongGather::new(machine, &app);
    let mut future = gather.start(&app);
    assert!(poll_once(pin!(&mut future)).is_pending());
    let mut times = thread::scope(|scope| {
        let calls = scope.spawn(|| {
            let call = |_| {
                let buffer = app.buffer(4, false);
                // The poll thread waits again.
                thread::sleep(Duration::from_millis(5));
                let started = Instant::now();
                buffer.destroy();
                started.elapsed()
            };
            let times: Vec<_> = (0..9).map(call).collect();
            (Instant::now(), times)
        });
        pollster::block_on(&mut future).unwrap();
        let ended = Instant::now();
        let (called, times) = calls.join().unwrap();
        assert!(called < ended, "the gather runs longer: {times:?}");
        times
    });
    times.sort();
    eprintln!("calls during an await: {times:?}");
    // Half of them, as the machine may be busy.
    assert!(times[4] <= LONGEST, "{times:?}");
    drop(future);
    app.assert_handlers_are_the_apps();
}

fn panic_of_the_app(machine: &Machine) {
    let app = machine.app();
    let mut gather = LongGather::new(machine, &app);
    let mut future = gather.start(&app);
    assert!(poll_once(pin!(&mut future)).is_pending());
    let own = app.device().create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 4,
        usage: wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let panics = |_| resume_unwind(Box::new("an app's callback"));
    own.map_async(wgpu::MapMode::Read, .., panics);
    // The future no longer polls by itself, where the panic would go on.
    thread::sleep(Duration::from_millis(5));
    // The panic drops the callbacks after it, and one may be the gather's.
    if let Err(error) = pollster::block_on(&mut future) {
        assert!(matches!(error, GpuError::ReadBack(_)), "{error:?}");
    }
    drop(future);
    assert_eq!(pollster::block_on(gather.start(&app)), Ok(()));
    app.assert_handlers_are_the_apps();
}
