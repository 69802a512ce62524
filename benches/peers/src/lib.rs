//! The parts that the benchmark in Rust and the one in Python share: memory at cache lines, and the plain loop. As a dynamic
//! library it runs this crate and the loop for `python/peers.py`.

mod in_lines;
pub mod plain_loop;
pub mod python;
pub mod scatter;
