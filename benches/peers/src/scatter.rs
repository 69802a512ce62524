//! Scatters f32 by i64 indices, for `python/scatter.py`: with this crate, and with a hand-written loop.
#![allow(unsafe_code, reason = "functions for C")]

use std::hint::black_box;
use std::slice;

use wgpu_gather::{Gather, GatherElements, Reduce};

use crate::plain_loop::Place;

/// A scatter as Python passes it: sizes in elements, and the operands' addresses.
#[repr(C)]
pub struct Scatter {
    /// The target has `rows` rows of `columns` numbers.
    rows: usize,
    columns: usize,
    /// Index rows, which each select a row; or, if `index_columns` is above 0, rows with that many indices, which each
    /// select an element in their own row.
    count: usize,
    index_columns: usize,
    updates: *const f32,
    indices: *const i64,
    target: *mut f32,
}

#[repr(u8)]
#[derive(Clone, Copy)]
pub enum Call {
    Ours = 0,
    OursUnique = 1,
    PlainLoop = 2,
}

/// Scatters once: adds, or assigns.
///
/// # Safety
///
/// The operands have the shapes, and live as long as the call.
///
/// # Panics
///
/// An index is bad.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scatter(call: Call, is_sum: bool, of: &Scatter) {
    let (plan, indices, updates) = match of.index_columns {
        0 => (
            Gather::new().plan(&[of.rows, of.columns], &[of.count]),
            of.count,
            of.count * of.columns,
        ),
        columns => (
            GatherElements::new()
                .axis(1)
                .plan(&[of.rows, of.columns], &[of.count, columns]),
            of.count * columns,
            of.count * columns,
        ),
    };
    let plan = plan.expect("valid shapes");
    // SAFETY: the caller's promise.
    let (updates, indices, target) = unsafe {
        (
            slice::from_raw_parts(of.updates, updates),
            slice::from_raw_parts(of.indices, indices),
            slice::from_raw_parts_mut(of.target, of.rows * of.columns),
        )
    };
    let target = black_box(target);
    let done = match (call, is_sum) {
        (Call::PlainLoop, _) => {
            plain_loop(of, is_sum, updates, indices, target);
            Ok(())
        }
        (Call::Ours, false) => plan.scatter(updates, indices, target),
        (Call::Ours, true) => plan.scatter_reduce(Reduce::Add, updates, indices, target),
        (Call::OursUnique, false) => plan.unique().scatter(updates, indices, target),
        (Call::OursUnique, true) => {
            let unique = plan.unique();
            unique.scatter_reduce(Reduce::Add, updates, indices, target)
        }
    };
    done.expect("indices are in range");
}

fn plain_loop(of: &Scatter, is_sum: bool, updates: &[f32], indices: &[i64], target: &mut [f32]) {
    let columns = of.columns;
    if of.index_columns > 0 {
        let lines = target.chunks_exact_mut(columns);
        let indices = indices.chunks_exact(of.index_columns);
        let updates = updates.chunks_exact(of.index_columns);
        for ((target, indices), updates) in lines.zip(indices).zip(updates) {
            for (index, &update) in indices.iter().zip(updates) {
                let element = &mut target[index.place()];
                *element = if is_sum { *element + update } else { update };
            }
        }
        return;
    }
    for (index, updates) in indices.iter().zip(updates.chunks_exact(columns)) {
        let row = &mut target[index.place() * columns..][..columns];
        if is_sum {
            for (element, update) in row.iter_mut().zip(updates) {
                *element += update;
            }
        } else {
            row.copy_from_slice(updates);
        }
    }
}
