//! The output file of `wgpu-gather run`, on Unix.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use crate::support::in_terminal;
use crate::support::{Folder, npy, send, wgpu_gather};
use libtest_mimic::Completion;

const COMMAND: &str = "gather params.npy indices.npy --device cpu";

/// A folder with a vector of two bytes, and the index of the second.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("params.npy", npy("|u1", "(2,)", &[7, 8]));
    folder.i32("indices.npy", "(1,)", &[1]);
    folder
}

pub fn links() {
    let folder = folder("links");
    let at = |name: &str| folder.0.join(name);
    fs::create_dir(at("inner")).unwrap();
    symlink("inner/second", at("first")).unwrap();
    symlink("target.npy", at("inner/second")).unwrap();
    for _ in 0..2 {
        // The target is missing in the first run and there in the second.
        let ran = folder.run(&format!("{COMMAND} -o first"));
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(folder.read("inner/target.npy"), npy("|u1", "(1,)", &[8]));
        assert_eq!(
            fs::read_link(at("first")).unwrap().to_str(),
            Some("inner/second")
        );
    }
    symlink("b", at("a")).unwrap();
    symlink("a", at("b")).unwrap();
    let ran = folder.run(&format!("{COMMAND} -o a"));
    assert_eq!(
        (ran.code, &ran.stderr[..]),
        (1, "error: a: too many links\n")
    );
}

pub fn long_name() {
    let folder = folder("long-name");
    let name = "n".repeat(255);
    let ran = folder.run(&format!("{COMMAND} -o {name}"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(folder.read(&name), npy("|u1", "(1,)", &[8]));
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 3);
}

pub fn permissions() {
    let folder = folder("permissions");
    let mode = |name: &str| {
        fs::metadata(folder.0.join(name))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    folder.gathers(&format!("{COMMAND} -o out.npy"), "uint8 [1]");
    // The test has written params with the same umask.
    assert_eq!(mode("out.npy"), mode("params.npy"));
    let private = fs::Permissions::from_mode(0o600);
    fs::set_permissions(folder.0.join("out.npy"), private).unwrap();
    folder.gathers(&format!("{COMMAND} -o out.npy"), "uint8 [1]");
    assert_eq!(mode("out.npy"), 0o600);
}

#[cfg(target_os = "linux")]
pub fn terminal() -> Completion {
    let folder = folder("terminal");
    let command = format!("{} run {COMMAND} -o -", env!("CARGO_BIN_EXE_wgpu-gather"));
    let Some((code, shown)) = in_terminal(&folder.0, &command) else {
        return Completion::ignored_with("there is no program `script`");
    };
    let error = "--output - is a terminal, and .npy is not text";
    assert!(code == 2 && shown.contains(error), "{code}: {shown}");
    assert!(!shown.contains("NUMPY"), "{shown}");
    Completion::Completed
}

/// Stops a run by a signal while it writes 256 MiB. A run that ends before the signal comes is made again.
pub fn stopped(signal: &str) {
    let folder = Folder::new(&format!("stopped-{signal}"));
    folder.write("params.npy", npy("|u1", "(1, 1048576)", &vec![1; 1 << 20]));
    folder.i32("indices.npy", "(256,)", &[0; 256]);
    let is_stopped = (0..50).any(|_| stops(&folder, signal));
    assert!(is_stopped, "no run is stopped by SIG{signal}");
}

/// As [`stopped`], by SIGINT. The command ignores what its parent ignores.
pub fn interrupted() -> Completion {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.map_or(0, |bits| u64::from_str_radix(bits.trim(), 16).unwrap());
    if ignored & 0b10 != 0 {
        return Completion::ignored_with("SIGINT is ignored, as in a background job of a shell");
    }
    stopped("INT");
    Completion::Completed
}

fn stops(folder: &Folder, signal: &str) -> bool {
    let files = || fs::read_dir(&folder.0).unwrap().count();
    let mut run = wgpu_gather()
        .current_dir(&folder.0)
        .args("run gather params.npy indices.npy -o out.npy --device cpu".split(' '))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while files() < 3 {
        assert!(start.elapsed() < Duration::from_secs(60), "no new file");
        sleep(Duration::from_millis(1));
    }
    // It may have ended.
    send(signal, run.id());
    let code = run.wait().unwrap().code();
    if code == Some(0) {
        fs::remove_file(folder.0.join("out.npy")).unwrap();
        return false;
    }
    assert_eq!(code, Some(130), "after SIG{signal}");
    assert_eq!(files(), 2, "after SIG{signal}");
    true
}

pub fn pipe() {
    let folder = folder("pipe");
    let made = Command::new("mkfifo")
        .arg(folder.0.join("pipe.npy"))
        .status();
    assert!(made.unwrap().success());
    let ran = folder.run(&format!("{COMMAND} -o pipe.npy"));
    assert_eq!(
        (ran.code, &ran.stderr[..]),
        (1, "error: pipe.npy: not a regular file\n")
    );
}

/// Runs in less and less address space, down to the least that `--help` needs: an error and no output, or the output. As on
/// a machine of many cores, rayon's pool would have 32 threads.
#[cfg(target_os = "linux")]
pub fn little_memory() {
    let folder = Folder::new("memory");
    folder.write("params.npy", npy("<f4", "(65536, 16)", &[1; 4 << 20]));
    folder.i32("indices.npy", "(400000,)", &[7; 400_000]);
    folder.write("rows.npy", npy("|u1", "(2, 1088)", &[1; 2 * 1088]));
    folder.write("ids.npy", npy("|u1", "(4096,)", &[1; 4096]));
    folder.write("many.npy", npy("|u1", "(2097152,)", &vec![1; 2 << 20]));
    let run = |megabytes: u32, arguments: &str| {
        let limited = format!("ulimit -v {megabytes}000; exec \"$0\" {arguments}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &limited, env!("CARGO_BIN_EXE_wgpu-gather")]);
        // An arena for each thread may leave the stack no room to grow, which ends a process.
        shell.envs([("RAYON_NUM_THREADS", "32"), ("MALLOC_ARENA_MAX", "1")]);
        let ran = shell.current_dir(&folder.0).output().unwrap();
        (ran.status.code(), String::from_utf8(ran.stderr).unwrap())
    };
    for (command, most) in [
        ("gather params.npy indices.npy", 600),
        // Decoding copies the output, and counting bad rows the indices.
        ("gather rows.npy ids.npy --as q8_0", 160),
        ("gather ids.npy many.npy --quiet", 160),
    ] {
        let (mut errors, mut gathered) = (0, 0);
        for megabytes in (10..=most).rev().step_by(12) {
            if run(megabytes, "--help").0 != Some(0) {
                break;
            }
            let arguments = format!("run {command} -o out.npy --device cpu");
            let (code, error) = run(megabytes, &arguments);
            let is_written = fs::remove_file(folder.0.join("out.npy")).is_ok();
            match code {
                Some(0) => gathered += 1,
                Some(1) => {
                    let last = error.lines().last().unwrap_or_default();
                    assert!(last.starts_with("error: "), "{megabytes} MB: {error}");
                    errors += 1;
                }
                code => panic!("{command} in {megabytes} MB: {code:?}, {error}"),
            }
            assert_eq!(is_written, code == Some(0), "{command} in {megabytes} MB");
        }
        assert!(
            errors > 0 && gathered > 0,
            "{command}: {errors} errors, {gathered} gathered"
        );
    }
}
