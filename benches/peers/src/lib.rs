//! For `python/peers.py` and `python/scatter.py`, a dynamic library: this crate, and the loops that you would write by hand.

mod in_lines;
mod plain_loop;
pub mod python;
pub mod scatter;
