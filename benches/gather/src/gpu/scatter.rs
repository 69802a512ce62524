//! Times scatters, in microseconds: assigns and adds floats to rows that are selected once, or eight times on average.
//! Targets are compared with the CPU's before they are timed.

use serde_json::json;
use wgpu_gather::{
    Buffers, ElementTypes, Gather, GatherPlan, Gatherer, Reduce, ScatterRanges, With,
};

use super::figure::{Figure, time};
use super::{Bench, Place};

/// Rows of target and updates, and numbers per row.
const SHAPES: [(usize, usize); 2] = [(1 << 20, 16), (1 << 16, 1024)];

/// Floats from .5 to 1.
fn floats(count: usize) -> Vec<f32> {
    let float = |at: u32| f32::from_bits(0x3f00_0000 | (at.wrapping_mul(0x9e37_79b1) >> 9));
    (0..u32::try_from(count).expect("a table of a few GiB"))
        .map(float)
        .collect()
}

impl Bench<'_> {
    pub fn scatters(&mut self, place: &Place) -> Result<(), String> {
        for (rows, slice_len) in SHAPES {
            let rows = rows / self.options.scale;
            if self.is_time_left("scatters") {
                self.scatters_of(place, rows, slice_len)?;
            }
        }
        Ok(())
    }

    fn scatters_of(&mut self, place: &Place, rows: usize, slice_len: usize) -> Result<(), String> {
        let card = &place.card;
        let plan = Gather::new().plan(&[rows, slice_len], &[rows]);
        let plan = plan.map_err(|error| error.to_string())?;
        let numbers = floats(rows * slice_len);
        let bytes: &[u8] = bytemuck::cast_slice(&numbers);
        let [target, updates] = [(); 2].map(|()| card.storage(bytes.len() as u64));
        card.upload(&updates, 0, bytes);
        let gatherer = Gatherer::new(&card.device);
        let mut figures = Vec::new();
        for (name, kinds) in [("unique rows", rows), ("a mean of 8", rows / 8)] {
            // An odd factor: it selects every row if their number is a power of two.
            let index = |n: usize| u32::try_from(n * 0x9e3_7799 % kinds).expect("few rows");
            let values: Vec<u32> = (0..rows).map(index).collect();
            let indices = card.storage(4 * rows as u64);
            card.upload(&indices, 0, bytemuck::cast_slice(&values));
            let with = match kinds == rows {
                true => plan.unique(),
                false => With::from(&plan),
            };
            for reduce in [None, Some(Reduce::Add)] {
                let ranges = ScatterRanges {
                    target: target.slice(..),
                    indices: indices.slice(..),
                    updates: updates.slice(..),
                };
                let mut buffers = Buffers::scatter(ElementTypes::of::<f32, u32>(), ranges);
                if let Some(reduce) = reduce {
                    buffers = buffers.reduce::<f32>(reduce);
                }
                let prepared = gatherer.prepare(with, &buffers);
                let prepared = prepared.map_err(|error| error.to_string())?;
                card.upload(&target, 0, bytes);
                let mut encoder = card.encoder();
                prepared.encode(&mut encoder);
                card.submit_and_wait(encoder);
                let expected = on_cpu(&plan, reduce, &numbers, &values)?;
                let expected: &[u8] = bytemuck::cast_slice(&expected);
                let mut is_equal = true;
                card.download(&target, 0, bytes.len() as u64, |at, found| {
                    is_equal &= expected[at as usize..][..found.len()] == *found;
                });
                let update = reduce.map_or("assign".to_owned(), |reduce| reduce.to_string());
                let measure = format!("{update}, {name}");
                if !is_equal {
                    return Err(format!("{measure} of {plan}: not the CPU's"));
                }
                figures.push(Figure {
                    measure,
                    card,
                    record: Box::new(move |encoder, calls| {
                        (0..calls).for_each(|_| prepared.encode(encoder));
                    }),
                });
            }
        }
        let name = format!("[{rows}, {slice_len}]");
        for of in time(&figures, self.options.rounds) {
            println!("{name:<14}{:<22}{:>10.2} us", of.measure, of.median_us);
            self.line(json!({
                "workload": name, "set": "scatter", "measure": of.measure, "median_us": of.median_us,
                "min_us": of.min_us, "calls": of.calls, "adapter": self.adapter,
            }))?;
        }
        Ok(())
    }
}

fn on_cpu(
    plan: &GatherPlan,
    reduce: Option<Reduce>,
    numbers: &[f32],
    indices: &[u32],
) -> Result<Vec<f32>, String> {
    let mut target = numbers.to_vec();
    match reduce {
        None => plan.scatter(numbers, indices, &mut target),
        Some(reduce) => plan.scatter_reduce(reduce, numbers, indices, &mut target),
    }
    .map_err(|error| error.to_string())?;
    Ok(target)
}
