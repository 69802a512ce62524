//! The loop you would write by hand: safe, with slicing as the bounds check.

use bytemuck::Pod;
use testkit::bench::workloads::Workload;
use wgpu_gather::GatherPlan;

/// An index value, as the position that it selects. A negative one is past every slice's end.
pub trait Place: Copy {
    fn place(self) -> usize;
}

impl Place for u8 {
    fn place(self) -> usize {
        self.into()
    }
}

#[expect(
    clippy::cast_sign_loss,
    reason = "a number below zero becomes one that no slice holds"
)]
impl Place for i32 {
    fn place(self) -> usize {
        self as usize
    }
}

#[expect(
    clippy::cast_sign_loss,
    clippy::cast_possible_truncation,
    reason = "a number below zero becomes one that no slice holds"
)]
impl Place for i64 {
    fn place(self) -> usize {
        self as usize
    }
}

/// Gathers from each params block, with its batch's index rows.
pub fn gather<T: Pod, I: Place>(
    workload: &Workload,
    plan: &GatherPlan,
    params: &[T],
    indices: &[I],
    output: &mut [T],
) {
    let (depth, slice_len) = (workload.index_depth(), plan.slice_len());
    let (blocks, batch) = (workload.blocks(), workload.outer_size());
    let part = workload.params_rows() / blocks * slice_len;
    let stride = workload.element_stride();
    let index_count = workload.index_count() * depth;
    let outputs = output.chunks_exact_mut(workload.index_count() * slice_len);
    for (number, (params, output)) in params.chunks_exact(part).zip(outputs).enumerate() {
        let indices = &indices[number / batch * index_count..][..index_count];
        match (depth, slice_len) {
            (1, 1) if stride > 0 => {
                for (n, (index, out)) in indices.iter().zip(output).enumerate() {
                    *out = params[index.place() * stride + n % stride];
                }
            }
            (1, 1) => {
                for (index, out) in indices.iter().zip(output) {
                    *out = params[index.place()];
                }
            }
            (2, 1) => {
                let columns = workload.indexed_dims()[1];
                for (index, out) in indices.chunks_exact(2).zip(output) {
                    *out = params[index[0].place() * columns + index[1].place()];
                }
            }
            (1, _) => {
                for (index, out) in indices.iter().zip(output.chunks_exact_mut(slice_len)) {
                    out.copy_from_slice(&params[index.place() * slice_len..][..slice_len]);
                }
            }
            _ => {
                let dims = workload.indexed_dims();
                let rows = indices.chunks_exact(depth);
                for (index, out) in rows.zip(output.chunks_exact_mut(slice_len)) {
                    let values = index.iter().zip(dims);
                    let row = values.fold(0, |row, (index, dim)| row * dim + index.place());
                    out.copy_from_slice(&params[row * slice_len..][..slice_len]);
                }
            }
        }
    }
}
