//! The thread that polls a device while futures wait, so that they need not wake themselves.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::{Failure, Sender, poll_device, send};

/// A pause between two polls is an eighth of the time since the last mapping was added, within these limits: a short wait
/// ends soon, and a long one takes little of a core.
///
/// A poll that waits would do instead, but wgpu-core 30.0 holds a lock during it, for which `Buffer::destroy` of other
/// threads waits, and panics if the wait times out while another thread polls.
const MIN_PAUSE: Duration = Duration::from_micros(20);
const MAX_PAUSE: Duration = Duration::from_millis(8);

/// The thread that polls a device while futures wait. It starts at the first wait, and ends when the poller is dropped.
#[derive(Debug, Default)]
pub(crate) struct Poller {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    thread: Thread,
    is_closed: bool,
    /// True if a mapping was added since the thread looked.
    has_new: bool,
    /// The senders of the mappings that are waited for. A sender is gone when its callback has run, or was dropped.
    waiting: Vec<Weak<Sender>>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Thread {
    #[default]
    NotStarted,
    Running,
    /// The system starts no thread.
    Refused,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Poller {
    /// Has the thread poll the device until the callback of `sender` has run. False if there is no thread, so that the
    /// future has to poll.
    pub(crate) fn watch(&self, device: &wgpu::Device, sender: &Weak<Sender>) -> bool {
        let mut state = self.shared.lock();
        if state.thread == Thread::NotStarted {
            let (device, shared) = (device.clone(), Arc::clone(&self.shared));
            let thread = Builder::new().name("wgpu-gather/poll".into());
            state.thread = match thread.spawn(move || shared.poll(&device)) {
                Ok(_) => Thread::Running,
                Err(_) => Thread::Refused,
            };
        }
        if state.thread == Thread::Refused {
            return false;
        }
        state.waiting.push(Weak::clone(sender));
        state.has_new = true;
        self.shared.changed.notify_one();
        true
    }
}

impl Drop for Poller {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_one();
    }
}

impl Shared {
    fn poll(&self, device: &wgpu::Device) {
        let (mut since, mut pause) = (Instant::now(), MIN_PAUSE);
        while let Some(is_new) = self.wait_for_work(pause) {
            if is_new {
                since = Instant::now();
            }
            pause = (since.elapsed() / 8).clamp(MIN_PAUSE, MAX_PAUSE);
            match poll_device(device, wgpu::PollType::Poll) {
                Ok(()) => {}
                Err(Failure::Lost(error)) => {
                    // Not locked while wakers run.
                    let waiting = std::mem::take(&mut self.lock().waiting);
                    for sender in waiting {
                        if let Some(sender) = sender.upgrade() {
                            send(&sender, Err(error.clone()));
                        }
                    }
                }
                // Of an app's callback, which has printed its message. Callbacks after it are dropped, which ends their
                // futures.
                Err(Failure::Panic(_)) => {}
            }
        }
    }

    /// Sleeps for a pause and, while no mapping waits, until one does. True if a mapping was added meanwhile; `None` if the
    /// poller is dropped.
    fn wait_for_work(&self, pause: Duration) -> Option<bool> {
        let is_idle = |state: &mut State| {
            state.waiting.retain(|sender| sender.strong_count() > 0);
            state.waiting.is_empty() && !state.is_closed
        };
        let has_no_news = |state: &mut State| !state.has_new && !state.is_closed;
        let mut state = self.lock();
        if !is_idle(&mut state) {
            let paused = (self.changed).wait_timeout_while(state, pause, has_no_news);
            state = paused.unwrap_or_else(PoisonError::into_inner).0;
        }
        let waited = self.changed.wait_while(state, is_idle);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let is_new = std::mem::take(&mut state.has_new);
        (!state.is_closed).then_some(is_new)
    }
}
