//! Gathers that are prepared once and recorded many times.

use libtest_mimic::Trial;
use wgpu_gather::{
    BadIndices, BadRows, Buffers, ElementTypes, Gather, GatherError, GatherPlan, Gatherer,
    IndexKind, Prepared, Tensor, wgpu,
};

use crate::batch::REPORT_BYTES;
use crate::{flat, trial};
use testkit::device::{self, open_gpu};
use testkit::gpu::{Gpu, buffers_of, range};
use testkit::sizes::dispatches;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_prepared_gather_reads_new_buffer_contents", new_indices),
        trial("recording_a_prepared_gather_makes_no_object", makes_nothing),
        trial("warm_up_makes_all_pipelines", warm_up),
        trial("pipelines_are_made_with_the_cache", pipeline_cache),
    ]
}

/// A gather of 37 rows out of 1,000, with 5 numbers each.
struct Lookup {
    plan: GatherPlan,
    params: Vec<u32>,
    table: Tensor<u32>,
    indices: Tensor<i32>,
    output: Tensor<u32>,
    report: Tensor<u8>,
}

const ROWS: usize = 1000;
const INDICES: usize = 37;

impl Lookup {
    fn new(gpu: &Gpu, bad_indices: BadIndices) -> Self {
        let params: Vec<u32> = (0..5000).collect();
        Self {
            plan: Gather::new()
                .bad_indices(bad_indices)
                .plan(&[ROWS, 5], &[INDICES])
                .unwrap(),
            table: flat(gpu, &params),
            params,
            indices: flat(gpu, &[0; INDICES]),
            output: flat(gpu, &[7; 5 * INDICES]),
            report: flat(gpu, &[9; REPORT_BYTES]),
        }
    }

    fn buffers(&self) -> Buffers<'_> {
        let buffers = buffers_of(
            ElementTypes::of::<u32, i32>(),
            [
                range(&self.table),
                range(&self.indices),
                range(&self.output),
            ],
        );
        match self.plan.bad_indices() {
            BadIndices::Error => buffers.report(range(&self.report)),
            _ => buffers,
        }
    }

    fn write_indices(&self, gpu: &Gpu, indices: &[i32]) {
        let bytes = bytemuck::cast_slice(indices);
        gpu.queue()
            .write_buffer(self.indices.buffer().unwrap(), 0, bytes);
    }

    fn bad_rows(&self, prepared: &Prepared) -> Option<BadRows> {
        let report = self.report.download_blocking().unwrap();
        let bad_rows = prepared.bad_rows(&report);
        let by_parts = BadRows::from_report(&self.plan, IndexKind::I32, &report);
        assert_eq!(bad_rows, by_parts);
        bad_rows.unwrap()
    }
}

fn new_indices(gpu: &'static Gpu) {
    let lookup = Lookup::new(gpu, BadIndices::Error);
    let prepared = gpu
        .gatherer()
        .prepare(&lookup.plan, &lookup.buffers())
        .unwrap();
    for round in 0..5_i32 {
        let indices: Vec<i32> = (0..37).map(|n| (n * 101 + round) % 1000).collect();
        lookup.write_indices(gpu, &indices);
        gpu.submit(|encoder| prepared.encode(encoder));
        let expected = lookup.plan.gather(&lookup.params, &indices).unwrap();
        assert_eq!(lookup.output.download_blocking().unwrap(), expected);
        assert!(lookup.bad_rows(&prepared).is_none());

        // Every index row is bad here; the next gather must not report these rows again.
        lookup.write_indices(gpu, &[1000 + round; INDICES]);
        gpu.submit(|encoder| prepared.encode(encoder));
        let bad_rows = lookup.bad_rows(&prepared).unwrap();
        assert_eq!(bad_rows.count, INDICES);
        let text = format!("indices[0] = {} is not in [0, 1000)", 1000 + round);
        assert_eq!(bad_rows.first.to_string(), text);
        assert_eq!(lookup.output.download_blocking().unwrap(), [0; 5 * INDICES]);
    }
}

/// wgpu's counts of a device's objects.
fn counted(gpu: &Gpu) -> [isize; 8] {
    let hal = gpu.device().get_internal_counters().hal;
    [
        hal.buffers.read(),
        hal.bind_groups.read(),
        hal.bind_group_layouts.read(),
        hal.pipeline_layouts.read(),
        hal.compute_pipelines.read(),
        hal.shader_modules.read(),
        hal.buffer_memory.read(),
        hal.memory_allocations.read(),
    ]
}

/// On a device of its own, where no other trial makes objects.
fn makes_nothing(_: &'static Gpu) {
    let gpu = open_gpu().unwrap();
    for policy in [BadIndices::Fill, BadIndices::Error] {
        let lookup = Lookup::new(&gpu, policy);
        let prepared = gpu
            .gatherer()
            .prepare(&lookup.plan, &lookup.buffers())
            .unwrap();
        let in_pass = |encoder: &mut wgpu::CommandEncoder| {
            prepared.encode_in_pass(&mut encoder.begin_compute_pass(&Default::default()));
        };
        let wait = || {
            gpu.device()
                .poll(wgpu::PollType::wait_indefinitely())
                .unwrap()
        };
        gpu.submit(|encoder| prepared.encode(encoder));
        gpu.submit(in_pass);
        wait();
        let before = counted(&gpu);
        assert!(
            before[0] > 0 && before[1] > 0 && before[4] > 0,
            "{before:?}"
        );
        for _ in 0..100 {
            let mut encoder = gpu.device().create_command_encoder(&Default::default());
            prepared.encode(&mut encoder);
            in_pass(&mut encoder);
            assert_eq!(counted(&gpu), before);
            gpu.queue().submit([encoder.finish()]);
            assert_eq!(counted(&gpu), before);
        }
        wait();
        assert_eq!(counted(&gpu), before);
    }
}

/// For several policies, slice lengths and index counts: after a warm-up, a gather makes no pipeline.
fn warm_up(_: &'static Gpu) {
    let gpu = open_gpu().unwrap();
    for policy in [BadIndices::Fill, BadIndices::Error] {
        for (slice_len, index_count) in [1, 2, 3, 4, 16, 5]
            .into_iter()
            .flat_map(|len| [1031, 64, 5].map(|count| (len, count)))
            .chain([(1, 0)])
        {
            if index_count == 0 && policy == BadIndices::Fill {
                // A gather without output rows and without a report takes no pipeline.
                continue;
            }
            let plan = Gather::new()
                .bad_indices(policy)
                .plan(&[100, slice_len], &[index_count])
                .unwrap();
            let params = flat(&gpu, vec![1_u32; 100 * slice_len]);
            let made = || {
                gpu.device()
                    .get_internal_counters()
                    .hal
                    .compute_pipelines
                    .read()
            };
            let before = made();
            let gatherer = Gatherer::new(gpu.device());
            gatherer
                .warm_up(&plan, ElementTypes::new(4, IndexKind::I64))
                .unwrap();
            let warm = made();
            assert!(warm > before, "{policy:?} {slice_len} {index_count}");
            let indices = flat(&gpu, vec![0_i64; index_count]);
            let output = flat(&gpu, vec![0_u32; index_count * slice_len]);
            let report = flat(&gpu, &[0_u8; REPORT_BYTES]);
            let mut buffers = buffers_of(
                ElementTypes::of::<u32, i64>(),
                [range(&params), range(&indices), range(&output)],
            );
            if policy == BadIndices::Error {
                buffers = buffers.report(range(&report));
            }
            let prepared = gatherer.prepare(&plan, &buffers).unwrap();
            assert_eq!(made(), warm, "{policy:?} {slice_len} {index_count}");
            assert!(dispatches(&prepared) > 0);
        }
    }
}

/// A gatherer refuses another device's cache, so it makes pipelines with its cache. A cache's contents prove nothing: lavapipe
/// stores nothing in it.
fn pipeline_cache(_: &'static Gpu) {
    let instance = wgpu::Instance::new(device::descriptor());
    let adapter = wgpu::util::initialize_adapter_from_env_or_default(&instance, None);
    let adapter = pollster::block_on(adapter).unwrap();
    if !adapter.features().contains(wgpu::Features::PIPELINE_CACHE) {
        // wgpu has pipeline caches on Vulkan only.
        assert_ne!(adapter.get_info().backend, wgpu::Backend::Vulkan);
        return;
    }
    let device = || {
        let device = adapter.request_device(&wgpu::DeviceDescriptor {
            required_features: wgpu::Features::PIPELINE_CACHE,
            ..Default::default()
        });
        let (device, queue) = pollster::block_on(device).unwrap();
        let descriptor = wgpu::PipelineCacheDescriptor {
            label: None,
            data: None,
            fallback: true,
        };
        #[expect(
            unsafe_code,
            reason = "wgpu asks that data be a cache's, and there is none"
        )]
        // SAFETY: there is no data.
        let cache = unsafe { device.create_pipeline_cache(&descriptor) };
        (Gpu::from_parts(device, queue), cache)
    };
    let ((gpu, cache), (_, others)) = (device(), device());
    let lookup = Lookup::new(&gpu, BadIndices::Fill);
    let prepare = |cache| {
        Gatherer::new(gpu.device())
            .with_pipeline_cache(cache)
            .prepare(&lookup.plan, &lookup.buffers())
    };
    gpu.submit(|encoder| prepare(cache).unwrap().encode(encoder));
    assert_eq!(
        lookup.output.download_blocking().unwrap(),
        lookup.plan.gather(&lookup.params, &[0; INDICES]).unwrap()
    );
    let refused = prepare(others);
    assert!(
        matches!(refused, Err(GatherError::Rejected(_))),
        "{refused:?}"
    );
}
