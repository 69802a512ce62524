use wgpu_gather::wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu_gather::{Buffers, ElementTypes, Gather, GatherError, Gatherer, Ranges, wgpu};

const SLICE_LEN: usize = 128;

/// The rows of a table in as many buffers as the device needs, and the number of rows in each buffer.
pub fn upload_rows(device: &wgpu::Device, table: &[f32]) -> Vec<(usize, wgpu::Buffer)> {
    let slice_bytes = SLICE_LEN as u64 * 4;
    let most_rows = usize::try_from(device.limits().max_buffer_size / slice_bytes).unwrap_or(usize::MAX / SLICE_LEN);
    let shards = table.chunks(most_rows * SLICE_LEN).map(|rows| {
        let descriptor = BufferInitDescriptor {
            label: Some("table"),
            contents: bytemuck::cast_slice(rows),
            usage: wgpu::BufferUsages::STORAGE,
        };
        (rows.len() / SLICE_LEN, device.create_buffer_init(&descriptor))
    });
    shards.collect()
}

/// Gathers 1,000 rows of the table.
pub fn look_up(
    gatherer: &Gatherer,
    encoder: &mut wgpu::CommandEncoder,
    table: &[(usize, wgpu::Buffer)],
    indices: &wgpu::Buffer,
    output: &wgpu::Buffer,
) -> Result<(), GatherError> {
    let rows: usize = table.iter().map(|(rows, _)| rows).sum();
    let plan = Gather::new().plan(&[rows, SLICE_LEN], &[1_000]).expect("a table and a vector");
    let shards: Vec<_> = table.iter().map(|(rows, buffer)| (*rows, buffer.slice(..))).collect();
    let buffers = Buffers::gather_shards(ElementTypes::of::<f32, u32>(), Ranges {
        params: &shards,
        indices: indices.slice(..),
        output: output.slice(..),
    });
    gatherer.encode(encoder, &plan, &buffers)
}
