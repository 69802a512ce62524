//! The windows that a stream uploads for its chunks, on a device that runs no shader.

use super::*;
use crate::{Gather, GatherNd};

fn noop() -> Gpu {
    let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    Gpu::from_parts(device, queue)
}

/// The params rows of the windows that each chunk uploads.
fn uploaded<I: GatherIndex>(stream: &GatherStream<'_, u32, I>) -> Vec<Vec<(u64, u64)>> {
    let after = |&chunk: &Chunk| stream.cut.chunk_after(chunk);
    let needed = |chunk| {
        let windows = stream.cut.windows(chunk);
        let needed = windows.filter(|window| stream.is_needed(window));
        needed.map(|window| window.params_rows).collect()
    };
    let chunks = std::iter::successors(stream.next, after);
    chunks.map(needed).collect()
}

#[test]
fn only_windows_that_an_index_selects_are_uploaded() {
    let gpu = noop();
    // Params has 4096 rows. A window holds 64 of them, and a chunk has up to 64 rows.
    let params = vec![7; 4096 * 64];
    let plan = GatherNd::new().plan(&[4096, 64], &[5, 1]).expect("valid");
    let indices = [4095, 130, 64 * 64, 131, 4032];
    let stream = gpu.stream(&plan, &params, &indices, 8 * 64 * 256);
    let uploads = uploaded(&stream.expect("a noop device"));
    // The dispatch of the first window writes the bad row.
    assert_eq!(uploads, [[(0, 64), (128, 192), (4032, 4096)]]);

    // Each of two blocks of params has 2048 rows. The indices select from the second window of each block.
    let plan = Gather::new()
        .axis(1)
        .plan(&[2, 2048, 64], &[3])
        .expect("valid");
    let indices = [100_i64, 64, 127];
    let stream = gpu.stream(&plan, &params, &indices, 8 * 64 * 256);
    let uploads = uploaded(&stream.expect("a noop device"));
    assert_eq!(uploads, [[(64, 128), (2112, 2176)]]);
}

#[test]
fn a_chunk_takes_its_share_of_the_device_bytes() {
    let gpu = noop();
    let plan = Gather::new().plan(&[10], &[1000]).expect("valid");
    let (params, indices) = ([1_u32; 10], [3_u32; 1000]);
    let stream = gpu.stream(&plan, &params, &indices, 8 * 512);
    assert_eq!(uploaded(&stream.expect("a noop device")), [[(0, 10)]; 8]);
    let table = gpu.upload(&params).expect("a noop device");
    let stream = gpu.stream(&plan, &table, &indices, 5 * 512);
    assert_eq!(uploaded(&stream.expect("a noop device")), [[(0, 10)]; 8]);
}
