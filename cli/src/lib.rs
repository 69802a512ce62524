//! Array files that the command `wgpu-gather` reads and writes, for its fuzzers and for the examples of the library.

pub mod arrays;
