//! Tensors that stay where they are: on the GPU, or in host memory where there is none.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::context::Gpu;
use super::staging::TENSOR;
use super::transfer::Download;
use crate::element::GatherElement;
use crate::error::{GatherError, GpuError, Operand};
use crate::gpu::types::range_bytes;

/// Row-major elements of type `T` and a shape, which stay on the GPU until they are asked for. A gather takes tensors
/// as params and as indices.
///
/// Made by [`Gpu::upload`], [`Gpu::zeros`] and [`from_buffer`](Self::from_buffer), and by gathers whose output stays on
/// the GPU ([`GatherRequest::on_gpu`](crate::GatherRequest::on_gpu)). A tensor belongs to the [`Gpu`] that made it. A
/// tensor of an [`Executor`](crate::Executor) without a GPU is in host memory. Clones share the elements.
///
/// The shape is for making plans. A gather takes all shapes from its plan, and checks only the number of elements.
#[derive(Clone)]
pub struct Tensor<T> {
    place: Place<T>,
    shape: Vec<usize>,
    /// The product of the shape.
    len: usize,
}

/// The place of a tensor's elements.
#[derive(Clone)]
pub(super) enum Place<T> {
    Device {
        buffer: wgpu::Buffer,
        gpu: Gpu,
        element: PhantomData<fn() -> T>,
    },
    Host(Arc<Vec<T>>),
}

impl<T: GatherElement> Tensor<T> {
    /// The first `len` elements of an app's buffer, as a tensor of one dim. The buffer has the usages `STORAGE`,
    /// `COPY_SRC` and `COPY_DST`. Nothing is copied: the tensor and the app share the buffer.
    ///
    /// The buffer must be of the device of `gpu`. No check can see whose buffer it is: wgpu may take a buffer of another
    /// `wgpu::Instance` for one of its own.
    ///
    /// # Errors
    ///
    /// - [`GatherError::ZeroSizedElement`] for elements of no bytes.
    /// - [`GatherError::MissingUsage`] for a buffer without one of the usages.
    /// - [`GatherError::TooManyBytes`] for elements of more than `i64::MAX` bytes.
    /// - [`GatherError::RangeTooShort`] for a buffer of fewer bytes than the elements, rounded up to a multiple of 4.
    ///
    /// ```
    /// use wgpu_gather::{Gpu, Tensor, wgpu};
    ///
    /// # let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    /// let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    /// let descriptor = wgpu::BufferDescriptor { label: None, size: 64, usage, mapped_at_creation: false };
    /// let buffer = device.create_buffer(&descriptor);
    /// let gpu = Gpu::from_parts(device, queue);
    /// assert_eq!(Tensor::<f32>::from_buffer(&gpu, buffer.clone(), 16)?.shape(), [16]);
    /// assert!(Tensor::<f32>::from_buffer(&gpu, buffer, 17).is_err());
    /// # Ok::<(), wgpu_gather::GpuError>(())
    /// ```
    pub fn from_buffer(gpu: &Gpu, buffer: wgpu::Buffer, len: usize) -> Result<Self, GpuError> {
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
        let (expected, found) = (range_bytes(bytes_of::<T>(len)?), buffer.size());
        if found < expected {
            return Err(GatherError::RangeTooShort {
                operand,
                expected,
                found,
            }
            .into());
        }
        Ok(Self::on(gpu, buffer, len, vec![len]))
    }

    /// The elements, brought to the host after all commands submitted so far.
    ///
    /// The copy is submitted when the request is awaited or waited for.
    ///
    /// # Errors
    ///
    /// - [`GpuError::BufferTooLarge`] for a tensor larger than one buffer of the device.
    /// - [`GpuError::InvalidElement`] for bytes that an app wrote into the tensor's buffer and that are no `T`.
    /// - Errors of a device that is lost, and of a device or a host without memory.
    ///
    /// ```no_run
    #[doc = include_str!("../../../tests/doc_examples/chain.rs")]
    /// ```
    pub fn download(&self) -> Download<'_, T> {
        Download { tensor: self }
    }
}

impl<T> Tensor<T> {
    /// A tensor on the GPU whose `shape` has `len` elements.
    pub(super) fn on(gpu: &Gpu, buffer: wgpu::Buffer, len: usize, shape: Vec<usize>) -> Self {
        let place = Place::Device {
            buffer,
            gpu: gpu.clone(),
            element: PhantomData,
        };
        Self { place, shape, len }
    }

    /// A tensor in host memory.
    pub(super) fn on_host(elements: Vec<T>, shape: Vec<usize>) -> Self {
        Self {
            len: elements.len(),
            place: Place::Host(Arc::new(elements)),
            shape,
        }
    }

    pub(super) fn place(&self) -> &Place<T> {
        &self.place
    }

    pub(super) fn place_mut(&mut self) -> &mut Place<T> {
        &mut self.place
    }

    /// The tensor's elements with another shape. Nothing is copied.
    ///
    /// # Errors
    ///
    /// [`GatherError::Shape`] for a shape of more or fewer elements.
    ///
    /// ```
    /// use wgpu_gather::{Gather, Gpu, wgpu};
    ///
    /// # let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    /// # let gpu = Gpu::from_parts(device, queue);
    /// let table = gpu.upload(&[0.0_f32, 0.1, 1.0, 1.1, 2.0, 2.1])?;
    /// assert_eq!(table.shape(), [6]);
    /// let table = table.with_shape(&[3, 2])?;
    /// let plan = Gather::new().plan(table.shape(), &[5])?;
    /// assert_eq!(plan.output_shape(), [5, 2]);
    ///
    /// let wrong = table.with_shape(&[3, 3]).unwrap_err();
    /// assert_eq!(wrong.to_string(), "tensor shape must have 6 elements, found [3,3]");
    /// # Ok::<(), wgpu_gather::GpuError>(())
    /// ```
    pub fn with_shape(mut self, shape: &[usize]) -> Result<Self, GpuError> {
        check_shape(shape, self.len)?;
        self.shape = shape.to_vec();
        Ok(self)
    }

    /// The shape: `[len]` at first, or the plan's output shape for the output of a gather. The output of
    /// [`Gpu::gather_bytes`] has the bytes of an element as a last dim.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The buffer of the elements, with the usages `STORAGE`, `COPY_SRC` and `COPY_DST`. Its length is a multiple of 4
    /// and at least 4 bytes, unless it is an app's buffer.
    ///
    /// # Errors
    ///
    /// [`GpuError::InHostMemory`] for a tensor of an [`Executor`](crate::Executor) without a GPU.
    pub fn buffer(&self) -> Result<&wgpu::Buffer, GpuError> {
        match &self.place {
            Place::Device { buffer, .. } => Ok(buffer),
            Place::Host(_) => Err(GpuError::InHostMemory),
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

pub(super) fn check_shape(shape: &[usize], len: usize) -> Result<(), GatherError> {
    if elements_in(shape) == Some(len) {
        return Ok(());
    }
    Err(GatherError::Shape {
        expected: len,
        shape: shape.to_vec(),
    })
}

/// The bytes of `len` elements.
pub(super) fn bytes_of<T>(len: usize) -> Result<u64, GatherError> {
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

/// The number of elements of a shape, if a `usize` counts them.
pub(super) fn elements_in(shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape
        .iter()
        .try_fold(1, |elements: usize, &dim| elements.checked_mul(dim))
}
