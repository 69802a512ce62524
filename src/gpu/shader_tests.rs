//! What Rust says of the shaders against what naga reads in them: structs, bindings, entry points and
//! overrides. Needs no device.

mod overrides;
mod texts;
mod translation;

use std::collections::{BTreeMap, BTreeSet};
use std::mem::offset_of;

use naga::valid::{Capabilities, GlobalUse, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, GlobalVariable, Handle, Module, StorageAccess, TypeInner};

use super::gatherer::Gatherer;
use super::kernel::{BadRowsTo, EntryPoint, PipelineKey, Rows, Unit, WORKGROUP_SIZE, binding};
use super::pipelines::one_buffer_shader;
use super::report::{BadRowNotes, BadRowReport};
use super::window::GatherWindow;
use crate::element::IndexKind;

/// A valid module that needs no optional feature.
struct Shader {
    module: Module,
    info: ModuleInfo,
}

impl Shader {
    fn gather() -> Self {
        Self::new(Gatherer::SHADER)
    }

    fn new(source: &str) -> Self {
        let module = naga::front::wgsl::parse_str(source)
            .unwrap_or_else(|error| panic!("{}", error.emit_to_string(source)));
        let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
            .validate(&module)
            .unwrap_or_else(|error| panic!("{}", error.emit_to_string(source)));
        Self { module, info }
    }

    /// The globals that an entry point uses, by binding.
    fn globals(&self, entry_point: &str) -> BTreeMap<u32, (&GlobalVariable, GlobalUse)> {
        let mut entry_points = self.module.entry_points.iter();
        let place = entry_points.position(|found| found.name == entry_point);
        let uses = self
            .info
            .get_entry_point(place.expect("the shader has the entry point"));
        let mut globals = BTreeMap::new();
        for (handle, global) in self.module.global_variables.iter() {
            if uses[handle].is_empty() {
                continue;
            }
            let bound = global.binding.expect("every global is bound");
            assert_eq!(bound.group, 0, "{:?}", global.name);
            let other = globals.insert(bound.binding, (global, uses[handle]));
            assert!(
                other.is_none(),
                "{entry_point} uses two globals of one binding: {global:?}"
            );
        }
        globals
    }

    /// The members of a struct with their offsets, and its size.
    fn layout(&self, name: &str) -> (Vec<(&str, usize)>, usize) {
        let TypeInner::Struct { members, span } = &self.type_named(name) else {
            panic!("{name} is a struct");
        };
        let members = members.iter().map(|member| {
            assert_eq!(
                self.scalar(member.ty),
                naga::Scalar::U32,
                "{name}.{:?}",
                member.name
            );
            (
                member.name.as_deref().expect("a member has a name"),
                member.offset as usize,
            )
        });
        (members.collect(), *span as usize)
    }

    fn type_named(&self, name: &str) -> &TypeInner {
        let mut types = self.module.types.iter();
        let found = types.find(|(_, ty)| ty.name.as_deref() == Some(name));
        &found
            .unwrap_or_else(|| panic!("{name} is in the shader"))
            .1
            .inner
    }

    /// What arrays, vectors and atomics are made of.
    fn scalar(&self, ty: Handle<naga::Type>) -> naga::Scalar {
        match self.module.types[ty].inner {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => scalar,
            TypeInner::Vector { scalar, .. } => scalar,
            TypeInner::Array { base, .. } => self.scalar(base),
            ref other => panic!("{other:?} has no one scalar"),
        }
    }
}

/// All that the table of kernels can choose.
fn entry_points() -> Vec<EntryPoint> {
    let gathers = Unit::ALL.into_iter().flat_map(|unit| {
        let rows = Rows::ALL.into_iter();
        let rows = rows.filter(move |&rows| match rows {
            Rows::Single => true,
            Rows::Groups | Rows::GroupsOfUnits => unit != Unit::Byte,
            Rows::GroupOfUnits => matches!(unit, Unit::Vec4 | Unit::Word),
        });
        rows.flat_map(move |rows| {
            BadRowsTo::ALL.map(|bad_rows| EntryPoint::Gather {
                unit,
                rows,
                bad_rows,
            })
        })
    });
    gathers
        .chain([EntryPoint::ReportBadRows, EntryPoint::CountRows])
        .collect()
}

/// All that can be made of them: only signed numbers count from the end, only groups are made for a depth, and
/// neither they nor those of one part for rows beyond 32 bits; what does not gather reads few of the overrides.
fn pipeline_keys() -> impl Iterator<Item = PipelineKey> {
    entry_points().into_iter().flat_map(|entry_point| {
        let is_grouped = match entry_point {
            EntryPoint::Gather { rows, .. } => rows != Rows::Single,
            EntryPoint::ReportBadRows | EntryPoint::CountRows => false,
        };
        let keys = IndexKind::ALL.into_iter().flat_map(move |index_kind| {
            (0..128).map(move |flags| {
                let flag = |bit: u32| flags >> bit & 1 == 1;
                PipelineKey {
                    entry_point,
                    index_kind,
                    from_end: flag(0),
                    clamp: flag(1),
                    fill: flag(2),
                    places: flag(3),
                    wide: flag(4),
                    one_part: flag(6),
                    one_buffer: false,
                    index_depth: 1 + u32::from(flag(5)),
                }
            })
        });
        keys.filter(move |key| {
            (key.index_kind.is_signed() || !key.from_end)
                && (!is_grouped || !key.wide)
                && (!key.one_part || !key.wide)
                && (key.index_depth == 1 || is_grouped && !key.places)
                && match entry_point {
                    EntryPoint::Gather { .. } => true,
                    EntryPoint::ReportBadRows => {
                        *key == PipelineKey::report_bad_rows(key.index_kind, false)
                    }
                    EntryPoint::CountRows => *key == PipelineKey::COUNT_ROWS,
                }
        })
    })
}

/// Whether entry points that use a binding write to it.
fn is_written(number: u32) -> bool {
    [
        binding::OUTPUT,
        binding::NOTES,
        binding::REPORT,
        binding::COUNTED,
        binding::GRID,
    ]
    .contains(&number)
}

/// Names of fields with their offsets in Rust, and the size.
macro_rules! rust_layout {
    ($of:ty: $($field:ident),*) => {
        (vec![$((stringify!($field), offset_of!($of, $field))),*], size_of::<$of>())
    };
}

#[test]
fn every_shader_is_valid_as_it_stands_and_built_in() {
    let mut names = Vec::new();
    for entry in std::fs::read_dir("shaders").expect("shaders/ is there") {
        let path = entry.expect("shaders/ can be listed").path();
        let source = std::fs::read_to_string(&path).expect("a shader is text");
        Shader::new(&source);
        assert_eq!(source, Gatherer::SHADER, "{path:?}");
        names.push(path.file_name().expect("a file has a name").to_owned());
    }
    assert_eq!(names, ["gather.wgsl"]);
}

#[test]
fn structs_have_one_layout_in_both_languages() {
    let shader = Shader::gather();
    assert_eq!(
        shader.layout("GatherWindow"),
        rust_layout!(GatherWindow: output_rows, index_count, outer_size, first_index, first_outer, index_depth,
            slice_units, lanes_log2, held_rows, first_row, params_first_row, params_rows, params_start, indices_start,
            output_start, grid_width, reports, index_row_base, groups, fill_words, fill_start,
            first_n, index_stride, place_dim_count, most_output_rows, of_bytes, begins_report, reporters, indexed_dims, fill, place_dims)
    );
    assert_eq!(
        shader.layout("BadRowReport"),
        rust_layout!(BadRowReport: bad_row_count, first_bad_row, index)
    );
    assert_eq!(
        shader.layout("BadRowNotes"),
        rust_layout!(BadRowNotes: count, first_complement)
    );
}

#[test]
fn uniform_arrays_have_no_padding_between_elements() {
    let shader = Shader::gather();
    let TypeInner::Struct { members, .. } = shader.type_named("GatherWindow") else {
        panic!("GatherWindow is a struct");
    };
    let arrays: Vec<_> = members
        .iter()
        .filter_map(|member| match shader.module.types[member.ty].inner {
            TypeInner::Array { base, stride, .. } => Some((
                member.name.as_deref(),
                stride,
                shader.module.types[base].inner.size(shader.module.to_ctx()),
            )),
            _ => None,
        })
        .collect();
    assert_eq!(
        arrays,
        [
            (Some("indexed_dims"), 16, 16),
            (Some("fill"), 16, 16),
            (Some("place_dims"), 16, 16)
        ]
    );
}

#[test]
fn the_shader_has_the_entry_points_of_the_table() {
    let shader = Shader::gather();
    let found: BTreeSet<_> = shader
        .module
        .entry_points
        .iter()
        .map(|found| found.name.as_str())
        .collect();
    let expected: BTreeSet<_> = entry_points().into_iter().map(EntryPoint::name).collect();
    assert_eq!(found, expected);
    for entry_point in &shader.module.entry_points {
        assert_eq!(
            entry_point.stage,
            naga::ShaderStage::Compute,
            "{}",
            entry_point.name
        );
    }
}

#[test]
fn an_entry_point_uses_the_bindings_of_the_table() {
    let shader = Shader::gather();
    for entry_point in entry_points() {
        let found: Vec<_> = shader.globals(entry_point.name()).into_keys().collect();
        assert_eq!(found, entry_point.bindings(), "{entry_point:?}");
    }
}

#[test]
fn each_binding_is_the_operand_that_rust_binds_there() {
    let read_only = AddressSpace::Storage {
        access: StorageAccess::LOAD,
    };
    let read_write = AddressSpace::Storage {
        access: StorageAccess::LOAD | StorageAccess::STORE,
    };
    let expected = |number| match number {
        binding::WINDOW => ("window", AddressSpace::Uniform),
        binding::PARAMS => ("params", read_only),
        binding::INDICES => ("indices", read_only),
        binding::OUTPUT => ("output", read_write),
        binding::NOTES => ("notes", read_write),
        binding::REPORT => ("report", read_write),
        binding::COUNT => ("count", read_only),
        binding::COUNTED => ("counted", read_write),
        binding::GRID => ("grid", read_write),
        other => panic!("binding {other} is in no table"),
    };
    let shader = Shader::gather();
    for (_, global) in shader.module.global_variables.iter() {
        let number = global.binding.expect("every global is bound").binding;
        let name = global.name.as_deref().expect("a global has a name");
        let operand = name.split('_').next().expect("a name is not empty");
        assert_eq!((operand, global.space), expected(number), "{name}");
    }
}

#[test]
fn inputs_are_only_read() {
    let shader = Shader::gather();
    for entry_point in entry_points() {
        for (number, (_, global_use)) in shader.globals(entry_point.name()) {
            let written = global_use.intersects(GlobalUse::WRITE | GlobalUse::ATOMIC);
            assert_eq!(
                written,
                is_written(number),
                "{entry_point:?}, binding {number}: {global_use:?}"
            );
        }
    }
}

#[test]
fn the_shader_for_one_buffer_differs_in_access_alone() {
    let (one, several) = (Shader::new(&one_buffer_shader()), Shader::gather());
    let accesses = |shader: &Shader| {
        let globals = shader.module.global_variables.iter();
        let accesses = globals.map(|(_, global)| (global.name.clone(), global.space));
        accesses.collect::<Vec<_>>()
    };
    let mut differ = BTreeSet::new();
    for ((name, space), (_, read_only)) in accesses(&one).into_iter().zip(accesses(&several)) {
        if space != read_only {
            assert!(
                matches!(space, AddressSpace::Storage { access } if access == StorageAccess::LOAD | StorageAccess::STORE)
            );
            differ.insert(name.expect("every global has a name"));
        }
    }
    let expected = [
        "count",
        "indices",
        "indices_vec4",
        "params_vec2",
        "params_vec4",
        "params_words",
    ];
    assert_eq!(differ.iter().collect::<Vec<_>>(), expected);
    for entry_point in entry_points() {
        for (number, (_, global_use)) in one.globals(entry_point.name()) {
            let written = global_use.intersects(GlobalUse::WRITE | GlobalUse::ATOMIC);
            assert_eq!(
                written,
                is_written(number),
                "{entry_point:?}, binding {number}"
            );
        }
    }
}

#[test]
fn operands_are_arrays_of_what_the_kernel_loads_and_stores_at_once() {
    let shader = Shader::gather();
    for entry_point in entry_points() {
        let EntryPoint::Gather { unit, rows, .. } = entry_point else {
            continue;
        };
        let slice = unit.bytes().max(4);
        // A group loads the indices of its rows as vectors, and stores four slices of a word as one.
        let indices = if rows == Rows::Single { 4 } else { 16 };
        let is_packed =
            unit == Unit::Word && matches!(rows, Rows::GroupsOfUnits | Rows::GroupOfUnits);
        let globals = shader.globals(entry_point.name());
        for (number, expected) in [
            (binding::PARAMS, slice),
            (binding::INDICES, indices),
            (binding::OUTPUT, if is_packed { 16 } else { slice }),
        ] {
            let TypeInner::Array { stride, .. } = shader.module.types[globals[&number].0.ty].inner
            else {
                panic!("{entry_point:?}: binding {number} is an array");
            };
            assert_eq!(
                u64::from(stride),
                expected,
                "{entry_point:?}, binding {number}"
            );
        }
    }
}
