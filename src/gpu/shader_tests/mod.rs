//! Tests the shaders as naga parses them: files, bindings and entry points are as in Rust. Needs no device.

mod addresses;
mod bags;
mod coalescing;
mod decoded;
mod edge_values;
mod float_sums;
mod gaps;
mod lanes;
mod mask;
mod nonzero;
mod oracle;
mod overrides;
mod parsed;
mod past_32_bits;
mod pipeline;
mod reachable;
mod same_in_rust;
mod scatters;
mod small_gathers;
mod texts;
mod translation;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use naga::valid::GlobalUse;
use naga::{AddressSpace, Expression, StorageAccess, TypeInner};

use self::parsed::ValidModule;
use self::reachable::{reachable, shaders};
use super::kernel::{Kernel, Unit};
use super::pass::MOST_BINDS;
use super::scatter::order::{SORT, WORKGROUP_BYTES};
use super::shaders::{EntryPoint, Shader, all_texts, binding};
use super::types::size;
use crate::encoding::{BlockQuantized, Decoding, Encoding, FloatKind};
use gather_oracle::sweep::takes_every_case;

const READ: AddressSpace = AddressSpace::Storage {
    access: StorageAccess::LOAD,
};
const READ_AND_WRITE: AddressSpace = AddressSpace::Storage {
    access: StorageAccess::LOAD.union(StorageAccess::STORE),
};

/// The encodings, and some quantised ones with scales and zero points of each kind.
fn encodings() -> Vec<Encoding> {
    let quantized = |bits, block_len| BlockQuantized::new(bits, block_len).expect("a block");
    let quantized = [
        quantized(2, 16),
        quantized(4, 32)
            .with_scales(FloatKind::F16)
            .with_zero_points(),
        (quantized(8, 64).with_scales(FloatKind::Bf16))
            .with_zero_points()
            .signed(),
        quantized(4, 16).with_zero_point_0(),
        quantized(2, 16).with_zero_points(),
    ];
    let quantized = quantized.map(Encoding::BlockQuantized);
    Encoding::ALL.iter().copied().chain(quantized).collect()
}

/// All encodings, decoded to `f32`; and some of them, or with `GATHER_EVERY_CASE` all, decoded to halves.
fn decodings() -> Vec<Decoding> {
    let of_halves = |encoding: Encoding, to| match (encoding, to) {
        _ if takes_every_case() => true,
        (Encoding::Q6K, FloatKind::Bf16) => true,
        (Encoding::F32, FloatKind::F16) => true,
        (Encoding::BlockQuantized(of), FloatKind::F16) => of.bits() == 8,
        _ => false,
    };
    let all = encodings().into_iter();
    let all = all.flat_map(|of| FloatKind::ALL.iter().map(move |&to| (of, to)));
    let some = all.filter(|&(of, to)| !of.is(to) && (to == FloatKind::F32 || of_halves(of, to)));
    some.map(|(encoding, to)| Decoding { encoding, to })
        .collect()
}

/// The files in shaders/ and shaders/decode/.
fn paths() -> Vec<PathBuf> {
    let files = |folder| {
        let entries = std::fs::read_dir(folder).expect("shaders/ is there");
        entries.map(|entry| entry.expect("shaders/ can be listed").path())
    };
    let paths = files("shaders").chain(files("shaders/decode"));
    paths.filter(|path| path.is_file()).collect()
}

#[test]
fn modules_are_made_of_all_files() {
    let used: BTreeSet<_> = shaders()
        .into_iter()
        .flat_map(|shader| shader.files(all_texts))
        .collect();
    let mut found = BTreeSet::new();
    for path in paths() {
        let name = path
            .strip_prefix("shaders")
            .expect("a path in it")
            .with_extension("");
        found.insert(name.to_str().expect("a name is text").to_owned());
    }
    assert_eq!(found, used.into_iter().map(str::to_owned).collect());
    let names: BTreeSet<_> = shaders().into_iter().map(Shader::name).collect();
    assert_eq!(names.len(), shaders().len());
}

/// Files that are alternatives in a module define the same functions; no others do.
#[test]
fn a_name_of_a_function_is_in_one_file_or_in_alternatives() {
    let units = [
        "vec4",
        "words",
        "signed_words",
        "four_decoded",
        "one_decoded",
        "four_halves",
    ];
    let round = ["to_f16", "to_bf16"];
    let widen = ["from_f16", "from_bf16"];
    let fold = ["fold_units", "fold_halves"];
    let decode: Vec<_> = encodings().into_iter().map(Encoding::file).collect();
    let find = ["index_rows", "general"];
    let find_packed = ["packed_words", "packed_narrow"];
    let updates = ["assign", "assign_last", "reduce", "atomics"];
    let stores = ["updates", "target_units", "atomics"];
    let moves = [&["slices"], &updates[..], &stores].concat();
    let alternatives = [
        &find[..],
        &find_packed,
        &units,
        &decode,
        &round,
        &widen,
        &fold,
        &moves,
    ];
    let mut files: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in shaders()
        .into_iter()
        .flat_map(|shader| shader.files(all_texts))
    {
        for line in all_texts(file).lines() {
            let declared = line
                .strip_prefix("fn ")
                .and_then(|line| line.split('(').next());
            if let Some(name) = declared {
                files.entry(name).or_default().insert(file);
            }
        }
    }
    for (name, files) in files {
        let is_alternative = |all: &&[&str]| files.iter().all(|file| all.contains(file));
        assert!(
            files.len() == 1 || alternatives.iter().any(is_alternative),
            "{name} is in {files:?}"
        );
    }
}

#[test]
fn modules_have_the_entry_points_of_pipelines() {
    for shader in ValidModule::all(false) {
        let found = shader.module.entry_points.iter();
        let found: BTreeSet<_> = found.map(|found| found.name.as_str()).collect();
        let mut expected: BTreeSet<_> = shader.entry_points().map(EntryPoint::name).collect();
        // Scatters share the texts of gathers, with the entry points that report.
        let is_scatter = |of: EntryPoint| matches!(of, EntryPoint::Scatter { .. });
        if shader.entry_points().any(is_scatter) {
            expected.extend(found.iter().filter(|name| name.ends_with("_report")));
        }
        assert_eq!(found, expected, "{:?}", shader.shader);
    }
}

#[test]
fn entry_points_use_the_bindings_of_the_table() {
    for shader in ValidModule::all(false) {
        for entry_point in shader.entry_points() {
            let found: Vec<_> = shader.globals(entry_point).into_keys().collect();
            assert_eq!(found, entry_point.bindings(), "{entry_point:?}");
        }
    }
}

#[test]
fn a_gather_without_a_report_binds_its_operands_only() {
    for key in reachable() {
        let storage = |&&number: &&u32| number != binding::UNIFORM;
        let bindings = key.entry_point.bindings();
        let most = match key.entry_point {
            EntryPoint::Gather { kernel, report, .. } => {
                let qparams = if kernel.block_quantized().is_some() {
                    2
                } else {
                    0
                };
                3 + usize::from(report) + qparams
            }
            EntryPoint::OutOfRange | EntryPoint::IndexRows { .. } => 2,
            // The most that `downlevel_defaults` allows.
            EntryPoint::Scatter { .. } | EntryPoint::Alone(_) | EntryPoint::Fold { .. } => 4,
            // The most that WebGPU guarantees.
            EntryPoint::FinishReport | EntryPoint::CountRows | EntryPoint::Bags(_) => 8,
            EntryPoint::Narrow(_) => 2,
        };
        assert!(bindings.iter().filter(storage).count() <= most, "{key:?}");
        assert!(bindings.len() <= MOST_BINDS, "{key:?}");
    }
}

#[test]
fn the_sort_uses_the_workgroup_memory_that_limits_ask_for() {
    let shader = ValidModule::new(Shader::of(SORT[3]), false);
    let module = &shader.module;
    let bytes = |pass: EntryPoint| {
        let mut entry_points = module.entry_points.iter();
        let at = entry_points.position(|found| found.name == pass.name());
        let uses = shader.info.get_entry_point(at.expect("a pass"));
        let globals = module.global_variables.iter();
        let used = globals.filter(|(handle, global)| {
            global.space == AddressSpace::WorkGroup && !uses[*handle].is_empty()
        });
        let size = |ty| module.types[ty].inner.size(module.to_ctx());
        used.map(|(_, global)| size(global.ty)).sum::<u32>()
    };
    let most = SORT.map(bytes).into_iter().max();
    assert_eq!(most, Some(WORKGROUP_BYTES));
}

#[test]
fn each_binding_is_the_operand_that_rust_binds() {
    for shader in ValidModule::all(false) {
        for (_, global) in shader.module.global_variables.iter() {
            let Some(global_binding) = &global.binding else {
                assert_eq!(global.space, AddressSpace::WorkGroup, "{:?}", global.name);
                continue;
            };
            let expected = match global_binding.binding {
                binding::UNIFORM => ("gather", AddressSpace::Uniform),
                binding::PARAMS => ("params", READ),
                binding::INDICES => ("indices", READ),
                binding::OUTPUT => ("output", READ_AND_WRITE),
                binding::COUNTER => ("counter", READ_AND_WRITE),
                binding::REPORT => ("report", READ_AND_WRITE),
                binding::COUNT => ("count", READ),
                binding::INDIRECT_UNIFORM => ("indirect", READ_AND_WRITE),
                binding::WORKGROUPS => ("workgroups", READ_AND_WRITE),
                binding::MASK => ("mask", READ_AND_WRITE),
                binding::SCALES => ("scales", READ),
                binding::ZERO_POINTS => ("zero", READ),
                binding::TARGET => ("target", READ_AND_WRITE),
                binding::UPDATES => ("updates", READ),
                binding::WINNERS => ("winners", READ_AND_WRITE),
                binding::WINNERS_FOUND => ("winners", READ),
                binding::PAIRS => ("pairs", READ),
                binding::SORTED_PAIRS => ("sorted", READ_AND_WRITE),
                binding::COUNTS => ("counts", READ_AND_WRITE),
                binding::SUMS => ("sums", READ_AND_WRITE),
                binding::SLOTS => ("slots", READ_AND_WRITE),
                binding::OFFSETS => ("offsets", READ),
                binding::WEIGHTS => ("weights", READ),
                binding::SINGLES => ("singles", READ),
                binding::ENTRIES => ("entries", READ),
                binding::BITS => ("bits", READ_AND_WRITE),
                binding::NUMBERS => ("numbers", READ_AND_WRITE),
                binding::FOUND => ("found", READ_AND_WRITE),
                other => panic!("binding {other} is in no table"),
            };
            let name = global.name.as_deref().expect("a global has a name");
            let operand = name.split('_').next().expect("a name is not empty");
            assert_eq!((operand, global.space), expected, "{name}");
        }
    }
}

#[test]
fn inputs_are_only_read() {
    for aliased in [false, true] {
        for shader in ValidModule::all(aliased) {
            for entry_point in shader.entry_points() {
                for (number, (_, global_use)) in shader.globals(entry_point) {
                    let written = global_use.intersects(GlobalUse::WRITE | GlobalUse::ATOMIC);
                    // One pass writes counts, sums and bits, and another only reads them.
                    let is_scratch =
                        matches!(number, binding::COUNTS | binding::SUMS | binding::BITS);
                    let expected = binding::is_written(number) && (written || !is_scratch);
                    assert_eq!(written, expected, "{entry_point:?}, binding {number}");
                }
            }
        }
    }
}

#[test]
fn aliased_modules_differ_in_access_only() {
    let inputs = BTreeSet::from([
        binding::PARAMS,
        binding::INDICES,
        binding::COUNT,
        binding::SCALES,
        binding::ZERO_POINTS,
        binding::UPDATES,
        binding::WINNERS_FOUND,
        binding::PAIRS,
        binding::ENTRIES,
        binding::OFFSETS,
        binding::WEIGHTS,
        binding::SINGLES,
    ]);
    for (aliased, private) in ValidModule::all(true).iter().zip(ValidModule::all(false)) {
        let globals = aliased.module.global_variables.iter();
        let private_globals = private.module.global_variables.iter();
        for ((_, found), (_, private)) in globals.zip(private_globals) {
            assert_eq!(
                (&found.name, &found.binding),
                (&private.name, &private.binding)
            );
            let number = found.binding.as_ref().map(|of| of.binding);
            let expected = if number.is_some_and(|number| inputs.contains(&number)) {
                READ_AND_WRITE
            } else {
                private.space
            };
            assert_eq!(
                found.space, expected,
                "{:?}, {:?}",
                aliased.shader, found.name
            );
        }
        let with_access = private.shader.aliased_wgsl(all_texts);
        let without = with_access.replace(", read_write>", ", read>");
        let source = private
            .shader
            .wgsl(all_texts)
            .replace(", read_write>", ", read>");
        assert_eq!(without, source, "{:?}", private.shader);
    }
}

#[test]
fn operands_are_arrays_of_what_a_lane_moves_at_once() {
    for shader in ValidModule::all(false) {
        for entry_point in shader.entry_points() {
            let globals = shader.globals(entry_point);
            let strides_of = |numbers: &[u32]| -> Vec<_> {
                let stride = |number| match shader.module.types[globals[number].0.ty].inner {
                    TypeInner::Array { stride, .. } => stride,
                    ref other => panic!("{entry_point:?}, binding {number}: {other:?}"),
                };
                numbers.iter().map(stride).collect()
            };
            if let EntryPoint::Scatter { kernel, .. } = entry_point {
                let unit = if kernel.unit() == Some(Unit::Vec4) {
                    16
                } else {
                    4
                };
                let found = strides_of(&[binding::TARGET, binding::INDICES, binding::UPDATES]);
                assert_eq!(found, [unit, 4, unit], "{entry_point:?}");
            }
            let EntryPoint::Gather { kernel, find, .. } = entry_point else {
                continue;
            };
            let strides = match (kernel, kernel.unit()) {
                (_, Some(Unit::Vec4)) => [16, 4, 16],
                (_, Some(unit @ Unit::FourDecoded(_))) => [4, 4, size(unit.bytes())],
                (Kernel::Packed { .. }, _) if find.is_narrow() => [4, 4, 16],
                (Kernel::Packed { .. }, _) => [4, 16, 16],
                (Kernel::Lines, _) => [4, 4, 16],
                _ => [4, 4, 4],
            };
            let found = strides_of(&[binding::PARAMS, binding::INDICES, binding::OUTPUT]);
            assert_eq!(found, strides, "{entry_point:?}");
        }
    }
}

/// Some compilers copy an array or a vector to memory before they index it at run time.
#[test]
fn only_arrays_in_buffers_and_workgroups_are_indexed_at_run_time() {
    for aliased in [false, true] {
        for shader in ValidModule::all(aliased) {
            let types = &shader.module.types;
            for (function, info) in shader.functions() {
                for (_, expression) in function.expressions.iter() {
                    let Expression::Access { base, .. } = *expression else {
                        continue;
                    };
                    let is_shared_array = match *info[base].ty.inner_with(types) {
                        TypeInner::Pointer { base, space } => {
                            matches!(
                                space,
                                AddressSpace::Storage { .. } | AddressSpace::WorkGroup
                            ) && matches!(types[base].inner, TypeInner::Array { .. })
                        }
                        _ => false,
                    };
                    let name = &function.name;
                    assert!(is_shared_array, "{:?}, {name:?}", shader.shader);
                }
            }
        }
    }
}

/// A copy moves bits: a conversion to another type could change them.
#[test]
fn shaders_that_copy_know_no_numbers_but_u32() {
    for shader in ValidModule::all(false) {
        let knows_others = ["decoded", "signed_words", "float_sums", "narrow"];
        if (shader.shader.files(all_texts).iter()).any(|file| knows_others.contains(file)) {
            continue;
        }
        for (function, info) in shader.functions() {
            for (handle, expression) in function.expressions.iter() {
                let name = &function.name;
                assert!(
                    !matches!(expression, Expression::As { .. }),
                    "{name:?} converts"
                );
                let scalar = info[handle].ty.inner_with(&shader.module.types).scalar();
                let scalar = scalar.map(|scalar| scalar.kind);
                assert!(
                    matches!(
                        scalar,
                        None | Some(naga::ScalarKind::Uint | naga::ScalarKind::Bool)
                    ),
                    "{name:?}: {expression:?}"
                );
            }
        }
    }
}

/// Intel's driver miscompiles a loop that takes a remainder of its counter, as DXC writes it: gpuweb/cts#3063.
#[test]
fn no_loop_takes_a_remainder() {
    fn remainders(function: &naga::Function, block: &naga::Block, in_loop: bool) -> usize {
        let of = |block: &naga::Block, in_loop| remainders(function, block, in_loop);
        let is_remainder = |expression: &Expression| {
            let op = naga::BinaryOperator::Modulo;
            matches!(expression, Expression::Binary { op: found, .. } if *found == op)
        };
        let found = block.iter().map(|statement| match statement {
            naga::Statement::Emit(emitted) if in_loop => {
                let emitted = emitted.clone().map(|handle| &function.expressions[handle]);
                emitted
                    .filter(|&expression| is_remainder(expression))
                    .count()
            }
            naga::Statement::Block(block) => of(block, in_loop),
            naga::Statement::If { accept, reject, .. } => of(accept, in_loop) + of(reject, in_loop),
            naga::Statement::Switch { cases, .. } => {
                cases.iter().map(|case| of(&case.body, in_loop)).sum()
            }
            naga::Statement::Loop {
                body, continuing, ..
            } => of(body, true) + of(continuing, true),
            _ => 0,
        });
        found.sum()
    }
    for shader in ValidModule::all(false) {
        for (function, _) in shader.functions() {
            let found = remainders(function, &function.body, false);
            assert_eq!(found, 0, "{:?}: {:?}", shader.shader, function.name);
        }
    }
}
