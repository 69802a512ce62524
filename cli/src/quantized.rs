//! Quantised tables stored as `uint8`, whose layout the options describe, and gathers that decode any table.

use std::path::Path;

use wgpu_gather::half::{bf16, f16};
use wgpu_gather::{
    BlockQuantized, Element, Encoded, Encoding, Executor, Float, FloatKind, GatherPlan, GpuError,
    Index,
};

use crate::args::Run;
use crate::indices::{Indices, by_index_type};
use wgpu_gather_cli::arrays::{Array, Dtype, MXFP4_APART, Result, Stored, open};

/// A table's encoding, and its scales and zero points, which are still in their files.
pub struct Table {
    pub encoding: Encoding,
    scales: Option<Stored>,
    zero_points: Option<Stored>,
}

/// Params, scales and zero points, in memory.
pub struct Read {
    pub params: Array,
    scales: Option<Array>,
    zero_points: Option<Array>,
}

impl Table {
    /// The table that the options describe; `None` if they describe none.
    pub fn of(args: &Run, params: &Stored) -> Result<Option<Self>> {
        let options = &args.quantized;
        let check_params = || check_bytes(&args.params, &params.dtype);
        Ok(match (&options.scales, options.row_wise) {
            (Some(scales), _) => {
                check_params()?;
                Some(Self::in_blocks(args, scales, params)?)
            }
            (None, Some(encoding)) => {
                check_params()?;
                Some(Self {
                    encoding,
                    scales: None,
                    zero_points: None,
                })
            }
            (None, None) => None,
        })
    }

    fn in_blocks(args: &Run, path: &Path, params: &Stored) -> Result<Self> {
        let options = &args.quantized;
        let scales = open(path)?.verified(args.verify);
        let kind = match (scales.dtype.encoding(), scales.dtype.code()) {
            (_, "f4") => FloatKind::F32,
            ("F16", _) => FloatKind::F16,
            ("BF16", _) => FloatKind::Bf16,
            _ => {
                let (path, found) = (path.display(), &scales.dtype);
                let of_bytes = found.code() == "u1" || found.encoding() == "F8_E8M0";
                if of_bytes && is_mxfp4(&params.shape, &scales.shape) {
                    return Err(format!("{path}: {MXFP4_APART}").into());
                }
                return Err(format!(
                    "{path}: scales must be float32, float16 or BF16, found {found}"
                )
                .into());
            }
        };
        let block_size = match options.block_size {
            Some(size) => size,
            None => default_block_size(options.bits, &params.shape, &scales.shape)?,
        };
        let mut of = BlockQuantized::new(options.bits, block_size)?.with_scales(kind);
        let zero_points = match &options.zero_points {
            Some(path) => {
                let zero_points = open(path)?.verified(args.verify);
                check_bytes(path, &zero_points.dtype)?;
                of = of.with_zero_points();
                Some(zero_points)
            }
            None => None,
        };
        Ok(Self {
            encoding: Encoding::BlockQuantized(of),
            scales: Some(scales),
            zero_points,
        })
    }

    /// The shape that the values have, if the bytes have `bytes_shape`.
    pub fn shape(&self, bytes_shape: &[usize]) -> Vec<usize> {
        let mut shape = bytes_shape.to_vec();
        if let Some(last) = shape.last_mut() {
            // A row without values holds only the bytes at its end.
            let end = self.encoding.row_bytes(0).unwrap_or(0);
            let blocks = (*last as u64).saturating_sub(end) / self.encoding.block_bytes();
            let values = blocks.saturating_mul(self.encoding.block_len());
            *last = usize::try_from(values).unwrap_or(usize::MAX);
        }
        shape
    }

    /// Reads the whole table.
    pub fn read(self, params: Stored, progress: &dyn Fn(u64)) -> Result<Read> {
        let beside = |stored: Option<Stored>| stored.map(|stored| stored.read(&|_| ())).transpose();
        Ok(Read {
            params: params.read(progress)?,
            scales: beside(self.scales)?,
            zero_points: beside(self.zero_points)?,
        })
    }

    /// True if [`read_slices`](Self::read_slices) can read this table, which has `rows` rows with `row_len` values each.
    pub fn has_slices(&self, rows: usize, row_len: usize) -> bool {
        // The library refuses a row with another number of scales.
        let block_len = match self.encoding {
            Encoding::BlockQuantized(of) => of.block_len(),
            encoding => encoding.block_len(),
        };
        let blocks = (row_len as u64).div_ceil(block_len);
        if self
            .scales
            .as_ref()
            .is_some_and(|scales| scales.shape.last().map(|&last| last as u64) != Some(blocks))
        {
            return false;
        }
        let mut beside = self.scales.iter().chain(&self.zero_points);
        beside.all(|array| {
            let last = array.shape.last().copied().unwrap_or(0);
            let mut dims = array.shape.iter();
            let len = dims.try_fold(1, |len: u64, &dim| len.checked_mul(dim as u64));
            // The library refuses scales and zero points with another number of rows.
            last > 0 && len == (rows as u64).checked_mul(last as u64) && array.has_slices(1, last)
        })
    }

    /// Reads some slices, each `rows` rows long.
    pub fn read_slices(
        &mut self,
        params: &mut Stored,
        slices: &[usize],
        rows: usize,
        progress: &dyn Fn(u64),
    ) -> Result<Read> {
        let of = |array: &mut Stored, progress: &dyn Fn(u64)| -> Result<Array> {
            let last = array.shape.last().copied().unwrap_or(1);
            Ok(Array {
                dtype: array.dtype.clone(),
                shape: vec![slices.len(), rows, last],
                bytes: array.read_slices(slices, rows * last, progress)?,
            })
        };
        let beside = |array: &mut Option<Stored>| {
            let array = array.as_mut();
            array.map(|array| of(array, &|_| ())).transpose()
        };
        Ok(Read {
            params: of(params, progress)?,
            scales: beside(&mut self.scales)?,
            zero_points: beside(&mut self.zero_points)?,
        })
    }
}

impl Read {
    pub fn of(params: Array) -> Self {
        Self {
            params,
            scales: None,
            zero_points: None,
        }
    }

    /// Gathers values that have `shape`, on the executor or else on the CPU, and decodes them to numbers of the type `to`, as bytes.
    pub fn gather(
        &self,
        (encoding, to): (Encoding, FloatKind),
        shape: &[usize],
        executor: Option<&Executor>,
        plan: &GatherPlan,
        indices: &Indices,
    ) -> Result<std::result::Result<Vec<u8>, GpuError>> {
        macro_rules! to {
            ($float:ty) => {{
                let rows = by_index_type!(indices, |numbers| {
                    self.rows::<$float, _>(encoding, shape, executor, plan, &numbers)
                });
                rows.map(|rows| bytes_of(&rows, <$float>::to_le_bytes))
            }};
        }
        let bytes = match to {
            FloatKind::F16 => to!(f16),
            FloatKind::Bf16 => to!(bf16),
            _ => to!(f32),
        };
        match bytes {
            Ok(bytes) => Ok(Ok(bytes?)),
            Err(error) => Ok(Err(error)),
        }
    }

    fn rows<T: Float + Element, I: Index>(
        &self,
        encoding: Encoding,
        shape: &[usize],
        executor: Option<&Executor>,
        plan: &GatherPlan,
        indices: &[I],
    ) -> std::result::Result<Vec<T>, GpuError> {
        let mut encoded = Encoded::new(encoding, &self.params.bytes).to::<T>();
        if let Some(scales) = &self.scales {
            encoded = encoded.scales(&scales.bytes);
        }
        if let Some(zero_points) = &self.zero_points {
            encoded = encoded.zero_points(&zero_points.bytes);
        }
        match executor {
            None => Ok(plan.gather_encoded(&encoded, indices)?),
            Some(executor) => {
                let table = executor.upload_encoded(&encoded, shape)?;
                executor.gather(plan, &table, indices).wait()
            }
        }
    }
}

/// True if 16 bytes of params, which hold 32 values of 4 bits, share each scale.
fn is_mxfp4(params: &[usize], scales: &[usize]) -> bool {
    let len = |shape: &[usize]| {
        shape
            .iter()
            .fold(1_usize, |len, &dim| len.saturating_mul(dim))
    };
    len(params) == len(scales).saturating_mul(16)
}

/// The default for `--block-size`, in values. If the shapes fit only another size, an error names it.
fn default_block_size(bits: u32, params: &[usize], scales: &[usize]) -> Result<u64> {
    const DEFAULT: u64 = 128;
    BlockQuantized::new(bits, DEFAULT)?;
    let last = |shape: &[usize]| shape.last().copied().unwrap_or(1) as u64;
    let (bits, blocks) = (u64::from(bits), last(scales));
    let values = last(params).saturating_mul(8) / bits;
    let gives = |size: &u64| values.div_ceil(*size) == blocks;
    match [DEFAULT, 16, 32, 64, 256].into_iter().find(gives) {
        Some(size) if size != DEFAULT => Err(format!(
            "--block-size is missing: rows of {values} values and {blocks} scales have blocks of {size}"
        )
        .into()),
        // If the number of scales is wrong, the library refuses the table.
        _ => Ok(DEFAULT),
    }
}

/// The numbers as bytes; an error if memory runs out.
fn bytes_of<T: Copy, const WIDTH: usize>(
    numbers: &[T],
    to_le_bytes: fn(T) -> [u8; WIDTH],
) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let size = size_of_val(numbers);
    (bytes.try_reserve_exact(size))
        .map_err(|_| format!("out of memory for the {size} bytes of the output"))?;
    for &number in numbers {
        bytes.extend(to_le_bytes(number));
    }
    Ok(bytes)
}

fn check_bytes(path: &Path, found: &Dtype) -> Result<()> {
    match found.code() {
        "u1" => Ok(()),
        _ => {
            let path = path.display();
            Err(format!("{path}: quantised values must be uint8, found {found}").into())
        }
    }
}
