//! Errors that an `Executor` returns: wrong operands, and operands beyond a limit.

use testkit::gpu::Gpu;
use wgpu_gather::{
    BadIndices, Encoded, Encoding, Executor, Gather, GatherNd, GatherPlan, GpuError, Tensor, wgpu,
};

use super::tensors::downloaded;
use super::{App, adapter, plan};

/// An app, and an executor on its device.
fn gpu_of(limits: wgpu::Limits) -> (App, Gpu) {
    gpu_on(&adapter(), limits)
}

pub fn gpu_on(adapter: &wgpu::Adapter, limits: wgpu::Limits) -> (App, Gpu) {
    let app = App::on(adapter, limits);
    let gpu = Gpu::from_parts(app.device.clone(), app.queue.clone());
    (app, gpu)
}

pub fn gpu() -> (App, Gpu) {
    gpu_of(wgpu::Limits::default())
}

/// The gather's error, equal from the blocking and the async call.
pub fn error_of(gpu: &Gpu, plan: &GatherPlan, table: &Tensor<f32>, indices: &[i32]) -> GpuError {
    let error = gpu.gather(plan, table, indices).wait().unwrap_err();
    assert_eq!(
        pollster::block_on(gpu.gather(plan, table, indices)),
        Err(error.clone())
    );
    error
}

#[test]
fn owners_are_printed_in_one_line() {
    let (_, gpu) = gpu();
    let cpu = Executor::cpu();
    assert_eq!(format!("{cpu:#?}"), "Executor(the CPU)");
    for printed in [format!("{gpu:?}"), format!("{gpu:#?}")] {
        assert_eq!(printed, format!("Executor({gpu})"));
    }
    assert_eq!(gpu.to_string(), "noop wgpu backend (noop)");
}

#[test]
fn wrong_lengths_give_the_error_of_the_cpu() {
    let (app, gpu) = gpu();
    let whole = plan();
    // If the plan is a shard or has a stride, the tensor's shape is not compared with the plan's.
    let shard = plan().shard(1..10).unwrap();
    let gaps = plan().with_params_stride(2).unwrap();
    for (plan, params, indices, text) in [
        (&whole, 10, 3, "indices must have 4 elements, found 3"),
        (&whole, 10, 0, "indices must have 4 elements, found 0"),
        (&shard, 8, 4, "params must have 9 elements, found 8"),
        (&shard, 10, 4, "params must have 9 elements, found 10"),
        (&shard, 0, 4, "params must have 9 elements, found 0"),
        (&shard, 9, 5, "indices must have 4 elements, found 5"),
        (&shard, 8, 3, "params must have 9 elements, found 8"),
        (&gaps, 18, 4, "params must have 19 to 20 elements, found 18"),
        (&gaps, 21, 4, "params must have 19 to 20 elements, found 21"),
    ] {
        let (params, indices) = (vec![0.0; params], vec![0; indices]);
        let table = gpu.upload(&params, &[params.len()]).unwrap();
        let error = error_of(&gpu, plan, &table, &indices);
        assert_eq!(error.to_string(), text);
        assert_eq!(
            error,
            GpuError::Run(plan.gather(&params, &indices).unwrap_err())
        );
    }
    let empty = Gather::new().plan(&[10], &[0]).unwrap().shard(1..10);
    let table = gpu.upload(&[0.0_f32; 8], &[8]).unwrap();
    let error = error_of(&gpu, &empty.unwrap(), &table, &[]);
    assert_eq!(error.to_string(), "params must have 9 elements, found 8");
    let halves = Encoded::new(Encoding::F16, [0; 20]);
    for executor in [gpu.executor(), Executor::cpu()] {
        let table = executor.upload_encoded(&halves, &[10]).unwrap();
        let error = executor.gather(&whole, &table, &[0; 3]).wait().unwrap_err();
        assert_eq!(error.to_string(), "indices must have 4 elements, found 3");
    }
    app.assert_handler_heard_nothing();
}

#[test]
fn an_operand_beyond_one_buffer_is_refused() {
    let (app, gpu) = gpu_of(wgpu::Limits {
        max_buffer_size: 1024,
        ..Default::default()
    });
    let error = gpu.upload(&[0_u8; 1025], &[1025]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "tensor buffer must have at most 1024 bytes on this device, found 1028"
    );
    let (_, large) = gpu_of(wgpu::Limits::default());
    let large = large.upload(&[0_u8; 1025], &[1025]).unwrap();
    let buffer = large.buffer().unwrap().clone();
    let table = Tensor::<u8>::from_buffer(&gpu, buffer, &[1025]).unwrap();
    assert_eq!(downloaded(&table), Err(error));
    let error = gpu.zeros::<u8>(&[1025]).unwrap_err();
    assert_eq!(downloaded(&table), Err(error));
    let largest = gpu.upload(&[0_u8; 1023], &[1023]).unwrap();
    assert_eq!(largest.buffer().unwrap().size(), 1024);

    let gather = Gather::new();
    let rows = gpu.upload(&[0.0; 8], &[2, 4]).unwrap();
    let points = GatherNd::new().plan(&[2, 4], &[129, 2]).unwrap();
    assert_eq!(
        error_of(&gpu, &points, &rows, &[0; 258]).to_string(),
        "indices buffer must have at most 1024 bytes on this device, found 1032"
    );
    let error = error_of(&gpu, &gather.plan(&[2, 4], &[65]).unwrap(), &rows, &[0; 65]);
    assert_eq!(
        error.to_string(),
        "output buffer must have at most 1024 bytes on this device, found 1040"
    );
    let table = gpu.upload(&[0.0_f32; 8], &[8]).unwrap();
    // A report does not lower the largest output size. wgpu's back end for tests writes none.
    for bad_indices in [BadIndices::Fill, BadIndices::Error] {
        let plan = gather.bad_indices(bad_indices).plan(&[8], &[256]).unwrap();
        let output = gpu.gather(&plan, &table, &[0; 256]).wait();
        assert_eq!(output, Ok(vec![0.0; 256]), "{bad_indices:?}");
    }
    app.assert_handler_heard_nothing();
}

#[test]
fn bytes_that_cannot_be_counted_are_refused() {
    let (app, gpu) = gpu();
    let table = gpu.upload(&[0.0_f32], &[1]).unwrap();
    let plan = GatherNd::new().plan(&[1], &[1 << 62, 0]).unwrap();
    assert_eq!(
        error_of(&gpu, &plan, &table, &[]).to_string(),
        "output must have at most 9223372036854775807 bytes, found 4611686018427387904 elements of 4 bytes"
    );
    app.assert_handler_heard_nothing();
}
