//! Progress bars, which a command shows on a terminal.

use std::cell::{Cell, OnceCell};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// A bar for bytes appears only after this time.
const SILENT: Duration = Duration::from_secs(1);

/// A bar for steps, hidden unless stderr is a terminal.
pub fn of_steps(steps: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}");
    ProgressBar::new(steps).with_style(style.expect("a valid template"))
}

/// A bar for bytes, with the time that is left.
pub struct OfBytes {
    started: Instant,
    is_quiet: bool,
    what: String,
    total: u64,
    done: Cell<u64>,
    bar: OnceCell<ProgressBar>,
}

impl OfBytes {
    pub fn new(what: String, total: u64, is_quiet: bool) -> Self {
        Self {
            started: Instant::now(),
            is_quiet,
            what,
            total,
            done: Cell::new(0),
            bar: OnceCell::new(),
        }
    }

    /// Counts bytes that are done.
    pub fn add(&self, bytes: u64) {
        let done = self.done.get() + bytes;
        self.done.set(done);
        if !self.is_quiet && self.started.elapsed() >= SILENT {
            let bar = self.bar.get_or_init(|| {
                let form = "{msg} {bar:30} {binary_bytes}/{binary_total_bytes}, {eta} left";
                let style = ProgressStyle::with_template(form).expect("a valid template");
                let bar = ProgressBar::new(self.total).with_style(style);
                bar.with_message(self.what.clone())
                    .with_elapsed(self.started.elapsed())
            });
            bar.set_position(done);
        }
    }
}

impl Drop for OfBytes {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
