//! Faults of readers, disks, signals and indices: the command's exit codes, texts and files after each.

#[cfg(unix)]
use std::fs;
#[cfg(unix)]
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use testkit::ran::Ran;

#[cfg(unix)]
use crate::support::send;
use crate::support::{Folder, assert_usage, npy, numbers, wgpu_gather};

pub const COMMAND: &str = "gather params.npy ids.npy --device cpu";

/// A folder with three rows, and the indices 2, -1.
pub fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("params.npy", npy("|u1", "(3, 2)", &[1, 2, 3, 4, 5, 6]));
    folder.i32("ids.npy", "(2,)", &[2, -1]);
    folder
}

pub fn an_operation_needs_run() {
    for operation in ["gather", "gather_nd", "gather_elements"] {
        let ran = Ran::new(wgpu_gather().args([operation, "a.npy", "b.npy"]));
        assert_usage(
            &ran,
            &format!("{operation} is an operation of run: wgpu-gather run {operation} .."),
        );
    }
}

pub fn json_says_what_run_did() {
    let folder = folder("run-json");
    let document = |command: &str| -> (i32, Value) {
        let ran = folder.run(&format!("{command} --json"));
        assert_eq!(ran.stderr, "");
        (
            ran.code,
            serde_json::from_str(&ran.stdout).expect(&ran.stdout),
        )
    };
    let (code, done) = document(&format!("{COMMAND} -o out.npy --bad-indices fill"));
    let mut expected = json!({
        "output": "out.npy", "dtype": "uint8", "shape": [2, 2], "device": "the CPU", "rows": 2, "bad_rows": 1
    });
    expected["seconds"] = done["seconds"].clone();
    assert!(
        done["seconds"]
            .as_f64()
            .is_some_and(|seconds| seconds > 0.0),
        "{done}"
    );
    assert_eq!((code, done), (0, expected));
    assert_eq!(folder.read("out.npy"), npy("|u1", "(2, 2)", &[5, 6, 0, 0]));
    let (code, failed) = document(&format!("{COMMAND} -o other.npy"));
    let error = failed["error"].as_str().unwrap();
    assert!(
        code == 1 && error.starts_with("ids.npy: indices[1] = -1"),
        "{failed}"
    );
    let ran = Ran::new(wgpu_gather().args(["info", "--json", "absent.npy"]));
    let failed: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(ran.code == 1 && failed["error"].is_string(), "{failed}");
}

pub fn bad_indices_name_their_file() {
    let folder = folder("bad-index");
    let negative = "ids.npy: indices[1] = -1 is not in [0, 3); with --from-end a negative index counts from the end";
    folder.refuses(&format!("{COMMAND} -o out.npy"), negative);
    folder.gathers(&format!("{COMMAND} -o out.npy --from-end"), "uint8 [2, 2]");
    folder.i32("ids.npy", "(1,)", &[3]);
    folder.refuses(
        &format!("{COMMAND} -o out.npy"),
        "ids.npy: indices[0] = 3 is not in [0, 3)",
    );
}

pub fn names_are_for_archives() {
    let folder = folder("npy-name");
    folder.refuses(
        "gather params.npy:x ids.npy",
        "params.npy:x: a .npy file has one array: names are for .npz, .safetensors and .gguf files",
    );
    folder.refuses(
        &format!("{COMMAND} --from-end -o absent/out.npy"),
        "absent/out.npy: there is no folder absent",
    );
}

/// Runs a line of a shell, in which `$0` is the command.
#[cfg(unix)]
pub fn shell(folder: &Folder, line: &str) -> Ran {
    let mut shell = Command::new("sh");
    shell.args(["-c", line, env!("CARGO_BIN_EXE_wgpu-gather")]);
    Ran::new(shell.current_dir(&folder.0))
}

#[cfg(target_os = "linux")]
pub fn unwritten_answers_are_errors() {
    let folder = folder("full");
    for command in [
        "info params.npy",
        "info params.npy --json",
        "adapters --json",
        "run gather params.npy ids.npy --device cpu --from-end -o out.npy",
    ] {
        let ran = shell(&folder, &format!("exec \"$0\" {command} > /dev/full"));
        let line = ran.stderr.lines().next_back().unwrap_or_default();
        assert!(
            ran.code == 1 && line.starts_with("error: standard output: "),
            "{command}: {ran:?}"
        );
        // A closed pipe stays quiet. The sleep lets the reader end first.
        let closed = format!(
            "rm -f code; (sleep 0.2; \"$0\" {command}; echo $? >code) | :; \
             while [ ! -s code ]; do sleep 0.02; done; cat code"
        );
        let ran = shell(&folder, &closed);
        // Drivers may write lines of their own, which also begin with "error: ".
        let is_ours = |line: &&str| line.starts_with("error: standard output: ");
        let errors = ran.stderr.lines().filter(is_ours).count();
        assert_eq!((ran.stdout.trim(), errors), ("0", 0), "{command}: {ran:?}");
    }
}

#[cfg(target_os = "linux")]
pub fn a_file_limit_leaves_no_partial() {
    let folder = folder("file-limit");
    let ids = numbers(&[0_u8; 4096], u8::to_le_bytes);
    folder.write("ids.npy", npy("|u1", "(4096,)", &ids));
    let files = folder.files();
    let ran = shell(
        &folder,
        &format!("ulimit -f 4; exec \"$0\" run {COMMAND} -o out.npy"),
    );
    assert!(
        ran.code == 1 && ran.stderr.starts_with("error: out.npy: "),
        "{ran:?}"
    );
    assert!(folder.files() == files);
}

/// Stops `run` once its output is complete: the pipe that takes the closing line is full, and nobody reads it.
#[cfg(target_os = "linux")]
pub fn a_signal_after_the_output_is_late() {
    let folder = folder("late-signal");
    let run = format!("run {COMMAND} --from-end -o out.npy");
    let line = format!(
        "(head -c 65536 /dev/zero; sh -c 'echo $$ > pid; exec \"$0\" {run}' \"$0\"; echo $? > code) | sleep 3 & \
         while [ ! -e out.npy ]; do sleep 0.01; done; sleep 0.3; kill -s TERM $(cat pid); wait; cat code"
    );
    let ran = shell(&folder, &line);
    assert_eq!((ran.stdout.trim(), ran.stderr.as_str()), ("0", ""));
    assert_eq!(folder.read("out.npy"), npy("|u1", "(2, 2)", &[5, 6, 5, 6]));
}

/// Help fills the width of the terminal; clap does not wrap the line of the usage.
pub fn help_is_wrapped_once() {
    for command in ["run", "info", "doctor"] {
        for columns in [60, 100] {
            let mut help = wgpu_gather();
            help.args([command, "--help"])
                .env("COLUMNS", columns.to_string());
            let text = Ran::new(&mut help).stdout;
            let lines = text.lines().filter(|line| !line.starts_with("Usage: "));
            let longest = lines.map(|line| line.chars().count()).max().unwrap();
            assert!(
                longest <= columns && longest > columns - 12,
                "{longest} of {columns}:\n{text}"
            );
        }
    }
}

#[cfg(unix)]
pub fn pipes_are_read_and_written() {
    let folder = folder("pipes");
    let expected = npy("|u1", "(2, 2)", &[5, 6, 5, 6]);
    for line in [
        "cat ids.npy | \"$0\" run gather params.npy - --device cpu --from-end -o - > out.npy",
        "cat params.npy | \"$0\" run gather - ids.npy --device cpu --from-end -o /dev/stdout | cat > out.npy",
        "mkfifo pipe.npy; cat params.npy > pipe.npy & exec \"$0\" run gather pipe.npy ids.npy --device cpu --from-end -o out.npy",
    ] {
        let ran = shell(&folder, line);
        let is_said = ran
            .stderr
            .contains(": uint8 [2, 2], 2 rows gathered on the CPU in ");
        let is_file = line.ends_with("-o out.npy");
        assert!(ran.code == 0 && (is_said || is_file), "{line}: {ran:?}");
        assert_eq!(folder.read("out.npy"), expected, "{line}");
        fs::remove_file(folder.0.join("out.npy")).unwrap();
    }
    let ran = shell(
        &folder,
        "head -c 100 params.npy | \"$0\" run gather - ids.npy --device cpu -o out.npy",
    );
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (1, "error: -: the file ends within its header\n")
    );
}

#[cfg(unix)]
pub fn set_uid_is_not_copied() {
    use std::os::unix::fs::PermissionsExt;

    let folder = folder("set-uid");
    let path = folder.0.join("out.npy");
    fs::write(&path, []).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o6755)).unwrap();
    folder.gathers(&format!("{COMMAND} --from-end -o out.npy"), "uint8 [2, 2]");
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
        0o755
    );
}

/// Sends SIGTERM at several moments of `doctor`, while a driver's threads compile at most of them: the command ends with 130.
/// SIGINT would test nothing: a shell lets the programs that it runs in the background ignore it.
#[cfg(unix)]
pub fn doctor_stops_cleanly() {
    use std::os::unix::process::ExitStatusExt;

    const SIGTERM: i32 = 15;
    let mut stopped = 0;
    for moment in [20, 100, 200, 400, 600] {
        let mut doctor = wgpu_gather();
        doctor
            .arg("doctor")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut doctor = doctor.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(moment));
        send("TERM", doctor.id());
        let status = doctor.wait().unwrap();
        match (status.code(), status.signal()) {
            (Some(130), _) => stopped += 1,
            // It was done before, or not yet heeding signals.
            (Some(0), _) | (_, Some(SIGTERM)) => {}
            _ => panic!("{status:?} after {moment} ms"),
        }
    }
    assert!(stopped > 0);
}
