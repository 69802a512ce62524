//! Fills whose period differs from the size of a unit, in whole slices and in slices that are cut into pieces.

use libtest_mimic::Trial;
use wgpu_gather::{BadIndices, IndexKind};

use crate::batch::{self, Recording};
use crate::cuts::small_device;
use crate::into_buffers::{unchecked, without_runtime_checks};
use crate::trial;
use testkit::cases::{case, gather, gather_nd};
use testkit::gpu::Gpu;
use testkit::samples::Sample;

/// All fill sizes whose period in whole words is at most 64 bytes, as much as a uniform holds.
const FILL_BYTES: [usize; 32] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 26, 28, 30, 32, 36, 40,
    44, 48, 52, 56, 60, 64,
];

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("pieces_of_a_slice_hold_their_part_of_the_fill", |_| {
            let gpu = small_device(1 << 26);
            let gatherer = unchecked(&gpu);
            check(|samples| batch::check(&gpu, &gatherer, Recording::Encoder, samples));
        }),
        trial(
            "whole_slices_hold_fills_of_any_period",
            |gpu: &'static Gpu| {
                let gatherer = without_runtime_checks(gpu);
                check(|samples| batch::check(gpu, gatherer, Recording::Encoder, samples));
            },
        ),
    ]
}

/// Slices shorter than a piece, which has 768 bytes on a small device, and slices of two pieces and of more.
fn check(run: impl Fn(Vec<Sample>) -> usize) {
    for element_bytes in FILL_BYTES {
        let mut samples = Vec::new();
        for slice_bytes in [0, 100, 800, 1500, 4500] {
            for slice_len in [1, 4].map(|more| slice_bytes / element_bytes + more) {
                let one = case(gather(0, 0), &[3, slice_len], &[4], &[2, -1, 3, 0]);
                let three = [0, 0, 2, 1, 0, 0, 0, 0, -1, 0, 0, 0];
                let three = case(gather_nd(0), &[1, 1, 3, slice_len], &[4, 3], &three);
                for case in [one, three] {
                    let zeros =
                        case.samples(&[element_bytes], &[IndexKind::I32], &[BadIndices::Fill]);
                    samples.extend(zeros.iter().map(Sample::filled));
                }
            }
        }
        let count = samples.len();
        assert_eq!(run(samples), count);
    }
}
