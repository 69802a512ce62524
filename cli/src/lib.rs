//! The array files that the command `wgpu-gather` reads and writes, for its fuzzers and the library's examples too.

pub mod arrays;
