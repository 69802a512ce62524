//! Texts of translated shaders, which the tests count. If `GATHER_TRANSLATIONS` names a folder, they are written to it
//! for tools that this crate does not depend on.
//!
//! ```text
//! DIR/spirv-1.3/rows-0123456789abcdef.spv    each different text of a language: the entry point and a hash
//! DIR/gpus/rows-vec4-w1-d1.spv               each pipeline that is not aliased, for .ci/gpus
//! DIR/wgsl/NAME.wgsl, NAME_aliased.wgsl      the modules
//! DIR/pipelines.json                         the pipelines of the modules
//! ```

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use super::parsed::source_of;
use super::reachable::{reachable, shaders};
use crate::encoding::{Decoding, FloatKind};
use crate::gpu::kernel::{Kernel, Unit};
use crate::gpu::shaders::{EntryPoint, PipelineKey, Shader, all_texts, unit_file};
use crate::gpu::update::Update;
use crate::gpu::wgsl::code;
use gather_oracle::sweep::takes_every_case;

/// The folder that texts are written to; `None` if they are only counted.
fn folder() -> Option<PathBuf> {
    std::env::var_os("GATHER_TRANSLATIONS").map(PathBuf::from)
}

/// Writes a text to a file below [`folder`], if there is one.
pub(super) fn leave(folder_name: &str, file_name: &str, text: impl AsRef<[u8]>) {
    let Some(folder) = folder() else { return };
    let folder = folder.join(folder_name);
    fs::create_dir_all(&folder).expect("the folder can be made");
    fs::write(folder.join(file_name), text).expect("the folder can be written to");
}

/// One test's texts.
#[derive(Default)]
pub(super) struct Texts {
    /// By language and version: the number of texts, and the hashes of the different ones.
    translated: BTreeMap<String, (usize, HashSet<u64>)>,
    pipelines: usize,
}

/// True if each pipeline is translated to all versions of a language; otherwise each version gets its share of the pipelines.
fn takes_all_versions() -> bool {
    takes_every_case() || folder().is_some()
}

impl Texts {
    /// The versions of a language to translate the next pipeline to.
    pub(super) fn versions<T: Copy>(&mut self, all: &[T]) -> Vec<T> {
        self.pipelines += 1;
        match takes_all_versions() {
            true => all.to_vec(),
            false => vec![all[self.pipelines % all.len()]],
        }
    }

    /// Adds an entry point's text in a language, for example `spirv-1.3`.
    pub(super) fn add(&mut self, language: &str, entry_point: &str, extension: &str, text: &[u8]) {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let hash = hasher.finish();
        let (count, hashes) = self.translated.entry(language.to_owned()).or_default();
        *count += 1;
        if hashes.insert(hash) {
            leave(
                language,
                &format!("{entry_point}-{hash:016x}.{extension}"),
                text,
            );
        }
    }

    /// Prints the counts, and asserts that each of `pipelines` has `variants` texts in each version, or in one.
    pub(super) fn print(&self, pipelines: usize, variants: usize) {
        assert_eq!(self.pipelines, pipelines);
        let mut all = 0;
        for (language, (count, hashes)) in &self.translated {
            println!("{language}: {count} translated, {} texts", hashes.len());
            all += count;
        }
        let versions = match takes_all_versions() {
            true => self.translated.len(),
            false => 1,
        };
        assert_eq!(all, pipelines * variants * versions);
    }
}

/// The file name of a pipeline: its entry point, its unit or slice bytes, and its row finder.
pub(super) fn file_name(entry_point: EntryPoint) -> String {
    let mut name = entry_point.name().to_owned();
    if let EntryPoint::Gather { kernel, find, .. } = entry_point {
        name += &match (kernel, kernel.unit()) {
            (_, Some(Unit::FourDecoded(of))) => format!("-four-{}", decoding_name(of)),
            (_, Some(Unit::OneDecoded(of))) => format!("-one-{}", decoding_name(of)),
            (Kernel::Halves(of), _) => format!("-{}", decoding_name(of)),
            (_, Some(unit)) => format!("-{}", unit.file()),
            (Kernel::Packed { slice_bytes }, _) => format!("-b{slice_bytes}"),
            (Kernel::Bytes { lane_words: 4 }, _) => "-four".to_owned(),
            _ => String::new(),
        };
        name += &format!("-{}", find.name());
    }
    if let EntryPoint::Scatter {
        kernel,
        find,
        update,
    } = entry_point
    {
        let unit = unit_file(kernel, update).unwrap_or("bytes");
        name += &format!("-{unit}-{}-{}", find.name(), update_name(update));
    }
    if let EntryPoint::Bags(of) = entry_point {
        let unit = of
            .unit
            .decoding()
            .map_or_else(String::new, |of| format!("-{}", decoding_name(of)));
        let combine = [("-max", of.is_max), ("-weighted", of.is_weighted)];
        let combine = combine
            .into_iter()
            .filter_map(|(name, is_so)| is_so.then_some(name));
        let combine = combine.collect::<String>();
        name += &format!("-{}{unit}-{}{combine}", of.unit.file(), of.find.name());
    }
    if let EntryPoint::Alone(of) = entry_point {
        for (override_name, value) in of.overrides {
            name += &format!("-{override_name}-{value}").to_lowercase();
        }
    }
    if let EntryPoint::Narrow(to) = entry_point {
        name += &format!("-{to}");
    }
    if let EntryPoint::Fold { unit, update, .. } = entry_point {
        name += &format!("-{}-{}", unit.file(), update_name(update));
    }
    if let EntryPoint::IndexRows { find, .. } = entry_point {
        name += &format!("-{}", find.name());
    }
    name
}

fn update_name(update: Update) -> String {
    match update {
        Update::Assign => "assign".to_owned(),
        Update::AssignLast => "assign_last".to_owned(),
        Update::Reduce(reduce, of) | Update::Fold(reduce, of) => format!("{reduce}_{}", of.name()),
        Update::Atomic(reduce, of) => format!("atomic_{reduce}_{}", of.name()),
        Update::IndexRows => "index_rows".to_owned(),
    }
}

/// For instance "q8_0", "q8_0_to_f16", or "4_bits_of_32" for quantised values.
fn decoding_name(Decoding { encoding, to }: Decoding) -> String {
    let encoding = match encoding.block_quantized() {
        Some(of) => format!("{}_bits_of_{}", of.bits(), of.block_len()),
        None => encoding.to_string().to_lowercase(),
    };
    match to {
        FloatKind::F32 => encoding,
        _ => format!("{encoding}_to_{to}"),
    }
}

fn module_name(shader: Shader, aliased: bool) -> String {
    let suffix = if aliased { "_aliased" } else { "" };
    format!("{}{suffix}", shader.name())
}

/// A pipeline's descriptor for WebGPU in JavaScript.
fn descriptor(key: &PipelineKey) -> serde_json::Value {
    let entry_point = key.entry_point;
    let overrides = entry_point.overrides().into_iter();
    let constants = overrides.map(|(name, value)| (name.to_owned(), value.into()));
    serde_json::json!({
        "module": module_name(Shader::of(entry_point), key.aliased),
        "entryPoint": entry_point.name(),
        "constants": serde_json::Map::from_iter(constants),
    })
}

#[test]
fn pipelines_have_names_of_their_own() {
    let private = reachable().iter().filter(|key| !key.aliased);
    let names: Vec<_> = private.map(|key| file_name(key.entry_point)).collect();
    let different: HashSet<_> = names.iter().collect();
    assert_eq!(different.len(), names.len());
}

/// Release builds hold less text, of the same modules.
#[test]
fn modules_of_a_release_are_the_same() {
    // Without the places in the text.
    let parsed = |text: &str| {
        let module = format!("{:?}", naga::front::wgsl::parse_str(text).expect(text));
        let mut parts = module.split("Span {");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |all, part| {
            all + part.split_once('}').unwrap_or_default().1
        })
    };
    for shader in shaders() {
        let of_release = shader.files(all_texts).into_iter().map(|file| {
            let text = std::fs::read(format!("shaders/{file}.wgsl")).expect("a shader");
            let (code, len) = code::<20_000>(&text, false);
            String::from_utf8(code[..len].to_vec()).expect("a shader is UTF-8")
        });
        let of_release: Vec<_> = of_release.collect();
        let of_debug = shader.wgsl(all_texts);
        assert!(
            parsed(&of_release.join("\n")) == parsed(&of_debug),
            "{shader:?}"
        );
    }
}

#[test]
fn modules_and_pipelines_are_left_for_other_compilers() {
    for shader in shaders() {
        for aliased in [false, true] {
            let file_name = format!("{}.wgsl", module_name(shader, aliased));
            leave("wgsl", &file_name, source_of(shader, aliased));
        }
    }
    let pipelines: Vec<_> = reachable().iter().map(descriptor).collect();
    let json = serde_json::to_string(&pipelines).expect("numbers and names are JSON");
    leave("", "pipelines.json", json);
}
