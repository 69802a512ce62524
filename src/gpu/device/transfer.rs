//! Elements between the host and the GPU: uploads of tensors, tensors of zeros, downloads.

use super::context::Gpu;
use super::elements::elements_of;
use super::mapping::{Mapping, Wait};
use super::request::{Boxed, boxed};
use super::staging::{HOST, TENSOR};
use super::tensor::{Place, Tensor, bytes_of, check_shape, elements_in};
use crate::element::GatherElement;
use crate::error::{GatherError, GpuError, Operand, RunError};
use crate::gpu::scope::scoped_start;
use crate::gpu::types::range_bytes;

impl Gpu {
    /// Copies elements to the GPU, as a tensor of one dim.
    ///
    /// # Errors
    ///
    /// - [`GatherError::ZeroSizedElement`] for elements of no bytes.
    /// - [`GpuError::BufferTooLarge`] for more bytes than one buffer of the device may have.
    /// - [`GatherError::OutOfMemory`] if the device has no memory for them.
    pub fn upload<T: GatherElement>(&self, elements: &[T]) -> Result<Tensor<T>, GpuError> {
        self.upload_shaped(elements, &[elements.len()])
    }

    /// Copies elements to the GPU, as a tensor of this shape.
    ///
    /// # Errors
    ///
    /// The errors of [`upload`](Self::upload), and [`GatherError::Shape`] for a shape of more or fewer elements.
    ///
    /// ```
    /// use wgpu_gather::{Gpu, wgpu};
    ///
    /// # let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    /// # let gpu = Gpu::from_parts(device, queue);
    /// let table = gpu.upload_shaped(&[0.0_f32, 0.1, 1.0, 1.1, 2.0, 2.1], &[3, 2])?;
    /// assert_eq!(table.shape(), [3, 2]);
    /// assert!(gpu.upload_shaped(&[0.0_f32], &[3, 2]).is_err());
    /// # Ok::<(), wgpu_gather::GpuError>(())
    /// ```
    pub fn upload_shaped<T: GatherElement>(
        &self,
        elements: &[T],
        shape: &[usize],
    ) -> Result<Tensor<T>, GpuError> {
        check_shape(shape, elements.len())?;
        if size_of::<T>() == 0 {
            return Err(GatherError::ZeroSizedElement.into());
        }
        let staged = self.stage(Operand::Tensor, bytemuck::cast_slice(elements))?;
        self.submit("wgpu-gather/upload", |encoder| staged.copy(encoder))?;
        Ok(Tensor::on(
            self,
            staged.buffer,
            elements.len(),
            shape.to_vec(),
        ))
    }

    /// A tensor of this shape whose elements have all bits zero, for instance as the output of
    /// [`GatherRequest::into_tensor`](crate::GatherRequest::into_tensor).
    ///
    /// # Errors
    ///
    /// The errors of [`upload`](Self::upload), and [`GatherError::TooManyBytes`] for a shape of more than `i64::MAX`
    /// bytes.
    ///
    /// ```
    /// use wgpu_gather::{Gpu, wgpu};
    ///
    /// # let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    /// # let gpu = Gpu::from_parts(device, queue);
    /// assert_eq!(gpu.zeros::<f32>(&[3, 2])?.shape(), [3, 2]);
    /// # Ok::<(), wgpu_gather::GpuError>(())
    /// ```
    pub fn zeros<T: GatherElement>(&self, shape: &[usize]) -> Result<Tensor<T>, GpuError> {
        if size_of::<T>() == 0 {
            return Err(GatherError::ZeroSizedElement.into());
        }
        let len = elements_in(shape).unwrap_or(usize::MAX);
        let bytes = range_bytes(bytes_of::<T>(len)?).max(4);
        let buffer = self.make_buffer(Operand::Tensor, bytes, TENSOR, "wgpu-gather/zeros")?;
        Ok(Tensor::on(self, buffer, len, shape.to_vec()))
    }
}

/// The request for a tensor's elements on the host, made by [`Tensor::download`]: awaited, or waited for.
#[derive(Debug)]
#[must_use = "nothing is downloaded before the request is awaited or waited for"]
pub struct Download<'a, T> {
    pub(super) tensor: &'a Tensor<T>,
}

impl<T: GatherElement> Download<'_, T> {
    /// Downloads, and waits on this thread.
    ///
    /// # Errors
    ///
    /// The errors of [`Tensor::download`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn wait(self) -> Result<Vec<T>, GpuError> {
        pollster::block_on(download(self.tensor, Wait::Block))
    }
}

impl<'a, T: GatherElement> IntoFuture for Download<'a, T> {
    type Output = Result<Vec<T>, GpuError>;
    type IntoFuture = Boxed<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        boxed(download(self.tensor, Wait::Poll))
    }
}

async fn download<T: GatherElement>(tensor: &Tensor<T>, wait: Wait) -> Result<Vec<T>, GpuError> {
    match tensor.place() {
        Place::Host(elements) => copied(elements),
        Place::Device { buffer, gpu, .. } => {
            let bytes = tensor.len() * size_of::<T>();
            scoped_start(gpu.device(), || start_download(gpu, buffer, bytes))
                .await?
                .read(wait, |mapped| {
                    elements_of(Operand::Tensor, &mapped[..bytes])
                })
                .await?
        }
    }
}

fn start_download(gpu: &Gpu, buffer: &wgpu::Buffer, bytes: usize) -> Result<Mapping, GpuError> {
    // 0 for an empty tensor, since an app's buffer may have no bytes.
    let size = range_bytes(bytes as u64);
    let readback = gpu.make_buffer(Operand::Tensor, size.max(4), HOST, "wgpu-gather/readback")?;
    let submission = gpu.submit("wgpu-gather/download", |encoder| {
        encoder.copy_buffer_to_buffer(buffer, 0, &readback, 0, size);
    })?;
    Mapping::start(gpu.device(), readback, submission)
}

/// A copy of elements in host memory.
pub(super) fn copied<T: Copy>(elements: &[T]) -> Result<Vec<T>, GpuError> {
    let mut copy = Vec::new();
    let reserved = copy.try_reserve_exact(elements.len());
    reserved.map_err(|_| RunError::OutOfMemory {
        operand: Operand::Tensor,
        elements: elements.len() as u64,
        element_bytes: size_of::<T>(),
    })?;
    copy.extend_from_slice(elements);
    Ok(copy)
}
