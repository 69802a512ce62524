//! Times one small call: by itself, among many in one submission, and its recording on the host.

use wgpu_gather::{GatherBuffers, GatherPlan, PreparedGather, wgpu};

use super::copy::Copy;
use super::device::{new_encoder, submit_and_wait};
use super::{Bench, figure};
use crate::timing::{Figure, took};

/// Calls in one submission.
const RECORDED: u32 = 50;

impl Bench {
    pub fn small_calls<'a>(
        &'a self,
        plan: &'a GatherPlan,
        buffers: &'a GatherBuffers<'a>,
        prepared: &'a PreparedGather,
        vec4_copy: &'a Copy<'a>,
    ) -> Vec<Figure<'a>> {
        let gatherer = self.gpu.gatherer();
        let encode = move |encoder: &mut wgpu::CommandEncoder| {
            let encoded = gatherer.encode(encoder, plan, buffers);
            encoded.expect("checked before");
        };
        let one_call = Box::new(move || {
            took(|| {
                let mut encoder = new_encoder(&self.gpu);
                encode(&mut encoder);
                submit_and_wait(&self.gpu, encoder);
            })
        });
        let on_device = [
            self.recorded("recorded_50", |encoder| {
                (0..RECORDED).for_each(|_| prepared.encode(encoder));
            }),
            self.recorded("in_pass_50", |encoder| {
                let mut pass = encoder.begin_compute_pass(&Default::default());
                (0..RECORDED).for_each(|_| prepared.encode_in_pass(&mut pass));
            }),
            self.recorded("vec4_copy_50", |encoder| {
                (0..RECORDED).for_each(|_| vec4_copy.record(encoder));
            }),
            self.recorded("empty_50", |encoder| {
                (0..RECORDED).for_each(|_| {
                    let mut pass = encoder.begin_compute_pass(&Default::default());
                    self.shaders.record_nothing(&mut pass);
                });
            }),
            self.recorded("empty_in_pass_50", |encoder| {
                let mut pass = encoder.begin_compute_pass(&Default::default());
                (0..RECORDED).for_each(|_| self.shaders.record_nothing(&mut pass));
            }),
        ];
        // `record` checks the operands and makes GPU objects; `replay` uses a prepared gather.
        let on_host = [
            self.on_host("record", encode),
            self.on_host("replay", |encoder| prepared.encode(encoder)),
        ];
        let of_many = on_device.into_iter().chain(on_host).map(|figure| Figure {
            calls: RECORDED,
            ..figure
        });
        [figure("one_call", one_call)]
            .into_iter()
            .chain(of_many)
            .collect()
    }

    fn on_host<'a>(
        &'a self,
        measure: &'static str,
        record: impl Fn(&mut wgpu::CommandEncoder) + 'a,
    ) -> Figure<'a> {
        let sample = move || {
            let mut encoder = new_encoder(&self.gpu);
            took(|| (0..RECORDED).for_each(|_| record(&mut encoder)))
        };
        figure(measure, Box::new(sample))
    }
}
