//! The workloads: shapes, and operands that depend only on them.

use std::fmt;

use wgpu_gather::{
    BadIndices, ElementTypes, Encoding, FloatKind, Gather, GatherElements, GatherNd, GatherPlan,
    IndexKind,
};

/// A gather to be timed.
#[derive(Debug, Clone)]
pub struct Workload {
    pub name: String,
    pub op: Op,
    pub batch_dims: usize,
    pub params_shape: Vec<usize>,
    pub indices_shape: Vec<usize>,
    pub element: Element,
    /// The encoding of params.
    pub encoding: Option<Encoding>,
    /// The float type that encoded params is decoded to; `element` has as many bytes.
    pub to: FloatKind,
    pub index: IndexKind,
    /// How many equal-sized buffers hold the params rows.
    pub shards: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    GatherNd,
    Gather {
        axis: usize,
    },
    /// Params and indices differ only in the dim `axis`.
    GatherElements {
        axis: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    F32,
    F16,
    U8,
}

fn gather_nd(name: &str, params_shape: &[usize], indices_shape: &[usize]) -> Workload {
    Workload {
        name: name.to_owned(),
        op: Op::GatherNd,
        batch_dims: 0,
        params_shape: params_shape.to_vec(),
        indices_shape: indices_shape.to_vec(),
        element: Element::F32,
        encoding: None,
        to: FloatKind::F32,
        index: IndexKind::I32,
        shards: 1,
    }
}

/// W1 to W10: single words, rows of 16 bytes to 2 KiB, batches, 64-bit indices.
pub fn usual() -> Vec<Workload> {
    let rows_of_64_bytes = |name| gather_nd(name, &[1_048_576, 16], &[1_048_576, 1]);
    vec![
        gather_nd("W1", &[16_777_216], &[4_194_304, 1]),
        gather_nd("W2", &[4096, 4096], &[4_194_304, 2]),
        rows_of_64_bytes("W3"),
        gather_nd("W4", &[100_000, 128], &[200_000, 1]),
        gather_nd("W5", &[50_000, 512], &[50_000, 1]),
        Workload {
            batch_dims: 1,
            ..gather_nd("W6", &[64, 4096, 64], &[64, 1024, 1])
        },
        Workload {
            element: Element::U8,
            ..rows_of_64_bytes("W7u8")
        },
        Workload {
            element: Element::F16,
            ..rows_of_64_bytes("W7f16")
        },
        Workload {
            index: IndexKind::I64,
            ..rows_of_64_bytes("W8")
        },
        along(1, "W9", &[1024, 4096, 16], &[512]),
        along(1, "W9s", &[512, 4096, 16], &[512]),
        gather_nd("W10", &[1000, 64], &[64, 1]),
    ]
}

/// Few long slices, and many small blocks.
pub fn blocks() -> Vec<Workload> {
    vec![
        // 8 slices (8 MiB each) and 64 (1 MiB each), from twice as many rows.
        gather_nd("L8", &[16, 2_097_152], &[8, 1]),
        gather_nd("L64", &[128, 262_144], &[64, 1]),
        // An outer dim or a batch dim of 10^6.
        along(1, "B1", &[1_000_000, 4, 4], &[1]),
        Workload {
            batch_dims: 1,
            ..along(1, "B2", &[1_000_000, 4, 16], &[1_000_000, 2])
        },
    ]
}

/// Bytes in a table and in an output that no GPU cache holds.
const LARGE_TABLE_BYTES: usize = 3 << 29;
const LARGE_OUTPUT_BYTES: usize = 1 << 29;

/// GPU workloads, whose names end in "+": tables of about 1.5 GiB and outputs up to 512 MiB, both divided by `scale`.
pub fn large(scale: usize) -> Vec<Workload> {
    let (table, output) = (LARGE_TABLE_BYTES / scale, LARGE_OUTPUT_BYTES / scale);
    // Rows of `slice_bytes` bytes. Below 16, fewer are gathered: most bytes would be indices.
    let rows = |name: &str, slice_bytes: usize, element: Element| {
        let slices = match slice_bytes {
            ..16 => output / 64,
            _ => output / slice_bytes,
        };
        let shape = [table / slice_bytes, slice_bytes / element.bytes()];
        Workload {
            element,
            ..gather_nd(&format!("{name}+"), &shape, &[slices, 1])
        }
    };
    let words = |name: &str, slice_bytes| rows(name, slice_bytes, Element::F32);
    let of_u8 = |name: &str, slice_len: usize, output_bytes: usize| {
        let slices = output_bytes / (4 * slice_len);
        Workload {
            index: IndexKind::U8,
            ..gather_nd(name, &[256, slice_len], &[slices, 1])
        }
    };
    let blocks = table / (4 * 4096 * 64);
    vec![
        gather_nd("W1+", &[table / 4], &[output / 16, 1]),
        gather_nd("W2+", &[table / (4 * 16_384), 16_384], &[output / 16, 2]),
        rows("R1", 1, Element::U8),
        rows("R2", 2, Element::F16),
        rows("R3", 3, Element::U8),
        rows("R6", 6, Element::F16),
        words("R8", 8),
        words("R12", 12),
        words("R16", 16),
        words("R32", 32),
        words("R36", 36),
        words("W3", 64),
        words("R96", 96),
        words("R100", 100),
        words("R128", 128),
        words("R256", 256),
        words("R400", 400),
        words("W4", 512),
        words("R1200", 1200),
        rows("O1", 2002, Element::F16),
        words("W5", 2048),
        words("R4096", 4096),
        words("K1", 4112),
        words("R6144", 6144),
        words("K2", 8192),
        words("R16384", 16_384),
        words("R65536", 65_536),
        Workload {
            index: IndexKind::I64,
            ..words("W8", 64)
        },
        along(1, "W9+", &[blocks, 4096, 16], &[1024]),
        Workload {
            batch_dims: 1,
            ..gather_nd("W6+", &[blocks / 4, 4096, 64], &[blocks / 4, 1365, 1])
        },
        along(1, "N100+", &[blocks, 2048, 25], &[1024]),
        elements("E1+", 1, &[table / 2048, 256], &[table / 2048, 64]),
        elements("E2+", 0, &[256, table / 2048], &[64, table / 2048]),
        elements("E3+", 1, &[table / 256, 16], &[table / 256, 10]),
        of_u8("P1+", 1, output),
        of_u8("P4+", 4, output),
        gather_nd(
            "D3+",
            &[table / (64 * 64 * 64), 64, 64, 16],
            &[output / 64, 3],
        ),
        along(1, "X1+", &[table / 400, 100], &[10]),
        // A table in four buffers, and so four windows.
        Workload {
            shards: 4,
            ..gather_nd("T4+", &[4 * (table / 512), 128], &[output / 512, 1])
        },
    ]
}

/// GPU workloads: rows of 2,048 values in each encoding, rows of 256 in some, and both as `f32`. After some of them, the same
/// rows as halves. Tables have about 256 MiB and outputs 512 MiB, of halves 256 MiB, all divided by `scale`.
pub fn encoded(scale: usize) -> Vec<Workload> {
    use FloatKind::{Bf16, F16, F32};

    let output = LARGE_OUTPUT_BYTES / scale;
    let workload = |values: usize, encoding: Encoding, to: FloatKind| {
        let row_bytes = encoding.row_bytes(values as u64).expect("whole blocks");
        let rows = output / 2 / usize::try_from(row_bytes).expect("a short row");
        let rows = rows.max(64);
        let prefix = if values == 256 { "D256" } else { "D" };
        let name = match to {
            F32 => format!("{prefix}:{encoding}"),
            _ => format!("{prefix}:{encoding}:{to}"),
        };
        // Rows of f32 as f32 are copied.
        let is_copied = (encoding, to) == (Encoding::F32, F32);
        Workload {
            encoding: (!is_copied).then_some(encoding),
            to,
            element: if to == F32 {
                Element::F32
            } else {
                Element::F16
            },
            ..gather_nd(&name, &[rows, values], &[output / (4 * values), 1])
        }
    };
    let kinds = |encoding| match encoding {
        Encoding::Q8_0 | Encoding::Q4K | Encoding::Q6K => &[F32, F16, Bf16][..],
        Encoding::F16 => &[F32, Bf16],
        Encoding::F32 => &[F32, F16],
        _ => &[F32],
    };
    let long = Encoding::ALL.iter().flat_map(|&encoding| {
        let kinds = kinds(encoding).iter();
        kinds.map(move |&to| workload(2048, encoding, to))
    });
    let short = [
        Encoding::F32,
        Encoding::F16,
        Encoding::Q8_0,
        Encoding::Q4K,
        Encoding::Q6K,
    ];
    long.chain(short.map(|encoding| workload(256, encoding, F32)))
        .collect()
}

fn along(axis: usize, name: &str, params_shape: &[usize], indices_shape: &[usize]) -> Workload {
    Workload {
        op: Op::Gather { axis },
        ..gather_nd(name, params_shape, indices_shape)
    }
}

/// E1 to K2: gathers along other axes, by other indices, and with other slice sizes.
pub fn other() -> Vec<Workload> {
    vec![
        // gather_elements along the last dim and along the first.
        elements("E1", 1, &[65_536, 256], &[65_536, 64]),
        elements("E2", 0, &[256, 65_536], &[64, 65_536]),
        elements("E3", 1, &[100_000, 16], &[100_000, 10]),
        // Palettes of 256 colours, with one channel and with four.
        of_u8("P1", &[256, 1]),
        of_u8("P4", &[256, 4]),
        // Index rows with three values, and slices of 64 bytes.
        gather_nd("D3", &[64, 128, 128, 16], &[1_048_576, 3]),
        // Slices that are no multiple of 4 bytes.
        Workload {
            element: Element::F16,
            ..gather_nd("O1", &[33_552, 1001], &[16_776, 1])
        },
        // Ten of a table's 100 columns, by random indices: each slice is one f32.
        along(1, "X1", &[400_000, 100], &[10]),
        // Slices a little longer than a workgroup, and twice as long.
        gather_nd("K1", &[16_320, 1028], &[8160, 1]),
        gather_nd("K2", &[8192, 2048], &[4096, 1]),
    ]
}

fn elements(name: &str, axis: usize, params_shape: &[usize], indices_shape: &[usize]) -> Workload {
    Workload {
        op: Op::GatherElements { axis },
        ..gather_nd(name, params_shape, indices_shape)
    }
}

fn of_u8(name: &str, params_shape: &[usize]) -> Workload {
    Workload {
        index: IndexKind::U8,
        ..gather_nd(name, params_shape, &[4_194_304, 1])
    }
}

impl Workload {
    /// # Panics
    ///
    /// The shapes make no plan.
    pub fn plan(&self, bad_indices: BadIndices) -> GatherPlan {
        let number = |dim| i64::try_from(dim).expect("a rank");
        let (params, indices) = (&self.params_shape[..], &self.indices_shape[..]);
        let batch_dims = number(self.batch_dims);
        let plan = match self.op {
            Op::Gather { axis } => Gather::new()
                .axis(number(axis))
                .batch_dims(batch_dims)
                .bad_indices(bad_indices)
                .plan(params, indices),
            Op::GatherElements { axis } => GatherElements::new()
                .axis(number(axis))
                .bad_indices(bad_indices)
                .plan(params, indices),
            Op::GatherNd => GatherNd::new()
                .batch_dims(batch_dims)
                .bad_indices(bad_indices)
                .plan(params, indices),
        };
        plan.expect("the shapes are valid")
    }

    /// The axis of a gather or a gather_elements; `None` for gather_nd.
    pub const fn axis(&self) -> Option<usize> {
        match self.op {
            Op::Gather { axis } | Op::GatherElements { axis } => Some(axis),
            Op::GatherNd => None,
        }
    }

    /// Elements between neighbours along a gather_elements' axis, in params and in indices; 0 for other ops.
    pub fn element_stride(&self) -> usize {
        match self.op {
            Op::GatherElements { axis } => self.params_shape[axis + 1..].iter().product(),
            _ => 0,
        }
    }

    pub fn types(&self) -> ElementTypes {
        match self.encoding {
            Some(encoding) => ElementTypes::decoded(encoding, self.to, self.index),
            None => ElementTypes::new(self.element.bytes() as u64, self.index),
        }
    }

    /// Params bytes, in all buffers.
    pub fn params_bytes(&self) -> u64 {
        let elements: u64 = self.params_shape.iter().map(|&dim| dim as u64).product();
        let last = self.params_shape.last().map_or(1, |&dim| dim as u64);
        match self.encoding {
            Some(encoding) => elements / last * encoding.row_bytes(last).expect("whole blocks"),
            None => elements * self.element.bytes() as u64,
        }
    }

    /// The index values, in range.
    pub fn indices(&self) -> impl Iterator<Item = u32> {
        let mut random = Random::new();
        let dims = self.indexed_dims().iter().cycle();
        dims.take(self.indices_shape.iter().product())
            .map(move |&dim| random.below(u32::try_from(dim).expect("dims below 2^32")))
    }

    /// The params dims that an index row's values select in.
    pub fn indexed_dims(&self) -> &[usize] {
        match self.axis() {
            Some(axis) => &self.params_shape[axis..=axis],
            None => &self.params_shape[self.batch_dims..][..self.index_depth()],
        }
    }

    /// Index values in one index row.
    pub fn index_depth(&self) -> usize {
        match self.axis() {
            Some(_) => 1,
            None => self.indices_shape[self.indices_shape.len() - 1],
        }
    }

    /// Params rows in all blocks.
    pub fn params_rows(&self) -> usize {
        let elements = self.element_stride().max(1);
        self.blocks() * self.indexed_dims().iter().product::<usize>() * elements
    }

    /// Output rows in one block. A gather_elements block has its own index rows.
    pub fn index_count(&self) -> usize {
        let first = match self.op {
            Op::GatherElements { axis } => axis,
            _ => self.batch_dims,
        };
        let rows: usize = self.indices_shape[first..].iter().product();
        rows / self.index_depth()
    }

    /// Blocks that share index rows: a gather's params dims between the batch dims and the axis, multiplied.
    pub fn outer_size(&self) -> usize {
        match self.op {
            Op::Gather { axis } => self.params_shape[self.batch_dims..axis].iter().product(),
            _ => 1,
        }
    }

    /// Batches times outer coordinates.
    pub fn blocks(&self) -> usize {
        let axis = self.axis().unwrap_or(self.batch_dims);
        self.params_shape[..axis].iter().product()
    }

    /// 32 bits for each params element; all are different.
    pub fn params_bits(&self) -> impl Iterator<Item = u32> + use<> {
        let params_len = self.plan(BadIndices::Error).params_len();
        let places = 1..=u32::try_from(params_len).expect("params below 2^32");
        places.map(|place| place.wrapping_mul(0x9e37_79b1))
    }
}

impl Element {
    pub const fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 => 2,
            Self::U8 => 1,
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::U8 => "u8",
        })
    }
}

/// xorshift64*: the high 32 bits are used.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// A generator with a fixed seed.
    #[expect(clippy::new_without_default, reason = "a seed is no default")]
    pub const fn new() -> Self {
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
