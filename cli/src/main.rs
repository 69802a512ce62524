//! The command `wgpu-gather`: gathers from files and describes them, lists the machine's adapters, and checks and times
//! gathers on them. The library does all gathering.

mod adapters;
mod args;
mod bench;
mod choose;
mod doctor;
mod info;
mod quantized;
mod run;
mod table;

use std::io::{self, Write};
use std::process::ExitCode;
#[cfg(unix)]
use std::sync::Arc;

use args::{Args, Command};
use serde_json::json;
use wgpu_gather_cli::arrays::Result;
use wgpu_gather_cli::arrays::npy_write::end_writing;

/// The number of the signal that Ctrl-C sends.
const SIGINT: i32 = 2;

/// The result of a command.
struct Answer {
    /// The text for stdout; none if it is empty.
    text: String,
    /// True if nothing failed.
    passed: bool,
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self { text, passed: true }
    }
}

/// Makes rayon's pool of this thread only if the address space is limited, as by `ulimit -v`: a thread that starts
/// without memory for its signal stack aborts the process.
#[cfg(all(unix, not(target_os = "openbsd")))]
fn spare_address_space() {
    use rustix::process::{Resource, getrlimit};

    if getrlimit(Resource::As).current.is_some() {
        let this_thread = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .use_current_thread();
        // It fails only after another pool was made.
        let _ = this_thread.build_global();
    }
}

#[cfg(not(all(unix, not(target_os = "openbsd"))))]
fn spare_address_space() {}

/// Ends the process after a signal, without the cleanup of libraries: threads of drivers do not survive it.
fn end(status: i32) -> ! {
    #[cfg(unix)]
    signal_hook::low_level::exit(status);
    #[cfg(not(unix))]
    std::process::exit(status);
}

fn heed_signals() {
    // A second handler, or a system without signals, is no reason to stop.
    let _ = ctrlc::set_handler(|| {
        end_writing(|is_complete| end(if is_complete { 0 } else { 128 + SIGINT }));
    });
    // A file that grows beyond the user's limit is then an error of the write, not the end of the process.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

fn main() -> ExitCode {
    heed_signals();
    let command = Args::of_process().command;
    let wants_json = command.wants_json();
    spare_address_space();
    let answer: Result<Answer> = match command {
        Command::Adapters(form) => Ok(adapters::describe(form.json).into()),
        Command::Run(args) => {
            args.check();
            run::run(&args).map(|text| text.unwrap_or_default().into())
        }
        Command::Info(args) => info::describe(&args).map(Into::into),
        Command::Doctor(args) => doctor::examine(&args),
        Command::Bench(args) => bench::run(&args).map(Into::into),
        Command::Completions { shell } => Ok(args::completions(shell).into()),
    };
    let printed = answer.and_then(|answer| {
        print(&answer.text)?;
        Ok(answer.passed)
    });
    match printed {
        Ok(passed) => ExitCode::from(u8::from(!passed)),
        Err(error) => {
            // Texts from a driver or a file may have line breaks or a terminal's control codes.
            let error = error.to_string().replace(char::is_control, " ");
            let is_told = wants_json && print(&format!("{:#}", json!({ "error": error }))).is_ok();
            if !is_told {
                let _ = writeln!(anstream::stderr(), "{}: {error}", table::failed("error"));
            }
            ExitCode::FAILURE
        }
    }
}

/// Writes a text to standard output. A closed pipe is no error: nobody reads on, and the work is done.
fn print(text: &str) -> Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let mut stdout = anstream::stdout();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("standard output: {error}").into())
        }
        _ => Ok(()),
    }
}
