//! `wgpu-gather adapters`: the adapters that wgpu finds on this machine, and the largest table that each takes.

use std::fmt::Write;

use serde_json::{Value, json};
use wgpu_gather::wgpu;
use wgpu_gather_cli::arrays::Result;

use crate::choose;
use crate::table::bold;

/// A description of each adapter, as JSON or in a few lines.
pub fn describe(json: bool) -> Result<String> {
    let adapters = pollster::block_on(choose::adapters(None))?;
    if json {
        let adapters: Vec<Value> = adapters.iter().map(json_of).collect();
        return Ok(format!("{:#}", json!({ "adapters": adapters })));
    }
    let texts: Vec<String> = adapters.iter().map(describe_one).collect();
    Ok(match texts.is_empty() {
        true => "no adapter found: gathers run on the CPU".to_owned(),
        false => texts.join("\n\n"),
    })
}

fn json_of(adapter: &wgpu::Adapter) -> Value {
    let (info, limits) = (adapter.get_info(), adapter.limits());
    json!({
        "name": info.name,
        "back_end": info.backend.to_str(),
        "driver": info.driver,
        "driver_info": info.driver_info,
        "type": match info.device_type {
            wgpu::DeviceType::DiscreteGpu => "discrete",
            wgpu::DeviceType::IntegratedGpu => "integrated",
            wgpu::DeviceType::VirtualGpu => "virtual",
            wgpu::DeviceType::Cpu => "software",
            wgpu::DeviceType::Other => "unknown",
        },
        "max_storage_buffer_binding_size": limits.max_storage_buffer_binding_size,
        "max_buffer_size": limits.max_buffer_size,
        "max_compute_workgroups_per_dimension": limits.max_compute_workgroups_per_dimension,
        "min_storage_buffer_offset_alignment": limits.min_storage_buffer_offset_alignment,
    })
}

fn describe_one(adapter: &wgpu::Adapter) -> String {
    let (info, limits) = (adapter.get_info(), adapter.limits());
    let driver = [info.driver, info.driver_info];
    let driver: Vec<String> = driver.into_iter().filter(|part| !part.is_empty()).collect();
    let driver = match driver.is_empty() {
        true => "not named".to_owned(),
        false => driver.join(", "),
    };
    let device_type = match info.device_type {
        wgpu::DeviceType::DiscreteGpu => "a GPU with its own memory",
        wgpu::DeviceType::IntegratedGpu => "a GPU that shares the memory of the CPU",
        wgpu::DeviceType::VirtualGpu => "a GPU of the host of this virtual machine",
        wgpu::DeviceType::Cpu => "a software adapter",
        wgpu::DeviceType::Other => "not known",
    };
    let (binding, buffer) = (
        limits.max_storage_buffer_binding_size,
        limits.max_buffer_size,
    );
    let workgroups = limits.max_compute_workgroups_per_dimension;
    let alignment = limits.min_storage_buffer_offset_alignment;
    let mut text = bold(&info.name);
    let _ = write!(
        text,
        "\n  back end  {}\n  driver    {driver}\n  type      {device_type}\
         \n  max_storage_buffer_binding_size       {binding} ({})\
         \n  max_buffer_size                       {buffer} ({})\
         \n  max_compute_workgroups_per_dimension  {workgroups}\
         \n  min_storage_buffer_offset_alignment   {alignment}\n  ",
        info.backend,
        size(binding),
        size(buffer),
    );
    text + &capacity(binding, buffer, workgroups)
}

/// The largest tables that these limits allow. `workgroups` is per dispatch dimension; the others are in bytes.
fn capacity(binding: u64, buffer: u64, workgroups: u32) -> String {
    if binding == 0 || workgroups == 0 {
        return "no compute shaders: nothing can be gathered here".to_owned();
    }
    let one = binding.min(buffer);
    let fits = format!(
        "fits      a table to {} in one binding: {} rows of 128 f32",
        size(one),
        one / (128 * 4)
    );
    match buffer > binding {
        true => format!(
            "{fits};\n            one to {} in one buffer, gathered through several bindings; a larger one in shards",
            size(buffer)
        ),
        false => format!("{fits}; a larger one in shards"),
    }
}

/// A number of bytes as a text, in the largest unit that leaves the number at least 1.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let unit = bytes.checked_ilog2().unwrap_or(0) / 10;
    let tenths = (u128::from(bytes) * 10) >> (10 * unit);
    let name = UNITS[unit as usize];
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{whole} {name}"),
        (whole, tenth) => format!("{whole}.{tenth} {name}"),
    }
}
