//! Times scatters, in microseconds: assigns and adds floats to rows. Targets are compared with the CPU's before they are timed.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write;

use serde_json::json;
use testkit::bench::workloads::Random;
use wgpu_gather::{
    Buffers, ElementTypes, Gather, GatherPlan, Gatherer, Reduce, ScatterRanges, With,
};

use super::figure::{Figure, time};
use super::{Bench, Place};

/// Updates of the rows of a target.
struct Scatter {
    name: &'static str,
    rows: usize,
    slice_len: usize,
    updates: usize,
    select: Select,
}

/// The rows that are selected.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Select {
    /// Each row once, in no order.
    Unique,
    Random,
    /// Half of the updates are of row 0.
    HalfOne,
    /// In the order of the rows.
    Sorted,
}

const SCATTERS: [Scatter; 8] = {
    use Select::{HalfOne, Random, Sorted, Unique};
    const fn of(
        name: &'static str,
        select: Select,
        rows: usize,
        slice_len: usize,
        updates: usize,
    ) -> Scatter {
        Scatter {
            name,
            rows,
            slice_len,
            updates,
            select,
        }
    }
    [
        of("A64", Unique, 1 << 20, 16, 1 << 20),
        of("A4096", Unique, 1 << 16, 1024, 1 << 16),
        of("M64", Random, 1 << 17, 16, 1 << 20),
        of("M4096", Random, 1 << 13, 1024, 1 << 16),
        // Shapes from reports to PyTorch of slow sums.
        of("T512", Random, 1 << 22, 128, 1 << 22),
        of("T500k", Random, 100_000, 128, 500_000),
        of("Thalf", HalfOne, 1_700_000, 16, 7_800_000),
        of("Tsegments", Sorted, 1_000, 1024, 12_123),
    ]
};

impl Scatter {
    /// Its sizes, divided.
    fn scaled(&self, scale: usize) -> Self {
        Self {
            rows: (self.rows / scale).max(8),
            updates: (self.updates / scale).max(8),
            ..*self
        }
    }

    fn indices(&self) -> Vec<u32> {
        let rows = u32::try_from(self.rows).expect("few rows");
        let mut random = Random::new();
        if self.select == Select::Unique {
            let mut values: Vec<u32> = (0..rows).collect();
            for left in (1..rows).rev() {
                values.swap(left as usize, random.below(left + 1) as usize);
            }
            return values;
        }
        let index = |n: usize| match self.select {
            Select::Sorted => (n * self.rows / self.updates) as u32,
            Select::HalfOne if n.is_multiple_of(2) => 0,
            _ => random.below(rows),
        };
        (0..self.updates).map(index).collect()
    }

    /// The least bytes that it moves: indices, updates, and each selected row once or, for a sum, twice.
    fn moved_bytes(&self, reduce: Option<Reduce>, indices: &[u32]) -> usize {
        let row = 4 * self.slice_len;
        let rows = indices.iter().collect::<HashSet<_>>().len();
        let ways = if reduce.is_some() { 2 } else { 1 };
        // An assign reads only the updates that stay.
        let read = if reduce.is_some() {
            indices.len()
        } else {
            rows
        };
        4 * indices.len() + read * row + ways * rows * row
    }
}

/// Whole numbers, so that sums of them are exact in any order.
fn floats(count: usize) -> Vec<f32> {
    let float = |at: u32| (at.wrapping_mul(0x9e37_79b1) >> 30) as f32;
    (0..u32::try_from(count).expect("a table of a few GiB"))
        .map(float)
        .collect()
}

/// Writes the scatters as JSON lines, for the other libraries.
pub fn list(scale: usize, file: &mut File) -> Result<(), String> {
    for of in SCATTERS.map(|of| of.scaled(scale)) {
        let line = json!({
            "name": of.name, "op": "scatter", "rows": of.rows, "slice_len": of.slice_len, "updates": of.updates,
            "select": format!("{:?}", of.select),
        });
        writeln!(file, "{line}").map_err(|error| error.to_string())?;
    }
    Ok(())
}

impl Bench<'_> {
    pub fn scatters(&mut self, place: &Place) -> Result<(), String> {
        for scatter in &SCATTERS {
            if self.is_time_left(scatter.name) {
                self.scatter(place, &scatter.scaled(self.options.scale))?;
            }
        }
        Ok(())
    }

    fn scatter(&mut self, place: &Place, of: &Scatter) -> Result<(), String> {
        let card = &place.card;
        let plan = Gather::new().plan(&[of.rows, of.slice_len], &[of.updates]);
        let plan = plan.map_err(|error| error.to_string())?;
        let numbers = floats(of.rows.max(of.updates) * of.slice_len);
        let (start, added) = (
            &numbers[..of.rows * of.slice_len],
            &numbers[..of.updates * of.slice_len],
        );
        let upload = |bytes: &[u8]| {
            let buffer = card.storage(bytes.len() as u64);
            card.upload(&buffer, 0, bytes);
            buffer
        };
        let values = of.indices();
        let (indices, updates) = (
            upload(bytemuck::cast_slice(&values)),
            upload(bytemuck::cast_slice(added)),
        );
        let target = card.storage(size_of_val(start) as u64);
        let gatherer = Gatherer::new(&card.device);
        let with = match of.select {
            Select::Unique => plan.unique(),
            _ => With::from(&plan),
        };
        let (mut figures, mut moved) = (Vec::new(), Vec::new());
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
            card.upload(&target, 0, bytemuck::cast_slice(start));
            let mut encoder = card.encoder();
            prepared.encode(&mut encoder);
            card.submit_and_wait(encoder);
            let expected = on_cpu(&plan, reduce, start, &values, added)?;
            let expected: &[u8] = bytemuck::cast_slice(&expected);
            let mut is_equal = true;
            card.download(&target, 0, expected.len() as u64, |at, found| {
                is_equal &= expected[at as usize..][..found.len()] == *found;
            });
            let measure = reduce.map_or("assign".to_owned(), |reduce| reduce.to_string());
            if !is_equal {
                return Err(format!("{} {measure} of {plan}: not the CPU's", of.name));
            }
            moved.push(of.moved_bytes(reduce, &values));
            figures.push(Figure {
                measure,
                card,
                record: Box::new(move |encoder, calls| {
                    (0..calls).for_each(|_| prepared.encode(encoder));
                }),
            });
        }
        let shape = format!("{} into [{}, {}]", of.updates, of.rows, of.slice_len);
        for (timed, moved) in time(&figures, self.options.rounds).into_iter().zip(moved) {
            println!(
                "{:<10}{shape:<32}{:<8}{:>10.2} us",
                of.name, timed.measure, timed.median_us
            );
            self.line(json!({
                "workload": of.name, "set": "scatter", "shape": shape, "measure": timed.measure, "median_us": timed.median_us,
                "min_us": timed.min_us, "calls": timed.calls, "resting": timed.resting, "moved_bytes": moved,
                "adapter": self.adapter,
            }))?;
        }
        Ok(())
    }
}

fn on_cpu(
    plan: &GatherPlan,
    reduce: Option<Reduce>,
    target: &[f32],
    indices: &[u32],
    updates: &[f32],
) -> Result<Vec<f32>, String> {
    let mut target = target.to_vec();
    match reduce {
        None => plan.scatter(updates, indices, &mut target),
        Some(reduce) => plan.scatter_reduce(reduce, updates, indices, &mut target),
    }
    .map_err(|error| error.to_string())?;
    Ok(target)
}
