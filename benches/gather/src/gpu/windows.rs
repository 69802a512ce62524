//! Times a gather in several windows, beside the gather in one dispatch.

use std::time::Duration;

use wgpu_gather::{BadIndices, GatherBuffers, GatherElement, GatherIndex, GatherPlan, Gpu, wgpu};

use super::device::{device_of, new_encoder, submit_and_wait};
use super::operands::{self, Operands};
use super::{Bench, figure};
use crate::data::{Data, Number};
use crate::timing::{Timed, time, took};

impl Bench {
    /// Times one gather with params in 1, 2 and 8 buffer ranges, and on devices that bind only a half and an eighth of
    /// params at once. The smaller bindings cut the output too.
    pub fn measure_windows<T, I>(
        &self,
        data: &Data<T, I>,
        rounds: usize,
    ) -> Result<Vec<Timed>, String>
    where
        T: Number + GatherElement,
        I: Number + GatherIndex,
    {
        let plan = data.workload.plan(BadIndices::DeviceDefault);
        let expected = plan.run(&data.params, &data.indices).expect("in range");
        let on_gpu = Operands::new(&self.gpu, data, &plan)?;
        let params_bytes = operands::on_gpu(&on_gpu.table).size();
        let rows = data.workload.params_rows() as u64;
        let shards = [1, 2, 8].map(|count| {
            let shard = |number| {
                let bytes = params_bytes / count;
                let range = bytes * number..bytes * (number + 1);
                (rows / count, operands::on_gpu(&on_gpu.table).slice(range))
            };
            (0..count).map(shard).collect::<Vec<_>>()
        });
        let lowered = [2, 8].map(|count| {
            let limits = wgpu::Limits {
                max_storage_buffer_binding_size: params_bytes / count,
                ..self.adapter.limits()
            };
            let gpu = device_of(&self.adapter, limits)?;
            let operands = Operands::new(&gpu, data, &plan)?;
            Ok::<_, String>((gpu, operands))
        });
        let [half, eighth] = lowered;
        let (half, eighth) = (half?, eighth?);

        let whole = on_gpu.buffers();
        let [one, two, eight] = shards.each_ref().map(|shards| whole.params_shards(shards));
        let cases = [
            ("uncut", &self.gpu, &on_gpu, one),
            ("params_in_2", &self.gpu, &on_gpu, two),
            ("params_in_8", &self.gpu, &on_gpu, eight),
            ("bindings_of_half", &half.0, &half.1, half.1.buffers()),
            (
                "bindings_of_eighth",
                &eighth.0,
                &eighth.1,
                eighth.1.buffers(),
            ),
        ];
        for (measure, gpu, operands, buffers) in &cases {
            operands.check(gpu, measure, &expected, |encoder| {
                encode(gpu, encoder, &plan, buffers);
            })?;
        }
        let figures = cases.iter().map(|(measure, gpu, _, buffers)| {
            figure(measure, Box::new(|| time_gather(gpu, &plan, buffers)))
        });
        Ok(time(figures.collect(), rounds))
    }
}

fn encode(
    gpu: &Gpu,
    encoder: &mut wgpu::CommandEncoder,
    plan: &GatherPlan,
    buffers: &GatherBuffers<'_>,
) {
    let encoded = gpu.gatherer().encode(encoder, plan, buffers);
    encoded.expect("valid operands");
}

fn time_gather(gpu: &Gpu, plan: &GatherPlan, buffers: &GatherBuffers<'_>) -> Duration {
    let mut encoder = new_encoder(gpu);
    encode(gpu, &mut encoder, plan, buffers);
    took(|| submit_and_wait(gpu, encoder))
}
