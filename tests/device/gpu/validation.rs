//! A mistake that Vulkan's validation layers must report: their silence proves something only if they are loaded.

use libtest_mimic::{Completion, Trial};
use wgpu_gather::wgpu;

use testkit::gpu::Gpu;
use testkit::{device, log};

/// The layers' name of the mistake: a wait for no fences, which is harmless.
const MISTAKE: &str = "VUID-vkWaitForFences-fenceCount-arraylength";

pub(crate) fn trials() -> Vec<Trial> {
    let name = "validation_layers_hear_of_a_mistake";
    vec![Trial::ignorable_test(name, || match device::gpu() {
        Ok(gpu) if log::file().is_some() => {
            make(gpu)?;
            let heard = log::text().map_err(|error| error.to_string())?;
            match heard.contains(MISTAKE) {
                true => Ok(Completion::Completed),
                false => Err(format!("the log says nothing of {MISTAKE}").into()),
            }
        }
        _ => Ok(Completion::ignored_with("needs a GPU and GATHER_LOG")),
    })]
}

#[expect(unsafe_code, reason = "wgpu itself makes no such mistake")]
fn make(gpu: &Gpu) -> Result<(), String> {
    // SAFETY: the raw device is not destroyed, and the guard keeps it alive.
    let device = unsafe { gpu.device().as_hal::<wgpu::hal::api::Vulkan>() };
    let device = device.ok_or("the device is not Vulkan's")?;
    // SAFETY: no fence is touched.
    let waited = unsafe { device.raw_device().wait_for_fences(&[], true, 0) };
    waited.map_err(|error| error.to_string())
}
