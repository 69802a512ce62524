//! Shared by the examples: the choice of a device, and behaviour on a machine without a GPU.

#![allow(dead_code, reason = "each example uses its part")]

use std::env;
use std::error::Error;

use wgpu_gather::{Executor, GpuError, wgpu};

/// The fastest GPU of the back ends that `WGPU_BACKEND` leaves, a software adapter too.
pub fn gpu() -> Result<Executor, GpuError> {
    pollster::block_on(async {
        let descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..Default::default()
        };
        let adapter = wgpu::Instance::new(descriptor)
            .request_adapter(&options)
            .await;
        let adapter = adapter.map_err(|error| GpuError::NoAdapter(error.to_string()))?;
        Executor::from_adapter(&adapter).await
    })
}

/// As [`gpu`], else the CPU.
pub fn executor() -> Result<Executor, Box<dyn Error>> {
    gpu().or_else(|error| without_gpu(error).map(|()| Executor::cpu()))
}

/// Prints the error in one line, or returns it if `GATHER_REQUIRE_GPU` is 1.
pub fn without_gpu(error: impl Error + 'static) -> Result<(), Box<dyn Error>> {
    if env::var("GATHER_REQUIRE_GPU").is_ok_and(|value| value == "1") {
        return Err(error.into());
    }
    eprintln!("no GPU: {error}");
    Ok(())
}

/// The checksum Adler-32, which zlib has too: it tells whether an output is the one that NumPy gave.
pub fn adler32(bytes: &[u8]) -> u32 {
    let (a, b) = bytes.iter().fold((1, 0), |(a, b), &byte| {
        let a = (a + u32::from(byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    b << 16 | a
}
