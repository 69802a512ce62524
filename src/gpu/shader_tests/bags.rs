//! Runs the passes over bags in the interpreter, which checks what lanes read and write, and compares the output with the CPU's.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use gather_oracle::sweep;
use naga_interpreter::{Access, Machine, Memory};

use super::float_sums::hostile;
use super::lanes::{index_of, mixed, module};
use crate::bags::{Bags, Combine, Offsets};
use crate::element::ElementTypes;
use crate::encoding::{Encoded, Encoding, FloatKind, QPARAMS};
use crate::gpu::bags::{Passes, Starts};
use crate::gpu::kernel::WORKGROUP_SIZE;
use crate::gpu::pass::{Bind, Grid, Pass, Source};
use crate::gpu::shaders::binding;
use crate::gpu::types::{TypedPlan, size};
use crate::gpu::uniform::GatherUniform;
use crate::index::{Index, IndexKind};
use crate::{BadIndices, BlockQuantized, Gather};

struct Lanes {
    /// The words of each buffer that passes bind.
    words: HashMap<Source, Vec<u32>>,
    uniform: GatherUniform,
    binds: HashMap<u32, Bind>,
    /// Words that a lane of this pass has written.
    written: HashSet<(Source, usize)>,
}

impl Lanes {
    fn place(&self, access: Access) -> (Source, usize) {
        let Bind { source, bound } = self.binds[&access.binding];
        let end = access.offset + u64::from(access.bytes);
        assert!(
            end <= bound.bytes.max(256 * u64::from(source == Source::Dummy)),
            "{access:?}"
        );
        (source, index_of((bound.offset + access.offset) / 4))
    }

    /// Runs all lanes of a pass.
    fn play(&mut self, pass: &Pass) {
        self.uniform = pass.uniform.unwrap_or(self.uniform);
        self.binds = pass.binds.iter().collect();
        self.written.clear();
        let entry_point = pass.key.entry_point;
        let module = module(entry_point);
        let machine = Machine::new(&module, entry_point.name());
        let Grid::Given([width, height, _]) = pass.grid else {
            panic!("a grid that is known")
        };
        let lanes = if entry_point.name() == "finish_report" {
            1
        } else {
            WORKGROUP_SIZE
        };
        for workgroup in (0..height).flat_map(|y| (0..width).map(move |x| [x, y, 0])) {
            for lane in 0..lanes {
                machine.run(workgroup, lane, self);
            }
        }
    }
}

impl Memory for Lanes {
    fn load(&mut self, access: Access) -> [u32; 4] {
        let mut found = [0; 4];
        let len = access.bytes as usize / 4;
        if access.binding == binding::UNIFORM {
            let words: &[u32] = bytemuck::cast_slice(std::slice::from_ref(&self.uniform));
            found[..len].copy_from_slice(&words[index_of(access.offset / 4)..][..len]);
            return found;
        }
        let (source, word) = self.place(access);
        let words = self.words.get(&source).map_or(&[][..], Vec::as_slice);
        for (at, found) in found[..len].iter_mut().enumerate() {
            // Past the buffer, a binding's last bytes.
            *found = words.get(word + at).copied().unwrap_or(!0);
        }
        found
    }

    fn store(&mut self, access: Access, words: &[u32]) {
        let (source, first) = self.place(access);
        let held = self.words.get_mut(&source).expect("a source");
        for (at, &word) in words.iter().enumerate() {
            assert!(self.written.insert((source, first + at)) || source == Source::Report);
            held[first + at] = word;
        }
    }

    fn atomic(&mut self, access: Access, change: &dyn Fn(u32) -> u32) -> u32 {
        let (source, at) = self.place(access);
        let word = &mut self.words.get_mut(&source).expect("a source")[at];
        std::mem::replace(word, change(*word))
    }

    fn bytes(&self, number: u32) -> u64 {
        self.binds[&number].bound.bytes
    }
}

/// The words of a buffer in which bytes lie after others.
fn after(start: u64, bytes: &[u8]) -> Vec<u32> {
    let mut all = vec![0xee; index_of(start)];
    all.extend(bytes);
    all.resize(all.len().next_multiple_of(4) + 4, 0xee);
    bytemuck::pod_collect_to_vec(&all)
}

/// Bags of rows of an encoding.
struct Case {
    encoding: Encoding,
    to: FloatKind,
    /// Rows, values in a row along the last dim, and how many of these rows a slice has.
    shape: [usize; 3],
    /// As many indices as the first offsets that ascend say, and two more.
    offsets: Vec<i64>,
    combine: Combine<()>,
    policy: BadIndices,
    index_kind: IndexKind,
    /// Bytes after aligned offsets.
    start: u64,
    /// True if some values and weights are subnormal, infinite, NaNs or zeros of either sign.
    hostile: bool,
}

/// Runs all passes, compares output and report with the CPU, and returns the passes' names.
fn check(case: &Case) -> Vec<&'static str> {
    let [rows, len, of_slice] = case.shape;
    let offsets = &case.offsets;
    let in_order = offsets.windows(2).take_while(|ends| ends[0] <= ends[1]);
    let count = in_order.map(|ends| ends[1]).last().unwrap_or(0) + 2;
    // One in nine is out of range.
    let index = |at: i64| {
        if at % 9 == 4 {
            120
        } else {
            at * 7 % 11 % i64::try_from(rows).expect("few")
        }
    };
    let ids: Vec<i64> = (0..count).map(index).collect();
    let narrow: Vec<i8> = ids
        .iter()
        .map(|&id| i8::try_from(id).expect("small"))
        .collect();
    let gather = Gather::new().bad_indices(case.policy);
    let plan = gather
        .plan(&[rows, of_slice, len], &[ids.len()])
        .expect("valid shapes");
    let types = ElementTypes::decoded(case.encoding, case.to, case.index_kind);
    let mut typed = TypedPlan::new(&plan, types).expect("whole blocks");
    typed.bytes.output = ((offsets.len() - 1) * plan.slice_len()) as u64 * case.to.bytes();
    let bytes = |seed: u64, len: u64| -> Vec<u8> {
        // Floats near 1, wherever scales lie.
        (0..len)
            .map(|at| 0x30 | mixed(seed + at).to_le_bytes()[0] & 15)
            .collect()
    };
    let mut params = bytes(1, typed.bytes.params);
    let hostile = hostile();
    let number = |at: u64| match case.hostile && mixed(at).is_multiple_of(9) {
        true => f32::from_bits(hostile[index_of(u64::from(mixed(at)) / 9) % hostile.len()]),
        false => (at % 17) as f32 - 5.5,
    };
    if case.hostile {
        params = bytemuck::pod_collect_to_vec(
            &(0..typed.bytes.params / 4).map(number).collect::<Vec<_>>(),
        );
    }
    let qparams = [2, 3].map(|seed| bytes(seed << 20, typed.bytes.qparams[index_of(seed) - 2]));
    let weights: Vec<f32> = (0..count.cast_unsigned())
        .map(|at| number(at + 99))
        .collect();
    let combine = match case.combine {
        Combine::Sum => Combine::Sum,
        Combine::Weighted(()) => Combine::Weighted(&weights[..]),
        Combine::Mean => Combine::Mean,
        Combine::Max => Combine::Max,
    };
    let bags = Bags {
        offsets: Offsets::from(&offsets[..]),
        combine,
    };
    let mut table = Encoded::new(case.encoding, &params[..]);
    for (at, operand) in QPARAMS.into_iter().enumerate() {
        if case.encoding.has(operand) {
            table.qparams[at] = Some(&qparams[at][..]);
        }
    }
    let start = case.start;
    let weights_start = start / 4 * 4;
    let starts = Starts {
        params: if case.encoding == Encoding::F32 {
            weights_start
        } else {
            start
        },
        qparams: [weights_start; 2],
        indices: start / 8 * 8,
        output: start / 4 * 4 + start % 4 / 2 * (4 - case.to.bytes()),
        of_bags: [
            (weights_start, 8 * offsets.len() as u64),
            (weights_start, 4 * weights.len() as u64),
        ],
        has_report: true,
        ..Starts::default()
    };
    let passes = Passes::new(&typed, &bags, &starts, &wgpu::Limits::default());
    let passes = passes.expect("within the limits");
    let indices: Vec<u8> = match case.index_kind {
        IndexKind::I8 => bytemuck::cast_slice(&narrow).to_vec(),
        _ => bytemuck::cast_slice(&ids).to_vec(),
    };
    let old = vec![0x77_u8; index_of(typed.bytes.output)];
    let mut lanes = Lanes {
        words: HashMap::from([
            (Source::Table(0), after(starts.params, &params)),
            (Source::Scales, after(starts.qparams[0], &qparams[0])),
            (Source::ZeroPoints, after(starts.qparams[1], &qparams[1])),
            (Source::Indices, after(starts.indices, &indices)),
            (
                Source::Offsets,
                after(weights_start, bytemuck::cast_slice(offsets)),
            ),
            (
                Source::Weights,
                after(weights_start, bytemuck::cast_slice(&weights)),
            ),
            (Source::Slices, after(starts.output, &old)),
            (Source::Counter, vec![0; 2]),
            (Source::Report, vec![7; 20]),
        ]),
        uniform: bytemuck::Zeroable::zeroed(),
        binds: HashMap::new(),
        written: HashSet::new(),
    };
    for (number, bytes) in passes.scratch().into_iter().enumerate() {
        lanes
            .words
            .insert(Source::Scratch(number), vec![!0; index_of(bytes / 4)]);
    }
    let mut names = Vec::new();
    let Ok(()) = passes.each(&mut |pass| {
        names.push(pass.key.entry_point.name());
        lanes.play(&pass);
        Ok::<_, Infallible>(())
    });
    // The policies of the CPU leave rows out, or replace their indices. An end is clamped into the start and the count.
    let place = |at: usize| index_of(offsets[at].clamp(0, count).cast_unsigned());
    let mut values = Vec::new();
    for bag in 0..offsets.len() - 1 {
        let places = place(bag)..place(bag + 1).max(place(bag));
        let ids = &ids[places.clone()];
        let offsets = Offsets::each(1, ids.len());
        let combine = match combine {
            Combine::Weighted(weights) => Combine::Weighted(&weights[places]),
            of_all => of_all,
        };
        let plan = gather.plan(&[rows, of_slice, len], &[ids.len()]);
        let plan = plan.expect("valid shapes");
        let found = plan.gather_bags_encoded(&table, ids, Bags { offsets, combine });
        values.extend(found.expect("filled"));
    }
    let expected: Vec<u8> = match case.to {
        FloatKind::F32 => bytemuck::cast_slice(&values).to_vec(),
        FloatKind::F16 => halves(&values, |x| half::f16::from_f32(x).to_bits()),
        _ => halves(&values, |x| half::bf16::from_f32(x).to_bits()),
    };
    assert!(case.hostile || values.iter().all(|value| value.is_finite()));
    assert_eq!(
        lanes.words[&Source::Slices],
        after(starts.output, &expected),
        "{:?}",
        case.encoding
    );
    let bad = ids.iter().filter(|&&id| id == 120).count();
    let bad = if case.policy == BadIndices::Fill {
        size(bad as u64)
    } else {
        0
    };
    assert_eq!(lanes.words[&Source::Report][0], bad);
    assert_eq!(lanes.words[&Source::Counter], [0; 2]);
    names
}

fn halves(values: &[f32], half: impl Fn(f32) -> u16) -> Vec<u8> {
    values
        .iter()
        .flat_map(|&value| half(value).to_le_bytes())
        .collect()
}

#[test]
fn lanes_combine_the_rows_of_bags() {
    let quantized = BlockQuantized::new(4, 16)
        .expect("a block")
        .with_zero_points();
    let encodings = [
        Encoding::F32,
        Encoding::F16,
        Encoding::Q8_0,
        Encoding::RowWise8,
        Encoding::BlockQuantized(quantized),
    ];
    let few = || vec![0, 0, 1, 3, 8, 8, 21];
    for (number, encoding) in encodings.into_iter().enumerate() {
        let block = index_of(encoding.block_len());
        for (at, [len, of_slice]) in [[3, 1], [8, 1], [4, 3], [300, 1]].into_iter().enumerate() {
            let shape = [
                5,
                (len * block)
                    .next_multiple_of(block.max(2))
                    .min(600 / block * block),
                of_slice,
            ];
            let all = [FloatKind::F32, FloatKind::F16, FloatKind::Bf16];
            for to in sweep::some(0, 3, number + at, all) {
                let combine = [
                    Combine::Sum,
                    Combine::Weighted(()),
                    Combine::Mean,
                    Combine::Max,
                ];
                check(&Case {
                    encoding,
                    to,
                    shape,
                    offsets: few(),
                    combine: combine[(number + at + to as usize) % 4],
                    policy: [BadIndices::Fill, BadIndices::Clamp, BadIndices::Wrap][at % 3],
                    index_kind: [IndexKind::I64, IndexKind::I8][(number + at) % 2],
                    start: [0, 13, 4, 22][(at + number) % 4],
                    hostile: false,
                });
            }
        }
    }
    let long = |offsets, combine| Case {
        encoding: Encoding::F32,
        to: FloatKind::F32,
        shape: [3, 1, 1],
        offsets,
        combine,
        policy: BadIndices::Fill,
        index_kind: i64::KIND,
        start: 0,
        hostile: false,
    };
    let offsets = vec![0, 1, 1025, 2050, 2050, 4350, 4353];
    let names = ["count_bad", "finish_report", "bag_blocks", "bags"];
    for combine in [
        Combine::Sum,
        Combine::Weighted(()),
        Combine::Mean,
        Combine::Max,
    ] {
        assert_eq!(check(&long(offsets.clone(), combine)), names);
    }
    for (at, combine) in [
        Combine::Sum,
        Combine::Weighted(()),
        Combine::Mean,
        Combine::Max,
    ]
    .into_iter()
    .enumerate()
    {
        let hostile = Case {
            shape: [40, 4 - at % 2, 3],
            hostile: true,
            ..long((0..30).map(|at| at * 37 / 2).collect(), combine)
        };
        check(&hostile);
    }
    // Bags that overlap, end before they begin, or lie outside.
    let fall = vec![0, 3000, 100, 2900, -7, 1 << 32, i64::MAX, 0, i64::MIN, 5];
    assert_eq!(check(&long(fall, Combine::Sum)), names);
}
