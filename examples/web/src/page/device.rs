//! The browser's GPU.

use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;
use wgpu_gather::{ElementTypes, Gpu, Tensor};

use crate::gather::Planned;
use crate::message;

/// The GPU of the page's gathers.
#[wasm_bindgen]
pub struct Device {
    pub(crate) gpu: Gpu,
    /// A word that is read back to wait for all earlier submissions.
    pub(crate) word: Tensor<u32>,
}

#[wasm_bindgen]
impl Device {
    /// Opens the browser's GPU. The error says why there is none.
    pub async fn open() -> Result<Device, JsError> {
        let gpu = Gpu::new().await.map_err(message)?;
        let word = gpu.upload(&[0], &[]).map_err(message)?;
        Ok(Self { gpu, word })
    }

    /// Explains in a few lines what this GPU runs, for elements of 4 bytes and `i32` indices.
    pub fn explain(&self, planned: &Planned) -> String {
        let limits = self.gpu.device().limits();
        planned
            .plan
            .explain(ElementTypes::of::<f32, i32>(), &limits)
    }

    /// Gathers on the GPU.
    pub async fn gather(
        &self,
        planned: &Planned,
        params: Vec<f32>,
        indices: Vec<i32>,
    ) -> Result<Vec<f32>, JsError> {
        let plan = &planned.plan;
        let table = self.gpu.upload(params, plan.params_shape());
        let table = table.map_err(message)?;
        let output = self.gpu.gather(plan, &table, &indices).await;
        output.map_err(message)
    }
}
