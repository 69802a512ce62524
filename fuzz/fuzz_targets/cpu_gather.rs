//! CPU gathers of small shapes, with indices in range and hostile ones, for every policy. They give the oracle's bytes,
//! or its bad row and text, from whole params and from shards. Scatters through their plans give the definition's numbers. Slices of a wrong length are refused. Shapes with large
//! params or output but few indices are gathered with elements of no bytes, which take neither time nor memory.

#![no_main]
#![allow(clippy::unwrap_used, reason = "a target fails by panicking")]

mod shapes;

use arbitrary::{Arbitrary, Result, Unstructured};
use bytemuck::Pod;
use libfuzzer_sys::{Corpus, fuzz_target};
use shapes::any_case;
use testkit::indices::{Hash, holds, values_around};
use testkit::of_index_type;
use testkit::oracle::Case;
use testkit::samples::{Cpu, Element, POLICIES, Runner, Sample, WIDTHS, index_bytes};
use testkit::scatter;
use wgpu_gather::{
    BadIndices, Encoded, Float, GatherPlan, Index, IndexKind, Operand, Reduce, RunError,
};

/// The most elements of an operand: threads share a gather of as many of the widest elements.
const MAX_ELEMENTS: usize = 8192;
/// The most dims of params, and of indices beside the dims that it shares with params.
const MAX_RANK: usize = 5;

#[derive(Debug)]
struct Input {
    case: Case,
    index_kind: IndexKind,
    element_bytes: usize,
    /// Lengths of slices, independent of the shapes.
    lengths: [u8; 3],
    /// The seed for the shards of params.
    cuts: u64,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let mut input = Self {
            index_kind: *u.choose(IndexKind::ALL)?,
            element_bytes: *u.choose(&WIDTHS)?,
            lengths: u.arbitrary()?,
            cuts: u.arbitrary()?,
            case: any_case(u, MAX_RANK, any_dim)?,
        };
        if input.has_few_indices() {
            input.fill(u)?;
        }
        Ok(input)
    }
}

/// True if bad rows are no error under this policy.
fn is_lenient(policy: BadIndices) -> bool {
    !matches!(policy, BadIndices::DeviceDefault | BadIndices::Error)
}

/// Mostly a small dim, else one with work for several threads.
fn any_dim(u: &mut Unstructured) -> Result<usize> {
    match u.int_in_range(0..=15)? {
        0..=13 => u.int_in_range(0..=4),
        14 => u.int_in_range(0..=64),
        _ => u.int_in_range(0..=MAX_ELEMENTS),
    }
}

impl Input {
    /// True if the shapes make a plan with few indices. Params and output may be large.
    fn has_few_indices(&self) -> bool {
        self.case.output_shape().is_ok() && is_small(&self.case.indices_shape)
    }

    /// True if no operand is large. The shapes must make a plan.
    fn is_small(&self) -> bool {
        let (params, indices) = (&self.case.params_shape, &self.case.indices_shape);
        let output = self.case.output_shape().unwrap();
        [params, indices, &output]
            .into_iter()
            .all(|shape| is_small(shape))
    }

    /// Chooses index values that the index kind can hold. The shapes must be valid.
    fn fill(&mut self, u: &mut Unstructured) -> Result<()> {
        let (params, indices) = (&self.case.params_shape, &self.case.indices_shape);
        let dims = self.case.op.indexed_dims(params, indices);
        let (kind, from_end) = (self.index_kind, self.case.from_end);
        let hostile = u.arbitrary()?;
        self.case.indices = (0..indices.iter().product())
            .map(|place| {
                let dim = dims[place % dims.len()];
                if dim > 0 && !(hostile && u.ratio(1, 4)?) {
                    let value = u.int_in_range(0..=dim - 1)? as i128;
                    let from_end = from_end && u.arbitrary()?;
                    let value = if from_end { value - dim as i128 } else { value };
                    return if holds(kind, value) {
                        Ok(value)
                    } else {
                        any_of(kind, u)
                    };
                }
                if u.arbitrary()? {
                    return any_of(kind, u);
                }
                let mut values = values_around(dim);
                values.retain(|&value| holds(kind, value));
                u.choose(&values).copied()
            })
            .collect::<Result<_>>()?;
        Ok(())
    }
}

fn is_small(shape: &[usize]) -> bool {
    shape.contains(&0) || shape.iter().product::<usize>() <= MAX_ELEMENTS
}

fn any_of(kind: IndexKind, u: &mut Unstructured) -> Result<i128> {
    Ok(of_index_type!(kind, I => u.arbitrary::<I>()?.into()))
}

/// The CPU, with a check of its errors: the row number and the values that an error gives must be those at the position
/// that it names.
struct NamingRow<'a>(&'a Case);

impl NamingRow<'_> {
    fn checked<T>(
        &self,
        result: std::result::Result<Vec<T>, RunError>,
    ) -> std::result::Result<Vec<T>, RunError> {
        if let Err(RunError::BadIndex(bad)) = &result {
            let case = self.0;
            let position = bad.position.iter().zip(&case.indices_shape);
            let row = position.fold(0, |row, (at, dim)| row * dim + at);
            assert_eq!(bad.row, row, "{case}");
            let dims = case
                .op
                .indexed_dims(&case.params_shape, &case.indices_shape);
            let index_depth = dims.len();
            let index = &case.indices[row * index_depth..][..index_depth];
            assert_eq!(bad.index, index, "{case}");
        }
        result
    }
}

impl Runner for NamingRow<'_> {
    const DEVICE_DEFAULT: BadIndices = Cpu::DEVICE_DEFAULT;

    fn gather<T: Element, I: Index>(
        &self,
        plan: &GatherPlan,
        params: &[T],
        indices: &[I],
    ) -> std::result::Result<Vec<T>, RunError> {
        self.checked(Cpu.gather(plan, params, indices))
    }

    fn gather_decoded<T: Element + Float, I: Index>(
        &self,
        plan: &GatherPlan,
        params: &Encoded<&[u8], T>,
        indices: &[I],
    ) -> std::result::Result<Vec<T>, RunError> {
        self.checked(Cpu.gather_decoded(plan, params, indices))
    }
}

fuzz_target!(|input: Input| -> Corpus {
    let case = &input.case;
    if !case.check_plan() || !input.has_few_indices() {
        return Corpus::Reject;
    }
    of_index_type!(input.index_kind, I => check_without_bytes::<I>(case, input.index_kind));
    if !input.is_small() {
        return Corpus::Keep;
    }
    for sample in case.samples(&[input.element_bytes], &[input.index_kind], POLICIES) {
        sample.check(&NamingRow(case));
        let [params_gap, output_gap, _] = input.lengths.map(|len| usize::from(len) % 4);
        sample
            .with_gaps([params_gap, output_gap])
            .check(&NamingRow(case));
        sample.check_shards(&NamingRow(case), &mut Hash::new(input.cuts));
        check_lengths(&sample.plan, input.lengths.map(usize::from));
        check_scatter(&sample, input.lengths);
    }
    Corpus::Keep
});

/// A scatter through the plan of a sample gives the result of the definition.
fn check_scatter(sample: &Sample, [number, gaps, one_update]: [u8; 3]) {
    let case = &sample.case;
    let answer = match case.replaced_by(sample.plan.bad_indices()) {
        Some(replaced) => replaced.answer(),
        None => case.answer(),
    };
    let updates = [None]
        .into_iter()
        .chain(Reduce::ALL.iter().copied().map(Some));
    let reduce = updates.cycle().nth(number.into()).unwrap();
    let gaps = [usize::from(gaps % 4), usize::from(gaps / 4 % 4)];
    let one_update = one_update % 4 == 0;
    match number / 5 % 4 {
        0 => scatter::check::<f32>(sample, &answer, reduce, gaps, one_update),
        1 => scatter::check::<u8>(sample, &answer, reduce, gaps, one_update),
        2 => scatter::check::<f64>(sample, &answer, reduce, gaps, one_update),
        _ => scatter::check::<i16>(sample, &answer, reduce, gaps, one_update),
    }
}

/// A gather of elements without bytes gives as many as the output has, or names the first bad row.
fn check_without_bytes<I: Index + Pod>(case: &Case, kind: IndexKind) {
    let indices: Vec<I> = bytemuck::pod_collect_to_vec(&index_bytes(kind, &case.indices));
    // Index rows without values are never bad, and may be more than memory has room for.
    let first_bad = match indices.is_empty() {
        true => None,
        false => case.out_of_range().into_iter().position(|is_bad| is_bad),
    };
    let bad_index = first_bad.map(|row| case.bad_index_text(row));
    for &policy in POLICIES {
        let plan = case.plan(policy).unwrap();
        let output_len: usize = plan.output_shape().iter().product();
        let expected = match &bad_index {
            Some(text) if output_len > 0 && !is_lenient(policy) => Err(text.clone()),
            _ => Ok(output_len),
        };
        for plan in [&plan.shard(0..0).unwrap(), &plan] {
            let params = [()].repeat(plan.params_len());
            let found = plan.gather(&params, &indices).map(|output| output.len());
            assert_eq!(found.map_err(|error| error.to_string()), expected, "{case}");
            let into = plan.gather_into(&params, &indices, &mut [()].repeat(output_len));
            let into = into.map(|()| output_len).map_err(|error| error.to_string());
            assert_eq!(into, expected, "{case}");
        }
        // If params has no rows, every index row is bad, and the error comes before any allocation.
        if plan.row_count() == 0 && expected.is_err() {
            let error = plan
                .gather::<u64, _>(&[], &indices)
                .unwrap_err()
                .to_string();
            assert_eq!(Err(error), expected, "{case}");
        }
    }
}

/// Gathers with slices of any lengths. The error names the first operand of a wrong length, before any index is read.
fn check_lengths(plan: &GatherPlan, [params, indices, output]: [usize; 3]) {
    let expected = [
        (Operand::Params, plan.params_len(), params),
        (Operand::Indices, plan.indices_len(), indices),
        (Operand::Output, plan.output_len(), output),
    ];
    let wrong = expected
        .into_iter()
        .find(|&(_, expected, found)| found != expected);
    let Some((operand, expected, found)) = wrong else {
        return;
    };
    let expected = expected as u64;
    let error = RunError::Length {
        operand,
        expected: expected..=expected,
        found,
    };
    let (params, indices) = (vec![1_u8; params], vec![0_u64; indices]);
    let into = plan.gather_into(&params, &indices, &mut vec![0; output]);
    assert_eq!(into, Err(error.clone()), "{plan}");
    if operand != Operand::Output {
        assert_eq!(plan.gather(&params, &indices), Err(error), "{plan}");
    }
}
