//! Arrays from files: .npy, a member of a .npz archive, a tensor of a .safetensors file. Every file may be
//! hostile: sizes in its header are checked against its number of bytes before memory is allocated.

pub mod names;
mod npy_header;
pub mod npy_read;
pub mod npy_write;
pub mod npz;
pub mod safetensors;

use std::path::Path;

pub use npy_read::{Array, Result};
pub use npy_write::write;

/// Reads the array that `FILE.npy`, `FILE.npz:NAME` or `FILE.safetensors:NAME` names. An error begins with `source`.
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
