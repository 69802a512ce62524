//! The command `wgpu-gather`: gathers from files, and shows what this machine can do and whether it does it
//! right. All of the gathering is the library's.

mod adapters;
mod args;

mod bench;
mod doctor;
mod run;
mod table;

use std::io::Write;
use std::process::ExitCode;

use args::{Args, Command};
use clap::Parser;
use wgpu_gather_cli::arrays::Result;

/// What a command has to say.
struct Answer {
    text: String,
    /// Whether nothing failed.
    passed: bool,
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self { text, passed: true }
    }
}

fn main() -> ExitCode {
    let answer: Result<Answer> = match Args::parse().command {
        Command::Adapters => Ok(adapters::describe().into()),
        Command::Run(args) => {
            args.check();
            run::run(&args).map(Into::into)
        }
        Command::Doctor(args) => doctor::examine(args.adapter.as_deref()),
        Command::Bench(args) => bench::run(args.adapter.as_deref()).map(Into::into),
    };
    match answer {
        Ok(answer) => {
            // The work is done, also where nobody reads the answer.
            let _ = writeln!(anstream::stdout(), "{}", answer.text);
            ExitCode::from(u8::from(!answer.passed))
        }
        Err(error) => {
            // What a driver or a file has to say may be many lines, or move a terminal's cursor.
            let error = error.to_string().replace(char::is_control, " ");
            let _ = writeln!(anstream::stderr(), "{}: {error}", table::failed("error"));
            ExitCode::FAILURE
        }
    }
}
