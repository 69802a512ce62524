//! Gradients. The forward pass is the bridge's; the backward pass is burn's own `select_assign`, `scatter` or
//! `scatter_nd`.
//!
//! burn writes to whatever an index out of range names. So the backward pass replaces such an index by one in range
//! first, as the policy says, and a bad row passes no gradient on.

use std::fmt;
use std::sync::Arc;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::{
    BalancedCheckpointing, CheckpointStrategy, NoCheckpointing,
};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind, unary};
use burn::backend::{
    Autodiff, Cube, DispatchKindConversion, DispatchTensor, GradientCheckpointingStrategy,
};
use burn::tensor::{Float, Tensor};
use wgpu_gather::Operand;

use crate::{BridgeError, Gathered};

/// The gradient of params, for the gradient of the output.
pub(crate) type Pull<const D: usize, const O: usize> =
    Arc<dyn Fn(Tensor<O>) -> Tensor<D> + Send + Sync>;

/// The state of the backward pass.
#[derive(Clone)]
struct Pulled<const D: usize, const O: usize>(Pull<D, O>);

impl<const D: usize, const O: usize> fmt::Debug for Pulled<D, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pulled")
    }
}

#[derive(Debug)]
struct Gather<const D: usize, const O: usize>;

impl<const D: usize, const O: usize> Backward<Cube, 1> for Gather<D, O> {
    type State = Pulled<D, O>;

    fn backward(
        self,
        ops: Ops<Self::State, 1>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let Pulled(pull) = ops.state;
        unary::<Cube, _>(ops.parents, ops.node, gradients, |gradient| {
            let gradient = pull(Tensor::from_primitive::<Cube>(gradient));
            let gradient = gradient.try_into_primitive::<Cube>();
            gradient.expect("pull returns a tensor of the device without autodiff")
        });
    }
}

/// Runs `forward` on params without autodiff, and records `pull` as the backward pass of its output.
pub(crate) fn tracked<const D: usize, const O: usize>(
    params: Tensor<D>,
    pull: impl Fn(Tensor<O>) -> Tensor<D> + Send + Sync + 'static,
    forward: impl FnOnce(Tensor<D>) -> Result<Gathered<O, Float>, BridgeError>,
) -> Result<Gathered<O, Float>, BridgeError> {
    match params.gradient_checkpointing_strategy() {
        None => forward(params),
        Some(GradientCheckpointingStrategy::Disabled) => {
            tracked_by::<NoCheckpointing, D, O>(params, Arc::new(pull), forward)
        }
        Some(GradientCheckpointingStrategy::Balanced) => {
            tracked_by::<BalancedCheckpointing, D, O>(params, Arc::new(pull), forward)
        }
    }
}

fn tracked_by<C: CheckpointStrategy, const D: usize, const O: usize>(
    params: Tensor<D>,
    pull: Pull<D, O>,
    forward: impl FnOnce(Tensor<D>) -> Result<Gathered<O, Float>, BridgeError>,
) -> Result<Gathered<O, Float>, BridgeError>
where
    DispatchTensor: DispatchKindConversion<Autodiff<Cube, C>>,
{
    let params = params.try_into_primitive::<Autodiff<Cube, C>>();
    let params = params.map_err(|error| BridgeError::Backend {
        operand: Operand::Params,
        reason: format!("{error:?}"),
    })?;
    let (params, node) = params.into_parts();
    let Gathered { tensor, report } = forward(Tensor::from_primitive::<Cube>(params))?;
    let output = tensor.try_into_primitive::<Cube>();
    let output = output.expect("forward returns a tensor of the device without autodiff");
    let step = Gather::<D, O>.prepare::<C>([node]).compute_bound();
    let output = match step.stateful() {
        OpsKind::Tracked(step) => step.finish(Pulled(pull), output),
        OpsKind::UnTracked(step) => step.finish(output),
    };
    Ok(Gathered {
        tensor: Tensor::from_primitive::<Autodiff<Cube, C>>(output),
        report,
    })
}
