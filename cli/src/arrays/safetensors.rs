//! Reads tensors from .safetensors files, which hold a length, a header in JSON, and the data. Only the
//! named tensor's data is read.
//!
//! The crate `safetensors` refuses a whole file if it does not know one tensor's type.

use std::fmt;
use std::io::{Read, Seek, SeekFrom};

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::array::{Array, Dtype, Entry, Place};
use super::names::{Result, not_found, shown};
use super::npy_read::Remaining;

/// Longest header that the format allows.
const MAX_HEADER_BYTES: u64 = 100_000_000;

/// A file whose header was read.
pub struct Safetensors<R> {
    file: R,
    /// Each tensor's name, and its description or why that is wrong.
    tensors: Vec<(String, Described)>,
    data_start: u64,
    data_bytes: u64,
}

type Described = std::result::Result<Tensor, String>;

/// A tensor's description in the header.
#[derive(Deserialize)]
struct Tensor {
    dtype: String,
    /// The dims, outermost first.
    shape: Vec<usize>,
    /// Where the tensor starts and ends, in bytes from the data's start.
    data_offsets: (u64, u64),
}

impl Tensor {
    /// The tensor's dtype and size in bytes, if it can be gathered from.
    fn layout(&self, data_bytes: u64) -> Result<(Dtype, u64)> {
        let dtype = dtype(&self.dtype)
            .ok_or_else(|| format!("dtype {} is not supported", shown(&self.dtype)))?;
        let row_len = self.shape.last().copied().unwrap_or(1);
        if !row_len.is_multiple_of(dtype.block_len) {
            let bits = 8 * dtype.bytes / dtype.block_len;
            return Err(format!(
                "dtype {dtype} must have rows of whole bytes, found {row_len} values of {bits} bits"
            )
            .into());
        }
        let (start, end) = self.data_offsets;
        let found = match start <= end && end <= data_bytes {
            true => end - start,
            false => {
                return Err(format!(
                    "data_offsets must be in order and in the {data_bytes} bytes of data, found {start} and {end}"
                )
                .into());
            }
        };
        let bytes = match self.shape.contains(&0) {
            true => Some(0),
            false => {
                let mut dims = self.shape.iter();
                let values = dims.try_fold(1_u64, |values, &dim| values.checked_mul(dim as u64));
                values.and_then(|values| {
                    (values / dtype.block_len as u64).checked_mul(dtype.bytes as u64)
                })
            }
        };
        match bytes.ok_or("the size of shape overflows")? {
            bytes if bytes == found => Ok((dtype, bytes)),
            bytes => {
                let shape = &self.shape;
                Err(format!(
                    "{dtype} data of shape {shape:?} must have {bytes} bytes, found {found}"
                )
                .into())
            }
        }
    }
}

impl<R: Read + Seek> Safetensors<R> {
    /// Reads the header. The file has `bytes` bytes.
    pub fn open(file: R, bytes: u64) -> Result<Self> {
        let mut file = Remaining::new(file, bytes);
        let header_bytes = u64::from_le_bytes(file.take_array()?);
        if header_bytes > MAX_HEADER_BYTES {
            return Err(format!(
                "header must have at most {MAX_HEADER_BYTES} bytes, found {header_bytes}"
            )
            .into());
        }
        let header = file.take(header_bytes)?;
        let header: Header = serde_json::from_slice(&header)
            .map_err(|error| format!("header is not valid: {}", shown(&error.to_string())))?;
        let mut tensors = header.0;
        tensors.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        if let Some(two) = tensors.windows(2).find(|two| two[0].0 == two[1].0) {
            return Err(format!("two tensors have the name \"{}\"", shown(&two[0].0)).into());
        }
        let place = |(_, tensor): &(_, Described)| tensor.as_ref().ok().map(|of| of.data_offsets);
        tensors.sort_by_key(place);
        Ok(Self {
            file: file.file,
            tensors,
            data_start: bytes - file.bytes,
            data_bytes: file.bytes,
        })
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
        let (_, tensor) = self.find(name)?;
        let tensor = tensor.as_ref().map_err(String::as_str)?;
        let (dtype, bytes) = tensor.layout(self.data_bytes)?;
        Ok(Place {
            dtype,
            shape: tensor.shape.clone(),
            is_fortran: false,
            start: self.data_start + tensor.data_offsets.0,
            bytes,
        })
    }

    /// Calls `each` with an entry for the tensor `name` or, without a name, for every tensor.
    pub fn list(&self, name: Option<&str>, each: &mut dyn FnMut(Entry)) -> Result<()> {
        let tensors = match name {
            Some(_) => std::slice::from_ref(self.find(name)?),
            None => &self.tensors,
        };
        for (name, tensor) in tensors {
            let known = tensor.as_ref().ok();
            each(Entry {
                name: Some(name.clone()),
                dtype: match tensor {
                    Ok(tensor) => Ok(match dtype(&tensor.dtype) {
                        Some(dtype) => dtype.to_string(),
                        None => tensor.dtype.clone(),
                    }),
                    Err(error) => Err(error.clone()),
                },
                shape: known.map(|tensor| tensor.shape.clone()),
                bytes: known.and_then(|tensor| {
                    let (start, end) = tensor.data_offsets;
                    end.checked_sub(start)
                }),
            });
        }
        Ok(())
    }

    fn find(&self, name: Option<&str>) -> Result<&(String, Described)> {
        let tensor = name.and_then(|name| self.tensors.iter().find(|(other, _)| other == name));
        tensor.ok_or_else(|| {
            let names = self.tensors.iter().map(|(name, _)| name.clone());
            not_found("tensor", name, names.collect()).into()
        })
    }
}

/// The tensors in a header, each under its name.
struct Header(Vec<(String, Described)>);

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Tensors;

        impl<'de> Visitor<'de> for Tensors {
            type Value = Header;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of tensors")
            }

            fn visit_map<M: MapAccess<'de>>(
                self,
                mut map: M,
            ) -> std::result::Result<Header, M::Error> {
                let mut tensors = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    if name == "__metadata__" {
                        map.next_value::<IgnoredAny>()?;
                        continue;
                    }
                    let tensor = serde_json::from_value(map.next_value::<Value>()?);
                    tensors
                        .try_reserve(1)
                        .map_err(|error| serde::de::Error::custom(error.to_string()))?;
                    let tensor = tensor.map_err(|error| shown(&error.to_string()));
                    tensors.push((name, tensor));
                }
                Ok(Header(tensors))
            }
        }

        deserializer.deserialize_map(Tensors)
    }
}

/// The NumPy dtype of a safetensors type. Floats that NumPy lacks become void types, as ml_dtypes writes them.
fn dtype(name: &str) -> Option<Dtype> {
    let code = match name {
        "BOOL" => "b1",
        "U8" => "u1",
        "I8" => "i1",
        "U16" => "u2",
        "I16" => "i2",
        "U32" => "u4",
        "I32" => "i4",
        "U64" => "u8",
        "I64" => "i8",
        "F16" => "f2",
        "F32" => "f4",
        "F64" => "f8",
        "C64" => "c8",
        "BF16" => return Some(Dtype::of_format("BF16", 1, 2)),
        "F8_E5M2" => return Some(Dtype::of_format("F8_E5M2", 1, 1)),
        "F8_E4M3" => return Some(Dtype::of_format("F8_E4M3", 1, 1)),
        "F8_E8M0" => return Some(Dtype::of_format("F8_E8M0", 1, 1)),
        "F8_E4M3FNUZ" => return Some(Dtype::of_format("F8_E4M3FNUZ", 1, 1)),
        "F8_E5M2FNUZ" => return Some(Dtype::of_format("F8_E5M2FNUZ", 1, 1)),
        _ => return Dtype::packed(name),
    };
    Dtype::from_code(code)
}
