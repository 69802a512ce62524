//! `run` writes every byte of its output: all memory is poisoned when it is allocated, and no output may keep a
//! poisoned byte.

#![expect(unsafe_code, reason = "an allocator has no safe trait")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::alloc::{GlobalAlloc, Layout, System};

use wgpu_gather::{BadIndices, Gather, GatherElements, GatherNd, GatherPlan};

const POISON: u8 = 0xa5;

struct Poison;

// SAFETY: the system allocator does the work; the poison is written to memory of the layout before the caller gets it.
unsafe impl GlobalAlloc for Poison {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller vouches for the layout, and the memory has as many bytes as the layout.
        unsafe {
            let memory = System.alloc(layout);
            if !memory.is_null() {
                memory.write_bytes(POISON, layout.size());
            }
            memory
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's memory is from `alloc`, so from the system allocator.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Poison = Poison;

/// Gathers and looks for poison in the output. No byte of params or zeros equals the poison.
#[track_caller]
fn check(plan: &GatherPlan, indices: &[i32]) {
    let params: Vec<u8> = (1..=64).cycle().take(plan.params_len()).collect();
    let output = plan.gather(&params, indices).unwrap();
    assert_eq!(output.len(), plan.output_shape().iter().product::<usize>());
    let poisoned = output.iter().position(|&byte| byte == POISON);
    assert_eq!(poisoned, None, "{plan}");
}

#[test]
fn outputs_of_every_width_are_written_whole() {
    let zero = BadIndices::Fill;
    for width in (1..=140).chain([400, 2047, 2048, 2049, 5000]) {
        for rows in [1, 2, 3, 9] {
            // Good and bad rows, either of them last.
            for shift in 0..3 {
                let indices: Vec<i32> = (0..rows).map(|n| (n + shift) % 3).collect();
                let count = indices.len();
                let plan = Gather::new()
                    .bad_indices(zero)
                    .plan(&[2, width], &[count])
                    .unwrap();
                check(&plan, &indices);
                let blocks = Gather::new().axis(1).bad_indices(zero);
                check(&blocks.plan(&[3, 2, width], &[count]).unwrap(), &indices);
                let pairs: Vec<i32> = indices.iter().flat_map(|&index| [0, index]).collect();
                let deep = GatherNd::new().bad_indices(zero);
                check(&deep.plan(&[1, 2, width], &[count, 2]).unwrap(), &pairs);
            }
        }
    }
    let elements = GatherElements::new().axis(1).bad_indices(zero);
    check(
        &elements.plan(&[3, 4, 2], &[2, 5, 2]).unwrap(),
        &[0, 4, 3, 1, 2, 0, 5, 1, 1, 3, 0, 2, 4, 4, 0, 1, 2, 3, 0, 3],
    );
}

#[test]
fn outputs_that_threads_share_are_written_whole() {
    for width in [1, 3, 64, 1000, 4096, 70_001] {
        let rows = (8 << 20) / width + 1;
        let indices: Vec<i32> = (0..3).cycle().take(rows).collect();
        let plan = Gather::new().bad_indices(BadIndices::Fill);
        check(&plan.plan(&[2, width], &[rows]).unwrap(), &indices);
    }
}

#[test]
fn a_shard_writes_zeros_for_rows_it_does_not_hold() {
    let plan = Gather::new()
        .bad_indices(BadIndices::Fill)
        .plan(&[4, 5], &[6])
        .unwrap();
    let shard = plan.shard(1..2).unwrap();
    let mut output = [POISON; 30];
    let indices = [0, 1, 2, 3, 4, -1];
    let filled = shard.fill(99).gather_into(&[7; 5], &indices, &mut output);
    filled.unwrap();
    let expected = [0, 7, 0, 0, 99, 99].map(|element| [element; 5]);
    assert_eq!(output, expected.as_flattened());
}
