//! The shader modules, parsed and validated by naga.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use naga::valid::{Capabilities, FunctionInfo, GlobalUse, ModuleInfo, ValidationFlags, Validator};
use naga::{Expression, Function, GlobalVariable, Handle, Literal, Module, TypeInner};

use super::reachable::{reachable, shaders};
use crate::gpu::shaders::{EntryPoint, PipelineKey, Shader, all_texts};

/// A valid module that needs no optional capability.
pub(super) struct ValidModule {
    pub(super) shader: Shader,
    pub(super) module: Module,
    pub(super) info: ModuleInfo,
}

impl ValidModule {
    pub(super) fn new(shader: Shader, aliased: bool) -> Self {
        let source = source_of(shader, aliased);
        let module = naga::front::wgsl::parse_str(&source)
            .unwrap_or_else(|error| panic!("{shader:?}: {}", error.emit_to_string(&source)));
        let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
            .validate(&module)
            .unwrap_or_else(|error| panic!("{shader:?}: {}", error.emit_to_string(&source)));
        Self {
            shader,
            module,
            info,
        }
    }

    /// The modules of all reachable pipelines.
    pub(super) fn all(aliased: bool) -> &'static [Self] {
        static PRIVATE: LazyLock<Vec<ValidModule>> = LazyLock::new(|| parsed(false));
        static ALIASED: LazyLock<Vec<ValidModule>> = LazyLock::new(|| parsed(true));
        fn parsed(aliased: bool) -> Vec<ValidModule> {
            let modules = shaders().into_iter();
            modules
                .map(|shader| ValidModule::new(shader, aliased))
                .collect()
        }
        if aliased { &ALIASED } else { &PRIVATE }
    }

    /// The module's reachable pipelines.
    pub(super) fn pipelines(&self, aliased: bool) -> impl Iterator<Item = PipelineKey> {
        let keys = reachable().iter().copied();
        keys.filter(move |key| Shader::of(key.entry_point) == self.shader && key.aliased == aliased)
    }

    /// The entry points of [`pipelines`](Self::pipelines).
    pub(super) fn entry_points(&self) -> impl Iterator<Item = EntryPoint> {
        self.pipelines(false).map(|key| key.entry_point)
    }

    /// All functions and entry points, with naga's analysis of each.
    pub(super) fn functions(&self) -> impl Iterator<Item = (&Function, &FunctionInfo)> {
        let functions = self.module.functions.iter();
        let functions = functions.map(|(handle, function)| (function, &self.info[handle]));
        let entry_points = self.module.entry_points.iter().enumerate();
        functions
            .chain(entry_points.map(|(at, found)| (&found.function, self.info.get_entry_point(at))))
    }

    /// The globals that an entry point uses, by binding number, and how it uses each.
    pub(super) fn globals(
        &self,
        entry_point: EntryPoint,
    ) -> BTreeMap<u32, (&GlobalVariable, GlobalUse)> {
        let mut entry_points = self.module.entry_points.iter();
        let k = entry_points.position(|found| found.name == entry_point.name());
        let k = k.unwrap_or_else(|| panic!("{:?} has {entry_point:?}", self.shader));
        let uses = self.info.get_entry_point(k);
        let mut globals = BTreeMap::new();
        for (handle, global) in self.module.global_variables.iter() {
            if uses[handle].is_empty() {
                continue;
            }
            // Workgroup memory is not bound.
            let Some(bound) = &global.binding else {
                continue;
            };
            assert_eq!(bound.group, 0, "{:?}", global.name);
            let other = globals.insert(bound.binding, (global, uses[handle]));
            assert!(
                other.is_none(),
                "{entry_point:?} uses two globals of one binding: {global:?}"
            );
        }
        globals
    }

    /// The `u32` constants, by name.
    pub(super) fn constants(&self) -> BTreeMap<&str, u32> {
        let constants = self.module.constants.iter();
        let numbers = constants.filter_map(|(_, constant)| {
            let name = constant.name.as_deref()?;
            match self.module.global_expressions[constant.init] {
                Expression::Literal(Literal::U32(number)) => Some((name, number)),
                _ => None,
            }
        });
        numbers.collect()
    }

    /// The members of a struct that holds only `u32`, with their offsets in bytes, and its size. Its nested structs have names
    /// too.
    pub(super) fn layout(&self, name: &str) -> (Vec<(&str, usize)>, usize) {
        let TypeInner::Struct { members, span } = &self.type_named(name) else {
            panic!("{name} is a struct");
        };
        let members = members.iter().map(|member| {
            let scalar = self.scalar(member.ty);
            assert_eq!(scalar, naga::Scalar::U32, "{name}.{:?}", member.name);
            let name = member.name.as_deref().expect("a member has a name");
            (name, member.offset as usize)
        });
        (members.collect(), *span as usize)
    }

    pub(super) fn type_named(&self, name: &str) -> &TypeInner {
        let mut types = self.module.types.iter();
        let found = types.find(|(_, ty)| ty.name.as_deref() == Some(name));
        let (_, found) = found.unwrap_or_else(|| panic!("{name} is in {:?}", self.shader));
        &found.inner
    }

    /// The scalar in a type: itself, or in a vector, an atomic, an array, or a struct's first member.
    pub(super) fn scalar(&self, ty: Handle<naga::Type>) -> naga::Scalar {
        match self.module.types[ty].inner {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => scalar,
            TypeInner::Vector { scalar, .. } => scalar,
            TypeInner::Array { base, .. } => self.scalar(base),
            TypeInner::Struct { ref members, .. } => self.scalar(members[0].ty),
            ref other => panic!("{other:?} has no one scalar"),
        }
    }
}

pub(super) fn source_of(shader: Shader, aliased: bool) -> String {
    if aliased {
        shader.aliased_wgsl(all_texts)
    } else {
        shader.wgsl(all_texts)
    }
}
