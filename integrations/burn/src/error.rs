//! The error of a gather of burn's tensors.

use std::fmt;

use burn::tensor::DType;
use wgpu_gather::{BadIndexError, GatherError, Operand, PlanError};

/// The error of a gather of burn's tensors. A [`BadIndex`](Self::BadIndex) is found after the gather; after any other
/// error of a gather nothing has been submitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the texts say what the fields are")]
pub enum BridgeError {
    /// The shapes and attributes make no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The gather cannot be recorded.
    #[error(transparent)]
    Gather(#[from] GatherError),
    /// An index is out of range, and the policy makes it an error.
    #[error(transparent)]
    BadIndex(#[from] BadIndexError),
    /// A tensor or a device is of another backend of burn's, or a tensor is quantized.
    #[error("{operand} must be of burn's wgpu backend and not quantized")]
    Backend { operand: Operand },
    /// A tensor lives on another device than the bridge.
    #[error("{operand} must be on the bridge's device, found {found}")]
    OtherDevice { operand: Operand, found: String },
    /// burn's own operations, which pass gradients on, have no WGSL for indices of 8 and 16 bits.
    #[error("indices must have 32 or 64 bits if params uses autodiff, found {found:?}")]
    IndexType { found: DType },
    /// An operand has another number of elements than in the plan.
    #[error("{operand} must have {expected} elements, found {found}")]
    #[rustfmt::skip]
    Length { operand: Operand, expected: usize, found: usize },
    /// The output has another rank than the tensor asked for. A scalar has rank 1, as in burn.
    #[error("output must have rank {expected}, found rank {found} asked for")]
    OutputRank { expected: usize, found: usize },
    /// burn's cubecl backend holds no tensor of so many dims.
    #[error("output must have at most {limit} dims in burn, found {found}")]
    RankAboveLimit { limit: usize, found: usize },
    /// The output is larger than a buffer of the device.
    #[error("output must have at most {limit} bytes on this device, found {found}")]
    TooLarge { limit: u64, found: u64 },
    /// burn copies a tensor that is not row-major, and binds it whole.
    #[error("{operand} must be row-major or have at most {limit} bytes, found {found} in another order")]
    #[rustfmt::skip]
    NotRowMajor { operand: Operand, limit: u64, found: u64 },
    /// burn has no memory for a tensor, an earlier operation of burn did not write it, or burn did not submit its work.
    #[error("burn failed at {operand}: {reason}")]
    Burn { operand: Operand, reason: String },
    /// Params uses autodiff. `gather_nd` and `run` have no gradient; they take `params.inner()`.
    #[error("params must not use autodiff for an operation without a gradient")]
    NoGradient,
    /// Params uses autodiff, and the bridge does not know the gradient under this policy.
    #[error("params must not use autodiff under the policy {policy}, whose gradient is not known")]
    PolicyWithoutGradient { policy: String },
}

impl BridgeError {
    /// A policy of a later wgpu-gather.
    pub(crate) fn policy(policy: impl fmt::Debug) -> Self {
        let policy = format!("{policy:?}");
        Self::PolicyWithoutGradient { policy }
    }

    /// An error that burn returned.
    pub(crate) fn burn(operand: Operand, error: impl ToString) -> Self {
        let reason = error.to_string();
        Self::Burn { operand, reason }
    }
}
