//! The passes for the numbers of a mask: which entries each dispatch reads, and what it binds. Pure: a function of sizes and limits.

use bytemuck::Zeroable;

use super::bound::{BoundRange, alignment, binding_bytes};
use super::kernel::WORKGROUP_SIZE;
use super::operands::Operands;
use super::pass::{Bind, COUNT_BYTES, Grid, Pass, Source};
use super::ranges::{check_apart, check_placed};
use super::shaders::{Alone, EntryPoint, binding};
use super::shares::grid;
use super::types::{WORD_BYTES, size};
use super::uniform::{GatherUniform, OrderUniform};
use crate::error::{GatherError, PlanError};
use crate::mask::{Mask, MaskKind};
use crate::operand::Operand;

/// The entries of a tile, and the bytes that their bits take.
const TILE: u64 = 32 * WORKGROUP_SIZE as u64;
const TILE_BITS_BYTES: u64 = TILE / 8;

/// The entry points of shaders/nonzero.wgsl: one for each kind of mask, and those after them.
pub(crate) const NONZERO: [EntryPoint; 6] = {
    use binding::{BITS, COUNTS, ENTRIES, FOUND, NUMBERS, UNIFORM};
    const fn of_mask(entry_bits: &'static [(&'static str, u32); 1]) -> Alone {
        Alone {
            overrides: entry_bits,
            ..alone("nonzero_bits", &[UNIFORM, COUNTS, ENTRIES, BITS])
        }
    }
    [
        EntryPoint::Alone(&of_mask(&[("ENTRY_BITS", 1)])),
        EntryPoint::Alone(&of_mask(&[("ENTRY_BITS", 8)])),
        EntryPoint::Alone(&of_mask(&[("ENTRY_BITS", 32)])),
        EntryPoint::Alone(&alone("nonzero_scan", &[UNIFORM, COUNTS, FOUND])),
        EntryPoint::Alone(&alone("nonzero_numbers", &[UNIFORM, COUNTS, BITS, NUMBERS])),
        EntryPoint::Alone(&alone("nonzero_fill", &[UNIFORM, COUNTS, NUMBERS])),
    ]
};
const SCAN: EntryPoint = NONZERO[3];
const NUMBERS: EntryPoint = NONZERO[4];
const FILL: EntryPoint = NONZERO[5];

const fn alone(name: &'static str, bindings: &'static [u32]) -> Alone {
    Alone {
        name,
        file: "nonzero",
        bindings,
        overrides: &[],
        workgroup_bytes: WORKGROUP_SIZE * WORD_BYTES,
    }
}

/// A mask on a GPU, and where the numbers of its true entries go: see
/// [`Gatherer::prepare_nonzero`](crate::Gatherer::prepare_nonzero).
///
/// As many numbers are written as their range holds, the first ones. From the count on, the range keeps what it held, or gets the
/// fill: `jnp.nonzero(mask, size=numbers, fill_value=fill)`.
///
/// | a range | holds | starts at |
/// |---|---|---|
/// | mask | the entries; the mask that a gather [writes](crate::Buffers::mask) is true for bad rows, so invert it | any byte; a mask of words at a multiple of 4 |
/// | numbers | `u32`s, all in one binding of the device | a multiple of 4 |
/// | count | one `u32`: how many numbers are written | a multiple of the device's `min_storage_buffer_offset_alignment` |
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "apps give each range by its name"
)]
pub struct Nonzero<'a> {
    /// The mask.
    pub mask: Mask<wgpu::BufferSlice<'a>>,
    /// Where the numbers go.
    pub numbers: wgpu::BufferSlice<'a>,
    /// Where the count goes.
    pub count: wgpu::BufferSlice<'a>,
    /// This number fills the rest of `numbers`, after the last true entry's. Without it the rest keeps its content.
    pub fill: Option<u32>,
}

impl<'a> Nonzero<'a> {
    /// The passes, after the checks of all ranges.
    pub(super) fn checked(
        &self,
        limits: &wgpu::Limits,
    ) -> Result<(Passes, Operands<'a>), GatherError> {
        let (mask, entries) = (&self.mask, self.mask.len as u64);
        if entries > u32::MAX.into() {
            return Err(GatherError::Plan(PlanError::TooManyElements {
                operand: Operand::Mask,
                shape: vec![mask.len],
                limit: u32::MAX.into(),
            }));
        }
        // Without a fill, no more numbers are written than there are entries.
        let most = match self.fill {
            Some(_) => u32::MAX.into(),
            None => entries,
        };
        let room = (self.numbers.size() / u64::from(WORD_BYTES)).min(most);
        let mask_alignment = (mask.kind as u32 / 8).max(1);
        let alignment = limits.min_storage_buffer_offset_alignment.max(WORD_BYTES);
        let number_bytes = room * u64::from(WORD_BYTES);
        let ranges = [
            (Operand::Mask, mask.data, mask.byte_len(), mask_alignment),
            (Operand::Indices, self.numbers, number_bytes, WORD_BYTES),
            (Operand::IndexCount, self.count, COUNT_BYTES, alignment),
        ];
        for (number, &(operand, range, bytes, alignment)) in ranges.iter().enumerate() {
            if bytes == 0 {
                continue;
            }
            check_placed(operand, range, bytes, alignment)?;
            let held = |range: wgpu::BufferSlice<'_>, bytes| range.offset()..range.offset() + bytes;
            for &(with, other, other_bytes, _) in &ranges[..number] {
                if other.buffer() == range.buffer() {
                    let other = held(other, other_bytes);
                    check_apart(operand, with, &held(range, bytes), &other)?;
                }
            }
        }
        let operands = Operands::of_mask([mask.data, self.numbers, self.count], limits);
        let starts = [mask.data, self.numbers].map(|range| operands.start(range));
        let passes = Passes::new(mask, starts, room, self.fill, limits)?;
        Ok((passes, operands))
    }
}

/// The sizes of the passes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passes {
    kind: MaskKind,
    inverted: bool,
    entries: u64,
    /// The bits from the last aligned offset at or before the mask to its first entry.
    first_bit: u64,
    numbers: BoundRange,
    room: u64,
    fill: Option<u32>,
    alignment: u64,
    max_grid_width: u64,
    /// The most tiles in a dispatch.
    most_tiles: u64,
}

impl Passes {
    /// Mask and numbers start `starts` bytes after aligned offsets.
    pub(crate) fn new<D>(
        mask: &Mask<D>,
        [mask_start, numbers_start]: [u64; 2],
        room: u64,
        fill: Option<u32>,
        limits: &wgpu::Limits,
    ) -> Result<Self, GatherError> {
        let (alignment, binding_bytes) = (alignment(limits), binding_bytes(limits));
        let max_grid_width = u64::from(limits.max_compute_workgroups_per_dimension);
        let numbers = numbers_start..numbers_start + room * u64::from(WORD_BYTES);
        let mut passes = Self {
            kind: mask.kind,
            inverted: mask.inverted,
            entries: mask.len as u64,
            first_bit: mask_start * 8 + mask.first as u64,
            numbers: BoundRange::of(numbers, alignment),
            room,
            fill,
            alignment,
            max_grid_width,
            most_tiles: u64::MAX,
        };
        // A binding has some bytes before the first tile, and after the last.
        let tile_bytes = (TILE * passes.kind as u64 / 8).max(TILE_BITS_BYTES);
        let of_tile = tile_bytes.min(passes.bound(0).bytes) + alignment + u64::from(WORD_BYTES);
        let [bits_bytes, counts_bytes] = passes.scratch();
        let least = passes.numbers.bytes.max(counts_bytes).max(of_tile);
        for (name, expected, found) in [
            ("max_storage_buffer_binding_size", least, binding_bytes),
            ("max_buffer_size", bits_bytes, limits.max_buffer_size),
        ] {
            if found < expected {
                return Err(GatherError::DeviceLimit {
                    name,
                    expected,
                    found,
                });
            }
        }
        let most = (binding_bytes - alignment - u64::from(WORD_BYTES)) / tile_bytes;
        passes.most_tiles = most.max(1).min(passes.most_workgroups());
        Ok(passes)
    }

    const fn tiles(&self) -> u64 {
        self.entries.div_ceil(TILE)
    }

    /// Bytes of the bits, in whole tiles, and of the counts, with the sum of all.
    pub(crate) fn scratch(&self) -> [u64; 2] {
        let counts = self.tiles() + 1;
        [
            self.tiles().max(1) * TILE_BITS_BYTES,
            counts * u64::from(WORD_BYTES),
        ]
    }

    /// The entries of a dispatch from this tile on.
    fn dispatch(&self, first_tile: u64) -> std::ops::Range<u64> {
        let end_tile = first_tile.saturating_add(self.most_tiles);
        first_tile * TILE..end_tile.saturating_mul(TILE).min(self.entries)
    }

    /// The bytes of the mask that hold these entries.
    fn bound(&self, first_tile: u64) -> BoundRange {
        let entries = self.dispatch(first_tile);
        let bit = |entry: u64| self.first_bit + entry * self.kind as u64;
        BoundRange::of(
            bit(entries.start) / 8..bit(entries.end).div_ceil(8),
            self.alignment,
        )
    }

    /// Calls `add` with each pass, in order.
    pub(crate) fn each<E>(&self, add: &mut impl FnMut(Pass) -> Result<(), E>) -> Result<(), E> {
        let kind = match self.kind {
            MaskKind::Bits => NONZERO[0],
            MaskKind::Bytes => NONZERO[1],
            MaskKind::Words => NONZERO[2],
        };
        let step = usize::try_from(self.most_tiles).unwrap_or(usize::MAX);
        for tile in (0..self.tiles()).step_by(step) {
            add(self.pass(kind, tile))?;
        }
        add(self.pass_of(SCAN, 0, self.tiles(), 1))?;
        if self.room == 0 {
            return Ok(());
        }
        for tile in (0..self.tiles()).step_by(step) {
            add(self.pass(NUMBERS, tile))?;
        }
        let groups = match self.fill {
            Some(_) => self.room.div_ceil(WORKGROUP_SIZE.into()),
            None => 0,
        };
        let step = usize::try_from(self.most_workgroups()).unwrap_or(usize::MAX);
        for group in (0..groups).step_by(step) {
            let workgroups = (groups - group).min(self.most_workgroups());
            let mut pass = self.pass_of(FILL, 0, self.tiles(), workgroups);
            if let Some(uniform) = &mut pass.uniform {
                uniform.first_n = size(group * u64::from(WORKGROUP_SIZE));
            }
            add(pass)?;
        }
        Ok(())
    }

    const fn most_workgroups(&self) -> u64 {
        self.max_grid_width.saturating_mul(self.max_grid_width)
    }

    /// The pass for the tiles of a dispatch.
    fn pass(&self, entry_point: EntryPoint, first_tile: u64) -> Pass {
        let entries = self.dispatch(first_tile);
        let tiles = (entries.end - entries.start).div_ceil(TILE);
        self.pass_of(entry_point, first_tile, tiles, tiles)
    }

    fn pass_of(
        &self,
        entry_point: EntryPoint,
        first_tile: u64,
        tiles: u64,
        workgroups: u64,
    ) -> Pass {
        let (entries, bound) = (self.dispatch(first_tile), self.bound(first_tile));
        let rows = entries.end - entries.start;
        let workgroups = grid(workgroups, self.max_grid_width);
        let skipped = (self.first_bit + entries.start * self.kind as u64) % 8;
        let uniform = GatherUniform {
            rows: size(rows),
            units: size(bound.bytes / u64::from(WORD_BYTES)),
            grid_width: workgroups[0],
            indices_start: size(bound.start * 8 + skipped),
            output_start: size(self.numbers.start / u64::from(WORD_BYTES)),
            first_n: size(entries.start),
            beyond: if self.inverted { u32::MAX } else { 0 },
            most_rows: size(self.room),
            fill: [self.fill.unwrap_or(0); 16],
            order: OrderUniform {
                tiles: size(tiles),
                first_key: size(first_tile),
                ..OrderUniform::zeroed()
            },
            ..GatherUniform::zeroed()
        };
        let [_, counts_bytes] = self.scratch();
        let bits = first_tile * TILE_BITS_BYTES;
        let bits = BoundRange::of(bits..bits + tiles * TILE_BITS_BYTES, self.alignment);
        let grid = Grid::Given(workgroups);
        Pass::new(
            entry_point.key(false),
            Some(uniform),
            grid,
            |number| match number {
                binding::ENTRIES => Bind::of(Source::Indices, bound),
                binding::BITS => Bind::of(Source::Scratch(0), bits),
                binding::COUNTS => Bind::whole(Source::Scratch(1), counts_bytes),
                binding::NUMBERS => Bind::of(Source::Slices, self.numbers),
                _ => Bind::whole(Source::Count, COUNT_BYTES),
            },
        )
    }
}
