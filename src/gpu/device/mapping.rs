//! Buffers mapped for the host. The future polls the device itself, so it completes even if no other code polls.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::task::Poll;

use futures_intrusive::channel::shared::{OneshotReceiver, oneshot_channel};

use crate::error::GpuError;
use crate::gpu::scope::scoped;

/// A way to wait for the device.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wait {
    /// As a future that polls the device.
    Poll,
    /// By a call that puts this thread to sleep.
    #[cfg(not(target_arch = "wasm32"))]
    Block,
}

/// A buffer that is being mapped.
#[derive(Debug)]
pub(super) struct Mapping {
    device: wgpu::Device,
    buffer: wgpu::Buffer,
    #[cfg_attr(
        target_arch = "wasm32",
        expect(dead_code, reason = "nothing waits for it on a thread")
    )]
    submission: wgpu::SubmissionIndex,
    mapped: OneshotReceiver<Result<(), wgpu::BufferAsyncError>>,
}

impl Mapping {
    /// Maps `buffer` for reading once the commands of `submission`, the last that use it, are done.
    pub(super) fn start(
        device: &wgpu::Device,
        buffer: wgpu::Buffer,
        submission: wgpu::SubmissionIndex,
    ) -> Result<Self, GpuError> {
        let (sender, mapped) = oneshot_channel();
        scoped(device, || {
            buffer.map_async(wgpu::MapMode::Read, .., move |result| {
                // The receiver may be dropped; then the result is not needed.
                let _ = sender.send(result);
            });
        })?;
        Ok(Self {
            device: device.clone(),
            buffer,
            submission,
            mapped,
        })
    }

    /// Completes when the buffer is mapped.
    async fn wait(&self, wait: Wait) -> Result<(), GpuError> {
        match wait {
            Wait::Poll => {}
            #[cfg(not(target_arch = "wasm32"))]
            Wait::Block => {
                let submission = wgpu::PollType::Wait {
                    submission_index: Some(self.submission.clone()),
                    timeout: None,
                };
                poll_device(&self.device, submission)?;
            }
        }
        let mut mapped = pin!(self.mapped.receive());
        let result = poll_fn(|context| {
            if let Err(error) = poll_device(&self.device, wgpu::PollType::Poll) {
                return Poll::Ready(Err(error));
            }
            match mapped.as_mut().poll(context) {
                Poll::Ready(Some(Ok(()))) => Poll::Ready(Ok(())),
                Poll::Ready(Some(Err(error))) => {
                    Poll::Ready(Err(GpuError::ReadBack(error.to_string())))
                }
                Poll::Ready(None) => Poll::Ready(Err(GpuError::ReadBack(
                    "the device dropped the request".into(),
                ))),
                Poll::Pending => {
                    // Possibly no other code polls the device. A browser polls it, and needs this thread for that.
                    if cfg!(not(target_arch = "wasm32")) {
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

/// Polls the device. If the driver has lost the device, wgpu panics, without holding a lock; the function returns an
/// error instead. A panic of an app's own callback is resumed.
fn poll_device(device: &wgpu::Device, poll: wgpu::PollType) -> Result<(), GpuError> {
    match catch_unwind(AssertUnwindSafe(|| device.poll(poll))) {
        Ok(polled) => polled
            .map(drop)
            .map_err(|error| GpuError::ReadBack(error.to_string())),
        Err(panic) => match panic.downcast::<String>() {
            Ok(text) if text.starts_with("Error in Device::poll") => Err(GpuError::ReadBack(*text)),
            Ok(text) => resume_unwind(text),
            Err(panic) => resume_unwind(panic),
        },
    }
}
