//! The checks of a request, and the submission of its gather to a GPU.

use std::borrow::Cow;

use super::context::Gpu;
use super::gather::HostBuffers;
use super::input::OnGpu;
use super::mapping::{Mapping, Wait};
use super::mask::{check_mask, write_on_cpu};
use super::request::Job;
use super::staging::{Staged, TENSOR};
use super::tensor::Tensor;
use crate::bad_indices::BadIndices;
use crate::element::GatherElement;
use crate::error::{GatherError, GpuError, Operand, RunError};
use crate::gpu::buffers::GatherBuffers;
use crate::gpu::report::{BadRows, REPORT_BYTES};
use crate::gpu::types::{OperandBytes, range_bytes};
use crate::index::{IndexKind, IndexValues};
use crate::plan::GatherPlan;

/// A gather to the host that is submitted.
pub(super) struct Started<'a> {
    pub(super) bytes: u64,
    pub(super) buffers: HostBuffers,
    pub(super) output: Mapping,
    pub(super) report: Option<Report<'a>>,
}

/// The report of a gather that is submitted.
pub(super) struct Report<'a> {
    plan: &'a GatherPlan,
    index_kind: IndexKind,
    mapping: Mapping,
}

impl Report<'_> {
    /// Waits for the report. Returns the error of a report that names a bad row.
    pub(super) async fn check(self, wait: Wait) -> Result<(), GpuError> {
        let decode = |report: &[u8]| BadRows::decode(self.plan, self.index_kind, report);
        match self.mapping.read(wait, decode).await?? {
            Some(bad_rows) => Err(RunError::BadIndex(bad_rows.first).into()),
            None => Ok(()),
        }
    }
}

impl<T: GatherElement> Job<'_, T> {
    pub(super) fn plan(&self) -> Result<&GatherPlan, GpuError> {
        self.plan.as_deref().map_err(|error| error.clone().into())
    }

    /// Plans for an output that the gather makes, which has no gaps.
    pub(super) fn pack_output(&mut self) {
        let Ok(plan) = &self.plan else { return };
        if let Cow::Owned(plan) = plan.with_packed_output() {
            self.plan = Ok(Cow::Owned(plan));
        }
    }

    /// Gathers on the CPU, with the checks of a GPU.
    pub(super) fn run_on_cpu(&mut self) -> Result<Vec<T>, GpuError> {
        self.write_mask_on_cpu()?;
        let (params, indices, fill) = self.on_cpu()?;
        Ok(self.plan()?.run_with(params, indices, T::zeroed(), fill)?)
    }

    /// As [`run_on_cpu`](Self::run_on_cpu), but into `output`.
    pub(super) fn run_on_cpu_into(&mut self, output: &mut [T]) -> Result<(), GpuError> {
        self.write_mask_on_cpu()?;
        let (params, indices, fill) = self.on_cpu()?;
        let plan = self.plan()?;
        Ok(plan.run_into_with(params, indices, T::zeroed(), fill, output)?)
    }

    fn write_mask_on_cpu(&mut self) -> Result<(), GpuError> {
        let Some(mask) = self.mask.take() else {
            return Ok(());
        };
        let (params, indices, _) = self.on_cpu()?;
        let plan = self.plan()?;
        plan.check_lengths(params.len(), indices.len())?;
        write_on_cpu(plan, indices, mask)
    }

    fn on_cpu(&self) -> Result<(&[T], IndexValues<'_>, T), GpuError> {
        let params = self.params.on_cpu(Operand::Params)?;
        let indices = self.indices.on_cpu()?;
        if size_of::<T>() == 0 {
            return Err(GatherError::ZeroSizedElement.into());
        }
        let fill = match &self.fill {
            Some(fill) => fill.element()?,
            None => T::zeroed(),
        };
        Ok((params, indices, fill))
    }

    /// Checks owners and lengths. Returns the plan and the bytes of its operands.
    fn checked(&self, gpu: &Gpu) -> Result<(&GatherPlan, OperandBytes), GpuError> {
        self.params.on_gpu(Operand::Params, gpu)?;
        self.indices.on_gpu(gpu)?;
        self.mask_on(gpu)?;
        let plan = self.plan()?;
        let lens = (self.params.len(), self.indices.len);
        if !self.in_bytes {
            plan.check_lengths(lens.0, lens.1)?;
        }
        let bytes = self.types.operand_bytes(plan.dims())?;
        if self.in_bytes {
            bytes.check_lengths(lens.0, lens.1)?;
        }
        if let Some(mask) = &self.mask {
            check_mask(plan, mask)?;
        }
        if let Some(fill) = &self.fill {
            fill.pattern(self.types.element_bytes)?;
        }
        Ok((plan, bytes))
    }

    /// Submits the gather and starts to map the output, and the report if the policy needs one. Each has a buffer of
    /// its own, so that the output may be as large as a buffer. `None` if the output is empty.
    pub(super) fn start_to_host(&self, gpu: &Gpu) -> Result<Option<Started<'_>>, GpuError> {
        let (plan, bytes) = self.checked(gpu)?;
        if bytes.output == 0 {
            self.submit_mask(gpu, plan)?;
            return Ok(None);
        }
        let operands = self.operands(gpu)?;
        let size = range_bytes(bytes.output);
        let buffers = match gpu.take_host_buffers(size) {
            Some(buffers) => buffers,
            None => gpu.make_host_buffers(size)?,
        };
        let copy = |encoder: &mut wgpu::CommandEncoder| {
            encoder.copy_buffer_to_buffer(&buffers.output, 0, &buffers.readback, 0, size);
        };
        let (submission, report) = self.submit(gpu, plan, &operands, &buffers.output, copy)?;
        let readback = buffers.readback.clone();
        let output = Mapping::start(gpu.device(), readback, submission)?;
        Ok(Some(Started {
            bytes: bytes.output,
            buffers,
            output,
            report,
        }))
    }

    /// Submits the gather into a new tensor and, if there is a report, starts to map it.
    pub(super) fn start_to_tensor(
        &self,
        gpu: &Gpu,
    ) -> Result<(Tensor<T>, Option<Report<'_>>), GpuError> {
        let (plan, bytes) = self.checked(gpu)?;
        let operands = self.operands(gpu)?;
        let size = range_bytes(bytes.output).max(4);
        let buffer = gpu.make_buffer(Operand::Output, size, TENSOR, "wgpu-gather/output")?;
        let mut shape = plan.output_shape().to_vec();
        if self.in_bytes {
            shape.push(usize::try_from(self.types.element_bytes).expect("bytes of a buffer"));
        }
        let len = bytes.output / size_of::<T>() as u64;
        let len = usize::try_from(len).expect("a buffer's bytes are counted");
        let output = Tensor::on(gpu, buffer.clone(), len, shape);
        if bytes.output == 0 {
            self.submit_mask(gpu, plan)?;
            return Ok((output, None));
        }
        let (_, report) = self.submit(gpu, plan, &operands, &buffer, |_| {})?;
        Ok((output, report))
    }

    /// Submits the gather into the caller's tensor and, if there is a report, starts to map it.
    pub(super) fn start_into(
        &self,
        gpu: &Gpu,
        output: &Tensor<T>,
    ) -> Result<Option<Report<'_>>, GpuError> {
        let buffer = output.buffer_on(Operand::Output, gpu)?;
        let (plan, bytes) = self.checked(gpu)?;
        if self.in_bytes {
            bytes.check_output_length(output.len())?;
        } else {
            plan.check_output_length(output.len())?;
        }
        if bytes.output == 0 {
            self.submit_mask(gpu, plan)?;
            return Ok(None);
        }
        let (_, report) = self.submit(gpu, plan, &self.operands(gpu)?, buffer, |_| {})?;
        Ok(report)
    }

    /// Params and indices on the GPU.
    pub(super) fn operands(&self, gpu: &Gpu) -> Result<[Resident<'_>; 2], GpuError> {
        let params = match self.params.on_gpu(Operand::Params, gpu)? {
            OnGpu::Host(elements) => OnGpu::Host(bytemuck::cast_slice(elements)),
            OnGpu::Buffer(buffer) => OnGpu::Buffer(buffer),
        };
        Ok([
            Resident::new(gpu, Operand::Params, params)?,
            Resident::new(gpu, Operand::Indices, self.indices.on_gpu(gpu)?)?,
        ])
    }

    /// Submits the uploads of the operands, the gather into `output`, and the commands of `then`. Starts to map the
    /// report if the policy needs one.
    pub(super) fn submit<'a>(
        &self,
        gpu: &Gpu,
        plan: &'a GatherPlan,
        [params, indices]: &[Resident<'_>; 2],
        output: &wgpu::Buffer,
        then: impl FnOnce(&mut wgpu::CommandEncoder),
    ) -> Result<(wgpu::SubmissionIndex, Option<Report<'a>>), GpuError> {
        let mut buffers = GatherBuffers::new(self.types)
            .params(params.buffer().slice(..))
            .indices(indices.buffer().slice(..))
            .output(output.slice(..));
        buffers.fill = self.fill;
        let reports = plan.bad_indices() == BadIndices::Error;
        let report = reports.then(|| gpu.make_report()).transpose()?;
        if let Some((report, _)) = &report {
            buffers = buffers.report(report.slice(..));
        }
        if let Some(mask) = self.mask_on(gpu)? {
            buffers = buffers.mask(mask.slice(..));
        }
        let gather = gpu.gatherer().prepare(plan, &buffers)?;
        let submission = gpu.submit("wgpu-gather/gather", |encoder| {
            params.copy(encoder);
            indices.copy(encoder);
            gather.encode(encoder);
            if let Some((report, host)) = &report {
                encoder.copy_buffer_to_buffer(report, 0, host, 0, REPORT_BYTES);
            }
            then(encoder);
        })?;
        let read = |(_, host)| {
            let submission = submission.clone();
            let mapping = Mapping::start(gpu.device(), host, submission)?;
            Ok::<_, GpuError>(Report {
                plan,
                index_kind: self.types.index_kind,
                mapping,
            })
        };
        let report = report.map(read).transpose()?;
        Ok((submission, report))
    }
}

/// An operand on the GPU: the caller's tensor, or a copy of elements in host memory.
pub(super) enum Resident<'a> {
    Tensor(&'a wgpu::Buffer),
    Staged(Staged),
}

impl<'a> Resident<'a> {
    fn new(gpu: &Gpu, operand: Operand, place: OnGpu<'a, u8>) -> Result<Self, GpuError> {
        match place {
            OnGpu::Buffer(buffer) => Ok(Self::Tensor(buffer)),
            OnGpu::Host(bytes) => gpu.stage(operand, bytes).map(Self::Staged),
        }
    }

    fn buffer(&self) -> &wgpu::Buffer {
        match self {
            Self::Tensor(buffer) => buffer,
            Self::Staged(staged) => &staged.buffer,
        }
    }

    fn copy(&self, encoder: &mut wgpu::CommandEncoder) {
        if let Self::Staged(staged) = self {
            staged.copy(encoder);
        }
    }
}
