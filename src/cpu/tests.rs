//! Gathers small enough for miri, of every slice width and every source of rows, compared with the formula.

use std::fmt::Debug;

use crate::{
    BadIndices, Gather, GatherElements, GatherNd, GatherPlan, NegativeIndices, PlanError, RunError,
};

/// Bytes of a slice: both ends of each class of widths that a copy loop is for, and slices of several memcpy calls.
const WIDTHS: [usize; 24] = [
    1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 80, 128, 400, 2048, 5000,
];

fn bytes(len: usize) -> Vec<u8> {
    (1..=251).cycle().take(len).collect()
}

/// The slices of `rows`, with `fill` in the slice of each bad row (`None`).
fn slices<T: Copy>(params: &[T], slice_len: usize, rows: &[Option<usize>], fill: T) -> Vec<T> {
    let slice = |row: &Option<usize>| match row {
        Some(row) => params[row * slice_len..][..slice_len].to_vec(),
        None => vec![fill; slice_len],
    };
    rows.iter().flat_map(slice).collect()
}

#[track_caller]
fn check<T: Copy + Default + Send + Sync + PartialEq + Debug>(
    plan: Result<GatherPlan, PlanError>,
    params: &[T],
    indices: &[i64],
    fill: T,
    expected: &[T],
) {
    let plan = &plan.expect("a valid shape");
    let output = plan.fill(fill).gather(params, indices);
    assert_eq!(output.expect("bad rows are filled"), expected, "{plan}");
    // The output is the middle of a longer vector, whose other elements must not change.
    let mut output = vec![fill; expected.len() + 2];
    let middle = &mut output[1..=expected.len()];
    plan.fill(fill)
        .gather_into(params, indices, middle)
        .expect("bad rows are filled");
    assert_eq!(output[1..=expected.len()], *expected, "{plan}");
    assert_eq!([output[0], output[expected.len() + 1]], [fill; 2]);
    // Rows that a shard does not hold are zeros, not the fill.
    if plan.dims().held_rows == plan.dims().row_count {
        check_params_rows(plan, params, indices, fill, expected);
    }
}

/// An app that copies the rows that the plan names gets the same output.
fn check_params_rows<T: Copy + PartialEq + Debug>(
    plan: &GatherPlan,
    params: &[T],
    indices: &[i64],
    fill: T,
    expected: &[T],
) {
    let rows = plan.params_rows(indices).expect("bad rows are filled");
    let slice_len = plan.slice_len();
    let mut copied = Vec::new();
    for row in rows {
        match row {
            Some(row) => copied.extend(&params[row * slice_len..][..slice_len]),
            None => copied.extend(vec![fill; slice_len]),
        }
    }
    assert_eq!(copied, expected, "{plan}");
}

#[test]
fn slices_of_every_width_are_copied_whole() {
    let zero = BadIndices::Fill;
    for width in WIDTHS {
        let params = bytes(6 * width);
        let rows = [5, 0, 6, 2, -1, 4, 1, i64::MAX, i64::MIN];
        let expected = rows.map(|row| usize::try_from(row).ok().filter(|&row| row < 6));
        let expected = slices(&params, width, &expected, 255);
        let plan = Gather::new().bad_indices(zero).plan(&[6, width], &[9]);
        check(plan, &params, &rows, 255, &expected);

        // Some index rows have a value out of range although the position of both values is a row of params.
        let pairs = [
            2,
            1,
            0,
            2,
            0,
            0,
            1,
            -1,
            -1,
            3,
            1,
            0,
            1 << 32,
            0,
            3,
            -6,
            0,
            1,
        ];
        let mut expected = [None; 9];
        for (at, row) in [(0, 5), (2, 0), (5, 2), (8, 1)] {
            expected[at] = Some(row);
        }
        let expected = slices(&params, width, &expected, 255);
        let nd = GatherNd::new().bad_indices(zero);
        let plan = nd.plan(&[3, 2, width], &[9, 2]);
        check(plan, &params, &pairs, 255, &expected);
    }
}

#[test]
fn bad_rows_are_errors_that_name_the_first_one() {
    let plan = Gather::new().plan(&[5, 3], &[4]).expect("a valid shape");
    let params = bytes(15);
    let row = |indices: [i64; 4]| match plan.gather(&params, &indices) {
        Err(RunError::BadIndex(bad)) => Some(bad.row),
        other => {
            assert!(other.is_ok());
            None
        }
    };
    assert_eq!(row([4, 0, 1, 4]), None);
    assert_eq!(row([5, 0, 1, 9]), Some(0));
    assert_eq!(row([4, -1, 5, 0]), Some(1));
    assert_eq!(row([4, 0, 1, 1 << 32]), Some(3));

    // Three batches of a block each, the last with a bad row.
    let blocks = Gather::new().batch_dims(1).axis(1);
    let indices = [0, 3, 1, 2, 2, 3, 0, 1, -1];
    let plan = blocks.plan(&[3, 4, 2], &[3, 3]).expect("a valid shape");
    let error = plan.gather(&bytes(24), &indices).expect_err("a bad row");
    assert!(matches!(error, RunError::BadIndex(bad) if bad.row == 8));
    let filled = blocks.bad_indices(BadIndices::Fill);
    let plan = filled.plan(&[3, 4, 2], &[3, 3]);
    let rows = [0, 3, 1, 6, 6, 7, 8, 9].map(Some);
    let rows = [&rows[..], &[None]].concat();
    let expected = slices(&bytes(24), 2, &rows, 7);
    check(plan, &bytes(24), &indices, 7, &expected);
}

#[test]
fn rows_of_blocks_and_elements_are_those_of_the_formula() {
    let zero = BadIndices::Fill;
    // Two batches of three blocks of four rows, and more index rows than are located in one step.
    let (count, params) = (300, bytes(2 * 3 * 4 * 2));
    let indices: Vec<i64> = (0..2 * count).map(|n| (n * 7 + n / 9) % 6 - 1).collect();
    let count = usize::try_from(count).expect("a few");
    let position = |n: usize| usize::try_from(indices[n]).ok().filter(|&at| at < 4);
    let of_block = |n: usize| {
        let (block, n) = (n / count, n % count);
        Some(block * 4 + position(block / 3 * count + n)?)
    };
    let rows: Vec<_> = (0..6 * count).map(of_block).collect();
    let gather = Gather::new().batch_dims(1).axis(2).bad_indices(zero);
    // Slices of 2 bytes are copied in stretches, those of 3 bytes block by block.
    for width in [2, 3] {
        let params = bytes(2 * 3 * 4 * width);
        let plan = gather.plan(&[2, 3, 4, width], &[2, count]);
        let expected = slices(&params, width, &rows, 254);
        check(plan, &params, &indices, 254, &expected);
    }

    // Rows of short blocks are located first: 20 blocks of each batch, 300 rows.
    let plan = gather.plan(&[2, 20, 4, 3], &[2, 15]);
    let of_short_block = |n: usize| Some(n / 15 * 4 + position(n / 300 * 15 + n % 15)?);
    let rows_of_short: Vec<_> = (0..600).map(of_short_block).collect();
    let params_of_short = bytes(2 * 20 * 4 * 3);
    let expected = slices(&params_of_short, 3, &rows_of_short, 254);
    check(plan, &params_of_short, &indices[..30], 254, &expected);

    // A shard holds rows 1 and 2 of each block: slices of other rows are zeros, and those of bad rows hold the fill.
    let shard = gather.plan(&[2, 3, 4, 2], &[2, count]);
    let shard = shard.and_then(|plan| plan.shard(1..3));
    let held: Vec<u8> = (params.chunks(8).flat_map(|block| &block[2..6]))
        .copied()
        .collect();
    let of_shard = |row: &Option<usize>| match row {
        Some(row) if (1..3).contains(&(row % 4)) => [params[2 * row], params[2 * row + 1]],
        Some(_) => [0; 2],
        None => [254; 2],
    };
    let output: Vec<u8> = rows.iter().flat_map(of_shard).collect();
    check(shard, &held, &indices, 254, &output);

    // Index rows in three element dims, then index rows of three values.
    let elements = GatherElements::new().axis(1).bad_indices(zero);
    let elements = || elements.plan(&[3, 4, 4], &[2, 5, 3]);
    let row = |n: usize| Some(n / 15 * 16 + position(n)? * 4 + n % 3);
    let rows: Vec<_> = (0..30).map(row).collect();
    let expected = slices(&params, 1, &rows, 254);
    check(elements(), &params, &indices[..30], 254, &expected);
    let of_3: Vec<[u8; 3]> = (0..48).map(|n| [n, n + 1, 2 * n]).collect();
    let expected = slices(&of_3, 1, &rows, [254; 3]);
    check(elements(), &of_3, &indices[..30], [254; 3], &expected);
    let nd = GatherNd::new().bad_indices(zero);
    let expected = slices(&params, 2, &[Some(23), None, Some(14)], 254);
    let deep = [1, 2, 3, 0, 3, 0, 1, 0, 2];
    check(
        nd.plan(&[2, 3, 4, 2], &[3, 3]),
        &params,
        &deep,
        254,
        &expected,
    );
}

#[test]
fn indices_are_counted_from_the_end_and_clamped() {
    let gather = Gather::new().negative_indices(NegativeIndices::FromEnd);
    for (policy, output) in [
        (BadIndices::Clamp, [9, 7, 7, 9, 9, 7]),
        (BadIndices::Fill, [9, 7, 0, 9, 0, 0]),
    ] {
        let plan = gather.bad_indices(policy).plan(&[3], &[6]);
        let indices = [-1, -3, -4, 2, 3, i64::MIN];
        check(plan, &[7_u64, 8, 9], &indices, 0, &output);
    }
}

/// A copy by integers would fail: padding has no value, and a pointer has provenance, which an integer would not keep.
#[test]
fn padding_and_pointers_are_copied() {
    let gather = Gather::new().bad_indices(BadIndices::Fill);
    let (plan, rows) = (|| gather.plan(&[2, 2], &[3]), [1, 2, 0]);
    let words = ["a", "bc", "def", "g"];
    check(
        plan(),
        &words,
        &rows,
        "?",
        &["def", "g", "?", "?", "a", "bc"],
    );
    let [a, b, c, d, fill] = [(1_u8, 2_u32), (3, 4), (5, 6), (7, 8), (9, 9)];
    check(
        plan(),
        &[a, b, c, d],
        &rows,
        fill,
        &[c, d, fill, fill, a, b],
    );
}

#[test]
fn an_error_leaves_an_empty_vector_and_a_whole_output() {
    let plan = Gather::new().plan(&[2], &[3]).expect("a valid shape");
    let mut output = ["x", "y", "z"];
    assert!(
        plan.gather_into(&["a", "b"], &[1, 5, 0], &mut output)
            .is_err()
    );
    assert_eq!(output, ["b", "y", "z"]);
    assert!(plan.gather(&["a", "b"], &[1, 5, 0]).is_err());
}

#[test]
#[cfg(feature = "rayon")]
fn threads_write_parts_of_one_output() {
    // Slices are short, as a gather of many slices is shared although its bytes are few.
    const ROWS: i64 = 8_500;
    // Parts begin and end within a block.
    let plan = Gather::new().axis(1).bad_indices(BadIndices::Fill);
    let plan = plan.plan(&[2, 4, 3], &[8_500]);
    let params = bytes(24);
    let rows: Vec<i64> = (0..ROWS).map(|n| n % 5).collect();
    let row = |&row: &i64| usize::try_from(row).ok().filter(|&row| row < 4);
    let first = rows.iter().map(row);
    let second = rows.iter().map(|at| Some(row(at)? + 4));
    let expected: Vec<_> = first.chain(second).collect();
    let expected = slices(&params, 3, &expected, 77);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build();
    let pool = pool.expect("threads");
    pool.install(|| check(plan, &params, &rows, 77, &expected));
}

#[test]
fn params_rows_of_shards_and_of_bad_rows() {
    let plan = Gather::new().plan(&[9, 2], &[4]).expect("a valid shape");
    let error = plan.params_rows(&[8, 0, 9, -1]).expect_err("a bad row");
    assert_eq!(error.to_string(), "indices[2] = 9 is not in [0, 9)");
    assert!(matches!(
        plan.params_rows(&[0; 3]),
        Err(RunError::Length { .. })
    ));

    // Rows of a shard count from its first one.
    let shard = plan.shard(3..6).expect("rows of the plan");
    let rows = shard.params_rows(&[5, 2, 3, 6]).expect("good rows");
    assert_eq!(rows, [Some(2), None, Some(0), None]);

    // Slices of 0 elements: as in a gather, no row is bad.
    let empty = Gather::new().plan(&[3, 0], &[2]).expect("valid shapes");
    assert_eq!(empty.gather::<u8, _>(&[], &[9, 1]), Ok(vec![]));
    assert_eq!(empty.params_rows(&[9, 1]), Ok(vec![None, Some(1)]));

    // Each of two blocks selects from its own four rows; more output rows than are located in one step.
    let plan = Gather::new()
        .axis(1)
        .plan(&[2, 4, 3], &[300])
        .expect("a valid shape");
    let rows = plan.params_rows(&[1_u8; 300]).expect("good rows");
    assert_eq!(rows, [[Some(1); 300], [Some(5); 300]].concat());
}
