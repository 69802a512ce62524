//! Writes .npy files, byte for byte as NumPy does. An existing file is replaced only after the new one is
//! complete.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::npy_read::{Array, MAGIC, MAX_RANK, Result};

/// In NumPy's files the data begins at a multiple of this many bytes.
const ALIGNMENT: usize = 64;
/// NumPy leaves room in the header for a first dim of this many digits, so that a file can grow in place.
const FIRST_DIM_DIGITS: usize = 21;

/// Writes an array to a .npy file. An error begins with `path`, and leaves no new file and an existing one unchanged.
pub fn write(path: &Path, array: &Array) -> Result<()> {
    write_array(path, array).map_err(|error| format!("{}: {error}", path.display()).into())
}

fn write_array(path: &Path, array: &Array) -> Result<()> {
    let header = header(array)?;
    // A link stays a link: its target is replaced.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let old = fs::metadata(&path).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return Err("not a regular file".into());
    }
    if old.as_ref().is_some_and(|old| old.permissions().readonly()) {
        return Err("the file is read-only".into());
    }

    let partial = partial_path(&path)?;
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&partial)?;
    let partial = RemovedUnlessRenamed(partial);
    if let Some(old) = old {
        file.set_permissions(old.permissions())?;
    }
    file.write_all(&header)?;
    file.write_all(&array.bytes)?;
    drop(file);
    fs::rename(&partial.0, &path)?;
    Ok(())
}

/// The path of the new file while it is written, in the folder of `path` so that the rename moves no data.
fn partial_path(path: &Path) -> Result<PathBuf> {
    let mut name = path.file_name().ok_or("not the name of a file")?.to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    Ok(path.with_file_name(name))
}

struct RemovedUnlessRenamed(PathBuf);

impl Drop for RemovedUnlessRenamed {
    fn drop(&mut self) {
        // Fails after the rename, when no file has the partial name.
        let _ = fs::remove_file(&self.0);
    }
}

/// All bytes before the data: the magic, version 1.0, the length of the text, and the text of a Python dict.
fn header(array: &Array) -> Result<Vec<u8>> {
    let rank = array.shape.len();
    if rank > MAX_RANK {
        return Err(format!("NumPy reads at most {MAX_RANK} dims, found {rank}").into());
    }
    let dims: Vec<String> = array.shape.iter().map(usize::to_string).collect();
    let shape = match dims.as_slice() {
        [dim] => format!("({dim},)"),
        dims => format!("({})", dims.join(", ")),
    };
    let room = dims
        .first()
        .map_or(0, |dim| FIRST_DIM_DIGITS.saturating_sub(dim.len()));
    let text = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': {shape}, }}{:room$}",
        array.dtype.descr(),
        ""
    );

    let fixed_bytes = MAGIC.len() + 2 + size_of::<u16>();
    // NumPy pads with at least one space and ends with a newline.
    let header_bytes = (fixed_bytes + text.len() + 2).next_multiple_of(ALIGNMENT);
    let text_bytes = header_bytes - fixed_bytes;
    let mut header = Vec::with_capacity(header_bytes);
    header.extend(MAGIC);
    header.extend([1, 0]);
    header.extend(u16::try_from(text_bytes)?.to_le_bytes());
    header.extend(text.as_bytes());
    header.resize(header_bytes - 1, b' ');
    header.push(b'\n');
    Ok(header)
}
