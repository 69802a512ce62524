//! Numbers of masks, and the gathers and scatters that take them, beside the CPU.

use libtest_mimic::Trial;
use testkit::data;
use testkit::gpu::{Gpu, range};
use testkit::indices::Hash;
use testkit::sweep::takes_every_case;
use wgpu_gather::{
    Buffers, ElementTypes, Executor, Gather, GatherError, Mask, Nonzero, Ranges, ScatterRanges,
    wgpu,
};

use crate::batch::{read_back, upload};
use crate::cuts::limited_device;
use crate::{flat, trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("numbers_of_masks_of_each_length", lengths),
        trial("numbers_of_a_mask_of_many_tiles", many_tiles),
        trial("numbers_of_random_masks", random),
        trial("numbers_of_recorded_masks", recorded),
        trial("small_limits_cut_masks", cuts),
        trial("a_mask_selects_rows_in_one_pass", in_one_pass),
        trial("an_executor_takes_a_mask", executors),
        trial("mistakes_in_masks_are_typed_errors", mistakes),
    ]
}

/// A mask of some kind in a buffer, between other bytes, and where its numbers go.
struct Case<'a> {
    entries: &'a [bool],
    /// Bits in an entry.
    entry_bits: usize,
    /// Bits before the mask in its range.
    first: usize,
    /// Bytes before the ranges of mask and numbers.
    starts: [usize; 2],
    inverted: bool,
    room: usize,
    fill: Option<u32>,
}

fn mask_of<D>(case: &Case<'_>, data: D) -> Mask<D> {
    let len = case.entries.len();
    let mask = match case.entry_bits {
        1 => Mask::bits(data, case.first, len),
        8 => Mask::bytes(data, len),
        _ => Mask::words(data, len),
    };
    if case.inverted { mask.inverted() } else { mask }
}

impl Case<'_> {
    /// The bytes of the mask. Other bits than those of its entries are set.
    fn bytes(&self) -> Vec<u8> {
        let entries = self.entries.iter().enumerate();
        match self.entry_bits {
            1 => {
                let mut bytes = vec![0xff; (self.first + self.entries.len()).div_ceil(8)];
                for (at, _) in entries.filter(|&(_, &entry)| !entry) {
                    let bit = self.first + at;
                    bytes[bit / 8] &= !(1 << (bit % 8));
                }
                bytes
            }
            8 => entries
                .map(|(at, &entry)| u8::from(entry) << (at % 8))
                .collect(),
            _ => entries
                .flat_map(|(at, &entry)| (u32::from(entry) << (at % 32)).to_le_bytes())
                .collect(),
        }
    }

    /// Writes the numbers three times, and compares them and their count with the CPU's.
    fn check(&self, gpu: &Gpu) {
        let [start, numbers_start] = self.starts;
        let bytes = self.bytes();
        let mut all = vec![0xa5; (start + bytes.len()).next_multiple_of(4) + 4];
        all[start..start + bytes.len()].copy_from_slice(&bytes);
        let old = vec![0xee_u8; numbers_start + 4 * self.room + 4];
        let [mask, numbers, count] = [&all, &old, &vec![0x77_u8; 264]].map(|of| upload(gpu, of));
        let end = (numbers_start + 4 * self.room) as u64;
        let nonzero = Nonzero {
            mask: mask_of(self, mask.slice(start as u64..)),
            numbers: match self.room {
                // wgpu has no empty slice of a buffer.
                0 => numbers.slice(numbers_start as u64..numbers_start as u64 + 3),
                _ => numbers.slice(numbers_start as u64..end),
            },
            count: count.slice(256..),
            fill: self.fill,
        };
        let prepared = gpu.gatherer().prepare_nonzero(&nonzero).unwrap();
        let found = mask_of(self, bytes.as_slice()).nonzero().unwrap();
        let kept = found.len().min(self.room);
        let mut expected = old.clone();
        let places = expected[numbers_start..].chunks_exact_mut(4);
        for (at, place) in places.take(self.room).enumerate() {
            if let Some(number) = found.get(at).copied().or(self.fill) {
                place.copy_from_slice(&number.to_le_bytes());
            }
        }
        for _ in 0..3 {
            gpu.submit(|encoder| prepared.encode(encoder));
            let [written, counted] = read_back(gpu, [&numbers, &count]);
            let Self {
                entry_bits, first, ..
            } = self;
            let text = || {
                let len = self.entries.len();
                format!(
                    "{len} entries of {entry_bits} bits from {first}, {:?}",
                    self.starts
                )
            };
            assert_eq!(
                counted[256..260],
                u32::try_from(kept).unwrap().to_le_bytes(),
                "{}",
                text()
            );
            assert!(written == expected, "{}", text());
            assert_eq!(counted[..256], [0x77; 256]);
        }
    }
}

/// None, all, every other, the last only, and some.
fn patterns(len: usize) -> [Vec<bool>; 5] {
    let of = |is_true: &dyn Fn(usize) -> bool| (0..len).map(is_true).collect();
    [
        of(&|_| false),
        of(&|_| true),
        of(&|at| at % 2 == 1),
        of(&|at| at + 1 == len),
        of(&|at| at * at % 251 % 7 == 3),
    ]
}

fn lengths(gpu: &'static Gpu) {
    let mut lengths = vec![
        0,
        1,
        31,
        255,
        256,
        257,
        8191,
        8192,
        8193,
        65_535,
        (1 << 20) + 3,
    ];
    if takes_every_case() {
        lengths.push(1 << 24);
    }
    for len in lengths {
        for (number, entries) in patterns(len).iter().enumerate() {
            for entry_bits in [1, 8, 32] {
                Case {
                    entries,
                    entry_bits,
                    first: 0,
                    starts: [0, 0],
                    inverted: (number + entry_bits) % 3 == 0,
                    room: len,
                    fill: None,
                }
                .check(gpu);
            }
        }
    }
}

/// More tiles than a round of the scan takes.
fn many_tiles(gpu: &'static Gpu) {
    let entries: Vec<_> = (0..(1 << 24) + 9000).map(|at| at % 1009 == 3).collect();
    Case {
        entries: &entries,
        entry_bits: 1,
        first: 3,
        starts: [1, 4],
        inverted: false,
        room: 20_000,
        fill: Some(1),
    }
    .check(gpu);
}

fn random(gpu: &'static Gpu) {
    let mut hash = Hash::new(90);
    let cases = if takes_every_case() { 3000 } else { 300 };
    for case in 0..cases {
        let len = hash.below([70, 300, 9000, 20_000][case % 4]);
        let share = [0, 1, 50, 99, 100][hash.below(5)];
        let entries: Vec<_> = (0..len).map(|_| hash.below(100) < share).collect();
        let entry_bits = [1, 8, 32][case % 3];
        // Each bit and byte offset comes up.
        let first = if entry_bits == 1 { case / 3 % 40 } else { 0 };
        let start = hash.below(300) + case / 3 % 4;
        Case {
            entries: &entries,
            entry_bits,
            first,
            starts: [
                if entry_bits == 32 { start * 4 } else { start },
                4 * hash.below(100),
            ],
            inverted: hash.below(2) == 1,
            room: [len, len / 2, len + 9, hash.below(5)][hash.below(4)],
            fill: (hash.below(2) == 1).then_some(0xffff_fffe),
        }
        .check(gpu);
    }
}

/// Masks whose numbers on the CPU are those of NumPy, TensorFlow and JAX, with JAX's sizes and fills.
fn recorded(gpu: &'static Gpu) {
    let unsigned = |fill| i32::try_from(fill).unwrap().cast_unsigned();
    for (number, (line, entries)) in data::masks().iter().enumerate() {
        let room = line["size"].as_u64().unwrap_or(entries.len() as u64);
        Case {
            entries,
            entry_bits: [1, 8, 32][number % 3],
            first: 0,
            starts: [0, 0],
            inverted: false,
            room: usize::try_from(room).unwrap(),
            fill: line["fill"].as_i64().map(unsigned),
        }
        .check(gpu);
    }
}

/// One tile of words in a dispatch, or a few of others, in grids of several rows.
fn cuts(_: &'static Gpu) {
    let gpu = limited_device(|limits| wgpu::Limits {
        max_storage_buffer_binding_size: 40 << 10,
        max_compute_workgroups_per_dimension: 2,
        ..limits
    });
    for entries in &patterns(100_003)[2..] {
        for (entry_bits, first) in [(1, 0), (1, 13), (8, 0), (32, 0)] {
            Case {
                entries,
                entry_bits,
                first,
                starts: [4, 8],
                inverted: false,
                room: 10_000,
                fill: Some(7),
            }
            .check(&gpu);
        }
    }
    let [mask, numbers, count] = [1 << 20, 48 << 10, 4].map(|len| upload(&gpu, &vec![0; len]));
    let refused = |fill| {
        let mask = Mask::bytes(mask.slice(..), 1 << 20);
        let (numbers, count) = (numbers.slice(..), count.slice(..));
        let nonzero = Nonzero {
            mask,
            numbers,
            count,
            fill,
        };
        gpu.gatherer().prepare_nonzero(&nonzero).unwrap_err()
    };
    let error = GatherError::DeviceLimit {
        name: "max_storage_buffer_binding_size",
        expected: 48 << 10,
        found: 40 << 10,
    };
    assert_eq!([refused(None), refused(Some(0))], [error.clone(), error]);
}

/// Numbers, count, gather and scatter in one pass of the app's: `y[mask] = x[mask]`, and `y[:, mask] = x[:, mask]`.
fn in_one_pass(gpu: &'static Gpu) {
    in_one_pass_along(gpu, 0, [5000, 3]);
    in_one_pass_along(gpu, 1, [3, 5000]);
}

fn in_one_pass_along(gpu: &Gpu, axis: usize, shape: [usize; 2]) {
    let len = shape[axis];
    let [.., entries] = patterns(len);
    let rows: Vec<u32> = (0..15_000).collect();
    let [x, y] = [flat(gpu, &rows), flat(gpu, vec![9_u32; 3 * len])];
    let (mask, numbers) = (flat(gpu, &entries), flat(gpu, vec![0_u32; len]));
    let (count, output) = (flat(gpu, &[0_u32]), flat(gpu, vec![7_u32; 3 * len]));
    let nonzero = gpu.gatherer().prepare_nonzero(&Nonzero {
        mask: Mask::bytes(range(&mask), len),
        numbers: range(&numbers),
        count: range(&count),
        fill: None,
    });
    let nonzero = nonzero.unwrap();
    assert_eq!(format!("{nonzero:?}"), "Prepared { dispatches: 3 }");
    let plan = Gather::new()
        .axis(i64::try_from(axis).unwrap())
        .plan(&shape, &[len]);
    let plan = plan.unwrap();
    let types = ElementTypes::of::<u32, u32>();
    let (indices, count) = (range(&numbers), range(&count));
    let ranges = Ranges {
        params: range(&x),
        indices,
        output: range(&output),
    };
    let gather = Buffers::gather(types, ranges).index_count(count);
    let gather = gpu.gatherer().prepare(&plan, &gather).unwrap();
    let ranges = ScatterRanges {
        target: range(&y),
        indices,
        updates: range(&output),
    };
    let scatter = Buffers::scatter(types, ranges).index_count(count);
    let scatter = gpu.gatherer().prepare(plan.unique(), &scatter).unwrap();
    gpu.submit(|encoder| {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        nonzero.encode_in_pass(&mut pass);
        gather.encode_in_pass(&mut pass);
        scatter.encode_in_pass(&mut pass);
    });
    let on_cpu = Mask::from(entries.as_slice());
    let selected = on_cpu.compress(&rows, &shape, axis).unwrap();
    let mut target = vec![9; 3 * len];
    let done = on_cpu.scatter(&selected, &shape, axis, &mut target);
    done.unwrap();
    // What the count leaves out ends each block.
    let blocks = [1, 3][axis];
    let mut expected = vec![7; 3 * len];
    let of_blocks = selected.chunks(selected.len() / blocks);
    for (block, selected) in expected.chunks_mut(3 * len / blocks).zip(of_blocks) {
        block[..selected.len()].copy_from_slice(selected);
    }
    assert!(output.download_blocking().unwrap() == expected);
    assert!(y.download_blocking().unwrap() == target);
}

fn executors(gpu: &'static Gpu) {
    for executor in [gpu.executor(), Executor::cpu()] {
        let x = executor
            .upload(&[10_i32, 11, 20, 21, 30, 31], &[3, 2])
            .unwrap();
        let words = executor.upload(&[4_u32, 0, 1 << 31], &[3]).unwrap();
        let bits = executor.upload(&[0b0010_1000_u8], &[1]).unwrap();
        let none = executor.zeros::<bool>(&[3]).unwrap();
        let rows = |mask: wgpu_gather::Tensor<u32>| {
            let rows = executor.gather(Gather::new(), &x, &mask).wait().unwrap();
            (mask.shape()[0], rows)
        };
        let numbers = executor.nonzero_blocking(&words).unwrap();
        assert_eq!(rows(numbers), (2, vec![10, 11, 30, 31]));
        let numbers = pollster::block_on(executor.nonzero(Mask::bits(&bits, 3, 3).inverted()));
        assert_eq!(rows(numbers.unwrap()), (1, vec![20, 21]));
        assert_eq!(rows(executor.nonzero_blocking(&none).unwrap()), (0, vec![]));
        let long = executor
            .nonzero_blocking(Mask::bits(&bits, 3, 6))
            .unwrap_err();
        assert_eq!(long.to_string(), "mask must have 2 bytes, found 1");
        let other = Executor::cpu().upload(&[true], &[1]).unwrap();
        if executor.device().is_ok() {
            let error = executor.nonzero_blocking(&other).unwrap_err().to_string();
            assert_eq!(
                error,
                "mask must be a tensor of this owner, found one of another executor"
            );
        }
    }
}

fn mistakes(gpu: &'static Gpu) {
    let [arena, other] = [1024, 1024].map(|len| upload(gpu, &vec![0; len]));
    let refused = |mask, numbers, count, text: &str| {
        let nonzero = Nonzero {
            mask,
            numbers,
            count,
            fill: None,
        };
        let error = gpu.gatherer().prepare_nonzero(&nonzero).unwrap_err();
        assert_eq!(error.to_string(), text);
    };
    let (bytes, other) = (|range| Mask::bytes(range, 100), other.slice(512..));
    let (mask, numbers) = (bytes(arena.slice(..)), arena.slice(256..512));
    let short = "mask range must have at least 100 bytes, found 80";
    refused(bytes(arena.slice(..80)), numbers, other, short);
    let short = "mask range must have at least 16 bytes, found 12";
    refused(Mask::bits(arena.slice(..12), 3, 100), numbers, other, short);
    let start = "mask range must start at a multiple of 4 bytes, found 2";
    refused(Mask::words(arena.slice(2..), 9), numbers, other, start);
    let start = "indices range must start at a multiple of 4 bytes, found 258";
    refused(mask, arena.slice(258..), other, start);
    let both = "indices must not share bytes with mask, found 96..100 in both";
    refused(mask, arena.slice(96..256), other, both);
    let both = "index count must not share bytes with indices, found 256..260 in both";
    refused(mask, numbers, arena.slice(256..), both);
    let many = "mask must have at most 4294967295 elements, found shape [4294967296]";
    refused(
        Mask::bits(arena.slice(..), 0, 1 << 32),
        numbers,
        other,
        many,
    );
}
