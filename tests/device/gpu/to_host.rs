//! Gathers through an `Executor` on a GPU, whose results come back to the host or stay on the GPU.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use libtest_mimic::Trial;
use wgpu_gather::{
    BadIndices, Executor, Gather, GatherError, Gatherer, GpuError, IndexKind, Prepared, Tensor,
    wgpu,
};

use crate::{flat, trial};
use testkit::cases;
use testkit::device::{blocking, open_gpu};
use testkit::element_types::check_element_types;
use testkit::gpu::Gpu;
use testkit::random_shapes;
use testkit::samples::{Cpu, POLICIES};
use testkit::sweep;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("the_table_comes_back_equal_to_the_oracle", table),
        trial("elements_of_every_type_come_back_bit_for_bit", |gpu| {
            check_element_types(&blocking(gpu));
        }),
        trial(
            "random_shapes_come_back_equal_to_oracle_and_cpu",
            random_shapes,
        ),
        trial("each_gather_of_a_chain_takes_the_last_result", chained),
        trial("an_apps_buffer_is_a_table", tables_of_buffers),
        trial("slices_of_a_mebibyte_are_whole", long_slices),
        trial(
            "a_future_completes_without_a_poll_of_the_device",
            bare_executor,
        ),
    ]
}

const _: () = {
    const fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Gpu>();
    is_send_and_sync::<Gatherer>();
    is_send_and_sync::<Prepared>();
    is_send_and_sync::<Tensor<u8>>();
    is_send_and_sync::<Executor>();
};

fn table(gpu: &'static Gpu) {
    for case in cases::table() {
        if case.check_plan() {
            let kinds = [IndexKind::I32, IndexKind::U64];
            for sample in sweep::some(0, 7, 0, case.samples(&[1, 4, 16], &kinds, POLICIES)) {
                sample.check(&blocking(gpu));
            }
        }
    }
}

/// Three gathers, each by the result of the one before, which is on the GPU. Only the uploads name shapes.
fn chained(gpu: &'static Gpu) {
    let params: Vec<u32> = (0..24).map(|n| n * 5 % 24).collect();
    let tables: [(&[u32], &[usize], i64); 3] = [
        (&[3, 1, 0, 2], &[4], 0),
        (&[0, 3, 2, 1, 1, 0, 2, 3], &[2, 4], 1),
        (&params, &[6, 4], 0),
    ];
    let mut on_host = vec![0_u32, 3, 1];
    let mut indices = flat(gpu, &on_host);
    for (elements, shape, axis) in tables {
        let table = gpu.upload(elements, shape).unwrap();
        let plan = Gather::new().axis(axis).bad_indices(BadIndices::Error);
        let plan = plan.plan(table.shape(), indices.shape()).unwrap();
        indices = gpu.gather(&plan, &table, &indices).on_gpu().wait().unwrap();
        on_host = plan.gather(elements, &on_host).unwrap();
        assert_eq!(indices.download_blocking().as_ref(), Ok(&on_host));
    }
    assert_eq!(indices.shape(), [2, 3, 4]);
}

/// Tables in an app's buffer, which is longer than the table and not a multiple of 4 bytes long.
fn tables_of_buffers(gpu: &'static Gpu) {
    let usage =
        wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let buffer = |size, usage| {
        gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        })
    };
    let bytes: Vec<u8> = (1..=20).collect();
    let own = buffer(22, usage);
    gpu.queue().write_buffer(&own, 0, &bytes);
    let table = Tensor::<[u8; 3]>::from_buffer(gpu, own.clone(), &[6]).unwrap();
    let downloaded = table.download_blocking().unwrap();
    assert_eq!(downloaded.concat(), bytes[..18]);
    let plan = Gather::new().plan(&[6], &[2]).unwrap();
    let gathered = gpu.gather(&plan, &table, &[5, 0]).wait();
    assert_eq!(gathered, Ok(vec![[16, 17, 18], [1, 2, 3]]));
    assert_eq!((table.shape(), table.buffer().unwrap()), (&[6][..], &own));

    // Each tensor has its own shape, and both share the buffer.
    let wide = Tensor::<[u8; 3]>::from_buffer(gpu, own.clone(), &[2, 3]).unwrap();
    assert_eq!(wide.shape(), [2, 3]);
    assert_eq!((table.shape(), wide.buffer().unwrap()), (&[6][..], &own));
    let plan = Gather::new().axis(1).plan(wide.shape(), &[1]).unwrap();
    let gathered = gpu.gather(&plan, &wide, &[2]).wait();
    assert_eq!(gathered, Ok(vec![[7, 8, 9], [16, 17, 18]]));

    let short = Tensor::<u32>::from_buffer(gpu, own.clone(), &[6]).unwrap_err();
    let text = "tensor range must have at least 24 bytes, found 22";
    assert_eq!(short.to_string(), text);
    let counted = Tensor::<u64>::from_buffer(gpu, own.clone(), &[usize::MAX]);
    assert!(matches!(
        counted,
        Err(GpuError::Gather(GatherError::TooManyBytes { .. }))
    ));
    // More elements than a number counts.
    let uncounted = Tensor::<u8>::from_buffer(gpu, own.clone(), &[1 << 32, 1 << 32]);
    let text = "tensor must have at most 9223372036854775807 elements, found shape [4294967296,4294967296]";
    assert_eq!(uncounted.unwrap_err().to_string(), text);
    let empty = Tensor::<u64>::from_buffer(gpu, own, &[usize::MAX, 0, 2]).unwrap();
    assert_eq!(empty.download_blocking(), Ok(vec![]));
    let without = Tensor::<u32>::from_buffer(gpu, buffer(16, wgpu::BufferUsages::STORAGE), &[4]);
    assert!(matches!(
        without,
        Err(GpuError::Gather(GatherError::MissingUsage { .. }))
    ));
    let no_bytes = Tensor::<()>::from_buffer(gpu, buffer(16, usage), &[4]);
    assert_eq!(no_bytes.unwrap_err(), GatherError::ZeroSizedElement.into());
}

/// Slices with more 16- or 4-byte units than the turns that llvmpipe allows a loop.
fn long_slices(gpu: &'static Gpu) {
    for slice_len in [1 << 18, (1 << 18) + 2, (1 << 18) + 1] {
        let plan = Gather::new().bad_indices(BadIndices::Fill);
        let plan = plan.plan(&[3, slice_len], &[4]).unwrap();
        let params: Vec<u32> = (1..).take(3 * slice_len).collect();
        let table = gpu.upload(&params, plan.params_shape()).unwrap();
        let expected = plan.gather(&params, &[2, 3, 0, 2]);
        let output = gpu.gather(&plan, &table, &[2, 3, 0, 2]).wait();
        assert!(output.unwrap() == expected.unwrap(), "{slice_len}");
    }
}

fn random_shapes(gpu: &'static Gpu) {
    random_shapes::check_random_samples(200, |sample| {
        sample.check(&Cpu);
        sample.check(&blocking(gpu));
    });
}

/// On a device of its own, which no other trial polls.
fn bare_executor(_: &'static Gpu) {
    let gpu = open_gpu().unwrap();
    let plan = Gather::new().bad_indices(BadIndices::Error);
    let plan = plan.plan(&[3], &[2]).unwrap();
    let table = flat(&gpu, &[10, 20, 30]);
    assert_eq!(
        block_on(gpu.gather(&plan, &table, &[2, 0])),
        Ok(vec![30, 10])
    );
    let error = block_on(gpu.gather(&plan, &table, &[0, 3])).unwrap_err();
    assert_eq!(error.to_string(), "indices[1] = 3 is not in [0, 3)");

    let empty = Gather::new().plan(&[3], &[0]).unwrap();
    assert_eq!(
        block_on(gpu.gather(&empty, &table, &[0_i32; 0])),
        Ok(vec![])
    );
    {
        let mut dropped = gpu.gather(&plan, &table, &[2, 0]).into_future();
        let _ = dropped
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
    }
    let executor = gpu.executor();
    let output = block_on(executor.gather(&plan, &table, &[1, 1]));
    assert_eq!(output, Ok(vec![20, 20]));
}

/// Blocks on a future and parks until woken, without polling a device. The future may run on any thread.
pub(crate) fn block_on<F: IntoFuture<IntoFuture: Send>>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future.into_future());
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
