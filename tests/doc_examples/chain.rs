use wgpu_gather::{Gather, Gpu};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Gpu::new_blocking()?;
    // Words are made of tokens, and each token has an embedding.
    let embeddings = gpu.upload(&[0.0_f32, 0.1, 1.0, 1.1, 2.0, 2.1])?.with_shape(&[3, 2])?;
    let tokens_of_words = gpu.upload(&[2_u32, 0, 1, 1])?.with_shape(&[2, 2])?;
    let words = gpu.upload(&[1_u32, 0])?;

    // A gather's output on the GPU has a shape, from which the next gather is planned.
    let plan = Gather::new().plan(tokens_of_words.shape(), words.shape())?;
    let tokens = gpu.gather_to_table_blocking(&plan, &tokens_of_words, &words)?;
    let plan = Gather::new().plan(embeddings.shape(), tokens.shape())?;
    let rows = gpu.gather_to_table_blocking(&plan, &embeddings, &tokens)?;
    assert_eq!(rows.shape(), [2, 2, 2]);
    assert_eq!(gpu.download_blocking(&rows)?, [1.0, 1.1, 1.0, 1.1, 2.0, 2.1, 0.0, 0.1]);
    Ok(())
}
