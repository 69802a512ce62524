//! Times a small call, in microseconds: submitted and waited for, then only recorded on the host.

use std::time::Duration;

use serde_json::json;
use testkit::bench::timing::in_turn;
use testkit::bench::workloads::{Workload, usual};
use testkit::gpu::buffers_of;
use wgpu_gather::{BadIndices, Gatherer};

use super::gather::random_indices;
use super::{Bench, Place};
use crate::timing::took;

/// The timed workload: 64 rows of 256 bytes.
const NAME: &str = "W10";

/// Calls recorded into one encoder.
const RECORDED: u32 = 50;

impl Bench<'_> {
    pub fn small_calls(&mut self, place: &Place) -> Result<(), String> {
        let all = usual();
        let workload = all.iter().find(|of| of.name == NAME);
        let workload: &Workload = workload.expect("a usual workload");
        let card = &place.card;
        let plan = workload.plan(BadIndices::Fill);
        let values = plan.indices_len();
        let made = random_indices(values, workload.indexed_dims(), workload.index.bytes(), 1);
        let indices = card.storage(made.len() as u64);
        card.upload(&indices, 0, &made);
        let output = card.storage(4 * plan.output_len() as u64);
        let buffers = buffers_of(
            workload.types(),
            [
                place.plain.slice(..workload.params_bytes()),
                indices.slice(..),
                output.slice(..),
            ],
        );
        let gatherer = Gatherer::new(&card.device);
        let prepared = gatherer.prepare(&plan, &buffers);
        let prepared = prepared.map_err(|error| error.to_string())?;

        let one_call = || {
            took(|| {
                let mut encoder = card.encoder();
                prepared.encode(&mut encoder);
                card.submit_and_wait(encoder);
            })
        };
        let encode = || {
            let mut encoder = card.encoder();
            let all = took(|| {
                for _ in 0..RECORDED {
                    let encoded = gatherer.encode(&mut encoder, &plan, &buffers);
                    encoded.expect("checked before");
                }
            });
            card.submit_and_wait(encoder);
            all / RECORDED
        };
        let replay = || {
            let mut encoder = card.encoder();
            let all = took(|| (0..RECORDED).for_each(|_| prepared.encode(&mut encoder)));
            card.submit_and_wait(encoder);
            all / RECORDED
        };
        let names = ["one_call", "encode on the host", "replay on the host"];
        let mut figures: [Box<dyn FnMut() -> Duration>; 3] =
            [Box::new(one_call), Box::new(encode), Box::new(replay)];
        let times = in_turn(&mut figures, self.options.rounds);
        for (measure, times) in names.into_iter().zip(times) {
            let [median_us, min_us] = [times.median, times.min].map(|of| of.as_secs_f64() * 1e6);
            println!("{NAME:<9}{measure:<26}{median_us:>10.2} us");
            self.line(json!({
                "workload": NAME, "set": "calls", "measure": measure, "median_us": median_us,
                "min_us": min_us, "adapter": self.adapter,
            }))?;
        }
        Ok(())
    }
}
