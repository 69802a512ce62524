//! Times this crate beside other libraries: each workload on every peer that can do it, in turn, in one process.
//!
//! ```sh
//! cargo run --release -- --workload W1,W3 --json out.jsonl
//! ```

#![allow(clippy::cast_precision_loss, reason = "figures")]

mod data;
mod options;
mod peers;
mod report;
mod table;
mod timing;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use data::{Data, with_operands};
use options::Options;
use peers::{COPY, Device, Peer};
use report::{Json, Row};
use testkit::bench::{cpu_name, last_level_cache};
use testkit::device::open_gpu;
use timing::Threads;

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    let workloads = options.workloads()?;
    let gpu = match open_gpu() {
        Ok(gpu) => Some(Arc::new(gpu)),
        Err(error) => {
            println!("no GPU: {error}");
            None
        }
    };
    let adapter = gpu.as_ref().map(ToString::to_string);
    let peers = chosen(peers::peers(gpu), &options.peers)?;
    println!("cpu: {}", cpu_name());
    if let Some(adapter) = &adapter {
        println!("gpu: {adapter}");
    }
    if options.list {
        print!("{}", table::notes(&peers, Device::Cpu));
        print!("{}", table::notes(&peers, Device::Gpu));
        return Ok(());
    }
    println!(
        "medians of {} samples; floors for a cache of {} MiB",
        options.samples,
        last_level_cache() >> 20
    );

    let json = options
        .json
        .as_ref()
        .map(|path| Json::create(path, adapter));
    let mut json = json.transpose()?;
    let threads = Threads::new();
    let mut rows = Vec::new();
    for (number, workload) in workloads.iter().enumerate() {
        eprintln!("{} of {}: {}", number + 1, workloads.len(), workload.name);
        let data = Data::new(workload);
        let expected = expected(&data);
        let timed = timing::time(&peers, &data, &expected, &threads, options.samples.get())?;
        let row = Row::new(&data, timed);
        if let Some(json) = &mut json {
            json.write(&row)?;
        }
        rows.push(row);
    }
    print!("{}", table::tables(&rows, &peers));
    Ok(())
}

/// The peers with the given names (all if there are none), and the copies, which every ratio needs.
fn chosen(mut peers: Vec<Box<dyn Peer>>, names: &[String]) -> Result<Vec<Box<dyn Peer>>, String> {
    let known: Vec<&str> = peers.iter().map(|peer| peer.name()).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(format!(
            "there is no peer {unknown:?} here, but {}",
            known.join(", ")
        ));
    }
    peers.retain(|peer| {
        let is_named = names.iter().any(|name| name == peer.name());
        names.is_empty() || is_named || peer.measure() == COPY
    });
    Ok(peers)
}

/// The output that every peer must give: this crate's, which all other peers and the plain loop must equal.
fn expected(data: &Data) -> Vec<u8> {
    with_operands!(data, |params, indices| {
        let output = data.plan.gather(params, indices);
        bytemuck::cast_slice(&output.expect("indices are in range")).to_vec()
    })
}
