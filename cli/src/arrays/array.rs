//! An array in memory, its element type, and the errors of reading one.

use std::error::Error;
use std::fmt;

use super::names::start_of;

/// A value, or an error whose text is one line.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// An element type, or an encoding of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dtype {
    code: &'static str,
    name: &'static str,
    /// The size in bytes of an element, or of a block.
    pub bytes: usize,
    /// The values of a block; 1 for elements.
    pub block_len: usize,
}

const DTYPES: [Dtype; 16] = [
    dtype("b1", "bool", 1),
    dtype("i1", "int8", 1),
    dtype("i2", "int16", 2),
    dtype("i4", "int32", 4),
    dtype("i8", "int64", 8),
    dtype("u1", "uint8", 1),
    dtype("u2", "uint16", 2),
    dtype("u4", "uint32", 4),
    dtype("u8", "uint64", 8),
    dtype("f2", "float16", 2),
    dtype("f4", "float32", 4),
    dtype("f8", "float64", 8),
    dtype("c8", "complex64", 8),
    dtype("c16", "complex128", 16),
    dtype("V1", "void8", 1),
    dtype("V2", "void16", 2),
];

const fn dtype(code: &'static str, name: &'static str, bytes: usize) -> Dtype {
    Dtype {
        code,
        name,
        bytes,
        block_len: 1,
    }
}

impl Dtype {
    /// A float that NumPy lacks: a void type with the name of the file's format.
    pub(super) const fn void(name: &'static str, bytes: usize) -> Self {
        let code = if bytes == 1 { "V1" } else { "V2" };
        dtype(code, name, bytes)
    }

    /// Blocks of `block_len` values in `bytes` bytes, which NumPy lacks.
    pub(super) const fn blocks(name: &'static str, block_len: usize, bytes: usize) -> Self {
        Self {
            code: "",
            name,
            bytes,
            block_len,
        }
    }

    /// The name of the encoding, as the library knows it: that of GGUF or of safetensors.
    pub fn encoding(self) -> &'static str {
        match self.name {
            "float16" => "F16",
            name => name,
        }
    }

    /// NumPy's code without the byte order: `i4`.
    pub fn code(self) -> &'static str {
        self.code
    }

    /// NumPy's code with the byte order, as in a header: `<i4`.
    pub fn descr(self) -> String {
        let order = if self.bytes == 1 { '|' } else { '<' };
        format!("{order}{}", self.code)
    }

    /// The dtype whose code without the byte order is `code`, if it is supported.
    pub fn from_code(code: &str) -> Option<Self> {
        DTYPES.into_iter().find(|dtype| dtype.code == code)
    }

    /// The dtype of a header's `descr`; an error if it is not supported.
    pub(super) fn from_descr(descr: &str) -> Result<Self> {
        let (order, code) = descr.split_at_checked(1).unwrap_or(("", ""));
        if code.starts_with('O') {
            return Err("arrays of Python objects are not supported".into());
        }
        match Self::from_code(code) {
            Some(dtype) if order == ">" && dtype.bytes > 1 => {
                Err(format!("big-endian {dtype} is not supported, only little-endian").into())
            }
            Some(dtype) if ["<", "|", ">"].contains(&order) => Ok(dtype),
            _ => Err(format!("dtype \"{}\" is not supported", start_of(descr)).into()),
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// An array in row-major order.
#[derive(Debug)]
pub struct Array {
    pub dtype: Dtype,
    /// The dims, outermost first.
    pub shape: Vec<usize>,
    /// The bytes of all elements, each little-endian, or of all blocks.
    pub bytes: Vec<u8>,
}

impl Array {
    /// The elements as numbers: `array.numbers(i32::from_le_bytes)`; an error without memory for them. Panics unless an
    /// element has `N` bytes.
    pub fn numbers<const N: usize, T>(&self, from_le_bytes: fn([u8; N]) -> T) -> Result<Vec<T>> {
        assert_eq!(self.dtype.bytes, N, "{} elements", self.dtype);
        let (elements, _) = self.bytes.as_chunks();
        let mut numbers = Vec::new();
        numbers
            .try_reserve_exact(elements.len())
            .map_err(|_| format!("out of memory for {} numbers", elements.len()))?;
        numbers.extend(elements.iter().map(|&bytes| from_le_bytes(bytes)));
        Ok(numbers)
    }
}

/// The description of an array of a file, from its header only.
#[derive(Debug, PartialEq)]
pub struct Entry {
    /// The name of a member or a tensor; a .npy file has none.
    pub name: Option<String>,
    /// The name of the element type: NumPy's or, of a type that is not supported, the file's own. If the description cannot
    /// be read, the text of the error.
    pub dtype: std::result::Result<String, String>,
    /// The dims, outermost first, if they can be read.
    pub shape: Option<Vec<usize>>,
    /// The size of the data in bytes, if the file tells it.
    pub bytes: Option<u64>,
}
