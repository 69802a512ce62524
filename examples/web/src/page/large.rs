//! The time of a large gather, of rows of a table in random order. The table is of words, or of Q8_0.

use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;
use wgpu_gather::{
    Buffers, ElementTypes, Encoded, Encoding, Gather, GatherPlan, GpuError, IndexKind, Prepared,
    Ranges, RunError, Tensor,
};

use crate::device::Device;
use crate::message;

#[wasm_bindgen]
extern "C" {
    /// Milliseconds of the browser's clock.
    #[wasm_bindgen(js_namespace = performance)]
    fn now() -> f64;
}

/// Further gathers of a submission. More are tried until they take [`LONG_MS`], as a browser's clock is coarse.
const REPEATS: [u32; 4] = [4, 16, 64, 256];
const LONG_MS: f64 = 20.0;

/// The number of runs whose median is the time.
const RUNS: usize = 5;

/// The number of output rows that are checked.
const LOOKED_AT: u32 = 64;

/// A table, and as many indices as the table has rows.
#[wasm_bindgen]
pub struct Large {
    plan: GatherPlan,
    row_len: u32,
    is_encoded: bool,
    /// Words, or the bytes of blocks.
    table: Vec<u32>,
    indices: Vec<u32>,
}

const ENCODING: Encoding = Encoding::Q8_0;

/// Milliseconds of each gather and of each copy of its output's bytes. `right` is true if the output is right.
#[wasm_bindgen(getter_with_clone)]
pub struct Timing {
    pub gather_ms: Vec<f64>,
    pub copy_ms: Vec<f64>,
    pub right: bool,
}

#[wasm_bindgen]
impl Large {
    /// An output of `mebibytes` in rows of `row_bytes`, a multiple of 4. The table has words, or blocks to decode.
    #[wasm_bindgen(constructor)]
    pub fn new(mebibytes: u32, row_bytes: u32, is_encoded: bool) -> Result<Large, JsError> {
        let row_len = row_bytes / 4;
        let rows = (mebibytes << 20) / row_bytes;
        let shape = [rows as usize, row_len as usize];
        let mut state = 1_u32;
        let index = |_| {
            // Marsaglia's xorshift.
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state % rows
        };
        let table = match is_encoded {
            true => blocks(rows * row_len),
            false => (0..rows * row_len).map(value).collect(),
        };
        Ok(Self {
            plan: Gather::new().plan(&shape, &[shape[0]]).map_err(message)?,
            row_len,
            is_encoded,
            table,
            indices: (0..rows).map(index).collect(),
        })
    }

    /// The bytes that a gather reads and writes.
    #[wasm_bindgen(getter)]
    pub fn moved_bytes(&self) -> f64 {
        4.0 * (self.table.len() + self.output_len() + self.indices.len()) as f64
    }

    #[wasm_bindgen(getter)]
    pub fn copied_bytes(&self) -> f64 {
        8.0 * self.output_len() as f64
    }

    #[wasm_bindgen(getter)]
    pub fn shape(&self) -> String {
        self.plan.to_string()
    }

    /// Times the gather on one core, in wasm.
    pub fn time_on_cpu(&self) -> Result<Timing, JsError> {
        let mut output = vec![0; self.output_len()];
        let from = output.clone();
        let run = |output: &mut [u32]| self.gather_into(output).map_err(message);
        run(&mut output)?;
        let mut gather_ms = Vec::new();
        let mut copy_ms = Vec::new();
        for _ in 0..RUNS {
            let start = now();
            output.copy_from_slice(&from);
            let copied = now();
            run(&mut output)?;
            gather_ms.push(now() - copied);
            copy_ms.push(copied - start);
        }
        let rows = self.looked_at();
        let len = self.row_len as usize;
        let found = rows.flat_map(|row| &output[row as usize * len..][..len]);
        Ok(Timing {
            gather_ms,
            copy_ms,
            right: found.eq(&self.expected()),
        })
    }

    /// Times the gather on the GPU, where table and output already are.
    pub async fn time_on_gpu(&self, device: &Device) -> Result<Timing, JsError> {
        self.timed_on_gpu(device).await.map_err(message)
    }
}

impl Large {
    fn output_len(&self) -> usize {
        self.indices.len() * self.row_len as usize
    }

    fn gather_into(&self, output: &mut [u32]) -> Result<(), RunError> {
        if self.is_encoded {
            let (table, output) = (
                Encoded::new(ENCODING, bytemuck::cast_slice::<_, u8>(&self.table)),
                bytemuck::cast_slice_mut(output),
            );
            (self.plan).gather_encoded_into(&table, &self.indices, output)
        } else {
            self.plan.gather_into(&self.table, &self.indices, output)
        }
    }

    async fn timed_on_gpu(&self, device: &Device) -> Result<Timing, GpuError> {
        let table = device.upload(bytemuck::cast_slice(&self.table))?;
        let indices = device.upload(bytemuck::cast_slice(&self.indices))?;
        // An output row that is not written keeps these values and fails the check.
        let from = vec![u8::MAX; 4 * self.output_len()];
        let output = device.upload(&from)?;
        let from = device.upload(&from)?;
        let types = match self.is_encoded {
            true => ElementTypes::encoded(ENCODING, IndexKind::U32),
            false => ElementTypes::of::<u32, u32>(),
        };
        let buffers = Buffers::gather(
            types,
            Ranges {
                params: table.buffer()?.slice(..),
                indices: indices.buffer()?.slice(..),
                output: output.buffer()?.slice(..),
            },
        );
        let gather = device.gpu.gatherer()?.prepare(&self.plan, &buffers)?;
        // The first submission may compile, so it is not timed.
        device.submit(1, Work::Gather(&gather)).await?;
        let right = self.is_right(device, &output).await?;

        let mut gather_ms = Vec::new();
        let mut copy_ms = Vec::new();
        for _ in 0..RUNS {
            copy_ms.push(device.time(Work::Copy(&from, &output)).await?);
            gather_ms.push(device.time(Work::Gather(&gather)).await?);
        }
        Ok(Timing {
            gather_ms,
            copy_ms,
            right,
        })
    }

    /// Returns true if some rows of the output are right.
    async fn is_right(&self, device: &Device, output: &Tensor<u8>) -> Result<bool, GpuError> {
        let rows: Vec<u32> = self.looked_at().collect();
        let plan = Gather::new().plan(self.plan.output_shape(), &[rows.len()])?;
        let types = ElementTypes::of::<u32, u32>();
        let found = device.gathered(&plan, types, output, bytemuck::cast_slice(&rows));
        Ok(found.await? == bytemuck::cast_slice::<u32, u8>(&self.expected()))
    }

    /// The output rows that are checked, from all over the output.
    fn looked_at(&self) -> impl Iterator<Item = u32> {
        let rows = u32::try_from(self.indices.len()).expect("few");
        (0..LOOKED_AT).map(move |n| n * ((rows - 1) / (LOOKED_AT - 1)))
    }

    /// The elements of the checked rows, by the formula of the table.
    fn expected(&self) -> Vec<u32> {
        let row = |at: u32| {
            let start = self.indices[at as usize] * self.row_len;
            (start..start + self.row_len).map(|at| match self.is_encoded {
                true => f32::from(value(at).to_le_bytes()[3].cast_signed()).to_bits(),
                false => value(at),
            })
        };
        self.looked_at().flat_map(row).collect()
    }
}

/// The work of a submission.
#[derive(Clone, Copy)]
enum Work<'a> {
    Gather(&'a Prepared),
    Copy(&'a Tensor<u8>, &'a Tensor<u8>),
}

impl Device {
    /// Milliseconds of one gather or copy, without the time of a submission; 0 if too short for the clock.
    async fn time(&self, work: Work<'_>) -> Result<f64, GpuError> {
        let mut time = 0.0;
        for repeats in REPEATS {
            let once = self.submit(1, work).await?;
            let difference = self.submit(1 + repeats, work).await? - once;
            time = difference.max(0.0) / f64::from(repeats);
            if difference >= LONG_MS {
                break;
            }
        }
        Ok(time)
    }

    /// Submits the work `repeats` times at once. Returns the milliseconds until it is done.
    async fn submit(&self, repeats: u32, work: Work<'_>) -> Result<f64, GpuError> {
        let mut encoder = self
            .gpu
            .device()?
            .create_command_encoder(&Default::default());
        for _ in 0..repeats {
            match work {
                Work::Gather(gather) => gather.encode(&mut encoder),
                Work::Copy(from, to) => {
                    let (from, to) = (from.buffer()?, to.buffer()?);
                    encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size());
                }
            }
        }
        let start = now();
        self.gpu.queue()?.submit([encoder.finish()]);
        // The read-back ends after all that was submitted before it.
        self.word.download().await?;
        Ok(now() - start)
    }
}

/// The bytes of blocks with `count` values, each block with the scale 1, as words.
fn blocks(count: u32) -> Vec<u32> {
    let mut bytes = Vec::new();
    for at in 0..count {
        if at % 32 == 0 {
            bytes.extend(0x3c00_u16.to_le_bytes());
        }
        bytes.push(value(at).to_le_bytes()[3]);
    }
    let (words, _) = bytes.as_chunks();
    words.iter().map(|&word| u32::from_le_bytes(word)).collect()
}

/// The table's word at a place, whose highest byte is the value in a block: no two rows are alike.
fn value(at: u32) -> u32 {
    at.wrapping_mul(2_654_435_761)
}
