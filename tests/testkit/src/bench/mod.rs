//! Shared by the library's benchmark and the comparison with its peers: workloads, times, and the CPU's name and last-level
//! cache, from Linux.

pub mod timing;
pub mod workloads;

use std::fs::read_to_string;

/// Bytes in the last-level cache; 32 MiB if the system does not say.
pub fn last_level_cache() -> u64 {
    let sizes = (0..8).filter_map(|index| {
        let file = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size");
        let size = read_to_string(file).ok()?;
        size.trim().strip_suffix('K')?.parse::<u64>().ok()
    });
    sizes.max().map_or(32 << 20, |kib| kib << 10)
}

pub fn cpu_name() -> String {
    let info = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let name = name.map_or("unknown", |name| name.trim_start_matches([' ', '\t', ':']));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{name}, {threads} threads")
}
