//! Reads tensors from .gguf files, which hold a header, metadata, tensor descriptions, and the data. Only the
//! named tensor's data is read.
//!
//! The crates that read GGUF trust a header: gguf-rs 0.1.8 panics on tensor type 40, and allocates as many bytes as a
//! length says; ggus 0.5.1 takes any number in a file for a variant of its type enum.

use std::io::{self, Read, Seek, SeekFrom};

use super::array::{Array, Dtype, Entry, Place};
use super::names::{Result, not_found, shown};
use super::npy_header::MAX_RANK;
use super::npy_read::Remaining;

/// The first bytes of every GGUF file.
pub const MAGIC: [u8; 4] = *b"GGUF";

/// The metadata key for the data's alignment in bytes.
const ALIGNMENT: &str = "general.alignment";
const DEFAULT_ALIGNMENT: u64 = 32;

/// Numbers of metadata types: the alignment's, and the two that have no fixed size.
const UINT32: u32 = 4;
const STRING: u32 = 8;
const ARRAY: u32 = 9;
/// How deep arrays may nest.
const MAX_DEPTH: usize = 64;

/// The dtype that a GGUF type number means.
fn dtype(number: u32) -> Option<Dtype> {
    let blocks = |name: &'static str, len, bytes| Dtype::of_format(name, len, bytes);
    Some(match number {
        0 => return Dtype::from_code("f4"),
        1 => return Dtype::from_code("f2"),
        2 => blocks("Q4_0", 32, 18),
        3 => blocks("Q4_1", 32, 20),
        6 => blocks("Q5_0", 32, 22),
        7 => blocks("Q5_1", 32, 24),
        8 => blocks("Q8_0", 32, 34),
        9 => blocks("Q8_1", 32, 36),
        10 => blocks("Q2_K", 256, 84),
        11 => blocks("Q3_K", 256, 110),
        12 => blocks("Q4_K", 256, 144),
        13 => blocks("Q5_K", 256, 176),
        14 => blocks("Q6_K", 256, 210),
        15 => blocks("Q8_K", 256, 292),
        16 => blocks("IQ2_XXS", 256, 66),
        17 => blocks("IQ2_XS", 256, 74),
        18 => blocks("IQ3_XXS", 256, 98),
        19 => blocks("IQ1_S", 256, 50),
        20 => blocks("IQ4_NL", 32, 18),
        21 => blocks("IQ3_S", 256, 110),
        22 => blocks("IQ2_S", 256, 82),
        23 => blocks("IQ4_XS", 256, 136),
        24 => return Dtype::from_code("i1"),
        25 => return Dtype::from_code("i2"),
        26 => return Dtype::from_code("i4"),
        27 => return Dtype::from_code("i8"),
        28 => return Dtype::from_code("f8"),
        29 => blocks("IQ1_M", 256, 56),
        30 => blocks("BF16", 1, 2),
        34 => blocks("TQ1_0", 256, 54),
        35 => blocks("TQ2_0", 256, 66),
        39 => blocks("MXFP4", 32, 17),
        40 => blocks("NVFP4", 64, 36),
        _ => return None,
    })
}

/// The description of a tensor.
struct Tensor {
    name: String,
    /// Its GGUF type number.
    kind: u32,
    /// The dims, outermost first, as in NumPy. The file stores them innermost first.
    shape: Vec<usize>,
    /// Where the tensor starts, in bytes from the data's start.
    offset: u64,
}

impl Tensor {
    fn read(file: &mut Remaining<impl Read>) -> Result<Self> {
        let name = string(file)?;
        let rank = number(file)?;
        if rank as usize > MAX_RANK {
            let name = shown(&name);
            return Err(format!(
                "tensor \"{name}\" must have at most {MAX_RANK} dims, found {rank}"
            )
            .into());
        }
        let mut shape = Vec::new();
        for _ in 0..rank {
            shape.push(usize::try_from(long(file)?)?);
        }
        shape.reverse();
        Ok(Self {
            name,
            kind: number(file)?,
            shape,
            offset: long(file)?,
        })
    }

    /// The tensor's dtype and size in bytes, if it can be gathered from.
    fn layout(&self) -> Result<(Dtype, u64)> {
        let name = shown(&self.name);
        let dtype = dtype(self.kind).ok_or_else(|| {
            let kind = self.kind;
            format!("tensor \"{name}\" has a type of number {kind}, which is not supported")
        })?;
        let (row_len, outer) = match self.shape.split_last() {
            Some((&row_len, outer)) => (row_len, outer),
            None => (1, &[][..]),
        };
        if !row_len.is_multiple_of(dtype.block_len) {
            return Err(format!(
                "tensor \"{name}\" must have rows of whole blocks of {dtype}, of {} values each, found {row_len}",
                dtype.block_len
            )
            .into());
        }
        let sizes = [row_len / dtype.block_len, dtype.bytes];
        let bytes = match self.shape.contains(&0) {
            true => Some(0),
            false => (sizes.iter().chain(outer))
                .try_fold(1_u64, |bytes, &size| bytes.checked_mul(size as u64)),
        };
        match bytes {
            Some(bytes) => Ok((dtype, bytes)),
            None => Err(format!("the size of tensor \"{name}\" overflows").into()),
        }
    }
}

/// A file whose header was read.
pub struct Gguf<R> {
    file: R,
    bytes: u64,
    /// All tensor descriptions, as the file has them: parsed, they could take more memory than a hostile file.
    descriptions: Vec<u8>,
    /// Where each description starts.
    starts: Vec<usize>,
    /// Where the data starts in the file, in bytes.
    data_start: u64,
}

impl<R: Read + Seek> Gguf<R> {
    /// Reads the header. The file has `bytes` bytes.
    pub fn open(file: R, bytes: u64) -> Result<Self> {
        let mut file = Remaining::new(file, bytes);
        if file.take_array().ok() != Some(MAGIC) {
            return Err("not a .gguf file".into());
        }
        match number(&mut file)? {
            2 | 3 => {}
            version if (1..=3).contains(&version.swap_bytes()) => {
                return Err("big-endian files are not supported".into());
            }
            version => return Err(format!("format version {version} is not supported").into()),
        }
        let (tensor_count, pair_count) = (long(&mut file)?, long(&mut file)?);
        let alignment = read_metadata(&mut file, pair_count)?;
        let (mut descriptions, mut starts) = (Vec::new(), Vec::new());
        for _ in 0..tensor_count {
            starts.try_reserve(1)?;
            starts.push(descriptions.len());
            let copied = Copied {
                file: &mut file.file,
                to: &mut descriptions,
            };
            let mut copied = Remaining::new(copied, file.bytes);
            Tensor::read(&mut copied)?;
            file.bytes = copied.bytes;
        }
        let data_start = (bytes - file.bytes).next_multiple_of(alignment);
        let header = Self {
            file: file.file,
            bytes,
            descriptions,
            starts,
            data_start,
        };
        header.check_names()?;
        Ok(header)
    }

    /// Returns an error if two tensors share a name.
    fn check_names(&self) -> Result<()> {
        let mut names = Vec::new();
        names.try_reserve_exact(self.starts.len())?;
        names.extend(self.starts.iter().map(|&start| self.name_at(start)));
        names.sort_unstable();
        match names.windows(2).find(|two| two[0] == two[1]) {
            Some(two) => {
                let name = String::from_utf8_lossy(two[0]);
                Err(format!("two tensors have the name \"{}\"", shown(&name)).into())
            }
            None => Ok(()),
        }
    }

    /// The name that begins a description.
    fn name_at(&self, start: usize) -> &[u8] {
        let rest = &self.descriptions[start..];
        let name = rest.split_first_chunk().and_then(|(len, rest)| {
            let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
            rest.get(..len)
        });
        name.expect("a description that was read")
    }

    fn tensor_at(&self, start: usize) -> Result<Tensor> {
        let description = &self.descriptions[start..];
        Tensor::read(&mut Remaining::new(description, description.len() as u64))
    }

    pub(super) fn into_file(self) -> R {
        self.file
    }

    /// Reads the tensor `name`. Without a name the error lists the tensors.
    pub fn read(&mut self, name: Option<&str>) -> Result<Array> {
        let place = self.place(name)?;
        self.file.seek(SeekFrom::Start(place.start))?;
        Remaining::new(&mut self.file, place.bytes).array(place)
    }

    /// Finds the data of the tensor `name`.
    pub(super) fn place(&self, name: Option<&str>) -> Result<Place> {
        let tensor = self.find(name)?;
        let (dtype, bytes) = tensor.layout()?;
        let start = self.data_start.checked_add(tensor.offset);
        let left = start.and_then(|start| self.bytes.checked_sub(start));
        let (Some(start), Some(_)) = (start, left.filter(|&left| bytes <= left)) else {
            return Err(format!(
                "the {bytes} bytes of the tensor must end in the file of {} bytes, but start at byte {}",
                self.bytes,
                u128::from(self.data_start) + u128::from(tensor.offset)
            )
            .into());
        };
        Ok(Place {
            dtype,
            shape: tensor.shape,
            is_fortran: false,
            start,
            bytes,
        })
    }

    /// Calls `each` with an entry for the tensor `name` or, without a name, for every tensor.
    pub fn list(&self, name: Option<&str>, each: &mut dyn FnMut(Entry)) -> Result<()> {
        let mut each_tensor = |tensor: Tensor| {
            let dtype = match dtype(tensor.kind) {
                Some(dtype) => dtype.to_string(),
                None => format!("type {}", tensor.kind),
            };
            each(Entry {
                dtype: Ok(dtype),
                bytes: tensor.layout().ok().map(|(_, bytes)| bytes),
                name: Some(tensor.name),
                shape: Some(tensor.shape),
            });
        };
        if name.is_some() {
            each_tensor(self.find(name)?);
            return Ok(());
        }
        for &start in &self.starts {
            each_tensor(self.tensor_at(start)?);
        }
        Ok(())
    }

    fn find(&self, name: Option<&str>) -> Result<Tensor> {
        match self.start_of(name) {
            Some(start) => self.tensor_at(start),
            None => Err(not_found("tensor", name, self.names().collect()).into()),
        }
    }

    /// Where the description of the tensor `name` starts.
    fn start_of(&self, name: Option<&str>) -> Option<usize> {
        let name = name?;
        let mut starts = self.starts.iter().copied();
        starts.find(|&start| String::from_utf8_lossy(self.name_at(start)) == name)
    }

    fn names(&self) -> impl Iterator<Item = String> {
        let starts = self.starts.iter();
        starts.map(|&start| String::from_utf8_lossy(self.name_at(start)).into_owned())
    }
}

/// A file whose bytes are copied as they are read.
struct Copied<'a, R> {
    file: &'a mut R,
    to: &'a mut Vec<u8>,
}

impl<R: Read> Read for Copied<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.file.read(buffer)?;
        self.to.try_reserve(len)?;
        self.to.extend(&buffer[..len]);
        Ok(len)
    }
}

/// Reads all pairs of key and value, and returns the alignment.
fn read_metadata(file: &mut Remaining<impl Read>, pair_count: u64) -> Result<u64> {
    let mut alignment = None;
    for _ in 0..pair_count {
        let key = string(file)?;
        let kind = number(file)?;
        if key != ALIGNMENT {
            skip_value(file, kind, 0)
                .map_err(|error| format!("metadata \"{}\": {error}", shown(&key)))?;
            continue;
        }
        let found = alignment_of(file, kind)?;
        if let Some(first) = alignment.replace(found) {
            let error = format!("{ALIGNMENT} must be given once, found {first} and {found}");
            return Err(error.into());
        }
    }
    Ok(alignment.unwrap_or(DEFAULT_ALIGNMENT))
}

fn alignment_of(file: &mut Remaining<impl Read>, kind: u32) -> Result<u64> {
    if kind != UINT32 {
        return Err(
            format!("{ALIGNMENT} must be a uint32 (type {UINT32}), found type {kind}").into(),
        );
    }
    match u64::from(number(file)?) {
        found if found.is_power_of_two() => Ok(found),
        found => Err(format!("{ALIGNMENT} must be a power of two, found {found}").into()),
    }
}

fn number(file: &mut Remaining<impl Read>) -> Result<u32> {
    Ok(u32::from_le_bytes(file.take_array()?))
}

fn long(file: &mut Remaining<impl Read>) -> Result<u64> {
    Ok(u64::from_le_bytes(file.take_array()?))
}

/// Reads a string. Replacement characters stand for bytes that are not UTF-8.
fn string(file: &mut Remaining<impl Read>) -> Result<String> {
    let len = long(file)?;
    let bytes = file.take(len)?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Skips a metadata value that lies in `depth` nested arrays, [`MAX_DEPTH`] at most.
fn skip_value(file: &mut Remaining<impl Read>, kind: u32, depth: usize) -> Result<()> {
    match kind {
        STRING => {
            let len = long(file)?;
            file.skip(len)
        }
        ARRAY if depth == MAX_DEPTH => {
            Err(format!("at most {MAX_DEPTH} arrays may be in one another").into())
        }
        ARRAY => {
            let (kind, len) = (number(file)?, long(file)?);
            match kind {
                STRING | ARRAY => (0..len).try_for_each(|_| skip_value(file, kind, depth + 1)),
                kind => file.skip(len.saturating_mul(size_of_value(kind)?)),
            }
        }
        kind => file.skip(size_of_value(kind)?),
    }
}

/// Bytes that a metadata number takes.
fn size_of_value(kind: u32) -> Result<u64> {
    Ok(match kind {
        0 | 1 | 7 => 1,
        2 | 3 => 2,
        4..=6 => 4,
        10..=12 => 8,
        kind => return Err(format!("type {kind} is not supported").into()),
    })
}
