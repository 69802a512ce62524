//! The benchmarks' allocator. A large block from glibc begins 16 bytes past a cache line, and one from torch or onnxruntime
//! at a line. To short slices, this matters more than the choice of a library.
#![allow(unsafe_code, reason = "an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};

const LINE: usize = 64;

/// Blocks with at least this many bytes begin at a cache line.
const LARGE: usize = 4096;

/// The system's allocator, but large blocks begin at a cache line. Zeroed blocks come from the system too: their pages are
/// untouched.
struct InLines;

#[global_allocator]
static ALLOCATOR: InLines = InLines;

// SAFETY: a large block lies in a system block that is one line longer; the word before it holds where that one begins.
unsafe impl GlobalAlloc for InLines {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match with_a_line(layout) {
            // SAFETY: the caller's promises, and `with_a_line`'s.
            Some(longer) => unsafe { to_line(System.alloc(longer)) },
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match with_a_line(layout) {
            // SAFETY: as in `alloc`.
            Some(longer) => unsafe { to_line(System.alloc_zeroed(longer)) },
            None => unsafe { System.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match with_a_line(layout) {
            // SAFETY: `to_line` wrote the start in the word before the block, whose address is a multiple of LINE.
            Some(longer) => unsafe {
                let start = block.cast::<*mut u8>().sub(1).read();
                System.dealloc(start, longer);
            },
            None => unsafe { System.dealloc(block, layout) },
        }
    }
}

/// The system block's layout for a large block: one line longer, and aligned for the word before it.
fn with_a_line(layout: Layout) -> Option<Layout> {
    let is_large = layout.size() >= LARGE && layout.align() <= LINE;
    let longer = Layout::from_size_align(layout.size().checked_add(LINE)?, 16).ok()?;
    is_large.then_some(longer)
}

/// Returns the first cache line after the start of a system block, and writes that start before it.
///
/// # Safety
///
/// `start` is null, or a multiple of 16 with [`LINE`] bytes more than the block needs.
#[allow(clippy::cast_ptr_alignment, reason = "a line is a multiple of a word")]
unsafe fn to_line(start: *mut u8) -> *mut u8 {
    if start.is_null() {
        return start;
    }
    // SAFETY: the step is 16 to LINE bytes, so that there is room for a word before the block.
    unsafe {
        let block = start.add(LINE - start.addr() % LINE);
        block.cast::<*mut u8>().sub(1).write(start);
        block
    }
}
