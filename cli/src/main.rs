//! The command `wgpu-gather`: gathers from files and describes them, lists the machine's adapters, and checks gathers on
//! them. The library does all gathering.

mod adapters;
mod args;
mod choose;
mod decoded;
mod doctor;
mod indices;
mod info;
mod output;
mod progress;
mod rows;
mod run;
mod signals;
mod table;

use std::io::Write;
use std::process::ExitCode;

use args::{Args, Command};
use output::{Answer, print};
use serde_json::json;
use wgpu_gather_cli::arrays::Result;
use wgpu_gather_cli::arrays::names::on_one_line;

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
    signals::heed();
    let command = Args::of_process().command;
    let wants_json = command.wants_json();
    spare_address_space();
    let answer: Result<Answer> = match command {
        Command::Adapters(form) => adapters::describe(form.json).map(Into::into),
        Command::Run(args) => {
            args.check();
            run::run(&args).map(Into::into)
        }
        Command::Info(args) => info::describe(&args).map(|()| String::new().into()),
        Command::Doctor(args) => doctor::examine(&args),
    };
    let printed = answer.and_then(|answer| {
        print(&answer.text, wants_json)?;
        Ok(answer.passed)
    });
    match printed {
        Ok(passed) => ExitCode::from(u8::from(!passed)),
        Err(error) => {
            // Texts from a driver or a file may have line breaks or a terminal's control codes.
            let error = on_one_line(&error.to_string());
            let is_told =
                wants_json && print(&format!("{:#}", json!({ "error": error })), true).is_ok();
            if !is_told {
                let _ = writeln!(anstream::stderr(), "{}: {error}", table::failed("error"));
            }
            ExitCode::FAILURE
        }
    }
}
