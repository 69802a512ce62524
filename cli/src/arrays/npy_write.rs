//! Writes .npy files, byte for byte as NumPy does. An existing file is replaced only after the new one is
//! complete.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

use super::array::Array;
use super::names::Result;
use super::npy_header::MAX_RANK;
use super::npy_read::MAGIC;

/// In NumPy's files the data begins at a multiple of this many bytes.
const ALIGNMENT: usize = 64;
/// Bytes that are written at once.
const WRITTEN_BYTES: usize = 8 << 20;
/// Most links followed to the output, as on Linux.
const MAX_LINKS: usize = 40;
/// NumPy leaves room in the header for a first dim of this many digits, so that a file can grow in place.
const FIRST_DIM_DIGITS: usize = 21;

/// Writes an array to a .npy file. An error begins with `path`, and leaves no new file and an existing one unchanged.
pub fn write(path: &Path, array: &Array) -> Result<()> {
    write_with_progress(path, array, &|_| ())
}

/// Like [`write()`]. Calls `progress` with the number of bytes written since its last call.
pub fn write_with_progress(path: &Path, array: &Array, progress: &dyn Fn(u64)) -> Result<()> {
    write_array(path, array, progress)
        .map_err(|error| format!("{}: {error}", path.display()).into())
}

/// Returns an error if what is written to standard output is lost. In place of a closed one Rust opens `/dev/null` for reading
/// too, which a shell does not do.
pub fn check_stdout() -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;

        use rustix::fs::{OFlags, fcntl_getfl, fstat};

        let stdout = io::stdout();
        let number = fstat(&stdout).map(|metadata| metadata.st_rdev);
        // Device numbers differ in width among systems.
        let null = fs::metadata("/dev/null").map(|metadata| metadata.rdev());
        let is_null = matches!((number, null), (Ok(number), Ok(null)) if i128::from(number) == i128::from(null));
        if is_null && fcntl_getfl(&stdout).is_ok_and(|flags| flags.contains(OFlags::RDWR)) {
            return Err(
                "standard output: it is closed, or a null device that is open for reading too"
                    .into(),
            );
        }
    }
    Ok(())
}

/// Writes an array to standard output. An error begins with "standard output".
pub fn write_to_stdout(array: &Array) -> Result<()> {
    let mut stdout = io::stdout().lock();
    write_parts(&mut stdout, &header(array)?, array, &|_| ())
        .and_then(|()| stdout.flush())
        .map_err(|error| format!("standard output: {error}").into())
}

fn write_parts(
    mut file: impl Write,
    header: &[u8],
    array: &Array,
    progress: &dyn Fn(u64),
) -> io::Result<()> {
    file.write_all(header)?;
    for part in array.bytes.chunks(WRITTEN_BYTES) {
        file.write_all(part)?;
        progress(part.len() as u64);
    }
    Ok(())
}

fn write_array(path: &Path, array: &Array, progress: &dyn Fn(u64)) -> Result<()> {
    let header = header(array)?;
    let path = link_target(path)?;
    let old = fs::metadata(&path).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return Err("not a regular file".into());
    }
    if old.as_ref().is_some_and(|old| old.permissions().readonly()) {
        return Err("the file is read-only".into());
    }

    path.file_name().ok_or("not the name of a file")?;
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        return Err(format!("there is no folder {}", folder.display()).into());
    }
    let permissions = old.as_ref().map(permissions_of);
    let mut file = partial_in(folder, permissions.clone())?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    write_parts(&mut file, &header, array, progress)?;
    // After a power failure the path has the old file or the whole new one.
    file.as_file().sync_all()?;
    let mut partial = partial();
    file.persist(&path).map_err(|error| error.error)?;
    *partial = Partial::Replaced;
    Ok(())
}

/// The replaced file's permissions, except to run as somebody else.
fn permissions_of(old: &fs::Metadata) -> fs::Permissions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::Permissions::from_mode(old.permissions().mode() & 0o777)
    }
    #[cfg(not(unix))]
    old.permissions()
}

/// The path to which a chain of links leads. The links stay links, and the file at their end may be missing.
fn link_target(path: &Path) -> Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(target) = fs::read_link(&path) else {
            return Ok(path);
        };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    Err("too many links".into())
}

/// A new file in the output's folder, so that the rename moves no data. From the start it has no more permissions than the file
/// that it replaces. A failure removes it.
fn partial_in(folder: &Path, permissions: Option<fs::Permissions>) -> Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".wgpu-gather-").suffix(".partial");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The umask takes some of these away.
        builder.permissions(permissions.unwrap_or(fs::Permissions::from_mode(0o666)));
    }
    #[cfg(not(unix))]
    let _ = permissions;
    let mut partial = partial();
    let file = builder.tempfile_in(folder)?;
    *partial = Partial::Written(file.path().to_owned());
    Ok(file)
}

/// The new file.
enum Partial {
    None,
    /// The file at this path is being written.
    Written(PathBuf),
    /// The file is complete, and has replaced the output.
    Replaced,
}

fn partial() -> MutexGuard<'static, Partial> {
    static PARTIAL: Mutex<Partial> = Mutex::new(Partial::None);
    PARTIAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `end` with true if the output is complete. Otherwise removes the unfinished new file, if there is one, and calls
/// `end` with false, for a process that a signal ends. No file is begun or finished before `end` returns.
pub fn end_writing(end: impl FnOnce(bool)) {
    let partial = partial();
    if let Partial::Written(path) = &*partial {
        let _ = fs::remove_file(path);
    }
    end(matches!(*partial, Partial::Replaced));
}

/// All bytes before the data: the magic, the version, the text's length, and a Python dict as text.
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
    let descr = match array.dtype.descr() {
        fields if fields.starts_with(['[', '(']) => fields.to_owned(),
        code => format!("'{code}'"),
    };
    let text = format!(
        "{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}{:room$}",
        ""
    );
    // Version 1 has a short length and Latin-1, version 2 a long length, version 3 UTF-8 too.
    let latin: std::result::Result<Vec<u8>, _> = text.chars().map(u8::try_from).collect();
    let (text, is_latin) = match latin {
        Ok(text) => (text, true),
        Err(_) => (text.into_bytes(), false),
    };
    // NumPy pads with at least one space and ends with a newline.
    let padded = |length_bytes: usize| {
        let fixed_bytes = MAGIC.len() + 2 + length_bytes;
        (fixed_bytes + text.len() + 2).next_multiple_of(ALIGNMENT) - fixed_bytes
    };
    let short = u16::try_from(padded(size_of::<u16>()));
    let (version, length) = match short {
        Ok(short) if is_latin => (1, short.to_le_bytes().to_vec()),
        _ => {
            let long = u32::try_from(padded(size_of::<u32>()))?;
            (if is_latin { 2 } else { 3 }, long.to_le_bytes().to_vec())
        }
    };
    let header_bytes = MAGIC.len() + 2 + length.len() + padded(length.len());
    let mut header = [MAGIC, &[version, 0], &length, &text].concat();
    header.resize(header_bytes - 1, b' ');
    header.push(b'\n');
    Ok(header)
}
