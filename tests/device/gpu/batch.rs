//! Runs many samples in one submission. Their operands are ranges in large buffers, one for each operand or one for all, and
//! every byte around an operand is a canary.

use std::ops::Range;

use wgpu_gather::{BadIndices, BadRows, Buffers, Gatherer, wgpu};

use testkit::gpu::Gpu;
use testkit::samples::{Sample, output_slices};
use testkit::sweep;

/// How samples are recorded. Before they run, their reports hold canaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recording {
    /// By `Gatherer::encode`.
    Encoder,
    /// By `Gatherer::prepare`, with the prepared gather recorded twice.
    Prepared,
    /// By `Gatherer::prepare`, with the prepared gather recorded, rebound to other buffers, and recorded again.
    Rebound,
    /// By `Prepared::encode_in_pass`, all samples into one pass.
    Pass,
    /// By `Gatherer::encode`, with all operands in one buffer.
    OneBuffer,
    /// As `Prepared`, but with an index count that depends on the sample's place in the batch.
    Counted,
    /// By `Gatherer::encode`, with gaps after each params slice and output slice, and with operands at offsets that cannot be
    /// bound.
    Gaps,
}

/// Which samples of a list run on a GPU, for [`sweep::some`]: the first `FIRST`, and one in `STEP` of the others. The CPU and the
/// shader interpreter run more of them.
pub(crate) const FIRST: usize = 64;
pub(crate) const STEP: usize = 83;

/// A batch is full with this many samples, or more bytes than this.
const BATCH_SAMPLES: usize = 256;
const BATCH_BYTES: usize = 1 << 24;

/// Elements after each params slice and each output slice.
const GAPS: [[usize; 2]; 5] = [[1, 0], [0, 1], [3, 2], [0, 0], [16, 64]];

/// The least number of canary bytes before an operand, and the number after it in its range.
const ROOM: usize = 16;

#[expect(clippy::cast_possible_truncation, reason = "a few dozen bytes")]
pub(crate) const REPORT_BYTES: usize = BadRows::REPORT_BYTES as usize;

/// Runs some samples, compares every byte in every buffer, and returns how many samples ran.
pub(crate) fn check(
    gpu: &Gpu,
    gatherer: &Gatherer,
    recording: Recording,
    samples: impl IntoIterator<Item = Sample>,
) -> usize {
    let (mut count, mut bytes, mut batch) = (0, 0, Vec::new());
    for mut sample in sweep::some(FIRST, STEP, recording as usize, samples) {
        if recording == Recording::Gaps {
            sample = sample.with_gaps(GAPS[count % GAPS.len()]);
        }
        count += 1;
        bytes += sample.params.len() + sample.indices.len() + sample.output.len();
        bytes += sample.qparams.iter().map(Vec::len).sum::<usize>();
        batch.push(sample);
        if batch.len() == BATCH_SAMPLES || bytes > BATCH_BYTES {
            check_batch(gpu, gatherer, recording, &batch);
            batch.clear();
            bytes = 0;
        }
    }
    check_batch(gpu, gatherer, recording, &batch);
    count
}

fn check_batch(gpu: &Gpu, gatherer: &Gatherer, recording: Recording, samples: &[Sample]) {
    let alignment = gpu.device().limits().min_storage_buffer_offset_alignment;
    let mut images = [(); OPERANDS.len()].map(|()| Image::new(alignment));
    let [
        params,
        indices,
        output,
        reports,
        counts,
        masks,
        scales,
        zero_points,
    ] = &mut images;
    for (at, sample) in samples.iter().enumerate() {
        let start = |bytes: usize, number: usize| match recording {
            // A multiple of 1, 2 or 4: the largest that divides `bytes`.
            Recording::Gaps => (1 << bytes.trailing_zeros().min(2)) * number,
            _ => 0,
        };
        let index_bytes = usize::try_from(sample.index_kind.bytes()).unwrap();
        // Blocks start at any byte.
        let params_start = match sample.encoding {
            Some(_) => start(1, at % 11),
            None => start(sample.element_bytes, at % 7),
        };
        params.reserve(sample.params.len(), params_start);
        params.write_last(&sample.params);
        indices.reserve(sample.indices.len(), start(index_bytes, at % 3));
        indices.write_last(&sample.indices);
        output.reserve(output_bytes(sample), start(sample.element_bytes, at % 5));
        reports.reserve(REPORT_BYTES, 0);
        counts.reserve(4, 0);
        counts.write_last(&count_of(at, sample).to_le_bytes());
        masks.reserve(sample.mask().len(), start(4, at % 3));
        for (image, bytes, start) in [
            (&mut *scales, &sample.qparams[0], start(4, at % 3)),
            (zero_points, &sample.qparams[1], start(1, at % 5)),
        ] {
            image.reserve(bytes.len(), start);
            image.write_last(bytes);
        }
    }
    let upload = || Held::upload(gpu, &images, recording == Recording::OneBuffer);
    let buffers = upload();
    let others = (recording == Recording::Rebound).then(upload);
    let both = [&buffers, others.as_ref().unwrap_or(&buffers)];
    record(gpu, gatherer, recording, samples, &images, both);
    for buffers in std::iter::once(&buffers).chain(&others) {
        check_buffers(gpu, recording, samples, &mut images, buffers);
    }
}

/// Compares every byte in the buffers after the gathers.
fn check_buffers(
    gpu: &Gpu,
    recording: Recording,
    samples: &[Sample],
    images: &mut [Image; OPERANDS.len()],
    buffers: &Held<{ OPERANDS.len() }>,
) {
    let found = buffers.read_back(gpu, images);
    let [_, _, output, reports, _, masks, _, _] = images;
    for (at, sample) in samples.iter().enumerate() {
        if recording == Recording::Counted {
            for bytes in gathered_bytes(sample, count_of(at, sample)) {
                output.write_at(at, bytes.start, &sample.output[bytes]);
            }
        } else {
            let mut left = &sample.output[..];
            for slice in output_slices(&sample.plan) {
                let (bytes, rest) = left.split_at(slice.len() * sample.element_bytes);
                output.write_at(at, slice.start * sample.element_bytes, bytes);
                left = rest;
            }
            assert!(left.is_empty());
        }
        if has_mask(at) {
            masks.write(at, &sample.mask());
        }
        if has_report(sample) {
            let report = &found[3][reports.starts[at]..][..REPORT_BYTES];
            check_report(sample, report);
            reports.write(at, report);
        }
    }
    let samples: Vec<_> = samples.iter().collect();
    for ((image, found), operand) in images.iter().zip(&found).zip(OPERANDS) {
        image.check(found, operand, &samples);
    }
}

const OPERANDS: [&str; 8] = [
    "params",
    "indices",
    "output",
    "report",
    "index count",
    "mask",
    "scales",
    "zero points",
];

/// The output's bytes, with gaps if it has any.
fn output_bytes(sample: &Sample) -> usize {
    sample.plan.output_len() * sample.element_bytes
}

/// The index count for a sample: no index rows, one, some, all, or more than there are.
fn count_of(at: usize, sample: &Sample) -> u32 {
    let case = &sample.case;
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

/// The output byte ranges that this index count writes, one for each block.
fn gathered_bytes(sample: &Sample, count: u32) -> impl Iterator<Item = Range<usize>> {
    let row_bytes = sample.plan.slice_len() * sample.element_bytes;
    let case = &sample.case;
    let rows = case.op.index_count(&case.params_shape, &case.indices_shape);
    let block_bytes = rows * row_bytes;
    let blocks = sample.output.len().checked_div(block_bytes).unwrap_or(0);
    let gathered = rows.min(count as usize);
    (0..blocks).map(move |block| {
        let start = block * block_bytes;
        start..start + gathered * row_bytes
    })
}

/// Each operand's buffer, and where its image starts there.
pub(crate) struct Held<const N: usize> {
    pub(crate) of: [wgpu::Buffer; N],
    pub(crate) starts: [usize; N],
}

impl<const N: usize> Held<N> {
    pub(crate) fn upload(gpu: &Gpu, images: &[Image; N], one: bool) -> Self {
        if !one {
            return Self {
                of: images.each_ref().map(|image| upload(gpu, &image.bytes)),
                starts: [0; N],
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
            of: [(); N].map(|()| buffer.clone()),
            starts,
        }
    }

    pub(crate) fn read_back(&self, gpu: &Gpu, images: &[Image; N]) -> [Vec<u8>; N] {
        let found = if self.of[0] == self.of[1] {
            let [all] = read_back(gpu, [&self.of[0]]);
            [(); N].map(|()| all.clone())
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

fn has_report(sample: &Sample) -> bool {
    sample.plan.bad_indices() == BadIndices::Error
}

/// True for two in three samples. Any other sample's mask keeps its canaries.
fn has_mask(at: usize) -> bool {
    !at.is_multiple_of(3)
}

/// A sample's ranges in these buffers.
fn bound<'b>(
    (at, sample): (usize, &Sample),
    recording: Recording,
    images: &[Image; OPERANDS.len()],
    buffers: &'b Held<{ OPERANDS.len() }>,
) -> Buffers<'b> {
    let range = |operand: usize, len: usize| {
        let start = (buffers.starts[operand] + images[operand].starts[at]) as u64;
        let end = (start + len as u64).next_multiple_of(4) + ROOM as u64;
        buffers.of[operand].slice(start..end)
    };
    let mut operands = testkit::gpu::buffers_of(
        sample.types(),
        [
            range(0, sample.params.len()),
            range(1, sample.indices.len()),
            range(2, output_bytes(sample)),
        ],
    );
    if !sample.fill.is_empty() {
        operands = operands.fill(&sample.fill);
    }
    if recording == Recording::Counted {
        operands = operands.index_count(range(4, 4));
    }
    if has_mask(at) {
        operands = operands.mask(range(5, sample.mask().len()));
    }
    if has_report(sample) {
        operands = operands.report(range(3, REPORT_BYTES));
    }
    if !sample.qparams[0].is_empty() {
        operands = operands.scales(range(6, sample.qparams[0].len()));
    }
    if !sample.qparams[1].is_empty() {
        operands = operands.zero_points(range(7, sample.qparams[1].len()));
    }
    operands
}

/// Records the samples' gathers between the buffers, and with `Rebound` between the others too.
fn record(
    gpu: &Gpu,
    gatherer: &Gatherer,
    recording: Recording,
    samples: &[Sample],
    images: &[Image; OPERANDS.len()],
    [buffers, others]: [&Held<{ OPERANDS.len() }>; 2],
) {
    let operands = |at: usize, sample: &Sample| bound((at, sample), recording, images, buffers);
    let prepare = |(at, sample): (usize, &Sample)| {
        let prepared = gatherer.prepare(&sample.plan, &operands(at, sample));
        prepared.unwrap_or_else(|error| panic!("{sample}: {error}"))
    };
    let samples = || samples.iter().enumerate();
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    match recording {
        Recording::Encoder | Recording::OneBuffer | Recording::Gaps => {
            for (at, sample) in samples() {
                let result = gatherer.encode(&mut encoder, &sample.plan, &operands(at, sample));
                assert_eq!(result, Ok(()), "{sample}");
                submit_many(gpu, &mut encoder);
            }
        }
        Recording::Prepared | Recording::Counted => {
            let prepared: Vec<_> = samples().map(prepare).collect();
            for gather in prepared.iter().chain(&prepared) {
                gather.encode(&mut encoder);
            }
        }
        Recording::Rebound => {
            for (at, sample) in samples() {
                let mut gather = prepare((at, sample));
                gather.encode(&mut encoder);
                let others = bound((at, sample), recording, images, others);
                assert_eq!(gather.rebind(&others), Ok(()), "{sample}");
                gather.encode(&mut encoder);
                submit_many(gpu, &mut encoder);
            }
        }
        Recording::Pass => {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("an app's own pass"),
                timestamp_writes: None,
            });
            for (at, sample) in samples() {
                prepare((at, sample)).encode_in_pass(&mut pass);
            }
        }
    }
    gpu.queue().submit([encoder.finish()]);
}

/// Bind groups that a device may have before its commands are submitted. A software driver may map memory for each, and
/// Linux lets a process have 65,530 mappings.
const MANY_BIND_GROUPS: isize = 8192;

/// If there are many bind groups, runs the recorded commands, which frees them.
pub(crate) fn submit_many(gpu: &Gpu, encoder: &mut wgpu::CommandEncoder) {
    let device = gpu.device();
    if device.get_internal_counters().hal.bind_groups.read() >= MANY_BIND_GROUPS {
        let recorded =
            std::mem::replace(encoder, device.create_command_encoder(&Default::default()));
        gpu.queue().submit([recorded.finish()]);
        device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    }
}

/// The report that a gather without a bad row writes.
pub(crate) fn no_bad_row() -> [u8; REPORT_BYTES] {
    let mut report = [0; REPORT_BYTES];
    report[8..16].fill(u8::MAX);
    report
}

#[track_caller]
pub(crate) fn check_report(sample: &Sample, report: &[u8]) {
    let found = BadRows::from_report(&sample.plan, sample.index_kind, report).unwrap();
    let found = found.map(|bad_rows| (bad_rows.count, bad_rows.first.to_string()));
    let expected = (sample.bad_index.clone()).map(|text| (sample.bad_row_count, text));
    assert_eq!(found, expected, "the report of {sample}");
    if expected.is_none() {
        assert_eq!(report, no_bad_row(), "the report of {sample}");
    }
}

/// The expected bytes of a buffer: operands among canaries.
pub(crate) struct Image {
    pub(crate) bytes: Vec<u8>,
    pub(crate) alignment: usize,
    pub(crate) starts: Vec<usize>,
}

impl Image {
    pub(crate) fn new(alignment: u32) -> Self {
        Self {
            bytes: Vec::new(),
            alignment: usize::try_from(alignment).unwrap(),
            starts: Vec::new(),
        }
    }

    /// Reserves a range for an operand after the last one, `start` bytes after an aligned offset.
    pub(crate) fn reserve(&mut self, len: usize, start: usize) {
        let start = (self.bytes.len() + ROOM).next_multiple_of(self.alignment) + start;
        let end = (start + len).next_multiple_of(4) + ROOM;
        self.bytes.extend((self.bytes.len()..end).map(canary));
        self.starts.push(start);
    }

    pub(crate) fn write_last(&mut self, operand: &[u8]) {
        self.write(self.starts.len() - 1, operand);
    }

    pub(crate) fn write(&mut self, at: usize, operand: &[u8]) {
        self.write_at(at, 0, operand);
    }

    fn write_at(&mut self, at: usize, start: usize, bytes: &[u8]) {
        self.bytes[self.starts[at] + start..][..bytes.len()].copy_from_slice(bytes);
    }

    #[track_caller]
    pub(crate) fn check(&self, found: &[u8], operand: &str, samples: &[&Sample]) {
        assert_eq!(found.len(), self.bytes.len());
        if found != self.bytes {
            let differs = (0..found.len()).find(|&at| found[at] != self.bytes[at]);
            let differs = differs.unwrap();
            let at = self.starts.partition_point(|&start| start <= differs);
            let at = at.saturating_sub(1);
            let sample = samples[at];
            panic!(
                "byte {} of {operand} is {}, not {}: {sample}",
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

/// What the buffers hold after all submitted work.
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
