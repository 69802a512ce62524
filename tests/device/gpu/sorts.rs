//! Runs shaders/sort.wgsl on keys that no small scatter has: up to 32 bits, and counts at each edge of a tile and a scan.

use std::collections::BTreeMap;

use libtest_mimic::Trial;
use naga::TypeInner;
use wgpu_gather::wgpu;

use crate::batch::{read_back, upload};
use crate::trial;
use testkit::gpu::Gpu;
use testkit::indices::Hash;
use testkit::sweep;

const SOURCE: &str = concat!(
    include_str!("../../../shaders/common.wgsl"),
    include_str!("../../../shaders/scan.wgsl"),
    include_str!("../../../shaders/sort.wgsl")
);

/// Pairs in a tile, and counts that a workgroup scans.
const TILE: usize = 4096;
const SCANNED: usize = 2048;
const WIDTH: usize = 16;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("sorts_are_stable", |gpu| {
            check(gpu, sweep::some(100, 101, 0, sets()));
        }),
        // More totals than a workgroup scans in one round.
        trial("sorts_of_many_tiles_are_stable", |gpu| {
            check(gpu, [((2048 + 3) * TILE + 5, 8, 3)]);
        }),
    ]
}

/// Each set's number of pairs, bits in a key, and seed.
fn sets() -> impl Iterator<Item = (usize, u32, u64)> {
    let edges = [
        1,
        2,
        31,
        32,
        33,
        255,
        256,
        257,
        TILE - 1,
        TILE,
        TILE + 1,
        2 * TILE,
        8 * TILE - 1,
        8 * TILE,
        8 * TILE + 1,
    ];
    (0..10_000).map(move |seed| {
        let mut hash = Hash::new(seed);
        let count = match seed {
            0..96 => edges[hash.below(edges.len())],
            _ => {
                let most = [3 * TILE, 600][hash.below(20).min(1)];
                1 + hash.below(most)
            }
        };
        (count, 1 + (seed % 32) as u32, seed)
    })
}

fn check(gpu: &Gpu, sets: impl IntoIterator<Item = (usize, u32, u64)>) {
    let sort = Sort::new(gpu);
    let mut ran = 0;
    for (count, bits, seed) in sets {
        let mut hash = Hash::new(seed ^ 0x5eed);
        // In some sets the keys are of few kinds, so that many are equal.
        let kinds = [1 << bits, 3, 300][hash.below(3)].min(1_usize << bits);
        let spread = (1_u64 << bits) / kinds as u64;
        let mut pairs: Vec<[u32; 2]> = (0..count)
            .map(|number| {
                let key = hash.below(kinds) as u64 * spread;
                [u32::try_from(key).unwrap(), u32::try_from(number).unwrap()]
            })
            .collect();
        let found = sort.run(&pairs, bits.div_ceil(8));
        pairs.sort_by_key(|&[key, _]| key);
        let found: &[[u32; 2]] = bytemuck::cast_slice(&found);
        let (zeros, found) = found.split_at(found.len() - count);
        assert!(zeros.iter().all(|pair| pair == &[0; 2]));
        let differs = found.iter().zip(&pairs).position(|(a, b)| a != b);
        assert!(
            differs.is_none(),
            "{count} pairs of {bits} bits, seed {seed}: {differs:?}"
        );
        ran += 1;
    }
    assert!(ran > 0);
}

struct Sort<'a> {
    gpu: &'a Gpu,
    pipelines: [wgpu::ComputePipeline; 4],
    /// How many words the uniform has, and where the fields of `Order` and `grid_width` are.
    uniform_words: usize,
    fields: BTreeMap<String, usize>,
}

impl<'a> Sort<'a> {
    fn new(gpu: &'a Gpu) -> Self {
        let module = naga::front::wgsl::parse_str(SOURCE).unwrap();
        let members_of = |name: &str| {
            let mut types = module.types.iter();
            let found = types
                .find(|(_, ty)| ty.name.as_deref() == Some(name))
                .unwrap();
            let TypeInner::Struct { members, span } = &found.1.inner else {
                panic!("{name} is a struct");
            };
            let place = |member: &naga::StructMember| {
                (member.name.clone().unwrap(), member.offset as usize / 4)
            };
            (
                members.iter().map(place).collect::<BTreeMap<_, _>>(),
                *span as usize / 4,
            )
        };
        let (uniform, uniform_words) = members_of("GatherUniform");
        let (order, _) = members_of("Order");
        let of_order = order
            .into_iter()
            .map(|(name, at)| (name, uniform["order"] + at));
        let fields = of_order
            .chain([("grid_width".to_owned(), uniform["grid_width"])])
            .collect();
        let shader = gpu
            .device()
            .create_shader_module(wgpu::ShaderModuleDescriptor {
                label: None,
                source: wgpu::ShaderSource::Wgsl(SOURCE.into()),
            });
        let pipelines =
            ["sort_count", "sort_scan", "sort_scan_totals", "sort_move"].map(|entry_point| {
                gpu.device()
                    .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                        label: None,
                        layout: None,
                        module: &shader,
                        entry_point: Some(entry_point),
                        compilation_options: wgpu::PipelineCompilationOptions {
                            zero_initialize_workgroup_memory: false,
                            ..Default::default()
                        },
                        cache: None,
                    })
            });
        Self {
            gpu,
            pipelines,
            uniform_words,
            fields,
        }
    }

    /// The sorted pairs, after zeros that fill the first tile.
    fn run(&self, pairs: &[[u32; 2]], rounds: u32) -> Vec<u8> {
        let device = self.gpu.device();
        let tiles = pairs.len().div_ceil(TILE);
        let counts = 256 * tiles;
        let zeros = vec![[0; 2]; tiles * TILE - pairs.len()];
        let pairs = [&zeros, pairs].concat();
        // Unwritten counts and pairs are not zeros.
        let filled = |words: usize| upload(self.gpu, &vec![0xa5; 4 * words]);
        let counts_buffer = filled(counts + counts.div_ceil(SCANNED));
        let buffers = [
            upload(self.gpu, bytemuck::cast_slice(&pairs)),
            filled(2 * pairs.len()),
        ];
        let mut encoder = device.create_command_encoder(&Default::default());
        for round in 0..rounds {
            let mut words = vec![0_u32; self.uniform_words];
            for (name, value) in [
                ("tiles", tiles),
                ("shift", 8 * round as usize),
                ("grid_width", WIDTH),
            ] {
                words[self.fields[name]] = u32::try_from(value).unwrap();
            }
            let uniform = wgpu::util::DeviceExt::create_buffer_init(
                device,
                &wgpu::util::BufferInitDescriptor {
                    label: None,
                    contents: bytemuck::cast_slice(&words),
                    usage: wgpu::BufferUsages::UNIFORM,
                },
            );
            let from = round as usize % 2;
            let mut pass = encoder.begin_compute_pass(&Default::default());
            for (pipeline, (bindings, workgroups)) in self.pipelines.iter().zip([
                (&[0, 16, 18][..], tiles),
                (&[0, 18], counts.div_ceil(SCANNED)),
                (&[0, 18], 1),
                (&[0, 16, 17, 18], tiles),
            ]) {
                let buffer = |number| match number {
                    0 => &uniform,
                    16 => &buffers[from],
                    17 => &buffers[1 - from],
                    _ => &counts_buffer,
                };
                let entries: Vec<_> = bindings
                    .iter()
                    .map(|&binding| wgpu::BindGroupEntry {
                        binding,
                        resource: buffer(binding).as_entire_binding(),
                    })
                    .collect();
                let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
                    label: None,
                    layout: &pipeline.get_bind_group_layout(0),
                    entries: &entries,
                });
                pass.set_pipeline(pipeline);
                pass.set_bind_group(0, &group, &[]);
                let grid = [workgroups.min(WIDTH), workgroups.div_ceil(WIDTH)];
                let [width, height] = grid.map(|side| u32::try_from(side).unwrap());
                pass.dispatch_workgroups(width, height, 1);
            }
        }
        self.gpu.queue().submit([encoder.finish()]);
        let [found] = read_back(self.gpu, [&buffers[rounds as usize % 2]]);
        found
    }
}
