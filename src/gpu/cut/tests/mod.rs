//! Cuts chosen plans to chosen limits, without data: sizes may be far past any memory. The shader tests run small cuts.

mod checks;
mod packed_and_indirect;
mod quantized;

use super::*;
use crate::element::ElementTypes;
use crate::gpu::bound::BoundRange;
use crate::gpu::kernel::{Kernel, Unit};
use crate::index::IndexKind;
use crate::{Gather, GatherElements, GatherNd, GatherPlan};
use checks::{assert_each_row_once, assert_fits, uniform};

fn limits(binding_bytes: u64, workgroups: u32) -> wgpu::Limits {
    wgpu::Limits {
        max_storage_buffer_binding_size: binding_bytes,
        max_compute_workgroups_per_dimension: workgroups,
        ..Default::default()
    }
}

fn gather(params_shape: &[usize], indices_shape: &[usize]) -> GatherPlan {
    let plan = Gather::new().plan(params_shape, indices_shape);
    plan.expect("a valid shape")
}

fn typed(plan: &GatherPlan, types: ElementTypes) -> TypedPlan<'_> {
    TypedPlan::new(plan, types).expect("bytes that can be counted")
}

const fn types(element_bytes: u64, index_kind: IndexKind) -> ElementTypes {
    ElementTypes::new(element_bytes, index_kind)
}

/// Cuts a plan with `i32` indices and params in one buffer.
fn cut<'a>(plan: &'a GatherPlan, element_bytes: u64, limits: &wgpu::Limits) -> Cut<'a> {
    let types = types(element_bytes, IndexKind::I32);
    let cut = Cut::new(typed(plan, types), &Placed::aligned(plan), limits);
    cut.expect("the device holds a row")
}

/// Each dispatch's kernel and number of rows.
fn kernels(plan: &GatherPlan, element_bytes: u64, limits: &wgpu::Limits) -> Vec<(Kernel, u64)> {
    let cut = cut(plan, element_bytes, limits);
    let dispatches = cut.dispatches();
    let kernels = dispatches.map(|dispatch| (dispatch.kernel, dispatch.rows()));
    kernels.collect()
}

#[test]
fn a_plan_within_the_limits_is_one_dispatch() {
    let plan = Gather::new()
        .axis(2)
        .batch_dims(1)
        .plan(&[2, 3, 7, 64], &[2, 5]);
    let plan = plan.expect("a valid shape");
    let dispatches: Vec<_> = cut(&plan, 4, &wgpu::Limits::default())
        .dispatches()
        .collect();
    let bound = |bytes| BoundRange {
        offset: 0,
        bytes,
        start: 0,
    };
    let [dispatch] = dispatches[..] else {
        panic!("one dispatch: {dispatches:?}");
    };
    assert_eq!(dispatch.kernel, Kernel::Rows(Unit::Vec4));
    // Two workgroups, each with lanes for 16 slices of 16 units.
    assert_eq!(dispatch.workgroups, [2, 1, 1]);
    assert_eq!(
        [dispatch.params, dispatch.indices, dispatch.output],
        [bound(42 * 256), bound(40), bound(30 * 256)]
    );
    let sizes = uniform(&plan, &dispatch);
    assert_eq!(
        (sizes.rows, sizes.units, sizes.workgroup_rows),
        (30, 16, 16)
    );
    assert_eq!(sizes.lane_step, 0);
    assert_eq!((sizes.index_count, sizes.outer_size), (5, 3));
    assert_eq!((sizes.held_rows, sizes.window_rows), ([7, 0], 42));
    assert_eq!((sizes.dims[0], sizes.reports), ([7, 0], 1));
}

#[test]
fn small_limits_leave_no_row_out_and_do_none_twice() {
    let nd = |batch_dims, params: &[usize], indices: &[usize]| {
        let plan = GatherNd::new().batch_dims(batch_dims).plan(params, indices);
        plan.expect("a valid shape")
    };
    let along = |axis, batch_dims, params: &[usize], indices: &[usize]| {
        let gather = Gather::new().axis(axis).batch_dims(batch_dims);
        gather.plan(params, indices).expect("a valid shape")
    };
    let plans = [
        gather(&[700], &[900]),
        gather(&[3, 211], &[50]),
        gather(&[5, 1500], &[7]),
        gather(&[0, 4], &[700]),
        nd(0, &[30, 20, 5], &[400, 2]),
        nd(0, &[30, 20], &[9, 0]),
        nd(1, &[40, 30, 3], &[40, 25, 1]),
        along(1, 0, &[20, 30, 4], &[25]),
        along(2, 1, &[6, 7, 40, 3], &[6, 50]),
        along(2, 1, &[2, 3, 400, 1], &[2, 700]),
        along(1, 1, &[300, 2, 2], &[300, 3]),
    ];
    let mut most = 0;
    for plan in &plans {
        for element_bytes in [1, 2, 3, 4, 16] {
            for limits in [limits(1024, 2), limits(2048, 1), limits(700, 65_535)] {
                most = most.max(assert_each_row_once(plan, element_bytes, &limits));
            }
        }
    }
    assert!(most > 100, "the limits cut nothing: {most}");
}

/// A binding holds a slice, a dispatch does not: only the dispatch limits the pieces.
#[test]
fn bindings_as_long_as_their_alignment_are_cut() {
    for alignment in [32, 256, 1024, 8192, 16_384] {
        for workgroups in [1, 2, 65_535] {
            for binding_bytes in [1024, 8192] {
                let limits = wgpu::Limits {
                    min_storage_buffer_offset_alignment: alignment,
                    ..limits(binding_bytes, workgroups)
                };
                for params in [[2, 100], [4, 256], [4, 510], [1, 2048], [3, 2048], [64, 32]] {
                    let plan = gather(&params, &[2]);
                    for element_bytes in [1, 3, 4, 16] {
                        let text = plan.explain(types(element_bytes, IndexKind::I32), &limits);
                        if !text.contains("cannot run") {
                            assert_each_row_once(&plan, element_bytes, &limits);
                        }
                    }
                }
            }
        }
    }
    let limits = wgpu::Limits {
        min_storage_buffer_offset_alignment: 8192,
        ..limits(8192, 1)
    };
    // 8,160 bytes, in pieces of 1,008: what a dispatch's 256 lanes copy.
    assert_eq!(
        assert_each_row_once(&gather(&[1, 2040], &[1]), 4, &limits),
        9
    );
}

#[test]
fn cuts_are_few_and_large() {
    let count = |plan: &GatherPlan| {
        let limits = wgpu::Limits::default();
        let cut = cut(plan, 4, &limits);
        let dispatches: Vec<_> = cut.dispatches().collect();
        for dispatch in &dispatches {
            assert_fits(&cut, dispatch, &limits, plan);
        }
        dispatches.len()
    };
    // 300 MiB of params, output and indices in turn, in 128 MiB bindings.
    assert_eq!(count(&gather(&[4_915_200, 16], &[1000])), 3);
    assert_eq!(count(&gather(&[1000, 16], &[4_915_200])), 3);
    assert_eq!(count(&gather(&[1000], &[78_643_200])), 3);
    // Each block needs only its own params rows.
    let plan = Gather::new().axis(1).plan(&[1024, 4096, 16], &[512]);
    assert_eq!(count(&plan.expect("a valid shape")), 2);
}

#[test]
fn sizes_far_past_memory_are_cut_without_data() {
    let limits = wgpu::Limits::default();
    for (plan, element_bytes) in [
        (gather(&[1 << 40], &[1 << 20]), 1),
        (gather(&[1 << 40], &[1 << 20]), 16),
        (gather(&[3, 1 << 40], &[2]), 3),
        (gather(&[7], &[1 << 40]), 1),
        (gather(&[1 << 33, 5], &[1 << 33]), 2),
    ] {
        let cut = cut(&plan, element_bytes, &limits);
        let is_wide = plan.dims().params_rows() > 1 << 31;
        assert_eq!(cut.find == FindRows::General, is_wide, "{plan}");
        let dispatches: Vec<_> = cut.dispatches().take(5000).collect();
        for dispatch in &dispatches {
            assert_fits(&cut, dispatch, &limits, &plan);
        }
        assert_eq!(dispatches[0].blocks.index_rows.0, 0, "{plan}");
        if plan.dims().slice_len == 1 && dispatches.len() > 1 {
            // The next params window, or the next output chunk, begins where the last one ended.
            let [one, two] = [&dispatches[0], &dispatches[1]];
            let end = one.params.offset + one.params.bytes;
            assert!(
                two.params.offset == end
                    || two.output.offset == one.output.offset + one.output.bytes
            );
        }
    }
}

#[test]
fn params_in_shards_is_cut_at_their_ends() {
    let plan = gather(&[100, 16], &[10]);
    let placed = Placed {
        shards: Shards::new(
            [30, 0, 50, 20]
                .map(|rows| Shard { rows, start: 0 })
                .into_iter(),
        ),
        ..Placed::aligned(&plan)
    };
    let typed = typed(&plan, types(4, IndexKind::I32));
    let cut = Cut::new(typed, &placed, &wgpu::Limits::default());
    let cut = cut.expect("it fits");
    let dispatches = cut.dispatches();
    let found: Vec<_> = dispatches
        .map(|dispatch| (dispatch.shard, dispatch.params_rows))
        .collect();
    assert_eq!(found, [(0, (0, 30)), (2, (30, 80)), (3, (80, 100))]);
}

#[test]
fn many_workgroups_fill_grid_rows_of_equal_width() {
    let workgroups = |rows: usize| {
        // A workgroup gathers 1024 16-byte rows.
        let plan = gather(&[2], &[rows * 1024]);
        let limits = wgpu::Limits {
            max_storage_buffer_binding_size: 1 << 32,
            ..Default::default()
        };
        let cut = cut(&plan, 16, &limits);
        let dispatches = cut.dispatches();
        dispatches
            .map(|dispatch| dispatch.workgroups)
            .collect::<Vec<_>>()
    };
    assert_eq!(workgroups(65_535), [[65_535, 1, 1]]);
    assert_eq!(workgroups(65_536), [[32_768, 2, 1]]);
    assert_eq!(workgroups(2 * 65_535 + 1), [[43_691, 3, 1]]);
}

#[test]
fn blocks_with_workgroups_of_their_own_are_a_grid() {
    // Two batches with three blocks each; a workgroup gathers 256 64-byte rows.
    let dispatches = |rows| {
        let plan = Gather::new().axis(2).batch_dims(1);
        let plan = plan
            .plan(&[2, 3, 9, 16], &[2, rows])
            .expect("a valid shape");
        let cut = cut(&plan, 4, &wgpu::Limits::default());
        let dispatches = cut
            .dispatches()
            .map(|found| (found.kernel, found.workgroups));
        dispatches.collect::<Vec<_>>()
    };
    let (one, four) = (Kernel::Rows(Unit::Vec4), Kernel::FourRows(Unit::Vec4));
    assert_eq!(dispatches(5_500), [(four, [22, 3, 2])]);
    // Fewer lanes than keep a large GPU busy.
    assert_eq!(dispatches(5_400), [(one, [507, 1, 1])]);
}

#[test]
fn only_one_piece_and_one_outer_coordinate_report() {
    let reports = |plan: &GatherPlan, limits: &wgpu::Limits| {
        let cut = cut(plan, 4, limits);
        let dispatches = cut.dispatches();
        dispatches
            .map(|dispatch| dispatch.reports)
            .collect::<Vec<_>>()
    };
    // Each slice has three pieces, and params has two rows.
    let pieces = reports(&gather(&[2, 160], &[1]), &limits(512, 8));
    assert_eq!(pieces, [true, true, false, false, false, false]);
    let outer = Gather::new().axis(1).plan(&[2, 64, 4], &[64]);
    let outer = outer.expect("a valid shape");
    assert_eq!(reports(&outer, &limits(1024, 8)), [true, false]);
}

#[test]
fn an_empty_output_needs_no_dispatch_at_any_limits() {
    for plan in [gather(&[1 << 40], &[0]), gather(&[1 << 40, 0], &[3])] {
        assert_eq!(
            cut(&plan, 4, &limits(0, 0)).dispatches().count(),
            0,
            "{plan}"
        );
    }
}

#[test]
fn a_device_that_holds_no_row_is_refused() {
    let plan = GatherNd::new()
        .plan(&[2; 8], &[3, 8])
        .expect("a valid shape");
    let refused = |limits| {
        let types = types(4, IndexKind::I64);
        let cut = Cut::new(typed(&plan, types), &Placed::aligned(&plan), &limits);
        cut.expect_err("too little").to_string()
    };
    assert_eq!(
        refused(limits(255, 1)),
        "device limit max_storage_buffer_binding_size must be at least 256, found 252"
    );
    assert_eq!(
        refused(limits(1024, 0)),
        "device limit max_compute_workgroups_per_dimension must be at least 1, found 0"
    );
    let many = gather(&[1000, 2], &[100]);
    let of_many = typed(&many, types(4, IndexKind::I32));
    let refused = Cut::new(of_many, &Placed::aligned(&many), &limits(200, 1));
    assert_eq!(
        refused.expect_err("too little").to_string(),
        "device limit max_storage_buffer_binding_size must be at least 256, found 200"
    );
    let held = typed(&plan, types(4, IndexKind::I64));
    assert!(Cut::new(held, &Placed::aligned(&plan), &limits(256, 1)).is_ok());
}

#[test]
fn rows_past_2_to_the_32_are_numbered_modulo_2_to_the_32() {
    let plan = gather(&[7], &[(1 << 32) + 5000]);
    // Bindings of 4 GiB less 256 bytes: 2^30 - 64 index rows each.
    let limits = wgpu::Limits {
        max_storage_buffer_binding_size: (1 << 32) - 256,
        ..Default::default()
    };
    let cut = cut(&plan, 4, &limits);
    let dispatches: Vec<_> = cut.dispatches().collect();
    let rows: Vec<_> = dispatches.iter().map(|found| found.output_rows).collect();
    let held = (1 << 30) - 64;
    assert_eq!(
        rows,
        [
            (0, held),
            (held, 2 * held),
            (2 * held, 3 * held),
            (3 * held, 4 * held),
            (4 * held, 1 << 32),
            (1 << 32, (1 << 32) + 5000),
        ]
    );
    for dispatch in &dispatches {
        assert_fits(&cut, dispatch, &limits, &plan);
        let sizes = uniform(&plan, dispatch);
        let (first, end) = dispatch.output_rows;
        let low = u32::try_from(first % (1 << 32)).expect("the low word");
        assert_eq!(sizes.first_n, low);
        assert_eq!(sizes.index_row_base, [0, u32::from(first >= 1 << 32)]);
        // Index row `first_n` starts where the first row that is bound does.
        let start = sizes.indices_start.wrapping_add(low);
        assert_eq!(u64::from(start), dispatch.indices.start / 4);
        let count_may_reach = first < 1 << 32;
        let most = if count_may_reach { end - first } else { 0 };
        assert_eq!(u64::from(sizes.most_rows), most);
    }
}
