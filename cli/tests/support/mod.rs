//! Runs the command `wgpu-gather` in new folders, and makes .npy files by NumPy's description of the format.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::ran::Ran;

pub fn wgpu_gather() -> Command {
    Command::new(env!("CARGO_BIN_EXE_wgpu-gather"))
}

/// Runs a command line of a shell in a terminal, and returns the exit code and all that the terminal shows; none
/// without the program `script`, which opens terminals.
#[cfg(target_os = "linux")]
pub fn in_terminal(folder: &Path, command: &str) -> Option<(i32, String)> {
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", command, "/dev/null"]);
    let output = script
        .current_dir(folder)
        .env("TERM", "xterm")
        .output()
        .ok()?;
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    Some((output.status.code().unwrap(), shown))
}

/// Sends a signal to a process, which may have ended. A bare machine has no program `kill`, and its shell has the command.
#[cfg(unix)]
pub fn send(signal: &str, process: u32) {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("kill -s {signal} {process} 2>/dev/null")]);
    shell.status().unwrap();
}

/// A new folder in which commands run.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(env!("CARGO_CRATE_NAME"))
            .join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub fn write(&self, name: &str, bytes: Vec<u8>) {
        fs::write(self.0.join(name), bytes).unwrap();
    }

    pub fn i32(&self, name: &str, shape: &str, indices: &[i32]) {
        self.write(name, npy("<i4", shape, &numbers(indices, i32::to_le_bytes)));
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).unwrap()
    }

    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let paths = fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        paths
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect()
    }

    pub fn run(&self, command: &str) -> Ran {
        Ran::new(
            wgpu_gather()
                .current_dir(&self.0)
                .arg("run")
                .args(command.split_whitespace()),
        )
    }

    /// Asserts that the command succeeds and prints that `out.npy` holds `output`. The command writes `out.npy` and runs on the
    /// CPU if it does not say otherwise.
    #[track_caller]
    pub fn gathers(&self, command: &str, output: &str) {
        let command = &completed(command);
        let result = self.run(command);
        assert_eq!(result.code, 0, "{command}: {}", result.stderr);
        let (start, line) = (format!("out.npy: {output}, "), result.stdout);
        assert!(
            line.starts_with(&start) && line.contains(" gathered on "),
            "{command}: {line}"
        );
    }

    /// As [`gathers`](Self::gathers), and `out.npy` is this file.
    #[track_caller]
    pub fn makes(&self, command: &str, output: &str, file: &[u8]) {
        self.gathers(command, output);
        assert_eq!(self.read("out.npy"), file, "{command}");
    }

    /// Asserts that the command, completed as in [`gathers`](Self::gathers), fails with the line `error` and leaves every file
    /// unchanged.
    #[track_caller]
    pub fn refuses(&self, command: &str, error: &str) {
        let command = &completed(command);
        let before = self.files();
        let result = self.run(command);
        let mut lines = result.stderr.lines();
        let last = lines.next_back();
        let expected = format!("error: {error}");
        assert_eq!(
            (result.code, last),
            (1, Some(expected.as_str())),
            "{command}"
        );
        // GPU drivers may print lines before the error.
        if command.contains("--device cpu") {
            assert_eq!(lines.count(), 0, "{command}: {}", result.stderr);
        }
        assert_eq!(result.stdout, "", "{command}");
        assert!(self.files() == before, "{command}: files changed");
    }
}

fn completed(command: &str) -> String {
    let missing = |option: &str, whole| if command.contains(option) { "" } else { whole };
    let (output, device) = (
        missing(" -o ", " -o out.npy"),
        missing("--device ", " --device cpu"),
    );
    format!("{command}{output}{device}")
}

/// A table of lines in two columns, `one | other`.
pub fn lines(table: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = table.trim_matches('\n').lines();
    lines.map(|line| line.split_once(" | ").expect(line))
}

/// Asserts that the command line is refused, and that its first line is this error.
#[track_caller]
pub fn assert_usage(ran: &Ran, error: &str) {
    let expected = format!("error: {error}");
    let found = (ran.code, ran.stderr.lines().next());
    assert_eq!(found, (2, Some(expected.as_str())), "{ran:?}");
}

/// The file that NumPy writes for an array of few dims; its header has 128 bytes.
pub fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    file(1, &format!("{header:<117}\n"), data)
}

/// A file of format `version`.0, with a header that need not be valid.
pub fn file(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let len = u32::try_from(header.len()).unwrap().to_le_bytes();
    let len = if version == 1 { &len[..2] } else { &len[..] };
    [
        &b"\x93NUMPY"[..],
        &[version, 0],
        len,
        header.as_bytes(),
        data,
    ]
    .concat()
}

pub fn numbers<I: Copy, const N: usize>(numbers: &[I], to_le_bytes: fn(I) -> [u8; N]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|&number| to_le_bytes(number))
        .collect()
}
