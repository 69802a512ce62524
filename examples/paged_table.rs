//! Reads a paged table, such as a KV cache: a sequence's rows lie in pages anywhere, and a block table lists the page numbers.
//! This is a gather by a gather: in NumPy, `pages[block_table[sequences]]`.
//!
//! Both gathers are in one compute pass, and the page numbers stay on the GPU.
//!
//! ```sh
//! cargo run --release --example paged_table
//! ```

mod common;

use std::error::Error;

use wgpu_gather::{BadIndices, ElementTypes, Executor, Gather, GatherBuffers, Ranges};

const PAGES: usize = 8;
/// How many tokens a page has, and how many numbers a token: its key or its value.
const PAGE: [usize; 2] = [4, 2];
/// The pages of three sequences, at most three each. -1 is no page.
const BLOCK_TABLE: [[i32; 3]; 3] = [[4, 1, 6], [0, -1, -1], [7, 3, -1]];
/// The sequences in this step.
const SEQUENCES: [u32; 2] = [2, 0];

fn main() -> Result<(), Box<dyn Error>> {
    let gpu = match Executor::gpu_blocking() {
        Ok(gpu) => gpu,
        Err(error) => return common::without_gpu(error),
    };
    // Token t in page p has the numbers p + t/8 and its negative.
    let token = |place: u16| f32::from(place / 4) + f32::from(place % 4) / 8.0;
    let cache = (0..32).flat_map(|place| [token(place), -token(place)]);

    // The first plan finds the pages, so its output has the shape [2, 3]. The second plan reads them. Its policy leaves zeros where
    // there is no page.
    let find_pages = Gather::new().plan(&[3, 3], &[SEQUENCES.len()])?;
    let read_pages = Gather::new()
        .bad_indices(BadIndices::Fill)
        .plan(&[PAGES, PAGE[0], PAGE[1]], find_pages.output_shape())?;
    let pages = gpu.upload(cache.collect::<Vec<f32>>(), read_pages.params_shape())?;
    let block_table = gpu.upload(BLOCK_TABLE.as_flattened(), find_pages.params_shape())?;
    let sequences = gpu.upload(&SEQUENCES, find_pages.indices_shape())?;
    let page_numbers = gpu.zeros::<i32>(find_pages.output_shape())?;
    let output = gpu.zeros::<f32>(read_pages.output_shape())?;

    let found = GatherBuffers::new(
        ElementTypes::of::<i32, u32>(),
        Ranges {
            params: block_table.buffer()?.slice(..),
            indices: sequences.buffer()?.slice(..),
            output: page_numbers.buffer()?.slice(..),
        },
    );
    let read = GatherBuffers::new(
        ElementTypes::of::<f32, i32>(),
        Ranges {
            params: pages.buffer()?.slice(..),
            indices: page_numbers.buffer()?.slice(..),
            output: output.buffer()?.slice(..),
        },
    );
    let find_pages = gpu.gatherer()?.prepare(&find_pages, &found)?;
    let read_pages = gpu.gatherer()?.prepare(&read_pages, &read)?;

    let mut encoder = gpu.device()?.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    find_pages.encode_in_pass(&mut pass);
    read_pages.encode_in_pass(&mut pass);
    drop(pass);
    gpu.queue()?.submit([encoder.finish()]);

    println!("{:?}", output.shape());
    let output = output.download_blocking()?;
    let page_len = PAGE[0] * PAGE[1];
    for (sequence, pages) in SEQUENCES.iter().zip(output.chunks(3 * page_len)) {
        for page in pages.chunks(page_len) {
            println!("sequence {sequence} {page:?}");
        }
    }
    Ok(())
}
