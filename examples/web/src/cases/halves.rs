//! Rows of each encoding, decoded to f16 and bf16: the GPU gives the CPU's bytes.

use testkit::gpu::Gpu;
use wgpu_gather::{ElementTypes, Encoding, FloatKind, Gather, IndexKind};

use super::Checked;

const ROWS: usize = 64;

pub async fn check(gpu: &'static Gpu) -> Vec<(String, Checked)> {
    let mut checked = Vec::new();
    for &encoding in Encoding::ALL {
        for &to in FloatKind::ALL {
            let name = format!("{encoding}_to_{to}");
            // Rows that end within a word, or are whole blocks.
            let len = if encoding.block_len() == 1 { 1021 } else { 512 };
            let problem = equal(gpu, encoding, to, len).await.err();
            checked.push((name, problem.map_or(Ok(()), Err)));
        }
    }
    checked
}

async fn equal(gpu: &'static Gpu, encoding: Encoding, to: FloatKind, len: usize) -> Checked {
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let row_bytes = encoding.row_bytes(len as u64).ok_or("no whole blocks")?;
    let row_bytes = usize::try_from(row_bytes).map_err(|error| told(&error))?;
    let mut state = 9_u32;
    let mut byte = || {
        state = state.wrapping_mul(0x9e37_79b1).wrapping_add(1);
        // No scale is an infinity or a NaN, and none of a row is subnormal.
        (state >> 24).to_le_bytes()[0] & 0xbf | 0x20
    };
    let table: Vec<u8> = (0..ROWS * row_bytes).map(|_| byte()).collect();
    let indices: Vec<u8> = (0..200).map(|n| n * 7 % 64).collect();
    let plan = Gather::new().plan(&[ROWS, len], &[indices.len()]);
    let plan = plan.map_err(|error| told(&error))?;
    let types = ElementTypes::decoded(encoding, to, IndexKind::U8);
    let expected = plan.gather_bytes(types, &table, &indices);
    let expected = expected.map_err(|error| told(&error))?;
    let tensor = gpu.upload(&table, &[table.len()]);
    let tensor = tensor.map_err(|error| told(&error))?;
    let found = gpu.gather_bytes(&plan, types, &tensor, &indices[..]).await;
    let found = found.map_err(|error| told(&error))?;
    match found.iter().zip(&expected).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(at) => Err(format!("byte {at} is {}, not {}", found[at], expected[at])),
    }
}
