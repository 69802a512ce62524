//! Shared by `plan` and `cpu_gather`: shapes of any case.

pub mod shapes;
