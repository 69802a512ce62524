//! The bridge: burn's device, the recorder of gathers on it, and burn's operations with their policies.

use std::sync::Arc;

use burn::backend::DispatchDevice;
use burn::tensor::kind::Basic;
use burn::tensor::wgpu::WgpuSetup;
use burn::tensor::{AsIndex, Device, Float, Int, Tensor};
use burn_cubecl::CubeDevice;
use wgpu_gather::{
    BadIndices, Gather, GatherElements, GatherNd, GatherPlan, Gatherer, NegativeIndices, Operand,
    wgpu,
};

use crate::gradient::gather_along;
use crate::{BridgeError, Gathered, Report};

/// Gathers burn's tensors on the device of burn's wgpu runtime.
///
/// Make one bridge for a device and keep it: it holds the pipelines. A clone shares them, and has policies of its own.
/// Threads may share a bridge.
#[derive(Debug, Clone)]
pub struct Bridge {
    pub(crate) burn: CubeDevice,
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) gatherer: Arc<Gatherer>,
    pub(crate) bad_indices: BadIndices,
    pub(crate) negative_indices: NegativeIndices,
    pub(crate) fill: Option<Arc<[u8]>>,
}

impl Bridge {
    /// A bridge to burn's `device`, which burn made together with `setup`: by `Device::wgpu_options()` and
    /// `init_with_setup`, or by `setup(..)` and `init` from an app's own wgpu device.
    ///
    /// # Errors
    ///
    /// [`BridgeError::Backend`] if `device` is not of burn's cubecl backend. The setup must be this device's: burn does
    /// not tell which wgpu device it has.
    pub fn new(device: &Device, setup: &WgpuSetup) -> Result<Self, BridgeError> {
        let burn = match device.clone().inner().as_dispatch() {
            DispatchDevice::Cube(device) => device.clone(),
            #[allow(unreachable_patterns, reason = "other backends are features of burn")]
            _ => {
                let operand = Operand::Tensor;
                return Err(BridgeError::Backend { operand });
            }
        };
        Ok(Self {
            burn,
            device: setup.device.clone(),
            queue: setup.queue.clone(),
            gatherer: Arc::new(Gatherer::new(&setup.device)),
            bad_indices: BadIndices::default(),
            negative_indices: NegativeIndices::default(),
            fill: None,
        })
    }

    /// The policy for an index out of range. The default, `DeviceDefault`, gives zeros.
    #[must_use]
    pub fn bad_indices(&self, bad_indices: BadIndices) -> Self {
        let mut bridge = self.clone();
        bridge.bad_indices = bad_indices;
        bridge
    }

    /// The meaning of a negative index. By default it is out of range.
    #[must_use]
    pub fn negative_indices(&self, negative_indices: NegativeIndices) -> Self {
        let mut bridge = self.clone();
        bridge.negative_indices = negative_indices;
        bridge
    }

    /// Bad rows hold `fill`, the bytes of one element, instead of zeros.
    #[must_use]
    pub fn fill(&self, fill: &[u8]) -> Self {
        let mut bridge = self.clone();
        bridge.fill = Some(fill.into());
        bridge
    }

    /// burn's `select`: entries of dim `dim` by their numbers. The output has the shape of `params`, with the number of
    /// indices in dim `dim`. It has a gradient.
    ///
    /// # Errors
    ///
    /// See [`BridgeError`].
    ///
    /// # Examples
    ///
    /// See the [crate](crate).
    pub fn select<const D: usize, K: Basic>(
        &self,
        params: Tensor<D, K>,
        dim: impl AsIndex,
        indices: Tensor<1, Int>,
    ) -> Result<Gathered<D, K>, BridgeError> {
        let plan = Gather::new()
            .axis(axis(dim))
            .bad_indices(self.bad_indices)
            .negative_indices(self.negative_indices)
            .plan(&params.dims(), &indices.dims())?;
        gather_along(self, &plan, params, axis(dim), indices)
    }

    /// burn's `gather`: an element of dim `dim` for each index, at the index's own place. The output has the shape of
    /// `indices`, which is at most that of `params` in each dim but `dim`. It has a gradient.
    ///
    /// # Errors
    ///
    /// See [`BridgeError`].
    pub fn gather<const D: usize, K: Basic>(
        &self,
        params: Tensor<D, K>,
        dim: impl AsIndex,
        indices: Tensor<D, Int>,
    ) -> Result<Gathered<D, K>, BridgeError> {
        let plan = GatherElements::new()
            .axis(axis(dim))
            .bad_indices(self.bad_indices)
            .negative_indices(self.negative_indices)
            .plan(&params.dims(), &indices.dims())?;
        gather_along(self, &plan, params, axis(dim), indices)
    }

    /// burn's `embedding`: rows of `weights`, of shape `[tokens, width]`, for `indices` of shape `[batch, length]`. The
    /// output has shape `[batch, length, width]`, and a gradient.
    ///
    /// # Errors
    ///
    /// See [`BridgeError`].
    pub fn embedding(
        &self,
        weights: Tensor<2>,
        indices: Tensor<2, Int>,
    ) -> Result<Gathered<3, Float>, BridgeError> {
        let ([batch, length], [_, width]) = (indices.dims(), weights.dims());
        // For the positions that the report names.
        let plan = Gather::new()
            .bad_indices(self.bad_indices)
            .negative_indices(self.negative_indices)
            .plan(&weights.dims(), &indices.dims())?;
        let gathered = self.select(weights, 0, indices.flatten(0, 1))?;
        let tensor = gathered.tensor.reshape([batch, length, width]);
        let report = gathered.report.map(|report| Report { plan, ..report });
        Ok(Gathered { tensor, report })
    }

    /// burn's `gather_nd`: a slice of `params` for each row of `indices`, whose last dim holds coordinates. The output
    /// has the shape `indices.shape[..M - 1] ++ params.shape[depth..]`, of rank `O`.
    ///
    /// # Errors
    ///
    /// See [`BridgeError`]. [`BridgeError::NoGradient`] for floats with autodiff.
    pub fn gather_nd<const D: usize, const M: usize, const O: usize, K: Basic>(
        &self,
        params: Tensor<D, K>,
        indices: Tensor<M, Int>,
    ) -> Result<Gathered<O, K>, BridgeError> {
        let plan = GatherNd::new()
            .bad_indices(self.bad_indices)
            .negative_indices(self.negative_indices)
            .plan(&params.dims(), &indices.dims())?;
        self.run(&plan, params, indices)
    }

    /// Runs any plan, with the plan's policies: batch dims, a gather with indices of any rank, gather_nd from an axis on.
    /// The operands need the plan's numbers of elements; their own shapes are not compared.
    ///
    /// # Errors
    ///
    /// See [`BridgeError`]. [`BridgeError::NoGradient`] for floats with autodiff.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use burn::tensor::{Device, Int, Tensor};
    /// use wgpu_gather_burn::Bridge;
    /// use wgpu_gather_burn::wgpu_gather::Gather;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (device, setup) = Device::wgpu_options().init_with_setup()?;
    /// let bridge = Bridge::new(&device, &setup)?;
    /// let params = Tensor::<2, Int>::from_data([[1, 2, 3], [4, 5, 6]], &device);
    /// let indices = Tensor::<2, Int>::from_data([[2], [0]], &device);
    /// // Of each row, the entry that the index of the row names.
    /// let plan = Gather::new().axis(1).batch_dims(1).plan(&[2, 3], &[2, 1])?;
    /// let picked = bridge.run::<2, 2, 2, _>(&plan, params, indices)?.tensor;
    /// assert_eq!(picked.into_data().iter::<i64>().collect::<Vec<_>>(), [3, 4]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn run<const D: usize, const M: usize, const O: usize, K: Basic>(
        &self,
        plan: &GatherPlan,
        params: Tensor<D, K>,
        indices: Tensor<M, Int>,
    ) -> Result<Gathered<O, K>, BridgeError> {
        crate::run::run(self, plan, params, indices)
    }
}

/// A dim as an axis. A dim too large for an axis becomes one that no tensor has.
fn axis(dim: impl AsIndex) -> i64 {
    i64::try_from(dim.as_index()).unwrap_or(i64::MAX)
}
