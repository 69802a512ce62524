//! Shared by the benchmark of the library and by the comparison with its peers.

pub mod machine;
pub mod timing;
pub mod workloads;
