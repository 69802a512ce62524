//! Rows in groups of four, which an invocation takes several of.

use libtest_mimic::Trial;
use wgpu_gather::{BadIndices, Gather, Gpu, GpuError};

use crate::common::indices::Hash;
use crate::trial;

/// Slices of one unit of each kernel of groups, and of several.
const SLICE_LENS: [usize; 6] = [1, 2, 3, 4, 6, 16];

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("any_row_of_a_group_holds_the_fill", filled),
        trial("a_bad_row_of_any_group_is_reported", reported),
    ]
}

/// Any row of a group may be bad.
fn filled(gpu: &'static Gpu) {
    let params: Vec<u32> = (1..=400).collect();
    // Of the last invocation's groups, none to three are left over from those that are taken four at a time.
    let counts = [2000, 2004, 2008, 2012];
    for (slice_len, count) in SLICE_LENS
        .into_iter()
        .flat_map(|len| counts.map(|count| (len, count)))
    {
        let rows = 400 / slice_len;
        let params = &params[..rows * slice_len];
        let table = gpu.upload(params).unwrap();
        let plan = Gather::new().bad_indices(BadIndices::Zero);
        let plan = plan.plan(&[rows, slice_len], &[count]).unwrap();
        let mut hash = Hash::new(7);
        let indices: Vec<i32> = (0..count)
            .map(|_| i32::try_from(hash.below(2 * rows)).unwrap() - 20)
            .collect();
        let expected = plan.run_filled(params, &indices, 0xfeed_f00d).unwrap();
        let filled = gpu.gather_filled_blocking(&plan, &table, &indices, 0xfeed_f00d);
        assert_eq!(filled, Ok(expected), "{slice_len} {count}");
    }
}

/// One bad row, in each place of all groups of an invocation and of the next one's first, in gathers that write their
/// reports themselves and in some that do not.
fn reported(gpu: &'static Gpu) {
    let params: Vec<u32> = (1..=96).collect();
    for (slice_len, count) in SLICE_LENS
        .into_iter()
        .flat_map(|len| [72, 1096].map(|count| (len, count)))
    {
        let rows = 96 / slice_len;
        let table = gpu.upload(&params).unwrap();
        let plan = Gather::new().bad_indices(BadIndices::Error);
        let plan = plan.plan(&[rows, slice_len], &[count]).unwrap();
        for bad_row in 0..68 {
            let mut indices: Vec<u32> = (0..6).cycle().take(count).collect();
            indices[bad_row] = 96;
            let error = plan.run(&params, &indices).unwrap_err();
            let found = gpu.gather_blocking(&plan, &table, &indices);
            assert_eq!(
                found,
                Err(GpuError::Run(error)),
                "{slice_len} {count} {bad_row}"
            );
        }
    }
}
