//! Failures in other libraries' gathers, from advisories and bug reports, on the CPU.

use testkit::cases::known_failures;
use testkit::samples::{Cpu, POLICIES};
use wgpu_gather::IndexKind;

use super::{along, nd};

#[test]
fn failures_of_other_libraries_are_none_here() {
    for (name, cases) in known_failures() {
        println!("{name}");
        for case in cases.into_iter().filter(|case| case.check_plan()) {
            for sample in case.samples(&[4], IndexKind::ALL, POLICIES) {
                sample.check(&Cpu);
            }
        }
    }
}

#[test]
fn onnxruntime_27444_sizes_beyond_32_bits_are_kept() {
    // Elements without bytes: a table of 2^33 takes no memory.
    let params = vec![(); 1 << 33];
    let plan = along(0, 0, &[1 << 33], &[3]).unwrap();
    assert_eq!(
        plan.gather(&params, &[1 << 31, 1 << 32, (1_i64 << 33) - 1]),
        Ok(vec![(); 3])
    );
    let bad = plan
        .gather(&params, &[1 << 31, 1_i64 << 33, 0])
        .unwrap_err();
    assert_eq!(
        bad.to_string(),
        "indices[1] = 8589934592 is not in [0, 8589934592)"
    );
    let plan = nd(0, &[1 << 16, 1 << 17], &[2, 2]).unwrap();
    assert_eq!(plan.row_count(), 1 << 33);
    assert_eq!(
        plan.gather(&params, &[65_535, 131_071, 32_768, 0]),
        Ok(vec![(); 2])
    );
}
