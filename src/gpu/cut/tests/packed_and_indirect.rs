//! Cuts with packed rows or rows that share a lane, and cuts for an index count.

use super::*;

#[test]
fn packed_rows_start_with_vectors_and_leave_few_over() {
    let whole = wgpu::Limits::default();
    let packed = |slice_bytes| Kernel::Packed { slice_bytes };
    let (words, bytes) = (Kernel::Rows(Unit::Word), Kernel::Bytes { lane_words: 1 });
    let of = |rows, element_bytes| kernels(&gather(&[9], &[rows]), element_bytes, &whole);
    assert_eq!(of(2000, 4), [(packed(4), 2000)]);
    assert_eq!(of(2003, 4), [(packed(4), 2000), (words, 3)]);
    assert_eq!(of(2000, 2), [(packed(2), 2000)]);
    assert_eq!(of(2001, 2), [(packed(2), 2000), (bytes, 1)]);
    assert_eq!(of(2015, 1), [(packed(1), 2000), (bytes, 15)]);
    // The packed rows are too few to be worth a second dispatch.
    assert_eq!(of(103, 4), [(words, 103)]);
    assert_eq!(of(3, 4), [(words, 3)]);
    assert_eq!(of(2000, 8), [(words, 2000)]);
    assert_eq!(
        kernels(&gather(&[0], &[2001]), 4, &whole),
        [(packed(4), 2000), (words, 1)]
    );
    let along = |index_count: usize| {
        let gather = Gather::new().axis(1).plan(&[3, 9], &[index_count]);
        kernels(&gather.expect("a valid shape"), 4, &whole)
    };
    assert_eq!(along(400), [(packed(4), 1200)]);
    assert_eq!(along(401), [(Kernel::Lines, 1200), (words, 3)]);
    let depth = |depth: usize| {
        let gather = GatherNd::new().plan(&[9, 9, 9][..depth], &[8, depth]);
        kernels(&gather.expect("a valid shape"), 4, &whole)
    };
    assert_eq!(
        [depth(1), depth(2), depth(3)].concat(),
        [(packed(4), 8), (packed(4), 8), (words, 8)]
    );
    let elements = GatherElements::new().plan(&[9, 8], &[6, 8]);
    let elements = elements.expect("a valid shape");
    assert_eq!(kernels(&elements, 4, &whole), [(packed(4), 48)]);
    let elements = GatherElements::new().plan(&[9, 7], &[6, 7]);
    let elements = elements.expect("a valid shape");
    assert_eq!(kernels(&elements, 4, &whole), [(words, 42)]);
}

#[test]
fn chunks_end_with_a_vector_of_packed_rows() {
    // 4100 bytes hold 1025 slices.
    let limits = limits(4100, 1 << 10);
    let packed = Kernel::Packed { slice_bytes: 4 };
    let found = kernels(&gather(&[9], &[3104]), 4, &limits);
    assert_eq!(
        found,
        [(packed, 1024), (packed, 1024), (packed, 1024), (packed, 32)]
    );
}

#[test]
fn windows_and_small_blocks_take_one_row_a_lane() {
    let lane_rows = |plan: &GatherPlan, limits: &wgpu::Limits| {
        let cut = cut(plan, 4, limits);
        let dispatches = cut.dispatches();
        dispatches
            .map(|dispatch| dispatch.kernel.lane_rows())
            .collect::<Vec<_>>()
    };
    let whole = wgpu::Limits::default();
    let plan = gather(&[1 << 10, 16], &[1 << 15]);
    assert_eq!(lane_rows(&plan, &whole), [4]);
    let small = wgpu::Limits {
        max_storage_buffer_binding_size: 1 << 15,
        ..Default::default()
    };
    assert!(lane_rows(&plan, &small).iter().all(|&rows| rows == 1));
    let blocks = |outer: usize, index_count: usize| {
        let plan = Gather::new().axis(1).plan(&[outer, 9, 16], &[index_count]);
        plan.expect("a valid shape")
    };
    assert_eq!(lane_rows(&blocks(2, 1 << 15), &whole), [4]);
    assert_eq!(lane_rows(&blocks(1 << 8, 1 << 8), &whole), [4]);
    assert_eq!(lane_rows(&blocks(1 << 9, 1 << 7), &whole), [1]);
    // Fewer than 2^15 lanes would be left.
    assert_eq!(lane_rows(&gather(&[9, 16], &[(1 << 15) - 4]), &whole), [1]);
}

/// Each dispatch's output rows and params rows, if slices have 64 bytes and a binding holds 3,700.
fn rows_of_dispatches(plan: &GatherPlan) -> Vec<[(u64, u64); 2]> {
    let limits = wgpu::Limits {
        max_storage_buffer_binding_size: 3_700 * 64,
        ..Default::default()
    };
    let cut = cut(plan, 4, &limits);
    let mut found = Vec::new();
    for dispatch in cut.dispatches() {
        assert_fits(&cut, &dispatch, &limits, plan);
        found.push([dispatch.output_rows, dispatch.params_rows]);
    }
    found
}

/// Output chunks and params windows end where blocks end, if a binding holds several.
#[test]
fn bindings_hold_whole_blocks() {
    for (params, index_count) in [([7, 100, 16], 1000), ([7, 1000, 16], 300)] {
        let plan = Gather::new().axis(1).plan(&params, &[index_count]);
        let found = rows_of_dispatches(&plan.expect("a valid shape"));
        let [output_rows, params_rows] = [index_count, params[1]].map(|count| count as u64);
        let blocks = [(0, 3), (3, 6), (6, 7)];
        let expected = blocks.map(|(start, end)| {
            [output_rows, params_rows].map(|count| (start * count, end * count))
        });
        assert_eq!(found, expected);
    }
    // Small blocks are cut where a binding ends.
    let plan = Gather::new().axis(1).plan(&[70, 9, 16], &[100]);
    let found = rows_of_dispatches(&plan.expect("a valid shape"));
    assert_eq!(found[0][0], (0, 3700));
}

/// Whole batches, or blocks in one batch.
#[test]
fn bindings_hold_whole_batches() {
    let of = |outer: usize, index_count: usize| {
        let gather = Gather::new().batch_dims(1).axis(2);
        let plan = gather.plan(&[4, outer, 9, 16], &[4, index_count]);
        let found = rows_of_dispatches(&plan.expect("a valid shape"));
        let rows = index_count as u64;
        let in_blocks = found.into_iter().map(|[(start, end), _]| {
            assert_eq!((start % rows, end % rows), (0, 0));
            (start / rows, end / rows)
        });
        in_blocks.collect::<Vec<_>>()
    };
    // Room for seven blocks: two batches of three, or seven out of eight, then the last.
    assert_eq!(of(3, 500), [(0, 6), (6, 12)]);
    assert_eq!(
        of(8, 500),
        [
            (0, 7),
            (7, 8),
            (8, 15),
            (15, 16),
            (16, 23),
            (23, 24),
            (24, 31),
            (31, 32)
        ]
    );
}

#[test]
fn indirect_dispatches_are_of_one_block_not_packed() {
    let plan = Gather::new().axis(1).plan(&[3, 9], &[400]);
    let plan = plan.expect("a valid shape");
    let limits = wgpu::Limits::default();
    let placed = Placed {
        has_index_count: true,
        ..Placed::aligned(&plan)
    };
    let typed = typed(&plan, types(4, IndexKind::I32));
    let cut = Cut::new(typed, &placed, &limits).expect("it fits");
    let dispatches: Vec<_> = cut.dispatches().collect();
    assert_eq!(dispatches.len(), 3);
    for dispatch in &dispatches {
        assert_fits(&cut, dispatch, &limits, &plan);
        let sizes = uniform(&plan, dispatch);
        assert_eq!(dispatch.kernel, Kernel::Rows(Unit::Word));
        assert_eq!((sizes.most_rows, sizes.first_n), (400, 0));
        assert_eq!(sizes.index_count, u32::MAX);
    }
}
