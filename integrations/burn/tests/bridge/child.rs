//! Tests in a process of their own: this one again, with a variable that names the test.

use std::env;
use std::process::{self, Command, Output};

use crate::{large, threads};

const CHILD: &str = "WGPU_GATHER_BURN_CHILD";

pub fn output(name: &str) -> Output {
    let mut command = Command::new(env::current_exe().unwrap());
    command.env(CHILD, name).output().unwrap()
}

/// Runs and exits, if this process is a child.
pub fn run() {
    match env::var(CHILD).as_deref() {
        Ok("memory") => threads::check_memory(),
        Ok(name) => large::select(name),
        Err(_) => return,
    }
    process::exit(0);
}
