//! Plans any shapes and attributes: no panic, the oracle's output shape or kind of error, and sizes that agree with the
//! shapes. Any range of rows makes a shard of the plan, or an error if it is not within the plan's rows.

#![no_main]

mod shapes;

use arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use shapes::any_case;
use testkit::oracle::{Case, Op};
use testkit::samples::POLICIES;
use wgpu_gather::{GatherPlan, Operand, PlanError, RunError};

/// Above the limits of TensorFlow (rank 8), of NumPy (32) and of this crate's index depth (8).
const MAX_RANK: usize = 40;

#[derive(Debug)]
struct Input {
    case: Case,
    /// The start and end of a shard.
    rows: [usize; 2],
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let max_rank = *u.choose(&[3, 6, MAX_RANK])?;
        Ok(Self {
            rows: [any_dim(u)?, any_dim(u)?],
            case: any_case(u, max_rank, any_dim)?,
        })
    }
}

/// Mostly a small dim, else one near a power of two, or any.
fn any_dim(u: &mut Unstructured) -> Result<usize> {
    match u.int_in_range(0..=15)? {
        0..=11 => u.int_in_range(0..=9),
        12 => Ok(power_of_two(u)?),
        13 => Ok(power_of_two(u)? - 1),
        14 => Ok(power_of_two(u)? + 1),
        _ => u.arbitrary(),
    }
}

fn power_of_two(u: &mut Unstructured) -> Result<usize> {
    Ok(1 << u.int_in_range(0..=usize::BITS - 1)?)
}

fuzz_target!(|input: Input| {
    let (case, [start, end]) = (input.case, input.rows);
    case.check_plan();
    for &policy in POLICIES {
        match case.plan(policy) {
            Ok(plan) => {
                assert_eq!(plan.bad_indices(), policy);
                check_sizes(&case, &plan);
                check_empty_operands(&plan);
                let row_ends = plan.row_count() + 1;
                check_shard(&plan, start, end);
                check_shard(&plan, start % row_ends, end % row_ends);
            }
            Err(error) => check_text(&error),
        }
    }
});

fn check_text(error: &PlanError) {
    let text = error.to_string();
    assert!(!text.is_empty() && !text.contains('\n'), "{text:?}");
}

/// The plan's sizes agree with its shapes.
fn check_sizes(case: &Case, plan: &GatherPlan) {
    let (params, indices) = (&case.params_shape, &case.indices_shape);
    assert_eq!(elements(params), plan.params_len(), "{case}");
    assert_eq!(elements(indices), plan.indices_len(), "{case}");
    assert_eq!(elements(plan.output_shape()), plan.output_len(), "{case}");
    let indexed_dims: Vec<usize> = case.op.indexed_dims(params, indices);
    if !matches!(case.op, Op::GatherElements { .. }) {
        assert_eq!(elements(&indexed_dims), plan.row_count(), "{case}");
    }
    assert!(plan.to_string().contains(" -> output ["), "{plan}");
}

fn elements(shape: &[usize]) -> usize {
    if shape.contains(&0) {
        return 0;
    }
    shape.iter().product()
}

/// Empty params and indices give a length error, or an empty output if the plan has no params and no indices.
fn check_empty_operands(plan: &GatherPlan) {
    let missing = |operand, expected| {
        let expected = expected as u64..=expected as u64;
        RunError::Length {
            operand,
            expected,
            found: 0,
        }
    };
    let expected = match (plan.params_len(), plan.indices_len()) {
        (0, 0) => Ok(Vec::new()),
        (0, indices) => Err(missing(Operand::Indices, indices)),
        (params, _) => Err(missing(Operand::Params, params)),
    };
    assert_eq!(plan.gather::<u8, i64>(&[], &[]), expected, "{plan}");
}

/// A shard differs from the whole plan only in the rows of params.
fn check_shard(plan: &GatherPlan, start: usize, end: usize) {
    let whole = plan;
    let are_rows = start <= end && end <= whole.row_count();
    match plan.shard(start..end) {
        Ok(shard) => {
            assert!(are_rows, "{plan}: {start}..{end}");
            let params_len = shard.params_len() as u128 * whole.row_count() as u128;
            let expected = whole.params_len() as u128 * (end - start) as u128;
            assert_eq!(params_len, expected, "{shard}");
            assert_eq!(shard.indices_len(), whole.indices_len(), "{shard}");
            assert_eq!(shard.output_len(), whole.output_len(), "{shard}");
        }
        Err(error) => {
            assert!(!are_rows, "{plan}: {start}..{end}");
            check_text(&error);
        }
    }
}
