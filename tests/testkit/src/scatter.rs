//! Scatters by their definition, element by element.

use std::fmt::Debug;

use gather_oracle::float_sum;
use half::{bf16, f16};
use serde_json::Value;
use wgpu_gather::{
    BadIndices, FloatKind, GatherPlan, Index, IndexKind, NegativeIndices, PlanError, Reduce,
    RunError, With,
};

use crate::encoded::rounded;
use crate::indices::Hash;
use crate::of_index_type;
use crate::oracle::{Answer, Case, Op};
use crate::samples::Sample;

/// How many updates of an element a float sum adds one by one.
const SUM_UPDATES: usize = 1024;

/// A number, with reductions as the library's docs word them.
pub trait Number: wgpu_gather::Number + bytemuck::Pod + Debug + Default + PartialEq {
    const HAS_SUMS: bool;

    fn reduced(self, reduce: Reduce, update: Self) -> Self;

    /// The element after all its updates, which an assign has none of.
    fn after(self, reduce: Reduce, updates: &[Self]) -> Self {
        let add = |a: Self, b| a.reduced(Reduce::Add, b);
        match reduce {
            Reduce::Add if Self::HAS_SUMS => float_sum(self, updates, SUM_UPDATES, add),
            _ => updates.iter().fold(self, |a, &b| a.reduced(reduce, b)),
        }
    }

    /// One of many different numbers, some of them special.
    fn of(place: usize) -> Self;

    fn bits(self) -> u64;

    #[expect(clippy::eq_op, reason = "a NaN differs from itself")]
    fn is_nan(self) -> bool {
        self != self
    }
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl Number for $integer {
            const HAS_SUMS: bool = false;

            fn reduced(self, reduce: Reduce, update: Self) -> Self {
                let (a, b) = (i128::from(self), i128::from(update));
                let exact = match reduce {
                    Reduce::Add => a + b,
                    // A product's low bits need no high bits of its factors.
                    Reduce::Mul => (a & i128::from(u64::MAX)).wrapping_mul(b & i128::from(u64::MAX)),
                    Reduce::Min => a.min(b),
                    Reduce::Max => a.max(b),
                    other => panic!("no {other} here"),
                };
                let bytes = exact.to_le_bytes();
                Self::from_le_bytes(bytes[..size_of::<Self>()].try_into().expect("fewer bytes"))
            }

            fn of(place: usize) -> Self {
                let bytes = (place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
                Self::from_le_bytes(bytes[..size_of::<Self>()].try_into().expect("fewer bytes"))
            }

            fn bits(self) -> u64 {
                let mut bytes = [0; 8];
                bytes[..size_of::<Self>()].copy_from_slice(&self.to_le_bytes());
                u64::from_le_bytes(bytes)
            }
        }
    )*};
}
integers! { i8 u8 i16 u16 i32 u32 i64 u64 }

macro_rules! floats {
    ($($float:ident: $nan:literal;)*) => {$(
        impl Number for $float {
            const HAS_SUMS: bool = true;

            fn reduced(self, reduce: Reduce, update: Self) -> Self {
                let nan = Self::from_bits($nan);
                if self.is_nan() || update.is_nan() {
                    return nan;
                }
                let value = match reduce {
                    Reduce::Add => self + update,
                    Reduce::Mul => self * update,
                    // -0 is below 0 in the total order.
                    Reduce::Min => if self.total_cmp(&update).is_lt() { self } else { update },
                    Reduce::Max => if self.total_cmp(&update).is_gt() { self } else { update },
                    other => panic!("no {other} here"),
                };
                if value.is_nan() { nan } else { value }
            }

            fn of(place: usize) -> Self {
                match place % 29 {
                    3 => 0.0,
                    7 => -0.0,
                    11 if place % 5 == 0 => $float::INFINITY,
                    13 if place % 7 == 0 => $float::NEG_INFINITY,
                    17 if place % 11 == 0 => -Self::from_bits($nan + 77),
                    19 => $float::MIN_POSITIVE / 8.0,
                    _ => {
                        let number = i16::from_le_bytes(u64::of(place).to_le_bytes()[..2].try_into().expect("two bytes"));
                        $float::from(number) * 1.1 / $float::from(1_i16 + i16::of(place).rem_euclid(7))
                    }
                }
            }

            fn bits(self) -> u64 {
                self.to_bits().into()
            }
        }
    )*};
}
floats! {
    f32: 0x7fc0_0000;
    f64: 0x7ff8_0000_0000_0000;
}

macro_rules! halves {
    ($($half:ident: $to:ident;)*) => {$(
        impl Number for $half {
            const HAS_SUMS: bool = true;

            fn reduced(self, reduce: Reduce, update: Self) -> Self {
                let value = f32::from(self).reduced(reduce, f32::from(update));
                let bytes = rounded(value, FloatKind::$to);
                Self::from_le_bytes(bytes.try_into().expect("two bytes"))
            }

            /// The result of `f32`s, rounded once.
            fn after(self, reduce: Reduce, updates: &[Self]) -> Self {
                if updates.is_empty() {
                    return self;
                }
                let updates: Vec<f32> = updates.iter().copied().map(f32::from).collect();
                let bytes = rounded(f32::from(self).after(reduce, &updates), FloatKind::$to);
                Self::from_le_bytes(bytes.try_into().expect("two bytes"))
            }

            fn of(place: usize) -> Self {
                Self::from_f32(f32::of(place))
            }

            fn bits(self) -> u64 {
                self.to_bits().into()
            }
        }
    )*};
}
halves! {
    f16: F16;
    bf16: Bf16;
}

/// Reduces by `reduce`, or assigns if that is `None`. `update` returns each output element's update.
pub fn scatter<T: Number>(
    answer: &Answer,
    reduce: Option<Reduce>,
    update: impl Fn(usize) -> T,
    target: &mut [T],
) {
    let mut updates = vec![Vec::new(); target.len()];
    for (at, place) in answer.elements.iter().enumerate() {
        if let Some(place) = *place {
            updates[place].push(update(at));
        }
    }
    for (element, updates) in target.iter_mut().zip(updates) {
        *element = match reduce {
            None => updates.last().copied().unwrap_or(*element),
            Some(reduce) => element.after(reduce, &updates),
        };
    }
}

impl Case {
    /// True if a scatter through the plan has no meaning: broadcasting stretches params. The
    /// shapes must be valid.
    pub fn has_no_scatter(&self) -> bool {
        let output = self.output_shape().expect("valid shapes");
        let Op::GatherElements { .. } = self.op else {
            return false;
        };
        let axis = self.op.axis(&self.params_shape).expect("a valid axis");
        let is_stretched = |k: usize| k != axis && self.params_shape[k] < output[k];
        (0..output.len()).any(is_stretched)
    }
}

/// What a scatter is told: it reduces by `reduce`, or assigns if that is `None`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Told {
    pub reduce: Option<Reduce>,
    pub unique: bool,
    pub one_update: bool,
}

impl Told {
    /// The plan with these options.
    pub fn with(self, plan: &GatherPlan) -> With<'_, Reduce> {
        let mut with = With::from(plan);
        if self.unique {
            with = with.unique();
        }
        if self.one_update {
            with = with.one_update();
        }
        with
    }
}

/// Scatters by the library.
pub fn run<T: Number, I: Index>(
    plan: &GatherPlan,
    told: Told,
    updates: &[T],
    indices: &[I],
    target: &mut [T],
) -> Result<(), RunError> {
    let with = told.with(plan);
    match told.reduce {
        None => with.scatter(updates, indices, target),
        Some(reduce) => with.scatter_reduce(reduce, updates, indices, target),
    }
}

/// The numbers from `first` on.
pub fn numbers<T: Number>(first: usize, count: usize) -> Vec<T> {
    (first..first + count).map(T::of).collect()
}

#[track_caller]
fn assert_equal<T: Number>(found: &[T], expected: &[T], of: impl std::fmt::Display) {
    let differs = found
        .iter()
        .zip(expected)
        .position(|(a, b)| a.bits() != b.bits());
    assert!(
        found.len() == expected.len() && differs.is_none(),
        "{of}: element {differs:?} of {found:?}\n not {expected:?}"
    );
}

/// Scatters through a sample's plan, and compares with the definition: with `gaps` after the slices of target and updates,
/// with one update for all index rows if `one_update`, with the promise of unique rows where it is kept, and in three
/// shards.
pub fn check<T: Number>(
    sample: &Sample,
    answer: &Answer,
    reduce: Option<Reduce>,
    gaps: [usize; 2],
    one_update: bool,
) {
    of_index_type!(sample.index_kind, I => {
        let indices: Vec<I> = bytemuck::pod_collect_to_vec(&sample.indices);
        let slice_len = sample.plan.slice_len();
        let strides = gaps.map(|gap| slice_len + gap);
        let plan = sample.plan.with_params_stride(strides[0]).unwrap();
        let plan = plan.with_output_stride(strides[1]).unwrap();
        let told = Told { reduce, one_update, unique: false };
        let in_gaps = |at: usize, stride: usize| at / slice_len * stride + at % slice_len;
        let updates: Vec<T> = numbers(1000, if one_update { slice_len } else { plan.output_len() });
        let update = |at: usize| match one_update {
            true => updates[at % slice_len],
            false => updates[in_gaps(at, strides[1])],
        };
        let old: Vec<T> = numbers(0, plan.params_len());
        let dense: usize = sample.case.params_shape.iter().product();
        let mut expected: Vec<T> = (0..dense).map(|at| old[in_gaps(at, strides[0])]).collect();
        let mut target = old.clone();
        let found = run(&plan, told, &updates, &indices, &mut target);
        if sample.case.has_no_scatter() {
            assert!(matches!(found, Err(RunError::Plan(PlanError::StretchedTarget { .. }))), "{sample}: {found:?}");
            return assert_equal(&target, &old, sample);
        }
        let is_error = matches!(sample.plan.bad_indices(), BadIndices::DeviceDefault | BadIndices::Error);
        if let Some(text) = sample.bad_index.as_ref().filter(|_| is_error) {
            let text = text.replace("param shape", "shape");
            assert_eq!(found.map_err(|error| error.to_string()), Err(text), "{sample}");
            return assert_equal(&target, &old, sample);
        }
        assert_eq!(found, Ok(()), "{sample}");
        scatter(answer, reduce, update, &mut expected);
        let mut whole = old;
        for (at, &value) in expected.iter().enumerate() {
            whole[in_gaps(at, strides[0])] = value;
        }
        assert_equal(&target, &whole, format!("{sample} {reduce:?} {gaps:?}"));

        // The promise changes nothing where it is kept.
        let mut places: Vec<_> = answer.elements.iter().flatten().collect();
        places.sort_unstable();
        if places.is_sorted_by(|a, b| a < b) {
            let mut target: Vec<T> = numbers(0, target.len());
            run(&plan, Told { unique: true, ..told }, &updates, &indices, &mut target).unwrap();
            assert_equal(&target, &whole, sample);
        }

        check_shards(&plan, sample, told, &updates, &indices, &whole, strides[0]);
    });
}

/// Three target shards: each gets its own rows, and another shard's row is not bad.
fn check_shards<T: Number, I: Index>(
    plan: &GatherPlan,
    sample: &Sample,
    told: Told,
    updates: &[T],
    indices: &[I],
    whole: &[T],
    stride: usize,
) {
    let rows = plan.row_count();
    let mut hash = Hash::of(&sample.case);
    let (a, b) = (hash.below(rows + 1), hash.below(rows + 1));
    let blocks = match rows * plan.slice_len() {
        0 => return,
        block => sample.case.params_shape.iter().product::<usize>() / block,
    };
    let old: Vec<T> = numbers(0, blocks * rows * stride);
    let mut all = whole.to_vec();
    all.resize(old.len(), T::default());
    for held in [0..a.min(b), a.min(b)..a.max(b), a.max(b)..rows] {
        let of = |elements: &[T]| -> Vec<T> {
            let blocks = (0..blocks).flat_map(|block| {
                elements[(block * rows + held.start) * stride..(block * rows + held.end) * stride]
                    .to_vec()
            });
            blocks.collect()
        };
        let shard = plan.shard(held.start..held.end).unwrap();
        let mut target = of(&old);
        run(&shard, told, updates, indices, &mut target).unwrap();
        let len = shard.params_len();
        assert_equal(
            &target[..len],
            &of(&all)[..len],
            format!("{sample}, rows {held:?}"),
        );
    }
}

/// A scatter with its recorded result.
struct Recorded {
    name: String,
    case: Case,
    policy: BadIndices,
    index_kind: IndexKind,
    reduce: Option<Reduce>,
    dtype: String,
    /// An element that is first assigned to the same indices; empty if there is none.
    neutral: Vec<u8>,
    target: Vec<u8>,
    updates: Vec<u8>,
    /// The target's bytes, or the first bad row's number.
    expect: Result<Vec<u8>, usize>,
}

/// An implementation of scatters.
pub trait Scatters {
    /// Scatters; `None` if the implementation has no such scatter.
    fn run<T: Number, I: Index>(
        &self,
        plan: &GatherPlan,
        told: Told,
        updates: &[T],
        indices: &[I],
        target: &mut [T],
    ) -> Option<Result<(), RunError>>;
}

/// Runs the scatters in a tests/data file, compares with what is recorded, and returns how many the implementation has.
pub fn check_recorded(file: &str, scatters: &impl Scatters) -> usize {
    let mut count = 0;
    for of in recorded(file) {
        count += usize::from(match &of.dtype[..] {
            "i8" => of.check::<i8>(scatters),
            "u8" => of.check::<u8>(scatters),
            "i16" => of.check::<i16>(scatters),
            "u16" => of.check::<u16>(scatters),
            "i32" => of.check::<i32>(scatters),
            "u32" => of.check::<u32>(scatters),
            "i64" => of.check::<i64>(scatters),
            "u64" => of.check::<u64>(scatters),
            "f32" => of.check::<f32>(scatters),
            "f64" => of.check::<f64>(scatters),
            other => panic!("{other}"),
        });
    }
    count
}

/// The scatters in a tests/data file.
fn recorded(file: &str) -> Vec<Recorded> {
    let text = std::fs::read_to_string(crate::data::file(file)).unwrap();
    text.lines()
        .map(|line| Recorded::parse(&serde_json::from_str(line).unwrap()))
        .collect()
}

impl Recorded {
    /// All NaNs are equal. After a minimum or a maximum, so are both zeros: libraries differ in these. False if the
    /// implementation has no such scatter.
    fn check<T: Number>(&self, scatters: &impl Scatters) -> bool {
        let plan = self.case.plan(self.policy).unwrap();
        let mut target: Vec<T> = bytemuck::pod_collect_to_vec(&self.target);
        let updates: Vec<T> = bytemuck::pod_collect_to_vec(&self.updates);
        let found = of_index_type!(self.index_kind, I => {
            let indices = self.case.indices.iter();
            let indices: Vec<I> = indices.map(|&index| I::try_from(index).unwrap()).collect();
            if !self.neutral.is_empty() {
                let neutral: Vec<T> = bytemuck::pod_collect_to_vec(&self.neutral);
                let first = Told { one_update: true, ..Told::default() };
                let assigned = scatters.run(&plan, first, &neutral, &indices, &mut target);
                assigned.expect("every implementation assigns").unwrap();
            }
            let one_update = plan.output_len() > plan.slice_len() && updates.len() == plan.slice_len();
            let told = Told { reduce: self.reduce, one_update, unique: false };
            scatters.run(&plan, told, &updates, &indices, &mut target)
        });
        match (&self.expect, found) {
            (_, None) => return false,
            (Err(row), Some(Err(RunError::BadIndex(bad)))) => {
                assert_eq!(bad.row, *row, "{}", self.name);
            }
            (Ok(expect), Some(Ok(()))) => {
                let expect: Vec<T> = bytemuck::pod_collect_to_vec(expect);
                assert_eq!(target.len(), expect.len(), "{}", self.name);
                let is_min_or_max = matches!(self.reduce, Some(Reduce::Min | Reduce::Max));
                for (found, expected) in target.iter().zip(&expect) {
                    let same = found.bits() == expected.bits()
                        || T::HAS_SUMS && found.is_nan() && expected.is_nan()
                        || is_min_or_max && found == expected;
                    assert!(same, "{}: {target:?}, not {expect:?}", self.name);
                }
            }
            (expect, found) => panic!("{}: {found:?}, not {expect:?}", self.name),
        }
        true
    }

    fn parse(line: &Value) -> Self {
        let text = |name: &str| line[name].as_str().unwrap_or_default();
        let list = |name: &str| {
            line[name]
                .as_array()
                .unwrap_or_else(|| panic!("no {name} in {line}"))
        };
        let shape = |name| {
            list(name)
                .iter()
                .map(|dim| usize::try_from(dim.as_u64().unwrap()).unwrap())
                .collect()
        };
        let hex = |text: &str| -> Vec<u8> {
            let digits = text.as_bytes().chunks_exact(2);
            digits
                .map(|digits| u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap())
                .collect()
        };
        let (axis, batch_dims) = (line["axis"].as_i64(), line["batch_dims"].as_i64().unwrap());
        let broadcast = line["broadcast"].as_bool().unwrap_or(false);
        let op = match text("op") {
            "gather" => Op::Gather { axis, batch_dims },
            "gather_nd" => Op::GatherNd { axis, batch_dims },
            "gather_elements" => Op::GatherElements {
                axis: axis.unwrap(),
                broadcast,
            },
            other => panic!("{other:?} in {line}"),
        };
        let named = |name: &str| text(name).replace('_', "-");
        Self {
            name: format!("{}{} {line}", text("call"), text("source")),
            case: Case {
                op,
                params_shape: shape("target_shape"),
                indices_shape: shape("indices_shape"),
                indices: list("indices")
                    .iter()
                    .map(|index| index.to_string().parse().unwrap())
                    .collect(),
                from_end: named("negative").parse() == Ok(NegativeIndices::FromEnd),
            },
            policy: named("policy").parse().unwrap(),
            index_kind: text("index_dtype").parse().unwrap(),
            reduce: match text("update") {
                "assign" => None,
                reduce => Some(reduce.parse().unwrap()),
            },
            dtype: text("dtype").to_owned(),
            neutral: hex(text("neutral")),
            target: hex(text("target")),
            updates: hex(text("updates")),
            expect: match line["expect"].as_str() {
                None => Err(line["bad_row"].as_u64().unwrap().try_into().unwrap()),
                Some(bytes) => Ok(hex(bytes)),
            },
        }
    }
}
