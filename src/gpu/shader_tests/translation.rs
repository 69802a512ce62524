//! Tests that naga's back ends translate every reachable pipeline, with wgpu's options.

use naga::ShaderStage;
use std::collections::HashSet;

use naga::back::{glsl, hlsl, msl};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};

use super::pipeline::{for_each_pipeline, one_class};
use super::texts::{Texts, file_name, leave};
use crate::gpu::shaders::binding;

fn checked(index: BoundsCheckPolicy, buffer: BoundsCheckPolicy) -> BoundsCheckPolicies {
    BoundsCheckPolicies {
        index,
        buffer,
        image_load: BoundsCheckPolicy::Unchecked,
        binding_array: BoundsCheckPolicy::Unchecked,
    }
}

/// Policies with and without the bounds checks that `create_shader_module_trusted` may leave out.
fn policies() -> [BoundsCheckPolicies; 2] {
    [BoundsCheckPolicy::Restrict, BoundsCheckPolicy::Unchecked]
        .map(|policy| checked(policy, policy))
}

#[test]
fn every_pipeline_translates_to_spirv() {
    let mut texts = Texts::default();
    let pipelines = for_each_pipeline(|pipeline| {
        for lang_version in texts.versions(&[(1, 0), (1, 3), (1, 6)]) {
            for policies in policies() {
                let words = pipeline.to_spirv(lang_version, policies);
                let (major, minor) = lang_version;
                let language = format!("spirv-{major}.{minor}");
                texts.add(
                    &language,
                    &pipeline.name(),
                    "spv",
                    bytemuck::cast_slice(&words),
                );
            }
        }
        if !pipeline.key.aliased {
            // wgpu's policies for a device with robustBufferAccess2, which checks buffers itself.
            let policies = checked(BoundsCheckPolicy::Restrict, BoundsCheckPolicy::Unchecked);
            let words = pipeline.to_spirv((1, 6), policies);
            let file_name = format!("{}.spv", file_name(pipeline.key.entry_point));
            leave("gpus", &file_name, bytemuck::cast_slice(&words));
        }
    });
    texts.print(pipelines, policies().len());
}

#[test]
fn every_pipeline_translates_to_metal() {
    let mut texts = Texts::default();
    let pipelines = for_each_pipeline(|pipeline| {
        let versions = texts.versions(&[(1, 2), (2, 0), (3, 1)]).into_iter();
        for (bounds_check_policies, lang_version) in
            versions.flat_map(|version| policies().map(|policies| (policies, version)))
        {
            let resources: msl::BindingMap =
                pipeline.slots(one_class, |binding, slot| msl::BindTarget {
                    buffer: Some(slot),
                    mutable: pipeline.may_write(binding),
                    ..Default::default()
                });
            let sizes_buffer = Some(u8::try_from(resources.len()).expect("there are few slots"));
            let resources = msl::EntryPointResources {
                resources,
                immediates_buffer: None,
                sizes_buffer,
            };
            let options = msl::Options {
                lang_version,
                per_entry_point_map: [(pipeline.name(), resources)].into_iter().collect(),
                fake_missing_bindings: false,
                bounds_check_policies,
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            };
            let pipeline_options = msl::PipelineOptions {
                entry_point: Some((ShaderStage::Compute, pipeline.name())),
                ..Default::default()
            };
            let (text, written) = msl::write_string(
                &pipeline.module,
                &pipeline.info,
                &options,
                &pipeline_options,
            )
            .unwrap_or_else(|error| panic!("{:?}, {lang_version:?}: {error}", pipeline.key));
            let (major, minor) = lang_version;
            let language = format!("msl-{major}.{minor}");
            for name in written.entry_point_names {
                let name = name.unwrap_or_else(|error| {
                    panic!("{:?}, {lang_version:?}: {error}", pipeline.key)
                });
                texts.add(&language, &name, "metal", text.as_bytes());
            }
        }
    });
    texts.print(pipelines, policies().len());
}

#[test]
fn every_pipeline_translates_to_hlsl() {
    let mut texts = Texts::default();
    let pipelines = for_each_pipeline(|pipeline| {
        // Constant buffers, read-only resources and writable resources are numbered apart.
        let class = |number| match number {
            binding::UNIFORM => 0,
            number if pipeline.may_write(number) => 2,
            _ => 1,
        };
        let models = texts.versions(&[hlsl::ShaderModel::V5_1, hlsl::ShaderModel::V6_0]);
        for (shader_model, restrict_indexing) in
            (models.into_iter()).flat_map(|model| [true, false].map(|restrict| (model, restrict)))
        {
            let options = hlsl::Options {
                shader_model,
                binding_map: pipeline.slots(class, |_, slot| hlsl::BindTarget {
                    register: slot.into(),
                    ..Default::default()
                }),
                fake_missing_bindings: false,
                restrict_indexing,
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            };
            let pipeline_options = hlsl::PipelineOptions {
                entry_point: Some((ShaderStage::Compute, pipeline.name())),
            };
            let mut text = String::new();
            let written = hlsl::Writer::new(&mut text, &options, &pipeline_options)
                .write(&pipeline.module, &pipeline.info, None)
                .unwrap_or_else(|error| panic!("{:?}, {shader_model:?}: {error}", pipeline.key));
            let language = format!("hlsl-{}", shader_model.to_str().replace('_', "."));
            for name in written.entry_point_names {
                let name = name.unwrap_or_else(|error| {
                    panic!("{:?}, {shader_model:?}: {error}", pipeline.key)
                });
                texts.add(&language, &name, "hlsl", text.as_bytes());
            }
            // For a zero vector, naga writes a function into HLSL and names it by the type. Two WGSL aliases for one type would
            // give two functions with one name, which no HLSL compiler takes.
            let zeros = text
                .lines()
                .filter(|line| line.contains(" ZeroValue") && line.ends_with("() {"));
            let zeros: Vec<_> = zeros.collect();
            let different: HashSet<_> = zeros.iter().collect();
            assert_eq!(
                zeros.len(),
                different.len(),
                "{:?}: {zeros:?}",
                pipeline.key
            );
            let [size, ..] = pipeline.module.entry_points[0].workgroup_size;
            assert!(
                text.contains(&format!("[numthreads({size}, 1, 1)]")),
                "{:?}:\n{text}",
                pipeline.key
            );
            assert_eq!(
                text.matches(": register(").count(),
                pipeline.key.entry_point.bindings().len(),
                "{:?}:\n{text}",
                pipeline.key
            );
        }
    });
    texts.print(pipelines, 2);
}

#[test]
fn every_pipeline_translates_to_glsl() {
    // Uniform and storage buffers are numbered apart.
    let class = |number| usize::from(number != binding::UNIFORM);
    let mut texts = Texts::default();
    let pipelines = for_each_pipeline(|pipeline| {
        for version in texts.versions(&[glsl::Version::new_gles(310), glsl::Version::Desktop(430)])
        {
            let options = glsl::Options {
                version,
                writer_flags: glsl::WriterFlags::ADJUST_COORDINATE_SPACE
                    | glsl::WriterFlags::FORCE_POINT_SIZE,
                binding_map: pipeline.slots(class, |_, slot| slot),
                zero_initialize_workgroup_memory: false,
            };
            let pipeline_options = glsl::PipelineOptions {
                shader_stage: ShaderStage::Compute,
                entry_point: pipeline.name(),
                multiview: None,
            };
            let mut text = String::new();
            glsl::Writer::new(
                &mut text,
                &pipeline.module,
                &pipeline.info,
                &options,
                &pipeline_options,
                checked(BoundsCheckPolicy::Unchecked, BoundsCheckPolicy::Unchecked),
            )
            .and_then(|mut writer| writer.write())
            .unwrap_or_else(|error| panic!("{:?}, {version:?}: {error}", pipeline.key));
            let [size, ..] = pipeline.module.entry_points[0].workgroup_size;
            assert!(
                text.contains(&format!("local_size_x = {size},")),
                "{:?}:\n{text}",
                pipeline.key
            );
            assert_eq!(
                text.matches("binding = ").count(),
                pipeline.key.entry_point.bindings().len(),
                "{:?}:\n{text}",
                pipeline.key
            );
            // GLSL before 4.50 has no `mix` of integers.
            assert!(!text.contains("mix("), "{:?}:\n{text}", pipeline.key);
            let language = match version {
                glsl::Version::Embedded { .. } => "glsl-310es",
                glsl::Version::Desktop(_) => "glsl-430",
            };
            texts.add(language, &pipeline.name(), "comp", text.as_bytes());
        }
    });
    texts.print(pipelines, 1);
}
