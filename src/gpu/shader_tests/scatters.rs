//! Runs scatters' lanes in the interpreter, with the plan, the cut and the uniforms that a device would get. Each access must
//! stay in its binding, each store in a selected row, and two lanes may share a word only by atomics.

use std::collections::HashMap;

use super::edge_values::{WIDE, index_rows, policies};
use super::lanes::{byte_of, index_of, mixed, module, word_before};
use super::oracle::{Slice, Values, slice_of};
use crate::bad_indices::{BadIndices, NegativeIndices};
use crate::element::ElementTypes;
use crate::gpu::bindings::dummy_bytes;
use crate::gpu::bound::BoundRange;
use crate::gpu::cut::{Cut, Dispatch, PlacedGather, Shard};
use crate::gpu::fill::FillPattern;
use crate::gpu::kernel::{Kernel, Unit, WORKGROUP_SIZE};
use crate::gpu::scatter::{Order, OrderDispatch, Winners};
use crate::gpu::shaders::{EntryPoint, binding};
use crate::gpu::types::{TypedPlan, range_bytes};
use crate::gpu::uniform::GatherUniform;
use crate::gpu::update::{IndexRowsPass, Update};
use crate::index::IndexKind;
use crate::plan::GatherPlan;
use crate::reduce::{NumberKind, Reduce};
use crate::{Gather, GatherElements, GatherNd};
use gather_oracle::{float_sum, sweep};
use naga_interpreter::{Access, Machine, Memory};

/// A scatter to run.
struct Scatter<'a> {
    plan: GatherPlan,
    types: ElementTypes,
    update: Update,
    /// Bytes from the last aligned offset to where the target, indices and updates start.
    starts: [u64; 3],
    limits: wgpu::Limits,
    index: Values<'a>,
    /// How many updates to a row a fold reduces one by one, and how many sums of them a lane takes in one dispatch.
    steps: (u32, u32),
}

/// A scatter's buffers while its dispatches run.
struct Run<'a> {
    scatter: &'a Scatter<'a>,
    /// Words that have been written, by their number in the target.
    target: HashMap<u64, u32>,
    /// By buffer, and number in it.
    winners: HashMap<(usize, u64), u32>,
    /// The pairs' words, and what folds find.
    pairs: Vec<u32>,
    sums: Vec<Option<u32>>,
    counter: [u32; 2],
}

/// A dispatch's bindings.
struct Bindings<'r, 'a> {
    run: &'r mut Run<'a>,
    dispatch: &'r Dispatch,
    uniform: &'r [u32],
    /// Which buffer of winners is bound, and which range in it.
    winners: (usize, BoundRange),
    /// The lane that stored each target word, and whether by atomics.
    owners: HashMap<u64, ((u64, u32), bool)>,
    lane: (u64, u32),
    allows_races: bool,
}

impl Bindings<'_, '_> {
    fn bound(&self, number: u32) -> BoundRange {
        match number {
            binding::TARGET => self.dispatch.params,
            binding::INDICES => self.dispatch.indices,
            binding::UPDATES => self.dispatch.output,
            _ => self.winners.1,
        }
    }

    /// An access's first word, counted from the operand's start.
    fn first_word(&self, access: Access) -> u64 {
        let end = access.offset + u64::from(access.bytes);
        assert!(
            access.offset.is_multiple_of(access.bytes.into()) && end <= self.bytes(access.binding),
            "{}: lane {:?}: {access:?} of {:?}",
            self.run.scatter.plan,
            self.lane,
            self.dispatch
        );
        match access.binding {
            binding::UNIFORM
            | binding::COUNTER
            | binding::PAIRS
            | binding::SORTED_PAIRS
            | binding::SUMS => access.offset / 4,
            _ => (self.bound(access.binding).offset + access.offset) / 4,
        }
    }

    fn own(&mut self, word: u64, is_atomic: bool) {
        let (owner, was_atomic) = *self.owners.entry(word).or_insert((self.lane, is_atomic));
        assert!(
            owner == self.lane || was_atomic && is_atomic || self.allows_races,
            "{}: word {word} of {:?} is stored by {owner:?} and {:?}",
            self.run.scatter.plan,
            self.dispatch,
            self.lane
        );
    }

    fn target_word(&self, word: u64) -> u32 {
        let found = self.run.target.get(&word).copied();
        found.unwrap_or_else(|| word_before(word))
    }

    /// A word of winners. At first it holds no index row's number.
    fn winner(&self, word: u64) -> u32 {
        let found = self.run.winners.get(&(self.winners.0, word));
        found.copied().unwrap_or(u32::MAX)
    }
}

impl Memory for Bindings<'_, '_> {
    fn load(&mut self, access: Access) -> [u32; 4] {
        let first = self.first_word(access);
        let mut words = [0; 4];
        for (word, found) in (first..).zip(&mut words[..access.bytes as usize / 4]) {
            *found = match access.binding {
                binding::UNIFORM => self.uniform.get(index_of(word)).copied().unwrap_or(0),
                binding::INDICES => self.run.scatter.index_word(word),
                binding::UPDATES => update_word(word),
                binding::TARGET => self.target_word(word),
                binding::WINNERS | binding::WINNERS_FOUND => self.winner(word),
                binding::COUNTER => self.run.counter[index_of(word)],
                binding::PAIRS => self.run.pairs[index_of(word)],
                binding::SUMS => self.run.sums[index_of(word)].expect("a sum is stored first"),
                other => panic!("binding {other} is not of a scatter"),
            };
        }
        words
    }

    fn store(&mut self, access: Access, words: &[u32]) {
        let first = self.first_word(access);
        for (word, &value) in (first..).zip(words) {
            match access.binding {
                binding::TARGET => {
                    self.own(word, access.is_atomic);
                    self.run.target.insert(word, value);
                }
                binding::WINNERS => {
                    self.run.winners.insert((self.winners.0, word), value);
                }
                binding::SORTED_PAIRS => self.run.pairs[index_of(word)] = value,
                binding::SUMS => self.run.sums[index_of(word)] = Some(value),
                other => panic!("binding {other} is not written"),
            }
        }
    }

    fn atomic(&mut self, access: Access, change: &dyn Fn(u32) -> u32) -> u32 {
        let word = self.first_word(access);
        match access.binding {
            binding::TARGET => {
                let old = self.target_word(word);
                self.own(word, true);
                self.run.target.insert(word, change(old));
                old
            }
            binding::WINNERS => {
                let old = self.winner(word);
                self.run.winners.insert((self.winners.0, word), change(old));
                old
            }
            binding::COUNTER => {
                let counter = &mut self.run.counter[index_of(word)];
                std::mem::replace(counter, change(*counter))
            }
            other => panic!("binding {other} has no atomics"),
        }
    }

    fn bytes(&self, number: u32) -> u64 {
        match number {
            binding::UNIFORM => self.uniform.len() as u64 * 4,
            binding::COUNTER => 8,
            binding::PAIRS | binding::SORTED_PAIRS => self.run.pairs.len() as u64 * 4,
            binding::SUMS => self.run.sums.len() as u64 * 4,
            _ => match self.bound(number).bytes {
                0 => dummy_bytes(&self.run.scatter.limits),
                bytes => range_bytes(bytes),
            },
        }
    }
}

fn update_word(word: u64) -> u32 {
    mixed(word << 4 | 1)
}

impl<'a> Scatter<'a> {
    fn new(plan: GatherPlan, types: ElementTypes, update: Update, index: Values<'a>) -> Self {
        Self {
            plan: plan.of_updates(),
            types,
            update,
            starts: [0; 3],
            limits: wgpu::Limits {
                max_storage_buffer_binding_size: 1 << 40,
                max_buffer_size: 1 << 40,
                ..wgpu::Limits::default()
            },
            index,
            steps: (1024, 4096),
        }
    }

    fn index_word(&self, word: u64) -> u32 {
        let bytes = self.types.index_kind.bytes();
        let byte = |at: u64| match at.checked_sub(self.starts[1]) {
            Some(at) if at / bytes < self.plan.dims().indices_len() => {
                (self.index)(at / bytes).to_le_bytes()[index_of(at % bytes)]
            }
            // Bytes outside the values are not 0, so that a test fails if they count.
            _ => 0x81,
        };
        u32::from_le_bytes([0, 1, 2, 3].map(|n| byte(word * 4 + n)))
    }

    fn dispatches(&self, placed: PlacedGather<'_>) -> Vec<Dispatch> {
        let cut = Cut::new(placed, &self.limits).expect("the limits allow it");
        cut.dispatches().collect()
    }

    /// Runs all dispatches in their order. Returns the kernels that ran.
    fn run(&self, allows_races: bool) -> (Run<'_>, Vec<Kernel>) {
        let mut run = Run {
            scatter: self,
            target: HashMap::new(),
            winners: HashMap::new(),
            pairs: Vec::new(),
            sums: Vec::new(),
            counter: [0; 2],
        };
        let dims = self.plan.dims();
        let typed = TypedPlan::of_scatter(&self.plan, self.types, self.update);
        let typed = typed.expect("bytes can be counted");
        let winners = (self.update == Update::AssignLast)
            .then(|| Winners::new(dims, &self.limits).expect("few rows"));
        let [target_start, indices_start, output_start] = self.starts;
        let rows_plan = self.plan.of_index_rows();
        let rows = rows_plan.dims().params_rows();
        let types = ElementTypes::new(4, self.types.index_kind);
        let of_rows = TypedPlan::of_scatter(&rows_plan, types, Update::IndexRows);
        let of_rows = PlacedGather {
            shards: winners.map_or(vec![Shard { rows, start: 0 }], |of| of.shards()),
            indices_start,
            ..PlacedGather::aligned(of_rows.expect("bytes can be counted"))
        };
        let of_rows = self.dispatches(of_rows);
        let mut passes = vec![IndexRowsPass::CountBad];
        if winners.is_some() {
            passes.extend([IndexRowsPass::ClearWinners, IndexRowsPass::FindWinners]);
        }
        for pass in passes {
            for dispatch in &of_rows {
                let find = dispatch.find;
                let uniform = self.uniform(&rows_plan, dispatch, true);
                let winners = (dispatch.shard, dispatch.params);
                let entry_point = EntryPoint::IndexRows { pass, find };
                run.dispatch(dispatch, entry_point, &uniform, winners, allows_races);
            }
        }
        let folds = matches!(self.update, Update::Fold(..));
        let has_rows = dims.params_rows() > 0 && dims.output_len() > 0;
        let order = (folds && has_rows).then(|| {
            // A tile of pairs is bound whole, even where the limits of a test bind less.
            let limits = wgpu::Limits {
                max_storage_buffer_binding_size: 1 << 27,
                max_buffer_size: 1 << 27,
                ..self.limits.clone()
            };
            let order = Order::new(dims, self.types.element_bytes, &limits);
            let (sum_updates, most_steps) = self.steps;
            order
                .expect("few pairs")
                .with_steps(sum_updates, most_steps)
        });
        if let Some(order) = order {
            run.write_keys(&order, &rows_plan, &of_rows);
        }
        let placed = PlacedGather {
            shards: vec![Shard {
                rows: dims.params_rows(),
                start: target_start,
            }],
            indices_start,
            output_start,
            winner_rows: winners.map_or(u64::MAX, |of| of.cut_rows()),
            ..PlacedGather::aligned(typed)
        };
        let dispatches = self.dispatches(placed);
        let kernels = dispatches.iter().map(|dispatch| dispatch.kernel).collect();
        if let Some(order) = order {
            let index_kind = self.types.index_kind;
            let folds = order.fold_dispatches(&self.plan, index_kind, self.update, &dispatches);
            folds.iter().for_each(|fold| run.fold(fold, allows_races));
            return (run, kernels);
        }
        for dispatch in &dispatches {
            let mut uniform = self.uniform(&self.plan, dispatch, false);
            let mut bound = (0, BoundRange::default());
            if let Some(winners) = winners {
                let (number, start) = winners.of_dispatch(dims, dispatch);
                uniform.general.winners_start = start;
                let whole = BoundRange {
                    bytes: winners.shards()[number].rows * 4,
                    ..BoundRange::default()
                };
                bound = (number, whole);
            }
            let entry_point = dispatch.scatter_pipeline(self.update, false).entry_point;
            run.dispatch(dispatch, entry_point, &uniform, bound, allows_races);
        }
        (run, kernels)
    }

    fn uniform(&self, plan: &GatherPlan, dispatch: &Dispatch, is_first: bool) -> GatherUniform {
        let index_kind = self.types.index_kind;
        GatherUniform::new(plan, index_kind, dispatch, FillPattern::ZEROS, is_first)
    }

    /// The target words that the definition writes, numbered from the last aligned offset, and the number of bad index rows.
    fn expected(&self) -> (HashMap<u64, u32>, usize) {
        let (dims, width) = (self.plan.dims(), self.types.element_bytes);
        let mut words: HashMap<u64, u32> = HashMap::new();
        let mut bad = std::collections::BTreeSet::new();
        // The updates of each word, if these are summed.
        let mut updates: HashMap<u64, Vec<u32>> = HashMap::new();
        let byte_before = |words: &HashMap<u64, u32>, at: u64| {
            let word = words.get(&(at / 4)).copied();
            word.unwrap_or_else(|| word_before(at / 4))
        };
        for output_row in 0..dims.output_rows() {
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
            let update = self.starts[2] + output_row * dims.output_stride * width;
            let bytes = dims.slice_len * width;
            match self.update {
                Update::Fold(Reduce::Add, NumberKind::F32) => {
                    for word in 0..bytes / 4 {
                        let new = update_word(update / 4 + word);
                        updates.entry(first / 4 + word).or_default().push(new);
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
        (words, bad.len())
    }

    /// Runs the scatter, and compares the target and the number of bad rows with the definition.
    fn check(&self) -> Vec<Kernel> {
        let (run, kernels) = self.run(false);
        let (expected, bad) = self.expected();
        let plan = &self.plan;
        assert_eq!(run.counter[0] as usize, bad, "bad rows of {plan}");
        for (word, &found) in &run.target {
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
        assert_eq!(run.target.len(), expected.len(), "{plan}: words written");
        kernels
    }
}

impl Run<'_> {
    /// Runs the passes that write the pairs, and sorts these.
    fn write_keys(&mut self, order: &Order, rows_plan: &GatherPlan, of_rows: &[Dispatch]) {
        let [pairs_bytes, _, _, sums_bytes] = order.scratch_bytes();
        self.pairs = vec![u32::MAX; index_of(pairs_bytes / 4)];
        let zeros = pairs_bytes / 8 - rows_plan.dims().index_rows();
        self.pairs[..2 * index_of(zeros)].fill(0);
        self.sums = vec![None; index_of(sums_bytes / 4)];
        for dispatch in of_rows {
            let (pass, find) = (IndexRowsPass::WriteKeys, dispatch.find);
            let mut uniform = self.scatter.uniform(rows_plan, dispatch, false);
            uniform.order = order.of_keys(dispatch);
            let winners = (0, BoundRange::default());
            let entry_point = EntryPoint::IndexRows { pass, find };
            self.dispatch(dispatch, entry_point, &uniform, winners, false);
        }
        let mut pairs: Vec<_> = self
            .pairs
            .chunks(2)
            .map(|pair| [pair[0], pair[1]])
            .collect();
        assert!(
            pairs.iter().all(|&[_, number]| number != u32::MAX),
            "every pair is written"
        );
        pairs.sort_by_key(|&[key, _]| key);
        self.pairs = pairs.concat();
    }

    fn fold(&mut self, fold: &OrderDispatch, allows_races: bool) {
        let bound = fold.bound.expect("ranges of target and updates");
        let dispatch = Dispatch {
            workgroups: fold.workgroups,
            ..bound
        };
        let winners = (0, BoundRange::default());
        self.dispatch(
            &dispatch,
            fold.entry_point,
            &fold.uniform,
            winners,
            allows_races,
        );
    }

    fn dispatch(
        &mut self,
        dispatch: &Dispatch,
        entry_point: EntryPoint,
        uniform: &GatherUniform,
        winners: (usize, BoundRange),
        allows_races: bool,
    ) {
        let module = module(entry_point);
        let machine = Machine::new(&module, entry_point.name());
        let mut bindings = Bindings {
            run: self,
            dispatch,
            uniform: bytemuck::cast_slice(std::slice::from_ref(uniform)),
            winners,
            owners: HashMap::new(),
            lane: (0, 0),
            allows_races,
        };
        let [width, height, depth] = dispatch.workgroups.map(u64::from);
        for workgroup in 0..width * height * depth {
            let rows = workgroup / width;
            let place = [workgroup % width, rows % height, rows / height];
            let place = place.map(|number| u32::try_from(number).expect("a grid is small"));
            for lane in 0..WORKGROUP_SIZE {
                bindings.lane = (workgroup, lane);
                machine.run(place, lane, &mut bindings);
            }
        }
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
    use NumberKind::{F32, I32, U32};
    use Reduce::{Add, Max, Min, Mul};
    let mut updates = vec![if is_unique {
        Update::Assign
    } else {
        Update::AssignLast
    }];
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
            Scatter::new(plan.clone(), types, update, &value).check();
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
            Scatter::new(plan.clone(), types, update, &value).check();
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
        (30, 40, 1, 16),
        (3, 4, 1100, 1),
    ] {
        for plan in plans(rows, count, slice_len) {
            let plan = plan.expect("valid shapes");
            let index = |at: u64| i128::from(mixed(at)) % (rows as i128 + 1);
            for update in updates_of(width, false) {
                for one_update in [false, true] {
                    let plan = if one_update {
                        plan.with_one_update()
                    } else {
                        plan.clone()
                    };
                    let types = ElementTypes::new(width, IndexKind::I32);
                    let start = 1 << width.trailing_zeros().min(2);
                    let scatter = Scatter {
                        starts: [3 * start, 8, 5 * start],
                        limits: wgpu::Limits {
                            // Pairs and counts are not cut.
                            max_storage_buffer_binding_size: match update {
                                Update::Fold(..) => 4096,
                                _ => 1024,
                            },
                            max_buffer_size: 4096,
                            max_compute_workgroups_per_dimension: 2,
                            ..wgpu::Limits::default()
                        },
                        steps: (3, 2),
                        ..Scatter::new(plan, types, update, &index)
                    };
                    kernels.extend(scatter.check());
                }
            }
        }
    }
    assert!(kernels.contains(&Kernel::WordParts), "{kernels:?}");
}

/// Rows repeat although the scatter promises unique ones: other rows and other bytes keep their values.
#[test]
fn broken_promises_change_no_other_row() {
    let mut kernels = Vec::new();
    let runs = if sweep::takes_every_case() { 3000 } else { 200 };
    for number in 0..runs {
        let [rows, slice_len] = [2 + mixed(number) % 9, 1 + mixed(number + 7) % 5];
        let width = [1, 2, 3, 4, 4, 16][index_of(number % 6)];
        let gather = Gather::new().bad_indices(BadIndices::Fill);
        let gather = gather.negative_indices(NegativeIndices::FromEnd);
        let plan = gather.plan(&[rows as usize, slice_len as usize], &[25]);
        let plan = plan.expect("a valid shape").with_unique_indices();
        let index = |at: u64| i128::from(mixed(at + 100 * number) % 4) - 1;
        let types = ElementTypes::new(width, IndexKind::I32);
        for update in updates_of(width, true) {
            let scatter = Scatter::new(plan.clone(), types, update, &index);
            let (run, found) = scatter.run(true);
            kernels.extend(found);
            let (expected, _) = scatter.expected();
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
            for (&word, &found) in &run.target {
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
    assert!(kernels.contains(&Kernel::WordParts));
}

/// Lanes that take four rows ask for the winners of their own batch.
#[test]
fn four_rows_of_each_batch_have_winners_of_their_own() {
    let gather = Gather::new().batch_dims(1).axis(1);
    let plan = gather.plan(&[2, 5000, 3], &[2, 22_000]);
    let index = |at: u64| i128::from(mixed(at)) % 5000;
    let types = ElementTypes::new(4, IndexKind::I32);
    let plan = plan.expect("a valid shape");
    let kernels = Scatter::new(plan, types, Update::AssignLast, &index).check();
    assert_eq!(kernels, [Kernel::FourRows(Unit::Word)]);
}
