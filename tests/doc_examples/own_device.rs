use wgpu_gather::wgpu::{self, util::DeviceExt};
use wgpu_gather::{ElementTypes, Gather, GatherBuffers, Gatherer, Ranges};

/// Rows 2 and 0 of a table of 3 rows of 2 numbers.
pub fn two_rows(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<wgpu::Buffer, Box<dyn std::error::Error>> {
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let buffer = |contents| device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage });
    let table = buffer(bytemuck::cast_slice(&[10.0_f32, 11.0, 20.0, 21.0, 30.0, 31.0]));
    let rows = buffer(bytemuck::cast_slice(&[2_u32, 0]));
    let output = buffer(&[0; 16]);

    let gatherer = Gatherer::new(device); // keep it: it holds the pipelines
    let plan = Gather::new().plan(&[3, 2], &[2])?;
    let buffers = GatherBuffers::new(ElementTypes::of::<f32, u32>(), Ranges {
        params: table.slice(..),
        indices: rows.slice(..),
        output: output.slice(..),
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    gatherer.encode(&mut encoder, &plan, &buffers)?; // records, and submits nothing
    queue.submit([encoder.finish()]);
    Ok(output)
}
