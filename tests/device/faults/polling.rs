//! The life of the thread that polls for awaited gathers. Each trial runs in a process of its own, since it looks at the
//! process's threads or acts when any poll thread polls.

use std::fs;
use std::panic::{self, resume_unwind};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use libtest_mimic::{Completion, Trial};
use wgpu_gather::{GpuError, Tensor, wgpu};

use crate::at_call::with_act_at_poll;
use crate::lost::PANIC_OF_WGPU;
use crate::support::{Machine, Work, alone, poll_once};
use testkit::device;
use testkit::gpu::Gpu;

pub fn trials() -> Vec<Trial> {
    [
        on_both(
            "awaited gathers end though nobody else polls",
            nobody_else_polls,
        ),
        on_both(
            "dropped futures and owners leave nothing",
            dropped_leave_nothing,
        ),
        vec![
            on_a_polled_gpu(
                "a device lost by the driver ends an await",
                lost_by_the_driver,
            ),
            on_a_polled_gpu("a waker may gather on the poll thread", gather_of_a_waker),
            on_gpu("an app that polls makes no poll panic", polled_by_the_app),
        ],
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn on_gpu(name: &str, run: fn(&Machine)) -> Trial {
    let name = format!("gpu: {name}");
    device::gpu_trial(name.clone(), move |_| alone(&name, Machine::gpu, run))
}

/// A trial that needs a gather that a poll thread polls for.
pub fn on_a_polled_gpu(name: &str, run: fn(&Machine)) -> Trial {
    let name = format!("gpu: {name}");
    Trial::ignorable_test(name.clone(), move || match device::gpu() {
        Err(error) => device::without_gpu(error),
        Ok(gpu) if device::is_gl_on_the_cpu(gpu) => Ok(device::ignored(
            "GL on the CPU has gathered when submit returns",
        )),
        Ok(_) => alone(&name, Machine::gpu, run).map(|()| Completion::Completed),
    })
}

fn on_both(name: &str, run: fn(&Machine)) -> Vec<Trial> {
    let noop = format!("noop: {name}");
    let noop = Trial::test(noop.clone(), move || {
        alone(&noop, Machine::unlimited_noop, run)
    });
    vec![noop, on_gpu(name, run)]
}

/// The folders of this process's poll threads, whose names Linux cuts at 15 bytes. None elsewhere.
pub fn poll_threads() -> Vec<PathBuf> {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else {
        return Vec::new();
    };
    let tasks = tasks.map(|task| task.unwrap().path());
    let name = |task: &Path| fs::read_to_string(task.join("comm")).unwrap_or_default();
    tasks
        .filter(|task| name(task).trim() == "wgpu-gather/pol")
        .collect()
}

/// Bytes that this process has in memory, if the system tells.
fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let size = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = size?.trim().trim_end_matches(" kB");
    Some(kib.parse::<u64>().unwrap() * 1024)
}

/// Several futures wait at once on each of several threads.
fn nobody_else_polls(machine: &Machine) {
    let (app, work) = (machine.app(), Work::rows(1 << 10, 16, 1 << 12));
    let (table, right) = (app.upload(&work), Ok(machine.answer(&work)));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let gather = |_| app.start(&work, &table);
                let mut futures: Vec<_> = (0..8).map(gather).collect();
                let polled = futures.iter_mut().map(|future| poll_once(pin!(future)));
                let polled: Vec<_> = polled.collect();
                for (future, polled) in futures.into_iter().zip(polled).rev() {
                    let output = match polled {
                        Poll::Ready(output) => output,
                        Poll::Pending => pollster::block_on(future),
                    };
                    assert!(output == right);
                }
            });
        }
    });
    let downloaded = pollster::block_on(table.download());
    assert!(downloaded.is_ok_and(|elements| elements.len() == work.params.len()));
    app.assert_handlers_are_the_apps();
}

fn dropped_leave_nothing(machine: &Machine) {
    let (app, work) = (machine.app(), Work::small());
    let owners = |count: usize| {
        for _ in 0..count {
            let gpu = Gpu::from_parts(app.device().clone(), app.gpu.queue().clone());
            let table = gpu.upload(&work.params, work.plan.params_shape()).unwrap();
            for _ in 0..50 {
                let gather = gpu.gather(&work.plan, &table, &work.indices);
                let _ = poll_once(pin!(gather.into_future()));
            }
        }
        app.poll();
        app.poll();
        let dropped = Instant::now();
        while !poll_threads().is_empty() {
            assert!(dropped.elapsed() < Duration::from_secs(1), "threads live");
            thread::sleep(Duration::from_millis(5));
        }
        resident()
    };
    let before = owners(10);
    let after = owners(30);
    if let (Some(before), Some(after)) = (before, after) {
        let grown = after.saturating_sub(before);
        eprintln!("{} KiB more after 1,500 futures", grown / 1024);
        assert!(grown <= 4 << 20, "{grown} bytes");
    }
    app.assert_handlers_are_the_apps();
}

/// A gather that takes longer than a future polls by itself.
fn watched() -> Work {
    Work::rows(1 << 10, 4, 1 << 22)
}

/// Or the app's callback panics on the poll thread, which ends no await.
fn lost_by_the_driver(machine: &Machine) {
    let (app, work) = (machine.app(), watched());
    let table = app.upload(&work);
    let gather = || pollster::block_on(app.gpu.gather(&work.plan, &table, &work.indices));
    for text in [PANIC_OF_WGPU, "an app's callback"] {
        let panic = move || resume_unwind(Box::new(text.to_owned()));
        let gathered = with_act_at_poll(panic, gather);
        match text == PANIC_OF_WGPU {
            true => assert_eq!(gathered, Err(GpuError::ReadBack(text.into()))),
            false => assert_eq!(gathered, Ok(machine.answer(&work))),
        }
        assert_eq!(gather(), Ok(machine.answer(&work)));
    }
    app.assert_handlers_are_the_apps();
}

/// Gathers when it is woken on the poll thread, like an executor that runs its tasks there.
struct GathersInWake {
    gpu: Gpu,
    work: Work,
    table: Tensor<f32>,
    awaits: Thread,
}

impl Wake for GathersInWake {
    fn wake(self: Arc<Self>) {
        if thread::current().name() == Some("wgpu-gather/poll") {
            let Self {
                gpu, work, table, ..
            } = &*self;
            let gather = gpu.gather(&work.plan, table, &work.indices);
            let _ = poll_once(pin!(gather.into_future()));
        }
        self.awaits.unpark();
    }
}

fn gather_of_a_waker(machine: &Machine) {
    let (app, work) = (machine.app(), watched());
    let (gpu, table, awaits) = (app.gpu.clone(), app.upload(&work), thread::current());
    let right = Ok(machine.answer(&work));
    let waking = Arc::new(GathersInWake {
        gpu,
        work,
        table,
        awaits,
    });
    let waker = Waker::from(waking.clone());
    let GathersInWake {
        gpu, work, table, ..
    } = &*waking;
    let gather = || {
        let mut gather = gpu.gather(&work.plan, table, &work.indices).into_future();
        loop {
            match gather.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Pending => thread::park(),
                Poll::Ready(gathered) => break gathered,
            }
        }
    };
    assert_eq!(gather(), right);
    let lost = || resume_unwind(Box::new(PANIC_OF_WGPU.to_owned()));
    let gathered = with_act_at_poll(lost, gather);
    assert_eq!(gathered, Err(GpuError::ReadBack(PANIC_OF_WGPU.into())));
    app.assert_handlers_are_the_apps();
}

/// wgpu-core panics if a wait has a time limit and another thread has found its work done.
fn polled_by_the_app(machine: &Machine) {
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {
        PANICS.fetch_add(1, Ordering::Relaxed);
    }));
    // A few milliseconds on a CPU.
    let (app, work) = (machine.app(), Work::rows(1 << 10, 16, 1 << 14));
    let table = app.upload(&work);
    let (started, done) = (Instant::now(), AtomicBool::new(false));
    let results: Vec<_> = thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                app.device().poll(wgpu::PollType::Poll).unwrap();
            }
        });
        let results = std::iter::from_fn(|| {
            let gather = app.gpu.gather(&work.plan, &table, &work.indices);
            let in_time = started.elapsed() < Duration::from_secs(3);
            in_time.then(|| pollster::block_on(gather).map(|_| ()))
        });
        let results = results.collect();
        done.store(true, Ordering::Relaxed);
        results
    });
    panic::set_hook(hook);
    let panics = PANICS.load(Ordering::Relaxed);
    eprintln!("{panics} panics in {} gathers", results.len());
    assert_eq!(panics, 0);
    assert_eq!(results.into_iter().find(Result::is_err), None);
    app.assert_handlers_are_the_apps();
}
