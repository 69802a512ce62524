//! Runs scatters in the interpreter, and compares the target with the definition: each store must be in a selected row.

use std::collections::HashMap;

use super::edge_values::{WIDE, index_rows, policies};
use super::lanes::{Case, Run, byte_of, index_of, mixed, update_word, word_before};
use super::oracle::{Slice, Values, slice_of};
use crate::bad_indices::{BadIndices, NegativeIndices};
use crate::element::ElementTypes;
use crate::gpu::kernel::{Kernel, Unit};
use crate::gpu::shaders::EntryPoint;
use crate::gpu::update::Update;
use crate::index::IndexKind;
use crate::plan::{GatherPlan, ScatterRules};
use crate::reduce::{NumberKind, Reduce};
use crate::{Gather, GatherElements, GatherNd};
use gather_oracle::{float_sum, sweep};

/// A scatter through `plan`.
fn scatter<'a>(
    plan: GatherPlan,
    types: ElementTypes,
    update: Update,
    index: Values<'a>,
) -> Case<'a> {
    let mut case = Case::new(plan, types, index);
    case.update = Some(update);
    case.limits.max_buffer_size = 1 << 40;
    case
}

impl Case<'_> {
    /// The target words that the definition writes, numbered from the last aligned offset, and the number of bad index rows.
    fn scattered(&self) -> (HashMap<u64, u32>, usize) {
        let (dims, width) = (self.plan.dims(), self.types.element_bytes);
        let mut words: HashMap<u64, u32> = HashMap::new();
        let mut bad = std::collections::BTreeSet::new();
        // The updates of each word, if these are summed.
        let mut updates: HashMap<u64, Vec<u32>> = HashMap::new();
        // The updates of each half, if these are reduced, by the half's first byte.
        let mut halves: HashMap<u64, Vec<u16>> = HashMap::new();
        let byte_before = |words: &HashMap<u64, u32>, at: u64| {
            let word = words.get(&(at / 4)).copied();
            word.unwrap_or_else(|| word_before(at / 4))
        };
        for output_row in (0..dims.output_rows()).filter(|&row| self.is_counted(row)) {
            let (index_row, slice) = slice_of(&self.plan, self.index, output_row);
            let row = match slice {
                Slice::Row(row) => row,
                Slice::Bad => {
                    bad.insert(index_row);
                    continue;
                }
                Slice::Absent => continue,
            };
            let first = self.starts[0] + row * dims.params_stride * width;
            let update_at = self.starts[2] + output_row * dims.output_stride * width;
            let update = update_at;
            let bytes = dims.slice_len * width;
            match self.update.expect("a scatter") {
                Update::Fold(Reduce::Add, NumberKind::F32) => {
                    for word in 0..bytes / 4 {
                        let new = update_word(update / 4 + word);
                        updates.entry(first / 4 + word).or_default().push(new);
                    }
                }
                update if update.is_of_halves() => {
                    for half in 0..bytes / 2 {
                        let from = update_at + 2 * half;
                        let new = half_of(update_word(from / 4), from);
                        halves.entry(first + 2 * half).or_default().push(new);
                    }
                }
                Update::Reduce(reduce, of)
                | Update::Atomic(reduce, of)
                | Update::Fold(reduce, of) => {
                    for word in 0..bytes / 4 {
                        let at = first / 4 + word;
                        let (a, b) = (byte_before(&words, at * 4), update_word(update / 4 + word));
                        words.insert(at, reduced(reduce, of, a, b));
                    }
                }
                _ => {
                    for byte in 0..bytes {
                        let at = first + byte;
                        let mut word = byte_before(&words, at).to_le_bytes();
                        let from = update + byte;
                        word[index_of(at % 4)] = byte_of(update_word(from / 4), from);
                        words.insert(at / 4, u32::from_le_bytes(word));
                    }
                }
            }
        }
        let add = |a, b| reduced(Reduce::Add, NumberKind::F32, a, b);
        for (at, updates) in updates {
            let before = byte_before(&words, at * 4);
            words.insert(at, float_sum(before, &updates, self.steps.0 as usize, add));
        }
        if let Some(Update::Fold(reduce, of)) = self.update {
            for (at, updates) in halves {
                let before = byte_before(&words, at);
                let half = reduced_halves(
                    reduce,
                    of,
                    half_of(before, at),
                    &updates,
                    self.steps.0 as usize,
                );
                let mask = 0xffff << (at % 4 * 8);
                let word = before & !mask | u32::from(half) << (at % 4 * 8);
                words.insert(at / 4, word);
            }
        }
        (words, bad.len())
    }

    /// Runs the scatter, and compares the target and the number of bad rows with the definition. Returns the kernels that ran.
    fn check_scatter(&self) -> Vec<Kernel> {
        let mut run = Run::new(self, true);
        run.all();
        let (expected, bad) = self.scattered();
        let plan = &self.plan;
        assert_eq!(run.report[0] as usize, bad, "bad rows of {plan}");
        for ((_, word), &found) in &run.written {
            assert!(
                expected.contains_key(word),
                "{plan}: word {word} is of no row"
            );
            assert_eq!(
                found, expected[word],
                "{plan}: word {word}, {:?}",
                self.types
            );
        }
        assert_eq!(run.written.len(), expected.len(), "{plan}: words written");
        kernels(&run)
    }
}

/// The kernels that updated rows.
fn kernels(run: &Run<'_>) -> Vec<Kernel> {
    let kernels = run.entry_points.iter().filter_map(|of| match *of {
        EntryPoint::Scatter { kernel, .. } => Some(kernel),
        _ => None,
    });
    kernels.collect()
}

fn half_of(word: u32, at: u64) -> u16 {
    u16::from_le_bytes([byte_of(word, at), byte_of(word, at + 1)])
}

/// A half that is reduced by updates: widened, reduced as an `f32`, and rounded once.
fn reduced_halves(
    reduce: Reduce,
    of: NumberKind,
    before: u16,
    updates: &[u16],
    most: usize,
) -> u16 {
    use half::{bf16, f16};
    let is_f16 = of == NumberKind::F16;
    let widened = |bits: u16| match is_f16 {
        true => f16::from_bits(bits).to_f32().to_bits(),
        false => bf16::from_bits(bits).to_f32().to_bits(),
    };
    let updates: Vec<u32> = updates.iter().map(|&bits| widened(bits)).collect();
    let add = |a, b| reduced(reduce, NumberKind::F32, a, b);
    let found = f32::from_bits(float_sum(widened(before), &updates, most, add));
    match (is_f16, found.is_nan()) {
        (true, true) => 0x7e00,
        (false, true) => 0x7fc0,
        (true, false) => f16::from_f32(found).to_bits(),
        (false, false) => bf16::from_f32(found).to_bits(),
    }
}

pub(super) fn reduced(reduce: Reduce, of: NumberKind, a: u32, b: u32) -> u32 {
    let order = |word: u32| match of {
        NumberKind::U32 => i64::from(word),
        NumberKind::I32 => i64::from(word.cast_signed()),
        _ => {
            let bits = word.cast_signed();
            i64::from(if bits < 0 { bits ^ i32::MAX } else { bits })
        }
    };
    let is_nan = |word: u32| of == NumberKind::F32 && f32::from_bits(word).is_nan();
    match reduce {
        _ if is_nan(a) || is_nan(b) => f32::NAN.to_bits(),
        Reduce::Add if of == NumberKind::F32 => {
            let sum = f32::from_bits(a) + f32::from_bits(b);
            if sum.is_nan() { f32::NAN } else { sum }.to_bits()
        }
        Reduce::Add => a.wrapping_add(b),
        Reduce::Mul => a.wrapping_mul(b),
        Reduce::Min => {
            if order(a) <= order(b) {
                a
            } else {
                b
            }
        }
        Reduce::Max => {
            if order(a) >= order(b) {
                a
            } else {
                b
            }
        }
    }
}

/// Updates for elements of this size, to rows that may repeat or, if `is_unique`, do not.
fn updates_of(element_bytes: u64, is_unique: bool) -> Vec<Update> {
    use NumberKind::{Bf16, F16, F32, I32, U32};
    use Reduce::{Add, Max, Min, Mul};
    let mut updates = vec![if is_unique {
        Update::Assign
    } else {
        Update::AssignLast
    }];
    if element_bytes == 2 {
        let halves = [(Add, F16), (Add, Bf16), (Min, F16), (Max, Bf16)];
        updates.extend(halves.map(|(reduce, of)| Update::Fold(reduce, of)));
    }
    if element_bytes == 4 {
        let reductions = [
            (Add, U32),
            (Mul, U32),
            (Min, U32),
            (Max, I32),
            (Min, F32),
            (Max, F32),
            (Add, F32),
        ];
        updates.extend(reductions.map(|(reduce, of)| match is_unique {
            true => Update::Reduce(reduce, of),
            false if of == F32 || reduce == Mul => Update::Fold(reduce, of),
            false => Update::Atomic(reduce, of),
        }));
    }
    updates
}

/// Scatters by edge values of indices into a target with indexed `dims`. Of all combinations of `kinds`, policies and `slices`
/// (elements in a slice, bytes in an element), one in five runs.
fn check_dims(kinds: &[IndexKind], dims: &[usize], slices: &[(usize, u64)]) {
    let policies = || policies().filter(|&(_, fills, _)| !fills);
    let of_kind =
        |&kind| policies().flat_map(move |policy| slices.iter().map(move |of| (kind, policy, of)));
    for (index_kind, policy, slices) in sweep::some(0, 5, 0, kinds.iter().flat_map(of_kind)) {
        let (bad_indices, _, negative_indices) = policy;
        let &(slice_len, element_bytes) = slices;
        let values = index_rows(index_kind, dims);
        let value = |at: u64| values[index_of(at) % values.len()];
        let rows = values.len() / dims.len();
        let gather = GatherNd::new().bad_indices(bad_indices);
        let gather = gather.negative_indices(negative_indices);
        let shape = [dims, &[slice_len]].concat();
        let plan = gather.plan(&shape, &[rows, dims.len()]);
        let plan = plan.expect("a valid shape");
        let types = ElementTypes::new(element_bytes, index_kind);
        for update in updates_of(element_bytes, false) {
            let most = match update {
                Update::AssignLast => (1 << 32) - 1,
                Update::Fold(..) => 1 << 31,
                _ => u64::MAX,
            };
            if plan.dims().params_rows() > most {
                continue;
            }
            scatter(plan.clone(), types, update, &value).check_scatter();
        }
        // Without index rows that select a row again, so that the promise of unique rows holds.
        let mut rows_seen = std::collections::BTreeSet::new();
        let unique: Vec<i128> = (values.chunks(dims.len()).enumerate())
            .flat_map(|(n, index)| {
                let (_, slice) = slice_of(&plan, &value, n as u64);
                let is_new = match slice {
                    Slice::Row(row) => rows_seen.insert(row),
                    _ => true,
                };
                if is_new { index.to_vec() } else { Vec::new() }
            })
            .collect();
        let plan = gather.plan(&shape, &[unique.len() / dims.len(), dims.len()]);
        let value = |at: u64| unique[index_of(at)];
        let plan = plan.expect("a valid shape");
        for update in updates_of(element_bytes, true) {
            scatter(plan.clone(), types, update, &value).check_scatter();
        }
    }
}

const SLICES: [(usize, u64); 7] = [(1, 1), (3, 1), (1, 2), (1, 4), (1, 16), (7, 1), (257, 4)];

#[test]
fn edge_values_scatter_to_the_rows_of_the_oracle() {
    check_dims(&[IndexKind::I32, IndexKind::U64], &[5], &SLICES);
    check_dims(&[IndexKind::I8, IndexKind::U16], &[5], &SLICES[1..4]);
    check_dims(&[IndexKind::U32, IndexKind::I64], &[5, 3], &SLICES[1..4]);
    check_dims(&WIDE[2..], &[3, 2, 2], &SLICES[3..4]);
}

#[test]
fn edge_values_of_dims_near_2_to_the_32_scatter_to_the_rows_of_the_oracle() {
    for dim in [
        1 << 31,
        (1 << 31) + 1,
        (1 << 32) - 1,
        1 << 32,
        (1 << 33) + 7,
    ] {
        check_dims(&[IndexKind::I64, IndexKind::U32], &[dim], &[(1, 1), (1, 4)]);
    }
    check_dims(&[IndexKind::U64], &[1 << 16, 1 << 15], &[(1, 1)]);
}

/// Small bindings cut the target into windows, indices into chunks, and winners into buffers; operands start at any byte.
#[test]
fn cut_scatters_equal_the_definition() {
    let plans = |rows: usize, count: usize, slice_len: usize| {
        let blocks = Gather::new().batch_dims(1).axis(2);
        let blocks = blocks.bad_indices(BadIndices::Fill);
        [
            blocks.plan(&[2, 3, rows, slice_len], &[2, count]),
            Gather::new().plan(&[rows, slice_len], &[count]),
            GatherElements::new().plan(&[rows, 5], &[count / 5 + 1, 5]),
        ]
    };
    let mut kernels = Vec::new();
    for (rows, count, slice_len, width) in [
        (300, 100, 1, 1),
        (90, 150, 3, 1),
        (300, 60, 1, 4),
        // Runs of 20 updates and more.
        (3, 70, 2, 4),
        (3, 70, 3, 2),
        (2, 5, 230, 2),
        (30, 40, 1, 16),
        (3, 4, 1100, 1),
    ] {
        for plan in plans(rows, count, slice_len) {
            let plan = plan.expect("valid shapes");
            let index = |at: u64| i128::from(mixed(at)) % (rows as i128 + 1);
            for update in sweep::some(1, 3, count, updates_of(width, false)) {
                for one_update in [false, true] {
                    let rules = ScatterRules {
                        one_update,
                        ..ScatterRules::default()
                    };
                    let plan = plan.with_rules(rules).of_updates(true).into_owned();
                    let types = ElementTypes::new(width, IndexKind::I32);
                    let start = 1 << width.trailing_zeros().min(2);
                    let scatter = Case {
                        starts: [3 * start, 8, 5 * start],
                        limits: wgpu::Limits {
                            // Pairs and counts are not cut.
                            max_storage_buffer_binding_size: match update {
                                Update::Fold(..) if width == 4 => 4096,
                                _ => 1024,
                            },
                            max_buffer_size: 1 << 17,
                            max_compute_workgroups_per_dimension: 2,
                            ..wgpu::Limits::default()
                        },
                        steps: (3, 2),
                        ..scatter(plan, types, update, &index)
                    };
                    kernels.extend(scatter.check_scatter());
                }
            }
        }
    }
    assert!(kernels.contains(&Kernel::WordParts), "{kernels:?}");
}

/// Rows repeat although the scatter promises unique ones: other rows and other bytes keep their values.
#[test]
fn broken_promises_change_no_other_row() {
    let mut ran = Vec::new();
    let runs = if sweep::takes_every_case() { 3000 } else { 200 };
    for number in 0..runs {
        let [rows, slice_len] = [2 + mixed(number) % 9, 1 + mixed(number + 7) % 5];
        let width = [1, 2, 3, 4, 4, 16][index_of(number % 6)];
        let gather = Gather::new().bad_indices(BadIndices::Fill);
        let gather = gather.negative_indices(NegativeIndices::FromEnd);
        let plan = gather.plan(&[rows as usize, slice_len as usize], &[25]);
        let plan = plan.expect("a valid shape");
        let index = |at: u64| i128::from(mixed(at + 100 * number) % 4) - 1;
        let types = ElementTypes::new(width, IndexKind::I32);
        for update in updates_of(width, true) {
            let scatter = scatter(plan.clone(), types, update, &index);
            let mut run = Run::new(&scatter, false);
            run.allows_races = true;
            run.all();
            ran.extend(kernels(&run));
            let (expected, _) = scatter.scattered();
            let of_rows: std::collections::HashSet<u64> = (0..25)
                .filter_map(|row| match slice_of(&plan, &index, row) {
                    (_, Slice::Row(row)) => Some(row),
                    _ => None,
                })
                .flat_map(|row| {
                    let bytes = u64::from(slice_len) * width;
                    row * bytes..(row + 1) * bytes
                })
                .collect();
            for (&(_, word), &found) in &run.written {
                assert!(expected.contains_key(&word), "word {word} is of no row");
                for at in word * 4..word * 4 + 4 {
                    let before = byte_of(word_before(word), at);
                    assert!(
                        of_rows.contains(&at) || byte_of(found, at) == before,
                        "byte {at}"
                    );
                }
            }
        }
    }
    assert!(ran.contains(&Kernel::WordParts));
}

/// Lanes that take four rows ask for the winners of their own batch.
#[test]
fn four_rows_of_each_batch_have_winners_of_their_own() {
    let gather = Gather::new().batch_dims(1).axis(1);
    let plan = gather.plan(&[2, 5000, 3], &[2, 22_000]);
    let index = |at: u64| i128::from(mixed(at)) % 5000;
    let types = ElementTypes::new(4, IndexKind::I32);
    let plan = plan.expect("a valid shape");
    let kernels = scatter(plan, types, Update::AssignLast, &index).check_scatter();
    assert_eq!(kernels, [Kernel::FourRows(Unit::Word)]);
}

/// The interpreter runs `count_rows`, and passes whose uniform it has changed.
#[test]
fn index_rows_beyond_a_count_are_left_out() {
    let gather = Gather::new().batch_dims(1).axis(1);
    let gather = gather.bad_indices(BadIndices::Fill);
    let plan = gather.plan(&[2, 9, 3], &[2, 40]).expect("a valid shape");
    let index = |at: u64| i128::from(mixed(at)) % 11;
    let types = ElementTypes::new(4, IndexKind::I32);
    for count in [0, 1, 39, 40, 41] {
        let mut gathered = Case::new(plan.clone(), types, &index);
        gathered.index_count = Some(count);
        let mut run = Run::new(&gathered, true);
        run.all();
        run.check_all();
        assert!(run.entry_points.contains(&EntryPoint::CountRows));
        for update in updates_of(4, false) {
            let mut case = scatter(plan.clone(), types, update, &index);
            case.index_count = Some(count);
            case.check_scatter();
        }
    }
}
