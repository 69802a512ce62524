//! Looks up tokens in a .gguf file's quantised table, on the GPU if there is one, and on the CPU. Only the
//! tokens' rows are decoded.
//!
//! ```sh
//! cargo run --release -p wgpu-gather-cli --example gguf -- MODEL.gguf:TENSOR
//! ```
//!
//! Without an argument the example writes a small model itself, to the folder for temporary files.

#[path = "../../examples/common/mod.rs"]
mod common;

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use wgpu_gather::{Encoded, Encoding, Gather};
use wgpu_gather_cli::arrays;

const ROWS: usize = 1000;
const WIDTH: usize = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let source = match env::args_os().nth(1) {
        Some(source) => PathBuf::from(source),
        None => {
            let path = env::temp_dir().join("wgpu-gather-model.gguf");
            fs::write(&path, model()?)?;
            PathBuf::from(format!("{}:token_embd.weight", path.display()))
        }
    };
    // Only this tensor is read.
    let table = arrays::read(Path::new(&source))?;
    let encoding: Encoding = table.dtype.encoding().parse()?;
    let &[rows, width] = &table.shape[..] else {
        return Err(format!("a table has two dims, found {:?}", table.shape).into());
    };

    let tokens: Vec<u32> = vec![7, 0, u32::try_from(rows - 1)?, 7];
    let plan = Gather::new().plan(&[rows, width], &[tokens.len()])?;
    let executor = common::executor()?;
    let encoded = Encoded::new(encoding, &table.bytes);
    let params = executor.upload_encoded(&encoded, &[rows, width])?;
    let on_gpu = executor.gather(&plan, &params, &tokens).wait()?;
    let on_cpu = plan.gather_encoded(&encoded, &tokens)?;
    let bits = |values: &[f32]| {
        values
            .iter()
            .map(|value| value.to_bits())
            .collect::<Vec<_>>()
    };
    assert_eq!(bits(&on_gpu), bits(&on_cpu));

    println!(
        "{encoding} {:?}, {} bytes; as f32 {} bytes",
        table.shape,
        table.bytes.len(),
        4 * rows * width
    );
    for (token, row) in tokens.iter().zip(on_gpu.chunks(width)) {
        println!("token {token:3} {:?} ..", &row[..4]);
    }
    println!(
        "read {} bytes, beside {} of an f32 table",
        tokens.len() * table.bytes.len() / rows,
        4 * tokens.len() * width
    );
    Ok(())
}

/// A .gguf file with one Q8_0 tensor: each block has the scale 1/4, and values that count up by 1.
fn model() -> Result<Vec<u8>, Box<dyn Error>> {
    let name = b"token_embd.weight";
    let mut file = b"GGUF".to_vec();
    file.extend(3_u32.to_le_bytes());
    // How many tensors, metadata pairs, and bytes in the tensor's name.
    file.extend(
        [1_u64, 0, name.len() as u64]
            .map(u64::to_le_bytes)
            .as_flattened(),
    );
    file.extend(name);
    file.extend(2_u32.to_le_bytes());
    // GGUF stores the innermost dim first.
    file.extend(
        [WIDTH as u64, ROWS as u64]
            .map(u64::to_le_bytes)
            .as_flattened(),
    );
    let (q8_0, offset) = (8_u32, 0_u64);
    file.extend(q8_0.to_le_bytes());
    file.extend(offset.to_le_bytes());
    file.resize(file.len().next_multiple_of(32), 0);
    for row in 0..ROWS {
        for block in 0..WIDTH / 32 {
            file.extend([0x00, 0x34]);
            let first = u8::try_from((row + 32 * block) % 96)?;
            file.extend(first..first + 32);
        }
    }
    Ok(file)
}
