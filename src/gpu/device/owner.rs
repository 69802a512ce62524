//! The owner of a table. wgpu numbers the devices of each instance apart, so it may take a buffer of another instance's
//! device for one of its own, and read or write that.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A number that tells the `Gpu`s of a process apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner(usize);

impl Owner {
    pub(super) fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}
