//! The recorded results in tests/data.

use std::path::{Path, PathBuf};

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
