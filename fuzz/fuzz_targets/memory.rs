//! Counts the memory that Rust code allocates. libFuzzer's own memory is not counted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[global_allocator]
static ALLOCATOR: Counting = Counting {
    live: AtomicUsize::new(0),
    peak: AtomicUsize::new(0),
};

/// Returns the result of `work` and the most bytes that it held at any time. No other thread may run meanwhile.
pub fn peak_bytes<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = ALLOCATOR.live.load(Relaxed);
    ALLOCATOR.peak.store(before, Relaxed);
    let result = work();
    (result, ALLOCATOR.peak.load(Relaxed) - before)
}

struct Counting {
    live: AtomicUsize,
    peak: AtomicUsize,
}

// SAFETY: System does the work. The default realloc calls both methods.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = self.live.fetch_add(layout.size(), Relaxed) + layout.size();
        self.peak.fetch_max(live, Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        self.live.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}
