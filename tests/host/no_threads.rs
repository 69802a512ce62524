//! A large gather runs on the calling thread if the system starts no other thread.
//!
//! The test runs its own program again with `RUST_MIN_STACK` at 64 TiB, a stack that no thread gets, and gathers there.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::env;
use std::process::Command;

use wgpu_gather::Gather;

const CHILD: &str = "GATHER_WITHOUT_THREADS";
const NAME: &str = "a_large_gather_runs_on_the_calling_thread";

// Other systems may give a thread a stack of 64 TiB.
#[test]
#[cfg_attr(not(target_os = "linux"), ignore)]
fn a_large_gather_runs_on_the_calling_thread() {
    if env::var_os(CHILD).is_some() {
        return gather();
    }
    let mut child = Command::new(env::current_exe().unwrap());
    let output = child
        // A test that is alone on its thread runs on the main one.
        .args(["--exact", NAME, "--test-threads", "1"])
        .env(CHILD, "1")
        .env("RUST_MIN_STACK", "70368744177664")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}");
    assert!(printed.contains("1 passed"), "{printed}");
}

/// Gathers twice: only the first call tries to start threads.
fn gather() {
    assert!(
        std::thread::Builder::new().spawn(|| ()).is_err(),
        "a thread was started"
    );
    let rows = 1 << 18;
    let plan = Gather::new().plan(&[1000, 16], &[rows]).unwrap();
    let params: Vec<u32> = (0..16_000).collect();
    let indices: Vec<i32> = (0..1000).cycle().step_by(7).take(rows).collect();
    for _ in 0..2 {
        let output = plan.gather(&params, &indices).unwrap();
        for (slice, &index) in output.chunks_exact(16).zip(&indices) {
            let start = u32::try_from(index * 16).unwrap();
            assert!(slice.iter().copied().eq(start..start + 16));
        }
    }
}
