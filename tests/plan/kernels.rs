//! The kernel that `GatherPlan::explain` names for slices of each length, and the slices of a lane.

use wgpu_gather::{ElementTypes, GatherElements, GatherPlan, IndexKind, wgpu};

use super::{along, nd};

/// The line about the kernel and the line about the dispatches.
fn kernel_and_dispatches(plan: &GatherPlan, element_bytes: u64) -> [String; 2] {
    let limits = wgpu::Limits {
        max_buffer_size: u64::MAX,
        ..Default::default()
    };
    let text = plan.explain(ElementTypes::new(element_bytes, IndexKind::I32), &limits);
    let mut lines = text.lines().skip(3).map(str::to_owned);
    [(); 2].map(|()| lines.next().unwrap())
}

#[test]
fn slices_of_1_2_or_4_bytes_are_packed() {
    for (element_bytes, slices) in [(1, 16), (2, 8), (4, 4)] {
        let packed = format!("kernel packed: {slices} slices a lane");
        for (rows, dispatches) in [
            (slices, "1 dispatch of 1 x 1"),
            (256 * slices, "1 dispatch of 1 x 1"),
            (257 * slices, "1 dispatch of 2 x 1"),
            // From 1024 rows on, the rows left over are a second dispatch.
            (1025, "2 dispatches, the first of 1 x 1"),
        ] {
            let plan = along(0, 0, &[9], &[rows]).unwrap();
            let dispatches = format!("{dispatches} workgroups of 256 invocations");
            let found = kernel_and_dispatches(&plan, element_bytes);
            assert_eq!(found, [packed.clone(), dispatches], "{plan}");
        }
        for rows in [slices - 1, slices + 1, 1023] {
            let [kernel, dispatches] =
                kernel_and_dispatches(&along(0, 0, &[9], &[rows]).unwrap(), element_bytes);
            assert!(!kernel.contains("packed"), "{kernel}");
            assert!(dispatches.starts_with("1 dispatch of"), "{dispatches}");
        }
        // A lane's rows would be of two blocks.
        let [kernel, _] =
            kernel_and_dispatches(&along(1, 0, &[2, 9], &[1025]).unwrap(), element_bytes);
        assert!(!kernel.contains("packed"), "{kernel}");
        let [kernel, _] =
            kernel_and_dispatches(&along(1, 0, &[2, 9], &[1024]).unwrap(), element_bytes);
        assert_eq!(kernel, packed);
    }
}

#[test]
fn slices_of_more_than_256_units_share_workgroups() {
    let (shared, one, two) = (
        "1 slice a lane",
        "1 workgroup a slice",
        "2 workgroups a slice",
    );
    for (unit_bytes, units, name, share, workgroups) in [
        (4, 255, "rows", shared, 3),
        (4, 257, "long", one, 3),
        (4, 1023, "long", one, 3),
        (4, 1025, "long", two, 6),
        (16, 256, "rows", shared, 3),
        (16, 257, "long", one, 3),
        (16, 1024, "long", one, 3),
        (16, 1025, "long", two, 6),
    ] {
        let plan = along(0, 0, &[9, units], &[3]).unwrap();
        let expected = [
            format!("kernel {name}: units of {unit_bytes} bytes, {share}"),
            format!("1 dispatch of {workgroups} x 1 workgroups of 256 invocations"),
        ];
        assert_eq!(kernel_and_dispatches(&plan, unit_bytes), expected, "{plan}");
    }
}

#[test]
fn a_lane_has_four_rows_where_there_are_lanes_enough() {
    for (slice_len, rows, slices) in [
        (4, 131_071, "1 slice"),
        (4, 131_072, "4 slices"),
        (12, 43_691, "1 slice"),
        (12, 43_692, "4 slices"),
        (1024, 511, "1 slice"),
        (1024, 512, "4 slices"),
    ] {
        let plan = along(0, 0, &[9, slice_len], &[rows]).unwrap();
        let [kernel, _] = kernel_and_dispatches(&plan, 4);
        assert!(kernel.ends_with(&format!(", {slices} a lane")), "{kernel}");
    }
}

#[test]
fn many_rows_take_64_bit_arithmetic() {
    let found = |plan: &GatherPlan| kernel_and_dispatches(plan, 16)[0].clone();
    let plain = "kernel rows: units of 16 bytes, 1 slice a lane";
    let general = format!("{plain}, rows found by 64-bit arithmetic");
    assert_eq!(found(&nd(0, &[3, 3], &[9, 2]).unwrap()), plain);
    assert_eq!(found(&nd(0, &[3, 3, 3], &[9, 3]).unwrap()), plain);
    let many = nd(0, &[1 << 11, 1 << 10, 1 << 11], &[9, 3]);
    assert_eq!(found(&many.unwrap()), general);
    assert_eq!(found(&along(0, 0, &[1 << 31], &[9]).unwrap()), plain);
    assert_eq!(
        found(&along(0, 0, &[(1 << 31) + 1], &[9]).unwrap()),
        general
    );
    let elements = GatherElements::new().plan(&[3, 3], &[3, 3]);
    assert_eq!(found(&elements.unwrap()), general);
    let elements = GatherElements::new().plan(&[3, 4], &[3, 4]).unwrap();
    let [kernel, _] = kernel_and_dispatches(&elements, 4);
    assert_eq!(kernel, "kernel packed: 4 slices a lane");
}

#[test]
fn blocks_with_workgroups_of_their_own_are_a_grid() {
    let found = |plan: &GatherPlan| kernel_and_dispatches(plan, 4);
    // Two batches of three blocks; a workgroup copies 256 rows of 64 bytes.
    let blocks = |rows| along(2, 1, &[2, 3, 9, 16], &[2, rows]).unwrap();
    let expected = [
        "kernel four_rows: units of 16 bytes, 4 slices a lane",
        "1 dispatch of 22 x 3 x 2 workgroups of 256 invocations",
    ];
    assert_eq!(found(&blocks(5_500)), expected);
    let expected = "kernel rows: units of 16 bytes, 1 slice a lane";
    assert_eq!(found(&blocks(5_400))[0], expected);
}

#[test]
fn long_odd_slices_have_four_words_a_lane() {
    for (element_bytes, slice_len, bytes) in [(2, 7, 4), (2, 9, 16), (1, 17, 16), (3, 7, 16)] {
        let plan = along(0, 0, &[9, slice_len], &[3]).unwrap();
        let [kernel, _] = kernel_and_dispatches(&plan, element_bytes);
        assert_eq!(
            kernel,
            format!("kernel bytes: {bytes} bytes of output a lane")
        );
    }
}

#[test]
fn more_workgroups_than_one_dimension_holds_show_both() {
    let plan = along(0, 0, &[2, 3], &[24_000_000]).unwrap();
    let [_, dispatches] = kernel_and_dispatches(&plan, 1);
    assert_eq!(
        dispatches,
        "1 dispatch of 35157 x 2 workgroups of 256 invocations"
    );
}
