//! The examples as their users run them, with and without a GPU.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Command, ExitCode, Stdio};

use testkit::device::{self, Arguments, cpu_trial as cpu, program_trial as gpu};
use testkit::ran::{NO_GPU, Ran};

fn main() -> ExitCode {
    let trials = vec![
        cpu("quickstart_without_a_gpu", quickstart_without_a_gpu),
        gpu("quickstart_draws_the_same", quickstart_draws_the_same),
        cpu("quickstart_help_does_not_run_it", quickstart_help),
        cpu("quickstart_needs_no_reader", || {
            needs_no_reader(example("quickstart").envs([NO_GPU]));
        }),
    ];
    device::run(&Arguments::from_args(), trials)
}

/// An example's program, in the folder that cargo puts beside the folder of the test binaries.
pub fn example(name: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let path = profile.join("examples").join(name);
    assert!(
        path.exists(),
        "{path:?} is not built: cargo test builds it, or cargo build --examples"
    );
    Command::new(path)
}

fn quickstart_without_a_gpu() {
    let result = Ran::new(example("quickstart").envs([NO_GPU]));
    assert_eq!((result.code, result.stderr.as_str()), (0, ""));
    let expected = "Gathering on the CPU (no GPU)";
    assert!(result.stdout.starts_with(expected), "{}", result.stdout);
    // Ten first images and ten mean images, each ten in 8 lines.
    assert_eq!(pictures(&result.stdout).len(), 2 * 8);
}

fn quickstart_draws_the_same() {
    let gpu = Ran::new(&mut example("quickstart"));
    assert_eq!(gpu.code, 0, "{}", gpu.stderr);
    assert!(
        !gpu.stdout.starts_with("Gathering on the CPU"),
        "{}",
        gpu.stdout
    );
    let cpu = Ran::new(example("quickstart").envs([NO_GPU]));
    assert_eq!(pictures(&gpu.stdout), pictures(&cpu.stdout));
}

fn quickstart_help() {
    for argument in ["--help", "-h"] {
        let help = Ran::new(example("quickstart").arg(argument));
        assert_eq!((help.code, help.stderr.as_str()), (0, ""));
        assert!(help.stdout.contains("Usage: "), "{}", help.stdout);
        assert!(!help.stdout.contains("Gathering on"), "{}", help.stdout);
    }
    let wrong = Ran::new(example("quickstart").arg("--gpu"));
    assert_eq!((wrong.code, wrong.stdout.as_str()), (2, ""));
    let error = "error: the argument \"--gpu\"";
    assert_eq!(wrong.stderr.lines().next(), Some(error));
}

/// The example succeeds if its output is not read, as with `| true`.
fn needs_no_reader(command: &mut Command) {
    let (stdout, stderr) = (Stdio::piped(), Stdio::piped());
    let mut child = command.stdout(stdout).stderr(stderr).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
}

fn pictures(stdout: &str) -> Vec<&str> {
    let shaded = |line: &&str| line.contains(['░', '▒', '▓', '█']);
    stdout.lines().filter(shaded).collect()
}
