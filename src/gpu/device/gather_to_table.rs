//! Gathers whose operands and output are all on the GPU.

use super::context::Gpu;
use super::gather_to_host::check_report;
use super::mapping::{Mapping, Wait};
use super::staging::TABLE;
use super::table::GpuTable;
use crate::bad_indices::BadIndices;
use crate::element::{GatherElement, GatherIndex};
use crate::error::{GpuError, Operand};
use crate::gpu::buffers::GatherBuffers;
use crate::gpu::report::REPORT_BYTES;
use crate::gpu::scope::{scoped, scoped_start};
use crate::gpu::types::{ElementTypes, range_bytes};
use crate::plan::GatherPlan;

impl Gpu {
    /// Gathers by indices on the GPU from a table on the GPU, into a new table of the plan's output shape. The next
    /// gather may take the new table as params or as indices.
    ///
    /// The future submits the work. It waits only for the report, which the policy [`BadIndices::Error`] needs.
    ///
    /// # Errors
    ///
    /// The errors of [`gather`](Self::gather).
    ///
    /// ```no_run
    #[doc = include_str!("../../../tests/doc_examples/chain.rs")]
    /// ```
    pub async fn gather_to_table<T, I>(
        &self,
        plan: &GatherPlan,
        table: &GpuTable<T>,
        indices: &GpuTable<I>,
    ) -> Result<GpuTable<T>, GpuError>
    where
        T: GatherElement,
        I: GatherIndex,
    {
        self.gathered_to_table(plan, table, indices, Wait::Poll)
            .await
    }

    /// As [`gather_to_table`](Self::gather_to_table), but waits for a report on this thread.
    ///
    /// # Errors
    ///
    /// The errors of [`gather`](Self::gather).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn gather_to_table_blocking<T, I>(
        &self,
        plan: &GatherPlan,
        table: &GpuTable<T>,
        indices: &GpuTable<I>,
    ) -> Result<GpuTable<T>, GpuError>
    where
        T: GatherElement,
        I: GatherIndex,
    {
        pollster::block_on(self.gathered_to_table(plan, table, indices, Wait::Block))
    }

    async fn gathered_to_table<T, I>(
        &self,
        plan: &GatherPlan,
        table: &GpuTable<T>,
        indices: &GpuTable<I>,
        wait: Wait,
    ) -> Result<GpuTable<T>, GpuError>
    where
        T: GatherElement,
        I: GatherIndex,
    {
        let start = || self.start_to_table(plan, table, indices);
        let (output, report) = scoped_start(&self.device, start).await?;
        if let Some(report) = report {
            let check = |bytes: &[u8]| check_report(plan, I::KIND, bytes);
            report.read(wait, check).await??;
        }
        Ok(output)
    }

    /// Submits the gather and, if there is a report, starts to map it.
    fn start_to_table<T, I>(
        &self,
        plan: &GatherPlan,
        table: &GpuTable<T>,
        indices: &GpuTable<I>,
    ) -> Result<(GpuTable<T>, Option<Mapping>), GpuError>
    where
        T: GatherElement,
        I: GatherIndex,
    {
        self.check_owner(Operand::Params, table)?;
        self.check_owner(Operand::Indices, indices)?;
        plan.check_lengths(table.len(), indices.len())?;
        let bytes = ElementTypes::of::<T, I>().operand_bytes(plan.dims())?;
        let size = range_bytes(bytes.output).max(4);
        let buffer = self.make_buffer(Operand::Output, size, TABLE, "wgpu-gather/output")?;
        let len = usize::try_from(plan.dims().output_len()).expect("a buffer's bytes are counted");
        let output = GpuTable::of(Some(self.owner), buffer, len, plan.output_shape().to_vec());
        if bytes.output == 0 {
            return Ok((output, None));
        }
        let mut buffers = GatherBuffers::new::<T, I>(
            table.buffer().slice(..),
            indices.buffer().slice(..),
            output.buffer().slice(..),
        );
        let report = match plan.bad_indices() {
            BadIndices::Error => Some(self.make_report()?),
            BadIndices::DeviceDefault | BadIndices::Zero | BadIndices::Clamp => None,
        };
        if let Some((report, _)) = &report {
            buffers = buffers.with_report(report.slice(..));
        }
        let gather = self.gatherer.prepare(plan, &buffers)?;
        let descriptor = wgpu::CommandEncoderDescriptor {
            label: Some("wgpu-gather/gather"),
        };
        let submission = scoped(&self.device, || {
            let mut encoder = self.device.create_command_encoder(&descriptor);
            gather.encode(&mut encoder);
            if let Some((report, host)) = &report {
                encoder.copy_buffer_to_buffer(report, 0, host, 0, REPORT_BYTES);
            }
            self.queue.submit([encoder.finish()])
        })?;
        let read = |(_, host)| Mapping::start(&self.device, host, wgpu::MapMode::Read, submission);
        Ok((output, report.map(read).transpose()?))
    }
}
