//! Runs commands and keeps their output.

use std::process::{Command, Output};

/// An environment variable and its value, which name a back end that this system does not have.
pub const NO_GPU: (&str, &str) = if cfg!(target_vendor = "apple") {
    ("WGPU_BACKEND", "dx12")
} else {
    ("WGPU_BACKEND", "metal")
};

/// The exit code and the output of a command.
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
