//! Translated shaders, for tools that this crate does not depend on: counted and printed, and with
//! `GATHER_TRANSLATIONS=DIR` left in that folder, each different text once.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use super::{EntryPoint, PipelineKey};

/// Where texts go, if anywhere.
pub(super) fn folder() -> Option<PathBuf> {
    std::env::var_os("GATHER_TRANSLATIONS").map(PathBuf::from)
}

/// The texts of one test.
#[derive(Default)]
pub(super) struct Texts {
    /// By language and version: how often it was translated to, and the hashes of what came of it.
    translated: BTreeMap<String, (usize, HashSet<u64>)>,
}

impl Texts {
    /// A text of `language`, such as `spirv-1.3`, in a file of its entry point's name and a number.
    pub(super) fn add(&mut self, language: &str, name: &str, extension: &str, text: &[u8]) {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let hash = hasher.finish();
        let (count, hashes) = self.translated.entry(language.to_owned()).or_default();
        *count += 1;
        if !hashes.insert(hash) {
            return;
        }
        let Some(folder) = folder() else { return };
        let folder = folder.join(language);
        fs::create_dir_all(&folder).expect("the folder can be made");
        fs::write(folder.join(format!("{name}-{hash:016x}.{extension}")), text)
            .expect("the folder can be written to");
    }

    /// Says how many there are: of each pipeline as many of a language as it has variants.
    pub(super) fn print(&self, pipelines: usize, variants: usize) {
        for (language, (count, hashes)) in &self.translated {
            assert_eq!(*count, pipelines * variants, "{language}");
            println!(
                "{language}: {pipelines} pipelines x {variants} variants translated, {} texts",
                hashes.len()
            );
        }
    }
}

/// A pipeline as WebGPU's JavaScript takes it.
pub(super) fn descriptor(key: PipelineKey) -> serde_json::Value {
    let constants = key
        .overrides()
        .map(|(name, value)| (name.to_owned(), value.into()));
    serde_json::json!({
        "entryPoint": EntryPoint::name(key.entry_point),
        "constants": serde_json::Map::from_iter(constants),
    })
}
