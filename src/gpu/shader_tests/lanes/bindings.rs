//! What a pass binds, as memory that checks each access.

use std::collections::HashMap;

use super::Run;
use super::case::{index_of, mixed, word_before};
use crate::gpu::bindings::dummy_bytes;
use crate::gpu::pass::{Bind, Pass, Source};
use crate::gpu::shaders::{EntryPoint, binding};
use naga_interpreter::{Access, Memory};

pub(super) struct Bindings<'r, 'a> {
    pub(super) run: &'r mut Run<'a>,
    pub(super) pass: &'r Pass,
    /// What the pass binds, by number.
    pub(super) binds: [Option<Bind>; binding::SLOTS as usize + 1],
    /// The lane (workgroup, number) that loads or stores each word of the output, or stores each word of the target, and
    /// whether by atomics: no other lane may, but by atomics too.
    pub(super) owners: HashMap<(usize, u64), ((u64, u32), bool)>,
    pub(super) lane: (u64, u32),
    /// The lane's atomic operations on each counter word.
    pub(super) atomics: [u32; 2],
}

impl Bindings<'_, '_> {
    fn bind(&self, number: u32) -> Bind {
        self.binds[number as usize].expect("the entry point has the binding")
    }

    /// What an access reaches, and its first word there, counted from an aligned offset.
    fn place(&mut self, access: Access) -> (Source, u64) {
        if let Some(accesses) = &mut self.run.accesses {
            accesses.push(access);
        }
        let Bind { source, bound } = self.bind(access.binding);
        let end = access.offset + u64::from(access.bytes);
        let is_mask = self.pass.key.entry_point == EntryPoint::OutOfRange;
        // Passes of the mask read no index row of another pass.
        let first = match source {
            Source::Indices if is_mask => bound.start / 4 * 4,
            _ => 0,
        };
        assert!(
            access.offset.is_multiple_of(access.bytes.into())
                && access.offset >= first
                && end <= self.bytes(access.binding),
            "{}: lane {:?}: {access:?} of {:?}",
            self.run.case.plan,
            self.lane,
            self.pass
        );
        (source, (bound.offset + access.offset) / 4)
    }

    fn own(&mut self, word: (usize, u64), is_atomic: bool) {
        let (owner, was_atomic) = *self.owners.entry(word).or_insert((self.lane, is_atomic));
        assert!(
            owner == self.lane || was_atomic && is_atomic || self.run.allows_races,
            "{}: word {word:?} of {:?} is of lanes {owner:?} and {:?}",
            self.run.case.plan,
            self.pass.key,
            self.lane
        );
    }

    fn written_word(&self, word: (usize, u64)) -> u32 {
        let written = self.run.written.get(&word).copied();
        written.unwrap_or_else(|| word_before(word.1))
    }

    fn word(&mut self, source: Source, word: u64) -> u32 {
        let case = self.run.case;
        match (source, case.update) {
            (Source::Table(shard), None) => case.params_word(shard, word),
            (Source::Table(shard), Some(_)) => self.written_word((shard, word)),
            (Source::Slices, None) => {
                self.own((0, word), false);
                self.written_word((0, word))
            }
            (Source::Slices, Some(_)) => update_word(word),
            (Source::Indices, _) => case.index_word(word),
            (Source::Scales, _) => case.qparam_word(0, word),
            (Source::ZeroPoints, _) => case.qparam_word(1, word),
            (Source::Mask, _) => {
                let rows = case.plan.dims().index_rows();
                assert!(
                    word * 4 + 4 > rows,
                    "word {word} of the mask has no padding"
                );
                word_before(word)
            }
            (Source::Report, _) => self.run.report[index_of(word)],
            (Source::Count, _) => case.index_count.expect("a count"),
            (Source::Counter, _) => self.run.counter[index_of(word)],
            (Source::Uniform, _) => self.run.uniform[index_of(word)],
            (Source::Grid, _) => self.run.grid[index_of(word)],
            (Source::Scratch(buffer), _) => self.run.scratch_word(buffer, word),
            (Source::Dummy, _) => mixed(word),
            (Source::Offsets | Source::Weights, _) => unreachable!("no bags"),
        }
    }
}

/// A word of a scatter's updates.
pub(crate) fn update_word(word: u64) -> u32 {
    mixed(word << 4 | 1)
}

impl Memory for Bindings<'_, '_> {
    fn load(&mut self, access: Access) -> [u32; 4] {
        let (source, first) = self.place(access);
        let mut words = [0; 4];
        for (word, found) in (first..).zip(&mut words[..access.bytes as usize / 4]) {
            *found = self.word(source, word);
        }
        words
    }

    fn store(&mut self, access: Access, words: &[u32]) {
        let (source, first) = self.place(access);
        let is_gather = self.run.case.update.is_none();
        for (word, &value) in (first..).zip(words) {
            match source {
                Source::Slices if is_gather => {
                    self.own((0, word), false);
                    self.run.written.insert((0, word), value);
                }
                Source::Table(shard) if !is_gather => {
                    self.own((shard, word), access.is_atomic);
                    self.run.written.insert((shard, word), value);
                }
                Source::Mask => {
                    let other = self.run.mask.insert(word, value);
                    assert_eq!(other, None, "word {word} of the mask is written twice");
                }
                Source::Report => self.run.report[index_of(word)] = value,
                Source::Uniform => self.run.uniform[index_of(word)] = value,
                Source::Grid => self.run.grid[index_of(word)] = value,
                Source::Scratch(buffer) => self.run.scratch[buffer].store(word, value),
                other => panic!("{other:?} is not written"),
            }
        }
    }

    fn atomic(&mut self, access: Access, change: &dyn Fn(u32) -> u32) -> u32 {
        let (source, word) = self.place(access);
        match source {
            Source::Table(shard) => {
                self.own((shard, word), true);
                let old = self.written_word((shard, word));
                self.run.written.insert((shard, word), change(old));
                old
            }
            Source::Scratch(buffer) => {
                let old = self.run.scratch_word(buffer, word);
                self.run.scratch[buffer].store(word, change(old));
                old
            }
            Source::Counter => {
                let word = index_of(word);
                let old = self.run.counter[word];
                self.run.counter[word] = change(old);
                self.atomics[word] += 1;
                let finishes = self.pass.key.entry_point == EntryPoint::FinishReport;
                assert!(
                    self.run.counter[word] != old || finishes,
                    "{:?}: an atomic that changes nothing",
                    self.pass.key
                );
                assert_eq!(
                    self.atomics[word], 1,
                    "{:?}: atomics of a lane",
                    self.pass.key
                );
                old
            }
            other => panic!("{other:?} has no atomics"),
        }
    }

    fn bytes(&self, number: u32) -> u64 {
        let Bind { source, bound } = self.bind(number);
        match source {
            Source::Dummy => dummy_bytes(&self.run.case.limits),
            _ => bound.bytes,
        }
    }
}
