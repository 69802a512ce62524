//! Encoded params on a device.

use super::tensor::{Tensor, elements_in};
use crate::encoding::{Encoded, Encoding};
use crate::error::{GatherError, GpuError, RunError};
use crate::operand::Operand;

/// Encoded params that stay on the device of an [`Executor`](crate::Executor), with a shape that counts values. A gather
/// takes it as it takes a [`Tensor`], and decodes it to `f32`.
///
/// Made by [`upload_encoded`](crate::Executor::upload_encoded), or of tensors of bytes.
#[derive(Debug)]
pub struct EncodedTensor {
    pub(super) params: Encoded<Tensor<u8>>,
    shape: Vec<usize>,
}

impl EncodedTensor {
    /// Tensors of bytes, whatever their shapes, as params of this shape in values. For params in an app's own buffers, or
    /// to move a `Vec` to the CPU's memory without a copy.
    ///
    /// # Errors
    ///
    /// - [`RunError::Block`] for a last dim that is not whole blocks.
    /// - [`RunError::ByteLength`] for rows, scales or zero points of the wrong length.
    /// - [`RunError::MissingOperand`] and [`RunError::UnexpectedOperand`] for scales or zero points that the encoding has
    ///   and that are not given, or that are given though it has none.
    /// - [`GatherError::TooManyBytes`] for a shape of more values than a `usize` counts.
    ///
    /// ```
    /// use wgpu_gather::{Encoded, EncodedTensor, Encoding, Executor, Gather, GpuError};
    ///
    /// let executor = Executor::cpu();
    /// let halves = executor.upload(vec![0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0xff, 0x7b], &[8])?;
    /// let table = EncodedTensor::new(Encoded::new(Encoding::F16, halves), &[2, 2])?;
    /// assert_eq!(table.shape(), [2, 2]);
    /// assert_eq!(executor.gather(Gather::new(), &table, &[0]).wait()?, [1.0, -2.0]);
    /// # Ok::<(), GpuError>(())
    /// ```
    pub fn new(params: Encoded<Tensor<u8>>, shape: &[usize]) -> Result<Self, GpuError> {
        let values = elements_in(shape).ok_or(GatherError::TooManyBytes {
            operand: Operand::Params,
            elements: u64::MAX,
            element_bytes: 1,
        })?;
        let last_dim = shape.last().map_or(1, |&dim| dim as u64);
        let parts = params.encoding.parts_of(last_dim).map_err(RunError::from)?;
        let values = values as u64;
        params.map(Tensor::len).check(parts, values..=values)?;
        Ok(Self {
            params,
            shape: shape.to_vec(),
        })
    }

    /// The encoding of the rows.
    #[must_use]
    pub const fn encoding(&self) -> Encoding {
        self.params.encoding
    }

    /// The shape, in values.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }
}
