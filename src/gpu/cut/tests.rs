//! Cuts of chosen plans to chosen limits: run by a stand-in for the shader, and, for sizes far past any
//! memory, followed without data.

use super::*;
use crate::gpu::window::{GatherWindow, OperandBytes, low_and_high};
use crate::{Gather, GatherNd, GatherPlan};

const GIB: u64 = 1 << 30;
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

fn number([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// What the shader does with each output row of a dispatch: for its number in all, the index row, the part
/// of params, and the params rows from that part's first row on that the dispatch binds.
struct Row {
    output_row: u64,
    index_row: u64,
    bound: std::ops::Range<u64>,
}

fn rows_of<'a>(cut: &'a Cut<'_>, dispatch: &'a Dispatch) -> impl Iterator<Item = Row> + 'a {
    let window = &dispatch.window;
    let unit = cut.kernel.unit.bytes();
    let first = (dispatch.output.offset + u64::from(window.output_start) * unit) / cut.slice_bytes;
    let first_part = first / cut.dims.index_count;
    (0..window.output_rows).map(move |row| {
        let index = window.first_index + row;
        let part = index / window.index_count;
        let batch = (window.first_outer + part) / window.outer_size;
        let index_row = batch * window.index_count + index % window.index_count;
        let part_start = u64::from(part) * number(window.held_rows);
        let bound = number(window.params_first_row);
        let bound = bound..bound + u64::from(window.params_rows);
        assert_eq!(
            first_part + u64::from(part),
            (first + u64::from(row)) / cut.dims.index_count
        );
        Row {
            output_row: first + u64::from(row),
            index_row: number(window.index_row_base) + u64::from(index_row),
            bound: bound.start.saturating_sub(part_start)..bound.end.saturating_sub(part_start),
        }
    })
}

/// Follows every row of every dispatch: each finds its index row, and each params row is bound for each of
/// its output rows just once.
fn assert_each_row_once(
    plan: &GatherPlan,
    element_bytes: u64,
    limits: &wgpu::Limits,
    device_type: wgpu::DeviceType,
) -> usize {
    let cut = cut_for(plan, element_bytes, limits, device_type);
    let dims = plan.dims();
    let mut bound = vec![Vec::new(); usize::try_from(dims.output_rows()).expect("a small plan")];
    let mut slice_bytes = 0;
    let dispatches: Vec<Dispatch> = cut.dispatches().collect();
    for dispatch in &dispatches {
        assert_fits(&cut, dispatch, limits, plan);
        let part_bytes = u64::from(dispatch.window.slice_units) * cut.kernel.unit.bytes();
        if dispatch.window.reports == 1 {
            slice_bytes = part_bytes;
        }
        for (number_of, row) in (0..).zip(rows_of(&cut, dispatch)) {
            if dispatch.window.one_part == 1 {
                let first = number(dispatch.window.index_row_base);
                assert_eq!(row.index_row, first + number_of, "{plan}");
                assert_eq!(row.bound, 0..dims.row_count.max(1), "{plan}");
            }
            let part = row.output_row / dims.index_count;
            let index_row =
                part / dims.outer_size * dims.index_count + row.output_row % dims.index_count;
            assert_eq!(row.index_row, index_row, "{plan}");
            let rows = &mut bound[usize::try_from(row.output_row).expect("a small plan")];
            let end = row.bound.end.min(dims.row_count.max(1));
            for params_row in row.bound.start..end {
                rows.push((params_row, dispatch.window.reports));
            }
        }
    }
    for rows in &mut bound {
        let mut reporting: Vec<u64> = rows
            .iter()
            .filter(|row| row.1 == 1)
            .map(|row| row.0)
            .collect();
        reporting.sort_unstable();
        let all: Vec<u64> = (0..dims.row_count.max(1)).collect();
        assert_eq!(reporting, all, "{plan}");
        let parts = (cut.slice_bytes).div_ceil(slice_bytes);
        assert_eq!(rows.len() as u64, all.len() as u64 * parts, "{plan}");
    }
    dispatches.len()
}

/// Every binding is aligned, no larger than the limit, and holds what the dispatch counts in it.
fn assert_fits(cut: &Cut<'_>, dispatch: &Dispatch, limits: &wgpu::Limits, plan: &GatherPlan) {
    let window = &dispatch.window;
    let unit = cut.kernel.unit.bytes();
    for span in [dispatch.params, dispatch.indices, dispatch.output] {
        assert_eq!(
            span.offset % u64::from(limits.min_storage_buffer_offset_alignment),
            0,
            "{plan}"
        );
        assert!(
            span.bytes <= limits.max_storage_buffer_binding_size,
            "{plan}: {span:?}"
        );
        assert_eq!(span.bytes % 4, 0, "{plan}");
    }
    let slices = |start: u32, rows: u32| {
        (u64::from(start) + u64::from(rows) * u64::from(window.slice_units)) * unit
    };
    assert!(
        slices(window.output_start, window.output_rows) <= dispatch.output.bytes,
        "{plan}"
    );
    if cut.dims.row_count > 0 {
        assert!(
            slices(window.params_start, window.params_rows) <= dispatch.params.bytes,
            "{plan}"
        );
    }
    let (width, height) = dispatch.workgroups;
    let most = limits.max_compute_workgroups_per_dimension;
    assert!(
        width <= most && height <= most && width == window.grid_width,
        "{plan}"
    );
    let invocations = u64::from(width) * u64::from(height) * u64::from(WORKGROUP_SIZE);
    let needed = match cut.kernel.unit {
        Unit::Byte => slices(window.output_start % 4, window.output_rows).div_ceil(4),
        _ if dispatch.grouped => {
            u64::from(window.output_rows / 4).div_ceil(cut.kernel.groups.into())
        }
        _ => u64::from(window.output_rows) << window.lanes_log2,
    };
    assert!(needed <= invocations && invocations <= 1 << 32, "{plan}");
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
            one_part: 0,
            groups: 0,
            fill_words: 0,
            fill_start: 0,
            first_n: 0,
            index_stride: 1,
            place_dim_count: 0,
            most_output_rows: 30,
            of_bytes: 0,
            unused: 0,
            indexed_dims,
            fill: [0; 16],
            place_dims: [[0; 2]; 8],
        },
        part: 0,
        workgroups: (2, 1),
        grouped: false,
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
            .all(|dispatch| dispatch.window.one_part == 1)
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

#[test]
fn bytes_that_cannot_be_counted_are_refused() {
    let refused = |plan: &GatherPlan, element_bytes| {
        let bytes = OperandBytes::new(plan.dims(), element_bytes, crate::IndexKind::I32);
        bytes.expect_err("too many").to_string()
    };
    let most = "must have at most 9223372036854775807 bytes, found";
    assert_eq!(
        refused(&gather(&[1 << 62], &[1]), 4),
        format!("params {most} 4611686018427387904 elements of 4 bytes")
    );
    assert_eq!(
        refused(&gather(&[2], &[1 << 62]), 1),
        format!("indices {most} 4611686018427387904 elements of 4 bytes")
    );
    assert_eq!(
        refused(&gather(&[2, 1 << 40], &[1 << 20]), 16),
        format!("output {most} 1152921504606846976 elements of 16 bytes")
    );
}

#[test]
fn a_number_is_its_words() {
    assert_eq!(low_and_high(5 * GIB + 3), [(1 << 30) + 3, 1]);
}
