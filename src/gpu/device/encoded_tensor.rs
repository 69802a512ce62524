//! Encoded params on a device.

use super::tensor::{Tensor, elements_in};
use crate::encoding::{Encoded, Encoding};
use crate::error::{GatherError, GpuError, RunError};
use crate::operand::Operand;

/// Encoded params that stay on an [`Executor`](crate::Executor)'s device. Its shape counts values, not bytes. Pass an `EncodedTensor` as
/// params to [`Executor::gather`](crate::Executor::gather), which decodes the selected rows to `f32`.
///
/// You get one from [`upload_encoded`](crate::Executor::upload_encoded), or make it from tensors that hold bytes.
#[derive(Debug)]
pub struct EncodedTensor {
    pub(super) params: Encoded<Tensor<u8>>,
    shape: Vec<usize>,
}

impl EncodedTensor {
    /// Makes encoded params from tensors that hold bytes, whatever their shapes; `shape` counts values. Use it in two cases: params
    /// lies in your own buffers; or the executor is the CPU, and you hand over a `Vec` without the copy that `upload_encoded` makes.
    ///
    /// # Errors
    ///
    /// - [`RunError::Block`] if the last dim is not whole blocks.
    /// - [`RunError::ByteLength`] if rows, scales or zero points have the wrong length.
    /// - [`RunError::MissingOperand`] if the encoding has scales or zero points that you do not give;
    ///   [`RunError::UnexpectedOperand`] if you give some that it does not have.
    /// - [`GatherError::TooManyBytes`] if the shape has more values than a `usize` counts.
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

    /// How the rows are encoded.
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
