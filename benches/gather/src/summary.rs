//! The ratios of all workloads, printed side by side at the end of a run.

use std::fmt;
use std::time::Duration;

use crate::timing::{ms, ratio};

#[derive(Default)]
pub struct Summary {
    pub beside: Vec<Beside>,
    pub growth: Vec<Growth>,
}

/// Times of a gather on the GPU, of a copy of its output's bytes, and of the naive kernels that can run.
pub struct Beside {
    pub workload: String,
    pub ours: Duration,
    pub copy: Duration,
    pub naive_unit: Option<Duration>,
    pub naive_row: Option<Duration>,
}

/// A time, relative to the copy's, of one of the workloads that differ in the size of their output only.
pub struct Growth {
    pub name: String,
    pub mib: u64,
    pub to_copy: f64,
}

impl Beside {
    /// Our time divided by the copy's and by each naive kernel's; a dash for a kernel that cannot run.
    fn ratios(&self) -> [String; 3] {
        [Some(self.copy), self.naive_unit, self.naive_row]
            .map(|time| time.map_or("-".into(), |time| format!("{:.2}", ratio(self.ours, time))))
    }
}

impl fmt::Display for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [copy, unit, row] = self.ratios();
        write!(
            f,
            "resident takes {copy} times copy, {unit} naive_unit, {row} naive_row"
        )
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.beside.is_empty() {
            writeln!(
                f,
                "\non the GPU, ours (resident) by the copy and by the naive kernels; below 1 ours is faster:"
            )?;
            writeln!(
                f,
                "  {:<8}{:>11}{:>11}{:>12}{:>12}",
                "", "ours ms", "/ copy", "/ unit", "/ row"
            )?;
        }
        for beside in &self.beside {
            let [copy, unit, row] = beside.ratios();
            writeln!(
                f,
                "  {:<8}{:>11.4}{copy:>11}{unit:>12}{row:>12}",
                beside.workload,
                ms(beside.ours)
            )?;
        }
        if self.growth.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nrows of 512 B, time by that of a copy:")?;
        let mut names: Vec<_> = self.growth.iter().map(|of| &of.name).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let of_name = self.growth.iter().filter(|of| of.name == *name);
            let sizes: Vec<String> = of_name
                .map(|of| format!("{} MiB {:.2}", of.mib, of.to_copy))
                .collect();
            writeln!(f, "  {name:<20}{}", sizes.join("   "))?;
        }
        Ok(())
    }
}
