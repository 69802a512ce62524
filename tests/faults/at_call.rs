//! Faults between any two calls of wgpu. wgpu logs each call, so a logger stands at every point where
//! another thread, or the world, could break something.

use std::cell::RefCell;

/// What is to be done before a call, which it is told.
type Act = Box<dyn FnOnce(&str)>;

thread_local! {
    /// How many calls are still to come before the act, and the act.
    static PLANNED: RefCell<Option<(usize, Act)>> = const { RefCell::new(None) };
}

/// Where wgpu logs that a call begins, or that it has made something. It holds no lock there.
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
        // A thread that is ending has nothing planned any more.
        if let Ok(Some(act)) = due {
            act(&record.args().to_string());
        }
    }

    fn flush(&self) {}
}

/// Sees the calls of all threads from now on.
pub fn watch() {
    log::set_logger(&Watch).unwrap();
    log::set_max_level(log::LevelFilter::Trace);
}

/// Does `act` before the call of wgpu in `work` that has so many before it. None if there are fewer calls.
pub fn before_call<T>(
    calls: usize,
    act: impl FnOnce(&str) + 'static,
    work: impl FnOnce() -> T,
) -> Option<T> {
    PLANNED.set(Some((calls, Box::new(act))));
    let result = work();
    PLANNED.take().is_none().then_some(result)
}
