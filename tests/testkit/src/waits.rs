//! Gets results back from a GPU. A call blocks this thread or, on wasm, where no thread may block, is awaited.

use wgpu_gather::{Element, Encoded, Encoding, Executor, GatherPlan, GpuError, Index, Tensor};

pub async fn gather<T: Element, I: Index>(
    executor: &Executor,
    plan: &GatherPlan,
    table: &Tensor<T>,
    indices: &[I],
) -> Result<Vec<T>, GpuError> {
    #[cfg(not(target_arch = "wasm32"))]
    let output = executor.gather(plan, table, indices).wait();
    #[cfg(target_arch = "wasm32")]
    let output = executor.gather(plan, table, indices).await;
    output
}

pub async fn download<T: Element>(table: &Tensor<T>) -> Result<Vec<T>, GpuError> {
    #[cfg(not(target_arch = "wasm32"))]
    let elements = table.download_blocking();
    #[cfg(target_arch = "wasm32")]
    let elements = table.download().await;
    elements
}

/// The shape of `len` params elements: the plan's, unless the plan is for a shard or has gaps between its rows.
pub fn params_shape(plan: &GatherPlan, len: usize) -> Vec<usize> {
    let shape = plan.params_shape();
    match shape.iter().product::<usize>() == len {
        true => shape.to_vec(),
        false => vec![len],
    }
}

/// The shape of encoded params, in values: the plan's, unless the plan is for a shard or has gaps between its rows.
pub fn encoded_shape<T>(plan: &GatherPlan, params: &Encoded<&[u8], T>) -> Vec<usize> {
    let (encoding, rows) = (params.encoding(), params.rows().len());
    let shape = plan.params_shape();
    let last = shape.last().copied().unwrap_or(1);
    let in_memory = |bytes: u64| usize::try_from(bytes).unwrap();
    let row_bytes = in_memory(encoding.row_bytes(last as u64).expect("whole blocks"));
    if last == 0 || shape.iter().product::<usize>() / last * row_bytes == rows {
        return shape.to_vec();
    }
    match encoding {
        Encoding::RowWise8 | Encoding::RowWise4 | Encoding::BlockQuantized(_) => {
            vec![rows / row_bytes, last]
        }
        _ => vec![rows / in_memory(encoding.block_bytes()) * in_memory(encoding.block_len())],
    }
}
