//! Gathers for those who know an element's width only at run time: bytes in, bytes out.

use super::check_len;
use crate::dims::GatherDims;
use crate::element::{GatherIndex, IndexKind};
use crate::error::{Operand, RunError};
use crate::plan::GatherPlan;

impl GatherPlan {
    /// [`run`](Self::run) on bytes: elements of `element_bytes` bytes each, of whatever type, and indices of
    /// `index_kind`, little-endian, as model and array files hold them. A bad row holds zero bytes.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Self::run); lengths are counted in bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{Gather, IndexKind};
    ///
    /// let plan = Gather::new().plan(&[3, 2], &[1])?;
    /// // Three rows of two elements of one byte, and the index 2 as an i32.
    /// let row = plan.run_bytes(1, b"abcdef", IndexKind::I32, &[2, 0, 0, 0])?;
    /// assert_eq!(row, b"ef");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_bytes(
        &self,
        element_bytes: usize,
        params: &[u8],
        index_kind: IndexKind,
        indices: &[u8],
    ) -> Result<Vec<u8>, RunError> {
        match index_kind {
            IndexKind::I32 => self.run_on_bytes(element_bytes, params, indices, i32::from_le_bytes),
            IndexKind::U32 => self.run_on_bytes(element_bytes, params, indices, u32::from_le_bytes),
            IndexKind::I64 => self.run_on_bytes(element_bytes, params, indices, i64::from_le_bytes),
            IndexKind::U64 => self.run_on_bytes(element_bytes, params, indices, u64::from_le_bytes),
        }
    }

    fn run_on_bytes<I: GatherIndex, const WIDTH: usize>(
        &self,
        element_bytes: usize,
        params: &[u8],
        indices: &[u8],
        from_le_bytes: impl Fn([u8; WIDTH]) -> I,
    ) -> Result<Vec<u8>, RunError> {
        let dims = self.dims();
        let bytes = |elements: u64, bytes: usize| {
            let product = elements.checked_mul(bytes as u64);
            let product = product.filter(|&bytes| bytes <= i64::MAX.unsigned_abs());
            product.ok_or(RunError::OutOfMemory {
                elements,
                element_bytes: bytes,
            })
        };
        check_bytes(
            Operand::Params,
            bytes(dims.params_len(), element_bytes)?,
            params.len(),
        )?;
        check_bytes(
            Operand::Indices,
            bytes(dims.indices_len(), WIDTH)?,
            indices.len(),
        )?;
        let indices: Vec<I> = indices
            .chunks_exact(WIDTH)
            .map(|bytes| from_le_bytes(bytes.try_into().expect("chunks of this width")))
            .collect();
        if element_bytes == 0 {
            // Nothing to copy; a bad index is one all the same.
            let params = [()].repeat(usize::try_from(dims.params_len()).unwrap_or(usize::MAX));
            return self.run(&params, &indices).map(|_| Vec::new());
        }
        bytes(dims.output_len(), element_bytes)?;
        // The same gather of elements of one byte, so many more of which make a slice.
        let of_bytes = self.with_dims(GatherDims {
            slice_len: bytes(dims.slice_len, element_bytes)?,
            ..dims.clone()
        });
        of_bytes.run(params, &indices)
    }
}

fn check_bytes(operand: Operand, expected: u64, found: usize) -> Result<(), RunError> {
    check_len(operand, expected, found).map_err(|_| RunError::ByteLength {
        operand,
        expected,
        found,
    })
}
