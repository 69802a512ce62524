//! Every pipeline that can be made, through naga's back ends as wgpu calls them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs;

use naga::back::{glsl, hlsl, msl, pipeline_constants, spv};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::ModuleInfo;
use naga::{Module, ResourceBinding, ShaderStage};

use super::overrides::number;
use super::texts::{self, Texts};
use super::{
    EntryPoint, PipelineKey, Rows, Shader, WORKGROUP_SIZE, binding, is_written, pipeline_keys,
};

/// One entry point whose overrides have their values.
struct Pipeline<'a> {
    key: PipelineKey,
    module: Cow<'a, Module>,
    info: Cow<'a, ModuleInfo>,
}

impl Pipeline<'_> {
    fn name(&self) -> String {
        self.key.entry_point.name().to_owned()
    }

    /// Where a back end of wgpu puts each binding: registers or slots, counted up for each class apart.
    fn slots<Target, Map: FromIterator<(ResourceBinding, Target)>>(
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
}

fn one_class(_: u32) -> usize {
    0
}

/// The first pipeline of each entry point, and every so many of the others: a prime, so that no override is left out.
/// All of them with `GATHER_EVERY_CASE`, or where their texts are wanted.
fn some_pipeline_keys() -> impl Iterator<Item = PipelineKey> {
    const STRIDE: usize = 7;
    let all = std::env::var_os("GATHER_EVERY_CASE").is_some() || texts::folder().is_some();
    let mut entry_points = HashSet::new();
    pipeline_keys()
        .enumerate()
        .filter(move |(number, key)| {
            entry_points.insert(key.entry_point) || all || number.is_multiple_of(STRIDE)
        })
        .map(|(_, key)| key)
}

/// Returns how many there are.
fn for_each_pipeline(mut check: impl FnMut(&Pipeline<'_>)) -> usize {
    let shader = Shader::gather();
    let mut count = 0;
    for key in some_pipeline_keys() {
        count += 1;
        let constants = key
            .overrides()
            .map(|(name, value)| (name.to_owned(), value));
        let (module, info) = pipeline_constants::process_overrides(
            &shader.module,
            &shader.info,
            Some((ShaderStage::Compute, key.entry_point.name())),
            &constants.into_iter().collect(),
        )
        .unwrap_or_else(|error| panic!("{key:?}: {error}"));
        check(&Pipeline { key, module, info });
    }
    count
}

/// Each back end with and without the checks that `create_shader_module_trusted` may leave out.
fn policies() -> [BoundsCheckPolicies; 2] {
    [BoundsCheckPolicy::Restrict, BoundsCheckPolicy::Unchecked].map(|policy| BoundsCheckPolicies {
        index: policy,
        buffer: policy,
        image_load: policy,
        binding_array: BoundsCheckPolicy::Unchecked,
    })
}

#[test]
fn no_pipeline_is_made_twice() {
    let keys: Vec<_> = pipeline_keys().collect();
    let different: HashSet<_> = keys.iter().collect();
    assert_eq!(different.len(), keys.len());
    if let Some(folder) = texts::folder() {
        let descriptors: Vec<_> = keys.into_iter().map(texts::descriptor).collect();
        let json = serde_json::to_string(&descriptors).expect("numbers and names are JSON");
        fs::create_dir_all(&folder).expect("the folder can be made");
        fs::write(folder.join("pipelines.json"), json).expect("the folder can be written to");
    }
}

#[test]
fn a_pipeline_has_one_entry_point_of_the_workgroup_size() {
    for_each_pipeline(|pipeline| {
        let [entry_point] = &pipeline.module.entry_points[..] else {
            panic!("{:?} has one entry point", pipeline.key);
        };
        let expected = match pipeline.key.entry_point {
            EntryPoint::Gather { .. } => WORKGROUP_SIZE,
            EntryPoint::ReportBadRows | EntryPoint::CountRows => 1,
        };
        assert_eq!(
            entry_point.workgroup_size,
            [expected, 1, 1],
            "{:?}",
            pipeline.key
        );
        assert_eq!(entry_point.name, pipeline.name());
    });
}

#[test]
fn each_gather_is_made_with_the_values_of_its_overrides() {
    for_each_pipeline(|pipeline| {
        let EntryPoint::Gather { rows, .. } = pipeline.key.entry_point else {
            return;
        };
        let grouped = rows != Rows::Single;
        for (name, expected) in pipeline.key.overrides() {
            // Groups are never of more rows than 32 bits count; the others read the index depth.
            let is_read = match name {
                "WIDE" => !grouped,
                "INDEX_DEPTH" | "ONE_UNIT" | "ONE_GROUP" => grouped,
                _ => true,
            };
            if !is_read {
                continue;
            }
            let mut constants = pipeline.module.constants.iter();
            let (_, constant) = constants
                .find(|(_, constant)| constant.name.as_deref() == Some(name))
                .unwrap_or_else(|| panic!("{:?} uses {name}", pipeline.key));
            let naga::Expression::Literal(found) =
                pipeline.module.global_expressions[constant.init]
            else {
                panic!("{:?}: {name} is a literal", pipeline.key);
            };
            assert_eq!(number(found), expected, "{:?}: {name}", pipeline.key);
        }
    });
}

#[test]
fn every_pipeline_translates_to_spirv() {
    let mut texts = Texts::default();
    let pipelines = for_each_pipeline(|pipeline| {
        for (bounds_check_policies, lang_version) in policies()
            .into_iter()
            .flat_map(|policies| [(1, 0), (1, 3), (1, 6)].map(|version| (policies, version)))
        {
            let options = spv::Options {
                lang_version,
                flags: spv::WriterFlags::empty(),
                fake_missing_bindings: false,
                binding_map: pipeline.slots(one_class, |_, slot| spv::BindingInfo {
                    descriptor_set: 0,
                    binding: slot.into(),
                    binding_array_size: None,
                }),
                capabilities: Some([spv::Capability::Shader].into_iter().collect()),
                bounds_check_policies,
                ..Default::default()
            };
            let pipeline_options = spv::PipelineOptions {
                shader_stage: ShaderStage::Compute,
                entry_point: pipeline.name(),
            };
            let words = spv::write_vec(
                &pipeline.module,
                &pipeline.info,
                &options,
                Some(&pipeline_options),
            )
            .unwrap_or_else(|error| panic!("{:?}, {lang_version:?}: {error}", pipeline.key));
            let (major, minor) = lang_version;
            let language = format!("spirv-{major}.{minor}");
            texts.add(
                &language,
                &pipeline.name(),
                "spv",
                bytemuck::cast_slice(&words),
            );
        }
    });
    texts.print(pipelines, policies().len());
}

#[test]
fn every_pipeline_translates_to_metal() {
    let mut texts = Texts::default();
    let pipelines = for_each_pipeline(|pipeline| {
        for (bounds_check_policies, lang_version) in policies()
            .into_iter()
            .flat_map(|policies| [(1, 2), (2, 0), (3, 1)].map(|version| (policies, version)))
        {
            let resources: msl::BindingMap =
                pipeline.slots(one_class, |binding, slot| msl::BindTarget {
                    buffer: Some(slot),
                    mutable: is_written(binding),
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
    // Constant buffers, read-only and writable resources count apart.
    let class = |number| match number {
        binding::WINDOW => 0,
        number if is_written(number) => 2,
        _ => 1,
    };
    let mut texts = Texts::default();
    let pipelines = for_each_pipeline(|pipeline| {
        for (shader_model, restrict_indexing) in [hlsl::ShaderModel::V5_1, hlsl::ShaderModel::V6_0]
            .into_iter()
            .flat_map(|model| [true, false].map(|restrict| (model, restrict)))
        {
            let options = hlsl::Options {
                shader_model,
                binding_map: pipeline.slots(class, |_, slot| hlsl::BindTarget {
                    register: slot.into(),
                    ..Default::default()
                }),
                fake_missing_bindings: false,
                restrict_indexing,
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
    // Uniform and storage buffers count apart.
    let class = |number| usize::from(number != binding::WINDOW);
    let mut texts = Texts::default();
    let pipelines = for_each_pipeline(|pipeline| {
        for version in [glsl::Version::new_gles(310), glsl::Version::Desktop(430)] {
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
            let unchecked = BoundsCheckPolicies {
                index: BoundsCheckPolicy::Unchecked,
                buffer: BoundsCheckPolicy::Unchecked,
                image_load: BoundsCheckPolicy::Unchecked,
                binding_array: BoundsCheckPolicy::Unchecked,
            };
            let mut text = String::new();
            glsl::Writer::new(
                &mut text,
                &pipeline.module,
                &pipeline.info,
                &options,
                &pipeline_options,
                unchecked,
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
            // Which takes integers from GLSL 4.50 on.
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
