//! Tables that stay on the GPU: made from the host's elements or an app's buffer, and brought back.

use std::any::type_name;
use std::marker::PhantomData;

use super::context::Gpu;
use super::mapping::{Mapping, Wait};
use super::owner::Owner;
use super::staging::{HOST, TABLE};
use crate::cpu::memcpy_chunks;
use crate::element::GatherElement;
use crate::error::{GatherError, GpuError, Operand, RunError};
use crate::gpu::scope::scoped_start;
use crate::gpu::types::range_bytes;

/// A tensor that stays on the GPU: a buffer of row-major elements of type `T`, and a shape. Gathers take it as params
/// or as indices.
///
/// Made by [`Gpu::upload`] from the host's elements, by [`from_buffer`](Self::from_buffer) from an app's buffer, and by
/// [`Gpu::gather_to_table`] from other tables. Its buffer may also be an operand of a gather that an app records
/// itself.
///
/// The shape is for making plans. A gather takes all shapes from its plan, and checks only the table's length.
#[derive(Debug, Clone)]
pub struct GpuTable<T> {
    buffer: wgpu::Buffer,
    /// `None` for an app's buffer.
    owner: Option<Owner>,
    /// The product of the shape.
    len: usize,
    shape: Vec<usize>,
    element: PhantomData<fn() -> T>,
}

impl<T: GatherElement> GpuTable<T> {
    /// The first `len` elements of an app's buffer, as a table of one dim. The buffer has the usages `STORAGE`,
    /// `COPY_SRC` and `COPY_DST`. Nothing is copied: the table and the app share the buffer.
    ///
    /// The buffer must be of the device that gathers from the table. No check can see whose buffer it is: wgpu may take a
    /// buffer of another `wgpu::Instance` for one of its own.
    ///
    /// # Errors
    ///
    /// - [`GatherError::ZeroSizedElement`] for elements of no bytes.
    /// - [`GatherError::MissingUsage`] for a buffer without one of the usages.
    /// - [`GatherError::TooManyBytes`] for elements of more than `i64::MAX` bytes.
    /// - [`GatherError::RangeTooShort`] for a buffer of fewer bytes than the elements, rounded up to a multiple of 4.
    ///
    /// ```
    /// use wgpu_gather::{GpuTable, wgpu};
    ///
    /// # let (device, _queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    /// let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    /// let descriptor = wgpu::BufferDescriptor { label: None, size: 64, usage, mapped_at_creation: false };
    /// let buffer = device.create_buffer(&descriptor);
    /// assert_eq!(GpuTable::<f32>::from_buffer(buffer.clone(), 16).map(|table| table.len()), Ok(16));
    /// assert!(GpuTable::<f32>::from_buffer(buffer, 17).is_err());
    /// ```
    pub fn from_buffer(buffer: wgpu::Buffer, len: usize) -> Result<Self, GatherError> {
        if size_of::<T>() == 0 {
            return Err(GatherError::ZeroSizedElement);
        }
        if !buffer.usage().contains(TABLE) {
            return Err(GatherError::MissingUsage {
                operand: Operand::Table,
                expected: TABLE,
                found: buffer.usage(),
            });
        }
        let (elements, element_bytes) = (len as u64, size_of::<T>() as u64);
        let expected = elements.checked_mul(element_bytes);
        let expected = expected.filter(|&bytes| bytes <= i64::MAX.unsigned_abs());
        let expected = expected.ok_or(GatherError::TooManyBytes {
            operand: Operand::Table,
            elements,
            element_bytes,
        })?;
        let (expected, found) = (range_bytes(expected), buffer.size());
        if found < expected {
            return Err(GatherError::RangeTooShort {
                operand: Operand::Table,
                expected,
                found,
            });
        }
        Ok(Self::of(None, buffer, len, vec![len]))
    }
}

impl<T> GpuTable<T> {
    /// A table whose `shape` has `len` elements.
    pub(super) fn of(
        owner: Option<Owner>,
        buffer: wgpu::Buffer,
        len: usize,
        shape: Vec<usize>,
    ) -> Self {
        Self {
            buffer,
            owner,
            len,
            shape,
            element: PhantomData,
        }
    }

    /// The table's elements with another shape. Nothing is copied.
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
    /// assert_eq!(wrong.to_string(), "table shape must have 6 elements, found [3,3]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_shape(mut self, shape: &[usize]) -> Result<Self, GatherError> {
        if elements_in(shape) != Some(self.len) {
            return Err(GatherError::Shape {
                expected: self.len,
                shape: shape.to_vec(),
            });
        }
        self.shape = shape.to_vec();
        Ok(self)
    }

    /// The shape: `[len]` at first, or the plan's output shape for the output of a gather.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The buffer of the elements, with the usages `STORAGE`, `COPY_SRC` and `COPY_DST`. Its length is a multiple of 4
    /// and at least 4 bytes, unless it is an app's buffer.
    #[must_use]
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }
}

impl<T: GatherElement> GpuTable<T> {
    /// The table's elements, from all bytes of its buffer.
    fn elements(&self, bytes: &[u8]) -> Result<Vec<T>, GpuError> {
        elements_of(&bytes[..self.len * size_of::<T>()])
    }
}

impl Gpu {
    /// Copies elements to the GPU, as a table of one dim.
    ///
    /// # Errors
    ///
    /// - [`GatherError::ZeroSizedElement`] for elements of no bytes.
    /// - [`GpuError::BufferTooLarge`] for more bytes than one buffer of the device may have.
    /// - [`GatherError::OutOfMemory`] if the device has no memory for them.
    pub fn upload<T: GatherElement>(&self, elements: &[T]) -> Result<GpuTable<T>, GpuError> {
        if size_of::<T>() == 0 {
            return Err(GatherError::ZeroSizedElement.into());
        }
        let staged = self.stage(Operand::Table, bytemuck::cast_slice(elements))?;
        self.submit("wgpu-gather/upload", |encoder| staged.copy(encoder))?;
        Ok(GpuTable::of(
            Some(self.owner),
            staged.buffer,
            elements.len(),
            vec![elements.len()],
        ))
    }

    /// Brings a table's elements back to the host, after all commands submitted so far.
    ///
    /// # Errors
    ///
    /// - [`GpuError::OtherGpu`] for a table of another `Gpu`.
    /// - [`GpuError::BufferTooLarge`] for a table larger than one buffer of the device.
    /// - [`GpuError::InvalidElement`] for bytes that an app wrote into the table's buffer and that are no `T`.
    /// - Errors of a device that is lost or out of memory.
    pub async fn download<T: GatherElement>(
        &self,
        table: &GpuTable<T>,
    ) -> Result<Vec<T>, GpuError> {
        scoped_start(&self.device, || self.start_download(table))
            .await?
            .read(Wait::Poll, |bytes| table.elements(bytes))
            .await?
    }

    /// As [`download`](Self::download), but waits on this thread.
    ///
    /// # Errors
    ///
    /// The errors of [`download`](Self::download).
    #[cfg(not(target_arch = "wasm32"))]
    pub fn download_blocking<T: GatherElement>(
        &self,
        table: &GpuTable<T>,
    ) -> Result<Vec<T>, GpuError> {
        let result = self.start_download(table)?;
        pollster::block_on(result.read(Wait::Block, |bytes| table.elements(bytes)))?
    }

    /// Checks that a table is not of another `Gpu`. A table of an app's buffer has no owner.
    pub(super) fn check_owner<T>(
        &self,
        operand: Operand,
        table: &GpuTable<T>,
    ) -> Result<(), GpuError> {
        match table.owner {
            Some(owner) if owner != self.owner => Err(GpuError::OtherGpu { operand }),
            _ => Ok(()),
        }
    }

    fn start_download<T>(&self, table: &GpuTable<T>) -> Result<Mapping, GpuError> {
        self.check_owner(Operand::Table, table)?;
        // 0 for an empty table, since an app's buffer may have no bytes.
        let size = range_bytes((table.len * size_of::<T>()) as u64);
        let readback =
            self.make_buffer(Operand::Table, size.max(4), HOST, "wgpu-gather/readback")?;
        let submission = self.submit("wgpu-gather/download", |encoder| {
            encoder.copy_buffer_to_buffer(&table.buffer, 0, &readback, 0, size);
        })?;
        Mapping::start(&self.device, readback, wgpu::MapMode::Read, submission)
    }
}

/// The number of elements of a shape, if a `usize` counts them.
fn elements_in(shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape
        .iter()
        .try_fold(1, |elements: usize, &dim| elements.checked_mul(dim))
}

/// Copies mapped bytes to elements. The output of a gather is valid if the elements of its table are.
pub(super) fn elements_of<T: GatherElement>(bytes: &[u8]) -> Result<Vec<T>, GpuError> {
    let len = bytes.len() / size_of::<T>();
    let mut elements = Vec::new();
    elements
        .try_reserve_exact(len)
        .map_err(|_| RunError::OutOfMemory {
            elements: len as u64,
            element_bytes: size_of::<T>(),
        })?;
    if let Ok(mapped) = bytemuck::checked::try_cast_slice(bytes) {
        for piece in memcpy_chunks(mapped) {
            elements.extend_from_slice(piece);
        }
        return Ok(elements);
    }
    // The mapping is not aligned for `T`, or an app has written bytes that are no `T`.
    for bytes in bytes.chunks_exact(size_of::<T>()) {
        let element = bytemuck::checked::try_pod_read_unaligned(bytes);
        elements.push(element.map_err(|_| GpuError::InvalidElement {
            element: type_name::<T>(),
        })?);
    }
    Ok(elements)
}
