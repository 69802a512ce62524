//! A table that no machine holds whole: each rank of an MPI run holds some of its rows, and the ranks
//! gather from it together, in two ways.
//!
//! - `everywhere`: every rank has all the indices, gathers the rows that it holds, and gets the whole output.
//! - `routed`: every rank has some of the index rows, asks other ranks for the rows that they hold, and gets the output
//!   of its own index rows.
//!
//! ```sh
//! apt-get install openmpi-bin libopenmpi-dev libclang-dev
//! cargo build --release
//! mpirun -n 4 target/release/wgpu-gather-mpi --message-bytes 65536
//! ```
//!
//! Both ways print the checksum of a run on one rank, for any size of message. A rank with its rows on a GPU calls
//! `gpu.gather(&shard, &table, &indices).wait()` instead of `shard.gather(&table, &indices)`.

mod data;
mod exchange;
mod options;
mod split;

use std::env;
use std::error::Error;
use std::ops::Range;
use std::process::ExitCode;

use exchange::{exchange, or_over_ranks};
use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use mpi::{Rank, Threading};
use options::{Options, USAGE};
use split::Split;
use wgpu_gather::{BadIndices, Gather, GatherPlan, RunError};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    // Rayon has threads too, but only this thread calls MPI.
    let Some((universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
        eprintln!("error: MPI is initialized already");
        return ExitCode::FAILURE;
    };
    let world = universe.world();

    // Rank 0 reads and checks the options for all ranks, so that a mistake is reported once.
    let mut options = [0; Options::COUNT];
    if world.rank() == 0 {
        let args = env::args_os().skip(1);
        match Options::parse(args, number(world.size())) {
            Ok(parsed) => options = parsed.to_array(),
            Err(error) => abort(&world, 2, &format!("{error}; {USAGE}")),
        }
    }
    world.process_at_rank(0).broadcast_into(&mut options[..]);

    // The other ranks would wait forever for a rank that only returned.
    if let Err(error) = run(&world, Options::from_array(options)) {
        abort(&world, 1, &format!("rank {}: {error}", world.rank()));
    }
    ExitCode::SUCCESS
}

fn abort(world: &SimpleCommunicator, status: i32, error: &str) -> ! {
    eprintln!("error: {error}");
    world.abort(status)
}

/// Gathers in both ways; rank 0 prints the answers.
fn run(world: &SimpleCommunicator, options: Options) -> Result<()> {
    let job = Job::new(world, options)?;
    let (everywhere, routed) = (job.everywhere()?, job.routed()?);
    for (method, answer) in [("everywhere", everywhere), ("routed", routed)] {
        if job.rank == 0 {
            let Answer {
                checksum,
                bad_rows,
                first_bad_row,
            } = answer;
            let first = match first_bad_row {
                NO_ROW => String::new(),
                row => format!(", the first is {row}"),
            };
            println!(
                "{method}: ranks {}, checksum {checksum:016x}, bad rows {bad_rows}{first}",
                job.ranks
            );
        }
    }
    if everywhere != routed {
        return Err("the two ways must give one answer".into());
    }
    Ok(())
}

/// The answer of a gather, equal on every rank and for any number of ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Answer {
    checksum: u64,
    /// Each bad row counts once, even if several ranks have seen it.
    bad_rows: u64,
    /// The smallest bad row, or `NO_ROW`.
    first_bad_row: u64,
}

const NO_ROW: u64 = u64::MAX;

/// A rank's options, plan and rows.
struct Job<'a> {
    world: &'a SimpleCommunicator,
    ranks: usize,
    rank: usize,
    options: Options,
    /// The gather from the whole table, with zeros for bad rows.
    plan: GatherPlan,
    /// The rows of the table that each rank holds.
    row_split: Split,
    /// The elements of the rows that this rank holds.
    table: Vec<f32>,
}

impl<'a> Job<'a> {
    fn new(world: &'a SimpleCommunicator, options: Options) -> Result<Self> {
        let (ranks, rank) = (number(world.size()), number(world.rank()));
        let plan = options.plan(BadIndices::Fill)?;
        let row_split = Split::new(plan.row_count(), ranks);
        let (held, slice_len) = (row_split.range(rank), plan.slice_len());
        let table = data::table(held.start * slice_len..held.end * slice_len)?;
        Ok(Self {
            world,
            ranks,
            rank,
            options,
            plan,
            row_split,
            table,
        })
    }

    /// The range of rows that this rank holds.
    fn held(&self) -> Range<usize> {
        self.row_split.range(self.rank)
    }

    /// The first way, for indices and an output that fit on every rank.
    fn everywhere(&self) -> Result<Answer> {
        let indices = data::indices(0..self.options.index_rows, self.options.dims())?;

        // A row that another rank holds is no bad row. A bad row is bad on every rank, so all ranks name the same one.
        let strict = self.options.plan(BadIndices::Error)?.shard(self.held())?;
        let first_bad_row = match strict.gather(&self.table, indices.as_flattened()) {
            Ok(_) => NO_ROW,
            Err(RunError::BadIndex(bad)) => bad.row as u64,
            Err(error) => return Err(error.into()),
        };
        let bad_rows = indices
            .iter()
            .filter(|index| self.selected_row(*index).is_none())
            .count();

        // A rank writes zero bytes for rows that it does not hold, so OR combines the outputs. The elements are sent as
        // integers: OR is defined for them, and they have no NaN whose payload could be lost.
        let shard = self.plan.shard(self.held())?;
        let output = shard.gather(&self.table, indices.as_flattened())?;
        let mut output = to_bits(output);
        or_over_ranks(self.world, &mut output, self.options.message_bytes);

        // Each rank has counted all bad rows, so the counts are compared and not added.
        let answer = [data::checksum(0, &output), bad_rows as u64, first_bad_row];
        let smallest = self.reduce(answer, SystemOperation::min());
        let largest = self.reduce(answer, SystemOperation::max());
        if smallest != largest {
            return Err(
                format!("everywhere gives {answer:x?} here, another answer elsewhere").into(),
            );
        }
        let [checksum, bad_rows, first_bad_row] = answer;
        Ok(Answer {
            checksum,
            bad_rows,
            first_bad_row,
        })
    }

    /// The second way, for indices or an output that fit on no rank: each rank has a part of them.
    fn routed(&self) -> Result<Answer> {
        let mine = Split::new(self.options.index_rows, self.ranks).range(self.rank);
        let indices = data::indices(mine.clone(), self.options.dims())?;

        // For each rank, the rows to ask of it, and their places in the output. A bad row is asked of no rank: its
        // slice stays zeros, and only the rank of its index row counts it.
        let mut wanted = vec![Vec::new(); self.ranks];
        let mut slices = vec![Vec::<usize>::new(); self.ranks];
        let (mut bad_rows, mut first_bad_row) = (0, NO_ROW);
        for ((index_row, slice), index) in mine.clone().zip(0..).zip(&indices) {
            if let Some(row) = self.selected_row(index) {
                let owner = self.row_split.owner(row);
                wanted[owner].push(row);
                slices[owner].push(slice);
            } else {
                bad_rows += 1;
                first_bad_row = first_bad_row.min(index_row as u64);
            }
        }

        let asked = exchange(self.world, &wanted, self.options.message_bytes);
        let found: Vec<Vec<u32>> = asked
            .iter()
            .map(|rows| self.look_up(rows))
            .collect::<Result<_>>()?;
        let answers = exchange(self.world, &found, self.options.message_bytes);

        let slice_len = self.options.slice_len;
        let mut output = data::zeros(indices.len().saturating_mul(slice_len))?;
        for (slices, answer) in slices.iter().zip(&answers) {
            for (at, &slice) in slices.iter().enumerate() {
                output[slice * slice_len..][..slice_len]
                    .copy_from_slice(&answer[at * slice_len..][..slice_len]);
            }
        }

        let checksum = data::checksum(mine.start * self.plan.slice_len(), &output);
        let [checksum] = self.reduce([checksum], SystemOperation::bitwise_xor());
        let [bad_rows] = self.reduce([bad_rows], SystemOperation::sum());
        let [first_bad_row] = self.reduce([first_bad_row], SystemOperation::min());
        Ok(Answer {
            checksum,
            bad_rows,
            first_bad_row,
        })
    }

    /// The row of the table that an index row selects, by the formula of the page `guide::semantics`. `None` for a bad row.
    fn selected_row(&self, index: &[i64]) -> Option<usize> {
        let mut index = index.iter().zip(self.options.dims());
        index.try_fold(0, |row, (&index, dim)| {
            let index = usize::try_from(index).ok().filter(|&index| index < dim)?;
            Some(row * dim + index)
        })
    }

    /// The slices of `rows`, all of which this rank holds.
    fn look_up(&self, rows: &[usize]) -> Result<Vec<u32>> {
        let output = Gather::new()
            .bad_indices(BadIndices::Error)
            .plan(
                &[self.plan.row_count(), self.options.slice_len],
                &[rows.len()],
            )?
            .shard(self.held())?
            .gather(&self.table, rows)?;
        Ok(to_bits(output))
    }

    fn reduce<const N: usize>(&self, values: [u64; N], operation: SystemOperation) -> [u64; N] {
        let mut reduced = [0; N];
        self.world
            .all_reduce_into(&values[..], &mut reduced[..], operation);
        reduced
    }
}

fn to_bits(output: Vec<f32>) -> Vec<u32> {
    output.into_iter().map(f32::to_bits).collect()
}

fn number(rank: Rank) -> usize {
    usize::try_from(rank).expect("ranks and their number are not negative")
}
