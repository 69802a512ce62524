use wgpu_gather::{Gather, GatherNd, Gpu};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let gpu = Gpu::new_blocking()?;
    // Words are made of tokens, and each token has an embedding.
    let embeddings = gpu.upload(&[0.0_f32, 0.1, 1.0, 1.1, 2.0, 2.1])?;
    let tokens_of_words = gpu.upload(&[2_u32, 0, 1, 1])?;
    let words = gpu.upload(&[1_u32, 0])?;

    let tokens = Gather::new().plan(&[2, 2], &[2])?;
    let tokens = gpu.gather_to_table_blocking(&tokens, &tokens_of_words, &words)?;
    let lookup = GatherNd::new().plan(&[3, 2], &[2, 2, 1])?;
    let rows = gpu.gather_to_table_blocking(&lookup, &embeddings, &tokens)?;
    assert_eq!(gpu.download_blocking(&rows)?, [1.0, 1.1, 1.0, 1.1, 2.0, 2.1, 0.0, 0.1]);
    Ok(())
}
