//! The ways to wait for a device; the buffers that are mapped, and the elements that come to the host.

use std::any::type_name;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, Weak};
use std::task::Poll;
#[cfg(not(target_arch = "wasm32"))]
use std::time::{Duration, Instant};

use futures_intrusive::channel::shared::{OneshotReceiver, oneshot_channel};

use crate::element::Element;
use crate::error::GpuError;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::poller::Failure;
use crate::gpu::poller::{Mapped, Poller, Sender, poll_device, send};
use crate::gpu::scope::scoped;
use crate::memory;
use crate::operand::Operand;

/// The time for which a future polls the device itself, before a thread does.
#[cfg(not(target_arch = "wasm32"))]
const POLLED_BY_ITSELF: Duration = Duration::from_micros(200);

/// A boxed future, which may move to another thread; on wasm it may not.
#[cfg(not(target_arch = "wasm32"))]
pub type Boxed<'a, O> = Pin<Box<dyn Future<Output = O> + Send + 'a>>;
#[cfg(target_arch = "wasm32")]
pub type Boxed<'a, O> = Pin<Box<dyn Future<Output = O> + 'a>>;

#[cfg(not(target_arch = "wasm32"))]
pub(super) fn boxed<'a, O>(future: impl Future<Output = O> + Send + 'a) -> Boxed<'a, O> {
    Box::pin(future)
}
#[cfg(target_arch = "wasm32")]
pub(super) fn boxed<'a, O>(future: impl Future<Output = O> + 'a) -> Boxed<'a, O> {
    Box::pin(future)
}

/// A way to wait for the device.
#[derive(Debug, Clone, Copy)]
pub enum Wait {
    /// As a future.
    Poll,
    /// By a call that puts this thread to sleep.
    #[cfg(not(target_arch = "wasm32"))]
    Block,
}

/// A buffer that is being mapped.
#[derive(Debug)]
pub(super) struct Mapping<'a> {
    device: &'a wgpu::Device,
    poller: &'a Poller,
    buffer: wgpu::Buffer,
    #[cfg_attr(
        target_arch = "wasm32",
        expect(dead_code, reason = "nothing waits for it on a thread")
    )]
    submission: wgpu::SubmissionIndex,
    sender: Weak<Sender>,
    mapped: OneshotReceiver<Mapped>,
}

impl<'a> Mapping<'a> {
    /// Maps `buffer` for reading once the commands of `submission`, the last that use it, are done.
    pub(super) fn start(
        device: &'a wgpu::Device,
        poller: &'a Poller,
        buffer: wgpu::Buffer,
        submission: wgpu::SubmissionIndex,
    ) -> Result<Self, GpuError> {
        let (sender, mapped) = oneshot_channel();
        let sender = Arc::new(Mutex::new(Some(sender)));
        let waiting = Arc::downgrade(&sender);
        scoped(device, || {
            buffer.map_async(wgpu::MapMode::Read, .., move |result| {
                let result = result.map_err(|error| GpuError::ReadBack(error.to_string()));
                send(&sender, result);
            });
        })?;
        Ok(Self {
            device,
            poller,
            buffer,
            submission,
            sender: waiting,
            mapped,
        })
    }

    /// Completes when the buffer is mapped.
    async fn wait(&self, wait: Wait) -> Result<(), GpuError> {
        #[cfg(not(target_arch = "wasm32"))]
        if let Wait::Block = wait {
            let submission = wgpu::PollType::Wait {
                submission_index: Some(self.submission.clone()),
                timeout: None,
            };
            poll_device(self.device, submission).map_err(Failure::resume)?;
        }
        // The thread is woken later than the future, which therefore polls at first.
        #[cfg(not(target_arch = "wasm32"))]
        let is_late = {
            let started = Instant::now();
            move || matches!(wait, Wait::Poll) && started.elapsed() >= POLLED_BY_ITSELF
        };
        #[cfg(target_arch = "wasm32")]
        let is_late = || matches!(wait, Wait::Poll);
        let mut is_watched = false;
        let mut mapped = pin!(self.mapped.receive());
        let result = poll_fn(|context| {
            if !is_watched && is_late() {
                is_watched = self.poller.watch(self.device, &self.sender);
            }
            if !is_watched && let Err(failure) = poll_device(self.device, wgpu::PollType::Poll) {
                return Poll::Ready(Err(failure.resume()));
            }
            match mapped.as_mut().poll(context) {
                Poll::Ready(Some(mapped)) => Poll::Ready(mapped),
                Poll::Ready(None) => Poll::Ready(Err(GpuError::ReadBack(
                    "the device dropped the request".into(),
                ))),
                Poll::Pending => {
                    if !is_watched {
                        context.waker().wake_by_ref();
                    }
                    Poll::Pending
                }
            }
        });
        result.await
    }

    /// Waits until the buffer is mapped for reading, then calls `read` with its bytes.
    pub(super) async fn read<T>(
        self,
        wait: Wait,
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, GpuError> {
        self.wait(wait).await?;
        let view = self
            .buffer
            .get_mapped_range(..)
            .map_err(|error| GpuError::ReadBack(error.to_string()))?;
        // Dropping the buffer unmaps it. A call of `unmap` would raise another error on a lost device.
        Ok(read(&view))
    }
}

/// Copies mapped bytes to elements. The output of a gather is valid if the elements of its params are.
pub(super) fn elements_of<T: Element>(operand: Operand, bytes: &[u8]) -> Result<Vec<T>, GpuError> {
    let len = bytes.len() / size_of::<T>();
    let mut elements = operand.vector(len as u64)?;
    if let Ok(mapped) = bytemuck::checked::try_cast_slice::<u8, T>(bytes) {
        memory::extend(&mut elements, len, |to| {
            memory::copy_long(memory::bytes(mapped), to);
            Ok::<_, GpuError>(())
        })?;
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

/// A copy of elements in host memory.
pub(super) fn copied<T: Copy>(elements: &[T]) -> Result<Vec<T>, GpuError> {
    let mut copy = Operand::Tensor.vector(elements.len() as u64)?;
    copy.extend_from_slice(elements);
    Ok(copy)
}
