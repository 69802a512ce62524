use wgpu_gather::{Executor, Gather, GpuError};

fn main() -> Result<(), GpuError> {
    let gpu = Executor::gpu_blocking()?;
    // Words are made of tokens, and each token has an embedding.
    let embeddings = gpu.upload(&[0.0_f32, 0.1, 1.0, 1.1, 2.0, 2.1], &[3, 2])?;
    let tokens_of_words = gpu.upload(&[2_u32, 0, 1, 1], &[2, 2])?;

    // The tokens of two words stay on the GPU, and are the indices of the next gather.
    let tokens = gpu.gather(Gather::new(), &tokens_of_words, &[1, 0]).on_gpu().wait()?;
    let rows = gpu.gather(Gather::new(), &embeddings, &tokens).on_gpu().wait()?;
    assert_eq!(rows.shape(), [2, 2, 2]);
    assert_eq!(rows.download_blocking()?, [1.0, 1.1, 1.0, 1.1, 2.0, 2.1, 0.0, 0.1]);
    Ok(())
}
