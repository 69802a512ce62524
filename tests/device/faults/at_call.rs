//! Faults between any two wgpu calls. wgpu logs each call, so a logger runs at every point where another thread or the
//! driver could break something.

use std::cell::RefCell;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// An act before a wgpu call; its argument is the logged text of the call.
type Act = Box<dyn FnOnce(&str)>;

/// An act before a poll thread polls.
type PollAct = Box<dyn FnOnce() + Send>;

thread_local! {
    /// The act, and the number of calls to skip before it.
    static PLANNED: RefCell<Option<(usize, Act)>> = const { RefCell::new(None) };
}

/// The act before a poll thread polls next.
static BEFORE_POLL: Mutex<Option<PollAct>> = Mutex::new(None);

/// To these targets wgpu logs that a call begins and that an object is new. It holds no lock then.
const CALLS: [&str; 2] = ["wgpu_core::device::global", "wgpu_core::device::queue"];

struct Watch;

impl log::Log for Watch {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        CALLS.contains(&metadata.target())
    }

    fn log(&self, record: &log::Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let is_due = |_: &mut PollAct| is_poll(&record.args().to_string());
        let before_poll = before_poll().take_if(is_due);
        if let Some(act) = before_poll {
            act();
        }
        let due = PLANNED.try_with(|planned| {
            let mut planned = planned.borrow_mut();
            match &mut *planned {
                Some((0, _)) => planned.take().map(|(_, act)| act),
                Some((calls, _)) => {
                    *calls -= 1;
                    None
                }
                None => None,
            }
        });
        // A thread that is ending has no thread-local plan.
        if let Ok(Some(act)) = due {
            act(&record.args().to_string());
        }
    }

    fn flush(&self) {}
}

/// Starts to watch the wgpu calls of all threads.
pub fn watch() {
    log::set_logger(&Watch).unwrap();
    log::set_max_level(log::LevelFilter::Trace);
}

/// Runs `work`. After its first `calls` wgpu calls, and just before the next one, runs `act`. Returns `None` if `work` makes no
/// next call.
pub fn before_call<T>(
    calls: usize,
    act: impl FnOnce(&str) + 'static,
    work: impl FnOnce() -> T,
) -> Option<T> {
    PLANNED.set(Some((calls, Box::new(act))));
    let result = work();
    PLANNED.take().is_none().then_some(result)
}

/// Runs `work` until a poll thread, for any owner in this process, has run `act` before a poll; returns that run's result. A
/// gather may end before a poll thread polls.
pub fn with_act_at_poll<T>(
    act: impl FnOnce() + Clone + Send + 'static,
    mut work: impl FnMut() -> T,
) -> T {
    for _ in 0..100 {
        *before_poll() = Some(Box::new(act.clone()));
        let result = work();
        if before_poll().take().is_none() {
            return result;
        }
    }
    panic!("no poll thread polls");
}

fn before_poll() -> MutexGuard<'static, Option<PollAct>> {
    BEFORE_POLL.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_poll(call: &str) -> bool {
    call.starts_with("Device::poll") && thread::current().name() == Some("wgpu-gather/poll")
}
