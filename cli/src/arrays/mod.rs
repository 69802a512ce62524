//! Arrays from files: .npy, a member in a .npz archive, a tensor in a .safetensors or .gguf file. A file's first bytes tell its
//! format, not its name. Every file may be hostile: sizes in its header are checked against the file's length before memory is
//! allocated.

mod array;
pub mod descr;
pub mod gguf;
mod kinds;
pub mod names;
pub mod npy_header;
pub mod npy_read;
pub mod npy_write;
pub mod npz;
pub mod safetensors;
mod stored;

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

pub use array::{Array, Dtype, Entry};
pub use names::Result;
pub use npy_write::write;
pub use stored::Stored;

use gguf::Gguf;
use names::named_by;
use npy_read::Remaining;
use npz::Npz;
use safetensors::Safetensors;

/// Reads the array that `source` names: `FILE`, `FILE:NAME` if the file holds several, or `-`, a .npy file from standard input.
/// An error begins with `source`.
pub fn read(source: &Path) -> Result<Array> {
    open(source)?.read(&|_| ())
}

/// Reads the header of the array that `source` names as in [`read`]. Pipes and compressed members are read whole.
pub fn open(source: &Path) -> Result<Stored> {
    let named = || match npy_read::read_pipe(source)? {
        Some(array) => Ok(Stored::of(source, array)),
        None => Source::open(source)?.stored(),
    };
    named().map_err(|error| named_by(source, &*error))
}

/// The file that a source names, as [`split`] finds it.
pub fn file_of(source: &Path) -> &Path {
    split(source).0
}

/// Splits `FILE:NAME` at the last colon that follows the path of an existing file or folder. Without one, or if `source` itself
/// exists, all of it is the path.
fn split(source: &Path) -> (&Path, Option<Cow<'_, str>>) {
    if source.exists() {
        return (source, None);
    }
    let bytes = source.as_os_str().as_encoded_bytes();
    let colons = (0..bytes.len()).rev().filter(|&at| bytes[at] == b':');
    let mut files = colons.filter_map(|at| {
        let path = start(source, at)?;
        let name = String::from_utf8_lossy(&bytes[at + 1..]);
        (path.is_file() || path.is_dir()).then_some((path, Some(name)))
    });
    files.next().unwrap_or((source, None))
}

/// The first `bytes` bytes of a path. On Unix they need not be UTF-8.
fn start(path: &Path, bytes: usize) -> Option<&Path> {
    #[cfg(unix)]
    {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;

        let start = &path.as_os_str().as_bytes()[..bytes];
        Some(Path::new(OsStr::from_bytes(start)))
    }
    #[cfg(not(unix))]
    path.to_str().map(|text| Path::new(&text[..bytes]))
}

/// An open file, by format. All headers but a .npy file's were read.
enum Format {
    Npy(File, u64),
    Npz(Npz<BufReader<File>>, File),
    Safetensors(Safetensors<File>),
    Gguf(Gguf<BufReader<File>>),
}

/// An open file, and the name of an array in it.
pub struct Source<'a> {
    source: &'a Path,
    format: Format,
    name: Option<Cow<'a, str>>,
}

impl<'a> Source<'a> {
    fn open(source: &'a Path) -> Result<Self> {
        let (path, name) = split(source);
        let (mut file, bytes) = npy_read::open(path)?;
        let mut first = Vec::new();
        (&mut file)
            .take(kinds::FIRST_BYTES)
            .read_to_end(&mut first)?;
        file.rewind()?;
        let format = match first.as_slice() {
            first if first.starts_with(npy_read::MAGIC) => Format::Npy(file, bytes),
            // `PK` alone may be the length of a .safetensors header.
            first if first.starts_with(b"PK\x03\x04") || first.starts_with(b"PK\x05\x06") => {
                let again = file.try_clone()?;
                Format::Npz(Npz::open(BufReader::new(file), bytes)?, again)
            }
            first if first.starts_with(&gguf::MAGIC) => {
                Format::Gguf(Gguf::open(BufReader::new(file), bytes)?)
            }
            // The header's length comes first.
            first if first.get(8) == Some(&b'{') => {
                Format::Safetensors(Safetensors::open(file, bytes)?)
            }
            first => return Err(kinds::error_of(first).into()),
        };
        if let (Format::Npy(..), Some(_)) = (&format, &name) {
            return Err(
                "a .npy file has one array: names are for .npz, .safetensors and .gguf files"
                    .into(),
            );
        }
        Ok(Self {
            source,
            format,
            name,
        })
    }

    /// Opens the file that `source` names, to list its arrays. An error begins with `source`.
    pub fn to_list(source: &'a Path) -> Result<Self> {
        Self::open(source).map_err(|error| named_by(source, &*error))
    }

    /// The text that names the source.
    pub fn text(&self) -> String {
        self.source.display().to_string()
    }

    fn stored(self) -> Result<Stored> {
        let name = self.name.as_deref();
        let (file, place) = match self.format {
            Format::Npy(mut file, bytes) => {
                let place = npy_read::place(&mut Remaining::new(&mut file, bytes))?;
                (file, place)
            }
            Format::Npz(npz, file) => return Stored::in_member(self.source, npz, file, name),
            Format::Safetensors(tensors) => {
                let place = tensors.place(name)?;
                (tensors.into_file(), place)
            }
            Format::Gguf(tensors) => {
                let place = tensors.place(name)?;
                (tensors.into_file().into_inner(), place)
            }
        };
        Ok(Stored::in_file(self.source, file, place))
    }

    /// Calls `each` with an entry for the array that the source names or, without a name, for every array. An
    /// error begins with the source.
    pub fn list(&mut self, each: &mut dyn FnMut(Entry)) -> Result<()> {
        let name = self.name.as_deref();
        let listed = match &mut self.format {
            Format::Npy(file, bytes) => file.rewind().map_err(Into::into).and_then(|()| {
                each(npy_read::describe(&mut Remaining::new(file, *bytes))?);
                Ok(())
            }),
            Format::Npz(file, _) => file.list(name, each),
            Format::Safetensors(file) => file.list(name, each),
            Format::Gguf(file) => file.list(name, each),
        };
        listed.map_err(|error| named_by(self.source, &*error))
    }
}
