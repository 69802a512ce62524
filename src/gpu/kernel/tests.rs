use super::*;
use crate::{Gather, GatherElements, GatherNd, GatherPlan};

#[test]
fn the_widest_unit_divides_the_slice_and_its_fill() {
    let (vec4, word) = (Unit::Vec4, Unit::Word);
    for (slice_bytes, fill_words, expected) in [
        (1, 1, Kernel::Bytes),
        (6, 3, Kernel::Bytes),
        (1030, 1, Kernel::Bytes),
        (4, 1, Kernel::Rows(word)),
        (8, 2, Kernel::Rows(word)),
        (12, 3, Kernel::Rows(word)),
        (16, 4, Kernel::Rows(vec4)),
        (48, 1, Kernel::Rows(vec4)),
        (48, 2, Kernel::Rows(vec4)),
        (48, 3, Kernel::Rows(word)),
        (64, 16, Kernel::Rows(word)),
        (1020, 1, Kernel::Rows(word)),
        (1024, 3, Kernel::Rows(word)),
        (1028, 1, Kernel::Long(word)),
        (4096, 4, Kernel::Rows(vec4)),
        (4096, 8, Kernel::Long(word)),
        (4112, 1, Kernel::Long(vec4)),
        (1 << 40, 1, Kernel::Long(vec4)),
    ] {
        let found = Kernel::choose(slice_bytes, slice_bytes, fill_words);
        assert_eq!(found, expected, "{slice_bytes} bytes, {fill_words} words");
    }
    // A short piece of a long slice.
    assert_eq!(Kernel::choose(1 << 20, 16, 1), Kernel::Rows(vec4));
}

#[test]
fn slices_are_packed_that_are_1_2_or_4_bytes() {
    let packed = (0..=32).filter_map(|slice_bytes| {
        Kernel::packed(slice_bytes).map(|(_, lane_rows)| (slice_bytes, lane_rows))
    });
    assert_eq!(packed.collect::<Vec<_>>(), [(1, 16), (2, 8), (4, 4)]);
}

#[test]
fn lanes_have_four_rows_where_enough_lanes_are_left() {
    let rows = |rows, bytes| {
        let kernel = Kernel::Rows(Unit::Vec4).for_one_block(rows, bytes);
        let shares = kernel.shares(rows, bytes, 0);
        (shares.slots, shares.row_step, shares.workgroups)
    };
    // A workgroup has lanes for 85 slices of 3 units, or for 80 slices in steps of 8.
    assert_eq!(rows(43_688, 48), (85, 0, 514));
    assert_eq!(rows(43_692, 48), (80, 8, 137));
    assert_eq!(rows(1, 4096), (1, 0, 1));
    assert_eq!(rows(511, 4096), (1, 0, 511));
    assert_eq!(rows(515, 4096), (1, 1, 129));
    assert_eq!(rows(1 << 20, 16), (256, 32, 1024));
}

#[test]
fn a_multiplication_tells_each_lane_its_slice() {
    for units in 1..=WORKGROUP_SIZE {
        let slot_scale = (1_u32 << 16).div_ceil(units);
        for lane in 0..WORKGROUP_SIZE {
            assert_eq!((lane * slot_scale) >> 16, lane / units, "{lane} by {units}");
        }
    }
}

#[test]
fn workgroups_share_long_slices_without_a_cap() {
    let long = |rows, units: u64| {
        let shares = Kernel::Long(Unit::Word).shares(rows, units * 4, 0);
        (shares.slice_workgroups, shares.workgroups)
    };
    assert_eq!(long(8, 257), (1, 8));
    assert_eq!(long(8, 1024), (1, 8));
    assert_eq!(long(8, 1025), (2, 16));
    assert_eq!(long(1, 1 << 28), (1 << 18, 1 << 18));
}

#[test]
fn packed_and_bytes_lanes_own_parts_of_the_output() {
    let packed = |slice_bytes: u32, rows| {
        let kernel = Kernel::Packed { slice_bytes };
        let bytes = u64::from(slice_bytes);
        let shares = kernel.shares(rows, bytes, rows * bytes);
        shares.workgroups
    };
    assert_eq!([packed(1, 4096), packed(1, 4112)], [1, 2]);
    assert_eq!([packed(4, 1024), packed(4, 1028)], [1, 2]);
    let bytes = |rows, bytes, start| {
        let shares = Kernel::Bytes.shares(rows, bytes, start + rows * bytes);
        shares.workgroups
    };
    // A workgroup writes 256 words. Rows that start within a word may reach into one word more.
    assert_eq!([bytes(1, 1024, 0), bytes(1, 1024, 1)], [1, 2]);
    assert_eq!([bytes(341, 3, 1), bytes(341, 3, 2)], [1, 2]);
}

#[test]
fn short_index_rows_of_few_rows_are_found_in_words() {
    let find = |plan: Result<GatherPlan, _>, index_kind| {
        FindRows::choose(&plan.expect("a valid shape"), index_kind)
    };
    let nd = |params: &[usize]| GatherNd::new().plan(params, &[3, params.len()]);
    let words = |index_words, depth| FindRows::Words { index_words, depth };
    for (index_kind, index_words) in [
        (IndexKind::I32, 1),
        (IndexKind::U32, 1),
        (IndexKind::I64, 2),
        (IndexKind::U64, 2),
    ] {
        assert_eq!(find(nd(&[9]), index_kind), words(index_words, 1));
        assert_eq!(find(nd(&[9, 9]), index_kind), words(index_words, 2));
        assert_eq!(find(nd(&[9; 3]), index_kind), FindRows::General);
    }
    let i64 = IndexKind::I64;
    let gather = |rows: usize| Gather::new().plan(&[rows], &[3]);
    assert_eq!(find(gather(1 << 31), i64), words(2, 1));
    assert_eq!(find(gather((1 << 31) + 1), i64), FindRows::General);
    assert_eq!(find(nd(&[1 << 16, 1 << 15]), i64), words(2, 2));
    assert_eq!(find(nd(&[1 << 16, 1 << 16]), i64), FindRows::General);
    let elements = GatherElements::new().plan(&[9, 8], &[6, 8]);
    assert_eq!(find(elements, i64), FindRows::General);
    for (kernel, of_two_dims) in [
        (Kernel::Rows(Unit::Vec4), words(2, 2)),
        (Kernel::Packed { slice_bytes: 4 }, words(2, 2)),
        (Kernel::Long(Unit::Vec4), FindRows::General),
        (Kernel::Bytes, FindRows::General),
    ] {
        assert_eq!(words(2, 1).of(kernel), words(2, 1));
        assert_eq!(words(2, 2).of(kernel), of_two_dims);
    }
}
