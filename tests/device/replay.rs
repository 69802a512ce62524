//! Recording a prepared gather allocates as much as wgpu's own calls for one dispatch do. Recording the numbers of a mask allocates
//! nothing each time.

use allocation_counter::{AllocationInfo, measure};
use testkit::gpu::buffers_of;
use testkit::sizes::dispatches;
use wgpu_gather::{ElementTypes, Gather, Gatherer, Mask, Nonzero, wgpu};

/// How many allocations, and how many bytes.
fn counts(info: &AllocationInfo) -> (u64, u64) {
    (info.count_total, info.bytes_total)
}

fn entry(binding: u32, buffer: &wgpu::Buffer) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry {
        binding,
        resource: buffer.as_entire_binding(),
    }
}

#[test]
fn recording_a_prepared_gather_allocates_as_wgpu() {
    let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    let buffer = |size| {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: wgpu::BufferUsages::STORAGE,
            mapped_at_creation: false,
        })
    };
    let (params, indices, output) = (buffer(6400), buffer(256), buffer(4096));
    let plan = Gather::new().plan(&[100, 16], &[64]).expect("valid shapes");
    let buffers = buffers_of(
        ElementTypes::of::<f32, i32>(),
        [params.slice(..), indices.slice(..), output.slice(..)],
    );
    let prepared = Gatherer::new(&device)
        .prepare(&plan, &buffers)
        .expect("valid operands");
    assert_eq!(dispatches(&prepared), 1);
    let nonzero = Gatherer::new(&device).prepare_nonzero(&Nonzero {
        mask: Mask::bytes(params.slice(..), 1000),
        numbers: output.slice(..),
        count: indices.slice(..),
        fill: None,
    });
    let nonzero = nonzero.expect("valid operands");
    assert_eq!(dispatches(&nonzero), 3);

    // One dispatch of the test's own pipeline, with as many buffers.
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(
            "@group(0) @binding(0) var<uniform> a: vec4<u32>;
             @group(0) @binding(1) var<storage> b: array<u32>;
             @group(0) @binding(2) var<storage> c: array<u32>;
             @group(0) @binding(3) var<storage, read_write> d: array<u32>;
             @compute @workgroup_size(1) fn add() { d[0] = a.x + b[0] + c[0]; }"
                .into(),
        ),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: None,
        compilation_options: Default::default(),
        cache: None,
    });
    let uniform = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 16,
        usage: wgpu::BufferUsages::UNIFORM,
        mapped_at_creation: false,
    });
    let operands = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            entry(0, &uniform),
            entry(1, &params),
            entry(2, &indices),
            entry(3, &output),
        ],
    });

    let raw = |pass: &mut wgpu::ComputePass<'_>| {
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &operands, &[]);
        pass.dispatch_workgroups(1, 1, 1);
    };
    // wgpu reuses memory of earlier encoders from the second round on, so the first round is not compared.
    for round in 0..4 {
        let new_encoder = || device.create_command_encoder(&Default::default());
        let (mut encoder, mut other) = (new_encoder(), new_encoder());
        let by_wgpu = measure(|| {
            raw(
                &mut encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                    label: Some("wgpu-gather/encode"),
                    timestamp_writes: None,
                }),
            );
        });
        let ours = measure(|| prepared.encode(&mut other));
        let mut pass = encoder.begin_compute_pass(&Default::default());
        let mut other_pass = other.begin_compute_pass(&Default::default());
        let thousand_by_wgpu = measure(|| (0..1000).for_each(|_| raw(&mut pass)));
        let thousand = measure(|| (0..1000).for_each(|_| prepared.encode_in_pass(&mut other_pass)));
        drop((pass, other_pass));
        let mut last = new_encoder();
        let mut last_pass = last.begin_compute_pass(&Default::default());
        let of_mask = measure(|| (0..333).for_each(|_| nonzero.encode_in_pass(&mut last_pass)));
        drop(last_pass);
        queue.submit([encoder.finish(), other.finish(), last.finish()]);
        if round > 0 {
            assert!(by_wgpu.count_total > 0 && thousand_by_wgpu.count_total > 0);
            assert_eq!(counts(&ours), counts(&by_wgpu));
            assert_eq!(counts(&thousand), counts(&thousand_by_wgpu));
            // 999 dispatches, of pipelines that alternate: only wgpu's list of commands grows.
            assert!(of_mask.count_total < 20, "{of_mask:?}");
        }
    }
}
