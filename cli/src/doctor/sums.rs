//! Sums for `wgpu-gather doctor`: scatters that add floats to repeated rows, which a GPU sorts first.

use super::random::Random;
use wgpu_gather::{BadIndices, Executor, Gather, GatherPlan, GpuError, Reduce};

pub struct Sum {
    rows: usize,
    slice_len: usize,
    /// An index equal to `rows` is out of range, and its update dropped.
    indices: Vec<u32>,
    updates: Vec<f32>,
    target: Vec<f32>,
}

impl Sum {
    /// A sum with up to 20,000 index rows, half of which select one row: a few tiles to sort.
    pub fn random(seed: u64) -> Self {
        let mut random = Random(seed);
        let (rows, slice_len) = (random.between(1, 300), random.between(1, 9));
        let count = random.between(1, 20_000);
        let hot = random.between(0, rows - 1);
        let row = |random: &mut Random| match random.between(0, 1) {
            0 => hot,
            _ => random.between(0, rows),
        };
        let index = |random: &mut Random| u32::try_from(row(random)).expect("few rows");
        Self {
            rows,
            slice_len,
            indices: (0..count).map(|_| index(&mut random)).collect(),
            updates: floats(count * slice_len, &mut random),
            target: floats(rows * slice_len, &mut random),
        }
    }

    fn plan(&self) -> GatherPlan {
        let gather = Gather::new().bad_indices(BadIndices::Fill);
        let plan = gather.plan(&[self.rows, self.slice_len], &[self.indices.len()]);
        plan.expect("a valid shape")
    }

    /// Compares the sum on a GPU with the CPU's. The error says how they differ.
    pub fn check(&self, gpu: &Executor) -> Result<(), String> {
        let text = |error: GpuError| error.to_string();
        let (found, expected) = (
            self.on_gpu(gpu).map_err(text)?,
            self.on_cpu().map_err(text)?,
        );
        let mut both = found.iter().zip(&expected);
        match both.position(|(a, b)| a.to_bits() != b.to_bits()) {
            None => Ok(()),
            Some(at) => Err(format!(
                "a sum of {} rows of {} into {}: element {at} is {:e}, not {:e}",
                self.indices.len(),
                self.slice_len,
                self.rows,
                found[at],
                expected[at]
            )),
        }
    }

    fn on_gpu(&self, gpu: &Executor) -> Result<Vec<f32>, GpuError> {
        let mut target = gpu.upload(&self.target, &[self.rows, self.slice_len])?;
        let updates = gpu.upload(&self.updates, &[self.updates.len()])?;
        let plan = self.plan();
        let scatter = gpu.scatter(&plan, &updates, &self.indices, &mut target);
        scatter.reduce(Reduce::Add).wait()?;
        target.download_blocking()
    }

    fn on_cpu(&self) -> Result<Vec<f32>, GpuError> {
        let mut target = self.target.clone();
        let plan = self.plan();
        plan.scatter_reduce(Reduce::Add, &self.updates, &self.indices, &mut target)?;
        Ok(target)
    }
}

/// Floats: some zeros, some with any bits, most with near exponents.
fn floats(count: usize, random: &mut Random) -> Vec<f32> {
    let float = |_| {
        let bits = u32::from_le_bytes([0; 4].map(|_: u8| random.byte()));
        f32::from_bits(match random.between(0, 9) {
            0 => bits & 1 << 31,
            1 => bits,
            // Exponents from 120 to 135.
            _ => bits & 0x807f_ffff | (120 + (bits >> 26 & 15)) << 23,
        })
    };
    (0..count).map(float).collect()
}
