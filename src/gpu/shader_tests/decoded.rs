//! Runs gathers that decode params, in the interpreter: the output must equal the CPU's, and each access must stay in its
//! binding.

use super::addresses::{MOST, gather, run_types};
use super::encodings;
use super::lanes::index_of;
use super::small_gathers::{WHOLE, limits, run_types_at};
use crate::bad_indices::BadIndices;
use crate::element::ElementTypes;
use crate::encoding::Encoding;
use crate::gpu::cut::Cut;
use crate::gpu::kernel::{Kernel, Unit};
use crate::gpu::placed::Placed;
use crate::gpu::types::TypedPlan;
use crate::index::IndexKind;
use crate::{Gather, GatherPlan};
use gather_oracle::sweep::takes_every_case;

/// The bytes at which params, indices and the output start, and the gaps after rows: blocks in params, values in the output.
const PLACES: [([u64; 3], [u64; 2]); 5] = [
    ([0, 0, 0], [0, 0]),
    ([1, 0, 16], [1, 4]),
    ([2, 4, 4], [0, 0]),
    ([255, 8, 0], [2, 1]),
    ([7, 3, 12], [0, 3]),
];

/// The encodings whose rows are cut, and decoded at every start. Three have blocks that are not whole words (17, 18 and 210
/// bytes), one has scales apart. With `GATHER_EVERY_CASE`, all encodings.
fn cut_at_every_start() -> Vec<Encoding> {
    if takes_every_case() {
        return encodings();
    }
    vec![
        Encoding::Mxfp4,
        Encoding::Q4_0,
        Encoding::Q6K,
        with_scales_apart(),
    ]
}

fn with_scales_apart() -> Encoding {
    let mut all = encodings().into_iter();
    let found = all.find(|encoding| encoding.block_quantized().is_some());
    found.expect("an encoding of quantised values")
}

/// Slice shapes: blocks, half floats that fill no unit, and several rows of the last dim that share no scale. Odd-numbered ones,
/// except `[21]`, allow units of four values.
fn slice_shapes(encoding: Encoding) -> Vec<Vec<usize>> {
    let block = usize::try_from(encoding.block_len()).expect("a small block");
    match (encoding.has_whole_rows(), block) {
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
    for encoding in encodings() {
        let is_cut = cut.contains(&encoding);
        let mut kernels = Vec::new();
        for (number, slice) in slice_shapes(encoding).into_iter().enumerate() {
            for (place, (starts, gaps)) in PLACES.into_iter().enumerate() {
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
                let types = ElementTypes::encoded(encoding, kind);
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
        let encoding = encoding.of_pipeline();
        for unit in [Unit::FourDecoded(encoding), Unit::OneDecoded(encoding)] {
            assert!(kernels.contains(&Kernel::Rows(unit)), "{unit:?}");
        }
    }
}

#[test]
fn long_rows_and_their_pieces_are_decoded() {
    let cut = cut_at_every_start();
    for encoding in encodings() {
        let of_pipeline = encoding.of_pipeline();
        for (start, unit) in [
            (16, Unit::FourDecoded(of_pipeline)),
            (4, Unit::OneDecoded(of_pipeline)),
        ] {
            let types = ElementTypes::encoded(encoding, IndexKind::I32);
            let starts = [3, 0, start];
            let one_block = blocks([1, 1, 2], &[1280], 2);
            let found = run_types_at(starts, one_block, types, &[], &WHOLE);
            assert_eq!(found[0], Kernel::Long(unit));
            if !cut.contains(&encoding) {
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

/// A device with one workgroup a dispatch has just enough lanes for the largest block's values.
#[test]
fn one_workgroup_decodes_a_block_at_once() {
    for encoding in cut_at_every_start() {
        for start in [0, 4] {
            let one_workgroup = wgpu::Limits {
                max_compute_workgroups_per_dimension: 1,
                ..limits(4096, 256)
            };
            let types = ElementTypes::encoded(encoding, IndexKind::I32);
            for slice in [&[256][..], &[512], &[2, 256]] {
                let plan = blocks([1, 2, 3], slice, 2);
                if encoding.has_whole_rows() && slice == [512] {
                    let typed = TypedPlan::new(&plan, types).expect("few bytes");
                    let refused = Cut::new(typed, &Placed::aligned(&plan), &one_workgroup)
                        .expect_err("too few lanes");
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
    let some = match takes_every_case() {
        true => encodings(),
        false => vec![Encoding::Q6K],
    };
    for encoding in some {
        let slice_len = usize::try_from(encoding.block_len())
            .expect("a small block")
            .max(4);
        let plan = gather(&[7, slice_len], &[(1 << 19) / slice_len]);
        let types = ElementTypes::encoded(encoding, IndexKind::I32);
        let found = run_types_at([5, 0, 0], plan, types, &[], &wgpu::Limits::default());
        let unit = Unit::FourDecoded(encoding.of_pipeline());
        assert_eq!(found, [Kernel::FourRows(unit)]);
    }
}

#[test]
fn encoded_params_that_end_near_4_gib_are_decoded() {
    for encoding in encodings() {
        let len = match encoding.has_whole_rows() {
            true => 64,
            false => encoding.block_len().max(4),
        };
        let row_bytes = encoding.row_bytes(len).expect("whole blocks");
        let rows = usize::try_from(MOST / row_bytes).expect("64 bits");
        let len = usize::try_from(len).expect("a short row");
        let unit = Unit::FourDecoded(encoding.of_pipeline());
        for (kind, count, kernel) in [
            (IndexKind::I32, 40, Kernel::Rows(unit)),
            (IndexKind::I64, (1 << 19) / len, Kernel::FourRows(unit)),
        ] {
            let types = ElementTypes::encoded(encoding, kind);
            let found = run_types(&gather(&[rows, len], &[count]), types);
            assert_eq!(found[0], (kernel, false));
        }
    }
}
