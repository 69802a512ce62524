//! A table and indices computed from positions only, so that each rank makes just its own part, and a checksum that
//! ranks can combine.

use std::collections::TryReserveError;
use std::iter::repeat_n;
use std::ops::Range;

use crate::options::INDEX_DEPTH;

/// Three index rows in this many are out of range.
const BAD_EVERY: usize = 97;

/// Elements of the table: any bits, among them NaNs with payloads and -0.0.
pub fn table(elements: Range<usize>) -> Result<Vec<f32>, TryReserveError> {
    collect(elements.map(|element| match element % 16 {
        0 => -0.0,
        _ => f32::from_bits(high_half(mix(element as u64))),
    }))
}

/// Index rows, each a table and a row of it. A few are bad rows.
pub fn indices(
    index_rows: Range<usize>,
    dims: [usize; INDEX_DEPTH],
) -> Result<Vec<[i64; INDEX_DEPTH]>, TryReserveError> {
    let [tables, rows] = dims.map(|dim| dim as u64);
    collect(index_rows.map(|index_row| {
        let number = mix(!(index_row as u64));
        let (table, row) = (number % tables, number / 8 % rows);
        let [tables, rows, table, row] = [tables, rows, table, row].map(signed);
        match index_row % BAD_EVERY {
            // Without a check of each value, this index row would select row 0 of the next table.
            1 => [table, rows],
            2 => [tables, row],
            3 => [table, -1],
            _ => [table, row],
        }
    }))
}

pub fn zeros(len: usize) -> Result<Vec<u32>, TryReserveError> {
    collect(repeat_n(0, len))
}

/// The checksum of a part of the output that begins at element `first`. The XOR of the parts' checksums is the checksum
/// of the whole output.
pub fn checksum(first: usize, output: &[u32]) -> u64 {
    (first as u64..)
        .zip(output)
        .fold(0, |sum, (position, &bits)| {
            sum ^ mix(mix(position) ^ u64::from(bits))
        })
}

/// SplitMix64: numbers that look random.
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

fn high_half(number: u64) -> u32 {
    (number >> 32) as u32
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).expect("a dim is at most i64::MAX")
}

/// Collects. Without enough memory it returns an error, which the rank can report before all ranks end.
fn collect<T>(items: impl Iterator<Item = T>) -> Result<Vec<T>, TryReserveError> {
    let mut collected = Vec::new();
    collected.try_reserve_exact(items.size_hint().1.unwrap_or(usize::MAX))?;
    collected.extend(items);
    Ok(collected)
}
