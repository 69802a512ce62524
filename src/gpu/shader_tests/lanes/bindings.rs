//! A dispatch's bindings, as memory that checks each access.

use std::collections::HashMap;

use super::Run;
use super::case::{index_of, word_before};
use crate::gpu::bindings::dummy_bytes;
use crate::gpu::bound::BoundRange;
use crate::gpu::cut::Dispatch;
use crate::gpu::shaders::{EntryPoint, binding};
use crate::gpu::types::range_bytes;
use naga_interpreter::{Access, Memory};

pub(super) struct Bindings<'r, 'a> {
    pub(super) run: &'r mut Run<'a>,
    pub(super) dispatch: &'r Dispatch,
    pub(super) entry_point: EntryPoint,
    pub(super) uniform: &'r [u32],
    /// The lane (workgroup, number) that loads or stores each output word: no other lane may.
    pub(super) owners: HashMap<u64, (u64, u32)>,
    pub(super) lane: (u64, u32),
    /// The lane's atomic operations on each counter word.
    pub(super) atomics: [u32; 2],
}

impl Bindings<'_, '_> {
    fn bound(&self, number: u32) -> BoundRange {
        match number {
            binding::PARAMS => self.dispatch.params,
            binding::INDICES => self.dispatch.indices,
            binding::SCALES | binding::ZERO_POINTS => {
                self.dispatch.qparams[self.qparam_number(number)]
            }
            _ => self.dispatch.output,
        }
    }

    /// 0 for scales, 1 for zero points. Scales stand for zero points that are no operand.
    fn qparam_number(&self, number: u32) -> usize {
        let numbers = self.dispatch.quantized.expect("quantised params");
        usize::from(number == binding::ZERO_POINTS && numbers.zero_point().is_none())
    }

    /// An access's first word, counted from the operand's start.
    fn first_word(&mut self, access: Access) -> u64 {
        if let Some(accesses) = &mut self.run.accesses {
            accesses.push(access);
        }
        let end = access.offset + u64::from(access.bytes);
        assert!(
            access.offset.is_multiple_of(access.bytes.into()) && end <= self.bytes(access.binding),
            "{}: lane {:?}: {access:?} of {:?}",
            self.run.case.plan,
            self.lane,
            self.dispatch
        );
        match access.binding {
            binding::PARAMS
            | binding::INDICES
            | binding::OUTPUT
            | binding::SCALES
            | binding::ZERO_POINTS => (self.bound(access.binding).offset + access.offset) / 4,
            _ => access.offset / 4,
        }
    }

    fn own(&mut self, word: u64) {
        let owner = *self.owners.entry(word).or_insert(self.lane);
        let (plan, dispatch) = (&self.run.case.plan, self.dispatch);
        assert_eq!(owner, self.lane, "{plan}: word {word} of {dispatch:?}");
    }

    fn output_word(&mut self, word: u64) -> u32 {
        self.own(word);
        let output = &self.run.output;
        output
            .get(&word)
            .copied()
            .unwrap_or_else(|| word_before(word))
    }
}

impl Memory for Bindings<'_, '_> {
    fn load(&mut self, access: Access) -> [u32; 4] {
        let first = self.first_word(access);
        if access.binding == binding::UNIFORM {
            return std::array::from_fn(|n| {
                self.uniform.get(index_of(first) + n).copied().unwrap_or(0)
            });
        }
        let mut words = [0; 4];
        for (word, found) in (first..).zip(&mut words[..access.bytes as usize / 4]) {
            *found = match access.binding {
                binding::PARAMS => self.run.case.params_word(self.dispatch.shard, word),
                binding::INDICES => self.run.case.index_word(word),
                binding::OUTPUT => self.output_word(word),
                binding::SCALES | binding::ZERO_POINTS => {
                    let operand = self.qparam_number(access.binding);
                    self.run.case.qparam_word(operand, word)
                }
                binding::COUNTER => self.run.counter[index_of(word)],
                binding::REPORT => self.run.report[index_of(word)],
                other => panic!("binding {other} is not of a gather"),
            };
        }
        words
    }

    fn store(&mut self, access: Access, words: &[u32]) {
        let first = self.first_word(access);
        for (word, &value) in (first..).zip(words) {
            match access.binding {
                binding::OUTPUT => {
                    self.own(word);
                    self.run.output.insert(word, value);
                }
                binding::REPORT => self.run.report[index_of(word)] = value,
                other => panic!("binding {other} is not written"),
            }
        }
    }

    fn atomic(&mut self, access: Access, change: &dyn Fn(u32) -> u32) -> u32 {
        let word = index_of(self.first_word(access));
        assert_eq!(access.binding, binding::COUNTER);
        let old = self.run.counter[word];
        self.run.counter[word] = change(old);
        self.atomics[word] += 1;
        let is_useful =
            self.run.counter[word] != old || self.entry_point == EntryPoint::FinishReport;
        assert!(
            is_useful,
            "{:?}: an atomic that changes nothing",
            self.dispatch
        );
        assert_eq!(
            self.atomics[word], 1,
            "{:?}: atomics of a lane",
            self.dispatch
        );
        old
    }

    fn bytes(&self, number: u32) -> u64 {
        match number {
            binding::UNIFORM => self.uniform.len() as u64 * 4,
            binding::COUNTER => 8,
            binding::REPORT => 80,
            _ => match self.bound(number).bytes {
                0 => dummy_bytes(&self.run.case.limits),
                bytes => range_bytes(bytes),
            },
        }
    }
}
