//! Runs gathers that decode params, in the interpreter: the output must equal the CPU's, and each access must stay in its
//! binding.

use super::addresses::{MOST, gather, run_types};
use super::decodings;
use super::lanes::index_of;
use super::small_gathers::{WHOLE, limits, run_types_at};
use crate::bad_indices::BadIndices;
use crate::element::ElementTypes;
use crate::encoding::{Decoding, Encoding, FloatKind};
use crate::gpu::cut::Cut;
use crate::gpu::kernel::{Kernel, Unit};
use crate::gpu::placed::Placed;
use crate::gpu::types::TypedPlan;
use crate::index::IndexKind;
use crate::{Gather, GatherPlan};
use gather_oracle::sweep::takes_every_case;

/// The bytes at which params, indices and the output start, and the gaps after rows: blocks in params, values in the output.
const PLACES: [([u64; 3], [u64; 2]); 7] = [
    ([0, 0, 0], [0, 0]),
    ([1, 0, 16], [1, 4]),
    ([2, 4, 4], [0, 0]),
    ([255, 8, 0], [2, 1]),
    ([7, 3, 12], [0, 3]),
    // Of halves only.
    ([4, 0, 2], [0, 0]),
    ([3, 8, 6], [1, 5]),
];

/// The decodings whose rows are cut, and decoded at every start. Three have blocks that are not whole words (17, 18 and 210
/// bytes), some have scales apart. With `GATHER_EVERY_CASE`, all decodings.
fn cut_at_every_start() -> Vec<Decoding> {
    let mut has_scales_apart = false;
    let is_cut = |of: &Decoding| match (of.to, of.encoding) {
        (FloatKind::F32, Encoding::BlockQuantized(_)) => {
            !std::mem::replace(&mut has_scales_apart, true)
        }
        (FloatKind::F32, encoding) => [Encoding::Mxfp4, Encoding::Q4_0].contains(&encoding),
        _ => true,
    };
    match takes_every_case() {
        true => decodings(),
        false => decodings().into_iter().filter(is_cut).collect(),
    }
}

fn types_of(decoding: Decoding, index_kind: IndexKind) -> ElementTypes {
    ElementTypes::decoded(decoding.encoding, decoding.to, index_kind)
}

/// Slice shapes: blocks, half floats that fill no unit, and several rows of the last dim that share no scale. Odd-numbered ones,
/// except `[21]`, allow units of four values. Halves have slices of 1 to 9 of them too.
fn slice_shapes(Decoding { encoding, to }: Decoding) -> Vec<Vec<usize>> {
    let block = usize::try_from(encoding.block_len()).expect("a small block");
    match (encoding.has_whole_rows(), block) {
        (_, 1) if to != FloatKind::F32 => {
            let rows = [vec![21], vec![2, 3], vec![3, 20]];
            (1..10).map(|len| vec![len]).chain(rows).collect()
        }
        (true, _) => vec![
            vec![block],
            vec![40],
            vec![2, 4 * block],
            vec![3, 20],
            vec![2, 68],
        ],
        (false, 1) => vec![vec![1], vec![8], vec![3], vec![21]],
        (false, _) => vec![vec![block], vec![3 * block]],
    }
}

/// A gather along axis 2 of params shaped `[batch, outer, rows, ...slice]`.
fn blocks([batch, outer, rows]: [usize; 3], slice: &[usize], index_count: usize) -> GatherPlan {
    let gather = Gather::new().batch_dims(1).axis(2);
    let gather = gather.bad_indices(BadIndices::Fill);
    let params_shape = [&[batch, outer, rows], slice].concat();
    let plan = gather.plan(&params_shape, &[batch, index_count]);
    plan.expect("a valid shape")
}

#[test]
fn rows_of_each_encoding_are_decoded_at_any_start() {
    let cut = cut_at_every_start();
    for decoding in decodings() {
        let encoding = decoding.encoding;
        let is_cut = cut.contains(&decoding);
        let mut kernels = Vec::new();
        for (number, slice) in slice_shapes(decoding).into_iter().enumerate() {
            for (place, (starts, gaps)) in PLACES.into_iter().enumerate() {
                if !starts[2].is_multiple_of(decoding.to.bytes()) {
                    continue;
                }
                // Even-numbered shapes start the output at a word, odd ones where units of four values start.
                if !is_cut && place != 2 - number % 2 {
                    continue;
                }
                let (batch, outer) = [(1, 1), (2, 2)][(number + place / 2) % 2];
                let plan = blocks([batch, outer, 5], &slice, 6);
                let part = encoding.parts(&plan).expect("whole parts").len;
                let strides = [gaps[0] * part, gaps[1]];
                let [params, output] = strides.map(|gap| index_of(plan.dims().slice_len + gap));
                let plan = plan.with_params_stride(params);
                let plan = plan.and_then(|plan| plan.with_output_stride(output));
                let plan = plan.expect("strides above the slice");
                let kind = match starts[1] {
                    3 => IndexKind::U8,
                    8 => IndexKind::I64,
                    _ => IndexKind::I32,
                };
                let types = types_of(decoding, kind);
                kernels.extend(run_types_at(starts, plan.clone(), types, &[], &WHOLE));
                // Each pair of shape and place is cut in one way too, or in all.
                let takes = |way| is_cut && (takes_every_case() || (number + place) % 4 == way);
                if takes(0) {
                    let shards = [1, 0, 3, 1].map(|rows| rows * (batch * outer) as u64);
                    run_types_at(starts, plan.clone(), types, &shards, &WHOLE);
                }
                if takes(1) {
                    for rows in [2..4, 2..2] {
                        let shard = plan.shard(rows).expect("rows in range");
                        run_types_at(starts, shard, types, &[], &WHOLE);
                    }
                }
                // Bindings that hold a row or two, or pieces of one.
                for (way, bytes) in [(2, 1024 + 256), (3, 4096)] {
                    if takes(way) {
                        run_types_at(starts, plan.clone(), types, &[], &limits(bytes, 256));
                    }
                }
            }
        }
        let decoding = decoding.of_pipeline();
        let of_one = match decoding.to {
            FloatKind::F32 => Kernel::Rows(Unit::OneDecoded(decoding)),
            _ => Kernel::Halves(decoding),
        };
        for kernel in [Kernel::Rows(Unit::FourDecoded(decoding)), of_one] {
            assert!(kernels.contains(&kernel), "{kernel:?}");
        }
    }
}

#[test]
fn long_rows_and_their_pieces_are_decoded() {
    let cut = cut_at_every_start();
    for decoding in decodings() {
        let encoding = decoding.encoding;
        let of_pipeline = decoding.of_pipeline();
        let of_one = match decoding.to {
            FloatKind::F32 => Kernel::Long(Unit::OneDecoded(of_pipeline)),
            _ => Kernel::Halves(of_pipeline),
        };
        for (start, kernel) in [
            (16, Kernel::Long(Unit::FourDecoded(of_pipeline))),
            (4, of_one),
        ] {
            let types = types_of(decoding, IndexKind::I32);
            let starts = [3, 0, start];
            let one_block = blocks([1, 1, 2], &[1280], 2);
            let found = run_types_at(starts, one_block, types, &[], &WHOLE);
            assert_eq!(found[0], kernel);
            if !cut.contains(&decoding) {
                continue;
            }
            let mut plan = blocks([1, 2, 2], &[1280], 3);
            if encoding.has_whole_rows() {
                plan = blocks([1, 2, 2], &[20, 64], 3);
            }
            for bytes in [1024 + 256, 2048 + 64] {
                let found = run_types_at(starts, plan.clone(), types, &[], &limits(bytes, 256));
                assert!(found.len() > 6, "{found:?}");
            }
        }
    }
}

/// A dispatch of one workgroup, 256 lanes, decodes a block of 256 values, the largest. A row of 512 halves fills the lanes too if it
/// starts at a word, and needs one lane more if it starts within one.
#[test]
fn one_workgroup_decodes_a_block_at_once() {
    for decoding in cut_at_every_start() {
        let starts = [0, 4, 2].into_iter();
        for start in starts.filter(|start| start % decoding.to.bytes() == 0) {
            let one_workgroup = wgpu::Limits {
                max_compute_workgroups_per_dimension: 1,
                ..limits(4096, 256)
            };
            let types = types_of(decoding, IndexKind::I32);
            for slice in [&[256][..], &[512], &[2, 256]] {
                let plan = blocks([1, 2, 3], slice, 2);
                let fits = slice != [512] || decoding.to != FloatKind::F32 && start != 2;
                if decoding.encoding.has_whole_rows() && !fits {
                    let typed = TypedPlan::new(&plan, types).expect("few bytes");
                    let placed = Placed {
                        output_start: start,
                        ..Placed::aligned(&plan)
                    };
                    let refused =
                        Cut::new(typed, &placed, &one_workgroup).expect_err("too few lanes");
                    let text = "device limit max_compute_workgroups_per_dimension must be at least 2, found 1";
                    assert_eq!(refused.to_string(), text);
                    continue;
                }
                run_types_at([1, 0, start], plan, types, &[], &one_workgroup);
            }
        }
    }
}

#[test]
fn four_rows_are_decoded() {
    let some = decodings().into_iter();
    for decoding in some.filter(|of| takes_every_case() || of.encoding == Encoding::Q6K) {
        let slice_len = usize::try_from(decoding.encoding.block_len())
            .expect("a small block")
            .max(4);
        let plan = gather(&[7, slice_len], &[(1 << 19) / slice_len]);
        let types = types_of(decoding, IndexKind::I32);
        let found = run_types_at([5, 0, 0], plan, types, &[], &wgpu::Limits::default());
        let unit = Unit::FourDecoded(decoding.of_pipeline());
        assert_eq!(found, [Kernel::FourRows(unit)]);
    }
}

#[test]
fn encoded_params_that_end_near_4_gib_are_decoded() {
    for decoding in decodings() {
        let encoding = decoding.encoding;
        let len = match encoding.has_whole_rows() {
            true => 64,
            false => encoding.block_len().max(4),
        };
        let row_bytes = encoding.row_bytes(len).expect("whole blocks");
        let rows = usize::try_from(MOST / row_bytes).expect("64 bits");
        let len = usize::try_from(len).expect("a short row");
        let unit = Unit::FourDecoded(decoding.of_pipeline());
        for (kind, count, kernel) in [
            (IndexKind::I32, 40, Kernel::Rows(unit)),
            (IndexKind::I64, (1 << 19) / len, Kernel::FourRows(unit)),
        ] {
            let types = types_of(decoding, kind);
            let found = run_types(&gather(&[rows, len], &[count]), types);
            assert_eq!(found[0], (kernel, false));
        }
    }
}
