//! A pipeline in the form that naga's back ends translate, with bindings numbered as each back end of wgpu does.

use std::borrow::Cow;

use naga::back::{pipeline_constants, spv};
use naga::proc::BoundsCheckPolicies;
use naga::valid::ModuleInfo;
use naga::{Module, ResourceBinding, ShaderStage};

use super::parsed::ValidModule;
use crate::gpu::shaders::{PipelineKey, binding};

/// One entry point of a module in which the overrides have their values.
pub(super) struct Pipeline<'a> {
    pub(super) key: PipelineKey,
    pub(super) module: Cow<'a, Module>,
    pub(super) info: Cow<'a, ModuleInfo>,
}

impl Pipeline<'_> {
    pub(super) fn name(&self) -> String {
        self.key.entry_point.name().to_owned()
    }

    /// True if the pipeline's layout allows writes to a binding.
    pub(super) fn may_write(&self, number: u32) -> bool {
        number != binding::UNIFORM && (self.key.aliased || binding::is_written(number))
    }

    /// Each binding's register or slot in a wgpu back end, which numbers each class of bindings from 0.
    pub(super) fn slots<Target, Map: FromIterator<(ResourceBinding, Target)>>(
        &self,
        class: impl Fn(u32) -> usize,
        target: impl Fn(u32, u8) -> Target,
    ) -> Map {
        let mut next = [0; 3];
        let bindings = self.key.entry_point.bindings().iter();
        let slots = bindings.map(|&binding| {
            let slot = &mut next[class(binding)];
            *slot += 1;
            (
                ResourceBinding { group: 0, binding },
                target(binding, *slot - 1),
            )
        });
        slots.collect()
    }

    pub(super) fn to_spirv(
        &self,
        lang_version: (u8, u8),
        policies: BoundsCheckPolicies,
    ) -> Vec<u32> {
        let options = spv::Options {
            lang_version,
            flags: spv::WriterFlags::empty(),
            fake_missing_bindings: false,
            binding_map: self.slots(one_class, |_, slot| spv::BindingInfo {
                descriptor_set: 0,
                binding: slot.into(),
                binding_array_size: None,
            }),
            capabilities: Some([spv::Capability::Shader].into_iter().collect()),
            bounds_check_policies: policies,
            // As in Pipelines: the shaders write their workgroup memory before they read it.
            zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
            ..Default::default()
        };
        let pipeline_options = spv::PipelineOptions {
            shader_stage: ShaderStage::Compute,
            entry_point: self.name(),
        };
        spv::write_vec(&self.module, &self.info, &options, Some(&pipeline_options))
            .unwrap_or_else(|error| panic!("{:?}, {lang_version:?}: {error}", self.key))
    }
}

pub(super) fn one_class(_: u32) -> usize {
    0
}

/// Calls `check` with each reachable pipeline, and returns their number.
pub(super) fn for_each_pipeline(mut check: impl FnMut(&Pipeline<'_>)) -> usize {
    let mut count = 0;
    for aliased in [false, true] {
        for shader in ValidModule::all(aliased) {
            for key in shader.pipelines(aliased) {
                let entry_point = key.entry_point;
                let overrides = entry_point.overrides().into_iter();
                let constants = overrides.map(|(name, value)| (name.to_owned(), value));
                let (module, info) = pipeline_constants::process_overrides(
                    &shader.module,
                    &shader.info,
                    Some((ShaderStage::Compute, entry_point.name())),
                    &constants.collect(),
                )
                .unwrap_or_else(|error| panic!("{key:?}: {error}"));
                check(&Pipeline { key, module, info });
                count += 1;
            }
        }
    }
    count
}
