//! The request for a gather or a scatter: its operands, and its options.

use std::fmt;
use std::marker::PhantomData;

use super::gather::Unchecked;
use super::tensor::Tensor;
use super::waiting::{Boxed, Wait, boxed};
use crate::element::Element;
use crate::error::GpuError;
use crate::gpu::fill::Fill;
#[cfg(doc)]
use crate::plan::GatherPlan;
use crate::reduce::{Number, Reduce};

/// A gather or a scatter that runs when you await it or call [`wait`](Self::wait). Nothing happens before.
///
/// [`Executor::gather`](crate::Executor::gather), [`gather_bytes`](crate::Executor::gather_bytes) and
/// [`scatter`](crate::Executor::scatter) return it. `T` is the element type, and `O` the output. `F` tells gathers from scatters:
/// a gather has the type of a fill, `T`, or `[u8]` if you know the type only at run time; a scatter has [`Reduce`].
///
/// The first poll, or `wait`, checks the request and submits it. The future completes when the GPU is done. The future is `Send`,
/// except on wasm.
///
/// **From the first poll on, the call happens, even if you drop the future.** You lose an output to the host, or a new tensor. But a
/// scatter, [`into_tensor`](Request::into_tensor) and [`mask`](Request::mask) still write your tensors. So after a timeout, do not
/// repeat a scatter that reduces: poll the same future again, or scatter into a copy of the target that you throw away. To keep
/// the future, call `into_future` and give the timeout `&mut future`: it is `Unpin`, and borrows the target until you drop it.
///
/// You may `.await` in any async runtime, such as tokio. A future spins for 0.2 ms; after that, one background thread for each
/// executor polls the device for all waiting futures and wakes them. The thread ends with the last clone of the executor and its
/// last tensor. Your callbacks, for instance of `map_async`, may run on it. Where no thread can start, the futures poll.
///
/// A gather reduces nothing, a scatter takes no fill, and a mask holds `bool`s:
///
/// ```compile_fail,E0599
/// # fn f(gather: wgpu_gather::Request<'_, u32>) {
/// gather.reduce(wgpu_gather::Reduce::Add);
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn f(scatter: wgpu_gather::Request<'_, u32, (), wgpu_gather::Reduce>) {
/// scatter.fill(0);
/// # }
/// ```
///
/// ```compile_fail,E0308
/// # fn f(gather: wgpu_gather::Request<'_, u32>, mut mask: wgpu_gather::Tensor<u8>) {
/// gather.mask(&mut mask);
/// # }
/// ```
#[must_use = "nothing is submitted before the request is awaited or waited for"]
pub struct Request<'a, T, O = Vec<T>, F: ?Sized = T> {
    input: Unchecked<'a, T>,
    finish: Finish<'a, T, O>,
    option: PhantomData<fn(&F)>,
}

type Finish<'a, T, O> = fn(Unchecked<'a, T>, Wait) -> Boxed<'a, Result<O, GpuError>>;

impl<'a, T, O, F: ?Sized> Request<'a, T, O, F> {
    fn new(input: Unchecked<'a, T>, finish: Finish<'a, T, O>) -> Self {
        Self {
            input,
            finish,
            option: PhantomData,
        }
    }

    /// Submits the request, and waits on this thread.
    ///
    /// # Errors
    ///
    /// The errors of the request.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn wait(mut self) -> Result<O, GpuError> {
        self.input.check()?;
        pollster::block_on((self.finish)(self.input, Wait::Block))
    }
}

impl<'a, T, O, F: ?Sized> IntoFuture for Request<'a, T, O, F> {
    type Output = Result<O, GpuError>;
    type IntoFuture = Boxed<'a, Self::Output>;

    fn into_future(mut self) -> Self::IntoFuture {
        match self.input.check() {
            Ok(()) => (self.finish)(self.input, Wait::Poll),
            Err(error) => boxed(async { Err(error) }),
        }
    }
}

impl<T, O, F: ?Sized> fmt::Debug for Request<'_, T, O, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("plan", &self.input.plan)
            .field("types", &self.input.types)
            .finish_non_exhaustive()
    }
}

/// Options of a gather to the host.
impl<'a, T: Element, F: ?Sized> Request<'a, T, Vec<T>, F> {
    pub(super) fn to_host(input: Unchecked<'a, T>) -> Self {
        Self::new(input, |input, wait| boxed(input.into_host(wait)))
    }

    /// Keeps the output on the GPU, as a tensor with the plan's output shape; after `gather_bytes` a last dim counts an element's
    /// bytes. The request then waits for no GPU work, except for the report that the policy
    /// [`BadIndices::Error`](crate::BadIndices::Error) needs. On the CPU the output stays in host memory.
    ///
    /// ```no_run
    #[doc = include_str!("../../../tests/doc_examples/chain.rs")]
    /// ```
    pub fn on_gpu(self) -> Request<'a, T, Tensor<T>, F> {
        Request::new(self.input, |input, wait| boxed(input.into_new_tensor(wait)))
    }

    /// Writes the output into your tensor, which must have [`output_len`](GatherPlan::output_len) elements; with an output
    /// stride, it may also have the gap after the last row. Your tensor keeps its shape, whatever the output's is. The request
    /// waits as after [`on_gpu`](Self::on_gpu). If you write one tensor again and again, wgpu need not clear new memory.
    ///
    /// ```
    /// use wgpu_gather::{Executor, Gather};
    ///
    /// let executor = Executor::cpu();
    /// let table = executor.upload(&[10, 20, 30], &[3])?;
    /// let mut output = executor.zeros(&[2])?;
    /// executor.gather(Gather::new(), &table, &[2, 0]).into_tensor(&mut output).wait()?;
    /// assert_eq!(output.download_blocking()?, [30, 10]);
    /// # Ok::<(), wgpu_gather::GpuError>(())
    /// ```
    pub fn into_tensor(self, output: &'a mut Tensor<T>) -> Request<'a, T, (), F> {
        let told = self.told(|input| input.output = Some(output));
        Request::new(told.input, |input, wait| boxed(input.into_tensor(wait)))
    }
}

/// Options of a scatter.
impl<'a, T: Element> Request<'a, T, (), Reduce> {
    pub(super) fn scatter(input: Unchecked<'a, T>) -> Self {
        Self::new(input, |input, wait| boxed(input.scatter(wait)))
    }

    /// Reduces: each element of the target becomes the sum, the product, the minimum or the maximum of itself and its updates. The
    /// CPU has all reductions, and a GPU those of [`Buffers::reduce`](crate::Buffers::reduce).
    pub fn reduce(self, reduce: Reduce) -> Self
    where
        T: Number,
    {
        self.told(|input| {
            input.reduction = Some((reduce, T::KIND));
            input.reduce_on_cpu = Some(|with, reduce, updates, indices, target| {
                with.scatter_reduce_values(reduce, updates, indices, target)
            });
        })
    }
}

impl<T: Element, O> Request<'_, T, O> {
    /// Bad rows hold `fill` instead of zeros. [`Buffers::fill`](crate::Buffers::fill) says how wide it may be.
    ///
    /// With [`BadIndices::DeviceDefault`](crate::BadIndices::DeviceDefault), an executor of the CPU returns an error for a bad row even if you
    /// call `fill`. To fill on CPU and GPU, choose [`BadIndices::Fill`](crate::BadIndices::Fill).
    ///
    /// ```no_run
    #[doc = include_str!("../../../tests/doc_examples/filled.rs")]
    /// ```
    pub fn fill(self, fill: T) -> Self {
        self.filled(bytemuck::bytes_of(&fill))
    }
}

impl<O> Request<'_, u8, O, [u8]> {
    /// Bad rows hold `fill`, the bytes of one element, instead of zeros: see [`fill`](Request::fill) of a typed request.
    pub fn fill(self, fill: &[u8]) -> Self {
        self.filled(fill)
    }
}

impl<'a, T, O, F: ?Sized> Request<'a, T, O, F> {
    fn told(mut self, tell: impl FnOnce(&mut Unchecked<'a, T>)) -> Self {
        tell(&mut self.input);
        self
    }

    fn filled(self, fill: &[u8]) -> Self {
        self.told(|input| input.fill = Some(Fill::new(fill)))
    }

    /// Marks bad rows in your tensor, which must have [`index_row_count`](GatherPlan::index_row_count) elements: `true` for each
    /// index row that is out of range, as [`GatherPlan::out_of_range`] describes. The mask is written even if the output is
    /// empty, or if the request returns the error that names a bad row. The request does not wait for the mask.
    ///
    /// ```
    /// use wgpu_gather::{BadIndices, Executor, Gather};
    ///
    /// let executor = Executor::cpu();
    /// let table = executor.upload(&[10, 20, 30], &[3])?;
    /// let mut bad_rows = executor.zeros(&[3])?;
    /// let gather = Gather::new().bad_indices(BadIndices::Clamp);
    /// let rows = executor.gather(gather, &table, &[2, 7, -1]).mask(&mut bad_rows).wait()?;
    /// assert_eq!(rows, [30, 30, 10]);
    /// assert_eq!(bad_rows.download_blocking()?, [false, true, true]);
    /// # Ok::<(), wgpu_gather::GpuError>(())
    /// ```
    pub fn mask(self, mask: &'a mut Tensor<bool>) -> Self {
        self.told(|input| input.mask = Some(mask))
    }
}
