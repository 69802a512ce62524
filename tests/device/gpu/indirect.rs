//! Indirect gathers: a buffer holds the index count when the commands run.

use libtest_mimic::Trial;
use wgpu_gather::{BadIndices, ElementTypes, Gather, GatherPlan, IndexKind, Tensor, wgpu};

use crate::batch::{self, Recording, read_back};
use crate::cuts::small_device;
use crate::into_buffers::unchecked;
use crate::{flat, trial};
use testkit::cases;
use testkit::gpu::{Gpu, buffers_of, range};
use testkit::oracle::Case;
use testkit::samples::{Sample, WIDTHS};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("an_index_count_limits_the_rows", |gpu| {
            batch::check(gpu, gpu.gatherer(), Recording::Counted, samples());
        }),
        trial("an_index_count_limits_the_rows_of_each_chunk", |_| {
            let gpu = small_device(1 << 26);
            batch::check(&gpu, &unchecked(&gpu), Recording::Counted, samples());
        }),
        trial("an_earlier_pass_writes_the_index_count", earlier_pass),
        trial("a_prepared_gather_reads_each_new_index_count", anew),
        trial("indirect_blocks_may_begin_within_a_word", within_words),
    ]
}

fn samples() -> impl Iterator<Item = Sample> {
    let table = cases::table().into_iter().filter(Case::check_plan);
    let table = table.filter(|case| !case.repeats_index_rows());
    let policies = [BadIndices::Fill];
    let of_table =
        table.flat_map(move |case| case.samples(&[1, 4, 16], &[IndexKind::I64], &policies));
    let lengths = cases::slice_lengths().into_iter();
    of_table
        .chain(lengths.flat_map(move |case| case.samples(&WIDTHS, &[IndexKind::I32], &policies)))
}

/// Gathers bytes into an output of ones, with an index count, and returns the output.
fn indirect_bytes(
    gpu: &Gpu,
    plan: &GatherPlan,
    table: &Tensor<u8>,
    indices: &Tensor<u32>,
    count: u32,
) -> Vec<u8> {
    let len = plan.output_shape().iter().product();
    let output = flat(gpu, vec![1_u8; len]);
    let count = flat(gpu, &[count]);
    let buffers = buffers_of(
        ElementTypes::of::<u8, u32>(),
        [range(table), range(indices), range(&output)],
    );
    let buffers = buffers.index_count(range(&count));
    gpu.submit_gather(plan, &buffers);
    let [mut found] = read_back(gpu, [output.buffer().unwrap()]);
    found.truncate(len);
    found
}

fn pipeline(gpu: &Gpu, source: &str) -> wgpu::ComputePipeline {
    let device = gpu.device();
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    })
}

/// The app's pass keeps the even numbers, in any order, and counts them; the gather follows in the same pass.
fn earlier_pass(gpu: &'static Gpu) {
    const COMPACT: &str = "
        @group(0) @binding(0) var<storage, read> numbers: array<u32>;
        @group(0) @binding(1) var<storage, read_write> kept: array<u32>;
        @group(0) @binding(2) var<storage, read_write> count: atomic<u32>;
        @compute @workgroup_size(8)
        fn compact(@builtin(global_invocation_id) at: vec3<u32>) {
            if numbers[at.x] % 2u == 0u { kept[atomicAdd(&count, 1u)] = numbers[at.x]; }
        }";
    let compact = pipeline(gpu, COMPACT);
    let table: Vec<u32> = (0..64).map(|row| row * 10).collect();
    let numbers: Vec<u32> = (0..32).map(|number| number * number % 61).collect();
    let even: Vec<u32> = numbers
        .iter()
        .copied()
        .filter(|number| number % 2 == 0)
        .collect();
    let [table, numbers] = [table, numbers].map(|values| flat(gpu, &values));
    let [kept, output] = [99_u32, 77].map(|value| flat(gpu, &[value; 32]));
    let count = flat(gpu, &[0_u32]);
    let plan = Gather::new().plan(&[64], &[32]).unwrap();
    let buffers = buffers_of(
        ElementTypes::of::<u32, u32>(),
        [range(&table), range(&kept), range(&output)],
    );
    let buffers = buffers.index_count(range(&count));
    let entries = [
        numbers.buffer().unwrap(),
        kept.buffer().unwrap(),
        count.buffer().unwrap(),
    ];
    let entries = [0, 1, 2].map(|binding| wgpu::BindGroupEntry {
        binding,
        resource: entries[binding as usize].as_entire_binding(),
    });
    let bind_group = gpu.device().create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &compact.get_bind_group_layout(0),
        entries: &entries,
    });
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&compact);
    pass.set_bind_group(0, &bind_group, &[]);
    pass.dispatch_workgroups(4, 1, 1);
    let gatherer = gpu.gatherer();
    gatherer
        .prepare(&plan, &buffers)
        .unwrap()
        .encode_in_pass(&mut pass);
    drop(pass);
    gpu.queue().submit([encoder.finish()]);
    let [output] = read_back(gpu, [output.buffer().unwrap()]);
    let output: Vec<u32> = bytemuck::pod_collect_to_vec(&output);
    let (found, rest) = output.split_at(even.len());
    let mut found = found.to_vec();
    let mut expected: Vec<u32> = even.iter().map(|row| row * 10).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert!(rest.iter().all(|&value| value == 77), "{rest:?}");
}

/// A gather is prepared once, and runs with another index count each time.
fn anew(gpu: &'static Gpu) {
    let plan = Gather::new().plan(&[3], &[4]).unwrap();
    let (params, indices) = (flat(gpu, &[5_u32, 6, 7]), flat(gpu, &[2_u32, 1, 0, 2]));
    let (output, count) = (flat(gpu, &[9_u32; 4]), flat(gpu, &[0_u32]));
    let buffers = buffers_of(
        ElementTypes::of::<u32, u32>(),
        [range(&params), range(&indices), range(&output)],
    );
    let buffers = buffers.index_count(range(&count));
    let gather = gpu.gatherer().prepare(&plan, &buffers).unwrap();
    for (rows, expected) in [
        (2_u32, [7_u32, 6, 9, 9]),
        (0, [9; 4]),
        (4, [7, 6, 5, 7]),
        (1, [7, 9, 9, 9]),
    ] {
        let queue = gpu.queue();
        queue.write_buffer(output.buffer().unwrap(), 0, bytemuck::bytes_of(&[9_u32; 4]));
        queue.write_buffer(count.buffer().unwrap(), 0, bytemuck::bytes_of(&rows));
        gpu.submit(|encoder| gather.encode(encoder));
        let [found] = read_back(gpu, [output.buffer().unwrap()]);
        assert_eq!(found, bytemuck::bytes_of(&expected), "{rows} rows");
    }
}

/// Blocks of 257 bytes, which begin at different bytes in a word, with every index count.
fn within_words(gpu: &'static Gpu) {
    const ROWS: usize = 257;
    let plan = Gather::new().axis(1).plan(&[4, 3], &[ROWS]).unwrap();
    let params = [11_u8, 12, 13, 21, 22, 23, 31, 32, 33, 41, 42, 43];
    let indices: Vec<u32> = (0..3_u32).cycle().take(ROWS).collect();
    let (table, indices) = (flat(gpu, &params), flat(gpu, &indices));
    for count in 0..=257_u32 {
        let found = indirect_bytes(gpu, &plan, &table, &indices, count);
        let expected = (0..4).flat_map(|block| {
            (0..ROWS).map(move |row| match row as u64 >= count.into() {
                true => 1,
                false => params[block * 3 + row % 3],
            })
        });
        assert!(found.into_iter().eq(expected), "count {count}");
    }
}
