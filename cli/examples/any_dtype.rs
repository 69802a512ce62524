//! Gathers rows 2 and 0 from each tensor in a .safetensors file. The dtypes are known only at run time, so `gather_bytes` takes a
//! tensor's bytes and element width. Runs on the GPU if there is one.
//!
//! ```sh
//! cargo run --release -p wgpu-gather-cli --example any_dtype
//! ```

#[path = "../../examples/common/mod.rs"]
mod common;

use std::error::Error;

use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use wgpu_gather::{BadIndices, ElementTypes, Gather, IndexKind};

fn main() -> Result<(), Box<dyn Error>> {
    let executor = common::executor()?;
    // A file holds its indices as bytes too.
    let indices = executor.upload([2_i64, 0].map(i64::to_le_bytes).concat(), &[16])?;

    let file = small_file()?;
    let tensors = SafeTensors::deserialize(&file)?;
    let mut names = tensors.names();
    names.sort_unstable();
    for name in names {
        let tensor = tensors.tensor(name)?;
        let (dtype, bytes) = (tensor.dtype(), tensor.data());
        let bits = dtype.bitsize();
        if !bits.is_multiple_of(8) {
            println!("{name} {dtype}: elements of {bits} bits are no whole bytes");
            continue;
        }
        let types = ElementTypes::new(bits as u64 / 8, IndexKind::I64);
        let plan = Gather::new()
            .bad_indices(BadIndices::Error)
            .plan(tensor.shape(), &[2])?;
        let params = executor.upload(bytes, &[bytes.len()])?;
        let rows = executor.gather_bytes(&plan, types, &params, &indices);
        let rows = rows.wait()?;
        println!("{name} {dtype} {:?}: {rows:?}", plan.output_shape());
    }
    Ok(())
}

/// Tensors with 3 rows, whose bytes are 0, 1, 2 and so on.
fn small_file() -> Result<Vec<u8>, Box<dyn Error>> {
    let bytes: Vec<u8> = (0..=255).collect();
    let tensor = |dtype: Dtype, shape: &[usize]| {
        let bits = shape.iter().product::<usize>() * dtype.bitsize();
        TensorView::new(dtype, shape.to_vec(), &bytes[..bits / 8])
    };
    let tensors = [
        ("flags", tensor(Dtype::BOOL, &[3, 2])?),
        ("ids", tensor(Dtype::I64, &[3])?),
        ("scales", tensor(Dtype::F8_E8M0, &[3, 3])?),
        ("weights", tensor(Dtype::BF16, &[3, 2, 2])?),
        ("nibbles", tensor(Dtype::F4, &[3, 2])?),
    ];
    Ok(serialize(tensors, None)?)
}
