//! Arrays from files: .npy, a member of a .npz archive, a tensor of a .safetensors or a .gguf file. Every file may be
//! hostile: sizes in its header are checked against its number of bytes before memory is allocated.

mod array;
pub mod entry;
pub mod gguf;
pub mod names;
pub mod npy_header;
pub mod npy_read;
pub mod npy_write;
pub mod npz;
pub mod safetensors;

use std::borrow::Cow;
use std::path::Path;

pub use array::{Array, Dtype, Result};
pub use entry::Entry;

pub use npy_write::write;

/// Reads the array that `FILE.npy`, `FILE.npz:NAME`, `FILE.safetensors:NAME` or `FILE.gguf:NAME` names; `-` is a .npy file
/// from standard input. An error begins with `source`.
pub fn read(source: &Path) -> Result<Array> {
    Source::parse(source)
        .and_then(|source| source.read())
        .map_err(|error| format!("{}: {error}", source.display()).into())
}

/// Describes the array that `source` names, or all arrays of an archive. An error begins with `source`.
pub fn list(source: &Path) -> Result<Vec<Entry>> {
    Source::parse(source)
        .and_then(|source| source.list())
        .map_err(|error| format!("{}: {error}", source.display()).into())
}

enum Format {
    Npy,
    Npz,
    Safetensors,
    Gguf,
}

/// A file, and the name of an array in it if the file is an archive.
struct Source<'a> {
    format: Format,
    path: &'a Path,
    name: Option<Cow<'a, str>>,
}

impl<'a> Source<'a> {
    fn parse(source: &'a Path) -> Result<Self> {
        let archives = [
            (Format::Npz, ".npz"),
            (Format::Safetensors, ".safetensors"),
            (Format::Gguf, ".gguf"),
        ];
        let bytes = source.as_os_str().as_encoded_bytes();
        for (format, extension) in archives {
            let end = format!("{extension}:").into_bytes();
            let at = bytes.windows(end.len()).position(|part| part == end);
            let file_bytes = at.map_or(bytes.len(), |at| at + extension.len());
            if bytes[..file_bytes].ends_with(extension.as_bytes()) {
                let name = at.map(|at| String::from_utf8_lossy(&bytes[at + end.len()..]));
                let path = start(source, file_bytes)?;
                return Ok(Self { format, path, name });
            }
        }
        if bytes.windows(5).any(|part| part == b".npy:") && !source.exists() {
            return Err(
                "a .npy file has one array: names are for .npz, .safetensors and .gguf files"
                    .into(),
            );
        }
        Ok(Self {
            format: Format::Npy,
            path: source,
            name: None,
        })
    }

    fn read(&self) -> Result<Array> {
        let name = self.name.as_deref();
        match self.format {
            Format::Npy => npy_read::read_file_or_pipe(self.path),
            Format::Npz => npz::read(self.path, name),
            Format::Safetensors => safetensors::read(self.path, name),
            Format::Gguf => gguf::read(self.path, name),
        }
    }

    fn list(&self) -> Result<Vec<Entry>> {
        let name = self.name.as_deref();
        match self.format {
            Format::Npy => {
                let (file, bytes) = npy_read::open(self.path)?;
                Ok(vec![Entry::of_npy(file, bytes)?])
            }
            Format::Npz => npz::list(self.path, name),
            Format::Safetensors => safetensors::list(self.path, name),
            Format::Gguf => gguf::list(self.path, name),
        }
    }
}

/// The path of the first `bytes` bytes of a path, which end with ASCII. On Unix no byte need be of UTF-8.
fn start(path: &Path, bytes: usize) -> Result<&Path> {
    #[cfg(unix)]
    {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;

        let start = &path.as_os_str().as_bytes()[..bytes];
        Ok(Path::new(OsStr::from_bytes(start)))
    }
    #[cfg(not(unix))]
    {
        let text = path
            .to_str()
            .ok_or("the path of an archive must be Unicode")?;
        Ok(Path::new(&text[..bytes]))
    }
}
