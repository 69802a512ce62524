//! A gather does not wait while pipelines of other gathers are made.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use libtest_mimic::Trial;
use wgpu_gather::{
    ElementTypes, Gather, GatherBuffers, GatherError, GatherPlan, Gatherer, Gpu, PreparedGather,
    Tensor,
};

use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial(
        "a_gather_waits_for_no_other_pipeline",
        waits_for_none,
    )]
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

impl<T: wgpu_gather::GatherElement + Default> Work<T> {
    fn new(gpu: &Gpu, params: [T; 3]) -> Self {
        Self {
            plan: Gather::new().plan(&[3], &[2]).unwrap(),
            params: gpu.upload(&params).unwrap(),
            indices: gpu.upload(&[2, 0]).unwrap(),
            output: gpu.upload(&[T::default(); 2]).unwrap(),
        }
    }

    fn prepare(&self, gatherer: &Gatherer) -> Result<PreparedGather, GatherError> {
        let buffers = GatherBuffers::new(ElementTypes::of::<T, u32>())
            .params(self.params.buffer().unwrap().slice(..))
            .indices(self.indices.buffer().unwrap().slice(..))
            .output(self.output.buffer().unwrap().slice(..));
        gatherer.prepare(&self.plan, &buffers)
    }

    fn run(&self, gpu: &Gpu, prepared: &PreparedGather) -> Vec<T> {
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        prepared.encode(&mut encoder);
        gpu.queue().submit([encoder.finish()]);
        self.output.download().wait().unwrap()
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
