//! The CPU executor. The public functions here check lengths and lend their operands as bytes. All other code is
//! compiled once, for any type of element.

mod copy;
mod cursor;
mod encoded;
mod gather;
mod index_rows;
mod mask;
mod operands;
mod run_decoded;
mod stretches;
#[cfg(test)]
mod tests;

use crate::element::ElementTypes;
use crate::encoding::Encoded;
use crate::error::RunError;
use crate::index::{GatherIndex, IndexKind, IndexValues};
use crate::memory;
use crate::operand::Operand;
use crate::plan::GatherPlan;
use crate::plan::lengths::check_byte_len;
use gather::{check, gather};
pub(crate) use operands::{Operands, Params};

impl GatherPlan {
    /// Gathers on the CPU and returns the output, row-major, in the shape [`output_shape`](Self::output_shape).
    ///
    /// `params` and `indices` are row-major too. Elements are copied, so they may be of any type: numbers, `&str`,
    /// structs. [`BadIndices::Fill`](crate::BadIndices::Fill) puts `T::default()` in the whole slice of a bad row.
    ///
    /// With the feature `rayon`, threads share a large gather: those of the pool that the caller runs in, or else of
    /// the global pool. If the global pool cannot be made, the calling thread gathers by itself. A program built with
    /// `panic = "abort"` ends there instead, as rayon panics, unless it makes a pool of its own.
    ///
    /// # Errors
    ///
    /// `params` or `indices` of another length than the plan's; bad rows, unless the policy fills or clamps; no memory
    /// for the output. The error of bad rows names the smallest one.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{Gather, GatherNd};
    ///
    /// let plan = GatherNd::new().plan(&[2, 2], &[2, 2])?;
    /// assert_eq!(plan.run(&["a", "b", "c", "d"], &[0, 0, 1, 1])?, ["a", "d"]);
    ///
    /// let plan = Gather::new().plan(&[3], &[2])?;
    /// let bad = plan.run(&[10, 20, 30], &[2, 3]).unwrap_err();
    /// assert_eq!(bad.to_string(), "indices[1] = 3 is not in [0, 3)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run<T: Copy + Default + Send + Sync, I: GatherIndex>(
        &self,
        params: &[T],
        indices: &[I],
    ) -> Result<Vec<T>, RunError> {
        self.check_lengths(params.len(), indices.len())?;
        self.run_with(&Operands {
            element_bytes: size_of::<T>(),
            params: Params::Elements(params),
            indices: I::values(indices),
            zero: &[T::default()],
            fill: &[T::default()],
        })
    }

    /// Gathers operands whose lengths are checked. The plan must have no gaps in the output.
    pub(crate) fn run_with<T: Copy>(&self, operands: &Operands<'_, T>) -> Result<Vec<T>, RunError> {
        self.check_new_output()?;
        let width = operands.element_bytes.checked_div(size_of::<T>());
        let len = self.dims().output_len();
        let len = len.saturating_mul(width.unwrap_or(1) as u64);
        let operands = &operands.bytes();
        if self.dims().row_count == 0 {
            // Every index row is bad, and no operand bounds the output: an error comes before memory is asked for.
            check(self, operands)?;
        }
        let mut output = Vec::new();
        let room = usize::try_from(len).ok();
        let Some(len) = room.filter(|&len| output.try_reserve_exact(len).is_ok()) else {
            // A bad row is named first.
            check(self, operands)?;
            return Err(RunError::OutOfMemory {
                operand: Operand::Output,
                elements: self.dims().output_len(),
                element_bytes: operands.element_bytes,
            });
        };
        memory::extend(&mut output, len, |output| gather(self, operands, output))?;
        Ok(output)
    }

    /// As [`run`](Self::run), but into `output` instead of a new vector.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run), and an `output` of another length than the plan's. After the error of bad rows
    /// the contents of `output` are unspecified.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{BadIndices, Gather};
    ///
    /// let plan = Gather::new().bad_indices(BadIndices::Fill).plan(&[3, 2], &[2])?;
    /// let mut output = [9; 4];
    /// plan.run_into(&[1, 2, 3, 4, 5, 6], &[2, -1], &mut output)?;
    /// assert_eq!(output, [5, 6, 0, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_into<T: Copy + Default + Send + Sync, I: GatherIndex>(
        &self,
        params: &[T],
        indices: &[I],
        output: &mut [T],
    ) -> Result<(), RunError> {
        self.run_into_with_fill(params, indices, T::default(), output)
    }

    /// As [`run_into`](Self::run_into), but with `fill` in the slices of bad rows, where
    /// [`BadIndices::Fill`](crate::BadIndices::Fill) would put `T::default()`.
    ///
    /// # Errors
    ///
    /// The errors of [`run_into`](Self::run_into).
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{BadIndices, Gather};
    ///
    /// let plan = Gather::new().bad_indices(BadIndices::Fill).plan(&[2], &[2])?;
    /// let mut output = ["", ""];
    /// plan.run_into_with_fill(&["a", "b"], &[7, 0], "?", &mut output)?;
    /// assert_eq!(output, ["?", "a"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_into_with_fill<T: Copy + Default + Send + Sync, I: GatherIndex>(
        &self,
        params: &[T],
        indices: &[I],
        fill: T,
        output: &mut [T],
    ) -> Result<(), RunError> {
        self.check_lengths(params.len(), indices.len())?;
        self.check_output_length(output.len())?;
        let operands = Operands {
            element_bytes: size_of::<T>(),
            params: Params::Elements(params),
            indices: I::values(indices),
            zero: &[T::default()],
            fill: &[fill],
        };
        self.run_into_with(&operands, output)
    }

    /// As [`run_with`](Self::run_with), but into `output`, whose length is checked too.
    pub(crate) fn run_into_with<T: Copy>(
        &self,
        operands: &Operands<'_, T>,
        output: &mut [T],
    ) -> Result<(), RunError> {
        let operands = operands.bytes();
        memory::write_into(output, |output| gather(self, &operands, output))
    }

    /// As [`run`](Self::run), but on bytes, as model and array files hold them: elements of `types.element_bytes()` bytes,
    /// and little-endian indices of `types.index_kind()`. A bad row that is filled holds zero bytes. With an encoding, params
    /// is decoded, and the output is the bytes of `f32`s. [`run_decoded`](Self::run_decoded) takes an encoding whose scales lie in
    /// an operand of their own, which this call refuses.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run), with lengths in bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{ElementTypes, Gather, IndexKind};
    ///
    /// let plan = Gather::new().plan(&[3, 2], &[1])?;
    /// // Three rows of two elements of one byte, and the index 2 as an i32.
    /// let types = ElementTypes::new(1, IndexKind::I32);
    /// let row = plan.run_bytes(types, b"abcdef", &[2, 0, 0, 0])?;
    /// assert_eq!(row, b"ef");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_bytes(
        &self,
        types: ElementTypes,
        params: &[u8],
        indices: &[u8],
    ) -> Result<Vec<u8>, RunError> {
        let (dims, index_kind) = (self.dims(), types.index_kind);
        let host_params = match types.encoding {
            None => {
                let params_bytes =
                    byte_len(Operand::Params, dims.params_len(), types.element_bytes)?;
                let with_gap = dims.params_len_with_gap();
                let with_gap = with_gap.saturating_mul(types.element_bytes);
                check_byte_len(Operand::Params, params_bytes..=with_gap, params.len())?;
                Params::Elements(params)
            }
            Some(encoding) => {
                let params = Encoded::new(encoding, params);
                self.check_encoded_bytes(&params.map(|of| of.len()))?;
                Params::Encoded(params)
            }
        };
        let indices_bytes = byte_len(Operand::Indices, dims.indices_len(), index_kind.bytes())?;
        check_byte_len(
            Operand::Indices,
            indices_bytes..=indices_bytes,
            indices.len(),
        )?;
        byte_len(Operand::Output, dims.output_len(), types.element_bytes)?;
        with_values(index_kind, indices, |indices| {
            self.run_with(&Operands {
                element_bytes: usize::try_from(types.element_bytes).unwrap_or(usize::MAX),
                params: host_params,
                indices,
                zero: &[0],
                fill: &[0],
            })
        })
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

/// The bytes of `elements` elements of `width` bytes each; an error if they are more than `i64::MAX`.
fn byte_len(operand: Operand, elements: u64, width: u64) -> Result<u64, RunError> {
    let bytes = elements
        .checked_mul(width)
        .filter(|&bytes| bytes <= i64::MAX.unsigned_abs());
    bytes.ok_or_else(|| RunError::OutOfMemory {
        operand,
        elements,
        element_bytes: usize::try_from(width).unwrap_or(usize::MAX),
    })
}

/// The numbers in `bytes`, of `WIDTH` bytes each.
fn numbers<I, const WIDTH: usize>(
    bytes: &[u8],
    from_bytes: fn([u8; WIDTH]) -> I,
) -> Result<Vec<I>, RunError> {
    let (bytes, _) = bytes.as_chunks();
    let mut numbers = Vec::new();
    let reserved = numbers.try_reserve_exact(bytes.len());
    reserved.map_err(|_| RunError::OutOfMemory {
        operand: Operand::Indices,
        elements: bytes.len() as u64,
        element_bytes: WIDTH,
    })?;
    numbers.extend(bytes.iter().map(|&bytes| from_bytes(bytes)));
    Ok(numbers)
}
