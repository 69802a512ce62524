//! Gathers that are recorded as an app records them: plan, record if there is a plan, submit. Output and report hold
//! canaries before the gather, so that unwritten bytes and overwritten bytes show. An error that only wgpu notices
//! panics in wgpu's default handler and fails the trial.

use wgpu_gather::{
    BadIndices, BadRows, ElementTypes, GatherBuffers, GatherPlan, GpuError, PlanError, Ranges,
};

use super::executor::Device;
use super::line::{self, Line, Output};
use super::{same, same_bytes};
use crate::gpu::Gpu;
use crate::samples::index_bytes;
use crate::waits;

const CANARY: u8 = 0xA5;

/// Bytes after the output in its buffer, which the gather must not change.
const SPARE_BYTES: usize = 16;

struct Recorded {
    attempt: Result<GatherPlan, PlanError>,
    output: Vec<u8>,
    report: Vec<u8>,
}

/// Records a gather under policy Error: the output must hold zeros for bad rows, and the report must hold their number
/// and the bad row that the CPU's error names.
pub async fn check_gather(
    gpu: &Gpu,
    line: &Line,
    output: &Output,
    bad: Option<&line::BadRows>,
) -> Result<(), String> {
    let output = &output.data;
    let recorded = record(gpu, line, output.len()).await?;
    let plan = recorded.attempt.map_err(|error| error.to_string())?;
    let (found, spare) = recorded.output.split_at(output.len());
    same_bytes("output recorded", found, output)?;
    same_bytes("output buffer after it", spare, &vec![CANARY; spare.len()])?;

    let report = BadRows::from_report(&plan, line.index_kind, &recorded.report)
        .map_err(|error| error.to_string())?;
    let (count, first) = report.map_or((0, None), |report| (report.count, Some(report.first)));
    let bad_row_count = bad.map_or(0, |bad| bad.rows.len());
    same("count of bad rows", &count, &(bad_row_count as u64))?;
    let cpu = Device::Cpu
        .run(&plan, &line.params, line.index_kind, &line.case.indices)
        .await?;
    same("bad row of the report", &first, &cpu.err())
}

/// Checks that a line without a plan records nothing and leaves the buffers unchanged.
pub async fn check_nothing_recorded(gpu: &Gpu, line: &Line) -> Result<(), String> {
    let recorded = record(gpu, line, 0).await?;
    if let Ok(plan) = recorded.attempt {
        return Err(format!("recorded {plan}"));
    }
    for (what, bytes) in [("output", recorded.output), ("report", recorded.report)] {
        same_bytes(
            &format!("{what} of no gather"),
            &bytes,
            &vec![CANARY; bytes.len()],
        )?;
    }
    Ok(())
}

async fn record(gpu: &Gpu, line: &Line, output_bytes: usize) -> Result<Recorded, String> {
    let text = |error: GpuError| error.to_string();
    let upload = |bytes: &[u8]| gpu.upload(bytes, &[bytes.len()]).map_err(text);
    let params = upload(&line.params.bytes)?;
    let indices = upload(&index_bytes(line.index_kind, &line.case.indices))?;
    let output_buffer_bytes = output_bytes.next_multiple_of(4) + SPARE_BYTES;
    let output = upload(&vec![CANARY; output_buffer_bytes])?;
    let report_bytes = usize::try_from(BadRows::REPORT_BYTES).expect("a report is small");
    let report = upload(&vec![CANARY; report_bytes])?;
    let buffers = GatherBuffers::new(
        ElementTypes::new(line.params.element_bytes as u64, line.index_kind),
        Ranges {
            params: params.buffer().unwrap().slice(..),
            indices: indices.buffer().unwrap().slice(..),
            output: output.buffer().unwrap().slice(..),
        },
    )
    .report(report.buffer().unwrap().slice(..));

    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    let attempt = line.case.plan(BadIndices::Error);
    if let Ok(plan) = &attempt {
        gpu.gatherer()
            .encode(&mut encoder, plan, &buffers)
            .map_err(|error| error.to_string())?;
    }
    gpu.queue().submit([encoder.finish()]);
    Ok(Recorded {
        attempt,
        output: waits::download(&output).await.map_err(text)?,
        report: waits::download(&report).await.map_err(text)?,
    })
}
