//! Times gathers on Vulkan with and without the bounds checks of wgpu and of the driver. This crate's shaders need no
//! checks: they compare every index with its dim.
//!
//! | measure | shader modules | device |
//! |---|---|---|
//! | all_checks, naive_all_checks | as wgpu makes them | as wgpu makes it: with robustBufferAccess2 if supported |
//! | driver_checks | without wgpu's checks | as wgpu makes it |
//! | no_checks | without wgpu's checks | with neither robustBufferAccess2 nor robustBufferAccess |
//! | naive_no_checks | as wgpu makes them | as for no_checks |
//!
//! If the driver has robustBufferAccess2, wgpu leaves the bounds of buffers to it. A naive kernel has wgpu's bounds
//! checks only if the driver lacks it.

use std::time::Duration;

use wgpu_gather::{
    BadIndices, GatherBuffers, GatherElement, GatherIndex, GatherPlan, Gatherer, Gpu, wgpu,
};

use super::device::{Stamps, device_of, time_recorded};
use super::figure;
use super::naive::{NAIVE_UNIT, Naive};
use super::operands::Operands;
use crate::data::{Data, Number};
use crate::timing::{Timed, time};

/// The name that selects these figures in the list of workloads.
pub const NAME: &str = "checks";

pub const WORKLOADS: [&str; 5] = ["W1", "W3", "W4", "L64", "B1"];

pub struct Checks {
    robust: Clocked,
    bare: Clocked,
}

/// A device and its clock.
struct Clocked {
    gpu: Gpu,
    stamps: Option<Stamps>,
}

impl Checks {
    /// Opens a device with the driver's checks and one without; fails if the adapter is not Vulkan's.
    pub fn new(adapter: &wgpu::Adapter) -> Result<Self, String> {
        let robust = Clocked::new(device_of(adapter, adapter.limits())?);
        let bare = Clocked::new(bare_device(adapter)?);
        Ok(Self { robust, bare })
    }

    pub fn measure<T, I>(&self, data: &Data<T, I>, rounds: usize) -> Result<Vec<Timed>, String>
    where
        T: Number + GatherElement,
        I: Number + GatherIndex,
    {
        let plan = data.workload.plan(BadIndices::DeviceDefault);
        let expected = plan.run(&data.params, &data.indices).expect("in range");
        let (robust, bare) = (&self.robust, &self.bare);
        let on_robust = Operands::new(&robust.gpu, data, &plan)?;
        let on_bare = Operands::new(&bare.gpu, data, &plan)?;
        let gathers = [
            (
                "all_checks",
                robust,
                &on_robust,
                Gatherer::new(robust.gpu.device()),
            ),
            (
                "driver_checks",
                robust,
                &on_robust,
                unchecked(robust.gpu.device()),
            ),
            ("no_checks", bare, &on_bare, unchecked(bare.gpu.device())),
        ];
        let naive = [
            ("naive_all_checks", robust, &on_robust),
            ("naive_no_checks", bare, &on_bare),
        ];
        let naive = naive.map(|(measure, on, operands)| {
            let kernels = Naive::all(on.gpu.device(), &data.workload, operands.naive_buffers());
            let kernel = kernels.into_iter().find(|(name, _)| *name == NAIVE_UNIT);
            (measure, on, operands, kernel)
        });

        let mut figures = Vec::new();
        for (measure, on, operands, gatherer) in &gathers {
            let buffers = operands.buffers();
            operands.check(&on.gpu, measure, &expected, |encoder| {
                encode(gatherer, encoder, &plan, &buffers);
            })?;
            let plan = &plan;
            let sample = move || on.time(|encoder| encode(gatherer, encoder, plan, &buffers));
            figures.push(figure(measure, Box::new(sample)));
        }
        for (measure, on, operands, kernel) in &naive {
            let Some((_, kernel)) = kernel else { continue };
            operands.check(&on.gpu, measure, &expected, |encoder| {
                kernel.record(encoder);
            })?;
            let sample = || on.time(|encoder| kernel.record(encoder));
            figures.push(figure(measure, Box::new(sample)));
        }
        Ok(time(figures, rounds))
    }
}

impl Clocked {
    fn new(gpu: Gpu) -> Self {
        Self {
            stamps: Stamps::new(gpu.device()),
            gpu,
        }
    }

    fn time(&self, record: impl FnOnce(&mut wgpu::CommandEncoder)) -> Duration {
        time_recorded(&self.gpu, self.stamps.as_ref(), record)
    }
}

fn encode(
    gatherer: &Gatherer,
    encoder: &mut wgpu::CommandEncoder,
    plan: &GatherPlan,
    buffers: &GatherBuffers<'_>,
) {
    let encoded = gatherer.encode(encoder, plan, buffers);
    encoded.expect("valid operands");
}

#[expect(unsafe_code, reason = "wgpu drops its checks in no other way")]
fn unchecked(device: &wgpu::Device) -> Gatherer {
    Gatherer::new(device).with_shader_modules(|device, descriptor| {
        let unchecked = wgpu::ShaderRuntimeChecks::unchecked();
        // SAFETY: The shaders compare every index with its dim, end every loop, and have no other index that depends on
        // data.
        unsafe { device.create_shader_module_trusted(descriptor, unchecked) }
    })
}

#[cfg(target_os = "linux")]
pub use vulkan::{bare_device, has_robustness2};

#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "wgpu makes no device without the driver's checks"
)]
mod vulkan {
    use std::ffi::CStr;

    use wgpu_gather::wgpu::hal::{OpenDevice, api::Vulkan};
    use wgpu_gather::{Gpu, wgpu};

    use crate::gpu::device::descriptor;

    const ROBUSTNESS2: &CStr = c"VK_EXT_robustness2";

    /// A device as wgpu makes it, but with neither robustBufferAccess2 nor robustBufferAccess. wgpu still leaves the
    /// bounds of buffers to the driver, so a shader that exceeds them may do anything.
    pub fn bare_device(adapter: &wgpu::Adapter) -> Result<Gpu, String> {
        let descriptor = descriptor(adapter, adapter.limits());
        // SAFETY: No handle of the adapter is destroyed.
        let hal = unsafe { adapter.as_hal::<Vulkan>() }.ok_or("the adapter is not Vulkan's")?;
        let features = descriptor.required_features;
        let mut extensions = hal.required_device_extensions(features);
        extensions.retain(|&name| name != ROBUSTNESS2);
        // physical_device_features enables no feature of an extension that is not listed.
        let mut enabled = hal.physical_device_features(&extensions, features);
        let mut core = enabled.get_core();
        core.robust_buffer_access = 0;
        let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
        let mut info = enabled
            .add_to_device_create(Default::default())
            .enabled_extension_names(&names);
        info.p_enabled_features = &raw const core;
        // wgpu's devices have one queue.
        let queue = default_of(info.p_queue_create_infos).queue_priorities(&[1.0]);
        info.p_queue_create_infos = &raw const queue;
        info.queue_create_info_count = 1;
        // SAFETY: The targets of `info`'s pointers live until the end of this function. The device is made as wgpu-hal
        // makes it, but for the checks. All shaders that run on it stay in their buffers: this crate's shaders compare
        // every index with its dim, and the naive kernels get indices that the CPU has checked.
        let open: OpenDevice<Vulkan> = unsafe {
            let instance = hal.shared_instance().raw_instance();
            let device = instance
                .create_device(hal.raw_physical_device(), &info, None)
                .map_err(|error| error.to_string())?;
            hal.device_from_raw(
                device,
                None,
                &extensions,
                features,
                &descriptor.required_limits,
                &descriptor.memory_hints,
                0,
                0,
            )
        }
        .map_err(|error| error.to_string())?;
        drop(hal);
        // SAFETY: `open` is a device of this adapter, with the features and limits of `descriptor`.
        let made = unsafe { adapter.create_device_from_hal(open, &descriptor) };
        let (device, queue) = made.map_err(|error| error.to_string())?;
        Ok(Gpu::from_parts(device, queue))
    }

    /// The default of a pointer's target type, for a type that wgpu does not export.
    fn default_of<T: Default>(_: *const T) -> T {
        T::default()
    }

    /// Returns true if wgpu enables robustBufferAccess2; false on other back ends.
    pub fn has_robustness2(device: &wgpu::Device) -> bool {
        // SAFETY: No handle of the device is destroyed.
        let hal = unsafe { device.as_hal::<Vulkan>() };
        hal.is_some_and(|hal| hal.enabled_device_extensions().contains(&ROBUSTNESS2))
    }
}

#[cfg(not(target_os = "linux"))]
pub fn bare_device(_: &wgpu::Adapter) -> Result<Gpu, String> {
    Err("only Vulkan on Linux has devices without the driver's checks".into())
}

#[cfg(not(target_os = "linux"))]
pub fn has_robustness2(_: &wgpu::Device) -> bool {
    false
}
