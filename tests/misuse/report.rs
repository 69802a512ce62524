//! Reports: when they are cleared, and bytes that are none.

use std::sync::atomic::Ordering;

use wgpu_gather::{BadRows, Gather, GatherNd, GatherPlan, IndexKind, ReportError, wgpu};

use super::{App, STORAGE, Set, plan};

impl App {
    /// The bytes of a buffer behind what is recorded.
    fn submit_and_read(&self, mut encoder: wgpu::CommandEncoder, buffer: &wgpu::Buffer) -> Vec<u8> {
        let host = self.buffer(
            buffer.size(),
            wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        );
        encoder.copy_buffer_to_buffer(buffer, 0, &host, 0, buffer.size());
        self.queue.submit([encoder.finish()]);
        host.map_async(wgpu::MapMode::Read, .., |mapped| mapped.unwrap());
        self.device
            .poll(wgpu::PollType::wait_indefinitely())
            .unwrap();
        assert_eq!(self.errors.load(Ordering::Relaxed), 0);
        host.get_mapped_range(..).unwrap().to_vec()
    }
}

#[test]
fn encode_clears_the_report_and_record_leaves_it() {
    let app = App::new();
    let empty = Gather::new().plan(&[10], &[0]).unwrap();
    for plan in [plan(), empty] {
        let set = Set::new(&app).with(wgpu_gather::Operand::Report, app.buffer(512, STORAGE));
        let buffers = set.without_report().with_report(set.report.slice(256..));
        let bytes = usize::try_from(BadRows::REPORT_BYTES).unwrap();
        for (recorded, kept) in [
            (app.encode(&plan, &buffers), 0),
            (app.record(&plan, &buffers), 255),
        ] {
            app.queue.write_buffer(&set.report, 0, &[255; 512]);
            assert_eq!(recorded.result, Ok(()));
            let found = app.submit_and_read(recorded.encoder, &set.report);
            let (before, rest) = found.split_at(256);
            let (report, behind) = rest.split_at(bytes);
            assert!(
                before.iter().chain(behind).all(|&byte| byte == 255),
                "{plan}"
            );
            assert!(
                report.iter().all(|&byte| byte == kept),
                "{plan}: {report:?}"
            );
        }
    }
}

/// A report as the shader writes it.
fn report(count: u64, row: u64, index: &[u32]) -> Vec<u8> {
    let [count, row] = [count, row].map(|number| number.to_le_bytes());
    // The complement of the row within its dispatch says nothing more, and has been found.
    let middle = [!0_u32, 1].map(u32::to_le_bytes).concat();
    let index: Vec<u8> = index.iter().copied().flat_map(u32::to_le_bytes).collect();
    let mut report = [&count, &*middle, &row, &index].concat();
    report.resize(usize::try_from(BadRows::REPORT_BYTES).unwrap(), 0);
    report
}

fn decode(plan: &GatherPlan, report: &[u8]) -> Result<Option<BadRows>, ReportError> {
    BadRows::decode(plan, IndexKind::I32, report)
}

#[test]
fn a_report_of_another_length_is_an_error() {
    for found in [0, 4, 87, 89, 176] {
        let error = decode(&plan(), &vec![0; found]).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("report must have 88 bytes, found {found}")
        );
    }
    assert_eq!(decode(&plan(), &[0; 88]), Ok(None));
}

#[test]
fn a_report_that_the_plan_cannot_have_is_an_error() {
    for (count, row) in [
        (1, 4),
        (1, u64::MAX),
        (1, 1 << 32),
        (1 << 32, 0),
        (0, 2),
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
        assert_eq!(decode(&plan, &[0; 88]), Ok(None));
        let error = decode(&plan, &report(1, 0, &[])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "report must name one of 0 index rows, found 1 bad rows, the first of them 0"
        );
    }
}

#[test]
fn a_report_decodes_at_every_alignment_to_the_error_of_the_cpu() {
    let plan = GatherNd::new().plan(&[2; 8], &[3, 2, 8]).unwrap();
    let index = [0, 1, 0, 1, 0, 1, 0, -7_i64];
    let report = report(2, 3, bytemuck::must_cast_slice(&index));
    let mut indices = [0_i64; 48];
    indices[24..32].copy_from_slice(&index);
    let expected = plan.run(&[0_u8; 256], &indices).unwrap_err().to_string();
    assert_eq!(
        expected,
        "indices[1,1] = [0, 1, 0, 1, 0, 1, 0, -7] does not index into param shape [2,2,2,2,2,2,2,2]"
    );
    for offset in 0..4 {
        let shifted = [&[0; 4][..offset], &report].concat();
        let bad = BadRows::decode(&plan, IndexKind::I64, &shifted[offset..])
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
        let bad = BadRows::decode(&plan, kind, &report(1, 2, &words))
            .unwrap()
            .unwrap();
        assert_eq!(
            (bad.first.row(), bad.first.position(), bad.first.index()),
            (2, &[2][..], &[value][..])
        );
        assert_eq!(
            bad.first.to_string(),
            format!("indices[2] = {value} is not in [0, 10)")
        );
    }
}
