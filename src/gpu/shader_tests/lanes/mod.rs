//! Runs a call's lanes in the interpreter, with the passes that a device would get. Functions compute what the operands hold, so
//! these may have any size. Each access must stay in its binding, each word of the output must belong to one lane, and two lanes
//! may store one word of the target only by atomics.

mod bindings;
mod case;

use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;
use std::ops::Range;
use std::sync::{Arc, LazyLock, Mutex};

use naga::back::pipeline_constants::process_overrides;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{Module, ShaderStage};

use self::bindings::Bindings;
pub(super) use self::bindings::update_word;
pub(super) use self::case::{Case, byte_of, index_of, mixed, word_before};
use super::oracle::{Slice, slice_of};
use crate::gpu::cut::Dispatch;
use crate::gpu::kernel::{Kernel, LANE_UNITS, WORKGROUP_SIZE};
use crate::gpu::pass::{Bind, Grid, Pass, Source};
use crate::gpu::scatter::order::{SORT, TILE};
use crate::gpu::shaders::{EntryPoint, Shader, all_texts, binding};
use crate::gpu::types::range_bytes;
use crate::gpu::update::Update;
use crate::gpu::work::Stage;
use naga_interpreter::{Access, Machine};

/// An entry point's module, with values for the overrides; made once.
pub(super) fn module(entry_point: EntryPoint) -> Arc<Module> {
    static MODULES: LazyLock<Mutex<HashMap<EntryPoint, Arc<Module>>>> =
        LazyLock::new(Mutex::default);
    let mut modules = MODULES
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let module = modules.entry(entry_point).or_insert_with(|| {
        let text = Shader::of(entry_point).wgsl(all_texts);
        Arc::new(module_of(&text, entry_point))
    });
    Arc::clone(module)
}

/// The module of a text, with an entry point's values for the overrides.
pub(super) fn module_of(text: &str, entry_point: EntryPoint) -> Module {
    let module = naga::front::wgsl::parse_str(text).expect("a shader is WGSL");
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
    let info = validator.validate(&module).expect("a shader is valid");
    let overrides = entry_point.overrides().into_iter();
    let (module, _) = process_overrides(
        &module,
        &info,
        Some((ShaderStage::Compute, entry_point.name())),
        &overrides
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
    .expect("the shader has the overrides");
    module.into_owned()
}

/// A call's buffers while its passes run.
pub(super) struct Run<'a> {
    pub(super) case: &'a Case<'a>,
    /// The words of the output or the target that have been written, by shard and number.
    pub(super) written: HashMap<(usize, u64), u32>,
    /// The mask's words.
    pub(super) mask: HashMap<u64, u32>,
    pub(super) counter: [u32; 2],
    pub(super) report: [u32; 20],
    /// The uniform of this pass, or of that before, and the grid that an index count sets.
    uniform: Vec<u32>,
    grid: [u32; 3],
    scratch: Vec<Scratch>,
    /// How many words at the start of scratch buffer 0 are zeros at first.
    zeros: u64,
    /// The entry points that ran.
    pub(super) entry_points: Vec<EntryPoint>,
    /// The lanes' accesses; `None` if they are not recorded.
    pub(super) accesses: Option<Vec<Access>>,
    /// True if several lanes may store one word, in any order.
    pub(super) allows_races: bool,
    reports: bool,
}

/// A buffer that the call makes for itself: the words that have been stored.
enum Scratch {
    Few(Vec<Option<u32>>),
    Many(HashMap<u64, u32>),
}

impl Scratch {
    fn new(bytes: u64) -> Self {
        match bytes {
            0..=0x10_0000 => Self::Few(vec![None; index_of(bytes / 4)]),
            _ => Self::Many(HashMap::new()),
        }
    }

    fn load(&self, word: u64) -> Option<u32> {
        match self {
            Self::Few(words) => words[index_of(word)],
            Self::Many(words) => words.get(&word).copied(),
        }
    }

    fn store(&mut self, word: u64, value: u32) {
        match self {
            Self::Few(words) => words[index_of(word)] = Some(value),
            Self::Many(words) => {
                words.insert(word, value);
            }
        }
    }
}

impl<'a> Run<'a> {
    pub(super) fn new(case: &'a Case<'a>, reports: bool) -> Self {
        Self {
            case,
            written: HashMap::new(),
            mask: HashMap::new(),
            counter: [0; 2],
            report: [u32::MAX; 20],
            uniform: Vec::new(),
            grid: [0; 3],
            scratch: Vec::new(),
            zeros: 0,
            entry_points: Vec::new(),
            accesses: None,
            allows_races: false,
            reports,
        }
    }

    /// A word of scratch. Before the first store winners hold no index row's number, and the pairs of a sort start with zeros; no
    /// other word is read.
    fn scratch_word(&self, buffer: usize, word: u64) -> u32 {
        let stored = self.scratch[buffer].load(word);
        stored.unwrap_or_else(|| match self.case.update {
            Some(Update::AssignLast) => u32::MAX,
            _ if buffer == 0 && word < self.zeros => 0,
            _ => panic!("{}: word {word} of scratch {buffer}", self.case.plan),
        })
    }

    pub(super) fn output_byte(&self, at: u64) -> u8 {
        let word = self.written.get(&(0, at / 4)).copied();
        byte_of(word.unwrap_or_else(|| word_before(at / 4)), at)
    }

    /// True if the word that holds byte `at` has been written.
    pub(super) fn is_written(&self, at: u64) -> bool {
        self.written.contains_key(&(0, at / 4))
    }

    /// Runs some lanes in some workgroups of a dispatch.
    pub(super) fn dispatch(
        &mut self,
        dispatch: &Dispatch,
        workgroups: impl IntoIterator<Item = u64>,
        lanes: impl Iterator<Item = u32> + Clone,
    ) {
        let pass = self.case.pass(dispatch, self.reports, false);
        self.set_uniform(&pass);
        self.run(&pass, dispatch.workgroups, workgroups, lanes);
    }

    pub(super) fn finish_report(&mut self, dispatch: &Dispatch, is_first_report: bool) {
        let pass = self.case.pass(dispatch, true, is_first_report);
        let finish = Pass::finish_report(pass.uniform, dispatch.indices, false);
        self.set_uniform(&finish);
        self.run(&finish, [1; 3], [0], 0..1);
    }

    /// Runs all lanes in all passes.
    pub(super) fn all(&mut self) {
        let case = self.case;
        case.with_work(self.reports, |work| {
            let scratch = work.scratch();
            if let (Some(_), [pairs, ..]) = (work.order, &scratch[..]) {
                self.zeros = pairs / 4 - 2 * case.plan.of_index_rows().dims().output_rows();
            }
            self.scratch = scratch.iter().map(|&bytes| Scratch::new(bytes)).collect();
            let Ok(()) = work.each(&mut |pass| {
                for (number, Bind { source, bound }) in pass.binds.iter() {
                    let held = match source {
                        Source::Scratch(buffer) => scratch[buffer],
                        source => case.end_of(source),
                    };
                    assert!(
                        bound.offset + bound.bytes <= range_bytes(held),
                        "{}: binding {number} of {pass:?}",
                        case.plan
                    );
                }
                self.play(&pass);
                Ok::<_, Infallible>(())
            });
        });
        assert_eq!(self.counter, [0; 2], "{}", case.plan);
    }

    /// Runs all lanes in all passes of a stage.
    pub(super) fn stage(&mut self, stage: Stage) {
        self.case.with_work(self.reports, |work| {
            let Ok(()) = work.each_of(stage, usize::MAX, &mut |pass| {
                self.play(&pass);
                Ok::<_, Infallible>(())
            });
        });
    }

    fn set_uniform(&mut self, pass: &Pass) {
        if let Some(uniform) = &pass.uniform {
            self.uniform = bytemuck::cast_slice(std::slice::from_ref(uniform)).to_vec();
        }
    }

    fn play(&mut self, pass: &Pass) {
        self.set_uniform(pass);
        let entry_point = pass.key.entry_point;
        self.entry_points.push(entry_point);
        let grid = match pass.grid {
            Grid::Given(grid) => grid,
            Grid::Counted => self.grid,
        };
        let workgroups = 0..grid.map(u64::from).iter().product();
        match entry_point {
            EntryPoint::Alone(_) => self.sort(entry_point, pass),
            EntryPoint::FinishReport | EntryPoint::CountRows => {
                self.run(pass, grid, workgroups, 0..1);
            }
            _ => self.run(pass, grid, workgroups, 0..WORKGROUP_SIZE),
        }
    }

    /// Does what a round of the sort does. Its lanes share memory, which the interpreter has not.
    fn sort(&mut self, sort: EntryPoint, pass: &Pass) {
        if sort != SORT[3] {
            return;
        }
        let buffer = |number| {
            let mut binds = pass.binds.iter();
            let found = binds.find(|&(of, _)| of == number);
            match found.map(|(_, bind)| bind.source) {
                Some(Source::Scratch(buffer)) => buffer,
                other => panic!("{other:?} holds no pairs"),
            }
        };
        let (from, to) = (buffer(binding::PAIRS), buffer(binding::SORTED_PAIRS));
        let uniform = pass.uniform.expect("a round has a uniform");
        let pairs = u64::from(uniform.order.tiles) * u64::from(TILE);
        let pair = |at| [2 * at, 2 * at + 1].map(|word| self.scratch_word(from, word));
        let mut pairs: Vec<_> = (0..pairs).map(pair).collect();
        pairs.sort_by_key(|&[key, _]| key >> uniform.order.shift & 0xff);
        for (word, value) in (0..).zip(pairs.concat()) {
            self.scratch[to].store(word, value);
        }
    }

    /// Checks every word that has been written, if `dispatch` is the only one that ran: bytes that the dispatch is to write hold
    /// the oracle's values, and all others are unchanged.
    pub(super) fn check_written(&self, dispatch: &Dispatch) {
        let case = self.case;
        let end = case.output_end();
        for &(_, word) in self.written.keys() {
            let expected: Vec<_> = case
                .expected(dispatch, word * 4..(word * 4 + 4).min(end))
                .collect();
            for at in word * 4..word * 4 + 4 {
                let expected = expected.iter().find(|&&(first, _)| first == at);
                let before = byte_of(word_before(word), at);
                let expected = expected.map_or(before, |&(_, byte)| byte);
                let plan = &case.plan;
                assert_eq!(
                    self.output_byte(at),
                    expected,
                    "{plan}: byte {at} of {dispatch:?}"
                );
            }
        }
    }

    /// Checks that the counter counts each bad row once, and names the smallest.
    pub(super) fn check_counter(&self) {
        let bad_rows = self.bad_rows();
        let first = bad_rows
            .first()
            .map_or(0, |&row| !u32::try_from(row).expect("rows are few"));
        let count = u32::try_from(bad_rows.len()).expect("rows are few");
        assert_eq!(self.counter, [count, first], "{}", self.case.plan);
    }

    fn bad_rows(&self) -> BTreeSet<u64> {
        let (plan, index) = (&self.case.plan, self.case.index);
        let rows = (0..plan.dims().output_rows()).filter(|&row| self.case.is_counted(row));
        let rows = rows.map(|row| slice_of(plan, index, row));
        rows.filter_map(|(row, slice)| (slice == Slice::Bad).then_some(row))
            .collect()
    }

    /// Checks that every output byte is the oracle's, or is unchanged if the index count leaves its row out, and that the report fits
    /// the bad rows.
    pub(super) fn check_all(&self) {
        let (case, plan) = (self.case, &self.case.plan);
        let slice_bytes = case.slice_bytes();
        let mut end = case.output_row_at(0) / 4 * 4;
        for row in 0..plan.dims().output_rows() {
            let slice = case.slice(row);
            let first = case.output_row_at(row);
            self.check_kept(end..first);
            end = first + slice_bytes;
            if !case.is_counted(row) {
                self.check_kept(first..end);
                continue;
            }
            let found: Vec<u8> = (first..first + slice_bytes)
                .map(|at| self.output_byte(at))
                .collect();
            let expected: Vec<u8> = (0..slice_bytes).map(slice).collect();
            assert_eq!(
                found, expected,
                "{plan}: row {row}, {:?}, {:?}",
                case.types, case.fill
            );
        }
        self.check_kept(end..range_bytes(end));
        if !self.reports || plan.dims().output_len() == 0 {
            return;
        }
        let mut report = [0; 20];
        report[2..4].fill(u32::MAX);
        let bad_rows = self.bad_rows();
        if let Some(&row) = bad_rows.first() {
            report[0] = u32::try_from(bad_rows.len()).expect("rows are few");
            report[2] = u32::try_from(row).expect("rows are few");
            report[3] = 0;
            let (depth, words) = (
                plan.dims().index_depth() as u64,
                case.types.index_kind.words(),
            );
            for word in 0..depth * u64::from(words) {
                let value = (case.index)(row * depth + word / u64::from(words));
                let value = value >> (word % u64::from(words) * 32) & i128::from(u32::MAX);
                report[4 + index_of(word)] = u32::try_from(value).expect("32 bits are left");
            }
        }
        assert_eq!(self.report, report, "{plan}: {:?}", case.types);
    }

    /// Checks that output bytes before, between or after slices are unchanged.
    fn check_kept(&self, bytes: Range<u64>) {
        for at in bytes {
            let before = byte_of(word_before(at / 4), at);
            assert_eq!(
                self.output_byte(at),
                before,
                "{}: byte {at}",
                self.case.plan
            );
        }
    }

    fn run(
        &mut self,
        pass: &Pass,
        grid: [u32; 3],
        workgroups: impl IntoIterator<Item = u64>,
        lanes: impl Iterator<Item = u32> + Clone,
    ) {
        let entry_point = pass.key.entry_point;
        let module = module(entry_point);
        let machine = Machine::new(&module, entry_point.name());
        let mut binds = [None; binding::SLOTS as usize + 1];
        for (number, bind) in pass.binds.iter() {
            binds[number as usize] = Some(bind);
        }
        let mut bindings = Bindings {
            run: self,
            pass,
            binds,
            owners: HashMap::new(),
            lane: (0, 0),
            atomics: [0; 2],
        };
        for workgroup in workgroups {
            let [width, height, _] = grid.map(u64::from);
            let rows = workgroup / width;
            let place = [workgroup % width, rows % height, rows / height]
                .map(|number| u32::try_from(number).expect("a grid is small"));
            for lane in lanes.clone() {
                bindings.lane = (workgroup, lane);
                bindings.atomics = [0; 2];
                machine.run(place, lane, &mut bindings);
            }
        }
    }
}

/// The output bytes that are a workgroup's share: it writes them, or leaves them to other windows.
pub(super) fn workgroup_bytes(case: &Case<'_>, dispatch: &Dispatch, workgroup: u64) -> Range<u64> {
    let slice_bytes = case.slice_bytes();
    let (first_row, end_row) = dispatch.output_rows;
    let first = first_row * slice_bytes + dispatch.piece;
    let end = (end_row - 1) * slice_bytes + dispatch.piece + dispatch.piece_bytes;
    match dispatch.kernel {
        Kernel::Bytes { .. } | Kernel::Halves(_) | Kernel::Packed { .. } | Kernel::Lines => {
            let bytes = 256 * dispatch.kernel.lane_bytes().expect("lanes own bytes");
            let start = first / 4 * 4 + workgroup * bytes;
            start.max(first)..(start + bytes).min(end)
        }
        Kernel::FourRows(_) if dispatch.has_block_grid => {
            let rows = dispatch.shares.slots * dispatch.kernel.lane_rows();
            let of_block = u64::from(dispatch.workgroups[0]);
            let block_rows = case.plan.dims().index_count;
            let block = first + workgroup / of_block * block_rows * slice_bytes;
            let start = workgroup % of_block * rows;
            block + start * slice_bytes..block + (start + rows).min(block_rows) * slice_bytes
        }
        Kernel::Rows(_) | Kernel::FourRows(_) => {
            let bytes = dispatch.shares.slots * dispatch.kernel.lane_rows() * slice_bytes;
            first + workgroup * bytes..(first + (workgroup + 1) * bytes).min(end)
        }
        Kernel::WordParts => panic!("{:?} is of a scatter", dispatch.kernel),
        Kernel::Long(unit) => {
            let slice_workgroups = dispatch.shares.slice_workgroups;
            let row = first + workgroup / slice_workgroups * slice_bytes;
            let bytes = u64::from(LANE_UNITS) * dispatch.shares.lane_step * unit.bytes();
            let start = row + workgroup % slice_workgroups * bytes;
            start..(start + bytes).min(row + dispatch.piece_bytes)
        }
    }
}
