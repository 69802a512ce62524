//! The browser's GPU.

use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;
use wgpu_gather::{Gpu, GpuTable, IndexKind};

use crate::gather::Planned;
use crate::message;

/// The shader, as it is compiled.
#[wasm_bindgen]
pub fn wgsl() -> String {
    include_str!("../../../../shaders/gather.wgsl").to_owned()
}

/// A GPU that gathers.
#[wasm_bindgen]
pub struct Device {
    pub(crate) gpu: Gpu,
    /// A word that is read back to know that what was submitted before is done.
    pub(crate) word: GpuTable<u32>,
}

#[wasm_bindgen]
impl Device {
    /// The GPU that the browser gives, or why it gives none.
    pub async fn open() -> Result<Device, JsError> {
        let gpu = Gpu::new().await.map_err(message)?;
        let word = gpu.upload(&[0]).map_err(message)?;
        Ok(Self { gpu, word })
    }

    /// In a few lines what the GPU runs.
    pub fn explain(&self, planned: &Planned) -> String {
        let (limits, info) = (self.gpu.device().limits(), self.gpu.device().adapter_info());
        let index_kind = IndexKind::I32;
        planned
            .plan
            .explain(4, index_kind, &limits, info.device_type)
    }

    /// What the GPU gives.
    pub async fn gather(
        &self,
        planned: &Planned,
        params: Vec<f32>,
        indices: Vec<i32>,
    ) -> Result<Vec<f32>, JsError> {
        let table = self.gpu.upload(&params).map_err(message)?;
        let output = self.gpu.gather(&planned.plan, &table, &indices).await;
        output.map_err(message)
    }
}
