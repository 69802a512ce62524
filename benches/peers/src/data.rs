//! A workload's operands. Indices are as in `benches/gather`; params are finite numbers.

use std::sync::Mutex;

use half::f16;
use testkit::bench::workloads::{Element, Op, Workload};
use wgpu_gather::{BadIndices, GatherPlan, IndexKind};

/// A workload's output, as u64s so that it is aligned for any element.
pub type Output = Vec<u64>;

/// Makes a finite float from any bits: a library that moves floats as floats need not keep a NaN's bits.
fn finite_f32(bits: u32) -> f32 {
    f32::from_bits(bits & !(1 << 30) | 1 << 29)
}

fn finite_f16(bits: u32) -> f16 {
    let [low, high, ..] = bits.to_le_bytes();
    f16::from_bits(u16::from_le_bytes([low, high]) & !(1 << 14) | 1 << 13)
}

/// A workload with its operands.
pub struct Data {
    pub workload: Workload,
    pub plan: GatherPlan,
    pub params: Params,
    pub indices: Indices,
    /// Memory for outputs, with pages that have been touched.
    pub output: Mutex<Output>,
}

pub enum Params {
    F32(Vec<f32>),
    F16(Vec<f16>),
    U8(Vec<u8>),
}

pub enum Indices {
    U8(Vec<u8>),
    I32(Vec<i32>),
    I64(Vec<i64>),
}

impl Params {
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::F32(params) => bytemuck::cast_slice(params),
            Self::F16(params) => bytemuck::cast_slice(params),
            Self::U8(params) => params,
        }
    }
}

impl Indices {
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::U8(indices) => indices,
            Self::I32(indices) => bytemuck::cast_slice(indices),
            Self::I64(indices) => bytemuck::cast_slice(indices),
        }
    }

    /// The indices for libraries that take usize only.
    pub fn to_usize(&self) -> Vec<usize> {
        let index = |index: i64| usize::try_from(index).expect("indices are in range");
        match self {
            Self::U8(indices) => indices.iter().map(|&at| usize::from(at)).collect(),
            Self::I32(indices) => indices.iter().map(|&at| index(at.into())).collect(),
            Self::I64(indices) => indices.iter().map(|&at| index(at)).collect(),
        }
    }
}

impl Data {
    pub fn new(workload: &Workload) -> Self {
        let plan = workload.plan(BadIndices::DeviceDefault);
        let values = workload.indices();
        let byte = |value| u8::try_from(value).expect("dims of at most 256");
        let indices = match workload.index {
            IndexKind::U8 => Indices::U8(values.map(byte).collect()),
            IndexKind::I64 => Indices::I64(values.map(i64::from).collect()),
            _ => Indices::I32(values.map(u32::cast_signed).collect()),
        };
        let bits = workload.params_bits();
        let params = match workload.element {
            Element::F32 => Params::F32(bits.map(finite_f32).collect()),
            Element::F16 => Params::F16(bits.map(finite_f16).collect()),
            Element::U8 => Params::U8(bits.map(|bits| bits.to_le_bytes()[3]).collect()),
        };
        let output_bytes = plan.output_len() * workload.element.bytes();
        Self {
            workload: workload.clone(),
            plan,
            params,
            indices,
            output: Mutex::new(vec![u64::MAX; output_bytes / 8]),
        }
    }

    /// The axis of a gather that `select` or `take` can do: one index value per index row, and no batch dims.
    pub fn select_axis(&self) -> Option<usize> {
        let workload = &self.workload;
        match workload.op {
            Op::Gather { axis } => Some(axis),
            Op::GatherElements { .. } => None,
            Op::GatherNd => {
                let is_single = workload.batch_dims == 0 && workload.index_depth() == 1;
                is_single.then_some(0)
            }
        }
    }

    pub fn output_bytes(&self) -> usize {
        self.plan.output_len() * self.workload.element.bytes()
    }

    pub fn slice_bytes(&self) -> usize {
        self.plan.slice_len() * self.workload.element.bytes()
    }
}

/// Runs the body with a workload's operands, for all types.
macro_rules! with_operands {
    ($data:expr, |$params:ident, $indices:ident| $body:expr) => {{
        use $crate::data::{Indices, Params};
        match (&$data.params, &$data.indices) {
            (Params::F32($params), Indices::U8($indices)) => $body,
            (Params::F16($params), Indices::U8($indices)) => $body,
            (Params::U8($params), Indices::U8($indices)) => $body,
            (Params::F32($params), Indices::I32($indices)) => $body,
            (Params::F32($params), Indices::I64($indices)) => $body,
            (Params::F16($params), Indices::I32($indices)) => $body,
            (Params::F16($params), Indices::I64($indices)) => $body,
            (Params::U8($params), Indices::I32($indices)) => $body,
            (Params::U8($params), Indices::I64($indices)) => $body,
        }
    }};
}
pub(crate) use with_operands;
