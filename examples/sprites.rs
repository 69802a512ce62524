//! An app paints sprites, frame by frame. Its first pass keeps the sprites in view and counts them, a prepared gather looks up how
//! each one looks, and its second pass paints them. One encoder records it all.
//!
//! Only the GPU knows how many sprites are in view: the gather reads the number as its index count, and the last pass as its
//! workgroups. All operands are ranges of one buffer, the app's arena.
//!
//! ```sh
//! cargo run --release --example sprites
//! ```

mod common;

use std::error::Error;
use std::sync::mpsc;

use wgpu_gather::{Buffers, ElementTypes, Gather, Gatherer, Prepared, Ranges, wgpu};

/// Where each sprite is in a row of pixels, which look it has, and the looks: a letter and a width.
const PLACES: [u32; 6] = [2, 60, 17, 40, 30, 9];
const LOOK_OF: [u32; 6] = [2, 0, 1, 2, 0, 1];
const LOOKS: [[u32; 2]; 3] = [[b'a' as u32, 1], [b'b' as u32, 4], [b'c' as u32, 7]];
/// How many pixels are in view.
const VIEW: usize = 32;

const SHADER: &str = "
const VIEW: u32 = 32u;

@group(0) @binding(0) var<storage, read_write> camera: u32;
@group(0) @binding(1) var<storage, read_write> places: array<u32>;
@group(0) @binding(2) var<storage, read_write> look_of: array<u32>;
@group(0) @binding(3) var<storage, read_write> places_in_view: array<u32>;
@group(0) @binding(4) var<storage, read_write> looks_in_view: array<u32>;
@group(0) @binding(5) var<storage, read_write> looks_found: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> picture: array<u32>;
// How many sprites are in view. With two ones after it, it is a grid of workgroups.
@group(0) @binding(7) var<storage, read_write> count: array<u32, 3>;

// One invocation, so that the sprites stay in order.
@compute @workgroup_size(1)
fn keep_what_is_in_view() {
    count = array<u32, 3>(0u, 1u, 1u);
    for (var sprite = 0u; sprite < arrayLength(&places); sprite++) {
        let place = places[sprite] - camera;
        if place < VIEW {
            places_in_view[count[0]] = place;
            looks_in_view[count[0]] = look_of[sprite];
            count[0]++;
        }
    }
}

// A workgroup for each sprite in view.
@compute @workgroup_size(8)
fn paint(@builtin(workgroup_id) sprite: vec3<u32>, @builtin(local_invocation_index) pixel: u32) {
    let look = looks_found[sprite.x];
    let at = places_in_view[sprite.x] + pixel;
    if pixel < look.y && at < VIEW {
        picture[at] = look.x;
    }
}
";

/// The arrays in the arena, in order. An array's number is also its binding.
#[derive(Clone, Copy)]
enum Array {
    Camera,
    Places,
    LookOf,
    PlacesInView,
    LooksInView,
    LooksFound,
    Picture,
    Looks,
}

const ARRAY_BYTES: [usize; 8] = [
    4,
    size_of_val(&PLACES),
    size_of_val(&LOOK_OF),
    size_of_val(&PLACES),
    size_of_val(&LOOK_OF),
    size_of::<[u32; 2]>() * LOOK_OF.len(),
    size_of::<u32>() * VIEW,
    size_of_val(&LOOKS),
];

fn main() -> Result<(), Box<dyn Error>> {
    let instance =
        wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapter = wgpu::util::initialize_adapter_from_env_or_default(&instance, None);
    let adapter = match pollster::block_on(adapter) {
        Ok(adapter) => adapter,
        Err(error) => return common::without_gpu(error),
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_features: adapter.features() & wgpu::Features::TIMESTAMP_QUERY,
        ..Default::default()
    }))?;

    let app = App::new(&device, &queue)?;
    for camera in [0_u32, 12, 36] {
        let place = app.range(Array::Camera).offset();
        queue.write_buffer(&app.arena, place, bytemuck::bytes_of(&camera));
        let mut encoder = device.create_command_encoder(&Default::default());
        app.frame(&mut encoder);
        queue.submit([encoder.finish()]);

        let picture: Vec<u32> = read(&device, &queue, app.range(Array::Picture))?;
        let letters = picture.into_iter().map(|pixel| match pixel {
            0 => '.',
            letter => char::from_u32(letter).unwrap_or('?'),
        });
        println!("from {camera:2}: {}", letters.collect::<String>());
        if let Some(clock) = &app.clock {
            let ticks: Vec<u64> = read(&device, &queue, clock.ticks.slice(..))?;
            let nanoseconds =
                ticks[1].saturating_sub(ticks[0]) as f32 * queue.get_timestamp_period();
            // The time goes to stderr, as it differs from run to run.
            eprintln!("the gather took {:.1} us", nanoseconds * 1e-3);
        }
    }
    Ok(())
}

/// What the app makes once. A frame only records.
struct App {
    arena: wgpu::Buffer,
    /// How many bytes apart arrays are: bindings start at multiples of it.
    step: u64,
    count: wgpu::Buffer,
    keep_what_is_in_view: Pass,
    find_looks: Prepared,
    paint: Pass,
    clock: Option<Clock>,
}

impl App {
    fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Self, Box<dyn Error>> {
        let step = u64::from(device.limits().min_storage_buffer_offset_alignment).max(256);
        let buffer = |label, size, usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage: wgpu::BufferUsages::STORAGE | usage,
                mapped_at_creation: false,
            })
        };
        let copies = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let arena = buffer("arena", step * ARRAY_BYTES.len() as u64, copies);
        // wgpu reads no grid from a buffer that the same dispatch writes, so the count is not in the arena.
        let count = buffer("count", 12, wgpu::BufferUsages::INDIRECT);
        let range = |array| range_of(&arena, step, array);
        for (array, bytes) in [
            (Array::Places, bytemuck::bytes_of(&PLACES)),
            (Array::LookOf, bytemuck::bytes_of(&LOOK_OF)),
            (Array::Looks, bytemuck::bytes_of(&LOOKS)),
        ] {
            queue.write_buffer(&arena, range(array).offset(), bytes);
        }

        // The plan has the largest number of index rows, one for each sprite. The count says how many a frame has.
        let plan = Gather::new().plan(&[LOOKS.len(), 2], &[LOOK_OF.len()])?;
        let buffers = Buffers::gather(
            ElementTypes::of::<u32, u32>(),
            Ranges {
                params: range(Array::Looks),
                indices: range(Array::LooksInView),
                output: range(Array::LooksFound),
            },
        )
        .index_count(count.slice(..4));
        let find_looks = Gatherer::new(device).prepare(&plan, &buffers)?;

        let shader = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("sprites"),
            source: wgpu::ShaderSource::Wgsl(SHADER.into()),
        });
        let pass = |entry_point, arrays: &[Array], count: Option<&wgpu::Buffer>| {
            let arrays = arrays.iter().map(|&array| (array as u32, range(array)));
            let count = count.map(|count| (7, count.slice(..)));
            Pass::new(device, &shader, entry_point, arrays.chain(count))
        };
        let kept = [
            Array::Camera,
            Array::Places,
            Array::LookOf,
            Array::PlacesInView,
            Array::LooksInView,
        ];
        let painted = [Array::PlacesInView, Array::LooksFound, Array::Picture];
        let has_clock = device.features().contains(wgpu::Features::TIMESTAMP_QUERY);
        Ok(Self {
            keep_what_is_in_view: pass("keep_what_is_in_view", &kept, Some(&count)),
            find_looks,
            paint: pass("paint", &painted, None),
            clock: has_clock.then(|| Clock::new(device)),
            count,
            step,
            arena,
        })
    }

    fn range(&self, array: Array) -> wgpu::BufferSlice<'_> {
        range_of(&self.arena, self.step, array)
    }

    fn frame(&self, encoder: &mut wgpu::CommandEncoder) {
        let picture = self.range(Array::Picture);
        encoder.clear_buffer(&self.arena, picture.offset(), Some(picture.size()));

        let mut pass = encoder.begin_compute_pass(&Default::default());
        self.keep_what_is_in_view.set(&mut pass);
        pass.dispatch_workgroups(1, 1, 1);
        drop(pass);

        let clock = self.clock.as_ref();
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("find looks"),
            timestamp_writes: clock.map(|clock| wgpu::ComputePassTimestampWrites {
                query_set: &clock.queries,
                beginning_of_pass_write_index: Some(0),
                end_of_pass_write_index: Some(1),
            }),
        });
        self.find_looks.encode_in_pass(&mut pass);
        drop(pass);

        let mut pass = encoder.begin_compute_pass(&Default::default());
        self.paint.set(&mut pass);
        pass.dispatch_workgroups_indirect(&self.count, 0);
        drop(pass);

        if let Some(clock) = clock {
            encoder.resolve_query_set(&clock.queries, 0..2, &clock.ticks, 0);
        }
    }
}

fn range_of(arena: &wgpu::Buffer, step: u64, array: Array) -> wgpu::BufferSlice<'_> {
    let start = array as u64 * step;
    arena.slice(start..start + ARRAY_BYTES[array as usize] as u64)
}

/// One of the app's pipelines, and the ranges that it binds.
struct Pass {
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
}

impl Pass {
    fn new<'a>(
        device: &wgpu::Device,
        shader: &wgpu::ShaderModule,
        entry_point: &str,
        ranges: impl Iterator<Item = (u32, wgpu::BufferSlice<'a>)>,
    ) -> Self {
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(entry_point),
            layout: None,
            module: shader,
            entry_point: Some(entry_point),
            compilation_options: Default::default(),
            cache: None,
        });
        let entry = |(binding, range): (u32, wgpu::BufferSlice<'a>)| wgpu::BindGroupEntry {
            binding,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: range.buffer(),
                offset: range.offset(),
                size: wgpu::BufferSize::new(range.size()),
            }),
        };
        let bind_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(entry_point),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &ranges.map(entry).collect::<Vec<_>>(),
        });
        Self {
            pipeline,
            bind_group,
        }
    }

    fn set(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bind_group, &[]);
    }
}

/// Timestamps at both ends of the gather's pass.
struct Clock {
    queries: wgpu::QuerySet,
    ticks: wgpu::Buffer,
}

impl Clock {
    fn new(device: &wgpu::Device) -> Self {
        Self {
            queries: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("clock"),
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            }),
            ticks: device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("ticks"),
                size: 2 * u64::from(wgpu::QUERY_SIZE),
                usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            }),
        }
    }
}

/// Reads a range after all submitted work.
fn read<T: bytemuck::Pod>(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    range: wgpu::BufferSlice<'_>,
) -> Result<Vec<T>, Box<dyn Error>> {
    let (sender, receiver) = mpsc::channel();
    wgpu::util::DownloadBuffer::read_buffer(device, queue, &range, move |bytes| {
        let _ = sender.send(bytes);
    });
    device.poll(wgpu::PollType::wait_indefinitely())?;
    let bytes = receiver.recv()??;
    Ok(bytemuck::pod_collect_to_vec(&bytes[..]))
}
