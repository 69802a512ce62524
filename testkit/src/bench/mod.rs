//! What the benchmark of the library and the comparison with its peers share.

pub mod machine;
pub mod timing;
pub mod workloads;
