//! Index rows past row 2^32: the shaders number them modulo 2^32, and the report in 64 bits.

use super::lanes::{Case, Run};
use crate::element::ElementTypes;
use crate::gpu::kernel::WORKGROUP_SIZE;
use crate::index::IndexKind;
use crate::{BadIndices, Gather};

const WRAP: u64 = 1 << 32;

#[test]
fn rows_past_2_to_the_32_are_gathered_and_reported() {
    let rows = WRAP + 5000;
    let index_rows = usize::try_from(rows).expect("64 bits");
    let bad = [WRAP - 1, WRAP + 77, WRAP + 4999];
    let index = |at: u64| i128::from(if bad.contains(&at) { 7 } else { at % 7 });
    // Packed slices, and slices of one row a lane.
    for element_bytes in [4, 12] {
        let gather = Gather::new().bad_indices(BadIndices::Error);
        let plan = gather.plan(&[7], &[index_rows]).expect("a valid shape");
        let types = ElementTypes::new(element_bytes, IndexKind::I32);
        let case = Case::new(plan, types, &index);
        let dispatches = case.dispatches();
        let of_rows = |is_wanted: &dyn Fn((u64, u64)) -> bool, expected: [u32; 5]| {
            let mut run = Run::new(&case, true);
            let mut is_first_report = true;
            let wanted = dispatches
                .iter()
                .filter(|found| is_wanted(found.output_rows));
            for dispatch in wanted {
                // Only the last of many workgroups.
                let workgroups = dispatch.shares.workgroups;
                let last = workgroups.saturating_sub(60)..workgroups;
                run.dispatch(dispatch, last, 0..WORKGROUP_SIZE);
                run.finish_report(dispatch, is_first_report);
                is_first_report = false;
            }
            assert_eq!(run.report[..5], expected, "{element_bytes}");
        };
        of_rows(&|(_, end)| end == WRAP, [1, 0, u32::MAX, 0, 7]);
        of_rows(&|(start, _)| start >= WRAP, [2, 0, 77, 1, 7]);
    }
}
