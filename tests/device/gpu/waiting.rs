//! A gather does not wait while pipelines of other gathers are made, and threads that await share a device with threads
//! that wait.

use std::panic;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use libtest_mimic::Trial;
use wgpu_gather::{ElementTypes, Gather, GatherError, GatherPlan, Gatherer, Prepared, Tensor};

use crate::to_host::block_on;
use crate::{flat, trial};
use testkit::device::open_gpu;
use testkit::gpu::{Gpu, buffers_of, range};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_gather_waits_for_no_other_pipeline", waits_for_none),
        trial("threads_await_and_wait_at_once", await_and_wait),
    ]
}

/// A gather that takes longer fails the test.
const PATIENCE: Duration = Duration::from_secs(20);

/// A gather of rows 2 and 0 from three rows of one element.
struct Work<T> {
    plan: GatherPlan,
    params: Tensor<T>,
    indices: Tensor<u32>,
    output: Tensor<T>,
}

impl<T: wgpu_gather::Element + Default> Work<T> {
    fn new(gpu: &Gpu, params: [T; 3]) -> Self {
        Self {
            plan: Gather::new().plan(&[3], &[2]).unwrap(),
            params: flat(gpu, &params),
            indices: flat(gpu, &[2, 0]),
            output: flat(gpu, &[T::default(); 2]),
        }
    }

    fn prepare(&self, gatherer: &Gatherer) -> Result<Prepared, GatherError> {
        let buffers = buffers_of(
            ElementTypes::of::<T, u32>(),
            [
                range(&self.params),
                range(&self.indices),
                range(&self.output),
            ],
        );
        gatherer.prepare(&self.plan, &buffers)
    }

    fn run(&self, gpu: &Gpu, prepared: &Prepared) -> Vec<T> {
        gpu.submit(|encoder| prepared.encode(encoder));
        self.output.download_blocking().unwrap()
    }
}

/// While one thread makes the shader module for bytes, another thread runs a prepared gather, prepares it again, and
/// prepares a gather that takes other modules.
fn waits_for_none(gpu: &'static Gpu) {
    let (begin, begun) = channel();
    let (release, released) = channel::<()>();
    let released: Mutex<Receiver<()>> = Mutex::new(released);
    let gatherer = Gatherer::new(gpu.device()).with_shader_modules(move |device, descriptor| {
        if descriptor.label == Some("wgpu-gather/bytes-index_rows") {
            begin.send(()).unwrap();
            // The time limit ends the wait after a failure.
            let _ = released.lock().unwrap().recv_timeout(2 * PATIENCE);
        }
        device.create_shader_module(descriptor)
    });
    let words = Work::new(gpu, [10_u32, 20, 30]);
    let vectors = Work::new(gpu, [[1_u32; 4], [2; 4], [3; 4]]);
    let bytes = Work::new(gpu, [[1_u8, 2, 3], [4, 5, 6], [7, 8, 9]]);
    let prepared = words.prepare(&gatherer).unwrap();

    let (done, is_done) = channel();
    thread::scope(|scope| {
        let compiling = scope.spawn(|| bytes.prepare(&gatherer));
        let has_begun = begun.recv_timeout(PATIENCE);
        scope.spawn(|| {
            let outputs = [
                words.run(gpu, &prepared),
                words.run(gpu, &words.prepare(&gatherer).unwrap()),
            ];
            let others = vectors.run(gpu, &vectors.prepare(&gatherer).unwrap());
            done.send((outputs, others)).unwrap();
        });
        let outputs = is_done.recv_timeout(PATIENCE);
        let is_compiling = !compiling.is_finished();
        release.send(()).unwrap();
        assert_eq!(has_begun, Ok(()));
        let expected = ([vec![30, 10], vec![30, 10]], vec![[3; 4], [1; 4]]);
        assert_eq!(outputs, Ok(expected), "what does not wait is done");
        assert!(is_compiling);
        let compiled = compiling.join().unwrap().unwrap();
        assert_eq!(bytes.run(gpu, &compiled), [[7, 8, 9], [1, 2, 3]]);
    });
}

/// Gathers that take longer and shorter than the poll thread's poll, on a device of their own.
fn await_and_wait(_: &'static Gpu) {
    const LONG: usize = 1 << 20;
    const SHORT: usize = 16;
    count_poll_panics();
    let gpu = open_gpu().unwrap();
    let table = flat(&gpu, &[5_u32, 6, 7]);
    let indices: Vec<u32> = (0..3).cycle().take(LONG).collect();
    let plan = Gather::new().plan(&[3], &[LONG]).unwrap();
    let [short, long] = [SHORT, LONG].map(|len| shifted(&indices[..len]));
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    let request = gpu.gather(Gather::new(), &table, &indices[..SHORT]);
                    assert_eq!(request.wait().as_ref(), Ok(&short));
                }
            });
        }
        scope.spawn(|| {
            let _done = SetOnDrop(&is_done);
            for _ in 0..100 {
                // Too long to print.
                assert!(block_on(gpu.gather(&plan, &table, &indices)).as_ref() == Ok(&long));
                let request = gpu.gather(Gather::new(), &table, &indices[..SHORT]);
                assert_eq!(block_on(request).as_ref(), Ok(&short));
            }
        });
    });
    assert_eq!(POLL_PANICS.load(Ordering::Relaxed), 0);
}

fn shifted(indices: &[u32]) -> Vec<u32> {
    indices.iter().map(|index| index + 5).collect()
}

/// Sets a flag when it is dropped, by a panic too.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

static POLL_PANICS: AtomicUsize = AtomicUsize::new(0);

/// Counts panics in the threads that poll.
fn count_poll_panics() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if thread::current().name() == Some("wgpu-gather/poll") {
            POLL_PANICS.fetch_add(1, Ordering::Relaxed);
        }
        print(info);
    }));
}
