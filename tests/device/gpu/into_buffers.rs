//! Gathers that a `Gatherer` records between the caller's buffers.

use std::sync::OnceLock;
use std::thread;
use std::time::Instant;

use libtest_mimic::Trial;
use wgpu_gather::{
    BadIndices, BlockQuantized, ElementTypes, Encoding, FloatKind, Gather, Gatherer, IndexKind,
    wgpu,
};

use crate::batch::{self, Recording};
use crate::cuts::{check_large, limited_device};
use crate::trial;
use testkit::cases;
use testkit::gpu::Gpu;
use testkit::oracle::Case;
use testkit::samples::{POLICIES, Sample, WIDTHS};
use testkit::{small_shapes, sweep};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for way in WAYS {
        let name = way.name();
        let check = move |samples: fn() -> Box<dyn Iterator<Item = Sample>>| {
            move |gpu: &'static Gpu| {
                way.check(gpu, samples());
            }
        };
        trials.extend([
            trial(format!("the_table_equals_the_oracle::{name}"), check(table)),
            trial(
                format!("no_index_value_is_truncated::{name}"),
                check(index_values),
            ),
            trial(
                format!("every_width_is_copied_whole::{name}"),
                check(widths),
            ),
            trial(format!("bad_rows_hold_the_fill::{name}"), check(filled)),
            trial(format!("encoded_rows_are_decoded::{name}"), check(encoded)),
        ]);
    }
    trials.extend([
        trial("small_shapes_equal_the_oracle", small_shapes),
        trial(
            "more_than_65535_workgroups_reach_every_row",
            many_workgroups,
        ),
        trial("threads_share_a_gatherer", threads),
    ]);
    trials
}

/// A gatherer and how it records.
#[derive(Clone, Copy)]
struct Way {
    runtime_checks: bool,
    recording: Recording,
    /// True for a device that binds only the four storage buffers that a gather with a report needs.
    few_bindings: bool,
}

const WAYS: [Way; 9] = [
    Way::new(true, Recording::Encoder),
    Way::new(true, Recording::Prepared),
    Way::new(true, Recording::Pass),
    Way::new(false, Recording::Rebound),
    Way::new(true, Recording::OneBuffer),
    Way {
        few_bindings: true,
        ..Way::new(false, Recording::Encoder)
    },
    Way::new(false, Recording::Pass),
    Way::new(true, Recording::Gaps),
    Way::new(false, Recording::Gaps),
];

impl Way {
    const fn new(runtime_checks: bool, recording: Recording) -> Self {
        Self {
            runtime_checks,
            recording,
            few_bindings: false,
        }
    }

    fn name(self) -> String {
        let gatherer = match (self.few_bindings, self.runtime_checks) {
            (true, _) => "few_bindings",
            (false, true) => "checked",
            (false, false) => "unchecked",
        };
        format!("{gatherer}_{:?}", self.recording).to_lowercase()
    }

    fn check(self, gpu: &'static Gpu, samples: impl IntoIterator<Item = Sample>) -> usize {
        if self.few_bindings {
            let gpu = limited_device(|limits| wgpu::Limits {
                max_storage_buffers_per_shader_stage: 4,
                ..limits
            });
            // Scales and zero points take two bindings more.
            let is_quantized = |of| matches!(of, Some(Encoding::BlockQuantized(_)));
            let samples = samples
                .into_iter()
                .filter(|sample| !is_quantized(sample.encoding));
            return batch::check(&gpu, &unchecked(&gpu), self.recording, samples);
        }
        let gatherer = if self.runtime_checks {
            gpu.gatherer()
        } else {
            without_runtime_checks(gpu)
        };
        batch::check(gpu, gatherer, self.recording, samples)
    }
}

/// A gatherer without naga's checks, which would hide a shader's reads past the end of a binding.
pub(crate) fn without_runtime_checks(gpu: &Gpu) -> &'static Gatherer {
    static GATHERER: OnceLock<Gatherer> = OnceLock::new();
    GATHERER.get_or_init(|| unchecked(gpu))
}

#[expect(unsafe_code, reason = "wgpu drops its checks in no other way")]
pub(crate) fn unchecked(gpu: &Gpu) -> Gatherer {
    Gatherer::new(gpu.device()).with_shader_modules(|device, descriptor| {
        let unchecked = wgpu::ShaderRuntimeChecks::unchecked();
        // SAFETY: The shaders compare every index with its dim, end every loop, and have no other index that
        // depends on data.
        unsafe { device.create_shader_module_trusted(descriptor, unchecked) }
    })
}

pub(crate) fn table() -> Box<dyn Iterator<Item = Sample>> {
    let planned = cases::table().into_iter().filter(Case::check_plan);
    let policies = [BadIndices::DeviceDefault, BadIndices::Error];
    Box::new(planned.flat_map(move |case| case.samples(&[1, 3, 4, 16], IndexKind::ALL, &policies)))
}

/// One edge value in seven, for each kernel unit.
pub(crate) fn index_values() -> Box<dyn Iterator<Item = Sample>> {
    let cases = sweep::some(0, 7, 0, cases::index_values());
    Box::new(cases.flat_map(|case| case.samples(&[1, 4, 8, 16], IndexKind::ALL, POLICIES)))
}

pub(crate) fn widths() -> Box<dyn Iterator<Item = Sample>> {
    let cases = cases::slice_lengths().into_iter();
    Box::new(cases.flat_map(|case| case.samples(&WIDTHS, &[IndexKind::I32], POLICIES)))
}

/// The table, with a block or a short row in place of each params element, where that makes a small gather: one such case
/// in seven.
pub(crate) fn encoded() -> Box<dyn Iterator<Item = Sample>> {
    let quantized = |bits, block_len| BlockQuantized::new(bits, block_len).unwrap();
    let halves = quantized(4, 16)
        .with_scales(FloatKind::F16)
        .with_zero_points();
    let signed = quantized(8, 32).with_scales(FloatKind::Bf16).signed();
    let [f32, f16, bf16] = [FloatKind::F32, FloatKind::F16, FloatKind::Bf16];
    let encodings = [
        (Encoding::Q4_0, f32, 2000),
        (Encoding::Q6K, f32, 300),
        (Encoding::RowWise8, f32, 2000),
        (Encoding::RowWise4, f32, 2000),
        (Encoding::BlockQuantized(halves), f32, 2000),
        (Encoding::BlockQuantized(signed), f32, 1000),
        (Encoding::F32, f16, 2000),
        (Encoding::F16, bf16, 2000),
        (Encoding::F16, f16, 2000),
        (Encoding::RowWise8, bf16, 2000),
        (Encoding::BlockQuantized(halves), f16, 1000),
        (Encoding::Q4_0, f16, 500),
    ];
    let cases = cases::table().into_iter().filter(Case::check_plan);
    let of_case = move |case: Case| {
        let elements: usize = case.output_shape().unwrap().iter().product();
        let few = encodings
            .into_iter()
            .filter(move |(_, _, most)| elements <= *most);
        few.map(move |(encoding, to, _)| (case.clone(), encoding, to))
    };
    let some = sweep::some(0, 7, 0, cases.flat_map(of_case));
    Box::new(some.flat_map(|(case, encoding, to)| {
        case.encoded_samples(encoding, to, IndexKind::ALL, POLICIES)
    }))
}

/// Bad rows that hold a fill, for each width and each kernel unit.
pub(crate) fn filled() -> Box<dyn Iterator<Item = Sample>> {
    let cases = cases::slice_lengths()
        .into_iter()
        .chain(cases::index_values());
    let samples =
        cases.flat_map(|case| case.samples(&WIDTHS, &[IndexKind::I64], &[BadIndices::Fill]));
    Box::new(samples.map(|sample| sample.filled()))
}

/// The step through the CPU's sweep: a prime, so that no attribute is left out.
const SWEEP_STRIDE: usize = 809;

fn small_shapes(gpu: &'static Gpu) {
    let start = Instant::now();
    let params_shapes = small_shapes::params_shapes();
    let shapes = params_shapes
        .iter()
        .flat_map(|shape| small_shapes::small_shapes(shape));
    let planned = shapes.step_by(SWEEP_STRIDE).filter(Case::check_plan);
    let policies = [BadIndices::DeviceDefault, BadIndices::Error];
    let mut turn = 0;
    let samples = planned.flat_map(|case| {
        turn += 1;
        small_shapes::samples_of(case, &[policies[turn % 2]])
    });
    let count = WAYS[2].check(gpu, samples);
    println!(
        "sweep: {count} of {turn} shape cases on the GPU equal to the oracle, in {:.1} s",
        start.elapsed().as_secs_f64()
    );
    assert!(turn >= 2500, "the sweep has lost its shapes");
}

/// Slices with 257 words, each of which takes a workgroup.
fn many_workgroups(gpu: &'static Gpu) {
    const ROWS: u32 = 65_600;
    let plan = Gather::new().bad_indices(BadIndices::Error);
    let plan = plan.plan(&[7, 257], &[ROWS as usize]).unwrap();
    let explained = plan.explain(
        ElementTypes::new(4, IndexKind::U32),
        &wgpu::Limits::default(),
    );
    assert!(explained.contains(" x 2 workgroups"), "{explained}");
    let params: Vec<u32> = (1..=7 * 257).collect();
    let mut indices: Vec<u32> = (0..ROWS).map(|row| row % 11 % 7).collect();
    check_large(gpu, &plan, &params, &mut indices, 7);
}

fn threads(gpu: &'static Gpu) {
    // A new gatherer has no pipelines, so that the threads need the same ones at once.
    let gatherer = Gatherer::new(gpu.device());
    thread::scope(|scope| {
        for recording in [Recording::Encoder, Recording::Prepared, Recording::Pass] {
            let gatherer = &gatherer;
            scope.spawn(move || batch::check(gpu, gatherer, recording, widths()));
        }
    });
}
