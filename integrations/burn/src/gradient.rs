//! Gradients. The forward pass is the bridge's; the backward pass is burn's own `select_assign` or `scatter`.
//!
//! burn writes to whatever an index out of range names. So the backward pass first replaces such an index by one in
//! range, as the policy says, and a bad row passes no gradient on.

use std::fmt;
use std::sync::Arc;

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
use wgpu_gather::{BadIndices, NegativeIndices, Operand};

use crate::{Bridge, BridgeError, Gathered};

/// The gradient of params, for the gradient of the output. Neither tensor uses autodiff.
pub(crate) type Pull<const D: usize, const O: usize> =
    Arc<dyn Fn(Tensor<O>) -> Tensor<D> + Send + Sync>;

/// The backward pass of `select`.
pub(crate) fn of_select<const D: usize>(
    bridge: &Bridge,
    shape: [usize; D],
    axis: i64,
    indices: Tensor<1, Int>,
) -> Pull<D, D> {
    let (bridge, dim) = (bridge.clone(), axis.expect_dim_index(D));
    let indices = indices.inner();
    Arc::new(move |gradient| {
        let (indices, bad) = bridge.in_range(indices.clone(), shape[dim]);
        let mut places = [1; D];
        places[dim] = indices.dims()[0];
        let bad = bad.map(|bad| bad.reshape(places).expand(gradient.dims()));
        let gradient = without(gradient, bad);
        let zeros = Tensor::zeros(shape, (&gradient.device(), gradient.dtype()));
        zeros.select_assign(dim, indices, gradient, IndexingUpdateOp::Add)
    })
}

/// The backward pass of `gather`.
pub(crate) fn of_gather<const D: usize>(
    bridge: &Bridge,
    shape: [usize; D],
    axis: i64,
    indices: Tensor<D, Int>,
) -> Pull<D, D> {
    let (bridge, dim) = (bridge.clone(), axis.expect_dim_index(D));
    let indices = indices.inner();
    Arc::new(move |gradient| {
        let (indices, bad) = bridge.in_range(indices.clone(), shape[dim]);
        let gradient = without(gradient, bad);
        let options = (gradient.device(), gradient.dtype());
        // burn scatters into a tensor as large as the indices in all dims but `dim`.
        let mut part = indices.dims();
        part[dim] = shape[dim];
        let scattered = Tensor::zeros(part, (&options.0, options.1));
        let scattered = scattered.scatter(dim, indices, gradient, IndexingUpdateOp::Add);
        if part == shape {
            return scattered;
        }
        let zeros = Tensor::zeros(shape, (&options.0, options.1));
        zeros.slice_assign(part.map(|end| 0..end), scattered)
    })
}

/// The backward pass of `embedding`.
pub(crate) fn of_embedding(
    bridge: &Bridge,
    shape: [usize; 2],
    indices: Tensor<2, Int>,
) -> Pull<2, 3> {
    let rows = indices.dims().iter().product();
    let select = of_select(bridge, shape, 0, indices.reshape([rows]));
    Arc::new(move |gradient| select(gradient.reshape([rows, shape[1]])))
}

fn without<const D: usize>(gradient: Tensor<D>, bad: Option<Tensor<D, Bool>>) -> Tensor<D> {
    match bad {
        Some(bad) => gradient.mask_fill(bad, 0.0),
        None => gradient,
    }
}

impl Bridge {
    /// The entries of a dim that the indices select, and which of the indices select none.
    fn in_range<const D: usize>(
        &self,
        indices: Tensor<D, Int>,
        dim: usize,
    ) -> (Tensor<D, Int>, Option<Tensor<D, Bool>>) {
        let dim = i64::try_from(dim).unwrap_or(i64::MAX);
        if self.bad_indices == BadIndices::Wrap {
            return (indices.remainder_scalar(dim), None);
        }
        let indices = match self.negative_indices {
            NegativeIndices::FromEnd => {
                let below = indices.clone().lower_elem(0);
                indices.clone().mask_where(below, indices + dim)
            }
            _ => indices,
        };
        let clamped = indices.clone().clamp(0, dim - 1);
        let bad = (self.bad_indices != BadIndices::Clamp).then(|| {
            indices
                .clone()
                .lower_elem(0)
                .bool_or(indices.greater_equal_elem(dim))
        });
        (clamped, bad)
    }
}

/// Runs `forward` on params without autodiff. Output of floats with autodiff gets the backward pass that `pull` makes.
pub(crate) fn tracked<const D: usize, const O: usize, K: Basic>(
    params: Tensor<D, K>,
    pull: impl FnOnce() -> Pull<D, O>,
    forward: impl FnOnce(Tensor<D, K>) -> Result<Gathered<O, K>, BridgeError>,
) -> Result<Gathered<O, K>, BridgeError> {
    use GradientCheckpointingStrategy::{Balanced, Disabled};

    let mut params = params.into_dispatch();
    let autodiff = params.autodiff;
    match (autodiff, &params.kind) {
        (DispatchAutodiffContext::Enabled(Disabled), DispatchTensorKind::Autodiff(_)) => {
            tracked_by::<NoCheckpointing, D, O, K>(params, pull(), forward)
        }
        (DispatchAutodiffContext::Enabled(Balanced), DispatchTensorKind::Autodiff(_)) => {
            tracked_by::<BalancedCheckpointing, D, O, K>(params, pull(), forward)
        }
        _ => {
            params.autodiff = DispatchAutodiffContext::Disabled;
            let Gathered { tensor, report } = forward(Tensor::from_dispatch(params))?;
            let mut output = tensor.into_dispatch();
            output.autodiff = autodiff;
            let tensor = Tensor::from_dispatch(output);
            Ok(Gathered { tensor, report })
        }
    }
}

fn tracked_by<C: CheckpointStrategy, const D: usize, const O: usize, K: Basic>(
    params: DispatchTensor,
    pull: Pull<D, O>,
    forward: impl FnOnce(Tensor<D, K>) -> Result<Gathered<O, K>, BridgeError>,
) -> Result<Gathered<O, K>, BridgeError>
where
    DispatchTensor: DispatchKindConversion<Cube> + DispatchKindConversion<Autodiff<Cube, C>>,
{
    let backend = |_| BridgeError::Backend {
        operand: Operand::Params,
    };
    let params: BackendTensor<Autodiff<Cube, C>> =
        DispatchTensor::try_into_backend(params).map_err(backend)?;
    let (params, node) = params.float().into_parts();
    let params = DispatchTensor::from_backend(BackendTensor::<Cube>::Float(params));
    let Gathered { tensor, report } = forward(Tensor::from_dispatch(params))?;
    let output: BackendTensor<Cube> =
        DispatchTensor::try_into_backend(tensor.into_dispatch()).map_err(backend)?;
    let step = Gather::<D, O>.prepare::<C>([node]).compute_bound();
    let output = match step.stateful() {
        OpsKind::Tracked(step) => step.finish(State(pull), output.float()),
        OpsKind::UnTracked(step) => step.finish(output.float()),
    };
    let output = DispatchTensor::from_backend(BackendTensor::<Autodiff<Cube, C>>::Float(output));
    let tensor = Tensor::from_dispatch(output);
    Ok(Gathered { tensor, report })
}

#[derive(Debug)]
struct Gather<const D: usize, const O: usize>;

#[derive(Clone)]
struct State<const D: usize, const O: usize>(Pull<D, O>);

impl<const D: usize, const O: usize> fmt::Debug for State<D, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("State")
    }
}

impl<const D: usize, const O: usize> Backward<Cube, 1> for Gather<D, O> {
    type State = State<D, O>;

    fn backward(
        self,
        ops: Ops<Self::State, 1>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let State(pull) = ops.state;
        unary::<Cube, _>(ops.parents, ops.node, gradients, |gradient| {
            let gradient = pull(Tensor::from_primitive::<Cube>(gradient));
            let gradient = gradient.try_into_primitive::<Cube>();
            gradient.expect("pull returns a tensor of the device without autodiff")
        });
    }
}
