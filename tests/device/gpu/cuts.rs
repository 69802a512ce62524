//! Gathers that one dispatch cannot bind: on devices with tiny limits, with operands above the adapter's binding limit, and from
//! params in several buffers.

use libtest_mimic::Trial;
use wgpu_gather::{
    BadIndices, BadRows, ElementTypes, Gather, GatherElements, GatherNd, GatherPlan, GpuError,
    IndexKind, wgpu,
};

use crate::batch::{self, REPORT_BYTES, Recording, check_report, read_back};
use crate::into_buffers::{encoded, filled, index_values, table, unchecked, widths};
use crate::{flat, trial};
use testkit::device::{self, blocking};
use testkit::gpu::{Gpu, buffers_of_shards, range};
use testkit::indices::Hash;
use testkit::oracle::Case;
use testkit::samples::Sample;
use testkit::{small_shapes, sweep};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("small_bindings_cut_the_table", |gpu| {
            small_bindings(gpu, table());
        }),
        trial("small_bindings_cut_index_values", |gpu| {
            small_bindings(gpu, index_values());
        }),
        trial("small_bindings_cut_elements_of_every_width", |gpu| {
            small_bindings(gpu, widths());
        }),
        trial("small_bindings_cut_rows_with_gaps", |_| {
            let gpu = small_device(1 << 26);
            batch::check(
                &gpu,
                &unchecked(&gpu),
                Recording::Gaps,
                table().chain(widths()),
            );
        }),
        trial("small_bindings_cut_encoded_rows", |gpu| {
            small_bindings(gpu, encoded());
        }),
        trial("small_bindings_hold_the_fill", |gpu| {
            small_bindings(gpu, filled());
        }),
        trial("small_bindings_cut_small_shapes", small_shapes),
        trial("params_in_shards_are_one_table", shards),
        trial("params_of_300_mib_are_gathered", large_params),
        trial("output_and_indices_of_300_mib_are_gathered", large_output),
        trial("index_rows_of_300_mib_are_gathered", large_indices),
        trial("rows_beyond_32_bits_are_gathered", wide_params)
            .with_ignored_flag(std::env::var_os("GATHER_LARGE").is_none()),
    ]
}

/// A device with at most 2 workgroups a dimension, 1 KiB bindings, and buffers of `buffer_bytes`.
pub(crate) fn small_device(buffer_bytes: u64) -> Gpu {
    limited_device(|limits| wgpu::Limits {
        max_storage_buffer_binding_size: 1024,
        max_buffer_size: buffer_bytes,
        max_uniform_buffer_binding_size: 1024,
        max_compute_workgroups_per_dimension: 2,
        ..limits
    })
}

/// A device on the trials' adapter; `limits` makes its limits from the adapter's.
pub(crate) fn limited_device(limits: impl FnOnce(wgpu::Limits) -> wgpu::Limits) -> Gpu {
    let instance = wgpu::Instance::new(device::descriptor());
    let adapter = wgpu::util::initialize_adapter_from_env_or_default(&instance, None);
    let adapter = pollster::block_on(adapter).unwrap();
    let device = adapter.request_device(&wgpu::DeviceDescriptor {
        required_limits: limits(adapter.limits()),
        ..Default::default()
    });
    let (device, queue) = pollster::block_on(device).unwrap();
    Gpu::from_parts(device, queue)
}

fn small_bindings(_: &'static Gpu, samples: impl Iterator<Item = Sample>) {
    let gpu = small_device(1 << 26);
    batch::check(&gpu, &unchecked(&gpu), Recording::Encoder, samples);
}

/// The step through the CPU's sweep: a prime, so that no attribute is left out.
const SWEEP_STRIDE: usize = 8009;

fn small_shapes(gpu: &'static Gpu) {
    let params_shapes = small_shapes::params_shapes();
    let shapes = params_shapes
        .iter()
        .flat_map(|shape| small_shapes::small_shapes(shape));
    let planned = shapes.step_by(SWEEP_STRIDE).filter(Case::check_plan);
    let samples = planned.flat_map(|case| small_shapes::samples_of(case, &[BadIndices::Error]));
    let samples: Vec<Sample> = samples.collect();
    small_bindings(gpu, samples.iter().cloned());

    // Also in buffers of 4 KiB.
    let gpu = small_device(SMALL_BUFFER_BYTES as u64);
    let fitting = samples.iter().filter(|sample| fits_small_buffers(sample));
    let checked = sweep::some(0, 5, 0, fitting).map(|sample| sample.check(&blocking(&gpu)));
    assert!(checked.count() > 25);
}

const SMALL_BUFFER_BYTES: usize = 4096;

fn fits_small_buffers(sample: &Sample) -> bool {
    let operands = [&sample.params, &sample.indices, &sample.output];
    let mut lens = operands.into_iter().map(Vec::len);
    lens.all(|len| len <= SMALL_BUFFER_BYTES)
}

/// Cuts params at arbitrary rows, with an empty shard among them.
fn shards(gpu: &'static Gpu) {
    let small = small_device(1 << 20);
    let devices = [gpu, &small];
    let samples = widths().chain(table()).chain(encoded());
    for (number, sample) in sweep::some(0, 61, 0, samples).enumerate() {
        check_shards(devices[number % 2], &sample, &mut Hash::new(number as u64));
    }
}

pub(crate) fn check_shards(gpu: &Gpu, sample: &Sample, hash: &mut Hash) {
    let case = &sample.case;
    let rows = case.op.params_rows(&case.params_shape, &case.indices_shape);
    let slice_bytes = sample.params.len().checked_div(rows).unwrap_or(0);
    let (a, b) = (hash.below(rows + 1), hash.below(rows + 1));
    let cuts = [0, a.min(b), a.min(b), a.max(b), rows];
    let tables: Vec<_> = cuts
        .windows(2)
        .map(|cut| {
            flat(
                gpu,
                &sample.params[cut[0] * slice_bytes..cut[1] * slice_bytes],
            )
        })
        .collect();
    let shards: Vec<_> = tables
        .iter()
        .zip(cuts.windows(2))
        .map(|(table, cut)| (cut[1] - cut[0], range(table)))
        .collect();
    let indices = flat(gpu, &sample.indices);
    let output = flat(gpu, vec![9_u8; sample.output.len()]);
    let report = flat(gpu, &[9_u8; REPORT_BYTES]);
    let mut buffers = buffers_of_shards(sample.types(), &shards, [range(&indices), range(&output)])
        .report(range(&report));
    let qparams = sample.qparams.each_ref().map(|bytes| flat(gpu, bytes));
    let [scales, zero_points] = &qparams;
    if !sample.qparams[0].is_empty() {
        buffers = buffers.scales(range(scales));
    }
    if !sample.qparams[1].is_empty() {
        buffers = buffers.zero_points(range(zero_points));
    }
    if !sample.fill.is_empty() {
        buffers = buffers.fill(&sample.fill);
    }
    gpu.submit_gather(&sample.plan, &buffers);
    let [output, report] = read_back(gpu, [output.buffer().unwrap(), report.buffer().unwrap()]);
    assert_eq!(
        output[..sample.output.len()],
        sample.output,
        "{cuts:?} of {sample}"
    );
    check_report(sample, &report);
}

const MIB: usize = 1 << 20;

/// Compares with the CPU, once with valid indices and once with two bad ones, the first at seven eighths.
pub(crate) fn check_large<T, I>(
    gpu: &Gpu,
    plan: &GatherPlan,
    params: &[T],
    indices: &mut [I],
    bad: I,
) where
    T: wgpu_gather::Element + Default + PartialEq + std::fmt::Debug,
    I: wgpu_gather::Index,
{
    let table = gpu.upload(params, plan.params_shape()).unwrap();
    let same = |indices: &[I]| {
        let found = gpu.gather(plan, &table, indices).wait();
        let expected = plan.gather(params, indices).map_err(GpuError::Run);
        // Too long to print.
        assert!(found == expected, "{plan}");
        found.is_ok()
    };
    assert!(same(indices));
    let late = indices.len() / 8 * 7;
    indices[late] = bad;
    indices[late + indices.len() / 16] = bad;
    assert!(!same(indices));
}

fn large_params(gpu: &'static Gpu) {
    let params: Vec<u32> = (0..75 << 20).collect();
    for slice_len in [16, 1] {
        let rows = params.len() / slice_len;
        let plan = GatherNd::new().bad_indices(BadIndices::Error);
        let plan = plan.plan(&[rows, slice_len], &[100_000, 1]).unwrap();
        let mut hash = Hash::new(rows as u64);
        let mut indices: Vec<i32> = (0..100_000)
            .map(|_| i32::try_from(hash.below(rows)).unwrap())
            .collect();
        check_large(gpu, &plan, &params, &mut indices, -1);
    }
}

fn large_output(gpu: &'static Gpu) {
    let params: Vec<f32> = (0_u16..16_000).map(f32::from).collect();
    for slice_len in sweep::some(1, 2, 0, [1, 16]) {
        let (rows, count) = (params.len() / slice_len, 75 * MIB / slice_len);
        let plan = Gather::new().bad_indices(BadIndices::Error);
        let plan = plan.plan(&[rows, slice_len], &[count]).unwrap();
        let mut hash = Hash::new(count as u64);
        let mut indices: Vec<u32> = (0..count)
            .map(|_| u32::try_from(hash.below(rows)).unwrap())
            .collect();
        check_large(gpu, &plan, &params, &mut indices, u32::MAX);
    }
}

fn large_indices(gpu: &'static Gpu) {
    let params: Vec<u8> = (0..=255).cycle().take(3 * 5 * 7).collect();
    let count = 300 * MIB / (2 * 8);
    let plan = GatherNd::new().bad_indices(BadIndices::Error);
    let plan = plan.plan(&[15, 7], &[count, 2]).unwrap();
    let mut indices: Vec<i64> = (0..)
        .take(2 * count)
        .map(|place| place * 7919 % 7)
        .collect();
    check_large(gpu, &plan, &params, &mut indices, 1 << 32);
}

/// 5 GiB of params, which many machines cannot hold: runs with `GATHER_LARGE` only.
fn wide_params(gpu: &'static Gpu) {
    const SHARD_ROWS: u64 = 5 << 28;
    let buffers = [(); 4].map(|()| {
        gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: SHARD_ROWS,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    });
    let rows = 4 * SHARD_ROWS;
    let two_to_32 = 1_u64 << 32;
    let marked = [0, 7, two_to_32 - 1, two_to_32, two_to_32 + 7, rows - 1];
    for (row, mark) in marked.into_iter().zip(1_u8..) {
        let (shard, at) = (usize::try_from(row / SHARD_ROWS).unwrap(), row % SHARD_ROWS);
        let word = at / 4 * 4;
        let mut bytes = [0; 4];
        bytes[usize::try_from(at - word).unwrap()] = mark;
        gpu.queue().write_buffer(&buffers[shard], word, &bytes);
    }
    let row_count = usize::try_from(rows).unwrap();
    let shards = buffers
        .each_ref()
        .map(|buffer| (row_count / 4, buffer.slice(..)));

    // Rows as an index into one dim, and as indices into dims of 5, 2^20 and 2^10.
    let inner = [1_u64 << 20, 1 << 10];
    let one = marked.to_vec();
    let three = marked
        .iter()
        .flat_map(|row| [row >> 30, row >> 10 & (inner[0] - 1), row & (inner[1] - 1)]);
    let three = three.collect::<Vec<_>>();
    let three_dims = [5, 1 << 20, 1 << 10];
    let nd = GatherNd::new().bad_indices(BadIndices::Error);
    // Along the last dim, in the first of 2^20 lines in each of 5 planes.
    let elements = GatherElements::new().axis(2).bad_indices(BadIndices::Error);
    let elements = elements.plan(&three_dims, &[5, 1, 2]).unwrap();
    for (plan, indices, expected, bad_row) in [
        (
            nd.plan(&[row_count], &[7, 1]).unwrap(),
            [one, vec![rows]].concat(),
            vec![1, 2, 3, 4, 5, 6, 0],
            6,
        ),
        (
            nd.plan(&three_dims, &[7, 3]).unwrap(),
            [three, vec![rows; 3]].concat(),
            vec![1, 2, 3, 4, 5, 6, 0],
            6,
        ),
        (
            elements,
            vec![0, 7, 0, 7, 0, two_to_32, 0, 7, 0, 7],
            vec![1, 2, 0, 0, 0, 0, 0, 0, 4, 5],
            5,
        ),
    ] {
        let indices = flat(gpu, &indices);
        let output = flat(gpu, vec![9_u8; expected.len()]);
        let report = flat(gpu, &[9_u8; REPORT_BYTES]);
        let buffers = buffers_of_shards(
            ElementTypes::of::<u8, u64>(),
            &shards,
            [range(&indices), range(&output)],
        )
        .report(range(&report));
        gpu.submit_gather(&plan, &buffers);
        let [output, report] = read_back(gpu, [output.buffer().unwrap(), report.buffer().unwrap()]);
        assert_eq!(output[..expected.len()], expected, "{plan}");
        let bad_rows = BadRows::from_report(&plan, IndexKind::U64, &report)
            .unwrap()
            .unwrap();
        assert_eq!((bad_rows.count, bad_rows.first.row), (1, bad_row), "{plan}");
    }
}
