//! Makes a Vulkan device without the driver's bounds checks, which wgpu itself cannot.

#[cfg(target_os = "linux")]
pub use vulkan::{bare, has_robustness2};

#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "wgpu makes no device without the driver's checks"
)]
mod vulkan {
    use std::ffi::CStr;

    use wgpu_gather::wgpu;
    use wgpu_gather::wgpu::hal::{OpenDevice, api::Vulkan};

    use super::super::card::{Card, descriptor};

    const ROBUSTNESS2: &CStr = c"VK_EXT_robustness2";

    /// Makes a device as wgpu does, but enables neither robustBufferAccess2 nor robustBufferAccess. wgpu still leaves
    /// buffer bounds to the driver, so a shader that exceeds them may do anything.
    pub fn bare(adapter: &wgpu::Adapter) -> Result<Card, String> {
        let descriptor = descriptor(adapter);
        // SAFETY: No handle of the adapter is destroyed.
        let hal = unsafe { adapter.as_hal::<Vulkan>() }.ok_or("the adapter is not Vulkan's")?;
        let features = descriptor.required_features;
        let mut extensions = hal.required_device_extensions(features);
        extensions.retain(|&name| name != ROBUSTNESS2);
        // physical_device_features enables no feature of an unlisted extension.
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
        // SAFETY: What `info` points to lives until this function ends. The device is made as wgpu-hal makes it, but for
        // the checks. All shaders that run on it stay in their buffers: this crate's shaders compare every index with its
        // dim, and copies get indices that are in range.
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
        // SAFETY: `open` is this adapter's device, with `descriptor`'s features and limits.
        let made = unsafe { adapter.create_device_from_hal(open, &descriptor) };
        let (device, queue) = made.map_err(|error| error.to_string())?;
        Ok(Card::of(device, queue))
    }

    /// The default of a pointer's target, whose type wgpu does not export.
    fn default_of<T: Default>(_: *const T) -> T {
        T::default()
    }

    /// True if wgpu enables robustBufferAccess2; false on other back ends.
    pub fn has_robustness2(device: &wgpu::Device) -> bool {
        // SAFETY: No handle of the device is destroyed.
        let hal = unsafe { device.as_hal::<Vulkan>() };
        hal.is_some_and(|hal| hal.enabled_device_extensions().contains(&ROBUSTNESS2))
    }
}

#[cfg(not(target_os = "linux"))]
pub fn bare(_: &wgpu_gather::wgpu::Adapter) -> Result<super::card::Card, String> {
    Err("only Vulkan on Linux has devices without the driver's checks".into())
}

#[cfg(not(target_os = "linux"))]
pub fn has_robustness2(_: &wgpu_gather::wgpu::Device) -> bool {
    false
}
