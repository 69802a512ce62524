//! Gathers through `Gpu`, whose results come back to the host or stay on the GPU.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use bytemuck::Pod;
use libtest_mimic::Trial;
use wgpu_gather::{
    BadIndices, Executor, Gather, GatherError, GatherIndex, GatherNd, Gatherer, Gpu, GpuError,
    GpuOptions, IndexKind, NegativeIndices, Operand, PreparedGather, RunError, Tensor, wgpu,
};

use crate::common::cases;
use crate::common::device::blocking;
use crate::common::elements::check_element_types;
use crate::common::indices::Hash;
use crate::common::oracle::Case;
use crate::common::sizes::run_filled;
use crate::common::sweep;
use crate::common::voices::{Cpu, Job, POLICIES, bytes_of};
use crate::trial;

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
        trial("results_stay_on_the_gpu", to_tables),
        trial("each_gather_of_a_chain_takes_the_last_result", chained),
        trial("an_apps_buffer_is_a_table", tables_of_buffers),
        trial("shards_put_together_are_the_whole", shards),
        trial("slices_of_a_mebibyte_are_whole", long_slices),
        trial("only_bad_rows_hold_the_fill", filled_shards),
        trial("indices_are_clamped_beyond_32_bits", clamped_beyond_32_bits),
        trial(
            "a_table_uploaded_once_is_gathered_from_many_times",
            one_table,
        ),
        trial("wrong_lengths_give_the_errors_of_the_cpu", lengths),
        trial(
            "a_future_completes_without_a_poll_of_the_device",
            bare_executor,
        ),
        trial("a_device_has_all_limits_of_its_adapter", adapter_limits),
    ]
}

const _: () = {
    const fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Gpu>();
    is_send_and_sync::<Gatherer>();
    is_send_and_sync::<PreparedGather>();
    is_send_and_sync::<Tensor<u8>>();
    is_send_and_sync::<Executor>();
};

fn table(gpu: &'static Gpu) {
    for case in cases::table() {
        if case.check_plan() {
            for job in case.jobs(&[1, 4, 16], &[IndexKind::I32, IndexKind::U64], POLICIES) {
                job.check(&blocking(gpu));
            }
        }
    }
}

/// Operands and result stay on the GPU.
fn to_tables(gpu: &'static Gpu) {
    for case in cases::table().into_iter().filter(Case::check_plan) {
        for job in case.jobs(&[1, 16], &[IndexKind::I32, IndexKind::U64], POLICIES) {
            match (job.element_bytes, job.index_kind) {
                (1, IndexKind::I32) => check_to_table::<u8, i32>(gpu, &job),
                (1, _) => check_to_table::<u8, u64>(gpu, &job),
                (_, IndexKind::I32) => check_to_table::<[u64; 2], i32>(gpu, &job),
                _ => check_to_table::<[u64; 2], u64>(gpu, &job),
            }
        }
    }
}

fn check_to_table<T: Pod + Send + Sync, I: Pod + GatherIndex>(gpu: &Gpu, job: &Job) {
    let params: Vec<T> = bytemuck::pod_collect_to_vec(&job.params);
    let indices: Vec<I> = bytemuck::pod_collect_to_vec(&job.indices);
    let (table, indices) = (gpu.upload(&params).unwrap(), gpu.upload(&indices).unwrap());
    let awaited = pollster::block_on(gpu.gather(&job.plan, &table, &indices).on_gpu());
    for gathered in [
        gpu.gather(&job.plan, &table, &indices).on_gpu().wait(),
        awaited,
    ] {
        match (gathered, &job.bad_index) {
            (Err(error), Some(text)) if job.plan.bad_indices() == BadIndices::Error => {
                assert_eq!(error.to_string(), *text, "{job}");
            }
            (gathered, _) => {
                let gathered = gathered.unwrap();
                assert_eq!(gathered.shape(), job.plan.output_shape(), "{job}");
                let output = gathered.download().wait().unwrap();
                assert_eq!(bytes_of(&output), job.output, "{job}");
                assert_eq!(
                    gathered.shape().iter().product::<usize>(),
                    output.len(),
                    "{job}"
                );
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
    let mut indices = gpu.upload(&on_host).unwrap();
    for (elements, shape, axis) in tables {
        let table = gpu.upload(elements).unwrap().with_shape(shape).unwrap();
        let plan = Gather::new().axis(axis).bad_indices(BadIndices::Error);
        let plan = plan.plan(table.shape(), indices.shape()).unwrap();
        indices = gpu.gather(&plan, &table, &indices).on_gpu().wait().unwrap();
        on_host = plan.run(elements, &on_host).unwrap();
        assert_eq!(indices.download().wait().as_ref(), Ok(&on_host));
    }
    assert_eq!(indices.shape(), [2, 3, 4]);
}

/// Tables of an app's buffer, which is longer than the table and not a multiple of 4 bytes long.
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
    let table = Tensor::<[u8; 3]>::from_buffer(gpu, own.clone(), 6).unwrap();
    let downloaded = table.download().wait().unwrap();
    assert_eq!(downloaded.concat(), bytes[..18]);
    let plan = Gather::new().plan(&[6], &[2]).unwrap();
    let gathered = gpu.gather(&plan, &table, &[5, 0]).wait();
    assert_eq!(gathered, Ok(vec![[16, 17, 18], [1, 2, 3]]));
    assert_eq!((table.shape(), table.buffer().unwrap()), (&[6][..], &own));

    // Each handle has its own shape, and both share the buffer.
    let wide = table.clone().with_shape(&[2, 3]).unwrap();
    assert_eq!(wide.shape(), [2, 3]);
    assert_eq!((table.shape(), wide.buffer().unwrap()), (&[6][..], &own));
    let plan = Gather::new().axis(1).plan(wide.shape(), &[1]).unwrap();
    let gathered = gpu.gather(&plan, &wide, &[2]).wait();
    assert_eq!(gathered, Ok(vec![[7, 8, 9], [16, 17, 18]]));

    let short = Tensor::<u32>::from_buffer(gpu, own.clone(), 6).unwrap_err();
    let text = "tensor range must have at least 24 bytes, found 22";
    assert_eq!(short.to_string(), text);
    let counted = Tensor::<u64>::from_buffer(gpu, own, usize::MAX);
    assert!(matches!(
        counted,
        Err(GpuError::Gather(GatherError::TooManyBytes { .. }))
    ));
    let without = Tensor::<u32>::from_buffer(gpu, buffer(16, wgpu::BufferUsages::STORAGE), 4);
    assert!(matches!(
        without,
        Err(GpuError::Gather(GatherError::MissingUsage { .. }))
    ));
    let no_bytes = Tensor::<()>::from_buffer(gpu, buffer(16, usage), 4);
    assert_eq!(no_bytes.unwrap_err(), GatherError::ZeroSizedElement.into());
}

fn shards(gpu: &'static Gpu) {
    let mut hash = Hash::new(2);
    let cases = cases::table().into_iter().chain(cases::slice_lengths());
    let kinds = [IndexKind::I32, IndexKind::I64];
    let jobs =
        (cases.filter(Case::check_plan)).flat_map(|case| case.jobs(&[1, 4], &kinds, POLICIES));
    for job in jobs.step_by(3) {
        job.check_shards(&blocking(gpu), &mut hash);
    }
}

/// A shard gives zeros for a row that another shard holds, and the fill for a bad row.
fn filled_shards(gpu: &'static Gpu) {
    let plan = Gather::new().bad_indices(BadIndices::Fill);
    for (slice_len, count) in [(1, 5), (3, 5), (4, 5), (16, 5), (1, 2000)] {
        let plan = plan.plan(&[4, slice_len], &[count]).unwrap();
        let indices: Vec<i32> = [3, 0, 4, -1, 1].into_iter().cycle().take(count).collect();
        for rows in [0..2, 2..4, 2..2, 0..4] {
            let shard = plan.shard(rows.clone()).unwrap();
            let params: Vec<u64> = (rows.start..rows.end)
                .flat_map(|row| vec![10 + row; slice_len])
                .collect();
            let expected = run_filled(&shard, &params, &indices, u64::MAX - 7).unwrap();
            let table = gpu.upload(&params).unwrap();
            let filled = gpu
                .gather(&shard, &table, &indices)
                .fill(u64::MAX - 7)
                .wait();
            assert_eq!(filled, Ok(expected), "{rows:?} {slice_len}");
        }
    }
    let plan = plan.plan(&[2], &[2]).unwrap();
    let table = gpu.upload(&[[1_u8; 17]; 2]).unwrap();
    let too_long = GatherError::FillTooLong { element_bytes: 17 };
    let filled = gpu.gather(&plan, &table, &[0_u32, 1]).fill([9; 17]).wait();
    assert_eq!(filled, Err(GpuError::Gather(too_long)));
    let filled = pollster::block_on(gpu.gather(&plan, &table, &[0_u32, 1]).fill([9; 17]));
    assert!(filled.is_err());
}

/// Slices with more units of 16 or of 4 bytes than the turns that llvmpipe allows a loop.
fn long_slices(gpu: &'static Gpu) {
    for slice_len in [1 << 18, (1 << 18) + 2, (1 << 18) + 1] {
        let plan = Gather::new().bad_indices(BadIndices::Fill);
        let plan = plan.plan(&[3, slice_len], &[4]).unwrap();
        let params: Vec<u32> = (1..).take(3 * slice_len).collect();
        let table = gpu.upload(&params).unwrap();
        let expected = plan.run(&params, &[2, 3, 0, 2]);
        let output = gpu.gather(&plan, &table, &[2, 3, 0, 2]).wait();
        assert!(output.unwrap() == expected.unwrap(), "{slice_len}");
    }
}

/// Params has more rows than a `u32` counts. A shard holds its first four rows, or its last four.
fn clamped_beyond_32_bits(gpu: &'static Gpu) {
    let rows = 1_u64 << 40;
    for negative_indices in [NegativeIndices::Invalid, NegativeIndices::FromEnd] {
        let plan = Gather::new()
            .bad_indices(BadIndices::Clamp)
            .negative_indices(negative_indices)
            .plan(&[1 << 40, 3], &[7])
            .unwrap();
        let last = i64::try_from(rows).unwrap() - 1;
        let indices = [0, 3, last - 1, last + 1, i64::MAX, -2, i64::MIN];
        for held in [0..4, rows - 4..rows] {
            let shard = plan.shard(held).unwrap();
            let params: Vec<u32> = (1..=12).collect();
            let expected = shard.run(&params, &indices).unwrap();
            let table = gpu.upload(&params).unwrap();
            let clamped = gpu.gather(&shard, &table, &indices).wait();
            assert_eq!(clamped, Ok(expected), "{shard}");
        }
        // Worked out by hand: 1 for each index that selects one of the first four rows after clamping.
        let shard = plan.shard(0..4).unwrap();
        let found = shard.run(&[1_u8; 12], &indices).unwrap();
        let selected: Vec<u8> = found.chunks(3).map(|slice| slice[0]).collect();
        let from_end = negative_indices == NegativeIndices::FromEnd;
        assert_eq!(selected, [1, 1, 0, 0, 0, u8::from(!from_end), 1]);
    }
}

fn random_shapes(gpu: &'static Gpu) {
    sweep::check_random_jobs(200, |job| {
        job.check(&Cpu);
        job.check(&blocking(gpu));
    });
}

fn one_table(gpu: &'static Gpu) {
    let params: Vec<u16> = (0..5 * 7 * 3).collect();
    let table = gpu.upload(&params).unwrap();
    assert_eq!(table.shape(), [105]);
    for row in 0..35_u32 {
        let plan = GatherNd::new().plan(&[5, 7, 3], &[2, 2]).unwrap();
        let indices = [row / 7, row % 7, 0, 0];
        let expected = plan.run(&params, &indices).unwrap();
        assert_eq!(gpu.gather(&plan, &table, &indices).wait(), Ok(expected));
    }
    let plan = Gather::new().axis(-1).plan(&[15, 7], &[3]).unwrap();
    let expected = plan.run(&params, &[6_i64, 0, 3]).unwrap();
    assert_eq!(
        gpu.gather(&plan, &table, &[6_i64, 0, 3]).wait(),
        Ok(expected)
    );
    drop(table.clone());
    assert_eq!(
        gpu.gather(&plan, &table, &[7_i64, 7, 7]).wait(),
        Ok(vec![0; 45])
    );
}

fn lengths(gpu: &'static Gpu) {
    let plan = Gather::new().plan(&[3], &[2]).unwrap();
    let length = |operand, expected, found| {
        Err(GpuError::Run(RunError::Length {
            operand,
            expected: expected..=expected,
            found,
        }))
    };
    let (short, right) = (
        gpu.upload(&[1_u8; 2]).unwrap(),
        gpu.upload(&[1_u8; 3]).unwrap(),
    );
    let result = gpu.gather(&plan, &short, &[0, 0]).wait();
    assert_eq!(result, length(Operand::Params, 3, 2));
    let result = gpu.gather(&plan, &right, &[0, 0, 0]).wait();
    assert_eq!(result, length(Operand::Indices, 2, 3));
    let text = result.unwrap_err().to_string();
    assert_eq!(text, "indices must have 2 elements, found 3");
}

/// On a device of its own, which no other trial polls.
fn bare_executor(_: &'static Gpu) {
    let gpu = pollster::block_on(Gpu::open(&GpuOptions::from_env())).unwrap();
    let plan = Gather::new().bad_indices(BadIndices::Error);
    let plan = plan.plan(&[3], &[2]).unwrap();
    let table = gpu.upload(&[10, 20, 30]).unwrap();
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
    let executor = Executor::Gpu(gpu);
    let output = block_on(executor.gather(&plan, &[10, 20, 30], &[1, 1]));
    assert_eq!(output, Ok(vec![20, 20]));
}

/// Blocks on a future and parks until woken, without a poll of a device. The future may run on any thread.
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

/// The limits must not be WebGPU's defaults, which allow buffers of 256 MiB and bindings of 128 MiB.
fn adapter_limits(_: &'static Gpu) {
    let descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    let instance = wgpu::Instance::new(descriptor);
    let adapter = wgpu::util::initialize_adapter_from_env_or_default(&instance, None);
    let adapter = pollster::block_on(adapter).unwrap();
    let gpu = pollster::block_on(Gpu::open(&GpuOptions {
        adapter: Some(adapter.clone()),
        ..Default::default()
    }))
    .unwrap();
    assert_eq!(gpu.device().limits(), adapter.limits());
    assert_ne!(gpu.device().limits(), wgpu::Limits::default());
}
