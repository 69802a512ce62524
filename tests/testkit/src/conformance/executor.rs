//! Runs a plan on either device with elements of a line's width. Params and output are bytes.

use std::fmt::Debug;

use bytemuck::checked;
#[cfg(feature = "gpu")]
use wgpu_gather::GpuError;
use wgpu_gather::{BadIndexError, BadIndices, GatherPlan, Index, IndexKind, RunError};

use super::line::Params;
#[cfg(feature = "gpu")]
use crate::gpu::Gpu;
use crate::of_index_type;
use crate::samples::{self, Element, Runner, bytes_of};
#[cfg(feature = "gpu")]
use crate::waits;

/// The output's bytes, or the first bad index.
pub type Gathered = Result<Vec<u8>, BadIndexError>;

#[derive(Clone, Copy)]
pub enum Device {
    Cpu,
    #[cfg(feature = "gpu")]
    Gpu(&'static Gpu),
}

impl Device {
    /// True if a bad row is an error under this policy.
    pub fn names_bad_rows(self, policy: BadIndices) -> bool {
        match policy {
            BadIndices::DeviceDefault => matches!(self, Self::Cpu),
            BadIndices::Error => true,
            _ => false,
        }
    }

    /// Runs the plan. The outer error is a failure; a bad index is a result.
    pub async fn run(
        self,
        plan: &GatherPlan,
        params: &Params,
        index_kind: IndexKind,
        indices: &[i128],
    ) -> Result<Gathered, String> {
        let bytes = &params.bytes;
        let indices = (index_kind, indices);
        match params.element_bytes {
            1 => self.run_elements::<[u8; 1]>(plan, bytes, indices).await,
            2 => self.run_elements::<[u8; 2]>(plan, bytes, indices).await,
            4 => self.run_elements::<[u8; 4]>(plan, bytes, indices).await,
            8 => self.run_elements::<[u8; 8]>(plan, bytes, indices).await,
            16 => self.run_elements::<[u8; 16]>(plan, bytes, indices).await,
            other => Err(format!("no element of {other} bytes")),
        }
    }

    async fn run_elements<T: Element>(
        self,
        plan: &GatherPlan,
        bytes: &[u8],
        (index_kind, indices): (IndexKind, &[i128]),
    ) -> Result<Gathered, String> {
        let elements = bytes.chunks_exact(size_of::<T>());
        if !elements.remainder().is_empty() {
            return Err(format!("{} bytes of params are no elements", bytes.len()));
        }
        let params: Vec<T> = elements.map(checked::pod_read_unaligned).collect();
        let gathered = of_index_type!(index_kind, I => {
            self.run_typed(plan, &params, &typed::<I>(indices)).await
        });
        match gathered? {
            Ok(output) => Ok(Ok(bytes_of(&output).to_vec())),
            Err(RunError::BadIndex(bad)) => Ok(Err(bad)),
            Err(error) => Err(error.to_string()),
        }
    }

    async fn run_typed<T: Element, I: Index>(
        self,
        plan: &GatherPlan,
        params: &[T],
        indices: &[I],
    ) -> Result<Result<Vec<T>, RunError>, String> {
        match self {
            Self::Cpu => Ok(samples::Cpu.gather(plan, params, indices)),
            #[cfg(feature = "gpu")]
            Self::Gpu(gpu) => {
                let shape = waits::params_shape(plan, params.len());
                let table = gpu
                    .upload(params, &shape)
                    .map_err(|error| error.to_string())?;
                match waits::gather(gpu, plan, &table, indices).await {
                    Ok(output) => Ok(Ok(output)),
                    Err(GpuError::Run(error)) => Ok(Err(error)),
                    Err(error) => Err(error.to_string()),
                }
            }
        }
    }
}

/// The indices as values of type `I`, which must be able to hold them.
fn typed<I: TryFrom<i128, Error: Debug>>(indices: &[i128]) -> Vec<I> {
    let typed = |&value| I::try_from(value).expect("a value of its type");
    indices.iter().map(typed).collect()
}
