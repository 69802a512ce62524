//! Tables of quantised values whose bytes have no dtype of their own: the options say what they are.

use std::path::Path;

use wgpu_gather::{
    BlockQuantized, Encoded, Encoding, Executor, GatherIndex, GatherPlan, GpuError, IndexKind,
    ScaleKind,
};

use crate::args::Run;
use wgpu_gather_cli::arrays::{Array, Result, read};

/// The numbers of a table, and what lies beside it.
pub struct Table {
    pub encoding: Encoding,
    scales: Option<Array>,
    zero_points: Option<Array>,
}

impl Table {
    /// The table that the options describe; `None` if they describe none.
    pub fn of(args: &Run, params: &Array) -> Result<Option<Self>> {
        let options = &args.quantized;
        if options.scales.is_none() && options.row_wise.is_none() {
            return Ok(None);
        }
        check_bytes(&args.params, params)?;
        let quantized = match (&options.scales, options.row_wise) {
            (Some(scales), _) => Self::in_blocks(args, scales, params)?,
            (None, row_wise) => Self {
                encoding: match row_wise {
                    Some(8) => Encoding::RowWise8,
                    _ => Encoding::RowWise4,
                },
                scales: None,
                zero_points: None,
            },
        };
        Ok(Some(quantized))
    }

    fn in_blocks(args: &Run, path: &Path, params: &Array) -> Result<Self> {
        let options = &args.quantized;
        let scales = read(path)?;
        let kind = match (scales.dtype.encoding(), scales.dtype.code()) {
            (_, "f4") => ScaleKind::F32,
            ("F16", _) => ScaleKind::F16,
            ("BF16", _) => ScaleKind::Bf16,
            _ => {
                let (path, found) = (path.display(), scales.dtype);
                return Err(format!(
                    "{path}: scales must be float32, float16 or BF16, found {found}"
                )
                .into());
            }
        };
        let block_size = match options.block_size {
            Some(size) => size,
            None => default_block_size(options.bits, params, &scales)?,
        };
        let mut of = BlockQuantized::new(options.bits, block_size)?.with_scales(kind);
        let zero_points = match &options.zero_points {
            Some(path) => {
                let zero_points = read(path)?;
                check_bytes(path, &zero_points)?;
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

    /// The shape of the values of a table of bytes.
    pub fn shape(&self, bytes_shape: &[usize]) -> Vec<usize> {
        let mut shape = bytes_shape.to_vec();
        if let Some(last) = shape.last_mut() {
            // A row without values has the bytes at its end only.
            let end = self.encoding.row_bytes(0).unwrap_or(0);
            let blocks = (*last as u64).saturating_sub(end) / self.encoding.block_bytes();
            let values = blocks.saturating_mul(self.encoding.block_len());
            *last = usize::try_from(values).unwrap_or(usize::MAX);
        }
        shape
    }

    /// Gathers and decodes, on the executor or else on the CPU. Returns the bytes of `f32`s.
    pub fn gather(
        &self,
        executor: Option<&Executor>,
        plan: &GatherPlan,
        params: &Array,
        (kind, indices): (IndexKind, &Array),
    ) -> Result<std::result::Result<Vec<u8>, GpuError>> {
        macro_rules! rows {
            ($index:ty) => {{
                let indices = indices.numbers(<$index>::from_le_bytes)?;
                self.rows(executor, plan, params, &indices)
            }};
        }
        let rows = match kind {
            IndexKind::I8 => rows!(i8),
            IndexKind::U8 => rows!(u8),
            IndexKind::I16 => rows!(i16),
            IndexKind::U16 => rows!(u16),
            IndexKind::I32 => rows!(i32),
            IndexKind::U32 => rows!(u32),
            IndexKind::I64 => rows!(i64),
            _ => rows!(u64),
        };
        match rows {
            Ok(rows) => Ok(Ok(bytes_of(&rows)?)),
            Err(error) => Ok(Err(error)),
        }
    }

    fn rows<I: GatherIndex>(
        &self,
        executor: Option<&Executor>,
        plan: &GatherPlan,
        params: &Array,
        indices: &[I],
    ) -> std::result::Result<Vec<f32>, GpuError> {
        let mut encoded = Encoded::new(self.encoding, &params.bytes);
        if let Some(scales) = &self.scales {
            encoded = encoded.scales(&scales.bytes);
        }
        if let Some(zero_points) = &self.zero_points {
            encoded = encoded.zero_points(&zero_points.bytes);
        }
        match executor {
            None => Ok(plan.run_decoded(&encoded, indices)?),
            Some(executor) => {
                let table = executor.upload_encoded(&encoded, &self.shape(&params.shape))?;
                executor.gather(plan, &table, indices).wait()
            }
        }
    }
}

/// Values of a block without `--block-size`. An error names the option's number if the shapes give another.
fn default_block_size(bits: u32, params: &Array, scales: &Array) -> Result<u64> {
    const DEFAULT: u64 = 128;
    BlockQuantized::new(bits, DEFAULT)?;
    let last = |array: &Array| array.shape.last().copied().unwrap_or(1) as u64;
    let (bits, blocks) = (u64::from(bits), last(scales));
    let values = last(params).saturating_mul(8) / bits;
    let gives = |size: &u64| values.div_ceil(*size) == blocks;
    match [DEFAULT, 16, 32, 64, 256].into_iter().find(gives) {
        Some(size) if size != DEFAULT => Err(format!(
            "--block-size is missing: rows of {values} values and {blocks} scales have blocks of {size}"
        )
        .into()),
        // The table is refused by its number of scales, if that is wrong.
        _ => Ok(DEFAULT),
    }
}

/// The bytes of some numbers; an error without memory for them.
fn bytes_of(numbers: &[f32]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let size = size_of_val(numbers);
    (bytes.try_reserve_exact(size))
        .map_err(|_| format!("out of memory for the {size} bytes of the output"))?;
    for number in numbers {
        bytes.extend(number.to_le_bytes());
    }
    Ok(bytes)
}

fn check_bytes(path: &Path, array: &Array) -> Result<()> {
    match array.dtype.code() {
        "u1" => Ok(()),
        _ => {
            let (path, found) = (path.display(), array.dtype);
            Err(format!("{path}: quantised values must be uint8, found {found}").into())
        }
    }
}
