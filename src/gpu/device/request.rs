//! The request for a gather: its operands, and its options.

use std::borrow::Cow;
use std::sync::Arc;

use super::gather::{IndexOperand, ParamsOperand, UncheckedGather};
use super::indices::Indices;
use super::owner::Owner;
use super::planned::planned;
use super::tensor::Tensor;
use super::waiting::{Request, boxed};
use crate::element::{ElementTypes, GatherElement};
use crate::encoding::{Encoded, Encoding};
use crate::gpu::fill::Fill;
use crate::index::{GatherIndex, IndexValues};
use crate::plan::{GatherPlan, ToPlan};

/// The request for a gather, made by [`Gpu::gather`](crate::Gpu::gather), [`Gpu::gather_bytes`](crate::Gpu::gather_bytes)
/// and the calls of an [`Executor`](crate::Executor). See [`Request`].
pub type GatherRequest<'a, T, O = Vec<T>> = Request<'a, UncheckedGather<'a, T>, O>;

/// Options of a gather to the host.
impl<'a, T: GatherElement> Request<'a, UncheckedGather<'a, T>, Vec<T>> {
    /// Keeps the output on the GPU, as a tensor of the plan's output shape; for bytes, the bytes of an element are a last
    /// dim. The request then waits for no work of the GPU, except for the report that the policy
    /// [`BadIndices::Error`](crate::BadIndices::Error) needs. The output of an [`Executor`](crate::Executor) without a
    /// GPU stays in host memory.
    ///
    /// ```no_run
    #[doc = include_str!("../../../tests/doc_examples/chain.rs")]
    /// ```
    pub fn on_gpu(self) -> GatherRequest<'a, T, Tensor<T>> {
        Request {
            input: self.input,
            finish: |input, wait| boxed(input.into_new_tensor(wait)),
        }
    }

    /// Writes the output into the caller's tensor, which must have the number of elements of the plan's output. The
    /// request waits as for [`on_gpu`](Self::on_gpu). wgpu does not need to clear the memory of a tensor that is written
    /// again.
    ///
    /// ```
    /// use wgpu_gather::{Gather, Gpu, wgpu};
    ///
    /// # let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    /// # let gpu = Gpu::from_parts(device, queue);
    /// let table = gpu.upload(&[0.0_f32; 300], &[100, 3])?;
    /// let mut output = gpu.zeros(&[4, 3])?;
    /// for indices in [[0, 1, 2, 3], [96, 97, 98, 99]] {
    ///     gpu.gather(Gather::new(), &table, &indices).into_tensor(&mut output).wait()?;
    /// }
    /// # Ok::<(), wgpu_gather::GpuError>(())
    /// ```
    pub fn into_tensor(mut self, output: &'a mut Tensor<T>) -> GatherRequest<'a, T, ()> {
        self.input.output = Some(output);
        Request {
            input: self.input,
            finish: |input, wait| boxed(input.into_tensor(wait)),
        }
    }
}

/// Options of any gather.
impl<'a, T: GatherElement, O> Request<'a, UncheckedGather<'a, T>, O> {
    /// Bad rows hold `fill` instead of zeros. Widths are limited as for
    /// [`GatherBuffers::fill`](crate::GatherBuffers::fill). A request for bytes takes
    /// [`fill_bytes`](Self::fill_bytes).
    ///
    /// With [`BadIndices::DeviceDefault`](crate::BadIndices::DeviceDefault), a bad row is an error on an
    /// [`Executor`](crate::Executor) without a GPU, also with a fill. [`Fill`](crate::BadIndices::Fill) fills on each
    /// device.
    ///
    /// ```no_run
    #[doc = include_str!("../../../tests/doc_examples/filled.rs")]
    /// ```
    pub fn fill(self, fill: T) -> Self {
        self.fill_bytes(bytemuck::bytes_of(&fill))
    }

    /// As [`fill`](Self::fill), but takes the bytes of one element.
    pub fn fill_bytes(mut self, fill: &[u8]) -> Self {
        self.input.fill = Some(Fill::new(fill));
        self
    }

    /// Writes the mask of bad rows into the caller's tensor, which must have
    /// [`index_row_count`](GatherPlan::index_row_count) elements: `true` for each index row that is out of range, as
    /// [`GatherPlan::out_of_range`] describes. The mask is written also if the output is empty, or if the request
    /// returns the error of a bad row. The request does not wait for the mask.
    ///
    /// ```
    /// use wgpu_gather::{BadIndices, Executor, Gather};
    ///
    /// # let executor = Executor::Cpu(wgpu_gather::GpuError::NoAdapter("none".into()));
    /// let table = executor.upload(&[10, 20, 30], &[3])?;
    /// let mut bad_rows = executor.zeros(&[3])?;
    /// let gather = Gather::new().bad_indices(BadIndices::Clamp);
    /// let rows = executor.gather(gather, &table, &[2, 7, -1]).mask(&mut bad_rows).wait()?;
    /// assert_eq!(rows, [30, 30, 10]);
    /// assert_eq!(bad_rows.download().wait()?, [false, true, true]);
    /// # Ok::<(), wgpu_gather::GpuError>(())
    /// ```
    pub fn mask(mut self, mask: &'a mut Tensor<bool>) -> Self {
        self.input.mask = Some(mask);
        self
    }
}

/// The gather of a plan, or of an operation that is planned for the shapes of the operands.
pub(super) fn gather<'a, T: GatherElement, I: GatherIndex>(
    owner: Option<&'a Arc<Owner>>,
    plan: impl ToPlan<'a>,
    params: &'a Tensor<T>,
    indices: &Indices<'a, I>,
) -> GatherRequest<'a, T> {
    request(UncheckedGather {
        owner,
        plan: planned(plan, params.shape(), None, indices),
        types: ElementTypes::of::<T, I>(),
        in_bytes: false,
        params: ParamsOperand::Elements(params),
        indices: indices.operand(),
        fill: None,
        output: None,
        mask: None,
    })
}

/// As [`gather`], of encoded rows.
pub(super) fn gather_decoded<'a, I: GatherIndex>(
    owner: Option<&'a Arc<Owner>>,
    plan: impl ToPlan<'a>,
    encoding: Encoding,
    params: Encoded<&'a Tensor<u8>>,
    indices: &Indices<'a, I>,
) -> GatherRequest<'a, f32> {
    request(UncheckedGather {
        owner,
        plan: planned(plan, params.rows.shape(), Some(encoding), indices),
        types: ElementTypes::encoded(encoding, I::KIND),
        in_bytes: false,
        params: ParamsOperand::Encoded(params, encoding),
        indices: indices.operand(),
        fill: None,
        output: None,
        mask: None,
    })
}

/// The gather of operands that are bytes.
pub(super) fn gather_bytes<'a>(
    owner: Option<&'a Arc<Owner>>,
    plan: &'a GatherPlan,
    types: ElementTypes,
    params: &'a Tensor<u8>,
    indices: &'a Tensor<u8>,
) -> GatherRequest<'a, u8> {
    request(UncheckedGather {
        owner,
        plan: Ok(Cow::Borrowed(plan)),
        types,
        in_bytes: true,
        params: match types.encoding {
            Some(encoding) => ParamsOperand::Encoded(params.into(), encoding),
            None => ParamsOperand::Elements(params),
        },
        indices: IndexOperand {
            storage: indices.storage.view(|bytes| IndexValues::U8(bytes)),
            is_slice: false,
            len: indices.len(),
        },
        fill: None,
        output: None,
        mask: None,
    })
}

fn request<T: GatherElement>(input: UncheckedGather<'_, T>) -> GatherRequest<'_, T> {
    Request {
        input,
        finish: |input, wait| boxed(input.into_host(wait)),
    }
}
