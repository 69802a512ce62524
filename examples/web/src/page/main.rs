//! The page's calls of the library: a gather planned by the values of the form, and run on the GPU and on the CPU.

use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;
use wgpu_gather::{
    BadIndices, ElementTypes, Executor, Gather, GatherElements, GatherNd, GatherPlan,
    NegativeIndices,
};

fn main() {}

/// A gather that can be run.
#[wasm_bindgen]
pub struct Planned(GatherPlan);

#[wasm_bindgen]
impl Planned {
    /// `operation` is gather, gather_nd or gather_elements, and `policy` the name of a variant of `BadIndices`.
    #[wasm_bindgen(constructor)]
    pub fn new(
        operation: &str,
        params_shape: &[usize],
        indices_shape: &[usize],
        axis: Option<i32>,
        batch_dims: i32,
        policy: &str,
        from_end: bool,
    ) -> Result<Planned, JsError> {
        let mut policies = BadIndices::ALL.iter().copied();
        let policy = policies.find(|known| format!("{known:?}") == policy);
        let policy = policy.ok_or_else(|| JsError::new("unknown policy"))?;
        let negative = match from_end {
            true => NegativeIndices::FromEnd,
            false => NegativeIndices::Invalid,
        };
        let batch_dims = batch_dims.into();
        let plan = match operation {
            "gather_nd" => {
                let mut gather_nd = GatherNd::new().batch_dims(batch_dims);
                if let Some(axis) = axis {
                    gather_nd = gather_nd.axis(axis.into());
                }
                let gather_nd = gather_nd.bad_indices(policy).negative_indices(negative);
                gather_nd.plan(params_shape, indices_shape)
            }
            "gather_elements" => GatherElements::new()
                .axis(axis.unwrap_or(0).into())
                .bad_indices(policy)
                .negative_indices(negative)
                .plan(params_shape, indices_shape),
            _ => {
                let mut gather = Gather::new().batch_dims(batch_dims);
                if let Some(axis) = axis {
                    gather = gather.axis(axis.into());
                }
                let gather = gather.bad_indices(policy).negative_indices(negative);
                gather.plan(params_shape, indices_shape)
            }
        };
        Ok(Self(plan?))
    }

    #[wasm_bindgen(getter)]
    pub fn output_shape(&self) -> Vec<usize> {
        self.0.output_shape().to_vec()
    }
}

/// The browser's GPU, or the CPU in wasm.
#[wasm_bindgen]
pub struct Device(Executor);

#[wasm_bindgen]
impl Device {
    /// Opens the browser's GPU. The error says why there is none.
    pub async fn gpu() -> Result<Device, JsError> {
        Ok(Self(Executor::gpu().await?))
    }

    pub fn cpu() -> Device {
        Self(Executor::cpu())
    }

    pub async fn gather(
        &self,
        planned: &Planned,
        params: Vec<f32>,
        indices: &[i32],
    ) -> Result<Vec<f32>, JsError> {
        let table = self.0.upload(params, planned.0.params_shape())?;
        Ok(self.0.gather(&planned.0, &table, indices).await?)
    }

    /// Explains in a few lines what the GPU runs.
    pub fn explain(&self, planned: &Planned) -> Result<String, JsError> {
        let limits = self.0.device()?.limits();
        Ok(planned.0.explain(ElementTypes::of::<f32, i32>(), &limits))
    }
}
