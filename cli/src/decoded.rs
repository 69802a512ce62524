//! Gathers that decode a table's rows to floats.

use wgpu_gather::half::{bf16, f16};
use wgpu_gather::{
    Element, Encoded, Encoding, Executor, Float, FloatKind, GatherPlan, GpuError, Index,
};

use crate::indices::{Indices, by_index_type};
use wgpu_gather_cli::arrays::{Array, Result};

/// Gathers values that have `shape`, on the executor or else on the CPU, and decodes them to numbers of the type `to`, as bytes.
pub fn gather(
    params: &Array,
    (encoding, to): (Encoding, FloatKind),
    shape: &[usize],
    executor: Option<&Executor>,
    plan: &GatherPlan,
    indices: &Indices,
) -> Result<std::result::Result<Vec<u8>, GpuError>> {
    macro_rules! to {
        ($float:ty) => {{
            let params = Encoded::new(encoding, &params.bytes).to::<$float>();
            let rows = by_index_type!(indices, |numbers| {
                rows(&params, shape, executor, plan, &numbers)
            });
            rows.map(|rows| bytes_of(&rows, <$float>::to_le_bytes))
        }};
    }
    let bytes = match to {
        FloatKind::F16 => to!(f16),
        FloatKind::Bf16 => to!(bf16),
        _ => to!(f32),
    };
    match bytes {
        Ok(bytes) => Ok(Ok(bytes?)),
        Err(error) => Ok(Err(error)),
    }
}

fn rows<T: Float + Element, I: Index>(
    params: &Encoded<&Vec<u8>, T>,
    shape: &[usize],
    executor: Option<&Executor>,
    plan: &GatherPlan,
    indices: &[I],
) -> std::result::Result<Vec<T>, GpuError> {
    match executor {
        None => Ok(plan.gather_encoded(params, indices)?),
        Some(executor) => {
            let table = executor.upload_encoded(params, shape)?;
            executor.gather(plan, &table, indices).wait()
        }
    }
}

/// The numbers as bytes; an error if memory runs out.
fn bytes_of<T: Copy, const WIDTH: usize>(
    numbers: &[T],
    to_le_bytes: fn(T) -> [u8; WIDTH],
) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let size = size_of_val(numbers);
    (bytes.try_reserve_exact(size))
        .map_err(|_| format!("out of memory for the {size} bytes of the output"))?;
    for &number in numbers {
        bytes.extend(to_le_bytes(number));
    }
    Ok(bytes)
}
