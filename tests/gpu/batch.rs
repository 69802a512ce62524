//! Runs many jobs in one submission. Their operands are ranges of large buffers, one buffer for each operand or one for
//! all, and every byte around an operand is a canary.

use std::ops::Range;

use wgpu_gather::{BadIndices, BadRows, ElementTypes, GatherBuffers, Gatherer, Gpu, wgpu};

use crate::common::sizes::output_slices;
use crate::common::voices::Job;

/// How jobs are recorded. Before they run, their reports hold canaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recording {
    /// By `Gatherer::encode`.
    Encoder,
    /// By `Gatherer::prepare`, with the prepared gather recorded twice.
    Prepared,
    /// By `PreparedGather::encode_in_pass`, all jobs into one pass.
    Pass,
    /// By `Gatherer::encode`, with all operands in one buffer.
    OneBuffer,
    /// As `Prepared`, but with an index count that depends on the job's place in the batch.
    Counted,
    /// By `Gatherer::encode`, with gaps after the slices of params and of the output, and with operands at offsets that
    /// cannot be bound.
    Gaps,
}

/// The numbers of jobs and of bytes that fill a batch.
const BATCH_JOBS: usize = 256;
const BATCH_BYTES: usize = 1 << 24;

/// Elements after each slice of params and of the output.
const GAPS: [[u64; 2]; 5] = [[1, 0], [0, 1], [3, 2], [0, 0], [16, 64]];

/// The least number of canary bytes before an operand, and the number of canary bytes after it in its range.
const ROOM: usize = 16;

#[expect(clippy::cast_possible_truncation, reason = "a few dozen bytes")]
pub(crate) const REPORT_BYTES: usize = BadRows::REPORT_BYTES as usize;

/// Runs some of the jobs, compares every byte of every buffer, and returns the number of jobs run.
pub(crate) fn check(
    gpu: &Gpu,
    gatherer: &Gatherer,
    recording: Recording,
    jobs: impl IntoIterator<Item = Job>,
) -> usize {
    let (mut count, mut bytes, mut batch) = (0, 0, Vec::new());
    for mut job in some(jobs) {
        if recording == Recording::Gaps {
            job = job.with_gaps(GAPS[count % GAPS.len()]);
        }
        count += 1;
        bytes += job.params.len() + job.indices.len() + job.output.len();
        batch.push(job);
        if batch.len() == BATCH_JOBS || bytes > BATCH_BYTES {
            check_batch(gpu, gatherer, recording, &batch);
            batch.clear();
            bytes = 0;
        }
    }
    check_batch(gpu, gatherer, recording, &batch);
    count
}

/// The first jobs of a list and a share of the rest, or all jobs with `GATHER_EVERY_CASE`.
fn some(jobs: impl IntoIterator<Item = Job>) -> impl Iterator<Item = Job> {
    const FIRST: usize = 64;
    // A prime, so that no width, kind or policy is left out.
    const STRIDE: usize = 7;
    let all = std::env::var_os("GATHER_EVERY_CASE").is_some();
    let numbered = jobs.into_iter().enumerate();
    let taken =
        numbered.filter(move |&(number, _)| all || number < FIRST || number.is_multiple_of(STRIDE));
    taken.map(|(_, job)| job)
}

fn check_batch(gpu: &Gpu, gatherer: &Gatherer, recording: Recording, jobs: &[Job]) {
    let alignment = gpu.device().limits().min_storage_buffer_offset_alignment;
    let mut images = [(); OPERANDS.len()].map(|()| Image::new(alignment));
    let [params, indices, output, reports, counts, masks] = &mut images;
    for (at, job) in jobs.iter().enumerate() {
        let start = |bytes: usize, number: usize| match recording {
            // A multiple of the bytes, or of 4 if these are one.
            Recording::Gaps => (1 << bytes.trailing_zeros().min(2)) * number,
            _ => 0,
        };
        let index_bytes = usize::try_from(job.index_kind.bytes()).unwrap();
        params.place(job.params.len(), start(job.element_bytes, at % 7));
        params.write_last(&job.params);
        indices.place(job.indices.len(), start(index_bytes, at % 3));
        indices.write_last(&job.indices);
        output.place(output_bytes(job), start(job.element_bytes, at % 5));
        reports.place(REPORT_BYTES, 0);
        counts.place(4, 0);
        counts.write_last(&count_of(at, job).to_le_bytes());
        masks.place(job.mask().len(), start(4, at % 3));
    }
    let buffers = Buffers::upload(gpu, &images, recording == Recording::OneBuffer);
    record(gpu, gatherer, recording, jobs, &images, &buffers);
    let found = buffers.read_back(gpu, &images);

    let [_, _, output, reports, _, masks] = &mut images;
    for (at, job) in jobs.iter().enumerate() {
        if recording == Recording::Counted {
            for bytes in gathered_bytes(job, count_of(at, job)) {
                output.write_at(at, bytes.start, &job.output[bytes]);
            }
        } else {
            let mut left = &job.output[..];
            for slice in output_slices(&job.plan) {
                let (bytes, rest) = left.split_at(slice.len() * job.element_bytes);
                output.write_at(at, slice.start * job.element_bytes, bytes);
                left = rest;
            }
            assert!(left.is_empty());
        }
        if has_mask(at) {
            masks.write(at, &job.mask());
        }
        if has_report(job) {
            let report = &found[3][reports.starts[at]..][..REPORT_BYTES];
            check_report(job, report);
            reports.write(at, report);
        }
    }
    for ((image, found), operand) in images.iter().zip(&found).zip(OPERANDS) {
        image.check(found, operand, jobs);
    }
}

const OPERANDS: [&str; 6] = [
    "params",
    "indices",
    "output",
    "report",
    "index count",
    "mask",
];

/// The bytes of the output, with gaps if it has any.
fn output_bytes(job: &Job) -> usize {
    usize::try_from(job.plan.output_len()).unwrap() * job.element_bytes
}

/// The index count for a job: no index rows, one, some, all, or more than there are.
fn count_of(at: usize, job: &Job) -> u32 {
    let case = &job.case;
    let rows = case.op.index_count(&case.params_shape, &case.indices_shape);
    let rows = u32::try_from(rows).unwrap();
    [
        rows,
        1,
        rows / 2,
        u32::MAX,
        0,
        rows.saturating_sub(1),
        rows + 1,
    ][at % 7]
}

/// The ranges of output bytes that this index count writes, one for each block.
fn gathered_bytes(job: &Job, count: u32) -> impl Iterator<Item = Range<usize>> {
    let row_bytes = usize::try_from(job.plan.slice_len()).unwrap() * job.element_bytes;
    let case = &job.case;
    let rows = case.op.index_count(&case.params_shape, &case.indices_shape);
    let block_bytes = rows * row_bytes;
    let blocks = job.output.len().checked_div(block_bytes).unwrap_or(0);
    let gathered = rows.min(count as usize);
    (0..blocks).map(move |block| {
        let start = block * block_bytes;
        start..start + gathered * row_bytes
    })
}

/// The buffer of each operand, and the offset in it of the operand's image.
struct Buffers {
    of: [wgpu::Buffer; OPERANDS.len()],
    starts: [usize; OPERANDS.len()],
}

impl Buffers {
    fn upload(gpu: &Gpu, images: &[Image; OPERANDS.len()], one: bool) -> Self {
        if !one {
            return Self {
                of: images.each_ref().map(|image| upload(gpu, &image.bytes)),
                starts: [0; OPERANDS.len()],
            };
        }
        let mut bytes = Vec::new();
        let starts = images.each_ref().map(|image| {
            bytes.resize(bytes.len().next_multiple_of(image.alignment), 0);
            let start = bytes.len();
            bytes.extend(&image.bytes);
            start
        });
        let buffer = upload(gpu, &bytes);
        Self {
            of: [(); OPERANDS.len()].map(|()| buffer.clone()),
            starts,
        }
    }

    fn read_back(&self, gpu: &Gpu, images: &[Image; OPERANDS.len()]) -> [Vec<u8>; OPERANDS.len()] {
        let found = if self.of[0] == self.of[1] {
            let [all] = read_back(gpu, [&self.of[0]]);
            [(); OPERANDS.len()].map(|()| all.clone())
        } else {
            read_back(gpu, self.of.each_ref())
        };
        let mut operands = self.starts.iter().zip(images);
        found.map(|bytes| {
            let (&start, image) = operands.next().expect("as many operands");
            bytes[start..][..image.bytes.len()].to_vec()
        })
    }
}

pub(crate) fn upload(gpu: &Gpu, bytes: &[u8]) -> wgpu::Buffer {
    use wgpu::util::DeviceExt;
    gpu.device()
        .create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some("an app's own buffer"),
            contents: bytes,
            usage: wgpu::BufferUsages::STORAGE
                | wgpu::BufferUsages::COPY_SRC
                | wgpu::BufferUsages::COPY_DST,
        })
}

fn has_report(job: &Job) -> bool {
    job.plan.bad_indices() == BadIndices::Error
}

/// True for two of three jobs. The mask of any other job keeps its canaries.
fn has_mask(at: usize) -> bool {
    !at.is_multiple_of(3)
}

fn record(
    gpu: &Gpu,
    gatherer: &Gatherer,
    recording: Recording,
    jobs: &[Job],
    images: &[Image; OPERANDS.len()],
    buffers: &Buffers,
) {
    let range = |operand: usize, at: usize, len: usize| {
        let start = (buffers.starts[operand] + images[operand].starts[at]) as u64;
        let end = (start + len as u64).next_multiple_of(4) + ROOM as u64;
        buffers.of[operand].slice(start..end)
    };
    let operands = |at: usize, job: &Job| {
        let operands = GatherBuffers::new(ElementTypes {
            element_bytes: job.element_bytes as u64,
            index_kind: job.index_kind,
        })
        .params(range(0, at, job.params.len()))
        .indices(range(1, at, job.indices.len()))
        .output(range(2, at, output_bytes(job)));
        let operands = match &job.fill[..] {
            [] => operands,
            fill => operands.fill(fill),
        };
        let operands = match recording {
            Recording::Counted => operands.index_count(range(4, at, 4)),
            _ => operands,
        };
        let operands = match has_mask(at) {
            true => operands.mask(range(5, at, job.mask().len())),
            false => operands,
        };
        if has_report(job) {
            operands.report(range(3, at, REPORT_BYTES))
        } else {
            operands
        }
    };
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    match recording {
        Recording::Encoder | Recording::OneBuffer | Recording::Gaps => {
            for (at, job) in jobs.iter().enumerate() {
                let result = gatherer.encode(&mut encoder, &job.plan, &operands(at, job));
                assert_eq!(result, Ok(()), "{job}");
            }
        }
        Recording::Prepared | Recording::Counted => {
            let prepare =
                |(at, job): (usize, &Job)| gatherer.prepare(&job.plan, &operands(at, job)).unwrap();
            let prepared: Vec<_> = jobs.iter().enumerate().map(prepare).collect();
            for gather in prepared.iter().chain(&prepared) {
                gather.encode(&mut encoder);
            }
        }
        Recording::Pass => {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("an app's own pass"),
                timestamp_writes: None,
            });
            for (at, job) in jobs.iter().enumerate() {
                let gather = gatherer.prepare(&job.plan, &operands(at, job));
                match gather {
                    Ok(gather) => gather.encode_in_pass(&mut pass),
                    Err(error) => panic!("{job}: {error}"),
                }
            }
        }
    }
    gpu.queue().submit([encoder.finish()]);
}

#[track_caller]
fn check_report(job: &Job, report: &[u8]) {
    let found = BadRows::decode(&job.plan, job.index_kind, report).unwrap();
    let found = found.map(|bad_rows| (bad_rows.count, bad_rows.first.to_string()));
    let expected = job
        .bad_index
        .clone()
        .map(|text| (job.bad_row_count as u64, text));
    assert_eq!(found, expected, "the report of {job}");
    if expected.is_none() {
        assert_eq!(report, [0; REPORT_BYTES], "the report of {job}");
    }
}

/// The expected bytes of a buffer: operands among canaries.
struct Image {
    bytes: Vec<u8>,
    alignment: usize,
    starts: Vec<usize>,
}

impl Image {
    fn new(alignment: u32) -> Self {
        Self {
            bytes: Vec::new(),
            alignment: usize::try_from(alignment).unwrap(),
            starts: Vec::new(),
        }
    }

    /// Reserves a range for an operand after the last one, `start` bytes after an offset that can be bound.
    fn place(&mut self, len: usize, start: usize) {
        let start = (self.bytes.len() + ROOM).next_multiple_of(self.alignment) + start;
        let end = (start + len).next_multiple_of(4) + ROOM;
        self.bytes.extend((self.bytes.len()..end).map(canary));
        self.starts.push(start);
    }

    fn write_last(&mut self, operand: &[u8]) {
        self.write(self.starts.len() - 1, operand);
    }

    fn write(&mut self, at: usize, operand: &[u8]) {
        self.write_at(at, 0, operand);
    }

    fn write_at(&mut self, at: usize, start: usize, bytes: &[u8]) {
        self.bytes[self.starts[at] + start..][..bytes.len()].copy_from_slice(bytes);
    }

    #[track_caller]
    fn check(&self, found: &[u8], operand: &str, jobs: &[Job]) {
        assert_eq!(found.len(), self.bytes.len());
        if found != self.bytes {
            let differs = (0..found.len()).find(|&at| found[at] != self.bytes[at]);
            let differs = differs.unwrap();
            let at = self.starts.partition_point(|&start| start <= differs);
            let at = at.saturating_sub(1);
            let job = &jobs[at];
            panic!(
                "byte {} of {operand} is {}, not {}: {job}",
                differs as i128 - self.starts[at] as i128,
                found[differs],
                self.bytes[differs],
            );
        }
    }
}

/// A canary for each place, which differs from its neighbours, so that shifted bytes show.
fn canary(at: usize) -> u8 {
    u8::try_from(at * 151 % 251 + 1).unwrap()
}

/// The bytes of the buffers after all submitted work.
pub(crate) fn read_back<const N: usize>(gpu: &Gpu, buffers: [&wgpu::Buffer; N]) -> [Vec<u8>; N] {
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    let copies = buffers.map(|buffer| {
        let copy = gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: Some("read back"),
            size: buffer.size(),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        encoder.copy_buffer_to_buffer(buffer, 0, &copy, 0, buffer.size());
        copy
    });
    let submission = gpu.queue().submit([encoder.finish()]);
    for copy in &copies {
        copy.map_async(wgpu::MapMode::Read, .., Result::unwrap);
    }
    let wait = wgpu::PollType::Wait {
        submission_index: Some(submission),
        timeout: None,
    };
    gpu.device().poll(wait).unwrap();
    copies.map(|copy| copy.get_mapped_range(..).unwrap().to_vec())
}
