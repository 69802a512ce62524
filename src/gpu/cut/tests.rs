//! Cuts of chosen plans to chosen limits: run by a stand-in for the shader, and, for sizes far past any
//! memory, followed without data.

mod reports;
mod stand_in;

use super::*;
use crate::gpu::window::GatherWindow;
use crate::{Gather, GatherElements, GatherNd, GatherPlan};
use stand_in::{assert_each_row_once, assert_fits, number};

const GPU: wgpu::DeviceType = wgpu::DeviceType::DiscreteGpu;

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

/// The cut of a plan with `i32` indices and params in one buffer.
fn cut<'a>(plan: &'a GatherPlan, element_bytes: u64, limits: &wgpu::Limits) -> Cut<'a> {
    cut_for(plan, element_bytes, limits, GPU)
}

fn cut_for<'a>(
    plan: &'a GatherPlan,
    element_bytes: u64,
    limits: &wgpu::Limits,
    device_type: wgpu::DeviceType,
) -> Cut<'a> {
    let rows = [plan.dims().params_rows()];
    let cut = Cut::new(plan.dims(), element_bytes, 4, &rows, limits, device_type);
    cut.expect("the device holds a row")
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
    let mut indexed_dims = [[0; 2]; 8];
    indexed_dims[0] = [7, 0];
    let span = |bytes| Span { offset: 0, bytes };
    let expected = Dispatch {
        window: GatherWindow {
            output_rows: 30,
            index_count: 5,
            outer_size: 3,
            first_index: 0,
            first_outer: 0,
            index_depth: 1,
            slice_units: 16,
            lanes_log2: 2,
            held_rows: [7, 0],
            first_row: [0, 0],
            params_first_row: [0, 0],
            params_rows: 42,
            params_start: 0,
            indices_start: 0,
            output_start: 0,
            grid_width: 2,
            reports: 1,
            index_row_base: [0, 0],
            groups: 0,
            fill_words: 0,
            fill_start: 0,
            first_n: 0,
            index_stride: 1,
            place_dim_count: 0,
            most_output_rows: 30,
            of_bytes: 0,
            begins_report: 0,
            reporters: 0,
            indexed_dims,
            fill: [0; 16],
            place_dims: [[0; 2]; 8],
        },
        part: 0,
        workgroups: (2, 1),
        invocations: 120,
        grouped: false,
        one_part: false,
        shard: 0,
        params: span(42 * 256),
        indices: span(40),
        output: span(30 * 256),
    };
    assert_eq!(dispatches, [expected]);
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
                for device_type in [GPU, wgpu::DeviceType::Cpu] {
                    let dispatches =
                        assert_each_row_once(plan, element_bytes, &limits, device_type);
                    most = most.max(dispatches);
                }
            }
        }
    }
    assert!(most > 100, "the limits cut nothing: {most}");
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
    // All of one part.
    let plan = gather(&[1000, 16], &[77]);
    assert!(
        cut(&plan, 4, &wgpu::Limits::default())
            .dispatches()
            .all(|dispatch| dispatch.one_part)
    );
    // 300 MiB of params, of output and of indices, in bindings of 128 MiB.
    assert_eq!(count(&gather(&[4_915_200, 16], &[1000])), 3);
    assert_eq!(count(&gather(&[1000, 16], &[4_915_200])), 3);
    assert_eq!(count(&gather(&[1000], &[78_643_200])), 3);
    // Each outer part needs its own params only.
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
        assert_eq!(
            cut.is_wide(),
            plan.dims().params_rows() > u64::from(u32::MAX),
            "{plan}"
        );
        let dispatches: Vec<_> = cut.dispatches().take(5000).collect();
        for dispatch in &dispatches {
            assert_fits(&cut, dispatch, &limits, &plan);
        }
        let first = number(dispatches[0].window.index_row_base);
        assert_eq!(first, 0, "{plan}");
        if plan.dims().slice_len == 1 && dispatches.len() > 1 {
            // The next window of params, or the next chunk of output, begins where the last one ended.
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
    let shards = [30, 0, 50, 20];
    let cut = Cut::new(plan.dims(), 4, 4, &shards, &wgpu::Limits::default(), GPU);
    let cut = cut.expect("it fits");
    let found: Vec<_> = cut
        .dispatches()
        .map(|dispatch| {
            let window = dispatch.window;
            (
                dispatch.shard,
                number(window.params_first_row),
                window.params_rows,
            )
        })
        .collect();
    assert_eq!(found, [(0, 0, 30), (2, 30, 50), (3, 80, 20)]);
}

#[test]
fn workgroups_beyond_one_dimension_fill_rows_of_equal_width() {
    let workgroups = |rows: usize| {
        let plan = gather(&[2], &[rows * 64]);
        let cut = cut(&plan, 8, &wgpu::Limits::default());
        cut.dispatches()
            .map(|dispatch| dispatch.workgroups)
            .collect::<Vec<_>>()
    };
    assert_eq!(workgroups(65_535), [(65_535, 1)]);
    assert_eq!(workgroups(65_536), [(32_768, 2)]);
    assert_eq!(workgroups(2 * 65_535 + 1), [(43_691, 3)]);
}

#[test]
fn rows_that_make_no_group_are_a_dispatch_of_their_own_or_part_of_one_without_groups() {
    let dispatches = |plan: &GatherPlan, element_bytes| {
        let limits = wgpu::Limits::default();
        let cut = cut(plan, element_bytes, &limits);
        let dispatches = cut.dispatches();
        let dispatches = dispatches.map(|dispatch| (dispatch.grouped, dispatch.window.output_rows));
        dispatches.collect::<Vec<_>>()
    };
    assert_eq!(dispatches(&gather(&[9], &[2000]), 4), [(true, 2000)]);
    assert_eq!(
        dispatches(&gather(&[9], &[2003]), 4),
        [(true, 2000), (false, 3)]
    );
    assert_eq!(dispatches(&gather(&[9], &[103]), 4), [(false, 103)]);
    assert_eq!(dispatches(&gather(&[9], &[3]), 4), [(false, 3)]);
    assert_eq!(dispatches(&gather(&[9], &[2000]), 8), [(false, 2000)]);
    assert_eq!(dispatches(&gather(&[9], &[2000]), 16), [(true, 2000)]);
    assert_eq!(dispatches(&gather(&[9], &[2000]), 2), [(false, 2000)]);
    assert_eq!(
        dispatches(&gather(&[0, 4], &[2001]), 4),
        [(true, 2000), (false, 1)]
    );
    let along = |index_count: usize| {
        let gather = Gather::new().axis(1).plan(&[3, 9], &[index_count]);
        dispatches(&gather.expect("a valid shape"), 4)
    };
    assert_eq!(along(400), [(true, 1200)]);
    assert_eq!(along(401), [(false, 1203)]);
    let depth = |depth: usize| {
        let gather = GatherNd::new().plan(&[9, 9, 9][..depth], &[8, depth]);
        dispatches(&gather.expect("a valid shape"), 4)
    };
    assert_eq!(
        [depth(1), depth(2), depth(3)].concat(),
        [(true, 8), (true, 8), (false, 8)]
    );
}

#[test]
fn slices_have_no_more_lanes_than_a_dispatch() {
    // 2^20 words, which would have 256 lanes, and one workgroup of 64 invocations.
    let limits = limits(1 << 30, 1);
    let plan = gather(&[2, (1 << 20) + 1], &[3]);
    let cut = cut_for(&plan, 4, &limits, wgpu::DeviceType::Cpu);
    let dispatches: Vec<_> = cut.dispatches().collect();
    assert_eq!(dispatches.len(), 3);
    for dispatch in &dispatches {
        assert_fits(&cut, dispatch, &limits, &plan);
        assert_eq!(dispatch.window.lanes_log2, 6);
    }
}

#[test]
fn chunks_end_with_a_group() {
    // 4096 bytes hold 341 slices of 12 bytes.
    let limits = limits(4096, 1 << 10);
    let plan = gather(&[9, 3], &[700]);
    let cut = cut_for(&plan, 4, &limits, wgpu::DeviceType::Cpu);
    let dispatches: Vec<_> = cut.dispatches().collect();
    let found = dispatches.iter().map(|dispatch| {
        assert_fits(&cut, dispatch, &limits, &plan);
        (dispatch.grouped, dispatch.window.output_rows)
    });
    // The second chunk starts 240 bytes behind an aligned place.
    let expected = [(true, 340), (true, 320), (true, 40)];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

#[test]
fn rows_whose_place_counts_are_in_groups_where_none_ends_a_line() {
    let dispatches = |params: &[usize], indices: &[usize], limits: &wgpu::Limits| {
        let plan = GatherElements::new().plan(params, indices);
        let plan = plan.expect("a valid shape");
        let cut = cut(&plan, 4, limits);
        let dispatches = cut.dispatches().map(|dispatch| {
            let window = dispatch.window;
            (dispatch.grouped, window.first_n, window.output_rows)
        });
        dispatches.collect::<Vec<_>>()
    };
    let whole = wgpu::Limits::default();
    assert_eq!(dispatches(&[9, 8], &[6, 8], &whole), [(true, 0, 48)]);
    assert_eq!(dispatches(&[9, 6], &[8, 6], &whole), [(false, 0, 48)]);
    assert_eq!(dispatches(&[9, 6], &[8, 1], &whole), [(true, 0, 8)]);
    // 128 rows of 4 bytes each, within a line of 12.
    let small = limits(512, 1 << 10);
    assert_eq!(
        dispatches(&[9, 12], &[16, 12], &small),
        [(true, 0, 128), (true, 128, 64)]
    );
}

#[test]
fn rows_that_are_counted_on_the_device_are_of_one_part_and_in_no_groups() {
    let plan = Gather::new().axis(1).plan(&[3, 9], &[400]);
    let plan = plan.expect("a valid shape");
    let limits = wgpu::Limits::default();
    let cut = cut(&plan, 4, &limits).counted();
    let dispatches: Vec<_> = cut.dispatches().collect();
    let rows: Vec<_> = (dispatches.iter())
        .map(|dispatch| (dispatch.grouped, dispatch.window.most_output_rows))
        .collect();
    assert_eq!(rows, [(false, 400); 3]);
    for dispatch in &dispatches {
        assert_fits(&cut, dispatch, &limits, &plan);
        assert_eq!((dispatch.window.first_n, dispatch.one_part), (0, true));
    }
}

#[test]
fn an_empty_output_needs_no_dispatch_whatever_the_limits() {
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
        let cut = Cut::new(plan.dims(), 4, 8, &[256], &limits, GPU);
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
    let refused = Cut::new(many.dims(), 4, 4, &[1000], &limits(200, 1), GPU);
    assert_eq!(
        refused.expect_err("too little").to_string(),
        "device limit max_storage_buffer_binding_size must be at least 256, found 200"
    );
    assert!(Cut::new(plan.dims(), 4, 8, &[256], &limits(256, 1), GPU).is_ok());
}
