//! The browser's GPU.

use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;
use wgpu_gather::{Gatherer, Gpu, GpuTable, IndexKind};

use crate::gather::Planned;
use crate::message;

/// The shader module, as it is compiled, of the kernel that an explanation names; if it names none, that for words.
#[wasm_bindgen]
pub fn wgsl(explained: &str) -> String {
    let kernel = explained.lines().find(|line| line.starts_with("kernel "));
    let kernel = kernel.unwrap_or("kernel rows: units of 4 bytes");
    let module = if kernel.starts_with("kernel packed") {
        "packed"
    } else if kernel.starts_with("kernel bytes") {
        "bytes"
    } else if kernel.contains("units of 16 bytes") {
        "vec4"
    } else {
        "words"
    };
    let name = if kernel.contains("64-bit") {
        format!("general_{module}")
    } else {
        module.to_owned()
    };
    let mut modules = Gatherer::shaders();
    let found = modules.find(|&(module, _)| module == name);
    found.map_or_else(String::new, |(_, text)| text.to_owned())
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
        let limits = self.gpu.device().limits();
        planned.plan.explain(4, IndexKind::I32, &limits)
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
