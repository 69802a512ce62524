//! Gathers from tables on the GPU, with outputs that come back to the host.

use super::context::Gpu;
use super::mapping::{Mapping, Wait};
use super::staging::HOST;
use super::table::{GpuTable, elements_of};
use crate::bad_indices::BadIndices;
use crate::element::{GatherElement, GatherIndex, IndexKind};
use crate::error::{GpuError, Operand, RunError};
use crate::gpu::buffers::GatherBuffers;
use crate::gpu::report::{BadRows, REPORT_BYTES};
use crate::gpu::scope::{scoped, scoped_start};
use crate::gpu::types::{ElementTypes, range_bytes};
use crate::plan::GatherPlan;

impl Gpu {
    /// Gathers from a table on the GPU and brings the output back.
    ///
    /// The first poll of the future submits the work. The future polls the device itself, and wakes itself until the
    /// output is there, so it keeps its executor busy; in a browser it does not. Dropping the future drops the output.
    ///
    /// # Errors
    ///
    /// - [`GpuError::OtherGpu`] for a table of another `Gpu`.
    /// - [`RunError::Length`] for an operand of the wrong length.
    /// - [`GpuError::BufferTooLarge`] for an operand larger than one buffer of the device.
    /// - [`GpuError::InvalidElement`] if an app wrote bytes into the table's buffer that are no `T`.
    /// - [`RunError::BadIndex`] for an index out of range, if the policy is [`BadIndices::Error`].
    /// - Errors of a device that is lost or out of memory.
    pub async fn gather<T, I>(
        &self,
        plan: &GatherPlan,
        table: &GpuTable<T>,
        indices: &[I],
    ) -> Result<Vec<T>, GpuError>
    where
        T: GatherElement,
        I: GatherIndex,
    {
        self.gathered(plan, table, indices, None, Wait::Poll).await
    }

    /// As [`gather`](Self::gather), but bad rows hold `fill` instead of zeros.
    ///
    /// # Errors
    ///
    /// The errors of [`gather`](Self::gather), and an error for elements too long for
    /// [`GatherBuffers::with_fill`](GatherBuffers::with_fill).
    pub async fn gather_filled<T, I>(
        &self,
        plan: &GatherPlan,
        table: &GpuTable<T>,
        indices: &[I],
        fill: T,
    ) -> Result<Vec<T>, GpuError>
    where
        T: GatherElement,
        I: GatherIndex,
    {
        self.gathered(plan, table, indices, Some(fill), Wait::Poll)
            .await
    }

    /// As [`gather`](Self::gather), but waits on this thread.
    ///
    /// # Errors
    ///
    /// The errors of [`gather`](Self::gather).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn gather_blocking<T, I>(
        &self,
        plan: &GatherPlan,
        table: &GpuTable<T>,
        indices: &[I],
    ) -> Result<Vec<T>, GpuError>
    where
        T: GatherElement,
        I: GatherIndex,
    {
        pollster::block_on(self.gathered(plan, table, indices, None, Wait::Block))
    }

    /// As [`gather_filled`](Self::gather_filled), but waits on this thread.
    ///
    /// # Errors
    ///
    /// The errors of [`gather_filled`](Self::gather_filled).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn gather_filled_blocking<T, I>(
        &self,
        plan: &GatherPlan,
        table: &GpuTable<T>,
        indices: &[I],
        fill: T,
    ) -> Result<Vec<T>, GpuError>
    where
        T: GatherElement,
        I: GatherIndex,
    {
        pollster::block_on(self.gathered(plan, table, indices, Some(fill), Wait::Block))
    }

    pub(super) async fn gathered<T, I>(
        &self,
        plan: &GatherPlan,
        table: &GpuTable<T>,
        indices: &[I],
        fill: Option<T>,
        wait: Wait,
    ) -> Result<Vec<T>, GpuError>
    where
        T: GatherElement,
        I: GatherIndex,
    {
        let start = || self.start(plan, table, indices, fill);
        let Some((output, report)) = scoped_start(&self.device, start).await? else {
            return Ok(Vec::new());
        };
        if let Some(report) = report {
            let check = |bytes: &[u8]| check_report(plan, I::KIND, bytes);
            report.read(wait, check).await??;
        }
        output.read(wait, |bytes| output_of(plan, bytes)).await?
    }

    /// Submits the gather and starts to map the output, and the report if the policy needs one. Each has a buffer of
    /// its own, so that the output may be as large as a buffer. `None` if the output is empty.
    fn start<T, I>(
        &self,
        plan: &GatherPlan,
        table: &GpuTable<T>,
        indices: &[I],
        fill: Option<T>,
    ) -> Result<Option<(Mapping, Option<Mapping>)>, GpuError>
    where
        T: GatherElement,
        I: GatherIndex,
    {
        let dims = plan.dims();
        self.check_owner(Operand::Params, table)?;
        plan.check_lengths(table.len(), indices.len())?;
        let bytes = ElementTypes::of::<T, I>().operand_bytes(dims)?;
        if bytes.output == 0 {
            return Ok(None);
        }
        let output_bytes = range_bytes(bytes.output);

        let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let indices = self.stage(Operand::Indices, I::bytes(indices))?;
        let output =
            self.make_buffer(Operand::Output, output_bytes, storage, "wgpu-gather/output")?;
        let output_host =
            self.make_buffer(Operand::Output, output_bytes, HOST, "wgpu-gather/readback")?;
        let mut buffers = GatherBuffers::new::<T, I>(
            table.buffer().slice(..),
            indices.buffer.slice(..),
            output.slice(..),
        );
        if let Some(fill) = fill {
            buffers = buffers.with_fill(fill);
        }
        let report = match plan.bad_indices() {
            BadIndices::Error => Some(self.make_report()?),
            BadIndices::DeviceDefault | BadIndices::Zero | BadIndices::Clamp => None,
        };
        if let Some((report, _)) = &report {
            buffers = buffers.with_report(report.slice(..));
        }

        let descriptor = wgpu::CommandEncoderDescriptor {
            label: Some("wgpu-gather/gather"),
        };
        let mut encoder = scoped(&self.device, || {
            let mut encoder = self.device.create_command_encoder(&descriptor);
            indices.copy(&mut encoder);
            encoder
        })?;
        self.gatherer.encode(&mut encoder, plan, &buffers)?;
        let submission = scoped(&self.device, || {
            encoder.copy_buffer_to_buffer(&output, 0, &output_host, 0, output_bytes);
            if let Some((report, host)) = &report {
                encoder.copy_buffer_to_buffer(report, 0, host, 0, REPORT_BYTES);
            }
            self.queue.submit([encoder.finish()])
        })?;
        let read =
            |host| Mapping::start(&self.device, host, wgpu::MapMode::Read, submission.clone());
        let report = report.map(|(_, host)| read(host)).transpose()?;
        Ok(Some((read(output_host)?, report)))
    }
}

/// Returns the error of a report that names a bad row.
pub(super) fn check_report(
    plan: &GatherPlan,
    index_kind: IndexKind,
    report: &[u8],
) -> Result<(), GpuError> {
    match BadRows::decode(plan, index_kind, report)? {
        Some(bad_rows) => Err(RunError::BadIndex(bad_rows.first).into()),
        None => Ok(()),
    }
}

/// The output's elements, from all bytes of its buffer.
fn output_of<T: GatherElement>(plan: &GatherPlan, bytes: &[u8]) -> Result<Vec<T>, GpuError> {
    let output_len =
        usize::try_from(plan.dims().output_len()).expect("a mapped output is in memory");
    elements_of(&bytes[..output_len * size_of::<T>()])
}
