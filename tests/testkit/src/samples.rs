//! Samples: gathers to test, with their expected results. A sample is a case with an element width, an index kind, a policy
//! and the oracle's result. A runner is an implementation that runs samples.

use std::fmt;

use bytemuck::Pod;
use half::{bf16, f16};
use wgpu_gather::{
    BadIndices, ElementTypes, Encoding, Float, FloatKind, Gather, GatherElements, GatherNd,
    GatherPlan, IndexKind, NegativeIndices, PlanError,
};

use crate::of_index_type;
use crate::rejected::rejection;
pub use crate::runner::{
    Cpu, Element, Runner, bytes_of, dense, index_bytes, output_slices, pattern,
};

use super::indices::{Hash, holds};
use super::oracle::{Answer, Case, Op};

/// A gather with one element width and one index kind, and its expected result.
#[derive(Debug, Clone)]
pub struct Sample {
    pub plan: GatherPlan,
    /// Bytes per element; with an encoding, per decoded value.
    pub element_bytes: usize,
    pub index_kind: IndexKind,
    /// The encoding of params; `None` for plain elements.
    pub encoding: Option<Encoding>,
    /// The float type that encoded params is decoded to.
    pub to: FloatKind,
    pub params: Vec<u8>,
    /// The bytes of scales and zero points; empty if there are none.
    pub qparams: [Vec<u8>; 2],
    pub indices: Vec<u8>,
    /// The expected output, with zeros or the fill in bad rows' slices.
    pub output: Vec<u8>,
    /// The element in bad rows, as bytes; empty for zeros.
    pub fill: Vec<u8>,
    pub bad_row_count: usize,
    /// The error text that names the first bad row, if there is one.
    pub bad_index: Option<String>,
    pub case: Case,
}

/// The element widths that runners run, in bytes.
pub const WIDTHS: [usize; 9] = [1, 2, 3, 4, 6, 8, 12, 16, 32];

pub const POLICIES: &[BadIndices] = BadIndices::ALL;

/// The policies that TensorFlow has.
pub const TENSORFLOWS_POLICIES: [BadIndices; 3] = [
    BadIndices::DeviceDefault,
    BadIndices::Error,
    BadIndices::Fill,
];

impl Case {
    /// The library's plan for this case.
    pub fn plan(&self, bad_indices: BadIndices) -> Result<GatherPlan, PlanError> {
        let negative_indices = if self.from_end {
            NegativeIndices::FromEnd
        } else {
            NegativeIndices::Invalid
        };
        match self.op {
            Op::Gather { axis, batch_dims } => {
                let gather = axis.map_or(Gather::new(), |axis| Gather::new().axis(axis));
                gather
                    .batch_dims(batch_dims)
                    .bad_indices(bad_indices)
                    .negative_indices(negative_indices)
                    .plan(&self.params_shape, &self.indices_shape)
            }
            Op::GatherNd { axis, batch_dims } => {
                let gather = axis.map_or(GatherNd::new(), |axis| GatherNd::new().axis(axis));
                gather
                    .batch_dims(batch_dims)
                    .bad_indices(bad_indices)
                    .negative_indices(negative_indices)
                    .plan(&self.params_shape, &self.indices_shape)
            }
            Op::GatherElements { axis, broadcast } => GatherElements::new()
                .broadcast(broadcast)
                .axis(axis)
                .bad_indices(bad_indices)
                .negative_indices(negative_indices)
                .plan(&self.params_shape, &self.indices_shape),
        }
    }

    /// Compares the plan's output shape, or its error's variant, with the oracle. Returns true if there is a plan.
    #[track_caller]
    pub fn check_plan(&self) -> bool {
        let plan = self.plan(BadIndices::DeviceDefault);
        let found = match &plan {
            Ok(plan) => Ok(plan.output_shape()),
            Err(error) => Err(rejection(error)),
        };
        let expected = self.output_shape();
        assert_eq!(
            found,
            expected.as_deref().map_err(|&rejection| rejection),
            "{self}"
        );
        plan.is_ok()
    }

    /// A sample for each width, each policy and each index kind that can hold the indices. The shapes must be valid.
    pub fn samples(
        &self,
        widths: &[usize],
        index_kinds: &[IndexKind],
        policies: &[BadIndices],
    ) -> Vec<Sample> {
        let answer = self.answer();
        let replaced = |&policy: &_| Some(self.replaced_by(policy)?.answer());
        let replaced: Vec<_> = policies.iter().map(replaced).collect();
        let bad_index = answer.bad_rows.first().map(|&row| self.bad_index_text(row));
        let mut samples = Vec::new();
        for &element_bytes in widths {
            let params = pattern(self.params_shape.iter().product::<usize>() * element_bytes);
            let zeros = vec![0; element_bytes];
            let output = output_of(&answer, &params, &zeros);
            let replaced: Vec<_> = (replaced.iter())
                .map(|answer| Some(output_of(answer.as_ref()?, &params, &zeros)))
                .collect();
            for &index_kind in index_kinds {
                if !self.indices.iter().all(|&value| holds(index_kind, value)) {
                    continue;
                }
                for (&bad_indices, replaced) in policies.iter().zip(&replaced) {
                    samples.push(Sample {
                        plan: self.plan(bad_indices).expect("a valid case"),
                        element_bytes,
                        index_kind,
                        encoding: None,
                        to: FloatKind::F32,
                        params: params.clone(),
                        qparams: Default::default(),
                        indices: index_bytes(index_kind, &self.indices),
                        output: replaced.as_ref().unwrap_or(&output).clone(),
                        fill: Vec::new(),
                        bad_row_count: if replaced.is_some() {
                            0
                        } else {
                            answer.bad_rows.len()
                        },
                        bad_index: bad_index.clone().filter(|_| replaced.is_none()),
                        case: self.clone(),
                    });
                }
            }
        }
        samples
    }
}

/// The output's bytes, with `fill` for bad rows' elements.
fn output_of(answer: &Answer, params: &[u8], fill: &[u8]) -> Vec<u8> {
    let element = |at: &Option<usize>| match at {
        Some(at) => &params[at * fill.len()..][..fill.len()],
        None => fill,
    };
    answer.elements.iter().flat_map(element).copied().collect()
}

impl Sample {
    pub fn types(&self) -> ElementTypes {
        match self.encoding {
            Some(encoding) => ElementTypes::decoded(encoding, self.to, self.index_kind),
            None => ElementTypes::new(self.element_bytes as u64, self.index_kind),
        }
    }

    /// This sample with a fill in bad rows' slices.
    pub fn filled(&self) -> Self {
        assert_eq!(self.plan.bad_indices(), BadIndices::Fill);
        let fill: Vec<u8> = (0..self.element_bytes)
            .map(|n| u8::try_from(0xa0 + n).expect("a few bytes"))
            .collect();
        Self {
            output: output_of(&self.case.answer(), &self.params, &fill),
            fill,
            ..self.clone()
        }
    }

    /// Runs this sample on a runner, and compares with the expected result.
    #[track_caller]
    pub fn check(&self, runner: &impl Runner) {
        self.compare(&self.found(runner), runner);
    }

    /// Runs this sample on a runner for three params shards, cut at rows that `hash` chooses, and compares their outputs'
    /// bitwise OR with the expected result.
    #[track_caller]
    pub fn check_shards(&self, runner: &impl Runner, hash: &mut Hash) {
        let rows = self.plan.row_count();
        let (a, b) = (hash.below(rows + 1), hash.below(rows + 1));
        let mut whole = Ok(vec![0; self.output.len()]);
        for held in [0..a.min(b), a.min(b)..a.max(b), a.max(b)..rows] {
            let held_bytes = |bytes: &[u8], row_bytes: usize| -> Vec<u8> {
                // `chunks_exact` refuses 0, the block size of empty params.
                let blocks = bytes.chunks_exact((rows * row_bytes).max(1));
                let held =
                    |block: &[u8]| block[held.start * row_bytes..held.end * row_bytes].to_vec();
                blocks.flat_map(held).collect()
            };
            let shard = self.plan.shard(held.start..held.end);
            let sample = Self {
                plan: shard.expect("rows of params"),
                ..self.with_operands(self.plan.slice_len(), held_bytes)
            };
            whole = match (whole, sample.found(runner)) {
                (Ok(whole), Ok(found)) => {
                    Ok(whole.iter().zip(&found).map(|(a, b)| a | b).collect())
                }
                // A bad row is bad for every shard.
                (_, error) => error,
            };
        }
        self.compare(&whole, runner);
    }

    /// The oracle's mask of bad rows, as bytes.
    pub fn mask(&self) -> Vec<u8> {
        self.case.out_of_range().into_iter().map(u8::from).collect()
    }

    /// Compares the plan's mask on the CPU, and that of a plan for no params rows, with the oracle's.
    #[track_caller]
    pub fn check_mask(&self) {
        let expected = self.case.out_of_range();
        for plan in [&self.plan, &self.plan.shard(0..0).expect("rows of params")] {
            let found =
                of_index_type!(self.index_kind, I => plan.out_of_range(&self.indices_as::<I>()));
            assert_eq!(found.as_ref(), Ok(&expected), "{self}");
            assert_eq!(plan.index_row_count(), expected.len(), "{self}");
        }
    }

    #[track_caller]
    fn compare<V: Runner>(&self, found: &Result<Vec<u8>, String>, runner: &V) {
        let expected = self.expected(runner);
        assert!(
            *found == expected,
            "{self}\ngives {found:?}\n not  {expected:?}"
        );
    }

    fn found<V: Runner>(&self, runner: &V) -> Result<Vec<u8>, String> {
        if let Some(encoding) = self.encoding {
            return match self.to {
                FloatKind::F16 => self.run_decoded::<f16, _>(runner, encoding),
                FloatKind::Bf16 => self.run_decoded::<bf16, _>(runner, encoding),
                _ => self.run_decoded::<f32, _>(runner, encoding),
            };
        }
        match self.element_bytes {
            1 => self.run::<[u8; 1], _>(runner),
            2 => self.run::<[u8; 2], _>(runner),
            3 => self.run::<[u8; 3], _>(runner),
            4 => self.run::<[u8; 4], _>(runner),
            6 => self.run::<[u8; 6], _>(runner),
            8 => self.run::<[u8; 8], _>(runner),
            12 => self.run::<[u8; 12], _>(runner),
            16 => self.run::<[u8; 16], _>(runner),
            32 => self.run::<[u8; 32], _>(runner),
            other => panic!("{other} is not one of WIDTHS"),
        }
    }

    fn expected<V: Runner>(&self, _runner: &V) -> Result<Vec<u8>, String> {
        let policy = match self.plan.bad_indices() {
            BadIndices::DeviceDefault => V::DEVICE_DEFAULT,
            named => named,
        };
        match &self.bad_index {
            Some(text) if policy == BadIndices::Error => Err(text.clone()),
            _ => Ok(self.output.clone()),
        }
    }

    fn run<T: Element + Pod, V: Runner>(&self, runner: &V) -> Result<Vec<u8>, String> {
        let params: Vec<T> = bytemuck::pod_collect_to_vec(&self.params);
        let result = of_index_type!(self.index_kind, I => {
            runner.gather(&self.plan, &params, &self.indices_as::<I>())
        });
        result
            .map(|output| bytes_of(&output).to_vec())
            .map_err(|error| error.to_string())
    }

    fn run_decoded<T: Element + Float, V: Runner>(
        &self,
        runner: &V,
        encoding: Encoding,
    ) -> Result<Vec<u8>, String> {
        let params = self.encoded(encoding).to::<T>();
        let result = of_index_type!(self.index_kind, I => {
            runner.gather_decoded(&self.plan, &params, &self.indices_as::<I>())
        });
        result
            .map(|output| bytes_of(&output).to_vec())
            .map_err(|error| error.to_string())
    }

    fn indices_as<I: Pod>(&self) -> Vec<I> {
        bytemuck::pod_collect_to_vec(&self.indices)
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {:?}, {:?}, fill {:?}",
            self.case,
            self.types(),
            self.plan.bad_indices(),
            self.fill
        )
    }
}
