//! Runs the passes for the numbers of masks in the interpreter, which checks what lanes read and write. Their sums over a workgroup
//! are given to them, since the interpreter has no memory that lanes share.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use naga_interpreter::{Access, Machine, Memory};

use super::all_texts;
use super::lanes::{index_of, mixed, module_of};
use crate::gpu::kernel::WORKGROUP_SIZE;
use crate::gpu::nonzero::{NONZERO, Passes};
use crate::gpu::pass::{Bind, Grid, Pass, Source};
use crate::gpu::shaders::{EntryPoint, binding};
use crate::gpu::uniform::GatherUniform;
use crate::mask::Mask;

/// The binding that holds the sums of a workgroup's lanes in place of shaders/scan.wgsl.
const SUMS: u32 = 99;
const SCAN: &str = "@group(0) @binding(99) var<storage, read> sums: array<vec2<u32>>;
    fn sum_before(local: u32, value: u32) -> vec2<u32> { return sums[local]; }";

struct Lanes {
    /// The words of each buffer that passes bind.
    words: HashMap<Source, Vec<u32>>,
    uniform: GatherUniform,
    binds: HashMap<u32, Bind>,
    sums: Vec<[u32; 2]>,
    /// Words that a lane of these passes has written.
    written: HashSet<(Source, usize)>,
    read_of_mask: u64,
}

impl Lanes {
    fn place(&mut self, access: Access) -> (Source, usize) {
        let Bind { source, bound } = self.binds[&access.binding];
        let end = access.offset + u64::from(access.bytes);
        assert!(end <= bound.bytes, "{access:?} of {bound:?}");
        let word = (bound.offset + access.offset) / 4;
        (source, index_of(word))
    }
}

impl Memory for Lanes {
    fn load(&mut self, access: Access) -> [u32; 4] {
        let mut found = [0; 4];
        let len = access.bytes as usize / 4;
        let at = index_of(access.offset / 4);
        match access.binding {
            binding::UNIFORM => {
                let words: &[u32] = bytemuck::cast_slice(std::slice::from_ref(&self.uniform));
                found[..len].copy_from_slice(&words[at..at + len]);
            }
            SUMS => found[..2].copy_from_slice(&self.sums[at / 2]),
            number => {
                self.read_of_mask += 4 * u64::from(number == binding::ENTRIES);
                let (source, word) = self.place(access);
                found[0] = self.words[&source].get(word).copied().unwrap_or(!0);
            }
        }
        found
    }

    fn store(&mut self, access: Access, words: &[u32]) {
        let place = self.place(access);
        assert!(self.written.insert(place), "{place:?} is written twice");
        let held = self.words.get_mut(&place.0).expect("a source");
        held[place.1] = words[0];
    }

    fn atomic(&mut self, _: Access, _: &dyn Fn(u32) -> u32) -> u32 {
        unreachable!("no pass has atomics")
    }

    fn bytes(&self, number: u32) -> u64 {
        self.binds[&number].bound.bytes
    }
}

fn module(entry_point: EntryPoint) -> naga::Module {
    let texts = [all_texts("common"), SCAN, all_texts("nonzero")];
    module_of(&texts.join("\n"), entry_point)
}

impl Lanes {
    /// Runs a pass; what the lanes of a workgroup sum is worked out from the bits.
    fn play(&mut self, pass: &Pass) {
        self.uniform = pass.uniform.expect("each pass has a uniform");
        self.binds = pass.binds.iter().collect();
        let Grid::Given([width, height, _]) = pass.grid else {
            panic!("a grid that is known")
        };
        let entry_point = pass.key.entry_point;
        let (first, tiles) = (self.uniform.order.first_key, self.uniform.order.tiles);
        if entry_point == NONZERO[3] {
            let counts = self.words.get_mut(&Source::Scratch(1)).expect("counts");
            let all = counts.iter_mut().take(tiles as usize);
            let sum = all.fold(0, |sum, count| sum + std::mem::replace(count, sum));
            counts[tiles as usize] = sum;
            let count = vec![sum.min(self.uniform.most_rows)];
            self.words.insert(Source::Count, count);
            self.written
                .retain(|(source, _)| *source != Source::Scratch(1));
            return;
        }
        let module = module(entry_point);
        let machine = Machine::new(&module, entry_point.name());
        for workgroup in 0..width * height {
            let tile = (first + workgroup) as usize;
            let lanes = tile * WORKGROUP_SIZE as usize;
            self.sums = vec![[0; 2]; WORKGROUP_SIZE as usize];
            let bits = self.words[&Source::Scratch(0)].iter().skip(lanes);
            let mut sum = 0;
            for (sums, bits) in self.sums.iter_mut().zip(bits) {
                *sums = [sum, 0];
                sum += bits.count_ones();
            }
            for local in 0..WORKGROUP_SIZE {
                machine.run([workgroup % width, workgroup / width, 0], local, self);
            }
            // The first lane has not summed what all have found.
            if NONZERO[..3].contains(&entry_point) && workgroup < tiles {
                let bits = self.words[&Source::Scratch(0)].iter().skip(lanes);
                let sum = bits
                    .take(WORKGROUP_SIZE as usize)
                    .map(|bits| bits.count_ones())
                    .sum();
                self.words.get_mut(&Source::Scratch(1)).expect("counts")[tile] = sum;
            }
        }
    }
}

/// Runs all passes, compares with the CPU, and returns how many passes there were and the bytes read of the mask.
fn check(
    mask: Mask<&[u8]>,
    start: usize,
    room: u32,
    fill: Option<u32>,
    limits: &wgpu::Limits,
) -> (usize, u64) {
    let numbers_start = 12;
    let passes = Passes::new(
        &mask,
        [start as u64, numbers_start],
        room.into(),
        fill,
        limits,
    );
    let passes = passes.expect("few bytes");
    let mut bytes = vec![0xff; start];
    bytes.extend(mask.data);
    bytes.resize(bytes.len().next_multiple_of(4), 0xff);
    let words = bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|&word| u32::from_le_bytes(word));
    let before: Vec<_> = (0..u64::from(room) + 4).map(mixed).collect();
    let scratch = passes.scratch().map(|bytes| vec![!0; index_of(bytes / 4)]);
    let [bits, counts] = scratch;
    let mut lanes = Lanes {
        words: HashMap::from([
            (Source::Indices, words.collect()),
            (Source::Scratch(0), bits),
            (Source::Scratch(1), counts),
            (Source::Slices, before.clone()),
        ]),
        uniform: bytemuck::Zeroable::zeroed(),
        binds: HashMap::new(),
        sums: Vec::new(),
        written: HashSet::new(),
        read_of_mask: 0,
    };
    let mut played = 0;
    let Ok(()) = passes.each(&mut |pass| {
        lanes.play(&pass);
        played += 1;
        Ok::<_, Infallible>(())
    });
    let found = mask.nonzero().expect("a valid mask");
    let kept = found.len().min(room as usize);
    let mut expected = before;
    expected[3..3 + kept].copy_from_slice(&found[..kept]);
    if let Some(fill) = fill {
        expected[3 + kept..3 + room as usize].fill(fill);
    }
    assert_eq!(lanes.words[&Source::Slices], expected, "{start}");
    assert_eq!(
        lanes.words[&Source::Count],
        [u32::try_from(kept).expect("few")]
    );
    (played, lanes.read_of_mask)
}

#[test]
fn lanes_number_the_true_entries_within_their_bindings() {
    let data: Vec<_> = (0..8200_u64)
        .flat_map(|at| {
            if at % 11 < 4 {
                [0; 4]
            } else {
                mixed(at).to_le_bytes()
            }
        })
        .collect();
    let limits = |binding_bytes, workgroups| wgpu::Limits {
        max_storage_buffer_binding_size: binding_bytes,
        max_compute_workgroups_per_dimension: workgroups,
        ..wgpu::Limits::default()
    };
    let whole = limits(1 << 27, 65_535);
    for first in 0..40_usize {
        let (len, start) = (first * 13, first % 9);
        let bits = Mask::bits(&data[..(first + len).div_ceil(8)], first, len);
        let mut bytes = Mask::bytes(&data[..len], len);
        bytes.inverted = first % 2 == 1;
        let room = u32::try_from(len / 2 + 5).expect("few");
        assert_eq!(
            check(bits, start, room, Some(7), &whole).0,
            if len > 0 { 4 } else { 2 }
        );
        check(bytes, start, room, Some(7), &whole);
        check(
            Mask::words(&data[..4 * len], len),
            4 * start,
            3,
            None,
            &whole,
        );
    }
    // The mask is read once, also if it is cut.
    let bytes = |len| Mask::bytes(&data[..len], len);
    assert_eq!(check(bytes(8192), 256, 8192, None, &whole), (3, 8192));
    let cut = limits(8192 + 260, 65_535);
    assert_eq!(check(bytes(3 * 8192), 256, 0, None, &cut), (4, 3 * 8192));
    // A grid of two rows has a workgroup too many.
    check(bytes(3 * 8192 - 1), 5, 9000, Some(1), &limits(36_128, 2));
    check(
        Mask::words(&data[..4 * 8200], 8200),
        4,
        8200,
        None,
        &limits(33_100, 2),
    );
}

#[test]
fn passes_bind_within_limits_up_to_32_bits() {
    let limits = wgpu::Limits {
        max_buffer_size: 1 << 30,
        ..wgpu::Limits::default()
    };
    for mask in [
        Mask::bits((), 5, u32::MAX as usize),
        Mask::words((), u32::MAX as usize),
    ] {
        let passes = Passes::new(&mask, [252, 4], 1000, None, &limits).expect("half a GiB of bits");
        let (mut next, mut tiles) = (0, 0);
        let Ok(()) = passes.each(&mut |pass| {
            let uniform = pass.uniform.expect("each pass has a uniform");
            for (number, bind) in pass.binds.iter() {
                let bound = bind.bound;
                assert!(number == 0 || bound.bytes <= limits.max_storage_buffer_binding_size);
                assert_eq!(bound.offset % 256, 0);
            }
            if NONZERO[..3].contains(&pass.key.entry_point) {
                assert_eq!((uniform.first_n, uniform.order.first_key), (next, tiles));
                next += uniform.rows;
                tiles += uniform.order.tiles;
            }
            Ok::<_, Infallible>(())
        });
        assert_eq!((next, tiles), (u32::MAX, 1 << 19));
    }
    let numbers = |room| Passes::new(&Mask::bytes((), 9), [0, 4], room, Some(0), &limits);
    assert!(numbers((1 << 25) - 1).is_ok());
    let error = numbers(1 << 25)
        .expect_err("more than a binding")
        .to_string();
    let text =
        "device limit max_storage_buffer_binding_size must be at least 134217732, found 134217728";
    assert_eq!(error, text);
}
