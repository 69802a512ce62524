//! Cases that planning rejects, and the names that the oracle gives to its errors.

use wgpu_gather::PlanError;

use crate::examples::{broadcast, case, elements, first, gather, gather_nd as nd, nd_at};
use crate::oracle::{Case, Rejection};

/// At least one case for each planning error.
#[rustfmt::skip]
pub fn rejected() -> Vec<Case> {
    vec![
        case(nd(-1), &[2, 2], &[2, 1], &[]),
        case(nd(i64::MIN), &[2, 2], &[2, 1], &[]),
        case(nd(i64::MAX), &[2, 2], &[2, 1], &[]),
        case(nd(2), &[2, 2, 2], &[2, 2], &[]),
        case(nd(1), &[2], &[2, 1], &[]),
        case(nd(1), &[2, 3], &[3, 1], &[]),
        case(nd(2), &[2, 6, 2], &[3, 4, 1], &[]),
        case(nd(0), &[], &[1, 1], &[]),
        case(nd(0), &[2], &[], &[]),
        case(nd(0), &[], &[], &[]),
        case(nd(0), &[2, 2], &[4, 3], &[]),
        case(nd(0), &[2, 2], &[0, 3], &[]),
        case(nd(1), &[2, 2], &[2, 2], &[]),
        case(nd(0), &[3, 0], &[2, 1], &[]),
        case(nd(0), &[3, 0], &[2, 2], &[]),
        case(nd(0), &[0], &[1], &[]),
        case(nd(0), &[1; 9], &[1, 9], &[]),
        case(nd(0), &[1 << 62, 2], &[1, 1], &[]),
        case(nd(0), &[1 << 62, 0, 2], &[0, 1], &[]),
        case(nd(0), &[1 << 32], &[1 << 32, 1 << 31, 0], &[]),
        case(gather(0, 0), &[], &[2], &[]),
        case(gather(2, 0), &[2, 3], &[2], &[]),
        case(gather(-3, 0), &[2, 3], &[2], &[]),
        case(gather(i64::MIN, 0), &[2, 3], &[2], &[]),
        case(gather(i64::MAX, 0), &[2, 3], &[2], &[]),
        case(gather(0, 2), &[2, 3], &[2], &[]),
        case(gather(0, -2), &[2, 3], &[2], &[]),
        case(gather(0, i64::MIN), &[2, 3], &[2], &[]),
        case(gather(0, i64::MAX), &[2, 3], &[2], &[]),
        case(gather(1, 2), &[2, 3], &[2, 3], &[]),
        case(gather(0, 1), &[2, 3], &[2], &[]),
        case(gather(1, 1), &[2, 3], &[3], &[]),
        case(gather(2, 2), &[2, 3, 4], &[2, 4], &[]),
        case(gather(0, 0), &[1 << 62, 2], &[1], &[]),
        case(gather(0, 0), &[3, 1 << 40], &[1 << 40], &[]),
        case(elements(0), &[], &[], &[]),
        case(elements(0), &[3], &[], &[]),
        case(elements(2), &[3, 2], &[3, 2], &[]),
        case(elements(-3), &[3, 2], &[3, 2], &[]),
        case(elements(i64::MIN), &[3, 2], &[3], &[]),
        case(elements(0), &[3, 2], &[3], &[]),
        case(elements(0), &[3, 2], &[3, 3], &[]),
        case(elements(1), &[3, 2], &[4, 2], &[]),
        case(elements(0), &[3, 1 << 40], &[1 << 40, 1 << 40], &[]),
        case(elements(0), &[1 << 40, 1 << 40], &[1, 1], &[]),
        case(broadcast(0), &[], &[], &[]),
        case(broadcast(0), &[3, 2], &[3], &[]),
        case(broadcast(0), &[3, 2], &[3, 3], &[]),
        case(broadcast(0), &[3, 3], &[3, 2], &[]),
        case(broadcast(1), &[3, 2], &[0, 2], &[]),
        case(broadcast(0), &[1, 1 << 40], &[1 << 40, 1], &[]),
        // Several mistakes: the first one is named.
        case(nd(0), &[], &[1 << 40, 1 << 40], &[]),
        case(nd(0), &[1 << 40, 1 << 40], &[], &[]),
        case(nd(0), &[1 << 40, 1 << 40], &[1, 9], &[]),
        case(nd(0), &[0, 1 << 40, 1 << 40], &[2, 1], &[]),
        case(nd(0), &[3, 0], &[1, 9], &[]),
        case(nd(0), &[3, 3], &[0, 9], &[]),
        case(nd(0), &[0, 1, 1, 1, 1, 1, 1, 1, 1], &[1, 9], &[]),
        case(nd(1), &[2, 1 << 40, 1 << 40], &[3, 1], &[]),
        case(gather(0, 1), &[1 << 40, 1 << 40], &[1 << 40], &[]),
        case(gather(1, 1), &[2, 1 << 40, 1 << 40], &[4], &[]),
        case(first(2), &[2, 3], &[2, 3], &[]),
        case(first(-3), &[2, 3], &[2, 3, 1], &[]),
        case(nd_at(2, 0), &[2, 3], &[2, 1], &[]),
        case(nd_at(-3, 0), &[2, 3], &[2, 1], &[]),
        case(nd_at(0, 1), &[2, 3], &[2, 1], &[]),
        case(nd_at(1, 0), &[2, 3], &[2, 2], &[]),
    ]
}

/// The name of the error's variant.
pub fn rejection(error: &PlanError) -> Rejection {
    match error {
        PlanError::BatchDimsNegative { .. } => "BatchDimsNegative",
        PlanError::BatchDimsOutOfRange { .. } => "BatchDimsOutOfRange",
        PlanError::BatchDimsNotBelowIndicesRank { .. } => "BatchDimsNotBelowIndicesRank",
        PlanError::BatchDimsNotBelowParamsRank { .. } => "BatchDimsNotBelowParamsRank",
        PlanError::BatchDimsAboveAxis { .. } => "BatchDimsAboveAxis",
        PlanError::BatchDimsUnequal { .. } => "BatchDimsUnequal",
        PlanError::ParamsScalar => "ParamsScalar",
        PlanError::IndicesScalar => "IndicesScalar",
        PlanError::IndexDepthAboveRank { .. } => "IndexDepthAboveRank",
        PlanError::IndexDepthAboveLimit { .. } => "IndexDepthAboveLimit",
        PlanError::AxisOutOfRange { .. } => "AxisOutOfRange",
        PlanError::RanksUnequal { .. } => "RanksUnequal",
        PlanError::IndicesDimAboveParams { .. } => "IndicesDimAboveParams",
        PlanError::DimsNotBroadcast { .. } => "DimsNotBroadcast",
        PlanError::EmptyParams { .. } => "EmptyParams",
        PlanError::TooManyElements { .. } => "TooManyElements",
        _ => "a new variant",
    }
}
