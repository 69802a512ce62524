//! Gradients. The forward pass is the bridge's; the backward pass is burn's own `select_assign` or `scatter`.
//!
//! burn writes to whatever an index out of range names. So the backward pass first replaces such an index by one in
//! range, as the policy says, and a bad row passes no gradient on.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::{
    BalancedCheckpointing, CheckpointStrategy, NoCheckpointing,
};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind, unary};
use burn::backend::{
    Autodiff, BackendTensor, Cube, DispatchAutodiffContext, DispatchKindConversion, DispatchTensor,
    DispatchTensorKind, GradientCheckpointingStrategy,
};
use burn::tensor::kind::Basic;
use burn::tensor::{AsIndex, Bool, IndexingUpdateOp, Int, Tensor};
use wgpu_gather::{BadIndices, GatherPlan, NegativeIndices, Operand};

use crate::{Bridge, BridgeError, Gathered};

/// A gather along one dim, for its backward pass. Indices of rank 1 are `select`'s, others `gather`'s.
#[derive(Debug, Clone)]
pub(crate) struct Along<const D: usize, const M: usize> {
    bridge: Bridge,
    beyond: Beyond,
    from_end: bool,
    shape: [usize; D],
    dim: usize,
    indices: Tensor<M, Int>,
}

/// The entry that an index out of range selects.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Beyond {
    None,
    Nearest,
    Remainder,
}

/// The entry that a bad index selects, and true if negative indices count from the end, by the bridge's policies. A policy of a
/// later wgpu-gather is an error, as a guess could pass on a wrong gradient.
fn rule_of(bridge: &Bridge) -> Result<(Beyond, bool), BridgeError> {
    let beyond = match bridge.bad_indices {
        BadIndices::DeviceDefault | BadIndices::Error | BadIndices::Fill => Beyond::None,
        BadIndices::Clamp => Beyond::Nearest,
        BadIndices::Wrap => Beyond::Remainder,
        other => return Err(BridgeError::policy(other)),
    };
    let from_end = match bridge.negative_indices {
        NegativeIndices::Invalid => false,
        NegativeIndices::FromEnd => true,
        other => return Err(BridgeError::policy(other)),
    };
    Ok((beyond, from_end))
}

impl<const D: usize, const M: usize> Along<D, M> {
    /// The gradient of params, for the gradient of the output.
    fn pull(self, gradient: Tensor<D>) -> Tensor<D> {
        let options = (gradient.device(), gradient.dtype());
        let zeros = |shape: [usize; D]| Tensor::zeros(shape, (&options.0, options.1));
        let Self { shape, dim, .. } = self;
        if shape.contains(&0) || gradient.dims().contains(&0) {
            return zeros(shape);
        }
        let (indices, bad) = self.in_range();
        // The shape in which the indices stand in the output.
        let mut places = if M == 1 { [1; D] } else { gradient.dims() };
        places[dim] = gradient.dims()[dim];
        let gradient = match bad {
            Some(bad) => {
                let bad = bad.reshape(places).expand(gradient.dims());
                gradient.mask_fill(bad, 0.0)
            }
            None => gradient,
        };
        if M == 1 {
            let indices = indices.reshape([places[dim]]);
            return zeros(shape).select_assign(dim, indices, gradient, IndexingUpdateOp::Add);
        }
        // burn scatters into a tensor as large as the indices in all dims but one.
        let mut part = places;
        part[dim] = shape[dim];
        let indices = indices.reshape(places);
        let scattered = zeros(part).scatter(dim, indices, gradient, IndexingUpdateOp::Add);
        if part == shape {
            return scattered;
        }
        zeros(shape).slice_assign(part.map(|end| 0..end), scattered)
    }

    /// The entries that the indices select, and which of the indices select none.
    fn in_range(self) -> (Tensor<M, Int>, Option<Tensor<M, Bool>>) {
        let (beyond, mut indices) = (self.beyond, self.indices);
        let dim = i64::try_from(self.shape[self.dim]).unwrap_or(i64::MAX);
        if beyond == Beyond::Remainder {
            return (indices.remainder_scalar(dim), None);
        }
        if self.from_end {
            let below = indices.clone().lower_elem(0);
            indices = indices.clone().mask_where(below, indices + dim);
        }
        let clamped = indices.clone().clamp(0, dim - 1);
        let bad = (beyond == Beyond::None).then(|| {
            let below = indices.clone().lower_elem(0);
            below.bool_or(indices.greater_equal_elem(dim))
        });
        (clamped, bad)
    }
}

/// Runs a plan that gathers along an axis. The output of floats with autodiff has a gradient.
pub(crate) fn gather_along<const D: usize, const M: usize, K: Basic>(
    bridge: &Bridge,
    plan: &GatherPlan,
    params: Tensor<D, K>,
    axis: i64,
    indices: Tensor<M, Int>,
) -> Result<Gathered<D, K>, BridgeError> {
    let shape = params.dims();
    let mut params = params.into_dispatch();
    let autodiff = params.autodiff;
    if let DispatchTensorKind::Autodiff(_) = params.kind {
        let found = indices.dtype();
        if found.size() < 4 {
            return Err(BridgeError::IndexType { found });
        }
        let (beyond, from_end) = rule_of(bridge)?;
        let along = Along {
            bridge: bridge.clone(),
            beyond,
            from_end,
            shape,
            dim: axis.expect_dim_index(D),
            indices: indices.inner(),
        };
        let balanced = GradientCheckpointingStrategy::Balanced;
        return match autodiff == DispatchAutodiffContext::Enabled(balanced) {
            true => tracked::<BalancedCheckpointing, D, M, K>(plan, params, along),
            false => tracked::<NoCheckpointing, D, M, K>(plan, params, along),
        };
    }
    params.autodiff = DispatchAutodiffContext::Disabled;
    let gathered = bridge.run(plan, Tensor::<D, K>::from_dispatch(params), indices)?;
    let mut output = gathered.tensor.into_dispatch();
    output.autodiff = autodiff;
    let tensor = Tensor::from_dispatch(output);
    Ok(Gathered { tensor, ..gathered })
}

/// Gathers from the tensor without autodiff, and gives the output the backward pass of `along`.
fn tracked<C: CheckpointStrategy, const D: usize, const M: usize, K: Basic>(
    plan: &GatherPlan,
    params: DispatchTensor,
    along: Along<D, M>,
) -> Result<Gathered<D, K>, BridgeError>
where
    DispatchTensor: DispatchKindConversion<Cube> + DispatchKindConversion<Autodiff<Cube, C>>,
{
    let operand = Operand::Params;
    let backend = |_| BridgeError::Backend { operand };
    let params: BackendTensor<Autodiff<Cube, C>> =
        DispatchTensor::try_into_backend(params).map_err(backend)?;
    let (params, node) = params.float().into_parts();
    let params = DispatchTensor::from_backend(BackendTensor::<Cube>::Float(params));
    let params = Tensor::<D>::from_dispatch(params);
    let gathered: Gathered<D, _> = along.bridge.run(plan, params, along.indices.clone())?;
    let output: BackendTensor<Cube> =
        DispatchTensor::try_into_backend(gathered.tensor.into_dispatch()).map_err(backend)?;
    let step = Pull.prepare::<C>([node]).compute_bound();
    let output = match step.stateful() {
        OpsKind::Tracked(step) => step.finish(along, output.float()),
        OpsKind::UnTracked(step) => step.finish(output.float()),
    };
    let output = DispatchTensor::from_backend(BackendTensor::<Autodiff<Cube, C>>::Float(output));
    Ok(Gathered {
        tensor: Tensor::from_dispatch(output),
        report: gathered.report,
    })
}

#[derive(Debug)]
struct Pull<const D: usize, const M: usize>;

impl<const D: usize, const M: usize> Backward<Cube, 1> for Pull<D, M> {
    type State = Along<D, M>;

    fn backward(
        self,
        ops: Ops<Self::State, 1>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        unary::<Cube, _>(ops.parents, ops.node, gradients, |gradient| {
            let pulled = ops.state.pull(Tensor::from_primitive::<Cube>(gradient));
            let pulled = pulled.try_into_primitive::<Cube>();
            pulled.expect("the gradient of a tensor without autodiff has none")
        });
    }
}
