//! Decodes reports, and bytes that are no report for a plan.

use wgpu_gather::{BadRows, Gather, GatherError, GatherNd, GatherPlan, IndexKind};

use super::plan;

/// A report as the shader writes it.
fn report(count: u64, row: u64, index: &[u32]) -> Vec<u8> {
    let [count, row] = [count, row].map(|number| number.to_le_bytes());
    let index: Vec<u8> = index.iter().copied().flat_map(u32::to_le_bytes).collect();
    let mut report = [&count, &row, &*index].concat();
    report.resize(usize::try_from(BadRows::REPORT_BYTES).unwrap(), 0);
    report
}

fn no_bad_row() -> Vec<u8> {
    report(0, u64::MAX, &[])
}

fn decode(plan: &GatherPlan, report: &[u8]) -> Result<Option<BadRows>, GatherError> {
    BadRows::from_report(plan, IndexKind::I32, report)
}

#[test]
fn a_report_of_another_length_is_an_error() {
    for found in [0, 4, 79, 81, 160] {
        let error = decode(&plan(), &vec![0; found]).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("report must have 80 bytes, found {found}")
        );
    }
    assert_eq!(decode(&plan(), &no_bad_row()), Ok(None));
}

#[test]
fn a_report_that_no_gather_has_written_is_an_error() {
    let empty = Gather::new().plan(&[3], &[0]).unwrap();
    for plan in [plan(), empty] {
        let error = decode(&plan, &[0; 80]).unwrap_err();
        assert_eq!(error, GatherError::UnwrittenReport);
    }
}

#[test]
fn a_report_that_the_plan_cannot_have_is_an_error() {
    for (count, row) in [
        (1, 4),
        (1, u64::MAX),
        (1, 1 << 32),
        (1 << 32, 0),
        (0, 2),
        (0, u64::MAX - 1),
        (5, 2),
        (2, 3),
        (u64::MAX, 0),
    ] {
        let error = decode(&plan(), &report(count, row, &[])).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "report must name one of 4 index rows, found {count} bad rows, the first of them {row}"
            )
        );
    }
}

#[test]
fn a_plan_without_index_rows_has_no_bad_ones() {
    for plan in [
        Gather::new().plan(&[3], &[0]),
        GatherNd::new().plan(&[2; 9], &[0, 9]),
    ] {
        let plan = plan.unwrap();
        assert_eq!(decode(&plan, &no_bad_row()), Ok(None));
        let error = decode(&plan, &report(1, 0, &[])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "report must name one of 0 index rows, found 1 bad rows, the first of them 0"
        );
    }
}

#[test]
fn a_report_decodes_at_every_alignment() {
    let plan = GatherNd::new().plan(&[2; 8], &[3, 2, 8]).unwrap();
    let index = [0, 1, 0, 1, 0, 1, 0, -7_i64];
    let report = report(2, 3, bytemuck::must_cast_slice(&index));
    let mut indices = [0_i64; 48];
    indices[24..32].copy_from_slice(&index);
    let expected = plan.gather(&[0_u8; 256], &indices).unwrap_err().to_string();
    assert_eq!(
        expected,
        "indices[1,1] = [0, 1, 0, 1, 0, 1, 0, -7] does not index into param shape [2,2,2,2,2,2,2,2]"
    );
    for offset in 0..4 {
        let shifted = [&[0; 4][..offset], &report].concat();
        let bad = BadRows::from_report(&plan, IndexKind::I64, &shifted[offset..])
            .unwrap()
            .unwrap();
        assert_eq!((bad.count, bad.first.to_string()), (2, expected.clone()));
    }
}

#[test]
fn index_words_are_read_as_their_kind() {
    let plan = plan();
    let words = [u32::MAX, 0x8000_0000];
    for (kind, value) in [
        (IndexKind::I32, -1),
        (IndexKind::U32, i128::from(u32::MAX)),
        (IndexKind::I64, i128::from(i64::MIN) + i128::from(u32::MAX)),
        (IndexKind::U64, (1 << 63) + i128::from(u32::MAX)),
    ] {
        let bad = BadRows::from_report(&plan, kind, &report(1, 2, &words))
            .unwrap()
            .unwrap();
        assert_eq!(
            (
                bad.first.row,
                bad.first.position.clone(),
                bad.first.index.clone()
            ),
            (2, vec![2], vec![value])
        );
        assert_eq!(
            bad.first.to_string(),
            format!("indices[2] = {value} is not in [0, 10)")
        );
    }
}
