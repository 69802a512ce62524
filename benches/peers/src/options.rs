//! The command line.

use std::path::PathBuf;

use crate::workloads::{Workload, sweep, workloads};

pub const USAGE: &str = "usage: cargo run --release -- [options]

Times this crate and other libraries on the workloads W1 to W10, in turn, in one process. Outputs are checked
before anything is timed. The adapter is the one that WGPU_BACKEND and WGPU_ADAPTER_NAME ask for.

  --workload W1,W3    only these
  --peer NAME,...     only these; the copies are always there
  --samples N         samples of each figure (15)
  --json FILE         one line per figure
  --sweep             slices of 4 B to 64 KiB in place of the workloads
  --svg FILE          draws the sweep
  --list              names the peers of this build and this machine, and says what each is";

pub struct Options {
    pub workloads: Vec<Workload>,
    /// Names of peers; empty for all.
    pub peers: Vec<String>,
    pub samples: usize,
    pub json: Option<PathBuf>,
    pub svg: Option<PathBuf>,
    pub list: bool,
}

/// # Errors
///
/// A message for an argument that is unknown or invalid; the usage for `--help`.
pub fn options(arguments: impl IntoIterator<Item = String>) -> Result<Options, String> {
    let mut arguments = arguments.into_iter();
    let mut options = Options {
        workloads: Vec::new(),
        peers: Vec::new(),
        samples: 15,
        json: None,
        svg: None,
        list: false,
    };
    let (mut names, mut is_sweep) = (None, false);
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or(format!("{argument} wants a value\n\n{USAGE}"))
        };
        let list = |value: String| value.split(',').map(str::to_owned).collect::<Vec<_>>();
        match argument.as_str() {
            "--workload" => names = Some(list(value()?)),
            "--peer" => options.peers = list(value()?),
            "--samples" => {
                let samples = value()?.parse().ok().filter(|&samples| samples > 0);
                options.samples = samples.ok_or(format!("--samples wants a number\n\n{USAGE}"))?;
            }
            "--json" => options.json = Some(value()?.into()),
            "--sweep" => is_sweep = true,
            "--svg" => options.svg = Some(value()?.into()),
            "--list" => options.list = true,
            "--help" => return Err(USAGE.into()),
            other => return Err(format!("unknown argument {other:?}\n\n{USAGE}")),
        }
    }
    if options.svg.is_some() && !is_sweep {
        return Err(format!("--svg draws what --sweep measures\n\n{USAGE}"));
    }
    options.workloads = if is_sweep { sweep() } else { workloads() };
    if let Some(names) = names {
        let known = |name: &String| options.workloads.iter().any(|known| known.name == *name);
        if let Some(unknown) = names.iter().find(|name| !known(name)) {
            return Err(format!("there is no workload {unknown:?}\n\n{USAGE}"));
        }
        options
            .workloads
            .retain(|workload| names.contains(&workload.name));
    }
    Ok(options)
}
