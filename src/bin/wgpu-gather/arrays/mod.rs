//! Arrays from files: .npy, a member of a .npz archive, a tensor of a .safetensors file. Every file may be
//! hostile: what it says of itself is never believed beyond the bytes that it has.

mod npy_read;
mod npy_write;
mod npz;
mod safetensors;

use std::path::Path;

use npy_read::start_of;
pub use npy_read::{Array, Result};
pub use npy_write::write;

/// Reads the array that `FILE.npy`, `FILE.npz:NAME` or `FILE.safetensors:NAME` names. The error names it too.
pub fn read(source: &Path) -> Result<Array> {
    let archived = |extension: &str| {
        let text = source.to_str()?;
        let (file, name) = match text.split_once(&format!("{extension}:")) {
            Some((file, name)) => (file, Some(name)),
            None => (text.strip_suffix(extension)?, None),
        };
        Some((format!("{file}{extension}"), name))
    };
    let array = if let Some((file, name)) = archived(".npz") {
        npz::read(Path::new(&file), name)
    } else if let Some((file, name)) = archived(".safetensors") {
        safetensors::read(Path::new(&file), name)
    } else {
        return npy_read::read(source);
    };
    array.map_err(|error| format!("{}: {error}", source.display()).into())
}

/// The error for a name that an archive does not have, with those that it has.
fn not_found<'a>(what: &str, name: Option<&str>, names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 8;
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    let mut list: Vec<String> = names
        .iter()
        .take(SHOWN)
        .map(|name| start_of(name))
        .collect();
    if names.len() > SHOWN {
        list.push(format!("{} more", names.len() - SHOWN));
    }
    let list = if list.is_empty() {
        "none".to_owned()
    } else {
        format!("{list:?}").replace(['[', ']', '"'], "")
    };
    match name {
        Some(name) => format!("no {what} {:?}, it has {list}", start_of(name)),
        None => format!("name a {what}, as FILE:NAME; it has {list}"),
    }
}
