//! Reads .npy files, NumPy's format for one array: versions 1.0 to 3.0, without Python objects. Every other file gives a one-line
//! error. Like NumPy, the reader leaves bytes after the last element unread.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use super::array::{Array, Dtype, Entry, Place, row_major};
use super::names::{Result, shown};
use super::npy_header::Header;

/// The first bytes of every .npy file.
pub const MAGIC: &[u8] = b"\x93NUMPY";
/// Longest header that is read; a structure with 100,000 fields needs less.
const MAX_HEADER_BYTES: u64 = 1 << 22;

/// Reads a .npy file from standard input for `-`, or from a pipe; `None` if the path is neither. All of it is held in memory.
pub(super) fn read_pipe(path: &Path) -> Result<Option<Array>> {
    if path == Path::new("-") {
        let stdin = io::stdin();
        if stdin.is_terminal() {
            return Err("standard input is a terminal, and .npy is not text".into());
        }
        return read_stream(stdin.lock()).map(Some);
    }
    match is_pipe(path) {
        true => read_stream(File::open(path)?).map(Some),
        false => Ok(None),
    }
}

/// Reads a stream whose length is not known. If it is not a .npy file, only its first bytes are read.
fn read_stream(mut stream: impl Read) -> Result<Array> {
    let mut bytes = Vec::new();
    (&mut stream)
        .take(MAGIC.len() as u64)
        .read_to_end(&mut bytes)?;
    if bytes == MAGIC {
        stream.read_to_end(&mut bytes)?;
    }
    read_array(&mut Remaining::new(&bytes[..], bytes.len() as u64))
}

fn is_pipe(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Opens a regular file; returns it and its size in bytes.
pub fn open(path: &Path) -> Result<(File, u64)> {
    let not_a_file = || Err("not a regular file".into());
    // A device may act when it is opened, so the path is looked at first.
    let found = fs::metadata(path)?;
    if found.is_dir() {
        return Err("it is a folder: name a file in it".into());
    }
    if !found.is_file() {
        return not_a_file();
    }
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // A pipe that has just taken the file's place would wait for its other end.
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return not_a_file();
    }
    Ok((file, metadata.len()))
}

/// Reads the array in a .npy file. Bytes after its last element stay unread.
pub fn read_array(file: &mut Remaining<impl Read>) -> Result<Array> {
    let place = place(file)?;
    file.array(place)
}

/// Reads the header of a .npy file.
pub(super) fn place(file: &mut Remaining<impl Read>) -> Result<Place> {
    let file_bytes = file.bytes;
    let header = read_header(file)?;
    let dtype = Dtype::from_descr(&header.descr)?;
    Ok(Place {
        bytes: check_size(&header.shape, &dtype, file.bytes)?,
        start: file_bytes - file.bytes,
        dtype,
        is_fortran: header.is_fortran(),
        shape: header.shape,
    })
}

/// Describes the array in a .npy file.
pub(super) fn describe(file: &mut Remaining<impl Read>) -> Result<Entry> {
    let header = read_header(file)?;
    let dtype = Dtype::from_descr(&header.descr).ok();
    Ok(Entry {
        name: None,
        bytes: (dtype.as_ref()).and_then(|dtype| data_bytes(&header.shape, dtype)),
        dtype: Ok(dtype.map_or(header.descr, |dtype| dtype.to_string())),
        shape: Some(header.shape),
    })
}

fn read_header(file: &mut Remaining<impl Read>) -> Result<Header> {
    if file.take(MAGIC.len() as u64).ok().as_deref() != Some(MAGIC) {
        return Err("not a .npy file".into());
    }
    let (version, header_len) = match file.take_array()? {
        [1, 0] => (1, u64::from(u16::from_le_bytes(file.take_array()?))),
        [version @ (2 | 3), 0] => (version, u64::from(u32::from_le_bytes(file.take_array()?))),
        version => return Err(format!("format version {version:?} is not supported").into()),
    };
    if header_len > MAX_HEADER_BYTES {
        let limit = MAX_HEADER_BYTES;
        return Err(format!("header must have at most {limit} bytes, found {header_len}").into());
    }
    let header = file.take(header_len)?;
    // Only version 3 is UTF-8. In Latin-1, a byte is its character's number.
    let header = match version {
        3 => String::from_utf8(header).map_err(|_| "header must be UTF-8 text")?,
        _ => header.into_iter().map(char::from).collect(),
    };
    Header::parse(&header)
}

/// An array's size in bytes; an error if the file has fewer left.
fn check_size(shape: &[usize], dtype: &Dtype, left: u64) -> Result<u64> {
    let bytes = data_bytes(shape, dtype).ok_or("the size of shape overflows")?;
    match bytes <= left {
        true => Ok(bytes),
        false => Err(format!(
            "{} data of shape {shape:?} must have {bytes} bytes, found {left}",
            shown(&dtype.to_string())
        )
        .into()),
    }
}

/// An array's size in bytes, unless it overflows.
fn data_bytes(shape: &[usize], dtype: &Dtype) -> Option<u64> {
    match shape.contains(&0) {
        true => Some(0),
        false => shape.iter().try_fold(dtype.bytes as u64, |bytes, &dim| {
            bytes.checked_mul(dim as u64)
        }),
    }
}

/// A file and how many bytes are unread, which bounds each allocation.
pub struct Remaining<R> {
    pub file: R,
    pub bytes: u64,
    /// The part being read, for an error.
    pub part: &'static str,
}

impl<R: Read> Remaining<R> {
    /// A file with `bytes` unread bytes, whose header is read first.
    pub fn new(file: R, bytes: u64) -> Self {
        Self {
            file,
            bytes,
            part: "header",
        }
    }

    /// Reads `len` bytes; an error if the file has fewer.
    pub fn take(&mut self, len: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if len <= self.bytes {
            bytes.try_reserve_exact(usize::try_from(len)?)?;
            (&mut self.file).take(len).read_to_end(&mut bytes)?;
            self.bytes -= len;
        }
        match bytes.len() as u64 == len {
            true => Ok(bytes),
            false => Err(self.ends()),
        }
    }

    pub fn take_array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.take(N as u64)?;
        Ok(bytes.as_slice().try_into()?)
    }

    /// Reads an array's data, which is next.
    pub(super) fn array(&mut self, place: Place) -> Result<Array> {
        self.part = "data";
        let bytes = self.take(place.bytes)?;
        Ok(Array {
            bytes: match place.is_fortran {
                true => row_major(&bytes, &place.shape, place.dtype.bytes)?,
                false => bytes,
            },
            dtype: place.dtype,
            shape: place.shape,
        })
    }

    /// Skips `len` bytes; an error if the file has fewer.
    pub fn skip(&mut self, len: u64) -> Result<()> {
        let skipped = match len <= self.bytes {
            true => io::copy(&mut (&mut self.file).take(len), &mut io::sink())?,
            false => 0,
        };
        self.bytes -= skipped;
        match skipped == len {
            true => Ok(()),
            false => Err(self.ends()),
        }
    }

    fn ends(&self) -> Box<dyn std::error::Error> {
        format!("the file ends within its {}", self.part).into()
    }
}
