//! Each index type's edge values, in each place of an index row, at each depth, on every kernel.

use libtest_mimic::Trial;
use wgpu_gather::{BadIndices, ElementTypes, IndexKind};

use crate::batch::{self, Recording};
use crate::into_buffers::without_runtime_checks;
use crate::trial;
use testkit::cases::{case, elements, gather, gather_nd};
use testkit::gpu::Gpu;
use testkit::indices::{WIDE, holds, values_around};
use testkit::oracle::Case;
use testkit::sweep;

/// Slices that select a kernel.
#[derive(Clone, Copy)]
struct Slices {
    element_bytes: usize,
    slice_len: usize,
    /// The kernel's name in `explain`'s text.
    kernel: &'static str,
    units: &'static str,
    /// How often each value occurs, each time at another place in a lane.
    times: usize,
}

const fn slices(
    element_bytes: usize,
    slice_len: usize,
    kernel: &'static str,
    units: &'static str,
    times: usize,
) -> Slices {
    Slices {
        element_bytes,
        slice_len,
        kernel,
        units,
        times,
    }
}

const NARROW: [IndexKind; 4] = [IndexKind::I8, IndexKind::U8, IndexKind::I16, IndexKind::U16];

/// Slices for lanes that take two blocks.
const LINES: Slices = slices(4, 1, "lines", "4 slices", 4);

/// Slices for the kernels that take index rows with one or two values.
const SLICES: [Slices; 15] = [
    slices(1, 1, "packed", "16 slices", 16),
    slices(2, 1, "packed", "8 slices", 8),
    slices(4, 1, "packed", "4 slices", 4),
    slices(3, 1, "bytes", "4 bytes of output", 4),
    slices(6, 1, "bytes", "4 bytes of output", 4),
    slices(1, 7, "bytes", "4 bytes of output", 4),
    slices(8, 1, "rows", "units of 4 bytes", 2),
    slices(12, 1, "rows", "units of 4 bytes", 2),
    slices(16, 1, "rows", "units of 16 bytes", 2),
    slices(16, 3, "rows", "units of 16 bytes", 2),
    slices(48, 1, "rows", "units of 16 bytes", 2),
    slices(4, 255, "four_rows", "units of 4 bytes", 2),
    slices(16, 256, "four_rows", "units of 16 bytes", 2),
    slices(4, 257, "long", "units of 4 bytes", 1),
    slices(16, 257, "long", "units of 16 bytes", 1),
];

/// A number of index rows at which each lane takes four.
const FOUR_ROWS: usize = 528;

/// Slices for the kernels that take any index row.
const GENERAL_SLICES: [Slices; 9] = [
    slices(1, 1, "bytes", "4 bytes of output", 4),
    slices(6, 1, "bytes", "4 bytes of output", 4),
    slices(4, 1, "rows", "units of 4 bytes", 2),
    slices(12, 1, "rows", "units of 4 bytes", 2),
    slices(16, 1, "rows", "units of 16 bytes", 2),
    slices(48, 1, "rows", "units of 16 bytes", 2),
    slices(1028, 1, "long", "units of 4 bytes", 1),
    slices(4112, 1, "long", "units of 16 bytes", 1),
    slices(4, 257, "long", "units of 4 bytes", 1),
];

/// The shader interpreter runs the edge values at each depth on each lane; these trials show that compiled shaders agree.
pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("edge_values_of_index_rows_on_every_kernel", |gpu| {
            check(gpu, &WIDE, &SLICES, |kind, slices| nd(&[5], kind, slices));
            check(gpu, &WIDE, &SLICES, |kind, slices| {
                nd(&[3, 7], kind, slices)
            });
            check(gpu, &WIDE, &GENERAL_SLICES, |kind, slices| {
                nd(&[3, 2, 1, 4], kind, slices)
            });
            check(gpu, &NARROW, &GENERAL_SLICES, |kind, slices| {
                nd(&[3, 129], kind, slices)
            });
        }),
        trial("edge_values_of_blocks_on_every_kernel", |gpu| {
            check(gpu, &WIDE, &SLICES, |kind, slices| {
                along_blocks(kind, slices, 112)
            });
            check(gpu, IndexKind::ALL, &[LINES], |kind, slices| {
                along_blocks(kind, slices, 110)
            });
        }),
        trial("edge_values_of_elements_on_every_kernel", |gpu| {
            let of_one = GENERAL_SLICES.into_iter();
            let of_one = of_one.filter(|slices| slices.slice_len == 1);
            let of_one: Vec<Slices> = of_one.collect();
            check(gpu, IndexKind::ALL, &of_one, |kind, slices| {
                along_elements(kind, slices, 2)
            });
            // Lanes of `lines`: their four output rows lie in two rows along the innermost dim.
            for inner in [3, 6, 7] {
                check(gpu, &WIDE, &[LINES], |kind, slices| {
                    along_elements(kind, slices, inner)
                });
            }
        }),
    ]
}

/// Index rows that hold each edge value at each place, among valid values and beside other edge values.
fn nd(dims: &[usize], kind: IndexKind, slices: Slices) -> Case {
    let valid = |row: usize, k: usize| (row % dims[k]) as i128;
    let values = dims.iter().map(|&dim| edge_values(dim, kind));
    let values: Vec<Vec<i128>> = values.collect();
    let mut indices = Vec::new();
    let mut rows = 0;
    let mut push = |value_at: &dyn Fn(usize) -> Option<i128>| {
        indices.extend((0..dims.len()).map(|k| value_at(k).unwrap_or_else(|| valid(rows, k))));
        rows += 1;
    };
    for time in 0..slices.times {
        for (k, n) in (0..dims.len()).flat_map(|k| (0..values[k].len()).map(move |n| (k, n))) {
            push(&|at| (at == k).then(|| values[k][n]));
        }
        for n in 0..values[0].len() {
            push(&|at| Some(values[at][(n + at * (time + 1)) % values[at].len()]));
        }
        // One more row moves each value to another place in a lane the next time.
        push(&|_| None);
    }
    let least = match slices.kernel {
        "four_rows" => FOUR_ROWS,
        _ => 16,
    };
    while rows % 16 != 0 || rows < least {
        indices.extend((0..dims.len()).map(|k| valid(rows, k)));
        rows += 1;
    }
    let params_shape = [dims, &[slices.slice_len]].concat();
    case(gather_nd(0), &params_shape, &[rows, dims.len()], &indices)
}

/// gather_elements along dim 1 of params [2, 5, `inner` but at least 3]. The last dim of indices is `inner`.
fn along_elements(kind: IndexKind, slices: Slices, inner: usize) -> Case {
    let values = edge_values(5, kind);
    // Whole lanes.
    let along = (slices.times * values.len() / 4 + 1).next_multiple_of(2);
    let outer = 2;
    let indices: Vec<i128> = (0..outer * along * inner)
        .map(|n| values[(n + n / values.len()) % values.len()])
        .collect();
    let params = [2, 5, inner.max(3)];
    case(elements(1), &params, &[outer, along, inner], &indices)
}

/// Two batches with three blocks each, of `count` output rows, which hold the edge values at different places in a lane.
/// `FourRows` copies whole blocks.
fn along_blocks(kind: IndexKind, slices: Slices, count: usize) -> Case {
    let values = edge_values(5, kind);
    let indices: Vec<i128> = (0..2 * count)
        .map(|n| values[(n + n / values.len()) % values.len()])
        .collect();
    let params = [2, 3, 5, slices.slice_len];
    case(gather(2, 1), &params, &[2, count], &indices)
}

fn edge_values(dim: usize, kind: IndexKind) -> Vec<i128> {
    let mut values = values_around(dim);
    values.retain(|&value| holds(kind, value));
    values
}

/// Compares with the oracle: one in seven of `slices` and `kinds`, counted from the end or not, with zeros, a fill, clamped or
/// wrapped indices, or a report.
fn check(
    gpu: &Gpu,
    kinds: &[IndexKind],
    slices: &[Slices],
    case_of: impl Fn(IndexKind, Slices) -> Case,
) {
    const POLICIES: [BadIndices; 4] = [
        BadIndices::Fill,
        BadIndices::Clamp,
        BadIndices::Wrap,
        BadIndices::Error,
    ];
    let limits = gpu.device().limits();
    let ways = |&slices| {
        let kinds = kinds.iter();
        kinds.flat_map(move |&kind| [false, true].map(|from_end| (slices, kind, from_end)))
    };
    for (slices, kind, from_end) in sweep::some(0, 7, 3, slices.iter().flat_map(ways)) {
        let case = Case {
            from_end,
            ..case_of(kind, slices)
        };
        let mut samples = case.samples(&[slices.element_bytes], &[kind], &POLICIES);
        let types = ElementTypes::new(slices.element_bytes as u64, kind);
        let text = samples[0].plan.explain(types, &limits);
        let expected = format!("kernel {}: {}", slices.kernel, slices.units);
        assert!(text.contains(&expected), "{text}");
        if slices.element_bytes <= 64 {
            samples.push(samples[0].filled());
        }
        let gatherer = without_runtime_checks(gpu);
        let count = samples.len();
        let ran = batch::check(gpu, gatherer, Recording::Encoder, samples);
        assert_eq!(ran, count);
    }
}
