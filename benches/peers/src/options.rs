//! The command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Parser;
use testkit::bench::workloads::{Workload, other, sweep, usual};

/// Times this crate and other libraries on the workloads W1 to W10 and E1 to K2, in turn, in one process. Outputs are
/// checked before anything is timed. The adapter is the one that WGPU_BACKEND and WGPU_ADAPTER_NAME ask for.
#[derive(Parser)]
#[command(name = "cargo run --release --")]
pub struct Options {
    /// Times these workloads only.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    workload: Vec<String>,
    /// Times these peers only; the copies are always there.
    #[arg(long = "peer", value_name = "NAME", value_delimiter = ',')]
    pub peers: Vec<String>,
    /// Samples of each figure.
    #[arg(long, value_name = "N", default_value = "15")]
    pub samples: NonZeroUsize,
    /// Writes a line for each figure to this file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Times slices of 4 B to 64 KiB in place of the workloads.
    #[arg(long)]
    sweep: bool,
    /// Names the peers of this build and this machine, and says what each is.
    #[arg(long)]
    pub list: bool,
}

impl Options {
    /// The workloads that are asked for.
    ///
    /// # Errors
    ///
    /// A name that no workload has.
    pub fn workloads(&self) -> Result<Vec<Workload>, String> {
        let mut workloads = if self.sweep {
            sweep()
        } else {
            [usual(), other()].concat()
        };
        let known = |name: &String| workloads.iter().any(|known| known.name == *name);
        if let Some(unknown) = self.workload.iter().find(|name| !known(name)) {
            return Err(format!("there is no workload {unknown:?}"));
        }
        workloads
            .retain(|workload| self.workload.is_empty() || self.workload.contains(&workload.name));
        Ok(workloads)
    }
}
