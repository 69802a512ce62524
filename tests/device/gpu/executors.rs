//! Gathers through `Executor`, on the trials' GPU and on the CPU.

use libtest_mimic::Trial;
use wgpu_gather::{BadIndices, Executor, Gather, GatherError, GpuError, RunError};

use crate::into_buffers::filled;
use crate::to_host::block_on;
use crate::trial;
use testkit::device::OnGpu;
use testkit::device::open_gpu;
use testkit::gpu::Gpu;
use testkit::samples::Sample;
use testkit::sweep;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("an_executor_is_a_gpu_or_the_cpu", executors),
        trial(
            "an_executor_gives_zero_bytes_on_either_device",
            zero_bytes_on_both,
        ),
        trial("an_executor_gives_the_fill_on_either_device", fill_on_both),
        trial(
            "an_executor_refuses_long_fills_on_either_device",
            fill_too_long,
        ),
        trial("an_executor_has_tensorflows_default_policy", default_policy),
        trial("tensors_of_an_executor_stay_where_they_are", tensors),
        trial("gaps_of_a_tensor_keep_their_values", gaps),
    ]
}

/// Params and output in rows of 4 with slices of 2. A gather that makes its output makes no gaps.
fn gaps(gpu: &'static Gpu) {
    let plan = Gather::new().plan(&[3, 2], &[2]).unwrap();
    let plan = plan.with_params_stride(4).unwrap();
    let plan = plan.with_output_stride(4).unwrap();
    let indices = [2, 0];
    for params in [
        &[0, 1, 7, 7, 10, 11, 7, 7, 20, 21][..],
        &[0, 1, 7, 7, 10, 11, 7, 7, 20, 21, 7, 7],
    ] {
        for executor in both(gpu) {
            let table = executor.upload(params, &[params.len()]).unwrap();
            let gather = || executor.gather(&plan, &table, &indices);
            for result in [
                gather().wait().map(drop),
                gather().on_gpu().wait().map(drop),
            ] {
                let stride = RunError::OutputStride {
                    slice_len: 2,
                    stride: 4,
                };
                assert_eq!(result, Err(stride.into()), "{executor}");
            }
            for old in [vec![9; 6], vec![9; 8]] {
                let mut output = executor.upload(&old, &[old.len()]).unwrap();
                let request = executor.gather(&plan, &table, &indices);
                request.into_tensor(&mut output).wait().unwrap();
                let expected = [20, 21, 9, 9, 0, 1, 9, 9][..old.len()].to_vec();
                assert_eq!(output.download_blocking(), Ok(expected));
            }
            for wrong in [5, 7 + 2] {
                let mut output = executor.upload(vec![9; wrong], &[wrong]).unwrap();
                let request = executor.gather(&plan, &table, &indices);
                let error = request.into_tensor(&mut output).wait().unwrap_err();
                let text = format!("output must have 6 to 8 elements, found {wrong}");
                assert_eq!(error.to_string(), text);
            }
        }
    }
}

/// An executor on the trials' GPU, and one on the CPU, as on a machine without a GPU.
pub(crate) fn both(gpu: &Gpu) -> [Executor; 2] {
    let gpu = Gpu::from_parts(gpu.device().clone(), gpu.queue().clone());
    [gpu.executor(), Executor::cpu()]
}

fn executors(gpu: &'static Gpu) {
    let [on_gpu, on_cpu] = both(gpu);
    assert!(on_gpu.device().is_ok());
    assert_eq!(on_cpu.to_string(), "the CPU");
    let text = "no GPU: the executor is the CPU";
    assert_eq!(on_cpu.device().unwrap_err().to_string(), text);
    assert_eq!(on_cpu.queue().err(), on_cpu.device().err());
    assert!(on_cpu.gatherer().is_err());
    let plan = Gather::new().bad_indices(BadIndices::Fill);
    // A shard, since params of the whole plan must have its shape.
    let plan = plan.plan(&[4], &[2]).unwrap().shard(0..3).unwrap();
    let [gpu, cpu] = [&on_gpu, &on_cpu].map(|executor| {
        let table = executor.upload(&[1], &[1])?;
        executor.gather(&plan, &table, &[0, 0]).wait()
    });
    assert_eq!(gpu, cpu);
    assert_eq!(
        gpu.unwrap_err().to_string(),
        "params must have 3 elements, found 1"
    );
}

/// A user's element whose default is not zero bytes.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Weight(f32);

impl Default for Weight {
    fn default() -> Self {
        Self(1.0)
    }
}

fn zero_bytes_on_both(gpu: &'static Gpu) {
    let plan = Gather::new().bad_indices(BadIndices::Fill);
    let plan = plan.plan(&[2], &[2]).unwrap();
    let params = [Weight(5.0), Weight(6.0)];
    for executor in both(gpu) {
        let table = executor.upload(&params, &[2]).unwrap();
        let output = executor.gather(&plan, &table, &[1, 2]).wait();
        assert_eq!(output, Ok(vec![Weight(6.0), Weight(0.0)]), "{executor}");
        let text = "an element must have at least 1 byte on the GPU, found 0";
        let error = executor.upload(&[(), ()], &[2]).unwrap_err();
        assert_eq!(error.to_string(), text, "{executor}");
        let error = executor.zeros::<()>(&[2]).unwrap_err();
        assert_eq!(error.to_string(), text, "{executor}");
    }
    assert_eq!(
        plan.gather(&params, &[1, 2]),
        Ok(vec![Weight(6.0), Weight(1.0)])
    );
}

/// Zeros on a GPU, an error on the CPU.
fn default_policy(gpu: &'static Gpu) {
    let executors = both(gpu);
    let tables = executors.each_ref().map(|e| e.upload(&[1, 2, 3], &[3]));
    let [on_gpu, on_cpu] = &tables.map(Result::unwrap);
    let on_gpu = executors[0].gather(Gather::new(), on_gpu, &[0, 3]);
    assert_eq!(block_on(on_gpu), Ok(vec![1, 0]));
    let on_cpu = executors[1].gather(Gather::new(), on_cpu, &[0, 3]);
    let text = "indices[1] = 3 is not in [0, 3)";
    assert_eq!(block_on(on_cpu).unwrap_err().to_string(), text);
}

/// A chain of gathers, into the executor's tensor and into the caller's.
fn tensors(gpu: &'static Gpu) {
    let executors = both(gpu);
    for executor in &executors {
        let elements = [10, 20, 30, 40, 50, 60];
        let table = executor.upload(&elements, &[3, 2]).unwrap();
        let error = executor.upload(&elements, &[3, 3]).unwrap_err();
        let text = "tensor shape must have 6 elements, found [3,3]";
        assert_eq!(error.to_string(), text, "{executor}");
        let rows = executor.upload(&[2_u32, 0, 7], &[3]).unwrap();
        let gather = Gather::new().bad_indices(BadIndices::Fill);
        let request = executor.gather(gather, &table, &rows).fill(9).on_gpu();
        let taken = request.wait().unwrap();
        assert_eq!(taken.shape(), [3, 2], "{executor}");
        assert_eq!(block_on(taken.download()), Ok(vec![50, 60, 10, 20, 9, 9]));
        let mut output = executor.upload(&[0; 6], &[6]).unwrap();
        let columns = executor.gather(gather.axis(1), &taken, &[1, 0]);
        columns.into_tensor(&mut output).wait().unwrap();
        let expected = vec![60, 50, 20, 10, 9, 9];
        assert_eq!(output.download_blocking(), Ok(expected), "{executor}");
        let mut short = executor.upload(&[0; 5], &[5]).unwrap();
        let request = executor.gather(gather, &table, &rows);
        let error = request.into_tensor(&mut short).wait().unwrap_err();
        assert_eq!(error.to_string(), "output must have 6 elements, found 5");
    }
    let of_each = executors.each_ref().map(|e| e.upload(&[1, 2, 3], &[3]));
    let of_each = of_each.map(Result::unwrap);
    assert!(of_each[0].buffer().is_ok());
    assert_eq!(of_each[1].buffer(), Err(GpuError::InHostMemory));
}

fn fill_on_both(gpu: &'static Gpu) {
    let samples: Vec<Sample> = sweep::some(0, 23, 0, filled()).collect();
    for executor in &both(gpu) {
        for sample in &samples {
            let fill = &sample.fill;
            let awaits = false;
            sample.check(&OnGpu {
                executor,
                awaits,
                fill,
            });
        }
        // A row that the shard does not hold gives zeros.
        let plan = Gather::new().bad_indices(BadIndices::Fill);
        let plan = plan.plan(&[3], &[3]).unwrap();
        let shard = plan.shard(1..3).unwrap();
        let held = executor.upload(&[2_u8, 3], &[2]).unwrap();
        let output = executor.gather(&shard, &held, &[2, -1, 0]).fill(9).wait();
        assert_eq!(output, Ok(vec![3, 9, 0]), "{executor}");
        let plan = Gather::new().bad_indices(BadIndices::Error);
        let plan = plan.plan(&[2], &[1]).unwrap();
        let error = executor.gather(&plan, &held, &[3]).fill(9).wait();
        let text = "indices[0] = 3 is not in [0, 2)";
        assert_eq!(error.unwrap_err().to_string(), text, "{executor}");
    }
}

/// The error comes before indices are brought to the GPU, which would fail, because the device is lost.
fn fill_too_long(_: &'static Gpu) {
    let gpu = open_gpu().unwrap();
    let executors = both(&gpu);
    let tables = executors.map(|executor| {
        let table = executor.upload(&[[1_u8; 17]; 2], &[2]).unwrap();
        (executor, table)
    });
    gpu.device().destroy();
    let plan = Gather::new().bad_indices(BadIndices::Fill);
    let plan = plan.plan(&[2], &[1]).unwrap();
    let too_long = GatherError::FillTooLong { element_bytes: 17 };
    let error = Err(GpuError::Gather(too_long));
    for (executor, table) in &tables {
        let filled = executor.gather(&plan, table, &[2]).fill([9; 17]).wait();
        assert_eq!(filled, error, "{executor}");
        let filled = block_on(executor.gather(&plan, table, &[2]).fill([9; 17]));
        assert_eq!(filled, error, "{executor}");
    }
}
