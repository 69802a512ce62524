//! Reads .npy files, NumPy's format for one array: versions 1.0 to 3.0, little-endian, C order. Every other file
//! gives an error of one line, and the size that a header gives must be that of the file.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use super::array::{Array, Dtype, Result};
use super::npy_header::parse_header;

/// The first bytes of every .npy file.
pub const MAGIC: &[u8] = b"\x93NUMPY";
/// Longest header that is read; a header of [`MAX_RANK`] dims is shorter.
const MAX_HEADER_BYTES: u64 = 1 << 16;

/// Reads the array of a .npy file. An error begins with `path`.
pub fn read(path: &Path) -> Result<Array> {
    open(path)
        .and_then(|(file, bytes)| read_array(file, bytes))
        .map_err(|error| format!("{}: {error}", path.display()).into())
}

/// Reads the array of a .npy file, of a pipe, or of standard input for `-`. What a pipe gives is held in memory.
pub(super) fn read_file_or_pipe(path: &Path) -> Result<Array> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        let mut stdin = io::stdin();
        if stdin.is_terminal() {
            return Err("standard input is a terminal, and .npy is not text".into());
        }
        stdin.read_to_end(&mut bytes)?;
    } else if is_pipe(path) {
        File::open(path)?.read_to_end(&mut bytes)?;
    } else {
        let (file, bytes) = open(path)?;
        return read_array(file, bytes);
    }
    read_array(&bytes[..], bytes.len() as u64)
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
    if !fs::metadata(path)?.is_file() {
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

/// Reads the array of a .npy file of `bytes` bytes.
pub fn read_array(file: impl Read, bytes: u64) -> Result<Array> {
    let mut file = Remaining { file, bytes };
    let (dtype, shape) = read_header(&mut file)?;
    let bytes = file.take(file.bytes)?;
    Ok(Array {
        dtype,
        shape,
        bytes,
    })
}

/// Reads the header of a .npy file, and checks that the rest of the file has the size of the data.
pub(super) fn read_header(file: &mut Remaining<impl Read>) -> Result<(Dtype, Vec<usize>)> {
    let start = file.take(MAGIC.len() as u64 + 2);
    let header_len = match start.as_deref().map(|start| start.split_at(MAGIC.len())) {
        Ok((MAGIC, [1, 0])) => u64::from(u16::from_le_bytes(file.take_array()?)),
        Ok((MAGIC, [2 | 3, 0])) => u64::from(u32::from_le_bytes(file.take_array()?)),
        Ok((MAGIC, version)) => {
            return Err(format!("format version {version:?} is not supported").into());
        }
        _ => return Err("not a .npy file".into()),
    };
    if header_len > MAX_HEADER_BYTES {
        let limit = MAX_HEADER_BYTES;
        return Err(format!("header must have at most {limit} bytes, found {header_len}").into());
    }
    let header = file.take(header_len)?;
    let (dtype, shape) = parse_header(&header)?;

    let data_bytes = byte_count(&shape, dtype).ok_or("the size of shape overflows")?;
    if data_bytes != file.bytes {
        return Err(format!(
            "{dtype} data of shape {shape:?} must have {data_bytes} bytes, found {}",
            file.bytes
        )
        .into());
    }
    Ok((dtype, shape))
}

fn byte_count(shape: &[usize], dtype: Dtype) -> Option<u64> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(dtype.bytes as u64, |bytes, &dim| {
        bytes.checked_mul(dim as u64)
    })
}

/// A file and the number of its unread bytes, which bounds each allocation.
pub struct Remaining<R> {
    pub file: R,
    pub bytes: u64,
}

impl<R: Read> Remaining<R> {
    /// Reads `len` bytes; an error if the file has fewer.
    pub fn take(&mut self, len: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if len <= self.bytes {
            bytes.try_reserve_exact(usize::try_from(len)?)?;
            (&mut self.file).take(len).read_to_end(&mut bytes)?;
            self.bytes -= len;
        }
        if bytes.len() as u64 == len {
            Ok(bytes)
        } else {
            Err("the file ends within its header or data".into())
        }
    }

    pub fn take_array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.take(N as u64)?;
        Ok(bytes.as_slice().try_into()?)
    }
}
