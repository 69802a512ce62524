//! The submission of a gather to a GPU, and the reading of its output and report.

use std::sync::Arc;

use super::bags::Prepare;
use super::gather::{ParamsBuffers, Unchecked};
use super::indices::IndexOperand;
use super::owner::{HostBuffers, Owner, Storage};
use super::tensor::Tensor;
use super::waiting::{Mapping, Wait, elements_of};
use crate::bad_indices::BadIndices;
use crate::bags::Bags;
use crate::element::{Element, ElementTypes};
use crate::error::{GatherError, GpuError, RunError};
use crate::gpu::buffers::{Buffers, Ranges};
use crate::gpu::prepared::Prepared;
use crate::gpu::report::{BadRows, REPORT_BYTES};
use crate::gpu::scope::scoped_start;
use crate::gpu::types::{TypedPlan, range_bytes};
use crate::operand::Operand;
use crate::plan::GatherPlan;

/// The report of a gather or a scatter that is submitted.
pub(super) struct Report<'a> {
    plan: &'a GatherPlan,
    types: ElementTypes,
    is_scatter: bool,
    device: &'a wgpu::Device,
    mapping: Mapping<'a>,
}

impl Report<'_> {
    /// Waits for the report. Returns the error of a report that names a bad row.
    pub(super) async fn check(self, wait: Wait) -> Result<(), GpuError> {
        let index_kind = self.types.index_kind;
        let decode = |report: &[u8]| BadRows::read(self.plan, index_kind, self.is_scatter, report);
        match self.mapping.read(wait, decode).await? {
            Ok(Some(bad_rows)) => Err(RunError::BadIndex(bad_rows.first).into()),
            Ok(None) => Ok(()),
            // The gather has ended, but wgpu's back end for tests runs no shader.
            Err(GatherError::UnwrittenReport)
                if self.device.adapter_info().backend == wgpu::Backend::Noop =>
            {
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// A gather to the host that is submitted.
struct Started<'a> {
    bytes: u64,
    buffers: HostBuffers,
    output: Mapping<'a>,
    report: Option<Report<'a>>,
}

/// A gather whose owners and lengths are checked.
struct OnGpu<'a> {
    typed: TypedPlan<'a>,
    params: ParamsBuffers<'a>,
    /// `None` for a slice of the caller's.
    indices: Option<&'a wgpu::Buffer>,
    mask: Option<&'a wgpu::Buffer>,
    /// The buffer of the caller's tensor.
    output: Option<&'a wgpu::Buffer>,
    /// The bags, and the function that prepares them.
    bags: Option<(Bags<wgpu::BufferSlice<'a>>, Prepare)>,
}

impl<'a, T: Element> Unchecked<'a, T> {
    /// Gathers, and brings the output to the host.
    pub(super) async fn into_host(mut self, wait: Wait) -> Result<Vec<T>, GpuError> {
        let Some(owner) = self.owner else {
            return self.run(None);
        };
        let start = || self.start_to_host(owner);
        let Some(started) = scoped_start(&owner.device, start).await? else {
            return Ok(Vec::new());
        };
        if let Some(report) = started.report {
            report.check(wait).await?;
        }
        let bytes = usize::try_from(started.bytes).expect("a mapped output is in memory");
        let read = |mapped: &[u8]| elements_of(Operand::Output, &mapped[..bytes]);
        let elements = started.output.read(wait, read).await??;
        owner.keep(started.buffers);
        Ok(elements)
    }

    /// Gathers into a new tensor.
    pub(super) async fn into_new_tensor(mut self, wait: Wait) -> Result<Tensor<T>, GpuError> {
        let Some(owner) = self.owner else {
            let elements = self.run(None)?;
            return Ok(Tensor::new(Storage::Host(elements), &self.output_shape()));
        };
        let start = || self.start_to_tensor(owner);
        let (output, report) = scoped_start(&owner.device, start).await?;
        if let Some(report) = report {
            report.check(wait).await?;
        }
        Ok(output)
    }

    /// Gathers into the caller's tensor.
    pub(super) async fn into_tensor(mut self, wait: Wait) -> Result<(), GpuError> {
        let output = self.output.take().expect("set by `into_tensor`");
        let Some(owner) = self.owner else {
            return self.run(Some(output)).map(drop);
        };
        let start = || self.start_into(owner, output);
        match scoped_start(&owner.device, start).await? {
            Some(report) => report.check(wait).await,
            None => Ok(()),
        }
    }

    /// Submits the gather and starts to map the output, and the report if the policy needs one. Each has a buffer of
    /// its own, so that the output may be as large as a buffer. `None` if the output is empty.
    fn start_to_host(&self, owner: &'a Arc<Owner>) -> Result<Option<Started<'_>>, GpuError> {
        let on_gpu = self.on_gpu(owner, None)?;
        if on_gpu.typed.bytes.output == 0 {
            self.submit_mask(owner, &on_gpu)?;
            return Ok(None);
        }
        let bytes = on_gpu.typed.bytes.output;
        let buffers = owner.host_buffers(bytes)?;
        let copy = |encoder: &mut wgpu::CommandEncoder| {
            let size = range_bytes(bytes);
            encoder.copy_buffer_to_buffer(&buffers.output, 0, &buffers.readback, 0, size);
        };
        let (submission, report) = self.submit(owner, &on_gpu, &buffers.output, copy)?;
        let output = owner.map(buffers.readback.clone(), submission)?;
        Ok(Some(Started {
            bytes,
            buffers,
            output,
            report,
        }))
    }

    /// Submits the gather into a new tensor and, if there is a report, starts to map it.
    fn start_to_tensor(
        &self,
        owner: &'a Arc<Owner>,
    ) -> Result<(Tensor<T>, Option<Report<'_>>), GpuError> {
        let on_gpu = self.on_gpu(owner, None)?;
        let buffer = owner.make_tensor(Operand::Output, on_gpu.typed.bytes.output)?;
        let report = self.submit_into(owner, &on_gpu, &buffer)?;
        let storage = Storage::Gpu(buffer, Arc::clone(owner));
        Ok((Tensor::new(storage, &self.output_shape()), report))
    }

    /// Submits the gather into the caller's tensor and, if there is a report, starts to map it.
    fn start_into<'j>(
        &'j self,
        owner: &'a Arc<Owner>,
        output: &'j Tensor<T>,
    ) -> Result<Option<Report<'j>>, GpuError> {
        let on_gpu = self.on_gpu(owner, Some(output))?;
        let buffer = on_gpu.output.expect("the caller's output");
        self.submit_into(owner, &on_gpu, buffer)
    }

    fn submit_into<'j>(
        &'j self,
        owner: &'a Arc<Owner>,
        on_gpu: &OnGpu<'j>,
        output: &wgpu::Buffer,
    ) -> Result<Option<Report<'j>>, GpuError> {
        if on_gpu.typed.bytes.output == 0 {
            self.submit_mask(owner, on_gpu)?;
            return Ok(None);
        }
        let (_, report) = self.submit(owner, on_gpu, output, |_| {})?;
        Ok(report)
    }

    /// Submits the mask of a gather whose output is empty.
    fn submit_mask<'j>(
        &'j self,
        owner: &'a Arc<Owner>,
        on_gpu: &OnGpu<'j>,
    ) -> Result<(), GpuError> {
        if let Some(mask) = on_gpu.mask
            && self.plan().index_row_count() > 0
        {
            // An output without bytes is not bound, so any buffer stands for it.
            self.submit(owner, on_gpu, mask, |_| {})?;
        }
        Ok(())
    }

    /// Checks owners, and then lengths.
    fn on_gpu<'j>(
        &'j self,
        owner: &Arc<Owner>,
        output: Option<&'j Tensor<T>>,
    ) -> Result<OnGpu<'j>, GpuError> {
        let params = self.params.on_gpu(owner)?;
        let indices = self.indices.on_gpu(owner)?;
        let mask = self.mask.as_deref();
        let mask_buffer = mask.map(|mask| mask.storage.on_gpu(Operand::Mask, owner));
        let mask_buffer = mask_buffer.transpose()?;
        let output_buffer = output.map(|output| output.storage.on_gpu(Operand::Output, owner));
        let output_buffer = output_buffer.transpose()?;
        let bags = self.bags.as_ref();
        let bags = bags.map(|bags| Ok::<_, GpuError>((bags.on_gpu(owner)?, bags.prepare)));
        Ok(OnGpu {
            typed: self.checked(mask.map(Tensor::len), output.map(Tensor::len))?,
            params,
            indices,
            mask: mask_buffer,
            output: output_buffer,
            bags: bags.transpose()?,
        })
    }

    /// Submits the upload of a slice of indices, the gather into `output`, and the commands of `then`. Starts to map the
    /// report if the policy needs one.
    fn submit<'j>(
        &'j self,
        owner: &'a Arc<Owner>,
        on_gpu: &OnGpu<'j>,
        output: &wgpu::Buffer,
        then: impl FnOnce(&mut wgpu::CommandEncoder),
    ) -> Result<(wgpu::SubmissionIndex, Option<Report<'j>>), GpuError> {
        let typed = on_gpu.typed;
        let prepare = |indices: &wgpu::Buffer, report: Option<&wgpu::Buffer>| {
            let ranges = Ranges {
                params: on_gpu.params.0.slice(..),
                indices: indices.slice(..),
                output: output.slice(..),
            };
            let mut given = Buffers::gather(self.types, ranges).given;
            given.qparams = on_gpu.params.1.map(|buffer| Some(buffer?.slice(..)));
            given.fill = self.fill;
            given.report = report.map(|report| report.slice(..));
            given.mask = on_gpu.mask.map(|mask| mask.slice(..));
            match on_gpu.bags {
                Some((bags, prepare)) => prepare(&owner.gatherer, typed.plan, &given, bags),
                None => owner.gatherer.prepare_given(typed.plan.into(), &given),
            }
        };
        let submitted = Submitted {
            owner,
            plan: typed.plan,
            types: self.types,
            is_scatter: false,
        };
        let indices = (&self.indices, on_gpu.indices);
        submitted.submit("wgpu-gather/gather", indices, prepare, then)
    }
}

/// The gather or the scatter that a submission runs, for its report.
pub(super) struct Submitted<'a> {
    pub(super) owner: &'a Arc<Owner>,
    pub(super) plan: &'a GatherPlan,
    pub(super) types: ElementTypes,
    pub(super) is_scatter: bool,
}

impl<'a> Submitted<'a> {
    /// Submits the upload of a slice of indices, the call that `prepare` makes with the buffers of indices and of a report, and the
    /// commands of `then`. Starts to map the report if the policy needs one.
    pub(super) fn submit(
        self,
        label: &str,
        (operand, indices): (&IndexOperand<'_>, Option<&wgpu::Buffer>),
        prepare: impl FnOnce(&wgpu::Buffer, Option<&wgpu::Buffer>) -> Result<Prepared, GatherError>,
        then: impl FnOnce(&mut wgpu::CommandEncoder),
    ) -> Result<(wgpu::SubmissionIndex, Option<Report<'a>>), GpuError> {
        let owner = self.owner;
        let staged = match (&operand.storage, indices) {
            (Storage::Host(values), None) => Some(owner.stage(Operand::Indices, values.bytes())?),
            _ => None,
        };
        let of_staged = staged.as_ref().map(|staged| &staged.buffer);
        let indices = of_staged.or(indices).expect("a slice or a tensor");
        let reports = self.plan.bad_indices() == BadIndices::Error;
        let report = reports.then(|| owner.make_report()).transpose()?;
        let prepared = prepare(indices, report.as_ref().map(|(report, _)| report))?;
        let submission = owner.submit(label, |encoder| {
            if let Some(staged) = &staged {
                staged.copy(encoder);
            }
            prepared.encode(encoder);
            then(encoder);
            if let Some((report, readback)) = &report {
                encoder.copy_buffer_to_buffer(report, 0, readback, 0, REPORT_BYTES);
            }
        })?;
        let read = |(_, readback)| {
            Ok::<_, GpuError>(Report {
                plan: self.plan,
                types: self.types,
                is_scatter: self.is_scatter,
                device: &owner.device,
                mapping: owner.map(readback, submission.clone())?,
            })
        };
        let report = report.map(read).transpose()?;
        Ok((submission, report))
    }
}
