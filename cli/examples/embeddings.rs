//! Looks up embeddings by token ids, from a tensor in a .safetensors file to a .npy file that NumPy opens. Runs
//! on the GPU if there is one.
//!
//! ```sh
//! cargo run --release -p wgpu-gather-cli --example embeddings -- FOLDER
//! ```
//!
//! Without FOLDER the files go to the folder for temporary files. The example makes the small model itself.

#[path = "../../examples/common/mod.rs"]
mod common;

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype as Type, TensorView, serialize_to_file};
use wgpu_gather::{BadIndices, Gather};
use wgpu_gather_cli::arrays::{self, Array, Dtype};

const TOKENS: [&str; 6] = ["the", "cat", "dog", "sees", "sleeps", "."];
const WIDTH: usize = 4;

/// An `f32` as bytes. A gather only moves bits, so the elements need not be numbers, and `[u8; 4]` is
/// aligned at any offset in a file.
type Element = [u8; 4];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args_os()
        .nth(1)
        .map_or_else(env::temp_dir, PathBuf::from);
    let model_path = folder.join("wgpu-gather-model.safetensors");
    let embeddings_path = folder.join("wgpu-gather-embeddings.npy");
    write_model(&model_path)?;

    // The tensors borrow these bytes: nothing is copied. Map a large file to memory instead.
    let bytes = fs::read(&model_path)?;
    let model = SafeTensors::deserialize(&bytes)?;
    let table = model.tensor("wte.weight")?;
    assert_eq!(table.dtype(), Type::F32);
    let (params, _): (&[Element], _) = table.data().as_chunks();

    // Two sentences of five tokens.
    let sentences = ["the cat sees the dog", "the dog sleeps . ."];
    let mut token_ids: Vec<u32> = Vec::new();
    for token in sentences.iter().flat_map(|sentence| sentence.split(' ')) {
        let id = TOKENS.iter().position(|&known| known == token);
        token_ids.push(u32::try_from(
            id.ok_or("a token that the model does not know")?,
        )?);
    }

    let plan = Gather::new()
        .bad_indices(BadIndices::Error)
        .plan(table.shape(), &[2, 5])?;
    let executor = common::executor()?;
    let embeddings = executor.upload(params, plan.params_shape())?;
    let output = executor.gather(&plan, &embeddings, &token_ids).wait()?;
    println!("{plan}");

    let embeddings = Array {
        dtype: Dtype::from_code("f4").ok_or("NumPy's float32")?,
        shape: plan.output_shape().to_vec(),
        bytes: output.into_flattened(),
    };
    arrays::write(&embeddings_path, &embeddings)?;
    eprintln!("written to {}", embeddings_path.display());

    // Check the file.
    let written = arrays::read(&embeddings_path)?;
    let numbers = written.numbers(f32::from_le_bytes)?;
    println!("{} {:?}", written.dtype, written.shape);
    println!("the {:?}", &numbers[..WIDTH]);
    println!("cat {:?}", &numbers[WIDTH..2 * WIDTH]);
    assert_eq!(written.shape, [2, 5, WIDTH]);
    let expected = token_ids.iter().flat_map(|&id| embedding(id));
    assert!(numbers.into_iter().eq(expected), "other embeddings");
    Ok(())
}

/// Writes a model with two tensors, one for the embeddings.
fn write_model(path: &Path) -> Result<(), Box<dyn Error>> {
    let bytes = |numbers: Vec<f32>| -> Vec<u8> {
        let bytes = numbers.into_iter().flat_map(f32::to_le_bytes);
        bytes.collect()
    };
    let weights = bytes((0..).take(TOKENS.len()).flat_map(embedding).collect());
    let norm = bytes(vec![1.0; WIDTH]);
    let tensors = [
        (
            "ln_f.weight",
            TensorView::new(Type::F32, vec![WIDTH], &norm)?,
        ),
        (
            "wte.weight",
            TensorView::new(Type::F32, vec![TOKENS.len(), WIDTH], &weights)?,
        ),
    ];
    Ok(serialize_to_file(tensors, None, path)?)
}

/// A token's embedding: its id plus 0, 1/4, 1/2 and 3/4, instead of learned numbers.
fn embedding(id: u32) -> [f32; WIDTH] {
    [0.0, 0.25, 0.5, 0.75].map(|quarters| id as f32 + quarters)
}
