//! The kernels in naive.wgsl: bound to a gather's operands, or written as SPIR-V for other GPUs' compilers.

use std::path::Path;

use testkit::bench::workloads::{Op, Workload};
use wgpu_gather::wgpu::util::DeviceExt;
use wgpu_gather::{BadIndices, Encoding, FloatKind, IndexKind, wgpu};

use super::card::Card;

pub const NAIVE: &str = "naive";

const WORKGROUP_SIZE: usize = 256;

/// `Sizes` in naive.wgsl.
#[repr(C)]
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Sizes {
    lanes: u32,
    units: u32,
    index_count: u32,
    outer_size: u32,
    dims: [u32; 4],
    row_count: u32,
    element_stride: u32,
    padding: [u32; 2],
}

/// A workload's kernel in WGSL.
struct Source {
    text: String,
    /// Bytes per unit of a slice; in encoded slices, a value is a unit.
    unit_bytes: usize,
    /// Output bytes per invocation.
    lane_bytes: usize,
}

impl Source {
    /// `None` for encodings that have no kernel here, for halves, and for tables in several buffers.
    fn new(workload: &Workload, policy: BadIndices) -> Option<Self> {
        let slice_bytes = workload.plan(policy).slice_len() * workload.element.bytes();
        let is_one_word = slice_bytes == 4 && workload.blocks() == 1;
        // (unit, its bytes; lane, its bytes; the text that follows)
        let (unit, unit_bytes, lane, lane_bytes, rest) = match workload.encoding {
            _ if workload.shards > 1 || workload.to != FloatKind::F32 => return None,
            Some(Encoding::Q8_0) => ("u32", 4, "f32", 4, include_str!("naive_q8_0.wgsl")),
            Some(Encoding::Q4K) => ("u32", 4, "f32", 4, include_str!("naive_q4_k.wgsl")),
            Some(_) => return None,
            None if is_one_word && workload.index == IndexKind::U8 => {
                ("u32", 4, "vec4<u32>", 16, include_str!("naive_bytes.wgsl"))
            }
            None => match slice_bytes {
                _ if slice_bytes.is_multiple_of(16) => (
                    "vec4<u32>",
                    16,
                    "vec4<u32>",
                    16,
                    include_str!("naive_units.wgsl"),
                ),
                _ if slice_bytes.is_multiple_of(4) => {
                    ("u32", 4, "u32", 4, include_str!("naive_units.wgsl"))
                }
                _ if slice_bytes.is_multiple_of(2) => {
                    ("u32", 2, "u32", 4, include_str!("naive_parts.wgsl"))
                }
                _ => ("u32", 1, "u32", 4, include_str!("naive_parts.wgsl")),
            },
        };
        let has_elements = matches!(workload.op, Op::GatherElements { .. });
        let text = format!(
            "alias Unit = {unit};
alias Lane = {lane};
const UNITS_OF_WORD: u32 = {}u;
const INDEX_DEPTH: u32 = {}u;
const INDEX_WORDS: u32 = {}u;
const HAS_BATCHES: bool = {};
const HAS_OUTER: bool = {};
const HAS_ELEMENTS: bool = {};
const IS_ONE_UNIT: bool = {};
const WRAPS: bool = {};
{}{rest}",
            (4 / unit_bytes).max(1),
            workload.index_depth(),
            workload.index.bytes() / 4,
            workload.batch_dims > 0 || has_elements && workload.blocks() > 1,
            workload.outer_size() > 1,
            workload.element_stride() > 1,
            slice_bytes == unit_bytes,
            policy == BadIndices::Wrap,
            include_str!("naive.wgsl"),
        );
        Some(Self {
            text,
            unit_bytes,
            lane_bytes,
        })
    }

    /// The kernel as SPIR-V, as wgpu writes it if the driver checks buffer accesses.
    fn to_spirv(&self) -> Vec<u32> {
        use naga::back::spv;
        use naga::proc::BoundsCheckPolicy;
        use naga::valid::{Capabilities, ValidationFlags, Validator};

        let module = naga::front::wgsl::parse_str(&self.text).expect("valid WGSL");
        let info = Validator::new(ValidationFlags::all(), Capabilities::all());
        let info = { info }.validate(&module).expect("a valid module");
        let mut options = spv::Options {
            lang_version: (1, 6),
            flags: spv::WriterFlags::empty(),
            ..Default::default()
        };
        options.bounds_check_policies.index = BoundsCheckPolicy::Restrict;
        options.bounds_check_policies.buffer = BoundsCheckPolicy::Unchecked;
        spv::write_vec(&module, &info, &options, None).expect("a translation to SPIR-V")
    }
}

/// Writes each workload's kernel as `main-NAME.spv`, and W3's with indices that wrap as `main-wrap.spv`.
pub fn write_spirv(workloads: &[Workload], folder: &Path) -> Result<(), String> {
    let plain = workloads
        .iter()
        .map(|of| (of, BadIndices::Fill, &of.name[..]));
    let wrapped = workloads.iter().filter(|of| of.name == "W3");
    let wrapped = wrapped.map(|of| (of, BadIndices::Wrap, "wrap"));
    for (workload, policy, name) in plain.chain(wrapped) {
        if let Some(source) = Source::new(workload, policy) {
            let file = folder.join(format!("main-{name}.spv"));
            std::fs::write(&file, bytemuck::cast_slice(&source.to_spirv()))
                .map_err(|error| format!("{}: {error}", file.display()))?;
        }
    }
    Ok(())
}

pub struct Naive {
    pipeline: wgpu::ComputePipeline,
    sizes: wgpu::Buffer,
    grid: [u32; 2],
}

impl Naive {
    /// The compiled kernel; `None` if there is none, or if it cannot bind params or output whole.
    pub fn new(card: &Card, workload: &Workload) -> Option<Self> {
        let plan = workload.plan(BadIndices::Fill);
        let source = Source::new(workload, BadIndices::Fill)?;
        let output_bytes = plan.output_len() * workload.element.bytes();
        let most = card.binding_bytes();
        if workload.params_bytes() > most || output_bytes as u64 > most {
            return None;
        }
        let size = |size: usize| u32::try_from(size).expect("operands that can be bound");
        let dims = workload.indexed_dims();
        let dim = |k: usize| dims.get(k).map_or(0, |&dim| size(dim));
        let lanes = output_bytes.div_ceil(source.lane_bytes);
        let slice_bytes = plan.slice_len() * workload.element.bytes();
        let sizes = Sizes {
            lanes: size(lanes),
            units: size(slice_bytes / source.unit_bytes),
            index_count: size(workload.index_count()),
            outer_size: size(workload.outer_size()),
            dims: [dim(0), dim(1), dim(2), 0],
            row_count: size(workload.params_rows() / workload.blocks()),
            element_stride: size(workload.element_stride()),
            padding: [0; 2],
        };
        let init = wgpu::util::BufferInitDescriptor {
            label: Some("sizes"),
            contents: bytemuck::bytes_of(&sizes),
            usage: wgpu::BufferUsages::UNIFORM,
        };
        Some(Self {
            pipeline: card.pipeline(&source.text, &[]),
            sizes: card.device.create_buffer_init(&init),
            grid: card.grid(lanes.div_ceil(WORKGROUP_SIZE) as u64),
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
