//! Gathers attributes out of interleaved vertices, with a stride and a range's start: a mesh's positions and texture coordinates,
//! one for each corner of its triangles.
//!
//! ```sh
//! cargo run --release --example vertices
//! ```

mod common;

use std::error::Error;
use std::mem::offset_of;

use wgpu_gather::{ElementTypes, Executor, Gather, GatherBuffers, Ranges};

/// 32 bytes: the position is at byte 0, the texture coordinates are at byte 24.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Vertex {
    position: [f32; 3],
    normal: [f32; 3],
    uv: [f32; 2],
}

const VERTEX_BYTES: u64 = size_of::<Vertex>() as u64;
const UV_START: u64 = offset_of!(Vertex, uv) as u64;

fn main() -> Result<(), Box<dyn Error>> {
    let gpu = match Executor::gpu_blocking() {
        Ok(gpu) => gpu,
        Err(error) => return common::without_gpu(error),
    };

    // A square made from two triangles.
    let corners = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]];
    let vertices = corners.map(|[x, y]| Vertex {
        position: [x, y, 1.0],
        normal: [0.0, 0.0, 1.0],
        uv: [x * 0.5, y * 0.5],
    });
    let vertices = gpu.upload(&vertices, &[4])?;
    let triangles = gpu.upload(&[0_u16, 1, 2, 0, 2, 3], &[6])?;

    // A stride counts elements: 8 numbers from one vertex to the next. A plan's shape has the numbers that it reads.
    let positions = Gather::new().plan(&[4, 3], &[6])?;
    let positions = positions.with_params_stride(VERTEX_BYTES / 4)?;
    let uvs = Gather::new().plan(&[4, 2], &[6])?;
    let uvs = uvs.with_params_stride(VERTEX_BYTES / 4)?;
    let positions_output = gpu.zeros::<f32>(positions.output_shape())?;
    let uvs_output = gpu.zeros::<f32>(uvs.output_shape())?;

    let vertices = vertices.buffer()?;
    let (types, triangles) = (
        ElementTypes::of::<f32, u16>(),
        triangles.buffer()?.slice(..),
    );
    let output = positions_output.buffer()?.slice(..);
    let positions_buffers = GatherBuffers::new(
        types,
        Ranges {
            params: vertices.slice(..),
            indices: triangles,
            output,
        },
    );
    let (uv_vertices, output) = (vertices.slice(UV_START..), uvs_output.buffer()?.slice(..));
    let uvs_buffers = GatherBuffers::new(
        types,
        Ranges {
            params: uv_vertices,
            indices: triangles,
            output,
        },
    );
    let mut encoder = gpu.device()?.create_command_encoder(&Default::default());
    gpu.gatherer()?
        .encode(&mut encoder, &positions, &positions_buffers)?;
    gpu.gatherer()?.encode(&mut encoder, &uvs, &uvs_buffers)?;
    gpu.queue()?.submit([encoder.finish()]);

    let positions = positions_output.download_blocking()?;
    let uvs = uvs_output.download_blocking()?;
    for (position, uv) in positions.chunks(3).zip(uvs.chunks(2)) {
        println!("position {position:?} uv {uv:?}");
    }
    Ok(())
}
