//! The kernels of naive.wgsl, bound to the operands of a gather.

use std::borrow::Cow;

use testkit::bench::workloads::Workload;
use wgpu_gather::wgpu::util::DeviceExt;
use wgpu_gather::{BadIndices, wgpu};

use super::device::{grid, pipeline};

/// The kernels with an invocation for each unit of the output, and for each output row.
pub const NAIVE_UNIT: &str = "naive_unit";
pub const NAIVE_ROW: &str = "naive_row";

const WORKGROUP_SIZE: u64 = 256;

/// `Sizes` of naive.wgsl.
#[repr(C)]
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Sizes {
    output_rows: u32,
    units: u32,
    index_count: u32,
    outer_size: u32,
    dims: [u32; 4],
    row_count: u32,
    element_stride: u32,
    padding: [u32; 2],
}

/// llvmpipe ends a loop after this many rounds.
const SOFTWARE_LOOP_ROUNDS: u64 = 65_535;

/// The buffers of a gather, each bound whole.
#[derive(Clone, Copy)]
pub struct Buffers<'a> {
    pub params: &'a wgpu::Buffer,
    pub indices: &'a wgpu::Buffer,
    pub output: &'a wgpu::Buffer,
    pub element_bytes: u64,
    pub index_bytes: u64,
}

/// One kernel, compiled and bound.
pub struct Naive {
    pipeline: wgpu::ComputePipeline,
    operands: wgpu::BindGroup,
    grid: [u32; 2],
}

impl Naive {
    /// The kernels that can run. Both need slices of whole words, and operands that fit a binding; on a software adapter
    /// naive_row also needs a slice of at most `SOFTWARE_LOOP_ROUNDS` units.
    pub fn all(
        device: &wgpu::Device,
        workload: &Workload,
        buffers: Buffers<'_>,
    ) -> Vec<(&'static str, Self)> {
        let most = device.limits().max_storage_buffer_binding_size;
        let operands = [buffers.params, buffers.indices, buffers.output];
        let is_software = device.adapter_info().device_type == wgpu::DeviceType::Cpu;
        let slice_bytes = workload.plan(BadIndices::Fill).slice_len() * buffers.element_bytes;
        let are_bindable =
            slice_bytes.is_multiple_of(4) && operands.iter().all(|buffer| buffer.size() <= most);
        let units = slice_bytes / unit_bytes(slice_bytes);
        let can_loop = !is_software || units <= SOFTWARE_LOOP_ROUNDS;
        [
            (NAIVE_UNIT, are_bindable),
            (NAIVE_ROW, are_bindable && can_loop),
        ]
        .into_iter()
        .filter(|(_, can_run)| *can_run)
        .map(|(name, _)| (name, Self::new(device, name, workload, buffers)))
        .collect()
    }

    pub fn new(
        device: &wgpu::Device,
        entry_point: &str,
        workload: &Workload,
        buffers: Buffers<'_>,
    ) -> Self {
        let plan = workload.plan(BadIndices::Fill);
        let slice_bytes = plan.slice_len() * buffers.element_bytes;
        let unit_bytes = unit_bytes(slice_bytes);
        let unit = match unit_bytes {
            16 => "vec4<u32>",
            _ => "u32",
        };
        let source = format!("alias Unit = {unit};\n{}", include_str!("../naive.wgsl"));
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(entry_point),
            source: wgpu::ShaderSource::Wgsl(Cow::Owned(source)),
        });
        let has_blocks = workload.blocks() > 1;
        let constants = [
            ("index_depth", workload.index_depth() as f64),
            ("index_words", (buffers.index_bytes / 4) as f64),
            ("has_blocks", f64::from(u8::from(has_blocks))),
        ];
        let pipeline = pipeline(device, &module, entry_point, &constants);

        let size = |size: u64| u32::try_from(size).expect("operands that can be bound");
        let dims = workload.indexed_dims();
        let dim = |k: usize| dims.get(k).map_or(0, |&dim| size(dim as u64));
        let output_rows = plan.output_len() / plan.slice_len();
        let units = slice_bytes / unit_bytes;
        let sizes = Sizes {
            output_rows: size(output_rows),
            units: size(units),
            index_count: size(workload.index_count() as u64),
            outer_size: size(workload.outer_size() as u64),
            dims: [dim(0), dim(1), dim(2), 0],
            row_count: size((workload.params_rows() / workload.blocks()) as u64),
            element_stride: size(workload.element_stride() as u64),
            padding: [0; 2],
        };
        let operands = bind(device, &pipeline, &sizes, buffers);
        let invocations = match entry_point {
            NAIVE_UNIT => output_rows * units,
            _ => output_rows,
        };
        Self {
            pipeline,
            operands,
            grid: grid(device, invocations.div_ceil(WORKGROUP_SIZE)),
        }
    }

    pub fn record(&self, encoder: &mut wgpu::CommandEncoder) {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.operands, &[]);
        pass.dispatch_workgroups(self.grid[0], self.grid[1], 1);
    }
}

fn unit_bytes(slice_bytes: u64) -> u64 {
    if slice_bytes.is_multiple_of(16) {
        16
    } else {
        4
    }
}

fn bind(
    device: &wgpu::Device,
    pipeline: &wgpu::ComputePipeline,
    sizes: &Sizes,
    buffers: Buffers<'_>,
) -> wgpu::BindGroup {
    let uniform = device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
        label: Some("sizes"),
        contents: bytemuck::bytes_of(sizes),
        usage: wgpu::BufferUsages::UNIFORM,
    });
    let operands = [&uniform, buffers.params, buffers.indices, buffers.output];
    let entries: Vec<_> = (0..)
        .zip(operands)
        .map(|(binding, buffer)| wgpu::BindGroupEntry {
            binding,
            resource: buffer.as_entire_binding(),
        })
        .collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    })
}
