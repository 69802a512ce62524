//! Scatters on a GPU: a gather's dispatches, with the copy reversed. The target replaces params, and updates replace the output.
//!
//! ```text
//! unique rows     each lane loads its units from updates, and from the target if it reduces, and stores to the target
//! repeated rows   an assign: clear, then find each selected row's winner, its last index row; then as above, for winners only
//!                 sums, minima and maxima of integers: as above, by atomics
//!                 other reductions: sort the index rows by the row that each selects, and fold each row's updates in order
//! ```

pub(crate) mod order;
mod winners;

pub(crate) use self::order::{Fold, Order, pairs_bytes};
pub(crate) use self::winners::Winners;
