//! Reads tensors of .gguf files, which hold a header, metadata, descriptions of the tensors, and the data. Of the data,
//! only the named tensor is read.
//!
//! The crates that read GGUF trust a header: gguf-rs 0.1.8 panics on a tensor type of number 40, and allocates as many
//! bytes as a length says; ggus 0.5.1 takes any number in a file for a variant of its enum of types.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::array::{Array, Dtype, Result, start_of};
use super::entry::Entry;
use super::names::not_found;
use super::npy_read::{Remaining, open};

/// The first bytes of every GGUF file.
const MAGIC: [u8; 4] = *b"GGUF";
/// Most dims that GGUF gives a tensor.
const MAX_RANK: u32 = 4;
const DEFAULT_ALIGNMENT: u64 = 32;

/// The types of metadata that have no size of their own.
const STRING: u32 = 8;
const ARRAY: u32 = 9;

/// The type of a tensor by its number in GGUF.
fn dtype(number: u32) -> Option<Dtype> {
    let blocks = Dtype::blocks;
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
        30 => Dtype::void("BF16", 2),
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
    dtype: Dtype,
    /// The dims, outermost first, as in NumPy. The file has them in the other order.
    shape: Vec<usize>,
    /// The bytes from the start of the data to the tensor's.
    offset: u64,
    bytes: u64,
}

/// The tensors of a file, and the bytes from its start to the data.
struct Header {
    tensors: Vec<Tensor>,
    data_start: u64,
}

/// Reads the tensor `name`. Without a name the error lists the tensors.
pub fn read(path: &Path, name: Option<&str>) -> Result<Array> {
    let (file, bytes) = open(path)?;
    read_tensor(BufReader::new(file), bytes, name)
}

/// As [`read`], but from an open file of `bytes` bytes.
pub fn read_tensor(file: impl Read + Seek, bytes: u64, name: Option<&str>) -> Result<Array> {
    let mut file = Remaining { file, bytes };
    let header = read_header(&mut file)?;
    let tensor = find(&header.tensors, name)?;
    let start = header.data_start.checked_add(tensor.offset);
    let left = start.and_then(|start| bytes.checked_sub(start));
    match (start, left) {
        (Some(start), Some(left)) if tensor.bytes <= left => {
            file.file.seek(SeekFrom::Start(start))?;
            file.bytes = left;
        }
        _ => {
            return Err(format!(
                "the {} bytes of the tensor must end in the file of {bytes} bytes, but start at byte {}",
                tensor.bytes,
                u128::from(header.data_start) + u128::from(tensor.offset)
            )
            .into());
        }
    }
    Ok(Array {
        dtype: tensor.dtype,
        shape: tensor.shape.clone(),
        bytes: file.take(tensor.bytes)?,
    })
}

/// Describes the tensor of this name, or all tensors. Reads the header only.
pub fn list(path: &Path, name: Option<&str>) -> Result<Vec<Entry>> {
    let (file, bytes) = open(path)?;
    let mut file = Remaining {
        file: BufReader::new(file),
        bytes,
    };
    let mut tensors = read_header(&mut file)?.tensors;
    if name.is_some() {
        find(&tensors, name)?;
        tensors.retain(|tensor| Some(tensor.name.as_str()) == name);
    }
    let entry = |tensor: Tensor| Entry {
        name: Some(tensor.name),
        dtype: tensor.dtype.to_string(),
        shape: tensor.shape,
        bytes: tensor.bytes,
    };
    Ok(tensors.into_iter().map(entry).collect())
}

fn find<'a>(tensors: &'a [Tensor], name: Option<&str>) -> Result<&'a Tensor> {
    let tensor = name.and_then(|name| tensors.iter().find(|tensor| tensor.name == name));
    tensor.ok_or_else(|| {
        let names = tensors.iter().map(|tensor| tensor.name.as_str());
        not_found("tensor", name, names).into()
    })
}

fn read_header(file: &mut Remaining<impl Read>) -> Result<Header> {
    let bytes = file.bytes;
    if file.take_array().ok() != Some(MAGIC) {
        return Err("not a .gguf file".into());
    }
    match number(file)? {
        2 | 3 => {}
        version if version.swap_bytes() <= 3 => {
            return Err("big-endian files are not supported".into());
        }
        version => return Err(format!("format version {version} is not supported").into()),
    }
    let (tensor_count, pair_count) = (long(file)?, long(file)?);
    let mut alignment = DEFAULT_ALIGNMENT;
    for _ in 0..pair_count {
        let key = string(file)?;
        match (key.as_str(), number(file)?) {
            ("general.alignment", 4) => alignment = number(file)?.into(),
            (_, kind) => skip_value(file, kind)?,
        }
    }
    if !alignment.is_power_of_two() {
        return Err(format!("the alignment must be a power of two, found {alignment}").into());
    }
    let mut tensors = Vec::new();
    for _ in 0..tensor_count {
        tensors.push(read_description(file)?);
    }
    Ok(Header {
        tensors,
        data_start: (bytes - file.bytes).next_multiple_of(alignment),
    })
}

fn read_description(file: &mut Remaining<impl Read>) -> Result<Tensor> {
    let name = string(file)?;
    let shown = start_of(&name);
    let rank = number(file)?;
    if rank > MAX_RANK {
        return Err(
            format!("tensor {shown:?} must have at most {MAX_RANK} dims, found {rank}").into(),
        );
    }
    let mut shape = Vec::new();
    for _ in 0..rank {
        shape.push(usize::try_from(long(file)?)?);
    }
    let (kind, offset) = (number(file)?, long(file)?);
    let dtype = dtype(kind).ok_or_else(|| {
        format!("tensor {shown:?} has a type of number {kind}, which is not supported")
    })?;
    let row_len = shape.first().copied().unwrap_or(1);
    if !row_len.is_multiple_of(dtype.block_len) {
        return Err(format!(
            "tensor {shown:?} must have rows of whole blocks of {dtype}, of {} values each, found {row_len}",
            dtype.block_len
        )
        .into());
    }
    let sizes = [row_len / dtype.block_len, dtype.bytes];
    let bytes = match shape.contains(&0) {
        true => Some(0),
        false => (sizes.iter().chain(shape.iter().skip(1)))
            .try_fold(1_u64, |bytes, &size| bytes.checked_mul(size as u64)),
    };
    shape.reverse();
    Ok(Tensor {
        bytes: bytes.ok_or_else(|| format!("the size of tensor {shown:?} overflows"))?,
        name,
        dtype,
        shape,
        offset,
    })
}

fn number(file: &mut Remaining<impl Read>) -> Result<u32> {
    Ok(u32::from_le_bytes(file.take_array()?))
}

fn long(file: &mut Remaining<impl Read>) -> Result<u64> {
    Ok(u64::from_le_bytes(file.take_array()?))
}

fn string(file: &mut Remaining<impl Read>) -> Result<String> {
    let len = long(file)?;
    let bytes = file.take(len)?;
    Ok(String::from_utf8(bytes).map_err(|_| "a name in the header must be UTF-8 text")?)
}

fn skip_value(file: &mut Remaining<impl Read>, kind: u32) -> Result<()> {
    match kind {
        STRING => {
            let len = long(file)?;
            skip(file, len)
        }
        ARRAY => {
            let (kind, len) = (number(file)?, long(file)?);
            match kind {
                STRING => (0..len).try_for_each(|_| skip_value(file, STRING)),
                ARRAY => Err("metadata must have no arrays of arrays".into()),
                kind => skip(file, len.saturating_mul(size_of_value(kind)?)),
            }
        }
        kind => skip(file, size_of_value(kind)?),
    }
}

/// Bytes of a number of metadata.
fn size_of_value(kind: u32) -> Result<u64> {
    Ok(match kind {
        0 | 1 | 7 => 1,
        2 | 3 => 2,
        4..=6 => 4,
        10..=12 => 8,
        kind => {
            return Err(
                format!("metadata has a type of number {kind}, which is not supported").into(),
            );
        }
    })
}

fn skip(file: &mut Remaining<impl Read>, len: u64) -> Result<()> {
    let skipped = match len <= file.bytes {
        true => io::copy(&mut (&mut file.file).take(len), &mut io::sink())?,
        false => 0,
    };
    file.bytes -= skipped;
    match skipped == len {
        true => Ok(()),
        false => Err("the file ends within its header or data".into()),
    }
}
