//! Compares with the CPU at numbers of rows, units and blocks near where a kernel's lanes and workgroups end. Some rows are bad.

use libtest_mimic::Trial;
use wgpu_gather::{BadIndices, BadRows, ElementTypes, Gather, GatherPlan, IndexKind};

use crate::batch::{REPORT_BYTES, read_back, upload};
use crate::trial;
use testkit::gpu::{Gpu, buffers_of};
use testkit::indices::{Hash, holds, values_around};
use testkit::samples::index_bytes;
use testkit::sweep;

/// Invocations in a workgroup.
const WORKGROUP: usize = 256;

/// The least number of lanes at which each takes four rows.
const LANES: usize = 1 << 15;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("packed_rows_are_right_near_each_edge", packed),
        trial("rows_are_right_near_each_edge", rows),
        trial("long_slices_are_right_near_each_edge", long),
        trial("bytes_are_right_near_each_edge", bytes),
    ]
}

/// Row counts near a lane's and a workgroup's, and near 1,024, from which a rest has its own dispatch.
fn packed(gpu: &'static Gpu) {
    let mut cases = Vec::new();
    for bytes in [1, 2, 4] {
        let slices = 16 / bytes;
        let workgroup = WORKGROUP * slices;
        for edge in [16, slices, 1024, workgroup, 2 * workgroup] {
            for count in [edge - 1, edge, edge + 1, edge + slices] {
                cases.push((bytes, [1, 1, 1], count));
            }
        }
    }
    check(gpu, cases);
}

/// Row counts near a workgroup's at one row a lane, and near the count from which lanes take four.
fn rows(gpu: &'static Gpu) {
    let mut cases = Vec::new();
    let words = [1, 2, 3, 5, 63, 255].map(|units| (4, units));
    let vectors = [1, 2, 3, 16, 255, 256].map(|units| (16, units));
    for (unit_bytes, units) in words.into_iter().chain(vectors) {
        let (slots, four) = slots_and_four(units);
        for count in [
            slots.max(2) - 1,
            slots,
            slots + 1,
            four - 1,
            four,
            four + 1,
            four + slots,
            four + 3 * slots,
            four + 3 * slots + 1,
        ] {
            cases.push((unit_bytes, [1, 1, units], count));
        }
    }
    check(gpu, cases);
}

/// How many slices a workgroup copies at once, and from how many rows on its lanes take four.
fn slots_and_four(units: usize) -> (usize, usize) {
    (WORKGROUP / units, 4 * LANES.div_ceil(units))
}

/// A workgroup copies 1,024 units of a slice, and a lane four of them, 256 apart.
fn long(gpu: &'static Gpu) {
    let mut cases = Vec::new();
    for edge in [256, 512, 768, 1024, 1280, 1536, 1792, 2048] {
        for units in [edge - 1, edge, edge + 1] {
            for count in [1, 2, 5] {
                cases.push((16, [1, 1, units], count));
                // Odd, because a multiple of four words is copied as vectors.
                cases.push((4, [1, 1, units | 1], count));
            }
        }
    }
    check(gpu, cases);
}

/// A workgroup writes 1,024 bytes, four in each lane.
fn bytes(gpu: &'static Gpu) {
    let mut cases = Vec::new();
    for len in [1, 2, 3, 5, 6, 7, 9, 1021, 1023, 1025] {
        let workgroup = 1024 / len;
        for rows in [1, 3, workgroup, workgroup + 1, workgroup + 2, 2 * workgroup] {
            // An odd number of rows is not packed.
            cases.push((1, [1, 1, len], rows | 1));
            cases.push((2, [1, 1, len], rows | 1));
        }
    }
    check(gpu, cases);
}

/// Bytes in an element; batches, outer coordinates and elements in a slice; index rows.
type Case = (usize, [usize; 3], usize);

fn check(gpu: &Gpu, cases: Vec<Case>) {
    for case in sweep::some(0, 11, 0, cases) {
        check_one(gpu, case);
    }
}

/// Gathers along the third of four dims; the first is a batch dim. About half the index rows are bad; their slices hold a fill.
fn check_one(gpu: &Gpu, (element_bytes, [batches, outer, slice_len], count): Case) {
    let dim = if batches * outer == 1 { 50 } else { 3 };
    let index_kind = IndexKind::ALL[(count + slice_len) % IndexKind::ALL.len()];
    let plan = Gather::new().axis(2).batch_dims(1);
    let plan = plan.bad_indices(BadIndices::Fill);
    let plan = plan.plan(&[batches, outer, dim, slice_len], &[batches, count]);
    let plan = plan.unwrap();
    let name = format!("{plan}, elements of {element_bytes} bytes, {index_kind}");

    let mut values = values_around(dim);
    values.retain(|&value| holds(index_kind, value));
    let mut hash = Hash::new(count as u64);
    let indices: Vec<i128> = (0..batches * count)
        .map(|_| match hash.below(2) {
            0 => values[hash.below(values.len())],
            _ => hash.below(dim) as i128,
        })
        .collect();
    let is_bad = |&index: &i128| !(0..dim as i128).contains(&index);
    let words = (0..).map(|n: u32| n.wrapping_mul(0x9e37_79b9) | 1);
    let params_bytes = batches * outer * dim * slice_len * element_bytes;
    let mut params: Vec<u8> = words
        .take(params_bytes.div_ceil(4))
        .flat_map(u32::to_le_bytes)
        .collect();
    params.truncate(params_bytes);
    let fill: Vec<u8> = (0xa1..).take(element_bytes).collect();

    let index_rows = index_bytes(index_kind, &indices);
    let expected = plan.gather_bytes(
        ElementTypes::new(element_bytes as u64, index_kind),
        &params,
        &index_rows,
    );
    let mut expected = expected.unwrap();
    let slice_bytes = slice_len * element_bytes;
    for (row, slice) in expected.chunks_exact_mut(slice_bytes).enumerate() {
        let batch = row / count / outer;
        if is_bad(&indices[batch * count + row % count]) {
            slice.copy_from_slice(&fill.repeat(slice_len));
        }
    }
    let bad_rows = indices.iter().filter(|&index| is_bad(index)).count();
    let first = indices.iter().position(is_bad);
    let found = run(
        gpu,
        &plan,
        index_kind,
        &fill,
        [&params, &index_rows],
        expected.len(),
    );
    let [output, reported, report] = found;
    // Too long to print.
    for (output, report) in [(output, "without"), (reported, "with")] {
        let differs = output.iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!(
            differs, None,
            "byte of the output {report} a report: {name}"
        );
        let canaries = &output[expected.len()..];
        assert!(canaries.iter().all(|&byte| byte == CANARY), "{name}");
    }
    let report = BadRows::from_report(&plan, index_kind, &report).unwrap();
    let report = report.map(|found| (found.count, found.first.row));
    assert_eq!(report, first.map(|row| (bad_rows, row)), "{name}");
}

const CANARY: u8 = 0x5c;

/// Gathers without a report and with one. Returns both outputs, and the report.
fn run(
    gpu: &Gpu,
    plan: &GatherPlan,
    index_kind: IndexKind,
    fill: &[u8],
    operands: [&[u8]; 2],
    output_bytes: usize,
) -> [Vec<u8>; 3] {
    let words = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        upload(gpu, &bytes)
    };
    let [params, indices] = operands.map(words);
    let canaries = vec![CANARY; output_bytes.next_multiple_of(4) + 16];
    let outputs = [(); 2].map(|()| upload(gpu, &canaries));
    let report = upload(gpu, &[9; REPORT_BYTES]);
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    for (output, reports) in outputs.iter().zip([false, true]) {
        let mut buffers = buffers_of(
            ElementTypes::new(fill.len() as u64, index_kind),
            [params.slice(..), indices.slice(..), output.slice(..)],
        )
        .fill(fill);
        if reports {
            buffers = buffers.report(report.slice(..));
        }
        gpu.gatherer().encode(&mut encoder, plan, &buffers).unwrap();
    }
    gpu.queue().submit([encoder.finish()]);
    read_back(gpu, [&outputs[0], &outputs[1], &report])
}
