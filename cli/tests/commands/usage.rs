//! Options, standard streams and signals: what the command refuses, and what it says.

use std::fs;

use serde_json::Value;
use testkit::ran::Ran;

use crate::archives::safetensors;
#[cfg(unix)]
use crate::faults::shell;
use crate::faults::{COMMAND, folder};
#[cfg(unix)]
use crate::support::{Folder, npy};
use crate::support::{assert_usage, lines, wgpu_gather};

/// Command lines that ask for JSON, and their errors.
const JSON_ERRORS: &str = "
info --json | the following required arguments were not provided: <FILE>...
doctor --json --adapters | unexpected argument '--adapters' found
run gather_elements a b -o c --batch-dims 1 --json | gather_elements has no --batch-dims
gather --json | gather is an operation of run: wgpu-gather run gather ..
";

/// Errors of usage are JSON where JSON is asked for, as all others.
pub fn usage_errors_are_json() {
    for (command, error) in lines(JSON_ERRORS) {
        let ran = Ran::new(wgpu_gather().args(command.split(' ')));
        assert_eq!((ran.code, ran.stderr.as_str()), (2, ""), "{command}");
        let document: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(document["error"], error, "{command}");
    }
}

pub fn two_arrays_from_standard_input_are_refused() {
    let folder = folder("two-streams");
    for arrays in ["- -", "/dev/stdin -"] {
        let ran = folder.run(&format!("gather {arrays} -o out.npy"));
        let error = "only one of PARAMS and INDICES can be standard input";
        assert_usage(&ran, error);
    }
}

/// By its path, another path, and a link.
pub fn an_output_that_is_an_input_is_refused() {
    let folder = folder("in-place");
    let header = r#"{"t":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}"#;
    folder.write("t.st", safetensors(header, &[7; 3]));
    let files = folder.files();
    let mut outputs = vec![
        ("params.npy", "PARAMS, params.npy"),
        ("./ids.npy", "INDICES, ids.npy"),
    ];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("params.npy", folder.0.join("link")).unwrap();
        fs::hard_link(folder.0.join("ids.npy"), folder.0.join("hard")).unwrap();
        outputs.extend([("link", "PARAMS, params.npy"), ("hard", "INDICES, ids.npy")]);
    }
    for (output, input) in outputs {
        let ran = folder.run(&format!("{COMMAND} --from-end -o {output}"));
        assert_usage(&ran, &format!("--output is the file of {input}"));
    }
    let ran = folder.run("gather t.st:t ids.npy -o t.st");
    assert_usage(&ran, "--output is the file of PARAMS, t.st:t");
    #[cfg(unix)]
    {
        let line =
            "exec \"$0\" run gather params.npy - --device cpu --from-end -o ids.npy < ids.npy";
        let ran = shell(&folder, line);
        assert_usage(&ran, "--output is the file of INDICES, -");
    }
    for (path, bytes) in files {
        assert_eq!(fs::read(&path).unwrap(), bytes, "{path:?}");
    }
}

pub fn unknown_back_ends_are_named() {
    let folder = folder("back-end");
    let text = "WGPU_BACKEND must be some of vulkan, metal, dx12 and gl, found \"vulcan\"";
    let run = |command: &str| {
        let mut run = wgpu_gather();
        run.current_dir(&folder.0).env("WGPU_BACKEND", "gl,vulcan");
        run.env_remove("WGPU_ADAPTER_NAME");
        Ran::new(run.args(command.split(' ')))
    };
    let gather = "run gather params.npy ids.npy --from-end -o out.npy";
    let auto = run(gather);
    assert!(auto.code == 0 && auto.stdout.contains(text), "{auto:?}");
    for command in [
        "adapters",
        &format!("{gather} --device gpu"),
        "doctor --adapter a",
    ] {
        let ran = run(command);
        let error = format!("error: no GPU: {text}\n");
        assert_eq!((ran.code, ran.stderr), (1, error), "{command}");
    }
}

/// Rows, device, time, and the rows that are out of range.
pub fn run_says_what_it_did() {
    let folder = folder("said");
    for (options, end) in [
        ("--from-end", ", none out of range"),
        ("--bad-indices fill", ", 1 out of range"),
        ("--bad-indices clamp", ", 1 out of range"),
        ("--bad-indices wrap", ", 1 out of range"),
    ] {
        let ran = folder.run(&format!("{COMMAND} -o out.npy {options}"));
        let start = "out.npy: uint8 [2, 2], 2 rows gathered on the CPU in ";
        let line = ran.stdout.trim_end();
        assert!(line.starts_with(start) && line.ends_with(end), "{ran:?}");
        let time = &line[start.len()..line.len() - end.len()];
        let (number, unit) = time.split_once(' ').unwrap();
        assert!(number.parse::<f64>().unwrap() >= 0.0, "{line}");
        assert!(["us", "ms", "s"].contains(&unit), "{line}");
    }
}

/// The command's own name and the first argument need not be UTF-8.
#[cfg(target_os = "linux")]
pub fn arguments_need_not_be_utf8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::process::CommandExt;

    let bytes = OsStr::from_bytes(b"\xff");
    let named = Ran::new(wgpu_gather().arg0(bytes).arg("--version"));
    assert_eq!(named.code, 0, "{named:?}");
    let asked = Ran::new(wgpu_gather().arg(bytes));
    assert!(
        asked.code == 2 && asked.stderr.starts_with("error: "),
        "{asked:?}"
    );
}

#[cfg(target_os = "linux")]
pub fn help_that_is_not_written_is_an_error() {
    let folder = folder("help-full");
    for command in ["--help", "run --help", "--version"] {
        let ran = shell(&folder, &format!("exec \"$0\" {command} > /dev/full"));
        assert!(
            ran.code == 1 && ran.stderr.starts_with("error: standard output: "),
            "{command}: {ran:?}"
        );
    }
}

#[cfg(unix)]
pub fn a_closed_standard_output_is_an_error() {
    let folder = folder("closed");
    let run = format!("\"$0\" run {COMMAND} --from-end -o -");
    let ran = shell(&folder, &format!("exec {run} >&-"));
    let error =
        "error: standard output: it is closed, or a null device that is open for reading too\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (1, error));
    // Whoever writes to /dev/null means it.
    let ran = shell(&folder, &format!("exec {run} > /dev/null"));
    let line = "-: uint8 [2, 2], 2 rows gathered on the CPU in ";
    assert!(ran.code == 0 && ran.stderr.starts_with(line), "{ran:?}");
}

/// A stream that has no end is refused by its start.
#[cfg(unix)]
pub fn streams_are_refused_by_their_start() {
    let folder = folder("stream");
    let line = "timeout 20 yes | \"$0\" run gather - ids.npy --device cpu -o out.npy";
    let ran = shell(&folder, line);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (1, "error: -: not a .npy file\n")
    );
}

/// Signals that the parent ignores, as `nohup` does.
#[cfg(unix)]
pub fn ignored_signals_stay_ignored() {
    let folder = Folder::new("ignored");
    folder.write("params.npy", npy("|u1", "(1, 1048576)", &vec![1; 1 << 20]));
    folder.i32("ids.npy", "(64,)", &[0; 64]);
    for signal in ["HUP", "INT", "TERM"] {
        let line = format!(
            "trap '' {signal}; \"$0\" run {COMMAND} -o out.npy > said & \
             while [ ! -s said ] && kill -s {signal} $! 2> /dev/null; do sleep 0.002; done; wait $!; echo $?"
        );
        let ran = shell(&folder, &line);
        assert_eq!(ran.stdout.trim(), "0", "SIG{signal}: {ran:?}");
        assert_eq!(folder.read("out.npy").len(), 128 + (64 << 20));
        fs::remove_file(folder.0.join("out.npy")).unwrap();
    }
}

/// From its first moment the file that takes a private file's place is private.
#[cfg(unix)]
pub fn private_outputs_stay_private() {
    use std::os::unix::fs::PermissionsExt;
    use std::process::Stdio;

    let folder = Folder::new("private");
    folder.write("params.npy", npy("|u1", "(1, 1048576)", &vec![1; 1 << 20]));
    folder.i32("ids.npy", "(64,)", &[0; 64]);
    let output = folder.0.join("out.npy");
    let mut seen = 0;
    for _ in 0..20 {
        fs::write(&output, []).unwrap();
        fs::set_permissions(&output, fs::Permissions::from_mode(0o600)).unwrap();
        let mut run = wgpu_gather();
        run.current_dir(&folder.0).arg("run").stdout(Stdio::null());
        let mut run = run
            .args(format!("{COMMAND} -o out.npy").split(' '))
            .spawn()
            .unwrap();
        while run.try_wait().unwrap().is_none() {
            for file in fs::read_dir(&folder.0).unwrap() {
                let file = file.unwrap();
                let is_partial = file.file_name().to_string_lossy().ends_with(".partial");
                // It may have taken the output's place.
                if let (true, Ok(metadata)) = (is_partial, file.metadata()) {
                    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
                    seen += 1;
                }
            }
        }
        assert!(run.wait().unwrap().success());
        if seen > 100 {
            break;
        }
    }
    assert!(seen > 0, "no partial file is seen");
}
