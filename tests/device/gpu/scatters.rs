//! Scatters that a `Gatherer` records between the caller's buffers: the gathers' cases, read from right to left.

use half::{bf16, f16};
use libtest_mimic::Trial;
use wgpu_gather::{
    BadIndices, Buffers, ElementTypes, GatherPlan, Gatherer, IndexKind, Reduce, ScatterRanges,
    With, wgpu,
};

use crate::batch::{self, FIRST, Image, REPORT_BYTES, STEP, check_report, submit_many, upload};
use crate::cuts::limited_device;
use crate::into_buffers::{index_values, table, unchecked, widths, without_runtime_checks};
use crate::trial;
use testkit::gpu::Gpu;
use testkit::indices::Hash;
use testkit::oracle::{Answer, Case, Op};
use testkit::samples::{POLICIES, Sample, pattern};
use testkit::scatter::{Number, Told};
use testkit::sweep;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for way in WAYS {
        let name = format!("{way:?}").to_lowercase();
        let of = move |samples: fn() -> Box<dyn Iterator<Item = Sample>>| {
            move |gpu: &'static Gpu| {
                let samples = sweep::some(FIRST, STEP, way as usize, samples());
                assert!(check(gpu, way, Box::new(samples)) > 0, "some are refused");
            }
        };
        trials.extend([
            trial(format!("scatters_of_the_table::{name}"), of(table)),
            trial(
                format!("scatters_by_index_values::{name}"),
                of(index_values),
            ),
            trial(format!("scatters_of_every_width::{name}"), of(widths)),
        ]);
    }
    for way in [Way::Encoder, Way::SmallBindings, Way::Shards, Way::Gaps] {
        let name = format!("scatters_of_random_blocks::{way:?}").to_lowercase();
        trials.push(trial(name, move |gpu| {
            check(
                gpu,
                way,
                Box::new(sweep::some(0, 11, way as usize, random())),
            );
        }));
    }
    for way in [
        Way::Encoder,
        Way::Prepared,
        Way::MediumBindings,
        Way::Shards,
        Way::Gaps,
    ] {
        let name = format!("scatters_to_hot_rows::{way:?}").to_lowercase();
        trials.push(trial(name, move |gpu| {
            check(
                gpu,
                way,
                Box::new(sweep::some(0, 7, way as usize, hot_rows(way))),
            );
        }));
    }
    trials
}

/// A gather along the third of four dims; the first is a batch dim.
fn case_of_blocks(params_shape: [usize; 4], indices: Vec<i128>, from_end: bool) -> Case {
    Case {
        op: Op::Gather {
            axis: Some(2),
            batch_dims: 1,
        },
        params_shape: params_shape.to_vec(),
        indices_shape: vec![params_shape[0], indices.len() / params_shape[0]],
        indices,
        from_end,
    }
}

/// Scatters with a few batches and outer coordinates. Many rows repeat, and a target with narrow rows has more winners than a
/// small binding holds.
fn random() -> Box<dyn Iterator<Item = Sample>> {
    let sample = |number: u64| {
        let mut hash = Hash::new(number);
        let [batches, outer, rows] = [1 + hash.below(3), 1 + hash.below(3), 1 + hash.below(1200)];
        let [count, slice_len] = [1 + hash.below(500), 1 + hash.below(3)];
        let hot = hash.below(rows + 1);
        let mut index = || match hash.below(4) {
            0 => hot,
            _ => hash.below(rows + 2),
        };
        let indices =
            (0..batches * count).map(|_| index() as i128 - i128::from(number.is_multiple_of(2)));
        let from_end = number.is_multiple_of(3);
        let case = case_of_blocks(
            [batches, outer, rows, slice_len],
            indices.collect(),
            from_end,
        );
        let width = [1, 2, 3, 4, 4, 4, 6, 16][hash.below(8)];
        let kind = [IndexKind::I32, IndexKind::I64, IndexKind::I16][hash.below(3)];
        case.samples(
            &[width],
            &[kind],
            &POLICIES[hash.below(POLICIES.len())..][..1],
        )
    };
    Box::new((0..200).flat_map(sample))
}

/// Scatters of numbers to a few rows; half the index rows, more than 1,024, select the same one. Bindings of 32 KiB hold 4,096
/// pairs.
fn hot_rows(way: Way) -> Box<dyn Iterator<Item = Sample>> {
    let (most_batches, most) = match way {
        Way::MediumBindings => (1, 4096),
        _ => (3, 6000),
    };
    let sample = move |number: u64| {
        let mut hash = Hash::new(1000 + number);
        let [batches, outer, rows] = [
            1 + hash.below(most_batches),
            1 + hash.below(2),
            1 + hash.below(40),
        ];
        let [count, slice_len] = [most / 2 + hash.below(most / 2), 1 + hash.below(5)];
        let hot = hash.below(rows);
        let mut index = || match hash.below(2) {
            0 => hot,
            _ => hash.below(rows + 1),
        };
        let indices = (0..batches * count).map(|_| index() as i128);
        let case = case_of_blocks([batches, outer, rows, slice_len], indices.collect(), false);
        let width = [4, 2][usize::from(number / 3 % 2 == 1)];
        case.samples(&[width], &[IndexKind::I32], &[BadIndices::Fill])
    };
    Box::new((0..120).flat_map(sample))
}

/// How scatters are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Encoder,
    /// Twice.
    Prepared,
    /// Once for these buffers, and once for others.
    Rebound,
    /// All into one pass, without runtime checks.
    Pass,
    OneBuffer,
    Counted,
    /// With gaps after slices, and at offsets that cannot be bound.
    Gaps,
    /// With bindings of 1 KiB, which hold no scratch of a sort.
    SmallBindings,
    /// With bindings of 32 KiB.
    MediumBindings,
    /// With the target in four shards.
    Shards,
    /// On a device with wgpu's `downlevel_defaults`.
    Downlevel,
}

impl Way {
    fn binding_bytes(self) -> u64 {
        match self {
            Self::SmallBindings => 1024,
            Self::MediumBindings => 1 << 15,
            _ => 1 << 27,
        }
    }
}

const WAYS: [Way; 11] = [
    Way::Encoder,
    Way::Prepared,
    Way::Rebound,
    Way::Pass,
    Way::OneBuffer,
    Way::Counted,
    Way::Gaps,
    Way::SmallBindings,
    Way::MediumBindings,
    Way::Shards,
    Way::Downlevel,
];

const REDUCES: [Reduce; 4] = [Reduce::Add, Reduce::Mul, Reduce::Min, Reduce::Max];

/// The type of reduced numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    I32,
    U32,
    F32,
    F16,
    Bf16,
}

impl Of {
    const fn is_half(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16)
    }
}

/// A scatter by a sample's case, with its operands and its result.
struct Scatter {
    sample: Sample,
    plan: GatherPlan,
    reduction: Option<(Reduce, Of)>,
    is_unique: bool,
    one_update: bool,
    updates: Vec<u8>,
    target: Vec<u8>,
    expected: Vec<u8>,
    /// Elements from one target row to the next.
    stride: usize,
    count: u32,
    has_mask: bool,
    has_report: bool,
}

/// A batch is full with this many scatters, or more bytes than this.
const BATCH: (usize, usize) = (128, 1 << 23);

const GAPS: [[usize; 2]; 5] = [[1, 0], [0, 1], [3, 2], [0, 0], [16, 64]];

/// Returns how many scatters were refused.
fn check(gpu: &'static Gpu, way: Way, samples: Box<dyn Iterator<Item = Sample>>) -> usize {
    let limited = match way {
        Way::SmallBindings | Way::MediumBindings => Some(limited_device(|limits| wgpu::Limits {
            max_storage_buffer_binding_size: way.binding_bytes(),
            max_buffer_size: 1 << 26,
            max_uniform_buffer_binding_size: 1024,
            max_compute_workgroups_per_dimension: 2,
            ..limits
        })),
        Way::Downlevel => Some(limited_device(|limits| {
            wgpu::Limits::downlevel_defaults().or_worse_values_from(&limits)
        })),
        _ => None,
    };
    let unchecked = limited.as_ref().map(unchecked);
    let (gpu, gatherer) = match (&limited, &unchecked, way) {
        (Some(gpu), Some(gatherer), _) => (gpu, gatherer),
        (.., Way::Pass | Way::Gaps) => (gpu, without_runtime_checks(gpu)),
        _ => (gpu, gpu.gatherer()),
    };
    let (mut batch, mut bytes, mut refused, mut ran) = (Vec::new(), 0, 0, 0);
    for (number, sample) in samples.enumerate() {
        for scatter in scatters(&sample, way, number) {
            if let Some(error) = scatter.refused(way) {
                refused += 1;
                scatter.check_refused(gpu, gatherer, way, error);
                continue;
            }
            bytes += scatter.target.len() + scatter.updates.len();
            batch.push(scatter);
            if batch.len() == BATCH.0 || bytes > BATCH.1 {
                check_batch(gpu, gatherer, way, &batch);
                ran += batch.len();
                batch.clear();
                bytes = 0;
            }
        }
    }
    check_batch(gpu, gatherer, way, &batch);
    ran += batch.len();
    assert!(ran > 10, "{ran}");
    refused
}

/// A sample's assign or, for 4-byte elements, either that or a reduction; with `GATHER_EVERY_CASE`, all of them.
fn scatters(sample: &Sample, way: Way, number: usize) -> Vec<Scatter> {
    let mut all = vec![None];
    if sample.element_bytes == 4 {
        let of = [Of::I32, Of::U32, Of::F32, Of::F32][number / 5 % 4];
        all.extend(REDUCES.map(|reduce| Some((reduce, of))));
    }
    if sample.element_bytes == 2 {
        let of = [Of::F16, Of::Bf16][number / 5 % 2];
        all.extend(REDUCES.map(|reduce| Some((reduce, of))));
    }
    if !sweep::takes_every_case() {
        all = vec![all[number % all.len()]];
    }
    let numbered = all.into_iter().enumerate();
    let of = |(k, reduction)| Scatter::new(sample, way, reduction, number + k);
    numbered.map(of).collect()
}

impl Scatter {
    fn new(sample: &Sample, way: Way, reduction: Option<(Reduce, Of)>, number: usize) -> Self {
        let case = &sample.case;
        let slice_len = sample.plan.slice_len();
        let gaps = match way {
            Way::Gaps => GAPS[number / 5 % GAPS.len()],
            _ => [0, 0],
        };
        let strides = gaps.map(|gap| slice_len + gap);
        let plan = sample.plan.with_params_stride(strides[0]).unwrap();
        let plan = plan.with_output_stride(strides[1]).unwrap();
        let answer = match case.replaced_by(plan.bad_indices()) {
            Some(replaced) => replaced.answer(),
            None => case.answer(),
        };
        let mut places: Vec<_> = answer.elements.iter().flatten().collect();
        places.sort_unstable();
        // Every other scatter with unique rows promises them.
        let is_unique = places.is_sorted_by(|a, b| a < b) && number.is_multiple_of(2);
        let one_update = number % 7 == 3;
        let width = sample.element_bytes;
        let in_gaps = |at: usize, stride: usize| match slice_len {
            0 => 0,
            _ => at / slice_len * stride + at % slice_len,
        };
        let bytes = |len: usize, first: usize| match reduction {
            Some((_, Of::F32)) => {
                let floats = (first..first + len).map(<f32 as Number>::of);
                floats
                    .flat_map(|float| float.to_bits().to_le_bytes())
                    .collect()
            }
            Some((_, Of::F16)) => halves::<f16>(len, first),
            Some((_, Of::Bf16)) => halves::<bf16>(len, first),
            _ => pattern(first + len * width)[first..].to_vec(),
        };
        let updates_len = match one_update {
            true => slice_len,
            false => plan.output_len(),
        };
        let (updates, target): (Vec<u8>, Vec<u8>) =
            (bytes(updates_len, 1000), bytes(plan.params_len(), 0));
        let index_rows = case.op.index_count(&case.params_shape, &case.indices_shape);
        let count = match way {
            Way::Counted => {
                [index_rows, 1, index_rows / 2, usize::MAX, 0, index_rows + 1][number % 6]
            }
            _ => index_rows,
        };
        let mut expected = target.clone();
        let times = if way == Way::Prepared { 2 } else { 1 };
        let elements = || answer.elements.iter().enumerate();
        for (at, place) in (0..times).flat_map(|_| elements()) {
            let n = at.checked_div(slice_len).unwrap_or(0) % index_rows.max(1);
            let Some(place) = place.filter(|_| n < count) else {
                continue;
            };
            let from = if one_update {
                at % slice_len
            } else {
                in_gaps(at, strides[1])
            };
            let update = &updates[from * width..][..width];
            let to = &mut expected[in_gaps(place, strides[0]) * width..][..width];
            match reduction {
                None => to.copy_from_slice(update),
                // Below.
                Some((Reduce::Add, Of::F32) | (_, Of::F16 | Of::Bf16)) => {}
                Some((reduce, of)) => to.copy_from_slice(&reduced(reduce, of, to, update)),
            }
        }
        if let Some((reduce, of)) = reduction
            && ((reduce, of) == (Reduce::Add, Of::F32) || of.is_half())
        {
            let mut counted = answer.clone();
            for (at, place) in counted.elements.iter_mut().enumerate() {
                place.take_if(|_| at / slice_len % index_rows >= count);
            }
            let from = |at: usize| match one_update {
                true => at % slice_len,
                false => in_gaps(at, strides[1]),
            };
            let dense: usize = case.params_shape.iter().product();
            let places = || (0..dense).map(|at| in_gaps(at, strides[0]));
            let places: Vec<usize> = places().collect();
            let of_all = match of {
                Of::F16 => reduce_all::<f16>,
                Of::Bf16 => reduce_all::<bf16>,
                _ => reduce_all::<f32>,
            };
            for _ in 0..times {
                of_all(&counted, reduce, &from, &updates, &places, &mut expected);
            }
        }
        // With `Clamp` and `Wrap` only a dim of 0 makes bad rows, which other tests report.
        let has_report = match plan.bad_indices() {
            BadIndices::Error => true,
            BadIndices::DeviceDefault | BadIndices::Fill => number.is_multiple_of(4),
            _ => false,
        };
        Self {
            sample: sample.clone(),
            plan,
            has_report,
            reduction,
            is_unique,
            one_update,
            updates,
            target,
            expected,
            stride: strides[0],
            count: u32::try_from(count).unwrap_or(u32::MAX),
            has_mask: !number.is_multiple_of(3),
        }
    }

    /// The error, if no GPU has the scatter.
    fn refused(&self, way: Way) -> Option<&'static str> {
        let case = &self.sample.case;
        if case.has_no_scatter() {
            return Some("Plan");
        }
        if let Some((Reduce::Mul, Of::F32 | Of::F16 | Of::Bf16)) = self.reduction {
            return Some("UnsupportedReduce");
        }
        let repeats = case.repeats_index_rows();
        if repeats && way == Way::Counted && self.plan.output_len() > 0 {
            return Some("CountOfRepeatedRows");
        }
        let index_rows = case.op.index_count(&case.params_shape, &case.indices_shape);
        let has_rows = self.plan.output_len() > 0 && self.plan.params_len() > 0;
        let repeats_rows = !self.is_unique && index_rows > 1;
        let is_half = self.reduction.is_some_and(|(_, of)| of.is_half());
        let sorts = (repeats_rows || is_half) && has_rows;
        match self.reduction? {
            (Reduce::Mul, _) | (_, Of::F32 | Of::F16 | Of::Bf16) if sorts => {
                // A tile of pairs has 256 counts and a total.
                let pairs = match repeats {
                    true => {
                        self.plan.output_shape().iter().product::<usize>() / self.plan.slice_len()
                    }
                    false => self.sample.mask().len(),
                };
                let bytes = (8 * pairs as u64).max(4 * 257);
                (bytes > way.binding_bytes()).then_some("DeviceLimit")
            }
            _ => None,
        }
    }

    fn check_refused(&self, gpu: &Gpu, gatherer: &Gatherer, way: Way, expected: &str) {
        let operands = [&self.target, &self.sample.indices, &self.updates];
        let buffers = operands.map(|bytes| upload(gpu, &vec![0; bytes.len() / 4 * 4 + 256]));
        let [target, indices, updates] = buffers.each_ref().map(|buffer| buffer.slice(..));
        let ranges = ranges(target, [indices, updates]);
        let report = upload(gpu, &[0; REPORT_BYTES]);
        let buffers = self.reduces(Buffers::scatter(self.sample.types(), ranges));
        let mut buffers = buffers.report(report.slice(..));
        let count = upload(gpu, &[0; 4]);
        if way == Way::Counted {
            buffers = buffers.index_count(count.slice(..));
        }
        let error = gatherer.prepare(self.with(), &buffers).map(drop);
        let name = format!("{:?}", error.unwrap_err());
        assert!(name.starts_with(expected), "{name} of {}", self.sample);
    }

    fn with(&self) -> With<'_, Reduce> {
        let told = Told {
            reduce: None,
            unique: self.is_unique,
            one_update: self.one_update,
        };
        told.with(&self.plan)
    }

    fn reduces<'a>(&self, buffers: Buffers<'a, Reduce>) -> Buffers<'a, Reduce> {
        match self.reduction {
            None => buffers,
            Some((reduce, Of::I32)) => buffers.reduce::<i32>(reduce),
            Some((reduce, Of::U32)) => buffers.reduce::<u32>(reduce),
            Some((reduce, Of::F32)) => buffers.reduce::<f32>(reduce),
            Some((reduce, Of::F16)) => buffers.reduce::<f16>(reduce),
            Some((reduce, Of::Bf16)) => buffers.reduce::<bf16>(reduce),
        }
    }

    /// The row counts of four shards, one of them empty.
    fn shards(&self) -> [usize; 4] {
        let case = &self.sample.case;
        let rows = case.op.params_rows(&case.params_shape, &case.indices_shape);
        let mut hash = Hash::of(case);
        let (a, b) = (hash.below(rows + 1), hash.below(rows + 1));
        [a.min(b), 0, a.max(b) - a.min(b), rows - a.max(b)]
    }
}

/// The bytes of `len` numbers, which differ: whole numbers from `first` on.
fn halves<T: Number>(len: usize, first: usize) -> Vec<u8> {
    let numbers: Vec<T> = (first..first + len).map(T::of).collect();
    bytemuck::cast_slice(&numbers).to_vec()
}

/// Reduces the target's elements at `places` by the definition.
fn reduce_all<T: Number>(
    answer: &Answer,
    reduce: Reduce,
    from: &dyn Fn(usize) -> usize,
    updates: &[u8],
    places: &[usize],
    target: &mut [u8],
) {
    let width = size_of::<T>();
    let element =
        |bytes: &[u8], at: usize| bytemuck::pod_read_unaligned::<T>(&bytes[at * width..][..width]);
    let mut elements: Vec<T> = places.iter().map(|&at| element(target, at)).collect();
    let update = |at: usize| element(updates, from(at));
    testkit::scatter::scatter(answer, Some(reduce), update, &mut elements);
    for (at, found) in places.iter().zip(elements) {
        target[at * width..][..width].copy_from_slice(bytemuck::bytes_of(&found));
    }
}

fn reduced(reduce: Reduce, of: Of, a: &[u8], b: &[u8]) -> [u8; 4] {
    let [a, b] = [a, b].map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()));
    let bits = match of {
        Of::I32 => a
            .cast_signed()
            .reduced(reduce, b.cast_signed())
            .cast_unsigned(),
        Of::U32 => a.reduced(reduce, b),
        Of::F32 => f32::from_bits(a)
            .reduced(reduce, f32::from_bits(b))
            .to_bits(),
        Of::F16 | Of::Bf16 => unreachable!("reduced all at once"),
    };
    bits.to_le_bytes()
}

const OPERANDS: [&str; 6] = [
    "target",
    "indices",
    "updates",
    "report",
    "index count",
    "mask",
];

type Held = batch::Held<{ OPERANDS.len() }>;

fn check_batch(gpu: &Gpu, gatherer: &Gatherer, way: Way, batch: &[Scatter]) {
    let alignment = gpu.device().limits().min_storage_buffer_offset_alignment;
    let mut images = [(); OPERANDS.len()].map(|()| Image::new(alignment));
    let [target, indices, updates, reports, counts, masks] = &mut images;
    for (at, scatter) in batch.iter().enumerate() {
        let sample = &scatter.sample;
        let start = |bytes: usize, number: usize| match way {
            Way::Gaps => (1 << bytes.trailing_zeros().min(2)) * number,
            _ => 0,
        };
        let index_bytes = usize::try_from(sample.index_kind.bytes()).unwrap();
        for (image, bytes, start) in [
            (
                &mut *target,
                &scatter.target,
                start(sample.element_bytes, at % 7),
            ),
            (indices, &sample.indices, start(index_bytes, at % 3)),
            (
                updates,
                &scatter.updates,
                start(sample.element_bytes, at % 5),
            ),
        ] {
            image.reserve(bytes.len(), start);
            image.write_last(bytes);
        }
        reports.reserve(REPORT_BYTES, 0);
        counts.reserve(4, 0);
        counts.write_last(&scatter.count.to_le_bytes());
        masks.reserve(sample.mask().len(), start(4, at % 3));
    }
    let uploaded = || Held::upload(gpu, &images, way == Way::OneBuffer);
    let buffers = uploaded();
    let others = (way == Way::Rebound).then(uploaded);
    record(
        gpu,
        gatherer,
        way,
        batch,
        &images,
        [&buffers, others.as_ref().unwrap_or(&buffers)],
    );
    for buffers in std::iter::once(&buffers).chain(&others) {
        check_buffers(gpu, batch, &mut images, buffers);
    }
}

fn record(
    gpu: &Gpu,
    gatherer: &Gatherer,
    way: Way,
    batch: &[Scatter],
    images: &[Image; OPERANDS.len()],
    [buffers, others]: [&Held; 2],
) {
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    let mut prepared = Vec::new();
    for (at, scatter) in batch.iter().enumerate() {
        with_buffers(scatter, at, way, images, buffers, &mut |operands| {
            let of = &scatter.sample;
            match way {
                Way::Prepared | Way::Pass => {
                    let of = gatherer.prepare(scatter.with(), operands);
                    prepared.push(of.unwrap_or_else(|error| panic!("{}: {error}", scatter.sample)));
                }
                Way::Rebound => {
                    let mut first = gatherer.prepare(scatter.with(), operands).unwrap();
                    first.encode(&mut encoder);
                    with_buffers(scatter, at, way, images, others, &mut |others| {
                        assert_eq!(first.rebind(others), Ok(()), "{of}");
                    });
                    first.encode(&mut encoder);
                }
                _ => {
                    let done = gatherer.encode(&mut encoder, scatter.with(), operands);
                    assert_eq!(done, Ok(()), "{of}");
                }
            }
        });
        submit_many(gpu, &mut encoder);
    }
    match way {
        Way::Pass => {
            let mut pass = encoder.begin_compute_pass(&Default::default());
            for scatter in &prepared {
                scatter.encode_in_pass(&mut pass);
            }
        }
        _ => {
            for scatter in prepared.iter().chain(&prepared) {
                scatter.encode(&mut encoder);
            }
        }
    }
    gpu.queue().submit([encoder.finish()]);
}

fn ranges<'a, T>(
    target: T,
    [indices, updates]: [wgpu::BufferSlice<'a>; 2],
) -> ScatterRanges<'a, T> {
    ScatterRanges {
        target,
        indices,
        updates,
    }
}

/// Calls `run` with the ranges of a scatter.
fn with_buffers(
    scatter: &Scatter,
    at: usize,
    way: Way,
    images: &[Image; OPERANDS.len()],
    buffers: &Held,
    run: &mut dyn FnMut(&Buffers<'_, Reduce>),
) {
    let part = |operand: usize, first: usize, len: usize| {
        let start = (buffers.starts[operand] + images[operand].starts[at] + first) as u64;
        buffers.of[operand].slice(start..(start + len as u64).next_multiple_of(4))
    };
    let whole = |operand: usize, bytes: &[u8]| part(operand, 0, bytes.len());
    let types: ElementTypes = scatter.sample.types();
    let width = scatter.sample.element_bytes;
    let slice_bytes = scatter.plan.slice_len() * width;
    let mut first = 0;
    let shard = |rows: usize| {
        let row = scatter.stride * width;
        let bytes = rows.saturating_sub(1) * row + if rows > 0 { slice_bytes } else { 0 };
        first += rows * row;
        (rows, part(0, first - rows * row, bytes))
    };
    let shards: Vec<_> = match way {
        Way::Shards => scatter.shards().map(shard).into(),
        _ => Vec::new(),
    };
    let others = [
        whole(1, &scatter.sample.indices),
        whole(2, &scatter.updates),
    ];
    let mut operands = match way {
        Way::Shards => Buffers::scatter_shards(types, ranges(&shards[..], others)),
        _ => Buffers::scatter(types, ranges(whole(0, &scatter.target), others)),
    };
    operands = scatter.reduces(operands);
    if way == Way::Counted {
        operands = operands.index_count(part(4, 0, 4));
    }
    if scatter.has_mask {
        operands = operands.mask(whole(5, &scatter.sample.mask()));
    }
    if scatter.has_report {
        operands = operands.report(part(3, 0, REPORT_BYTES));
    }
    run(&operands);
}

/// Compares every byte in the buffers after the scatters.
fn check_buffers(
    gpu: &Gpu,
    batch: &[Scatter],
    images: &mut [Image; OPERANDS.len()],
    buffers: &Held,
) {
    let found = buffers.read_back(gpu, images);
    let [target, _, _, reports, _, masks] = images;
    for (at, scatter) in batch.iter().enumerate() {
        let sample = &scatter.sample;
        target.write(at, &scatter.expected);
        if scatter.has_mask {
            masks.write(at, &sample.mask());
        }
        let report = &found[3][reports.starts[at]..][..REPORT_BYTES];
        if scatter.has_report {
            // A count of fewer index rows has fewer bad ones.
            if scatter.count as usize >= sample.plan.index_row_count() {
                check_report(&scatter.sample, report);
            }
            reports.write(at, report);
        }
    }
    let samples: Vec<_> = batch.iter().map(|scatter| &scatter.sample).collect();
    for ((image, found), operand) in images.iter().zip(&found).zip(OPERANDS) {
        image.check(found, operand, &samples);
    }
}
