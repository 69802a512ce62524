//! The kernel of naive.wgsl, bound to the operands of a gather.

use testkit::bench::workloads::Workload;
use wgpu_gather::wgpu::util::DeviceExt;
use wgpu_gather::{BadIndices, wgpu};

use super::card::Card;

pub const NAIVE: &str = "naive_unit";

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

pub struct Naive {
    pipeline: wgpu::ComputePipeline,
    sizes: wgpu::Buffer,
    grid: [u32; 2],
}

impl Naive {
    /// The kernel, compiled; `None` if it cannot run: it copies whole words of one buffer, which it binds whole.
    pub fn new(card: &Card, workload: &Workload) -> Option<Self> {
        let plan = workload.plan(BadIndices::Fill);
        let slice_bytes = plan.slice_len() * workload.element.bytes() as u64;
        let output_bytes = plan.output_len() * workload.element.bytes() as u64;
        let most = card.binding_bytes();
        let is_bindable = workload.params_bytes() <= most && output_bytes <= most;
        let is_plain = workload.encoding.is_none() && workload.shards == 1;
        if !is_plain || !is_bindable || !slice_bytes.is_multiple_of(4) {
            return None;
        }
        let (unit, unit_bytes) = match slice_bytes.is_multiple_of(16) {
            true => ("vec4<u32>", 16),
            false => ("u32", 4),
        };
        let source = format!("alias Unit = {unit};\n{}", include_str!("naive.wgsl"));
        let constants = [
            ("index_depth", workload.index_depth() as f64),
            ("index_words", (workload.index.bytes() / 4) as f64),
            ("has_blocks", f64::from(u8::from(workload.blocks() > 1))),
        ];
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
        let init = wgpu::util::BufferInitDescriptor {
            label: Some("sizes"),
            contents: bytemuck::bytes_of(&sizes),
            usage: wgpu::BufferUsages::UNIFORM,
        };
        Some(Self {
            pipeline: card.pipeline(&source, &constants),
            sizes: card.device.create_buffer_init(&init),
            grid: card.grid((output_rows * units).div_ceil(WORKGROUP_SIZE)),
        })
    }

    pub fn bind(&self, card: &Card, operands: [wgpu::BufferSlice<'_>; 3]) -> wgpu::BindGroup {
        let [params, indices, output] = operands;
        let sizes = self.sizes.slice(..);
        card.bind(&self.pipeline, &[sizes, params, indices, output])
    }

    pub fn record(&self, pass: &mut wgpu::ComputePass<'_>, operands: &wgpu::BindGroup) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, operands, &[]);
        pass.dispatch_workgroups(self.grid[0], self.grid[1], 1);
    }
}
