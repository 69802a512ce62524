//! Errors that an `Executor` returns: wrong operands, operands beyond a limit, and lost devices.

use std::sync::atomic::Ordering;

use testkit::gpu::Gpu;
use wgpu_gather::{
    BadIndices, ElementTypes, Executor, Gather, GatherError, GatherNd, GatherPlan, GpuError,
    Operand, PlanError, RunError, Tensor, wgpu,
};

use super::tensors::downloaded;
use super::{App, Recorded, Set, adapter, plan};

/// An app, and an executor on its device.
fn gpu_of(limits: wgpu::Limits) -> (App, Gpu) {
    gpu_on(&adapter(wgpu::Limits::unlimited()), limits)
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
            GpuError::Run(plan.run(&params, &indices).unwrap_err())
        );
    }
    let empty = Gather::new().plan(&[10], &[0]).unwrap().shard(1..10);
    let table = gpu.upload(&[0.0_f32; 8], &[8]).unwrap();
    let error = error_of(&gpu, &empty.unwrap(), &table, &[]);
    assert_eq!(error.to_string(), "params must have 9 elements, found 8");
    app.assert_handler_heard_nothing();
}

#[test]
fn bytes_of_a_wrong_length_are_an_error() {
    let (app, gpu) = gpu();
    let (plan, types) = (plan(), ElementTypes::of::<f32, i32>());
    let bytes = |len: usize| gpu.upload(vec![0_u8; len], &[len]).unwrap();
    for (params, indices, text) in [
        (39, 16, "params must have 40 bytes, found 39"),
        (44, 16, "params must have 40 bytes, found 44"),
        (40, 15, "indices must have 16 bytes, found 15"),
        (40, 0, "indices must have 16 bytes, found 0"),
        (10, 4, "params must have 40 bytes, found 10"),
    ] {
        let (params, indices) = (bytes(params), bytes(indices));
        let request = || gpu.gather_bytes(&plan, types, &params, &indices);
        let error = request().wait().unwrap_err();
        assert_eq!(error.to_string(), text);
        assert_eq!(pollster::block_on(request()), Err(error));
    }
    app.assert_handler_heard_nothing();
}

/// Also if they have as many elements. Nothing is submitted.
#[test]
fn operands_of_other_shapes_than_the_plan_are_errors() {
    let (app, gpu) = gpu();
    let plan = Gather::new().plan(&[10], &[2, 2]).unwrap();
    let params = |shape: &[usize]| gpu.upload(vec![0.0_f32; shape.iter().product()], shape);
    let table = params(&[10]).unwrap();
    let refused = |operand, expected: &[usize], found: &[usize]| {
        Some(GpuError::Run(RunError::PlanShape {
            operand,
            expected: expected.to_vec(),
            found: found.to_vec(),
        }))
    };
    for shape in [&[9][..], &[11], &[0], &[10, 1], &[2, 5]] {
        let table = params(shape).unwrap();
        let error = error_of(&gpu, &plan, &table, &[0; 4]);
        assert_eq!(Some(error), refused(Operand::Params, &[10], shape));
    }
    for shape in [&[4][..], &[1, 4], &[2, 1], &[2, 2, 1]] {
        let indices = vec![0; shape.iter().product()];
        let tensor = gpu.upload(&indices, shape).unwrap();
        let error = refused(Operand::Indices, &[2, 2], shape);
        assert_eq!(gpu.gather(&plan, &table, &tensor).wait().err(), error);
        let slice = gpu.gather(&plan, &table, (&indices, shape));
        assert_eq!(slice.wait().err(), error);
    }
    // Params come first, and shapes before lengths.
    let table = params(&[9]).unwrap();
    let error = error_of(&gpu, &plan, &table, &[0; 3]);
    assert_eq!(Some(error), refused(Operand::Params, &[10], &[9]));
    app.assert_handler_heard_nothing();
}

#[test]
fn a_slice_has_a_shape_that_it_fills() {
    let (app, gpu) = gpu();
    let table = gpu.upload(&[0.0; 10], &[2, 5]).unwrap();
    for shape in [&[2][..], &[2, 1], &[2, 2, 2], &[]] {
        let request = gpu.gather(GatherNd::new(), &table, (&[0, 1, 1, 0], shape));
        let error = GatherError::Shape {
            operand: Operand::Indices,
            expected: 4,
            shape: shape.to_vec(),
        };
        assert_eq!(request.wait(), Err(error.into()));
    }
    let request = gpu.gather(GatherNd::new(), &table, &[0, 1, 1, 0]);
    assert_eq!(request.wait(), Err(GpuError::MissingShape));
    // An operation that cannot be planned.
    let request = gpu.gather(GatherNd::new(), &table, (&[0, 1, 1], &[1, 3]));
    let error = GatherNd::new().plan(&[2, 5], &[1, 3]).unwrap_err();
    assert!(
        matches!(error, PlanError::IndexDepthAboveRank { .. }),
        "{error}"
    );
    assert_eq!(request.wait(), Err(error.into()));
    let request = gpu.gather(GatherNd::new(), &table, (&[0, 1, 1, 0], &[2, 2]));
    assert_eq!(request.wait(), Ok(vec![0.0; 2]));
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

#[test]
fn a_lost_device_is_an_error() {
    let (app, gpu) = gpu();
    let table = gpu.upload(&[0.0; 10], &[10]).unwrap();
    let set = Set::new(&app);
    gpu.device().destroy();
    let lost = || GpuError::from(GatherError::DeviceLost);
    assert_eq!(error_of(&gpu, &plan(), &table, &[0; 4]), lost());
    assert_eq!(downloaded(&table), Err(lost()));
    assert_eq!(gpu.upload(&[0.0], &[1]).unwrap_err(), lost());
    let types = ElementTypes::of::<f32, i32>();
    let warm_up = gpu.gatherer().warm_up(&plan(), types);
    assert_eq!(warm_up, Err(GatherError::DeviceLost));
    for Recorded { result, .. } in [
        app.encode(&plan(), &set.bound()),
        app.record(&plan(), &set.bound()),
    ] {
        assert_eq!(result, Err(GatherError::DeviceLost));
    }
    assert_eq!(app.errors.load(Ordering::Relaxed), 0);
}

#[test]
fn a_gpu_prints_its_adapter() {
    let (_, gpu) = gpu();
    assert_eq!(gpu.to_string(), "noop wgpu backend (noop)");
}
