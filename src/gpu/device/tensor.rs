//! Tensors that stay on the GPU, or in host memory where there is none. Their elements come from the host and go there.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::owner::{Owner, Storage, TENSOR};
use super::waiting::{Mapping, Wait, boxed, copied, elements_of};
use crate::element::Element;
use crate::encoding::Encoded;
use crate::error::{GatherError, GpuError, PlanError};
use crate::gpu::scope::scoped_start;
use crate::gpu::types::range_bytes;
use crate::operand::Operand;
use crate::plan::MAX_ELEMENTS;

/// Row-major elements and their shape, which stay on the device until you download them.
///
/// You get one from [`upload`](crate::Executor::upload) or [`zeros`](crate::Executor::zeros), from your buffer by
/// [`from_buffer`](Self::from_buffer), or as an output that stays on the GPU ([`on_gpu`](crate::Request::on_gpu)). Pass it as
/// any operand to the executor that made it. On the CPU a tensor is host memory. Threads may share it by `&`; from an
/// `Arc`, pass `&*tensor`.
pub struct Tensor<T> {
    pub(super) storage: Storage<Vec<T>>,
    shape: Vec<usize>,
    /// The product of all dims.
    len: usize,
    element: PhantomData<fn() -> T>,
}

impl<T: Element> Tensor<T> {
    /// Puts the host's elements on the owner's GPU, or leaves them in host memory if it has none.
    pub(super) fn upload(
        owner: Option<&Arc<Owner>>,
        elements: Cow<'_, [T]>,
        shape: &[usize],
    ) -> Result<Self, GpuError> {
        check_shape(Operand::Tensor, shape, elements.len())?;
        if size_of::<T>() == 0 {
            return Err(GatherError::ZeroSizedElement.into());
        }
        let storage = match (owner, elements) {
            (Some(owner), elements) => {
                let staged = owner.stage(Operand::Tensor, bytemuck::cast_slice(&elements))?;
                owner.submit("wgpu-gather/upload", |encoder| staged.copy(encoder))?;
                Storage::Gpu(staged.buffer, Arc::clone(owner))
            }
            (None, Cow::Owned(elements)) => Storage::Host(elements),
            (None, Cow::Borrowed(elements)) => Storage::Host(copied(elements)?),
        };
        Ok(Self::new(storage, shape))
    }

    /// Elements whose bits are all zero.
    pub(super) fn zeros(owner: Option<&Arc<Owner>>, shape: &[usize]) -> Result<Self, GpuError> {
        if size_of::<T>() == 0 {
            return Err(GatherError::ZeroSizedElement.into());
        }
        let len = countable(Operand::Tensor, shape)?;
        let bytes = bytes_of::<T>(len)?;
        let storage = match owner {
            Some(owner) => Storage::Gpu(
                owner.make_tensor(Operand::Tensor, bytes)?,
                Arc::clone(owner),
            ),
            None => {
                let mut elements = Operand::Tensor.vector(len as u64)?;
                elements.resize(len, T::zeroed());
                Storage::Host(elements)
            }
        };
        Ok(Self::new(storage, shape))
    }

    /// The elements in an app's buffer.
    pub(super) fn over(
        owner: &Arc<Owner>,
        buffer: wgpu::Buffer,
        shape: &[usize],
    ) -> Result<Self, GpuError> {
        let operand = Operand::Tensor;
        if size_of::<T>() == 0 {
            return Err(GatherError::ZeroSizedElement.into());
        }
        let (expected, found) = (TENSOR, buffer.usage());
        if !found.contains(expected) {
            return Err(GatherError::MissingUsage {
                operand,
                expected,
                found,
            }
            .into());
        }
        let bytes = bytes_of::<T>(countable(operand, shape)?)?;
        let (expected, found) = (range_bytes(bytes), buffer.size());
        if found < expected {
            return Err(GatherError::RangeTooShort {
                operand,
                expected,
                found,
            }
            .into());
        }
        Ok(Self::new(Storage::Gpu(buffer, Arc::clone(owner)), shape))
    }

    /// Copies the elements to the host. The copy is submitted when the future is first polled, and runs after all commands
    /// submitted before.
    ///
    /// # Errors
    ///
    /// - [`GpuError::BufferTooLarge`] if one buffer of the device cannot hold the tensor.
    /// - [`GpuError::InvalidElement`] if an app wrote bytes into the buffer that are no `T`.
    /// - The device is lost, or device or host have no memory.
    pub async fn download(&self) -> Result<Vec<T>, GpuError> {
        boxed(download(self, Wait::Poll)).await
    }

    /// As [`download`](Self::download), but waits on this thread.
    ///
    /// # Errors
    ///
    /// As [`download`](Self::download).
    ///
    /// ```no_run
    #[doc = include_str!("../../../tests/doc_examples/chain.rs")]
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn download_blocking(&self) -> Result<Vec<T>, GpuError> {
        pollster::block_on(download(self, Wait::Block))
    }
}

impl<T> Tensor<T> {
    /// A tensor with this shape, which must have as many elements as `storage`.
    pub(super) fn new(storage: Storage<Vec<T>>, shape: &[usize]) -> Self {
        Self {
            storage,
            shape: shape.to_vec(),
            len: elements_in(shape).expect("a shape of elements that are there"),
            element: PhantomData,
        }
    }

    /// The tensor's elements with another shape. Nothing is copied.
    ///
    /// # Errors
    ///
    /// [`GpuError::Shape`] if the shape has more or fewer elements.
    ///
    /// ```
    /// use wgpu_gather::Executor;
    ///
    /// let table = Executor::cpu().upload(&[0.0_f32, 0.1, 1.0, 1.1, 2.0, 2.1], &[6])?.with_shape(&[3, 2])?;
    /// assert_eq!(table.shape(), [3, 2]);
    /// let wrong = table.with_shape(&[3, 3]).unwrap_err();
    /// assert_eq!(wrong.to_string(), "tensor shape must have 6 elements, found [3,3]");
    /// # Ok::<(), wgpu_gather::GpuError>(())
    /// ```
    pub fn with_shape(mut self, shape: &[usize]) -> Result<Self, GpuError> {
        check_shape(Operand::Tensor, shape, self.len)?;
        self.shape = shape.to_vec();
        Ok(self)
    }

    /// The shape: as uploaded, or the plan's output shape if the tensor is an output. After
    /// [`gather_bytes`](crate::Executor::gather_bytes) a last dim counts the bytes in an element.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// How many elements the tensor has.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The buffer that holds the elements, with the usages `STORAGE`, `COPY_SRC` and `COPY_DST`. Its length is a multiple of 4
    /// and at least 4 bytes, unless it is an app's buffer.
    ///
    /// # Errors
    ///
    /// [`GpuError::InHostMemory`] if the tensor is on the CPU.
    pub fn buffer(&self) -> Result<&wgpu::Buffer, GpuError> {
        match &self.storage {
            Storage::Gpu(buffer, _) => Ok(buffer),
            Storage::Host(_) => Err(GpuError::InHostMemory),
        }
    }
}

impl<T> fmt::Debug for Tensor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tensor")
            .field("shape", &self.shape)
            .field("buffer", &self.buffer().ok())
            .finish_non_exhaustive()
    }
}

async fn download<T: Element>(tensor: &Tensor<T>, wait: Wait) -> Result<Vec<T>, GpuError> {
    let (buffer, owner) = match &tensor.storage {
        Storage::Host(elements) => return copied(elements),
        Storage::Gpu(buffer, owner) => (buffer, owner),
    };
    let bytes = tensor.len() * size_of::<T>();
    let start = || start_download(owner, buffer, bytes as u64);
    let mapping = scoped_start(&owner.device, start).await?;
    let read = |mapped: &[u8]| elements_of(Operand::Tensor, &mapped[..bytes]);
    mapping.read(wait, read).await?
}

fn start_download<'a>(
    owner: &'a Owner,
    buffer: &wgpu::Buffer,
    bytes: u64,
) -> Result<Mapping<'a>, GpuError> {
    let readback = owner.make_readback(Operand::Tensor, bytes)?;
    let submission = owner.submit("wgpu-gather/download", |encoder| {
        // An empty tensor takes 0 bytes: an app's buffer may have none.
        encoder.copy_buffer_to_buffer(buffer, 0, &readback, 0, range_bytes(bytes));
    })?;
    owner.map(readback, submission)
}

/// Checks that a shape has `len` elements.
pub(super) fn check_shape(operand: Operand, shape: &[usize], len: usize) -> Result<(), GpuError> {
    if elements_in(shape) == Some(len) {
        return Ok(());
    }
    Err(GpuError::Shape {
        operand,
        expected: len,
        shape: shape.to_vec(),
    })
}

/// The shape in bytes of encoded rows that have `shape` in values. Checks how long rows, scales and zero points are.
pub(super) fn rows_shape(params: &Encoded<&[u8]>, shape: &[usize]) -> Result<Vec<usize>, GpuError> {
    let too_many = |elements| GatherError::TooManyBytes {
        operand: Operand::Params,
        elements,
        element_bytes: 1,
    };
    let values = countable(Operand::Params, shape)?;
    let last_dim = shape.last().map_or(1, |&dim| dim as u64);
    let (encoding, values) = (params.encoding, values as u64);
    let parts = encoding.parts_of(last_dim)?;
    params
        .map(|bytes| bytes.len())
        .check(parts, values..=values)?;
    let row_bytes = match last_dim {
        0 => Some(0),
        len => encoding.row_bytes(len),
    };
    let row_bytes = row_bytes.and_then(|bytes| usize::try_from(bytes).ok());
    let mut shape = shape.to_vec();
    match shape.last_mut() {
        Some(dim) => *dim = row_bytes.ok_or(too_many(last_dim))?,
        None => shape.push(params.rows.len()),
    }
    Ok(shape)
}

/// How many bytes `len` elements take.
fn bytes_of<T>(len: usize) -> Result<u64, GatherError> {
    let (elements, element_bytes) = (len as u64, size_of::<T>() as u64);
    elements
        .checked_mul(element_bytes)
        .filter(|&bytes| bytes <= i64::MAX.unsigned_abs())
        .ok_or(GatherError::TooManyBytes {
            operand: Operand::Tensor,
            elements,
            element_bytes,
        })
}

/// How many elements a shape has; an error that shows it if no `usize` counts them.
fn countable(operand: Operand, shape: &[usize]) -> Result<usize, PlanError> {
    elements_in(shape).ok_or_else(|| PlanError::TooManyElements {
        operand,
        shape: shape.to_vec(),
        limit: MAX_ELEMENTS,
    })
}

/// How many elements a shape has, if a `usize` counts them.
pub(super) fn elements_in(shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    let mut dims = shape.iter();
    dims.try_fold(1, |elements: usize, &dim| elements.checked_mul(dim))
}
