//! Reads tensors of .safetensors files, which hold a length, a header in JSON, and the data. Of the data, only the
//! named tensor is read.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use safetensors::Dtype as Type;
use safetensors::tensor::{Metadata, TensorInfo};

use super::array::{Array, Dtype, Result};
use super::entry::Entry;
use super::names::not_found;
use super::npy_read::{Remaining, open};

/// Longest header that the format allows.
const MAX_HEADER_BYTES: u64 = 100_000_000;
/// Most characters of a JSON error that are shown: it may quote any text of the file.
const SHOWN_CHARS: usize = 80;

/// Reads the tensor `name`. Without a name the error lists the tensors.
pub fn read(path: &Path, name: Option<&str>) -> Result<Array> {
    let (file, bytes) = open(path)?;
    read_tensor(file, bytes, name)
}

/// As [`read`], but from an open file of `bytes` bytes.
pub fn read_tensor(file: impl Read + Seek, bytes: u64, name: Option<&str>) -> Result<Array> {
    let mut file = Remaining { file, bytes };
    let header = read_header(&mut file)?;
    let tensor = find(&header, name)?;
    let dtype =
        dtype(tensor.dtype).ok_or_else(|| format!("dtype {:?} is not supported", tensor.dtype))?;
    let (start, end) = tensor.data_offsets;
    file.file.seek(SeekFrom::Current(i64::try_from(start)?))?;
    Ok(Array {
        dtype,
        shape: tensor.shape.clone(),
        bytes: file.take((end - start) as u64)?,
    })
}

/// Describes the tensor of this name, or all tensors. Reads the header only.
pub fn list(path: &Path, name: Option<&str>) -> Result<Vec<Entry>> {
    let (file, bytes) = open(path)?;
    let header = read_header(&mut Remaining { file, bytes })?;
    let names = match name {
        Some(name) => vec![name.to_owned()],
        None => header.offset_keys(),
    };
    let entry = |name: String| {
        let tensor = find(&header, Some(&name))?;
        let (start, end) = tensor.data_offsets;
        Ok(Entry {
            name: Some(name),
            dtype: match dtype(tensor.dtype) {
                Some(dtype) => dtype.to_string(),
                None => tensor.dtype.to_string(),
            },
            shape: tensor.shape.clone(),
            bytes: (end - start) as u64,
        })
    };
    names.into_iter().map(entry).collect()
}

/// Reads the header, and checks that the rest of the file has the size of the data.
fn read_header(file: &mut Remaining<impl Read>) -> Result<Metadata> {
    let header_bytes = u64::from_le_bytes(file.take_array()?);
    if header_bytes > MAX_HEADER_BYTES {
        return Err(format!(
            "header must have at most {MAX_HEADER_BYTES} bytes, found {header_bytes}"
        )
        .into());
    }
    let header = file.take(header_bytes)?;
    let header: Metadata = serde_json::from_slice(&header).map_err(|error| {
        let error: String = error.to_string().chars().take(SHOWN_CHARS).collect();
        format!("header is not valid: {error}")
    })?;
    let data_bytes = header.data_len() as u64;
    if data_bytes != file.bytes {
        return Err(format!("data must have {data_bytes} bytes, found {}", file.bytes).into());
    }
    Ok(header)
}

fn find<'a>(header: &'a Metadata, name: Option<&str>) -> Result<&'a TensorInfo> {
    let tensor = name.and_then(|name| header.info(name));
    tensor.ok_or_else(|| {
        let names = header.offset_keys();
        not_found("tensor", name, names.iter().map(String::as_str)).into()
    })
}

/// The dtype of a type. Floats that NumPy lacks become void types, as ml_dtypes writes them.
fn dtype(dtype: Type) -> Option<Dtype> {
    let code = match dtype {
        Type::BOOL => "b1",
        Type::U8 => "u1",
        Type::I8 => "i1",
        Type::U16 => "u2",
        Type::I16 => "i2",
        Type::U32 => "u4",
        Type::I32 => "i4",
        Type::U64 => "u8",
        Type::I64 => "i8",
        Type::F16 => "f2",
        Type::F32 => "f4",
        Type::F64 => "f8",
        Type::C64 => "c8",
        Type::BF16 => return Some(Dtype::void("BF16", 2)),
        Type::F8_E5M2 => return Some(Dtype::void("F8_E5M2", 1)),
        Type::F8_E4M3 => return Some(Dtype::void("F8_E4M3", 1)),
        Type::F8_E8M0 => return Some(Dtype::void("F8_E8M0", 1)),
        Type::F8_E4M3FNUZ => return Some(Dtype::void("F8_E4M3FNUZ", 1)),
        Type::F8_E5M2FNUZ => return Some(Dtype::void("F8_E5M2FNUZ", 1)),
        // The remaining types have elements of less than a byte.
        _ => return None,
    };
    Dtype::from_code(code)
}
