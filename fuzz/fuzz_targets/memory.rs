//! How much memory Rust code asks for. What libFuzzer itself needs is not counted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[global_allocator]
static ALLOCATOR: Counting = Counting {
    live: AtomicUsize::new(0),
    peak: AtomicUsize::new(0),
};

/// The most memory that was held at any time of this work, and its result. Nothing else runs meanwhile.
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

// SAFETY: System does the work. The default realloc goes through both methods.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = self.live.fetch_add(layout.size(), Relaxed) + layout.size();
        self.peak.fetch_max(live, Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        self.live.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}
