//! Gathers of a request: submitted to a GPU and read back, or run on the CPU.

use std::sync::{Arc, MutexGuard, PoisonError};

use super::context::Gpu;
use super::elements::elements_of;
use super::input::Input;
use super::mapping::Wait;
use super::request::{GatherRequest, Job};
use super::staging::{HOST, TENSOR};
use super::tensor::{Place, Tensor};
use super::transfer::copied;
use crate::element::{ElementTypes, GatherElement};
use crate::error::{GpuError, Operand};
use crate::gpu::scope::{scoped, scoped_start};
use crate::index::GatherIndex;
use crate::plan::{GatherPlan, ToPlan};

/// The most bytes of output for which a `Gpu` keeps buffers from one gather to the next.
const MOST_KEPT_BYTES: u64 = 256 << 20;

impl Gpu {
    /// Gathers from `params` by `indices`, each of which is in host memory or a [`Tensor`]. The output comes to the
    /// host, or stays on the GPU: see [`GatherRequest`], which also names the errors.
    ///
    /// An operation in place of the plan is planned for the shapes of params and indices. Elements in host memory have
    /// one dim.
    ///
    /// The `Gpu` keeps two buffers for the output of the next gather to the host: those of the largest output so far, of
    /// at most 256 MiB each.
    ///
    /// ```no_run
    #[doc = include_str!("../../../tests/doc_examples/gpu.rs")]
    /// ```
    pub fn gather<'a, T: GatherElement, I: GatherIndex>(
        &'a self,
        plan: impl ToPlan<'a>,
        params: impl Into<Input<'a, T>>,
        indices: impl Into<Input<'a, I>>,
    ) -> GatherRequest<'a, T> {
        GatherRequest::new(Some(self), plan, params.into(), &indices.into())
    }

    /// As [`gather`](Self::gather), but on bytes, for types that are known only at run time: elements of
    /// `types.element_bytes` bytes, and little-endian indices of `types.index_kind`. The output is bytes too.
    ///
    /// # Errors
    ///
    /// The errors of [`GatherRequest`], with [`RunError::ByteLength`](crate::RunError::ByteLength) for an operand of the
    /// wrong length.
    ///
    /// ```no_run
    #[doc = include_str!("../../../tests/doc_examples/bytes.rs")]
    /// ```
    pub fn gather_bytes<'a>(
        &'a self,
        plan: &'a GatherPlan,
        types: ElementTypes,
        params: impl Into<Input<'a, u8>>,
        indices: impl Into<Input<'a, u8>>,
    ) -> GatherRequest<'a, u8> {
        GatherRequest::for_bytes(self, plan, types, params.into(), &indices.into())
    }

    pub(super) fn make_host_buffers(&self, bytes: u64) -> Result<HostBuffers, GpuError> {
        let make = |usage, label| self.make_buffer(Operand::Output, bytes, usage, label);
        Ok(HostBuffers {
            output: make(TENSOR, "wgpu-gather/output")?,
            readback: make(HOST, "wgpu-gather/readback")?,
        })
    }

    /// The output buffers of the last gather to the host, if they suit an output of `bytes` bytes.
    pub(super) fn take_host_buffers(&self, bytes: u64) -> Option<HostBuffers> {
        let mut kept = self.kept();
        match &*kept {
            Some(buffers) if buffers.output.size() >= bytes => kept.take(),
            _ => None,
        }
    }

    fn keep_host_buffers(&self, buffers: HostBuffers) {
        let mut kept = self.kept();
        let size = |buffers: &HostBuffers| buffers.output.size();
        let is_larger = kept.as_ref().is_none_or(|kept| size(kept) < size(&buffers));
        if is_larger && size(&buffers) <= MOST_KEPT_BYTES {
            *kept = Some(buffers);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Option<HostBuffers>> {
        let kept = self.inner.host_buffers.lock();
        kept.unwrap_or_else(PoisonError::into_inner)
    }
}

/// The buffers of an output that comes to the host, of equal size.
#[derive(Debug)]
pub(super) struct HostBuffers {
    pub(super) output: wgpu::Buffer,
    pub(super) readback: wgpu::Buffer,
}

/// Gathers, and brings the output to the host.
pub(super) async fn to_host<T: GatherElement>(
    mut job: Job<'_, T>,
    wait: Wait,
) -> Result<Vec<T>, GpuError> {
    job.pack_output();
    let Some(gpu) = job.gpu else {
        return job.run_on_cpu();
    };
    let start = || job.start_to_host(gpu);
    let Some(started) = scoped_start(gpu.device(), start).await? else {
        return Ok(Vec::new());
    };
    if let Some(report) = started.report {
        report.check(wait).await?;
    }
    let bytes = usize::try_from(started.bytes).expect("a mapped output is in memory");
    let read = |mapped: &[u8]| elements_of(Operand::Output, &mapped[..bytes]);
    let elements = started.output.read(wait, read).await??;
    let buffers = started.buffers;
    // A lost device unmaps nothing; its buffers are dropped.
    if scoped(gpu.device(), || buffers.readback.unmap()).is_ok() {
        gpu.keep_host_buffers(buffers);
    }
    Ok(elements)
}

/// Gathers into a new tensor.
pub(super) async fn to_tensor<T: GatherElement>(
    mut job: Job<'_, T>,
    wait: Wait,
) -> Result<Tensor<T>, GpuError> {
    job.pack_output();
    let Some(gpu) = job.gpu else {
        let shape = job.plan()?.output_shape().to_vec();
        return Ok(Tensor::on_host(job.run_on_cpu()?, shape));
    };
    let start = || job.start_to_tensor(gpu);
    let (output, report) = scoped_start(gpu.device(), start).await?;
    if let Some(report) = report {
        report.check(wait).await?;
    }
    Ok(output)
}

/// Gathers into the caller's tensor.
pub(super) async fn into_tensor<T: GatherElement>(
    mut job: Job<'_, T>,
    wait: Wait,
) -> Result<(), GpuError> {
    let output = job.output.take().expect("set by `into_tensor`");
    let Some(gpu) = job.gpu else {
        let Place::Host(elements) = output.place_mut() else {
            let operand = Operand::Output;
            return Err(GpuError::OtherOwner { operand });
        };
        if Arc::get_mut(elements).is_none() {
            // A clone of the tensor keeps the old elements.
            *elements = Arc::new(copied(elements)?);
        }
        let output = Arc::get_mut(elements).expect("no other tensor has these elements");
        return job.run_on_cpu_into(output);
    };
    let start = || job.start_into(gpu, output);
    match scoped_start(gpu.device(), start).await? {
        Some(report) => report.check(wait).await,
        None => Ok(()),
    }
}
