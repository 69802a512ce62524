//! The workloads and their data, which depends on the shapes only. Shapes and indices are as in `benches/gather`;
//! params are finite numbers.

use std::sync::{Arc, Mutex};

use half::f16;
use wgpu_gather::{Gather, GatherNd, GatherPlan};

use crate::peers::Output;

/// A gather to be timed.
#[derive(Debug, Clone)]
pub struct Workload {
    pub name: String,
    /// The axis of a gather; `None` for gather_nd.
    pub axis: Option<usize>,
    pub batch_dims: usize,
    pub params_shape: Vec<usize>,
    pub indices_shape: Vec<usize>,
    pub element: Element,
    pub index: Index,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    F32,
    F16,
    U8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Index {
    I32,
    I64,
}

/// Bytes of the output and of params in the sweep over slice sizes.
pub const SWEEP_OUTPUT_BYTES: usize = 32 << 20;
pub const SWEEP_PARAMS_BYTES: usize = 64 << 20;

fn gather_nd(name: &str, params_shape: &[usize], indices_shape: &[usize]) -> Workload {
    Workload {
        name: name.to_owned(),
        axis: None,
        batch_dims: 0,
        params_shape: params_shape.to_vec(),
        indices_shape: indices_shape.to_vec(),
        element: Element::F32,
        index: Index::I32,
    }
}

pub fn workloads() -> Vec<Workload> {
    vec![
        gather_nd("W1", &[16_777_216], &[4_194_304, 1]),
        gather_nd("W2", &[4096, 4096], &[4_194_304, 2]),
        gather_nd("W3", &[1_048_576, 16], &[1_048_576, 1]),
        gather_nd("W4", &[100_000, 128], &[200_000, 1]),
        gather_nd("W5", &[50_000, 512], &[50_000, 1]),
        Workload {
            batch_dims: 1,
            ..gather_nd("W6", &[64, 4096, 64], &[64, 1024, 1])
        },
        Workload {
            element: Element::U8,
            ..gather_nd("W7u8", &[1_048_576, 16], &[1_048_576, 1])
        },
        Workload {
            element: Element::F16,
            ..gather_nd("W7f16", &[1_048_576, 16], &[1_048_576, 1])
        },
        Workload {
            index: Index::I64,
            ..gather_nd("W8", &[1_048_576, 16], &[1_048_576, 1])
        },
        Workload {
            axis: Some(1),
            ..gather_nd("W9", &[1024, 4096, 16], &[512])
        },
        Workload {
            axis: Some(1),
            ..gather_nd("W9s", &[512, 4096, 16], &[512])
        },
        gather_nd("W10", &[1000, 64], &[64, 1]),
    ]
}

/// The sweep: slices of 4 B to 64 KiB, of f32.
pub fn sweep() -> Vec<Workload> {
    let sizes = (2..=16).map(|power| 1_usize << power);
    let workload = |slice_bytes: usize| {
        let mut params_shape = vec![SWEEP_PARAMS_BYTES / slice_bytes];
        if slice_bytes > 4 {
            params_shape.push(slice_bytes / 4);
        }
        let slices = SWEEP_OUTPUT_BYTES / slice_bytes;
        gather_nd(&format!("S{slice_bytes}"), &params_shape, &[slices, 1])
    };
    sizes.map(workload).collect()
}

impl Workload {
    pub fn plan(&self) -> GatherPlan {
        let (params, indices) = (&self.params_shape[..], &self.indices_shape[..]);
        let number = |dim| i64::try_from(dim).expect("a rank");
        let plan = match self.axis {
            Some(axis) => Gather::new().axis(number(axis)).plan(params, indices),
            None => GatherNd::new()
                .batch_dims(number(self.batch_dims))
                .plan(params, indices),
        };
        plan.expect("the shapes are valid")
    }

    /// The axis of a gather that a `select` or a `take` can do: one index value an index row, and no batch dims.
    pub fn select_axis(&self) -> Option<usize> {
        let is_single = self.batch_dims == 0 && self.indices_shape.last() == Some(&1);
        self.axis.or(is_single.then_some(0))
    }

    pub fn data(&self) -> Data {
        let plan = self.plan();
        let dims = plan.dims();
        let mut random = Random::new();
        let values = dims.indexed_dims.iter().cycle();
        let values = values.take(self.indices_shape.iter().product());
        let values = values.map(|&dim| random.below(u32::try_from(dim).expect("dims below 2^32")));
        let indices = match self.index {
            Index::I32 => Indices::I32(values.map(u32::cast_signed).collect()),
            Index::I64 => Indices::I64(values.map(i64::from).collect()),
        };
        let places = 1..=u32::try_from(dims.params_len()).expect("params below 2^32");
        let bits = places.map(|place| place.wrapping_mul(0x9e37_79b1));
        let params = match self.element {
            Element::F32 => Params::F32(bits.map(finite_f32).collect()),
            Element::F16 => Params::F16(bits.map(finite_f16).collect()),
            Element::U8 => Params::U8(bits.map(|bits| bits.to_le_bytes()[3]).collect()),
        };
        let output_len = usize::try_from(plan.dims().output_len()).expect("in memory");
        let output_bytes = output_len * self.element.bytes();
        Data {
            workload: self.clone(),
            plan,
            params: Arc::new(params),
            indices: Arc::new(indices),
            output: Mutex::new(vec![u64::MAX; output_bytes / 8]),
        }
    }
}

/// Makes a finite float of any bits: a library that moves floats as floats need not keep the bits of a NaN.
fn finite_f32(bits: u32) -> f32 {
    f32::from_bits(bits & !(1 << 30) | 1 << 29)
}

fn finite_f16(bits: u32) -> f16 {
    let [low, high, ..] = bits.to_le_bytes();
    f16::from_bits(u16::from_le_bytes([low, high]) & !(1 << 14) | 1 << 13)
}

/// xorshift64*, of which the high 32 bits are used.
pub struct Random(u64);

impl Random {
    /// A generator with a fixed seed.
    pub fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    /// A number below `end`, which is at least 1.
    pub fn below(&mut self, end: u32) -> u32 {
        let number = (u64::from(self.next()) * u64::from(end)) >> 32;
        u32::try_from(number).expect("below 32 bits")
    }

    fn next(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        u32::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32).expect("32 bits")
    }
}

/// A workload with its operands.
pub struct Data {
    pub workload: Workload,
    pub plan: GatherPlan,
    /// Libraries that can read params in place share them, because their place in memory changes times.
    pub params: Arc<Params>,
    pub indices: Arc<Indices>,
    /// Memory for outputs, with pages that have been touched.
    pub output: Mutex<Output>,
}

pub enum Params {
    F32(Vec<f32>),
    F16(Vec<f16>),
    U8(Vec<u8>),
}

pub enum Indices {
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
            Self::I32(indices) => bytemuck::cast_slice(indices),
            Self::I64(indices) => bytemuck::cast_slice(indices),
        }
    }

    /// The indices for libraries that take i64 only.
    pub fn to_i64(&self) -> Vec<i64> {
        match self {
            Self::I32(indices) => indices.iter().copied().map(i64::from).collect(),
            Self::I64(indices) => indices.clone(),
        }
    }

    pub fn to_usize(&self) -> Vec<usize> {
        let index = |index| usize::try_from(index).expect("indices are in range");
        self.to_i64().into_iter().map(index).collect()
    }

    pub fn to_u32(&self) -> Vec<u32> {
        let index = |index| u32::try_from(index).expect("indices are in range");
        self.to_i64().into_iter().map(index).collect()
    }
}

impl Element {
    pub fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 => 2,
            Self::U8 => 1,
        }
    }
}

impl Data {
    pub fn output_bytes(&self) -> usize {
        let elements = usize::try_from(self.plan.dims().output_len()).expect("in memory");
        elements * self.workload.element.bytes()
    }

    pub fn slice_bytes(&self) -> usize {
        let elements = usize::try_from(self.plan.dims().slice_len).expect("in memory");
        elements * self.workload.element.bytes()
    }
}

/// Runs the body with the operands of a workload, for all types.
macro_rules! with_operands {
    ($data:expr, |$params:ident, $indices:ident| $body:expr) => {{
        use $crate::workloads::{Indices, Params};
        match (&*$data.params, &*$data.indices) {
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
