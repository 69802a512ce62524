//! The command line: the sizes of the gather and of a message.

use std::ffi::OsString;

use mpi::Count;
use wgpu_gather::{BadIndices, GatherNd, GatherPlan, PlanError};

use crate::Result;

pub const USAGE: &str =
    "usage: wgpu-gather-mpi [--rows N] [--slice-len N] [--index-rows N] [--message-bytes N]";

/// The number of tables in params.
const TABLES: usize = 3;

#[derive(Clone, Copy)]
pub struct Options {
    /// Rows of each table.
    pub rows: usize,
    /// Elements of a row.
    pub slice_len: usize,
    pub index_rows: usize,
    /// The most bytes that a rank sends or receives in one call of MPI.
    pub message_bytes: usize,
}

impl Options {
    pub const COUNT: usize = 4;
    const NAMES: [&str; Self::COUNT] = ["--rows", "--slice-len", "--index-rows", "--message-bytes"];
    const DEFAULT: Self = Self {
        rows: 20_000,
        slice_len: 64,
        index_rows: 30_000,
        message_bytes: 64 << 20,
    };

    /// Reads the arguments after the command's own name. The returned options make a plan.
    pub fn parse(args: impl Iterator<Item = OsString>, ranks: usize) -> Result<Self> {
        let mut values = Self::DEFAULT.to_array();
        let mut args = args.map(|arg| arg.to_string_lossy().into_owned());
        while let Some(name) = args.next() {
            let Some(at) = Self::NAMES.iter().position(|&known| known == name) else {
                return Err(format!("unknown option {name:?}").into());
            };
            let value = args.next().ok_or(format!("{name} needs a value"))?;
            values[at] = value
                .parse()
                .map_err(|_| format!("{name} must be a number, found {value:?}"))?;
        }
        let options = Self::from_array(values);

        // The least is an element of 8 bytes for each rank; the most is the largest C int.
        let (least, most) = (size_of::<u64>() * ranks, Count::MAX);
        if options.message_bytes < least || Count::try_from(options.message_bytes).is_err() {
            return Err(format!(
                "--message-bytes must be in {least}..={most} on {ranks} ranks, found {}",
                options.message_bytes
            )
            .into());
        }
        options.plan(BadIndices::Error)?;
        Ok(options)
    }

    pub fn to_array(self) -> [usize; Self::COUNT] {
        [
            self.rows,
            self.slice_len,
            self.index_rows,
            self.message_bytes,
        ]
    }

    pub fn from_array([rows, slice_len, index_rows, message_bytes]: [usize; Self::COUNT]) -> Self {
        Self {
            rows,
            slice_len,
            index_rows,
            message_bytes,
        }
    }

    /// The dims that the values of an index row select in: tables, and rows of each.
    pub fn dims(self) -> [usize; INDEX_DEPTH] {
        [TABLES, self.rows]
    }

    /// The gather from the whole table. An index row is a table and a row of it.
    pub fn plan(self, bad_indices: BadIndices) -> std::result::Result<GatherPlan, PlanError> {
        GatherNd::new().bad_indices(bad_indices).plan(
            &[TABLES, self.rows, self.slice_len],
            &[self.index_rows, INDEX_DEPTH],
        )
    }
}

/// The values of an index row: a table, and a row of it.
pub const INDEX_DEPTH: usize = 2;
