use wgpu_gather::wgpu::{self, util::DeviceExt};
use wgpu_gather::{Buffers, ElementTypes, Executor, Gather, Gatherer, Ranges, Tensor};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Your device and your buffers. A gather needs the usage STORAGE; `Tensor::from_buffer` below needs all three.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapter = pollster::block_on(instance.request_adapter(&Default::default()))?;
    let (device, queue) = pollster::block_on(adapter.request_device(&Default::default()))?;
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let buffer = |contents| device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage });
    let table = buffer(bytemuck::cast_slice(&[10.0_f32, 11.0, 20.0, 21.0, 30.0, 31.0]));
    let rows = buffer(bytemuck::cast_slice(&[2_u32, 0]));
    let output = buffer(&[0; 16]);

    let gatherer = Gatherer::new(&device); // keep it: it holds the pipelines
    let plan = Gather::new().plan(&[3, 2], &[2])?;
    let buffers = Buffers::gather(ElementTypes::of::<f32, u32>(), Ranges {
        params: table.slice(..),
        indices: rows.slice(..),
        output: output.slice(..),
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    gatherer.encode(&mut encoder, &plan, &buffers)?; // records, and submits nothing
    queue.submit([encoder.finish()]);

    // To read the output back, wrap its buffer in a `Tensor`; the page recipes reads it with wgpu alone. `from_parts` takes
    // the device and the queue: pass clones if you still need them.
    let executor = Executor::from_parts(device, queue);
    let output = Tensor::<f32>::from_buffer(&executor, output, &[2, 2])?.download_blocking()?;
    assert_eq!(output, [30.0, 31.0, 10.0, 11.0]);
    Ok(())
}
