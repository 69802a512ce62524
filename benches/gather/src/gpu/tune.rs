//! Kernels that only copy random rows: what WGSL reaches on the card, by workgroup size and loads in flight.

use std::fmt::Write;

use serde_json::json;

use super::figure::{Figure, time};
use super::gather::random_indices;
use super::{Bench, Place};

/// Bytes per row, and output rows.
const ROWS: [(u64, u64); 6] = [
    (4, 1 << 22),
    (16, 1 << 22),
    (64, 1 << 22),
    (512, 1 << 19),
    (2048, 1 << 17),
    (8192, 1 << 15),
];

/// Rows that a lane copies.
const LANE_ROWS: [u32; 4] = [1, 2, 4, 8];

const WORKGROUP_SIZES: [u32; 5] = [64, 128, 256, 512, 1024];

/// Neighbouring lanes copy neighbouring units of a row. A lane's rows lie `share` rows apart.
fn source(row_bytes: u64, rows: u32, size: u32) -> String {
    let (unit, units) = match row_bytes {
        4 => ("u32", 1),
        _ => ("vec4<u32>", row_bytes / 16),
    };
    let mut text = format!(
        "@group(0) @binding(0) var<storage, read> params: array<{unit}>;
         @group(0) @binding(1) var<storage, read> indices: array<u32>;
         @group(0) @binding(2) var<storage, read_write> output: array<{unit}>;
         override LAST: u32; override COUNT: u32; override WIDTH: u32;
         @compute @workgroup_size({size})
         fn main(@builtin(workgroup_id) w: vec3<u32>, @builtin(local_invocation_index) l: u32) {{
             let lane = (w.y * WIDTH + w.x) * {size}u + l;
             let share = COUNT / {rows}u;
             let row = lane / {units}u;
             let unit = lane % {units}u;
             if row >= share {{ return; }}\n"
    );
    // Writing to a `String` cannot fail.
    for r in 0..rows {
        let _ = writeln!(
            text,
            "let k{r} = min(indices[row + {r}u * share], LAST) * {units}u + unit;"
        );
    }
    for r in (0..rows).rev() {
        let _ = writeln!(text, "let v{r} = params[k{r}];");
    }
    for r in 0..rows {
        let _ = writeln!(
            text,
            "output[(row + {r}u * share) * {units}u + unit] = v{r};"
        );
    }
    text + "}"
}

impl Bench<'_> {
    /// Times all kernels, on each device.
    pub fn tune(&mut self, places: &[Place]) -> Result<(), String> {
        for place in places {
            for (row_bytes, count) in ROWS {
                if !self.is_time_left("tune") {
                    return Ok(());
                }
                self.tune_rows(place, row_bytes, count / self.options.scale as u64)?;
            }
        }
        Ok(())
    }

    fn tune_rows(&mut self, place: &Place, row_bytes: u64, count: u64) -> Result<(), String> {
        let card = &place.card;
        let limits = card.device.limits();
        let table_rows = place.plain.size().min(card.binding_bytes()) / row_bytes;
        let made = random_indices(count as usize, &[table_rows as usize], 4, 1);
        let indices = card.storage(made.len() as u64);
        card.upload(&indices, 0, &made);
        let output = card.storage(count * row_bytes);
        let units = row_bytes.div_ceil(16);
        let (mut kinds, mut figures) = (Vec::new(), Vec::new());
        for rows in LANE_ROWS {
            for size in WORKGROUP_SIZES {
                if size > limits.max_compute_invocations_per_workgroup {
                    continue;
                }
                let lanes = count / u64::from(rows) * units;
                let [width, height] = card.grid(lanes.div_ceil(size.into()));
                let constants = [
                    ("LAST", (table_rows - 1) as f64),
                    ("COUNT", count as f64),
                    ("WIDTH", f64::from(width)),
                ];
                let pipeline = card.pipeline(&source(row_bytes, rows, size), &constants);
                let table = place.plain.slice(..table_rows * row_bytes);
                let operands = [table, indices.slice(..), output.slice(..)];
                let operands = card.bind(&pipeline, &operands);
                kinds.push((rows, size));
                figures.push(Figure {
                    measure: format!("{rows} rows a lane, workgroups of {size}"),
                    card,
                    record: Box::new(move |encoder, calls| {
                        let mut pass = encoder.begin_compute_pass(&Default::default());
                        pass.set_pipeline(&pipeline);
                        pass.set_bind_group(0, &operands, &[]);
                        (0..calls).for_each(|_| pass.dispatch_workgroups(width, height, 1));
                    }),
                });
            }
        }
        let timed = time(&figures, self.options.rounds.min(5));
        let mut timed: Vec<_> = timed.into_iter().zip(kinds).collect();
        timed.sort_by(|(a, _), (b, _)| a.median_us.total_cmp(&b.median_us));
        let last = timed.len().saturating_sub(1);
        for (at, (of, (rows, size))) in timed.iter().enumerate() {
            if at < 3 || at == last {
                println!(
                    "tune {} {row_bytes} B: {:<36}{:>10.2} us",
                    place.name, of.measure, of.median_us
                );
            }
            self.line(json!({
                "workload": format!("tune{row_bytes}"), "set": "tune", "measure": of.measure,
                "device": place.name, "rows": rows, "workgroup": size, "median_us": of.median_us,
                "min_us": of.min_us, "out_bytes": count * row_bytes, "index_bytes": 4 * count,
                "slice_bytes": row_bytes, "slices": count, "params_bytes": table_rows * row_bytes,
            }))?;
        }
        Ok(())
    }
}
