//! The workloads: shapes, and data that depends on the shapes only.

use bytemuck::Pod;
use wgpu_gather::{BadIndices, Gather, GatherElement, GatherIndex, GatherNd, GatherPlan};

/// A gather to be timed.
#[derive(Debug, Clone, Copy)]
pub struct Workload {
    pub name: &'static str,
    /// The axis of a gather; `None` for gather_nd.
    axis: Option<i64>,
    batch_dims: i64,
    pub params_shape: &'static [usize],
    pub indices_shape: &'static [usize],
    pub element: &'static str,
    pub index: &'static str,
}

const fn gather_nd(
    name: &'static str,
    params_shape: &'static [usize],
    indices_shape: &'static [usize],
) -> Workload {
    Workload {
        name,
        axis: None,
        batch_dims: 0,
        params_shape,
        indices_shape,
        element: "f32",
        index: "i32",
    }
}

pub const WORKLOADS: [Workload; 30] = [
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
        element: "u8",
        ..gather_nd("W7u8", &[1_048_576, 16], &[1_048_576, 1])
    },
    Workload {
        element: "f16",
        ..gather_nd("W7f16", &[1_048_576, 16], &[1_048_576, 1])
    },
    Workload {
        index: "i64",
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
    // Slices of 12 to 1,200 bytes: 32 MiB of output, from 64 MiB of params.
    gather_nd("S12", &[5_592_405, 3], &[2_796_202, 1]),
    gather_nd("S24", &[2_796_202, 6], &[1_398_101, 1]),
    gather_nd("S36", &[1_864_135, 9], &[932_067, 1]),
    gather_nd("S48", &[1_398_101, 12], &[699_050, 1]),
    gather_nd("S80", &[838_860, 20], &[419_430, 1]),
    gather_nd("S400", &[167_772, 100], &[83_886, 1]),
    gather_nd("S1200", &[55_924, 300], &[27_962, 1]),
    // Few long slices: 8 of 8 MiB, 64 of 1 MiB and 512 of 32 KiB, from twice as many rows.
    gather_nd("L8", &[16, 2_097_152], &[8, 1]),
    gather_nd("L64", &[128, 262_144], &[64, 1]),
    gather_nd("L512", &[1024, 8192], &[512, 1]),
    // A number of rows that is no multiple of 4.
    gather_nd("T3", &[1_000_003, 16], &[1_000_003, 1]),
    // Many small blocks: an outer dim or a batch dim of 10^6.
    Workload {
        axis: Some(1),
        ..gather_nd("B1", &[1_000_000, 4, 4], &[1])
    },
    Workload {
        axis: Some(1),
        batch_dims: 1,
        ..gather_nd("B2", &[1_000_000, 4, 16], &[1_000_000, 2])
    },
    // 1 GiB of params, and 256 MiB of output.
    gather_nd("G1", &[4_194_304, 64], &[1_048_576, 1]),
    // Rows of 512 bytes, and outputs of 4 to 256 MiB.
    gather_nd("G4", &[100_000, 128], &[8_192, 1]),
    gather_nd("G16", &[100_000, 128], &[32_768, 1]),
    gather_nd("G64", &[100_000, 128], &[131_072, 1]),
    gather_nd("G256", &[100_000, 128], &[524_288, 1]),
];

/// The first gather of a process: a few rows of the size of W3's.
pub const FIRST: Workload = gather_nd("first", &[1000, 16], &[64, 1]);

/// An element or an index that can be made from a number.
pub trait Number: Pod + Default + PartialEq + Send + Sync {
    fn from_u32(number: u32) -> Self;
    fn to_usize(self) -> usize;
}

macro_rules! number {
    ($($number:ty),*) => {
        $(impl Number for $number {
            #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_lossless)]
            fn from_u32(number: u32) -> Self {
                number as $number
            }

            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_lossless)]
            fn to_usize(self) -> usize {
                self as usize
            }
        })*
    };
}

number!(u8, u16, u32, i32, i64);

/// A workload with its operands. A gather moves bits, so integers take the place of floats of their width.
pub struct Data<T, I> {
    pub workload: Workload,
    pub params: Vec<T>,
    pub indices: Vec<I>,
}

impl<T, I> Data<T, I> {
    pub fn slice_bytes(&self) -> usize {
        let slice_len = self.workload.plan(BadIndices::Error).dims().slice_len;
        usize::try_from(slice_len).expect("in memory") * size_of::<T>()
    }

    /// Returns true if the bare loop can do the workload: one i32 an index row, and one block.
    pub fn has_bare_loop(&self) -> bool {
        let plan = self.workload.plan(BadIndices::Error);
        let dims = plan.dims();
        let is_one_block = dims.batch_size * dims.outer_size == 1;
        self.workload.index == "i32" && dims.index_depth() == 1 && is_one_block
    }
}

/// A function of the data of a workload, for all types of elements and indices.
pub trait Visit {
    fn visit<T: Number + GatherElement, I: Number + GatherIndex>(&mut self, data: &Data<T, I>);
}

impl Workload {
    pub fn gather_nd(&self) -> GatherNd {
        GatherNd::new().batch_dims(self.batch_dims)
    }

    /// Returns true for the workloads that differ in the size of their output only.
    pub fn is_of_growth(&self) -> bool {
        matches!(self.name, "G4" | "G16" | "G64" | "G256")
    }

    pub fn plan(&self, bad_indices: BadIndices) -> GatherPlan {
        let plan = match self.axis {
            Some(axis) => Gather::new()
                .axis(axis)
                .batch_dims(self.batch_dims)
                .bad_indices(bad_indices)
                .plan(self.params_shape, self.indices_shape),
            None => self
                .gather_nd()
                .bad_indices(bad_indices)
                .plan(self.params_shape, self.indices_shape),
        };
        plan.expect("the shapes are valid")
    }

    pub fn visit(&self, visit: &mut impl Visit) {
        match (self.element, self.index) {
            ("f32", "i32") => visit.visit(&self.data::<u32, i32>()),
            ("f32", "i64") => visit.visit(&self.data::<u32, i64>()),
            ("f16", _) => visit.visit(&self.data::<u16, i32>()),
            _ => visit.visit(&self.data::<u8, i32>()),
        }
    }

    pub fn data<T: Number, I: Number>(&self) -> Data<T, I> {
        let plan = self.plan(BadIndices::Error);
        let dims = plan.dims();
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = || {
            // xorshift64*; only its high 32 bits are used.
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            u32::try_from(state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32).expect("32 bits")
        };
        let values = dims.indexed_dims.iter().cycle();
        let indices = values
            .take(self.indices_shape.iter().product())
            .map(|&dim| {
                let index = (u64::from(random()) * dim) >> 32;
                I::from_u32(u32::try_from(index).expect("dims below 2^32"))
            });
        let indices = indices.collect();
        let params = 0..u32::try_from(dims.params_len()).expect("params below 2^32");
        let params = params.map(|place| T::from_u32((place + 1).wrapping_mul(0x9e37_79b1)));
        Data {
            workload: *self,
            params: params.collect(),
            indices,
        }
    }
}
