//! The operands of a request: elements in host memory, or tensors.

use super::context::Gpu;
use super::tensor::{Place, Tensor};
use crate::error::{GpuError, Operand};
use crate::index::{GatherIndex, IndexValues};

/// Params or indices of a gather: elements in host memory, which the gather uploads, or a tensor. Made by `into` of a
/// reference to a slice, an array, a `Vec` or a [`Tensor`].
#[derive(Debug)]
pub enum Input<'a, T> {
    /// Elements in host memory.
    Host(&'a [T]),
    /// A tensor, which stays where it is.
    Tensor(&'a Tensor<T>),
}

impl<'a, T> From<&'a [T]> for Input<'a, T> {
    fn from(elements: &'a [T]) -> Self {
        Self::Host(elements)
    }
}

impl<'a, T> From<&'a Vec<T>> for Input<'a, T> {
    fn from(elements: &'a Vec<T>) -> Self {
        Self::Host(elements)
    }
}

impl<'a, T, const N: usize> From<&'a [T; N]> for Input<'a, T> {
    fn from(elements: &'a [T; N]) -> Self {
        Self::Host(elements)
    }
}

impl<'a, T> From<&'a Tensor<T>> for Input<'a, T> {
    fn from(tensor: &'a Tensor<T>) -> Self {
        Self::Tensor(tensor)
    }
}

impl<'a, T> Input<'a, T> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Host(elements) => elements.len(),
            Self::Tensor(tensor) => tensor.len(),
        }
    }

    /// The shape of a tensor; one dim for elements in host memory.
    pub(super) fn shape(&self) -> Vec<usize> {
        match self {
            Self::Host(elements) => vec![elements.len()],
            Self::Tensor(tensor) => tensor.shape().to_vec(),
        }
    }

    /// The elements, for a gather on the CPU: an error for a tensor of a GPU.
    pub(super) fn on_cpu(&self, operand: Operand) -> Result<&'a [T], GpuError> {
        match self {
            Self::Host(elements) => Ok(elements),
            Self::Tensor(tensor) => match tensor.place() {
                Place::Host(elements) => Ok(elements),
                Place::Device { .. } => Err(GpuError::OtherOwner { operand }),
            },
        }
    }

    /// The elements or their buffer, for a gather on `gpu`: an error for a tensor of another owner.
    pub(super) fn on_gpu(&self, operand: Operand, gpu: &Gpu) -> Result<OnGpu<'a, T>, GpuError> {
        match self {
            Self::Host(elements) => Ok(OnGpu::Host(elements)),
            Self::Tensor(tensor) => Ok(OnGpu::Buffer(tensor.buffer_on(operand, gpu)?)),
        }
    }
}

impl<T> Tensor<T> {
    /// The tensor's buffer; an error if the tensor is not of `gpu`.
    pub(super) fn buffer_on(&self, operand: Operand, of: &Gpu) -> Result<&wgpu::Buffer, GpuError> {
        match self.place() {
            Place::Device { buffer, gpu, .. } if gpu.is(of) => Ok(buffer),
            _ => Err(GpuError::OtherOwner { operand }),
        }
    }
}

/// An operand of a gather on a GPU.
pub(super) enum OnGpu<'a, T> {
    Host(&'a [T]),
    Buffer(&'a wgpu::Buffer),
}

/// The indices of a request, of a type that is known only at run time.
#[derive(Debug)]
pub(super) struct Indices<'a> {
    /// Index values; bytes if the request is for bytes.
    pub(super) len: usize,
    place: IndexPlace<'a>,
}

#[derive(Debug)]
enum IndexPlace<'a> {
    Values(IndexValues<'a>),
    Bytes(&'a [u8]),
    Device(&'a wgpu::Buffer, &'a Gpu),
    /// A tensor in host memory; without values if the request is for bytes.
    HostTensor(Option<IndexValues<'a>>),
}

impl<'a> Indices<'a> {
    pub(super) fn of<I: GatherIndex>(input: &Input<'a, I>) -> Self {
        let place = match input {
            Input::Host(values) => IndexPlace::Values(I::values(values)),
            Input::Tensor(tensor) => match tensor.place() {
                Place::Device { buffer, gpu, .. } => IndexPlace::Device(buffer, gpu),
                Place::Host(values) => IndexPlace::HostTensor(Some(I::values(values))),
            },
        };
        Self {
            len: input.len(),
            place,
        }
    }

    pub(super) fn from_bytes(input: &Input<'a, u8>) -> Self {
        let place = match input {
            Input::Host(bytes) => IndexPlace::Bytes(bytes),
            Input::Tensor(tensor) => match tensor.place() {
                Place::Device { buffer, gpu, .. } => IndexPlace::Device(buffer, gpu),
                Place::Host(_) => IndexPlace::HostTensor(None),
            },
        };
        Self {
            len: input.len(),
            place,
        }
    }

    /// The values, for a gather on the CPU: an error for a tensor of a GPU.
    pub(super) fn on_cpu(&self) -> Result<IndexValues<'a>, GpuError> {
        match self.place {
            IndexPlace::Values(values) | IndexPlace::HostTensor(Some(values)) => Ok(values),
            _ => Err(GpuError::OtherOwner {
                operand: Operand::Indices,
            }),
        }
    }

    /// The bytes of the values or their buffer, for a gather on `gpu`: an error for a tensor of another owner.
    pub(super) fn on_gpu(&self, gpu: &Gpu) -> Result<OnGpu<'a, u8>, GpuError> {
        match self.place {
            IndexPlace::Values(values) => Ok(OnGpu::Host(values.bytes())),
            IndexPlace::Bytes(bytes) => Ok(OnGpu::Host(bytes)),
            IndexPlace::Device(buffer, of) if of.is(gpu) => Ok(OnGpu::Buffer(buffer)),
            _ => Err(GpuError::OtherOwner {
                operand: Operand::Indices,
            }),
        }
    }
}
