//! Errors of `Gpu` and `Executor`: wrong operands, operands beyond a limit, and lost devices.

use std::sync::atomic::Ordering;

use wgpu_gather::{
    BadIndices, ElementTypes, Executor, Gather, GatherElement, GatherError, GatherNd, GatherPlan,
    Gpu, GpuError, Operand, RunError, Tensor, wgpu,
};

use super::{App, Recorded, Set, adapter, plan};

/// An app, and a `Gpu` of its device.
fn gpu_of(limits: wgpu::Limits) -> (App, Gpu) {
    gpu_on(&adapter(wgpu::Limits::unlimited()), limits)
}

fn gpu_on(adapter: &wgpu::Adapter, limits: wgpu::Limits) -> (App, Gpu) {
    let app = App::on(adapter, limits);
    let gpu = Gpu::from_parts(app.device.clone(), app.queue.clone());
    (app, gpu)
}

fn gpu() -> (App, Gpu) {
    gpu_of(wgpu::Limits::default())
}

/// The gather's error, equal from the blocking and the async call.
fn error_of(gpu: &Gpu, plan: &GatherPlan, table: &Tensor<f32>, indices: &[i32]) -> GpuError {
    let error = gpu.gather(plan, table, indices).wait().unwrap_err();
    assert_eq!(
        pollster::block_on(gpu.gather(plan, table, indices)),
        Err(error.clone())
    );
    error
}

#[test]
fn wrong_lengths_give_the_error_of_the_cpu() {
    let (app, gpu) = gpu();
    for (params, indices, text) in [
        (9, 4, "params must have 10 elements, found 9"),
        (11, 4, "params must have 10 elements, found 11"),
        (0, 4, "params must have 10 elements, found 0"),
        (10, 3, "indices must have 4 elements, found 3"),
        (10, 0, "indices must have 4 elements, found 0"),
        (9, 3, "params must have 10 elements, found 9"),
    ] {
        let (params, indices) = (vec![0.0; params], vec![0; indices]);
        let table = gpu.upload(&params).unwrap();
        let error = error_of(&gpu, &plan(), &table, &indices);
        assert_eq!(error.to_string(), text);
        assert_eq!(
            error,
            GpuError::Run(plan().run(&params, &indices).unwrap_err())
        );
    }
    let empty = Gather::new().plan(&[10], &[0]).unwrap();
    let table = gpu.upload(&[0.0; 9]).unwrap();
    let error = error_of(&gpu, &empty, &table, &[]);
    assert_eq!(error.to_string(), "params must have 10 elements, found 9");
    app.assert_handler_heard_nothing();
}

#[test]
fn an_operand_beyond_one_buffer_is_refused() {
    let (app, gpu) = gpu_of(wgpu::Limits {
        max_buffer_size: 1024,
        ..Default::default()
    });
    let error = gpu.upload(&[0_u8; 1025]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "tensor buffer must have at most 1024 bytes on this device, found 1028"
    );
    let (_, large) = gpu_of(wgpu::Limits::default());
    let buffer = large
        .upload(&[0_u8; 1025])
        .unwrap()
        .buffer()
        .unwrap()
        .clone();
    let table = Tensor::<u8>::from_buffer(&gpu, buffer, 1025).unwrap();
    assert_eq!(downloaded(&table), Err(error));
    assert_eq!(
        gpu.upload(&[0_u8; 1023]).unwrap().buffer().unwrap().size(),
        1024
    );

    let table = gpu.upload(&[0.0; 8]).unwrap();
    let gather = Gather::new();
    let error = error_of(&gpu, &gather.plan(&[8], &[257]).unwrap(), &table, &[0; 257]);
    assert_eq!(
        error.to_string(),
        "indices buffer must have at most 1024 bytes on this device, found 1028"
    );
    let error = error_of(
        &gpu,
        &gather.plan(&[2, 4], &[65]).unwrap(),
        &table,
        &[0; 65],
    );
    assert_eq!(
        error.to_string(),
        "output buffer must have at most 1024 bytes on this device, found 1040"
    );
    // A report does not lower the largest size of an output.
    for bad_indices in [BadIndices::Fill, BadIndices::Error] {
        let plan = gather.bad_indices(bad_indices).plan(&[8], &[256]).unwrap();
        let output = gpu.gather(&plan, &table, &[0; 256]).wait();
        assert_eq!(output, Ok(vec![0.0; 256]), "{bad_indices:?}");
    }
    app.assert_handler_heard_nothing();
}

#[test]
fn a_table_has_only_shapes_of_its_elements() {
    let (app, gpu) = gpu();
    let table = gpu.upload(&[0_u16; 6]).unwrap();
    for shape in [&[6][..], &[2, 3], &[1, 6, 1], &[3, 2]] {
        let table = table.clone().with_shape(shape).unwrap();
        assert_eq!(table.shape(), shape);
    }
    for (shape, found) in [
        (&[][..], "[]"),
        (&[5], "[5]"),
        (&[2, 4], "[2,4]"),
        (&[6, 0], "[6,0]"),
        // The product wraps to 6 in 64 bits.
        (&[2, 3 + (1 << 63)], "[2,9223372036854775811]"),
    ] {
        let error = table.clone().with_shape(shape).unwrap_err();
        let text = format!("tensor shape must have 6 elements, found {found}");
        assert_eq!(error.to_string(), text);
    }
    let scalar = gpu.upload(&[7_u16]).unwrap().with_shape(&[]);
    assert_eq!(scalar.map(|table| table.shape().len()), Ok(0));
    let empty = gpu.upload::<u16>(&[]).unwrap();
    for shape in [&[0][..], &[usize::MAX, 2, 0], &[0, 3]] {
        let table = empty.clone().with_shape(shape).unwrap();
        assert_eq!(table.shape(), shape);
    }
    assert!(empty.with_shape(&[]).is_err());
    app.assert_handler_heard_nothing();
}

#[test]
fn elements_without_bytes_are_refused() {
    let (app, gpu) = gpu();
    let error = gpu.upload(&[(); 3]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "an element must have at least 1 byte on the GPU, found 0"
    );
    app.assert_handler_heard_nothing();
}

#[test]
fn bytes_that_cannot_be_counted_are_refused() {
    let (app, gpu) = gpu();
    let table = gpu.upload(&[0.0_f32]).unwrap();
    let plan = GatherNd::new().plan(&[1], &[1 << 62, 0]).unwrap();
    assert_eq!(
        error_of(&gpu, &plan, &table, &[]).to_string(),
        "output must have at most 9223372036854775807 bytes, found 4611686018427387904 elements of 4 bytes"
    );
    app.assert_handler_heard_nothing();
}

#[track_caller]
fn assert_rejected(error: GpuError) {
    assert!(
        matches!(error, GpuError::Gather(GatherError::Rejected(_))),
        "{error:?}"
    );
}

/// The table's elements or the error, equal from the blocking and the async call.
fn downloaded<T>(table: &Tensor<T>) -> Result<Vec<T>, GpuError>
where
    T: GatherElement + PartialEq + std::fmt::Debug,
{
    let downloaded = table.download().wait();
    assert_eq!(pollster::block_on(table.download()), downloaded);
    downloaded
}

#[test]
fn bytes_that_are_no_element_are_an_error() {
    let (app, gpu) = gpu();
    let table = gpu.upload(&[true, false, true]).unwrap();
    assert_eq!(downloaded(&table), Ok(vec![true, false, true]));
    gpu.queue()
        .write_buffer(table.buffer().unwrap(), 0, &[1, 0, 1, 2]);
    assert_eq!(downloaded(&table), Ok(vec![true, false, true]));
    gpu.queue()
        .write_buffer(table.buffer().unwrap(), 0, &[1, 0, 2, 0]);
    assert_eq!(
        downloaded(&table).unwrap_err().to_string(),
        "result must be of type bool, found other bit patterns"
    );
    assert_eq!(downloaded(&gpu.upload::<f64>(&[]).unwrap()), Ok(vec![]));
    app.assert_handler_heard_nothing();
}

#[test]
fn an_empty_table_may_have_an_empty_buffer() {
    let (app, gpu) = gpu();
    let buffer = gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 0,
        usage: gpu.upload(&[0_u8]).unwrap().buffer().unwrap().usage(),
        mapped_at_creation: false,
    });
    let table = Tensor::<f32>::from_buffer(&gpu, buffer, 0).unwrap();
    assert_eq!(downloaded(&table), Ok(vec![]));
    app.assert_handler_heard_nothing();
}

#[test]
fn a_destroyed_table_is_an_error() {
    let (app, gpu) = gpu();
    let table = gpu.upload(&[0.0; 10]).unwrap();
    table.buffer().unwrap().destroy();
    let error = error_of(&gpu, &plan(), &table, &[0; 4]);
    assert_rejected(error);
    assert_rejected(downloaded(&table).unwrap_err());
    app.assert_handler_heard_nothing();
}

#[test]
fn a_table_of_another_gpu_is_an_error() {
    let adapters = [(); 2].map(|()| adapter(wgpu::Limits::unlimited()));
    let (app, gpu) = gpu_on(&adapters[0], wgpu::Limits::default());
    // Of another device of the instance, of another instance, whose ids are equal, and of the same device.
    let others = [
        gpu_on(&adapters[0], wgpu::Limits::default()).1,
        gpu_on(&adapters[1], wgpu::Limits::default()).1,
        Gpu::from_parts(app.device.clone(), app.queue.clone()),
    ];
    let (own, indices) = (
        gpu.upload(&[1.0_f32; 10]).unwrap(),
        gpu.upload(&[0_i32; 4]).unwrap(),
    );
    let made = || {
        let hal = app.device.get_internal_counters().hal;
        (hal.buffers.read(), hal.command_encoders.read())
    };
    for other in others {
        let table = other.upload(&[2.0_f32; 10]).unwrap();
        let other_indices = other.upload(&[1_i32; 4]).unwrap();
        let [of_params, of_indices, of_output] =
            [Operand::Params, Operand::Indices, Operand::Output]
                .map(|operand| GpuError::OtherOwner { operand });
        let before = made();
        assert_eq!(error_of(&gpu, &plan(), &table, &[0; 4]), of_params);
        let chained = gpu.gather(plan(), &table, &indices).on_gpu().wait();
        assert_eq!(chained.err(), Some(of_params));
        let chained = gpu.gather(plan(), &own, &other_indices).on_gpu().wait();
        assert_eq!(chained.err(), Some(of_indices.clone()));
        let plan = plan();
        let bytes = other.upload(&[0_u8; 40]).unwrap();
        let types = ElementTypes::of::<f32, i32>();
        let request = gpu.gather_bytes(&plan, types, &[0_u8; 40], &bytes);
        assert_eq!(request.wait().err(), Some(of_indices));
        let mut output = other.upload(&[0.0_f32; 4]).unwrap();
        let request = gpu.gather(&plan, &own, &indices).into_tensor(&mut output);
        let text = "output must be a tensor of this owner, found one of another Gpu or executor";
        assert_eq!(of_output.to_string(), text);
        assert_eq!(request.wait(), Err(of_output));
        assert_eq!(made(), before);
    }
    app.assert_handler_heard_nothing();
}

#[test]
fn a_lost_device_is_an_error() {
    let (app, gpu) = gpu();
    let table = gpu.upload(&[0.0; 10]).unwrap();
    let set = Set::new(&app);
    gpu.device().destroy();
    let lost = || GpuError::from(GatherError::DeviceLost);
    assert_eq!(error_of(&gpu, &plan(), &table, &[0; 4]), lost());
    assert_eq!(downloaded(&table), Err(lost()));
    assert_eq!(gpu.upload(&[0.0]).unwrap_err(), lost());
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
fn errors_of_the_gpu_say_what_happened() {
    let text = |error: GpuError| error.to_string();
    assert_eq!(
        text(GpuError::NoAdapter("no driver".into())),
        "no adapter found: no driver"
    );
    let (adapter, reason) = ("llvmpipe".into(), "limits".into());
    assert_eq!(
        text(GpuError::NoDevice { adapter, reason }),
        "no device from adapter llvmpipe: limits"
    );
    assert_eq!(
        text(GpuError::ReadBack("lost".into())),
        "result not read back: lost"
    );
    assert_eq!(
        text(GpuError::InHostMemory),
        "tensor must be on a GPU, found in host memory"
    );
    let run = RunError::OutOfMemory {
        operand: Operand::Output,
        elements: 3,
        element_bytes: 4,
    };
    assert_eq!(
        text(run.into()),
        "output of 3 elements of 4 bytes cannot be allocated"
    );
    assert_eq!(
        text(GatherError::Rejected("lost".into()).into()),
        "rejected by the device: lost"
    );
    assert_eq!(
        text(GatherError::OutOfMemory("full".into()).into()),
        "out of memory on the device: full"
    );
    let report = GatherError::ReportLength {
        expected: 80,
        found: 3,
    };
    assert_eq!(text(report.into()), "report must have 80 bytes, found 3");
    let (_, gpu) = gpu();
    let executor = Executor::from(Ok(gpu));
    assert_eq!(executor.to_string(), "noop wgpu backend (noop)");
    let executor = Executor::from(Err(GpuError::NoAdapter("no driver".into())));
    assert_eq!(
        executor.to_string(),
        "the CPU (no adapter found: no driver)"
    );
}
