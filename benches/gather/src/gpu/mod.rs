//! Times the GPU path with operands on the device, end to end, in small calls and in windows, beside copies of the
//! output's bytes and naive kernels on the same device.

pub mod checks;
mod copy;
mod device;
pub mod first;
pub mod naive;
mod operands;
mod small;
mod windows;

use std::time::Duration;

use wgpu_gather::{
    BadIndices, BadRows, GatherBuffers, GatherElement, GatherIndex, GatherPlan, Gpu, wgpu,
};

use crate::data::{Data, Number};
use crate::timing::{Figure, Timed, time, took};
use checks::Checks;
use device::{Stamps, buffer, device_of, time_recorded};
use naive::Naive;
use operands::Operands;

pub const DEVICE: &str = "gpu";

/// Small calls are measured too if the output has fewer bytes than this.
const SMALL_BYTES: u64 = 1 << 20;

/// Params of more bytes than this are not timed end to end: nearly all of the time is their upload.
const END_TO_END_BYTES: u64 = 1 << 29;

/// An adapter with its device, copy shaders and clock.
pub struct Bench {
    adapter: wgpu::Adapter,
    gpu: Gpu,
    shaders: copy::Shaders,
    stamps: Option<Stamps>,
}

impl Bench {
    /// Opens the adapter that the environment names.
    pub fn new() -> Result<Self, String> {
        let adapter = device::adapter()?;
        let gpu = device_of(&adapter, adapter.limits())?;
        Ok(Self {
            adapter,
            shaders: copy::Shaders::new(gpu.device()),
            stamps: Stamps::new(gpu.device()),
            gpu,
        })
    }

    pub fn adapter(&self) -> String {
        let clock = match self.stamps {
            Some(_) => "timestamps",
            None => "submit and wait",
        };
        let robust = match checks::has_robustness2(self.gpu.device()) {
            true => ", with robustBufferAccess2",
            false => "",
        };
        format!("{}{robust}, timed by {clock}", self.gpu)
    }

    pub fn checks(&self) -> Result<Checks, String> {
        Checks::new(&self.adapter)
    }

    /// Times a workload, without the naive kernels that cannot run, and without the time end to end of large params.
    pub fn measure<T, I>(&self, data: &Data<T, I>, rounds: usize) -> Result<Vec<Timed>, String>
    where
        T: Number + GatherElement,
        I: Number + GatherIndex,
    {
        let (gpu, device) = (&self.gpu, self.gpu.device());
        let plan = data.workload.plan(BadIndices::DeviceDefault);
        let expected = plan.run(&data.params, &data.indices).expect("in range");
        let on_gpu = Operands::new(gpu, data, &plan)?;
        let whole = on_gpu.buffers();
        let bytes = on_gpu.output().size();
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_DST
            | wgpu::BufferUsages::COPY_SRC;
        let copied = buffer(device, bytes, usage);
        let vec4_copy = self.shaders.copy(device, on_gpu.output(), &copied);
        let reporting = data.workload.plan(BadIndices::Error);
        let report_bytes = usize::try_from(BadRows::REPORT_BYTES).expect("a few bytes");
        let report = gpu.zeros::<u8>(&[report_bytes]);
        let report = report.map_err(|error| error.to_string())?;
        let with_report = whole.report(operands::on_gpu(&report).slice(..));
        let naive = Naive::all(device, &data.workload, on_gpu.naive_buffers());

        let encode =
            |encoder: &mut wgpu::CommandEncoder, plan: &GatherPlan, buffers: &GatherBuffers<'_>| {
                let encoded = gpu.gatherer().encode(encoder, plan, buffers);
                encoded.expect("valid operands");
            };
        let check_resident =
            || on_gpu.check(gpu, "resident", &expected, |e| encode(e, &plan, &whole));
        check_resident()?;
        for (name, kernel) in &naive {
            on_gpu.check(gpu, name, &expected, |encoder| kernel.record(encoder))?;
        }
        let end_to_end = gpu.gather(&plan, &on_gpu.table, &data.indices).wait();
        if end_to_end.map_err(|error| error.to_string())? != expected {
            return Err("end_to_end: the output differs from the CPU's".into());
        }

        let prepared = gpu.gatherer().prepare(&plan, &whole);
        let prepared = prepared.map_err(|error| error.to_string())?;
        let mut figures = vec![
            self.recorded("copy", |encoder| {
                encoder.copy_buffer_to_buffer(on_gpu.output(), 0, &copied, 0, bytes);
            }),
            self.recorded("vec4_copy", |encoder| vec4_copy.record(encoder)),
            self.recorded("resident", |encoder| encode(encoder, &plan, &whole)),
        ];
        for (name, kernel) in &naive {
            figures.push(self.recorded(name, |encoder| kernel.record(encoder)));
        }
        figures.push(self.recorded("bad_indices_error", |encoder| {
            encode(encoder, &reporting, &with_report);
        }));
        if bytes < SMALL_BYTES {
            figures.extend(self.small_calls(&plan, &whole, &prepared, &vec4_copy));
        }
        let mut timed = time(figures, rounds);
        if operands::on_gpu(&on_gpu.table).size() <= END_TO_END_BYTES {
            // Timed apart: it fills caches that the figures above do not use.
            timed.extend(time(vec![self.end_to_end(data, &plan)], rounds));
        }
        check_resident()?;
        Ok(timed)
    }

    /// The upload of the operands, the gather and the download of its output.
    fn end_to_end<'a, T, I>(&'a self, data: &'a Data<T, I>, plan: &'a GatherPlan) -> Figure<'a>
    where
        T: Number + GatherElement,
        I: Number + GatherIndex,
    {
        let gather = move || {
            let table = self.gpu.upload(&data.params, plan.params_shape());
            let table = table.expect("it fits");
            let output = self.gpu.gather(plan, &table, &data.indices).wait();
            drop(output.expect("it fits"));
        };
        figure("end_to_end", Box::new(move || took(gather)))
    }

    /// The time on the device of the commands that `record` records.
    fn recorded<'a>(
        &'a self,
        measure: &'static str,
        record: impl Fn(&mut wgpu::CommandEncoder) + 'a,
    ) -> Figure<'a> {
        figure(measure, Box::new(move || self.time(&record)))
    }

    fn time(&self, record: impl FnOnce(&mut wgpu::CommandEncoder)) -> Duration {
        time_recorded(&self.gpu, self.stamps.as_ref(), record)
    }
}

fn figure<'a>(measure: &'static str, sample: Box<dyn FnMut() -> Duration + 'a>) -> Figure<'a> {
    Figure {
        device: DEVICE,
        threads: 0,
        measure,
        calls: 1,
        sample,
    }
}
