//! The command `wgpu-gather`: gathers from files and describes them, lists the machine's adapters, and checks and times
//! gathers on them. The library does all gathering.

mod adapters;
mod args;
mod bench;
mod choose;
mod doctor;
mod info;
mod run;
mod table;

use std::io::Write;
use std::process::ExitCode;

use args::{Args, Command};
use clap::Parser;
use wgpu_gather_cli::arrays::Result;
use wgpu_gather_cli::arrays::npy_write::remove_partial;

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

fn main() -> ExitCode {
    // A second handler, or a system without signals, is no reason to stop.
    let _ = ctrlc::set_handler(|| {
        let _partial = remove_partial();
        std::process::exit(128 + SIGINT);
    });
    spare_address_space();
    let answer: Result<Answer> = match Args::parse().command {
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
    match answer {
        Ok(answer) => {
            if !answer.text.is_empty() {
                // A closed stdout is no error: the work is done.
                let _ = writeln!(anstream::stdout(), "{}", answer.text);
            }
            ExitCode::from(u8::from(!answer.passed))
        }
        Err(error) => {
            // Texts from a driver or a file may have line breaks or a terminal's control codes.
            let error = error.to_string().replace(char::is_control, " ");
            let _ = writeln!(anstream::stderr(), "{}: {error}", table::failed("error"));
            ExitCode::FAILURE
        }
    }
}
