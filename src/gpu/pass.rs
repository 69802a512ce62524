//! One pass of a call's work, as data: a pipeline, its uniform, its grid, and what it binds. Pure.

use super::bound::BoundRange;
use super::report::{COUNTER_BYTES, REPORT_BYTES};
use super::shaders::{EntryPoint, PipelineKey, binding};
use super::types::WORD_BYTES;
use super::uniform::{GatherUniform, UNIFORM_BYTES};

/// Bytes of an index count, one `u32`.
pub(crate) const COUNT_BYTES: u64 = WORD_BYTES as u64;

/// Bytes of a grid that `count_rows` writes: three words.
pub(crate) const GRID_BYTES: u64 = 12;

/// The most bindings of an entry point.
pub(crate) const MOST_BINDS: usize = 9;

/// A dispatch, made without a device.
#[derive(Debug, Clone)]
pub(crate) struct Pass {
    pub(crate) key: PipelineKey,
    /// The whole uniform; `None` for that of the pass before.
    pub(crate) uniform: Option<GatherUniform>,
    pub(crate) grid: Grid,
    pub(crate) binds: Binds,
}

/// The bindings of a pass, one for each number of [`EntryPoint::bindings`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Binds {
    numbers: &'static [u32],
    binds: [Bind; MOST_BINDS],
}

impl Binds {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, Bind)> {
        self.numbers.iter().copied().zip(self.binds.iter().copied())
    }
}

/// A grid in workgroups: width, height and depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grid {
    Given([u32; 3]),
    /// The pass before, `count_rows`, writes it.
    Counted,
}

/// A binding of a pass: bytes `bound` of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bind {
    pub(crate) source: Source,
    pub(crate) bound: BoundRange,
}

/// An operand, or a buffer of this crate, of which a pass binds bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(test, derive(Hash))]
pub(crate) enum Source {
    /// Params, or the target of a scatter: a shard, by its number.
    Table(usize),
    /// The output, or a scatter's updates.
    Slices,
    Indices,
    Scales,
    ZeroPoints,
    /// Where bags begin, and the weights of their rows.
    Offsets,
    Weights,
    Mask,
    Report,
    /// The index count.
    Count,
    /// The counter: the number of bad index rows, and the first of them.
    Counter,
    Uniform,
    /// The grid that `count_rows` writes.
    Grid,
    /// A buffer that the call makes for itself, by its number.
    Scratch(usize),
    /// Stands for an operand without bytes, as wgpu binds no empty range.
    Dummy,
}

impl Pass {
    /// A pass that binds what `bind` says of each number, and by [`Bind::own`] the rest.
    pub(crate) fn new(
        key: PipelineKey,
        uniform: Option<GatherUniform>,
        grid: Grid,
        bind: impl Fn(u32) -> Bind,
    ) -> Self {
        let numbers = key.entry_point.bindings();
        let mut binds = [Bind::DUMMY; MOST_BINDS];
        for (of, &number) in binds.iter_mut().zip(numbers) {
            *of = Bind::own(number).unwrap_or_else(|| bind(number));
        }
        Self {
            key,
            uniform,
            grid,
            binds: Binds { numbers, binds },
        }
    }

    /// `finish_report`, after a pass that binds these indices, or with a uniform of its own if no pass counts bad rows.
    pub(crate) fn finish_report(
        uniform: Option<GatherUniform>,
        indices: BoundRange,
        aliased: bool,
    ) -> Self {
        let key = EntryPoint::FinishReport.key(aliased);
        let bind = |_| Bind::of(Source::Indices, indices);
        Self::new(key, uniform, Grid::Given([1; 3]), bind)
    }

    /// `count_rows`, before a pass with this uniform.
    pub(crate) fn count_rows(uniform: GatherUniform) -> Self {
        let key = EntryPoint::CountRows.key(false);
        let grid = Grid::Given([1; 3]);
        Self::new(key, Some(uniform), grid, |_| Bind::DUMMY)
    }
}

impl Bind {
    const DUMMY: Self = Self {
        source: Source::Dummy,
        bound: BoundRange {
            offset: 0,
            bytes: 0,
            start: 0,
        },
    };

    /// A range of an operand or a scratch buffer; without bytes the dummy.
    pub(crate) const fn of(source: Source, bound: BoundRange) -> Self {
        match bound.bytes {
            0 => Self::DUMMY,
            _ => Self { source, bound },
        }
    }

    /// All `bytes` of what a source holds.
    pub(crate) const fn whole(source: Source, bytes: u64) -> Self {
        let bound = BoundRange {
            offset: 0,
            bytes,
            start: 0,
        };
        Self { source, bound }
    }

    /// The binding of a number that means the same in each pass; `None` if it depends on the pass.
    const fn own(number: u32) -> Option<Self> {
        Some(match number {
            binding::UNIFORM | binding::INDIRECT_UNIFORM => {
                Self::whole(Source::Uniform, UNIFORM_BYTES)
            }
            binding::WORKGROUPS => Self::whole(Source::Grid, GRID_BYTES),
            binding::COUNT => Self::whole(Source::Count, COUNT_BYTES),
            binding::COUNTER => Self::whole(Source::Counter, COUNTER_BYTES),
            binding::REPORT => Self::whole(Source::Report, REPORT_BYTES),
            _ => return None,
        })
    }
}
