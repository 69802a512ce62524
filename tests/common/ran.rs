//! Commands as their users run them.

use std::process::{Command, Output};

/// A back end that this system does not have.
pub const NO_GPU: (&str, &str) = if cfg!(target_vendor = "apple") {
    ("WGPU_BACKEND", "dx12")
} else {
    ("WGPU_BACKEND", "metal")
};

/// What a command left behind.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn new(command: &mut Command) -> Self {
        let Output {
            status,
            stdout,
            stderr,
        } = command.output().unwrap();
        Self {
            code: status.code().unwrap(),
            stdout: String::from_utf8(stdout).unwrap(),
            stderr: String::from_utf8(stderr).unwrap(),
        }
    }
}
