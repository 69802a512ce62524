//! The browser's GPU.

use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;
use wgpu_gather::{Gatherer, Gpu, GpuTable, IndexKind};

use crate::gather::Planned;
use crate::message;

/// The shader module, as it is compiled, of the kernel that the explanation names; without a name, the module for units
/// of 4 bytes.
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

/// The GPU of the page's gathers.
#[wasm_bindgen]
pub struct Device {
    pub(crate) gpu: Gpu,
    /// A word that is read back to wait for all earlier submissions.
    pub(crate) word: GpuTable<u32>,
}

#[wasm_bindgen]
impl Device {
    /// Opens the browser's GPU. The error says why there is none.
    pub async fn open() -> Result<Device, JsError> {
        let gpu = Gpu::new().await.map_err(message)?;
        let word = gpu.upload(&[0]).map_err(message)?;
        Ok(Self { gpu, word })
    }

    /// Explains in a few lines what this GPU runs, for elements of 4 bytes and `i32` indices.
    pub fn explain(&self, planned: &Planned) -> String {
        let limits = self.gpu.device().limits();
        planned.plan.explain(4, IndexKind::I32, &limits)
    }

    /// Gathers on the GPU.
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
