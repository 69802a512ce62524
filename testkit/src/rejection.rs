//! The names that the oracle gives to the errors of a plan.

use wgpu_gather::PlanError;

use super::oracle::Rejection;

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
