//! `GatherPlan::gather_bytes` and `gather_bytes_into`: gathers whose types are known only at run time.

use super::operands::{Operands, Params};
use crate::element::ElementTypes;
use crate::encoding::{Decoding, Encoded, Parts};
use crate::error::RunError;
use crate::index::{IndexKind, IndexValues};
use crate::operand::Operand;
use crate::plan::GatherPlan;
use crate::plan::lengths::{byte_len, check_bytes};

impl GatherPlan {
    /// As [`gather`](Self::gather), but on bytes, as model and array files hold them: each element has `types.element_bytes()` bytes,
    /// and indices are little-endian `types.index_kind()`. A bad row that is filled holds zero bytes; for other bytes, fill a
    /// request of an `Executor`, of the CPU too.
    ///
    /// If `types` has an encoding, params is decoded, and the output holds the bytes of `f32`s or halves, as the types say. This call takes no scales,
    /// so it refuses a `BlockQuantized`; [`gather_encoded`](Self::gather_encoded) takes one.
    ///
    /// # Errors
    ///
    /// As [`gather`](Self::gather), with lengths in bytes. [`PlanError::CutBlock`](crate::PlanError::CutBlock) if the plan cuts blocks.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{ElementTypes, Gather, IndexKind};
    ///
    /// let plan = Gather::new().plan(&[3, 2], &[1])?;
    /// // Three rows of two elements of one byte, and the index 2 as an i32.
    /// let types = ElementTypes::new(1, IndexKind::I32);
    /// let row = plan.gather_bytes(types, b"abcdef", &[2, 0, 0, 0])?;
    /// assert_eq!(row, b"ef");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gather_bytes(
        &self,
        types: ElementTypes,
        params: &[u8],
        indices: &[u8],
    ) -> Result<Vec<u8>, RunError> {
        let parts = self.check_inputs(types, params, indices)?;
        byte_len(
            Operand::Output,
            self.dims().output_len(),
            types.element_bytes,
        )?;
        with_values(types.index_kind, indices, |indices| {
            self.gather_operands(&operands(types, parts, params, indices))
        })
    }

    /// As [`gather_bytes`](Self::gather_bytes), but into `output` instead of a new vector. `output` must hold
    /// [`output_len`](Self::output_len) elements, with the gaps that a [stride](Self::with_output_stride) leaves. Bytes in gaps
    /// keep their values.
    ///
    /// # Errors
    ///
    /// As [`gather_bytes`](Self::gather_bytes), and [`RunError::ByteLength`] if `output` has another length. After an error about bad
    /// rows, what `output` holds is unspecified.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{ElementTypes, Gather, IndexKind};
    ///
    /// // Rows of two bytes, in an output whose rows start three bytes after each other.
    /// let plan = Gather::new().plan(&[3, 2], &[2])?.with_output_stride(3)?;
    /// let types = ElementTypes::new(1, IndexKind::U8);
    /// let mut output = *b"------";
    /// plan.gather_bytes_into(types, b"abcdef", &[2, 0], &mut output)?;
    /// assert_eq!(&output, b"ef-ab-");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gather_bytes_into(
        &self,
        types: ElementTypes,
        params: &[u8],
        indices: &[u8],
        output: &mut [u8],
    ) -> Result<(), RunError> {
        let parts = self.check_inputs(types, params, indices)?;
        let dims = self.dims();
        let output_len = [dims.output_len(), dims.output_len_with_gap()];
        check_bytes(
            Operand::Output,
            output_len,
            types.element_bytes,
            output.len(),
        )?;
        with_values(types.index_kind, indices, |indices| {
            self.gather_operands_into(&operands(types, parts, params, indices), output)
        })
    }

    /// Checks how long params and indices are. Returns the parts of params.
    fn check_inputs(
        &self,
        types: ElementTypes,
        params: &[u8],
        indices: &[u8],
    ) -> Result<Parts, RunError> {
        let dims = self.dims();
        let parts = match types.encoding() {
            None => {
                let params_len = [dims.params_len(), dims.params_len_with_gap()];
                check_bytes(
                    Operand::Params,
                    params_len,
                    types.element_bytes,
                    params.len(),
                )?;
                Parts::elements(types.element_bytes)
            }
            Some(encoding) => self.check_encoded(&Encoded::new(encoding, params.len()))?,
        };
        let indices_len = [dims.indices_len(); 2];
        let index_bytes = types.index_kind.bytes();
        check_bytes(Operand::Indices, indices_len, index_bytes, indices.len())?;
        Ok(parts)
    }
}

/// The operands as bytes. Bad rows that are filled hold zero bytes.
fn operands<'a>(
    types: ElementTypes,
    parts: Parts,
    params: &'a [u8],
    indices: IndexValues<'a>,
) -> Operands<'a, u8> {
    Operands {
        element_bytes: usize::try_from(types.element_bytes).unwrap_or(usize::MAX),
        parts,
        params: match types.decoding {
            None => Params::Elements(params),
            Some(Decoding { encoding, to }) => Params::Encoded(Encoded::new(encoding, params), to),
        },
        indices,
        zero: &[0],
        fill: &[0],
    }
}

/// Calls `run` with the index values that are in `bytes`, little-endian.
pub(crate) fn with_values<R>(
    index_kind: IndexKind,
    bytes: &[u8],
    run: impl FnOnce(IndexValues<'_>) -> Result<R, RunError>,
) -> Result<R, RunError> {
    macro_rules! run_as {
        ($kind:ident, $index:ty) => {{
            let values = numbers(bytes, <$index>::from_le_bytes)?;
            run(IndexValues::$kind(&values))
        }};
    }
    match index_kind {
        IndexKind::I8 => run_as!(I8, i8),
        IndexKind::U8 => run(IndexValues::U8(bytes)),
        IndexKind::I16 => run_as!(I16, i16),
        IndexKind::U16 => run_as!(U16, u16),
        IndexKind::I32 => run_as!(I32, i32),
        IndexKind::U32 => run_as!(U32, u32),
        IndexKind::I64 => run_as!(I64, i64),
        IndexKind::U64 => run_as!(U64, u64),
    }
}

/// The numbers in `bytes`, each with `WIDTH` bytes.
fn numbers<I, const WIDTH: usize>(
    bytes: &[u8],
    from_bytes: fn([u8; WIDTH]) -> I,
) -> Result<Vec<I>, RunError> {
    let (bytes, _) = bytes.as_chunks();
    let mut numbers = Operand::Indices.vector(bytes.len() as u64)?;
    numbers.extend(bytes.iter().map(|&bytes| from_bytes(bytes)));
    Ok(numbers)
}
