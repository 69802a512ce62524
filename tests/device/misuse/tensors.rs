//! Errors that tensors return: wrong shapes, bytes that are no element, and tensors destroyed or with another owner.

use testkit::gpu::Gpu;
use wgpu_gather::{Element, Executor, GatherError, GpuError, Operand, Tensor, wgpu};

use super::gpu::{error_of, gpu, gpu_on};
use super::{adapter, plan};

#[track_caller]
fn assert_rejected(error: GpuError) {
    assert!(
        matches!(error, GpuError::Gather(GatherError::Rejected(_))),
        "{error:?}"
    );
}

/// The table's elements or the error, equal from the blocking and the async call.
pub fn downloaded<T>(table: &Tensor<T>) -> Result<Vec<T>, GpuError>
where
    T: Element + PartialEq + std::fmt::Debug,
{
    let downloaded = table.download_blocking();
    assert_eq!(pollster::block_on(table.download()), downloaded);
    downloaded
}

#[test]
fn a_tensor_has_only_shapes_of_its_elements() {
    let (app, gpu) = gpu();
    let table = |shape: &[usize]| gpu.upload(&[0_u16; 6], shape);
    for shape in [&[6][..], &[2, 3], &[1, 6, 1], &[3, 2]] {
        assert_eq!(table(shape).unwrap().shape(), shape);
        let reshaped = table(&[6]).unwrap().with_shape(shape).unwrap();
        assert_eq!(reshaped.shape(), shape);
    }
    for (shape, found) in [
        (&[][..], "[]"),
        (&[5], "[5]"),
        (&[2, 4], "[2,4]"),
        (&[6, 0], "[6,0]"),
        // The product wraps to 6 in 64 bits.
        (&[2, 3 + (1 << 63)], "[2,9223372036854775811]"),
    ] {
        let text = format!("tensor shape must have 6 elements, found {found}");
        assert_eq!(table(shape).unwrap_err().to_string(), text);
        let error = table(&[6]).unwrap().with_shape(shape).unwrap_err();
        assert_eq!(error.to_string(), text);
    }
    let scalar = gpu.upload(&[7_u16], &[]).unwrap();
    assert_eq!(scalar.shape().len(), 0);
    assert_eq!(scalar.with_shape(&[1, 1]).unwrap().shape(), [1, 1]);
    for shape in [&[0][..], &[usize::MAX, 2, 0], &[0, 3]] {
        let empty = gpu.upload::<u16>(&[], shape).unwrap();
        assert_eq!(empty.shape(), shape);
        assert!(empty.with_shape(&[]).is_err());
    }
    app.assert_handler_heard_nothing();
}

#[test]
fn bytes_that_are_no_element_are_an_error() {
    let (app, gpu) = gpu();
    let table = gpu.upload(&[true, false, true], &[3]).unwrap();
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
    assert_eq!(
        downloaded(&gpu.upload::<f64>(&[], &[0]).unwrap()),
        Ok(vec![])
    );
    app.assert_handler_heard_nothing();
}

#[test]
fn an_empty_table_may_have_an_empty_buffer() {
    let (app, gpu) = gpu();
    let buffer = gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 0,
        usage: gpu.upload(&[0_u8], &[1]).unwrap().buffer().unwrap().usage(),
        mapped_at_creation: false,
    });
    let table = Tensor::<f32>::from_buffer(&gpu, buffer, &[0]).unwrap();
    assert_eq!(downloaded(&table), Ok(vec![]));
    app.assert_handler_heard_nothing();
}

#[test]
fn a_destroyed_table_is_an_error() {
    let (app, gpu) = gpu();
    let table = gpu.upload(&[0.0; 10], &[10]).unwrap();
    table.buffer().unwrap().destroy();
    let error = error_of(&gpu, &plan(), &table, &[0; 4]);
    assert_rejected(error);
    assert_rejected(downloaded(&table).unwrap_err());
    app.assert_handler_heard_nothing();
}

#[test]
fn a_tensor_of_another_gpu_is_an_error() {
    let adapters = [(); 2].map(|()| adapter());
    let (app, gpu) = gpu_on(&adapters[0], wgpu::Limits::default());
    // Owners on another device of the same instance, on a device with the same id in another instance, and on the same device.
    let others = [
        gpu_on(&adapters[0], wgpu::Limits::default()).1,
        gpu_on(&adapters[1], wgpu::Limits::default()).1,
        Gpu::from_parts(app.device.clone(), app.queue.clone()),
    ];
    let none = Executor::cpu();
    let others = others.iter().map(Gpu::executor).chain([none]);
    let own = gpu.upload(&[1.0_f32; 10], &[10]).unwrap();
    let indices = gpu.upload(&[0_i32; 4], &[4]).unwrap();
    let made = || {
        let hal = app.device.get_internal_counters().hal;
        (hal.buffers.read(), hal.command_encoders.read())
    };
    for other in others {
        let table = other.upload(&[2.0_f32; 10], &[10]).unwrap();
        let other_indices = other.upload(&[1_i32; 4], &[4]).unwrap();
        let [of_params, of_indices] =
            [Operand::Params, Operand::Indices].map(|operand| GpuError::OtherOwner { operand });
        let before = made();
        assert_eq!(error_of(&gpu, &plan(), &table, &[0; 4]), of_params);
        let chained = gpu.gather(plan(), &table, &indices).on_gpu().wait();
        assert_eq!(chained.err(), Some(of_params));
        let chained = gpu.gather(plan(), &own, &other_indices).on_gpu().wait();
        assert_eq!(chained.err(), Some(of_indices));
        assert_eq!(made(), before);
    }
    app.assert_handler_heard_nothing();
}
