//! Reports from gathers that share a gatherer, and so its bad-row counter.

use libtest_mimic::Trial;
use wgpu_gather::{
    BadIndices, BadRows, Buffers, ElementTypes, Gather, GatherError, GatherPlan, IndexKind, Tensor,
    wgpu,
};

use crate::batch::{REPORT_BYTES, no_bad_row, read_back};
use crate::{flat, trial};
use testkit::device::open_gpu;
use testkit::gpu::{Gpu, buffers_of, range};
use testkit::sizes::dispatches;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("gathers_keep_their_own_reports_in_any_order", any_order),
        trial(
            "reports_of_few_and_of_many_rows_share_a_counter",
            share_counter,
        ),
        trial("a_refused_submission_leaves_no_bad_rows", refused),
        trial("a_report_read_too_early_is_an_error", read_early),
        trial("an_empty_output_has_a_report_of_no_bad_row", empty),
    ]
}

/// A gather from three rows, with a report.
struct Work {
    plan: GatherPlan,
    params: Tensor<u32>,
    indices: Tensor<i32>,
    output: Tensor<u32>,
    report: wgpu::Buffer,
}

impl Work {
    fn new(gpu: &Gpu, indices: &[i32]) -> Self {
        let plan = Gather::new()
            .bad_indices(BadIndices::Error)
            .plan(&[3], &[indices.len()]);
        Self {
            plan: plan.unwrap(),
            params: flat(gpu, &[10, 20, 30]),
            indices: flat(gpu, indices),
            output: flat(gpu, vec![7; indices.len().max(4)]),
            report: report(gpu),
        }
    }

    fn encoder(&self, gpu: &Gpu) -> wgpu::CommandEncoder {
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        let recorded = gpu
            .gatherer()
            .encode(&mut encoder, &self.plan, &self.buffers());
        recorded.unwrap();
        encoder
    }

    fn buffers(&self) -> Buffers<'_> {
        buffers_of(
            ElementTypes::of::<u32, i32>(),
            [
                range(&self.params),
                range(&self.indices),
                range(&self.output),
            ],
        )
        .report(self.report.slice(..))
    }

    fn bad_rows(&self, gpu: &Gpu) -> Option<(usize, usize)> {
        let [report] = read_back(gpu, [&self.report]);
        let found = BadRows::from_report(&self.plan, IndexKind::I32, &report).unwrap();
        found.map(|found| (found.count, found.first.row))
    }
}

/// A report buffer that holds nonzero bytes and that only shaders can write.
fn report(gpu: &Gpu) -> wgpu::Buffer {
    let report = gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: REPORT_BYTES as u64,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: true,
    });
    let mut mapped = report.get_mapped_range_mut(..).unwrap();
    mapped.slice(..).copy_from_slice(&[9; REPORT_BYTES]);
    drop(mapped);
    report.unmap();
    report
}

/// Reads the report before its gather is submitted, and after.
fn read_early(gpu: &'static Gpu) {
    let report = gpu.zeros::<u8>(&[REPORT_BYTES]).unwrap();
    let mut work = Work::new(gpu, &[2, 0, 1, 1]);
    work.report = report.buffer().unwrap().clone();
    let encoder = work.encoder(gpu);
    let read = || {
        let [report] = read_back(gpu, [&work.report]);
        BadRows::from_report(&work.plan, IndexKind::I32, &report)
    };
    assert_eq!(read(), Err(GatherError::UnwrittenReport));
    gpu.queue().submit([encoder.finish()]);
    assert_eq!(read(), Ok(None));
}

/// Threads record the gathers, which are submitted in reverse order.
fn any_order(gpu: &'static Gpu) {
    let indices = [
        [0, 3, 1, 3],
        [2, 2, 1, 0],
        [-1, 0, 0, 0],
        [0, 1, 2, 5],
        [0, 0, 0, 0],
    ];
    let expected = [Some((2, 1)), None, Some((1, 0)), Some((1, 3)), None];
    let works = indices.map(|indices| Work::new(gpu, &indices));
    let encoders = std::thread::scope(|scope| {
        let threads = works
            .each_ref()
            .map(|work| scope.spawn(|| work.encoder(gpu)));
        threads.map(|thread| thread.join().unwrap())
    });
    for encoder in encoders.into_iter().rev() {
        gpu.queue().submit([encoder.finish()]);
    }
    assert_eq!(works.each_ref().map(|work| work.bad_rows(gpu)), expected);
}

/// Gathers with few and with many rows, packed and not, recorded twice each into one pass, on a device of their own.
fn share_counter(_: &'static Gpu) {
    let gpu = open_gpu().unwrap();
    let counts = [4, 1028, 1024, 1, 1025, 64, 5000, 65, 1023];
    let mut works = Vec::new();
    for count in counts {
        for bad in [0..0, 0..1, count - 1..count, count / 2..count, 0..count] {
            let mut indices: Vec<i32> = (0..3).cycle().take(count).collect();
            indices[bad.clone()].fill(3);
            let expected = (!bad.is_empty()).then_some((bad.len(), bad.start));
            works.push((Work::new(&gpu, &indices), expected));
        }
    }
    let wait = || gpu.device().poll(wgpu::PollType::wait_indefinitely());
    // Frees the staging buffers of the uploads.
    gpu.queue().submit([]);
    wait().unwrap();
    let made = || gpu.device().get_internal_counters().hal.buffers.read();
    let before = made();
    let prepared: Vec<_> = (works.iter())
        .map(|(work, _)| gpu.gatherer().prepare(&work.plan, &work.buffers()).unwrap())
        .collect();
    gpu.submit(|encoder| {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for gather in prepared.iter().chain(&prepared) {
            gather.encode_in_pass(&mut pass);
        }
    });
    wait().unwrap();
    // A buffer of uniforms for each gather, and one counter for all.
    let buffers = usize::try_from(made() - before).unwrap();
    assert_eq!(buffers, works.len() + 1);
    for ((work, expected), prepared) in works.iter().zip(&prepared) {
        assert_eq!(work.bad_rows(&gpu), *expected, "{}", work.plan);
        // A dispatch for the gather and one for its report, and two more for a rest that is not packed.
        let count = work.indices.shape()[0];
        let gathers = if count > 1024 && count % 4 != 0 { 2 } else { 1 };
        assert_eq!(dispatches(prepared), 2 * gathers, "{}", work.plan);
    }
}

/// wgpu refuses the submission with a device's first gather; other buffers have filled the device's memory before.
fn refused(_: &'static Gpu) {
    let gpu = open_gpu().unwrap();
    let used: Vec<_> = (0..64).map(|_| flat(&gpu, &[!0_u32; 16])).collect();
    for table in used {
        table.buffer().unwrap().destroy();
    }
    let wait = || gpu.device().poll(wgpu::PollType::wait_indefinitely());
    wait().unwrap();

    let work = Work::new(&gpu, &[0, 1, 2, 0]);
    let gather = work.encoder(&gpu);
    let mut broken = gpu.device().create_command_encoder(&Default::default());
    let destroyed = report(&gpu);
    broken.copy_buffer_to_buffer(&destroyed, 0, work.output.buffer().unwrap(), 0, 4);
    destroyed.destroy();
    let scope = gpu.device().push_error_scope(wgpu::ErrorFilter::Validation);
    gpu.queue().submit([gather.finish(), broken.finish()]);
    let error = pollster::block_on(scope.pop());
    assert!(error.is_some_and(|error| error.to_string().contains("destroyed")));

    gpu.queue().submit([work.encoder(&gpu).finish()]);
    assert_eq!(work.bad_rows(&gpu), None);
    assert_eq!(work.output.download_blocking().unwrap(), [10, 20, 30, 10]);
}

/// A gather without index rows writes a report if one is bound, with and without an index count.
fn empty(gpu: &'static Gpu) {
    let count = flat(gpu, &[3_u32]);
    for indirect in [false, true] {
        for in_pass in [false, true] {
            let work = Work::new(gpu, &[]);
            let mut buffers = work.buffers();
            if indirect {
                buffers = buffers.index_count(range(&count));
            }
            let prepared = gpu.gatherer().prepare(&work.plan, &buffers).unwrap();
            assert_eq!(dispatches(&prepared), 1);
            gpu.submit(|encoder| match in_pass {
                true => {
                    prepared.encode_in_pass(&mut encoder.begin_compute_pass(&Default::default()))
                }
                false => prepared.encode(encoder),
            });
            let [report] = read_back(gpu, [&work.report]);
            assert_eq!(report, no_bad_row());
            assert_eq!(work.output.download_blocking().unwrap(), [7; 4]);
        }
    }
    let work = Work::new(gpu, &[]);
    let plan = Gather::new().plan(&[3], &[0]).unwrap();
    let buffers = buffers_of(
        ElementTypes::of::<u32, i32>(),
        [
            range(&work.params),
            range(&work.indices),
            range(&work.output),
        ],
    );
    let prepared = gpu.gatherer().prepare(&plan, &buffers).unwrap();
    assert_eq!(dispatches(&prepared), 0);
}
