//! The pipelines that gathers, scatters and masks can use, found by cutting many kinds of plans: a list by hand could differ
//! from the code.

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::LazyLock;

use super::decodings;
use crate::bags::{Bags, Offsets};
use crate::element::ElementTypes;
use crate::encoding::{BlockQuantized, Decoding, Encoding, FloatKind};
use crate::gpu::bags::{Passes, Starts};
use crate::gpu::fill::FillPattern;
use crate::gpu::kernel::MAX_ELEMENT_DIMS;
use crate::gpu::nonzero::NONZERO;
use crate::gpu::placed::Placed;
use crate::gpu::shaders::{EntryPoint, PipelineKey, Shader};
use crate::gpu::types::TypedPlan;
use crate::gpu::update::Update;
use crate::gpu::work::{Scatters, Work};
use crate::index::IndexKind;
use crate::reduce::{NumberKind, Reduce};
use crate::{BadIndices, Gather, GatherElements, GatherNd, GatherPlan};

/// How many dispatches of a call are asked for their pipelines.
const MOST: usize = 10;

/// All reachable pipelines, in a fixed order.
pub(super) fn reachable() -> &'static [PipelineKey] {
    static KEYS: LazyLock<Vec<PipelineKey>> = LazyLock::new(|| {
        let mut found = HashSet::new();
        add_gathers(&mut found);
        add_scatters(&mut found);
        found.extend(NONZERO.map(|of| of.key(false)));
        add_bags(&mut found);
        let mut keys: Vec<_> = found.into_iter().flat_map(variants).collect();
        keys.sort_by_key(|key| format!("{key:?}"));
        keys.dedup();
        keys
    });
    &KEYS
}

/// A pipeline, and those of the same call without a report, and with operands that share buffers.
fn variants(key: PipelineKey) -> Vec<PipelineKey> {
    let entry_points = match key.entry_point {
        EntryPoint::Gather { kernel, find, .. } => [false, true]
            .map(|report| EntryPoint::Gather {
                kernel,
                find,
                report,
            })
            .to_vec(),
        // They write no operand, or bind no other.
        EntryPoint::CountRows | EntryPoint::Alone(_) | EntryPoint::Narrow(_) => return vec![key],
        other => vec![other],
    };
    let both = |of: EntryPoint| [false, true].map(|aliased| of.key(aliased));
    entry_points.into_iter().flat_map(both).collect()
}

/// A call with a report.
fn placed(plan: &GatherPlan) -> Placed {
    Placed {
        has_report: true,
        ..Placed::aligned(plan)
    }
}

/// These pipelines' modules.
pub(super) fn shaders() -> Vec<Shader> {
    let mut shaders = Vec::new();
    for shader in reachable().iter().map(|key| Shader::of(key.entry_point)) {
        if !shaders.contains(&shader) {
            shaders.push(shader);
        }
    }
    shaders
}

fn add_gathers(found: &mut HashSet<PipelineKey>) {
    let limits = wgpu::Limits::default();
    let mut add = |plan: &GatherPlan, types, fill_words, has_index_count| {
        let Ok(typed) = TypedPlan::new(plan, types) else {
            return;
        };
        let fill = FillPattern {
            words: fill_words,
            ..FillPattern::ZEROS
        };
        let placed = Placed {
            fill,
            has_index_count,
            // One mask is enough: its pipeline is the same in all calls.
            mask_start: plan.dims().output_rows().eq(&1).then_some(0),
            ..placed(plan)
        };
        // No call takes the plan after an error.
        found.extend(
            Work::new(typed, None, &placed, &limits)
                .iter()
                .flat_map(|work| work.keys(MOST)),
        );
    };
    for plan in encoded_plans() {
        for Decoding { encoding, to } in decodings() {
            for &index_kind in IndexKind::ALL {
                let types = ElementTypes::decoded(encoding, to, index_kind);
                add(&plan, types, 1, false);
            }
        }
    }
    for plan in plans() {
        // The largest slices are cut into pieces.
        let slices = (1..=1300).chain(3950..=4210);
        for element_bytes in slices.chain([1 << 20, (1 << 24) + 4, (1 << 30) + 1, 1 << 33]) {
            for &index_kind in IndexKind::ALL {
                let types = ElementTypes::new(element_bytes, index_kind);
                // Any 256 consecutive slice sizes pair every fill length with every slice size modulo 16.
                let fill_words = element_bytes / 16 % 16 + 1;
                let fill_words = fill_words.try_into().expect("a few words");
                add(&plan, types, fill_words, false);
                // Others have more dispatches than an index count takes, or nearly as many.
                let dims = plan.dims();
                let bytes = dims.params_rows().max(dims.output_rows());
                let bytes = bytes.saturating_mul(element_bytes);
                if bytes < 1 << 37 && dims.output_rows() / dims.index_count < 1 << 10 {
                    add(&plan, types, fill_words, true);
                }
            }
        }
    }
}

/// Bags of `f32`s, and for a few encodings, which stand for all, those of indices of one type.
fn add_bags(found: &mut HashSet<PipelineKey>) {
    let quantized = BlockQuantized::new(4, 32).expect("a block");
    let mut add = |encoding, len, index_kind, policy| {
        let gather = Gather::new().bad_indices(policy);
        let plan = gather.plan(&[9, len], &[5000]).expect("valid shapes");
        let types = ElementTypes::decoded(encoding, FloatKind::F16, index_kind);
        let typed = TypedPlan::new(&plan, types).expect("whole blocks");
        let offsets = || Offsets::new((), IndexKind::I32, 3);
        for bags in [
            Bags::sum(offsets()),
            Bags::weighted(offsets(), ()),
            Bags::max(offsets()),
        ] {
            let limits = wgpu::Limits::default();
            let passes = Passes::new(&typed, &bags, &Starts::default(), &limits);
            let passes = passes.expect("within the limits");
            let Ok(()) = passes.each(&mut |pass| {
                found.insert(pass.key);
                Ok::<_, Infallible>(())
            });
        }
    };
    for index_kind in [IndexKind::I32, IndexKind::I64, IndexKind::U8] {
        add(Encoding::F32, 64, index_kind, BadIndices::Fill);
    }
    add(Encoding::F32, 64, IndexKind::I32, BadIndices::Wrap);
    add(Encoding::F32, 33, IndexKind::I32, BadIndices::Wrap);
    add(Encoding::F32, 33, IndexKind::I32, BadIndices::Fill);
    add(Encoding::Q8_0, 64, IndexKind::I32, BadIndices::Fill);
    add(Encoding::RowWise8, 33, IndexKind::I32, BadIndices::Fill);
    add(
        Encoding::BlockQuantized(quantized),
        64,
        IndexKind::I32,
        BadIndices::Fill,
    );
    found.extend([FloatKind::F16, FloatKind::Bf16].map(|to| EntryPoint::Narrow(to).key(false)));
}

/// The updates of scatters.
pub(super) fn updates() -> Vec<Update> {
    use NumberKind::{Bf16, F16, F32, I32, U32};
    use Reduce::{Add, Max, Min, Mul};
    let mut updates = vec![Update::Assign, Update::AssignLast];
    for half in [F16, Bf16] {
        updates.extend([Add, Min, Max].map(|reduce| Update::Fold(reduce, half)));
    }
    updates.extend([
        Update::Reduce(Add, F32),
        Update::Fold(Add, F32),
        Update::Fold(Mul, U32),
    ]);
    updates.extend([Min, Max].map(|reduce| Update::Fold(reduce, F32)));
    updates.extend([Add, Mul].map(|reduce| Update::Reduce(reduce, U32)));
    updates.push(Update::Atomic(Add, U32));
    for reduce in [Min, Max] {
        updates.extend([U32, I32, F32].map(|of| Update::Reduce(reduce, of)));
        updates.extend([U32, I32].map(|of| Update::Atomic(reduce, of)));
    }
    updates
}

fn add_scatters(found: &mut HashSet<PipelineKey>) {
    let limits = wgpu::Limits::default();
    let mut add = |plan: &GatherPlan, element_bytes, index_kind, update| {
        let types = ElementTypes::new(element_bytes, index_kind);
        let Ok(typed) = TypedPlan::of_scatter(plan, types, update) else {
            return;
        };
        let index_rows = plan.of_index_rows();
        let placed = placed(plan);
        let work = Work::new(
            typed,
            Some((Scatters::new(None), &index_rows)),
            &placed,
            &limits,
        );
        found.extend(work.iter().flat_map(|work| work.keys(MOST)));
    };
    for plan in plans() {
        for &index_kind in IndexKind::ALL {
            for update in updates() {
                let widths: &[u64] = match update {
                    Update::Assign | Update::AssignLast => &[
                        1,
                        2,
                        3,
                        4,
                        12,
                        16,
                        1000,
                        2052,
                        4112,
                        4113,
                        1 << 20,
                        (1 << 30) + 1,
                    ],
                    of if of.is_of_halves() => &[2],
                    _ => &[4],
                };
                for &element_bytes in widths {
                    add(&plan, element_bytes, index_kind, update);
                }
            }
        }
    }
    for (slice_len, rows) in [
        (4, 16),
        (4, 1 << 20),
        (3, 16),
        (3, 1 << 20),
        (513, 16),
        (2048, 16),
    ] {
        let plan = Gather::new().plan(&[9, slice_len], &[rows]);
        let plan = plan.expect("valid shapes");
        for &index_kind in IndexKind::ALL {
            for update in updates() {
                let element_bytes = if update.is_of_halves() { 2 } else { 4 };
                add(&plan, element_bytes, index_kind, update);
            }
        }
    }
}

/// Plans whose slices are whole blocks in all encodings, with and without output gaps that leave 4-byte units.
fn encoded_plans() -> Vec<GatherPlan> {
    let mut plans = Vec::new();
    for (slice_len, rows) in [(256, 16), (256, 1 << 20), (2048, 16)] {
        for depth in [1, 3] {
            let params_shape = [vec![9; depth], vec![slice_len]].concat();
            let plan = GatherNd::new().plan(&params_shape, &[rows, depth]);
            let plan = plan.expect("valid shapes");
            let gaps = plan.with_output_stride(slice_len + 1);
            plans.extend([plan, gaps.expect("a short gap")]);
        }
    }
    plans
}

/// Each kind of plan on which the choice of a kernel or its row finder depends. Slices are one element.
fn plans() -> Vec<GatherPlan> {
    let gather =
        |params_shape: &[usize], indices: usize| Gather::new().plan(params_shape, &[indices]);
    let elements = |rank| {
        GatherElements::new()
            .axis(0)
            .plan(&vec![3; rank], &vec![2; rank])
    };
    let mut plans = vec![
        gather(&[9], 1),
        gather(&[9], 16),
        // Packed rows and rows left over that fill no lane.
        gather(&[9], 1027),
        gather(&[1 << 31], 16),
        gather(&[(1 << 31) + 1], 16),
        gather(&[1 << 33], 16),
        Gather::new().axis(1).plan(&[1 << 20, 1 << 12], &[16]),
        Gather::new().axis(1).batch_dims(1).plan(&[2, 9], &[2, 16]),
        gather(&[9], 16).and_then(|plan| plan.shard(3..6)),
    ];
    // Few rows, and enough rows for four a lane.
    for rows in [16, 1 << 20] {
        plans.extend(
            (0..=8).map(|depth| GatherNd::new().plan(&vec![2; depth.max(1)], &[rows, depth])),
        );
        let wraps = Gather::new().bad_indices(BadIndices::Wrap);
        plans.push(wraps.plan(&[9], &[rows]));
    }
    plans.extend((1..=MAX_ELEMENT_DIMS).map(elements));
    // Lanes that take packed elements, and lanes that take two lines.
    plans.push(GatherElements::new().axis(0).plan(&[9, 8], &[6, 8]));
    plans.push(GatherElements::new().axis(0).plan(&[9, 10], &[6, 10]));
    for bad_indices in [BadIndices::Fill, BadIndices::Wrap] {
        let gather = Gather::new().axis(1).bad_indices(bad_indices);
        plans.push(gather.plan(&[8, 9], &[10]));
    }
    let plans = plans.into_iter();
    plans.map(|plan| plan.expect("valid shapes")).collect()
}

#[test]
fn pipelines_are_as_many_as_stated() {
    let private = reachable().iter().filter(|key| !key.aliased).count();
    let aliased = reachable().len() - private;
    // Most are of the encodings and the updates, up to 20 of each. Of halves 18 for each encoding and type, for three of which they
    // are here. Of bags, 12 for each encoding and way of finding rows. count_rows, the sort and the numbers of masks have no aliased ones.
    assert_eq!((private, aliased), (1061, 1048));
    for of in updates() {
        let is_of = |key: &&PipelineKey| matches!(key.entry_point, EntryPoint::Scatter { update, .. } | EntryPoint::Fold { update, .. } if update == of);
        let keys = reachable().iter().filter(|key| !key.aliased);
        let count = keys.filter(is_of).count();
        assert!((1..=20).contains(&count), "{count} pipelines of {of:?}");
    }
}
