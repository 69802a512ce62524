//! The first planning error if several checks fail, and the numbers in its text. src/error/tests.rs has the text of each.

use wgpu_gather::{ElementTypes, Gather, Operand, PlanError};

use super::{BIG, Planned, along, assert_error, assert_shape, nd};

#[test]
fn products_beyond_i64_name_the_operand_and_its_shape() {
    let assert_too_many = |planned: Planned, operand: &str, shape: &str| {
        let most = "must have at most 9223372036854775807 elements, found shape";
        assert_error(planned, &format!("{operand} {most} {shape}"));
    };
    let square = "[1099511627776,1099511627776]";
    assert_too_many(along(0, 0, &[BIG, BIG], &[1]), "params", square);
    assert_too_many(nd(0, &[BIG, BIG], &[1, 1]), "params", square);
    assert_too_many(along(0, 0, &[3], &[BIG, BIG]), "indices", square);
    assert_too_many(
        nd(0, &[3], &[BIG, BIG, 1]),
        "indices",
        "[1099511627776,1099511627776,1]",
    );
    assert_too_many(along(0, 0, &[3, BIG], &[BIG]), "output", square);
    assert_too_many(nd(0, &[3, BIG], &[BIG, 1]), "output", square);
    assert_too_many(
        along(0, 0, &[1 << 63], &[1]),
        "params",
        "[9223372036854775808]",
    );
    assert_shape(along(0, 0, &[(1 << 63) - 1], &[1]), &[1]);
}

#[test]
fn zero_dims_do_not_hide_an_overflow() {
    for shape in [[0, BIG, BIG], [BIG, 0, BIG], [BIG, BIG, 0]] {
        let expected = PlanError::TooManyElements {
            operand: Operand::Params,
            shape: shape.to_vec(),
            limit: i64::MAX.unsigned_abs(),
        };
        assert_eq!(along(0, 0, &shape, &[1]), Err(expected));
    }
}

#[test]
fn params_then_indices_then_output_sizes_are_checked() {
    let operand = |planned: Planned| match planned {
        Err(PlanError::TooManyElements { operand, .. }) => operand,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        operand(along(0, 0, &[BIG, BIG], &[BIG, BIG])),
        Operand::Params
    );
    assert_eq!(
        operand(along(0, 0, &[3, BIG], &[BIG, BIG])),
        Operand::Indices
    );
    assert_eq!(operand(nd(0, &[BIG, BIG], &[BIG, BIG, 1])), Operand::Params);
    assert_eq!(operand(nd(0, &[3, BIG], &[BIG, BIG, 1])), Operand::Indices);
}

#[test]
fn attributes_at_the_ends_of_i64_are_errors() {
    for end in [i64::MIN, i64::MIN + 1, i64::MAX] {
        let axis = format!("axis must be in [-2, 2) for params of rank 2, found {end}");
        assert_error(along(end, 0, &[2, 3], &[2]), &axis);
        let axis = axis.replace("axis", "axis (not given, so batch_dims)");
        assert_error(Gather::new().batch_dims(end).plan(&[2, 3], &[2]), &axis);
        assert_error(
            along(1, end, &[2, 3], &[2]),
            &format!("batch_dims must be in [-1, 1] for indices of rank 1, found {end}"),
        );
    }
    assert_error(
        nd(i64::MIN, &[2], &[1]),
        "gather_nd does not allow negative batch_dims, found -9223372036854775808",
    );
    assert_error(
        nd(i64::MAX, &[2], &[1]),
        "batch_dims must be less than rank(indices) = 1, found 9223372036854775807",
    );
}

#[test]
fn a_shard_lies_within_the_rows() {
    let plan = along(1, 0, &[3, 7, 2], &[5]).unwrap();
    assert_eq!(plan.shard(0..7), Ok(plan.clone()));
    let text = plan.shard(2..6).unwrap().to_string();
    assert_eq!(
        text,
        "gather params [3,7,2], indices [5], axis 1, batch_dims 0 -> output [3,5,2], rows 2..6 only"
    );
    for (start, end) in [(0, 8), (8, 8), (5, 4), (0, usize::MAX)] {
        assert_error(
            plan.shard(start..end),
            &format!("shard must lie within rows 0..7, found {start}..{end}"),
        );
    }
}

#[test]
fn a_stride_below_the_slice_is_refused() {
    let plan = along(0, 0, &[4, 3], &[2]).unwrap();
    assert!(plan.with_params_stride(2).is_err());
    assert_error(
        plan.with_output_stride(0),
        "output stride must be at least the slice's 3 elements, found 0",
    );
    assert_error(
        plan.with_params_stride(1 << 61),
        "params must have at most 9223372036854775807 elements, found 4 rows with a stride of 2305843009213693952",
    );
    assert!(plan.with_output_stride(1 << 61).is_ok());
    let most = isize::MAX.cast_unsigned() / 7; // without a remainder
    let seven = along(0, 0, &[7], &[2]).unwrap();
    assert!(seven.with_params_stride(most).is_ok());
    let strided = plan
        .with_params_stride(5)
        .unwrap()
        .with_output_stride(4)
        .unwrap();
    assert_eq!((strided.params_len(), strided.output_len()), (18, 7));
    assert_eq!(
        strided.to_string(),
        "gather params [4,3], indices [2], axis 0, batch_dims 0 -> output [2,3], params stride 5, output stride 4"
    );
    assert_eq!(strided.shard(1..3).unwrap().params_len(), 8);
    let text = "output must be given, to gather_into, into_tensor or a Gatherer: the plan has a stride of 4 elements for slices of 3";
    let error = strided.gather(&[0; 18], &[0, 1]).unwrap_err();
    assert_eq!(error.to_string(), text);
    let types = ElementTypes::of::<u8, u8>();
    assert_eq!(strided.gather_bytes(types, &[0; 18], &[0, 1]), Err(error));
    // One row has no gap.
    let one = along(0, 0, &[4, 3], &[1]).unwrap();
    let one = one.with_output_stride(4).unwrap();
    assert_eq!(one.gather(&[7; 12], &[0]), Ok(vec![7; 3]));
    // The default strides make the plan the first one again.
    assert_eq!(
        strided
            .with_params_stride(3)
            .unwrap()
            .with_output_stride(3)
            .unwrap(),
        plan
    );
}

#[test]
fn a_shard_of_a_shard_holds_rows_within_the_limit() {
    let plan = along(0, 0, &[4, 2], &[1]).unwrap();
    let one_row = plan.shard(0..1).unwrap();
    let one_row = one_row.with_params_stride(1 << 62).unwrap();
    assert_eq!(one_row.params_len(), 2);
    assert_error(
        one_row.shard(0..4),
        "params must have at most 9223372036854775807 elements, found 4 rows with a stride of 4611686018427387904",
    );
    assert_eq!(one_row.shard(3..4).unwrap().params_len(), 2);
    assert_eq!(one_row.shard(2..2).unwrap().params_len(), 0);
}

#[test]
fn rows_without_elements_have_no_gaps() {
    let plan = along(0, 0, &[4, 0], &[2]).unwrap();
    let plan = plan
        .with_params_stride(5)
        .unwrap()
        .with_output_stride(7)
        .unwrap();
    assert_eq!((plan.params_len(), plan.output_len()), (0, 0));
    let mut output = [9; 14];
    for len in [0, 14] {
        plan.gather_into(&[1; 20], &[1, 9], &mut output[..len])
            .unwrap();
    }
    assert_eq!(plan.gather(&[0; 0], &[1, 9]), Ok(vec![]));
    assert_eq!(output, [9; 14]);
}
