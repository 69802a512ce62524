//! The recorded results in tests/data.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// The lines of masks.jsonl, each with its mask's entries.
pub fn masks() -> Vec<(Value, Vec<bool>)> {
    let text = std::fs::read_to_string(file("masks.jsonl")).unwrap();
    let line = |line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let hex = line["mask"].as_str().unwrap().as_bytes();
        let entries = hex.chunks(2).map(|byte| byte == b"01").collect();
        (line, entries)
    };
    text.lines().map(line).collect()
}

/// A file in tests/data: from the folder where the tests were built or, on another machine, from the first folder that has
/// it, from the current one upwards.
pub fn file(name: &str) -> PathBuf {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let here = std::env::current_dir().unwrap_or_default();
    let folders = std::iter::once(built.as_path()).chain(here.ancestors());
    let mut files = folders.map(|folder| folder.join("tests/data").join(name));
    let found = files.find(|file| file.exists());
    found.unwrap_or_else(|| panic!("no tests/data/{name} in {here:?} or a folder around it"))
}
