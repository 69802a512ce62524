//! The pipelines that gathers, scatters and masks can use, found by cutting many kinds of plans: a list by hand could differ
//! from the code.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::encodings;
use crate::element::ElementTypes;
use crate::gpu::cut::{Cut, PlacedGather};
use crate::gpu::kernel::MAX_ELEMENT_DIMS;
use crate::gpu::shaders::{EntryPoint, PipelineKey, Shader};
use crate::gpu::types::TypedPlan;
use crate::gpu::update::{FoldPass, IndexRowsPass, SortPass, Update};
use crate::index::IndexKind;
use crate::reduce::{NumberKind, Reduce};
use crate::{BadIndices, Gather, GatherElements, GatherNd, GatherPlan};

/// All reachable pipelines, in a fixed order.
pub(super) fn reachable() -> &'static [PipelineKey] {
    static KEYS: LazyLock<Vec<PipelineKey>> = LazyLock::new(|| {
        let private_and_aliased =
            |entry_point: EntryPoint| [false, true].map(|aliased| entry_point.key(aliased));
        let others = [EntryPoint::FinishReport, EntryPoint::OutOfRange];
        let entry_points = gathers().into_iter().chain(scatters()).chain(others);
        let mut keys: Vec<_> = entry_points.flat_map(private_and_aliased).collect();
        // count_rows writes no operand, so it has no aliased pipeline.
        keys.push(EntryPoint::CountRows.key(false));
        // Nor does the sort.
        keys.extend(SortPass::ALL.map(|pass| EntryPoint::Sort(pass).key(false)));
        keys.sort_by_key(|key| format!("{key:?}"));
        keys
    });
    &KEYS
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

/// The entry points that dispatches of all `plans` use, with and without a report.
fn gathers() -> HashSet<EntryPoint> {
    let limits = wgpu::Limits::default();
    let mut found = HashSet::new();
    let mut add = |plan: &GatherPlan, types, fill_words, is_indirect| {
        let Ok(typed) = TypedPlan::new(plan, types) else {
            return;
        };
        let gather = PlacedGather {
            fill_words,
            is_indirect,
            ..PlacedGather::aligned(typed)
        };
        let Ok(cut) = Cut::new(gather, &limits) else {
            return;
        };
        found.extend(cut.dispatches().take(10).flat_map(|dispatch| {
            [false, true].map(|report| dispatch.pipeline(report, false).entry_point)
        }));
    };
    for plan in encoded_plans() {
        for encoding in encodings() {
            for &index_kind in IndexKind::ALL {
                add(&plan, ElementTypes::encoded(encoding, index_kind), 1, false);
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
                for is_indirect in [false, true] {
                    add(&plan, types, fill_words, is_indirect);
                }
            }
        }
    }
    found
}

/// The updates of scatters.
pub(super) fn updates() -> Vec<Update> {
    use NumberKind::{F32, I32, U32};
    use Reduce::{Add, Max, Min, Mul};
    let mut updates = vec![Update::Assign, Update::AssignLast];
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

/// The entry points that dispatches of scatters through all `plans` use.
fn scatters() -> HashSet<EntryPoint> {
    let limits = wgpu::Limits::default();
    let mut found = HashSet::new();
    let mut add = |plan: &GatherPlan, element_bytes, index_kind, update| {
        let types = ElementTypes::new(element_bytes, index_kind);
        let Ok(typed) = TypedPlan::of_scatter(plan, types, update) else {
            return;
        };
        let Ok(cut) = Cut::new(PlacedGather::aligned(typed), &limits) else {
            return;
        };
        for dispatch in cut.dispatches().take(10) {
            found.extend(match update {
                Update::IndexRows => [
                    IndexRowsPass::ClearWinners,
                    IndexRowsPass::FindWinners,
                    IndexRowsPass::CountBad,
                    IndexRowsPass::WriteKeys,
                ]
                .map(|pass| EntryPoint::IndexRows {
                    pass,
                    find: dispatch.find,
                })
                .to_vec(),
                Update::Fold(..) => [FoldPass::Rows, FoldPass::Later, FoldPass::Sums]
                    .map(|pass| EntryPoint::Fold {
                        pass,
                        unit: dispatch.kernel.unit().expect("whole units"),
                        update,
                    })
                    .to_vec(),
                update => vec![dispatch.scatter_pipeline(update, false).entry_point],
            });
        }
    };
    for plan in plans() {
        for &index_kind in IndexKind::ALL {
            let index_rows = plan.of_index_rows();
            add(&index_rows, 4, index_kind, Update::IndexRows);
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
                add(&plan, 4, index_kind, update);
            }
        }
    }
    found
}

/// Plans whose slices are whole blocks in all encodings, with and without output gaps that leave 4-byte units.
fn encoded_plans() -> Vec<GatherPlan> {
    let mut plans = Vec::new();
    for (slice_len, rows) in [(256, 16), (256, 1 << 20), (2048, 16)] {
        for depth in [1, 3] {
            let params_shape = [vec![9; depth], vec![slice_len]].concat();
            let plan = GatherNd::new().plan(&params_shape, &[rows, depth]);
            let plan = plan.expect("valid shapes");
            let gaps = plan.with_output_stride(slice_len as u64 + 1);
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
fn pipelines_are_few() {
    let (aliased, private): (Vec<_>, Vec<_>) =
        reachable().iter().copied().partition(|key| key.aliased);
    let (private, aliased) = (private.len(), aliased.len());
    println!("{private} pipelines, and {aliased} for operands that share a buffer");
    let most = 180 + 20 * encodings().len() + 20 * (updates().len() + 1);
    assert!(private <= most && aliased <= most, "{private}, {aliased}");
    for of in updates() {
        let is_of = |key: &&PipelineKey| matches!(key.entry_point, EntryPoint::Scatter { update, .. } | EntryPoint::Fold { update, .. } if update == of);
        let count = reachable()
            .iter()
            .filter(|key| !key.aliased)
            .filter(is_of)
            .count();
        println!("{count} pipelines of {of:?}");
        assert!((1..=20).contains(&count), "{count} pipelines of {of:?}");
    }
    let different: HashSet<_> = reachable().iter().collect();
    assert_eq!(different.len(), reachable().len());
}
