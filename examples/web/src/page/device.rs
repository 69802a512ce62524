//! The browser's GPU.

use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;
use wgpu_gather::{ElementTypes, Executor, GatherPlan, GpuError, Tensor};

use crate::gather::Planned;
use crate::message;

/// The GPU of the page's gathers. All of its tensors are bytes, so that the library is compiled for one type.
#[wasm_bindgen]
pub struct Device {
    pub(crate) gpu: Executor,
    /// A word that is read back to wait for all earlier submissions.
    pub(crate) word: Tensor<u8>,
}

#[wasm_bindgen]
impl Device {
    /// Opens the browser's GPU. The error says why there is none.
    pub async fn open() -> Result<Device, JsError> {
        let gpu = Executor::gpu().await.map_err(message)?;
        let word = gpu.upload(&[0; 4], &[4]).map_err(message)?;
        Ok(Self { gpu, word })
    }

    /// Explains in a few lines what this GPU runs.
    pub fn explain(&self, planned: &Planned) -> Result<String, JsError> {
        let limits = self.gpu.device().map_err(message)?.limits();
        Ok(planned.plan.explain(planned.types, &limits))
    }

    /// Gathers on the GPU.
    pub async fn gather(
        &self,
        planned: &Planned,
        params: &[f32],
        indices: &[u8],
    ) -> Result<Vec<f32>, JsError> {
        let table = self.upload(bytemuck::cast_slice(params));
        let table = table.map_err(message)?;
        let output = self.gathered(&planned.plan, planned.types, &table, indices);
        let output = output.await.map_err(message)?;
        Ok(bytemuck::pod_collect_to_vec(&output))
    }
}

impl Device {
    pub(crate) fn upload(&self, bytes: &[u8]) -> Result<Tensor<u8>, GpuError> {
        self.gpu.upload(bytes, &[bytes.len()])
    }

    /// The bytes of the output.
    pub(crate) async fn gathered(
        &self,
        plan: &GatherPlan,
        types: ElementTypes,
        table: &Tensor<u8>,
        indices: &[u8],
    ) -> Result<Vec<u8>, GpuError> {
        let indices = self.upload(indices)?;
        self.gpu.gather_bytes(plan, types, table, &indices).await
    }
}
