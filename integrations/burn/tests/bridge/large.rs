//! The token table of a Whisper model, of 265,548,800 bytes, on a device that binds 128 MiB: burn panics, the bridge
//! gathers. Each runs in a process of its own.

use burn::module::Param;
use burn::tensor::wgpu::WgpuSetup;
use burn::tensor::{Device, Int, Tensor, TensorData};
use libtest_mimic::Trial;
use wgpu_gather_burn::Bridge;
use wgpu_gather_burn::wgpu_gather::wgpu;

use crate::child;
use crate::common::trial;

const ROWS: usize = 51_865;
const WIDTH: usize = 1_280;
const BYTES: usize = 265_548_800;
const BINDING_BYTES: u64 = 128 << 20;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("large::burn_panics_at_whispers_table", |_| {
            let child = child::output("burn");
            let text = String::from_utf8_lossy(&child.stderr);
            assert!(!child.status.success(), "burn takes it");
            assert!(text.contains("max_*_buffer_binding_size"), "{text}");
            assert!(text.contains("265548800"), "{text}");
        }),
        trial("large::the_bridge_gathers_from_it", |_| {
            let child = child::output("bridge");
            let text = String::from_utf8_lossy(&child.stderr);
            assert!(child.status.success(), "{text}");
        }),
    ]
}

/// Selects from the table, in burn or through the bridge.
pub fn select(by: &str) {
    let (device, setup) = device();
    assert_eq!(ROWS * WIDTH * size_of::<f32>(), BYTES);
    let values: Vec<f32> = (0..ROWS * WIDTH).map(value).collect();
    let data = TensorData::new(values, [ROWS, WIDTH]);
    // burn loads the parameters of a module in this way. A plain tensor of this size has no memory.
    let table = Param::<Tensor<2>>::from_data(data, &device).val();
    let rows = [0, 1, 26_214, 26_215, 40_000, 51_864];
    let indices = Tensor::<1, Int>::from_data(rows, &device);
    let picked = match by {
        "burn" => table.select(0, indices),
        _ => {
            let bridge = Bridge::new(&device, &setup).unwrap();
            bridge.select(table, 0, indices).unwrap().tensor
        }
    };
    let picked: Vec<f32> = picked.into_data().iter().collect();
    let expected = rows
        .into_iter()
        .flat_map(|row: usize| (row * WIDTH..(row + 1) * WIDTH).map(value));
    assert!(picked.iter().copied().eq(expected));
}

/// The element at a place of the table; numbers below 2^24 are exact.
#[expect(clippy::cast_precision_loss, reason = "exact")]
fn value(place: usize) -> f32 {
    (place % (1 << 24)) as f32
}

/// A device of the app, which burn shares.
fn device() -> (Device, WgpuSetup) {
    let instance =
        wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).unwrap();
    let limits = wgpu::Limits {
        max_storage_buffer_binding_size: BINDING_BYTES,
        max_buffer_size: 1 << 30,
        ..adapter.limits()
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_features: adapter.features() & wgpu::Features::SHADER_INT64,
        required_limits: limits,
        ..Default::default()
    }))
    .unwrap();
    let setup = WgpuSetup {
        backend: adapter.get_info().backend,
        instance,
        adapter,
        device,
        queue,
    };
    let burn = Device::wgpu_options().setup(setup.clone()).init().unwrap();
    (burn, setup)
}
