//! Reads .npy files, NumPy's format for one array: versions 1.0 to 3.0, little-endian, C order. Everything
//! else is refused in one line, and a header is never believed beyond what the file holds.

use std::error::Error;
use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// An array, or a text of one line that says what is wrong.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What every .npy file begins with.
pub const MAGIC: &[u8] = b"\x93NUMPY";
/// Dims that NumPy gives an array at most.
pub const MAX_RANK: usize = 64;
/// Longer than any header of up to [`MAX_RANK`] dims.
const MAX_HEADER_BYTES: u64 = 1 << 16;

/// An element type: a name, and how many bytes to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dtype {
    code: &'static str,
    name: &'static str,
    pub bytes: usize,
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
    Dtype { code, name, bytes }
}

impl Dtype {
    /// NumPy's code without the byte order: `i4`.
    pub fn code(self) -> &'static str {
        self.code
    }

    /// NumPy's code as a header has it: `<i4`.
    pub fn descr(self) -> String {
        let order = if self.bytes == 1 { '|' } else { '<' };
        format!("{order}{}", self.code)
    }

    /// The dtype of this code without the byte order.
    pub fn from_code(code: &str) -> Option<Self> {
        DTYPES.into_iter().find(|dtype| dtype.code == code)
    }

    fn from_descr(descr: &str) -> Result<Self> {
        let (order, code) = descr.split_at_checked(1).unwrap_or(("", ""));
        if code.starts_with('O') {
            return Err("arrays of Python objects are not supported".into());
        }
        match Self::from_code(code) {
            Some(dtype) if order == ">" && dtype.bytes > 1 => {
                Err(format!("big-endian {dtype} is not supported, only little-endian").into())
            }
            Some(dtype) if ["<", "|", ">"].contains(&order) => Ok(dtype),
            _ => Err(format!("dtype {:?} is not supported", start_of(descr)).into()),
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// An array in row-major order, its elements as little-endian bytes.
#[derive(Debug)]
pub struct Array {
    /// The type of an element.
    pub dtype: Dtype,
    /// The dims, outermost first.
    pub shape: Vec<usize>,
    /// The bytes of all elements.
    pub bytes: Vec<u8>,
}

impl Array {
    /// The elements, of a type that has `N` bytes as they do: `array.numbers(i32::from_le_bytes)`.
    pub fn numbers<const N: usize, T>(&self, from_le_bytes: fn([u8; N]) -> T) -> Vec<T> {
        assert_eq!(self.dtype.bytes, N, "{} elements", self.dtype);
        let element = |bytes: &[u8]| from_le_bytes(bytes.try_into().expect("a chunk has N bytes"));
        self.bytes.chunks_exact(N).map(element).collect()
    }
}

/// Reads an array. The error names the file.
pub fn read(path: &Path) -> Result<Array> {
    open(path)
        .and_then(|(file, bytes)| read_array(file, bytes))
        .map_err(|error| format!("{}: {error}", path.display()).into())
}

/// A file and how many bytes it has.
pub fn open(path: &Path) -> Result<(File, u64)> {
    // Asked before opening, which would wait for the other end of a pipe.
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err("not a regular file".into());
    }
    Ok((File::open(path)?, metadata.len()))
}

/// Reads an array from a file of this many bytes.
pub fn read_array(file: impl Read, bytes: u64) -> Result<Array> {
    let mut file = Remaining { file, bytes };
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
    let bytes = file.take(data_bytes)?;
    Ok(Array {
        dtype,
        shape,
        bytes,
    })
}

fn byte_count(shape: &[usize], dtype: Dtype) -> Option<u64> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(dtype.bytes as u64, |bytes, &dim| {
        bytes.checked_mul(dim as u64)
    })
}

/// A file and how much of it is still to be read, so that nothing is allocated for bytes it does not have.
pub struct Remaining<R> {
    pub file: R,
    pub bytes: u64,
}

impl<R: Read> Remaining<R> {
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

/// Reads the header, the text of a Python dict: `{'descr': '<i4', 'fortran_order': False, 'shape': (30, 1), }`.
fn parse_header(header: &[u8]) -> Result<(Dtype, Vec<usize>)> {
    let mut text = Text(std::str::from_utf8(header).map_err(|_| "header must be UTF-8 text")?);
    let (mut descr, mut fortran_order, mut shape) = (None, None, None);
    text.expect("{")?;
    while !text.skip("}") {
        match text.string()? {
            "descr" => descr = Some(text.value(Text::descr)?),
            "fortran_order" => fortran_order = Some(text.value(Text::boolean)?),
            "shape" => shape = Some(text.value(Text::shape)?),
            key => {
                let key = start_of(key);
                return Err(format!("header has an unknown key {key:?}").into());
            }
        }
        if !text.skip(",") {
            text.expect("}")?;
            break;
        }
    }
    if !text.0.trim().is_empty() {
        return Err(text.unexpected("its end"));
    }
    match (descr, fortran_order, shape) {
        (Some(_), Some(true), Some(_)) => {
            Err("Fortran order is not supported, only C order".into())
        }
        (Some(descr), Some(false), Some(shape)) => Ok((Dtype::from_descr(descr)?, shape)),
        _ => Err("header must have the keys descr, fortran_order and shape".into()),
    }
}

/// As much of a file's text as an error quotes.
pub fn start_of(text: &str) -> String {
    text.chars().take(20).collect()
}

/// The part of a header that is still to be read.
struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    /// Skips `token`, and spaces before it, if it comes next.
    fn skip(&mut self, token: &str) -> bool {
        let rest = self.0.trim_start().strip_prefix(token);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        if self.skip(token) {
            Ok(())
        } else {
            Err(self.unexpected(token))
        }
    }

    fn unexpected(&self, expected: &str) -> Box<dyn Error> {
        let found = start_of(self.0.trim_start());
        format!("header must go on with {expected}, found {found:?}").into()
    }

    fn value<T>(&mut self, read: fn(&mut Self) -> Result<T>) -> Result<T> {
        self.expect(":")?;
        read(self)
    }

    fn string(&mut self) -> Result<&'a str> {
        let quote = if self.skip("\"") { '"' } else { '\'' };
        if quote == '\'' {
            self.expect("'")?;
        }
        let (string, rest) = self
            .0
            .split_once(quote)
            .ok_or("header has a string without an end")?;
        self.0 = rest;
        Ok(string)
    }

    fn descr(&mut self) -> Result<&'a str> {
        if self.skip("[") {
            return Err("structured dtypes are not supported".into());
        }
        self.string()
    }

    fn boolean(&mut self) -> Result<bool> {
        if self.skip("True") {
            return Ok(true);
        }
        self.expect("False").map(|()| false)
    }

    /// A tuple: `()`, `(30,)` or `(30, 1)`.
    fn shape(&mut self) -> Result<Vec<usize>> {
        self.expect("(")?;
        let mut shape = Vec::new();
        while !self.skip(")") {
            if shape.len() == MAX_RANK {
                return Err(format!("shape must have at most {MAX_RANK} dims").into());
            }
            shape.push(self.dim()?);
            if !self.skip(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(shape)
    }

    fn dim(&mut self) -> Result<usize> {
        let text = self.0.trim_start();
        let end = text
            .find(|digit: char| !digit.is_ascii_digit())
            .unwrap_or(text.len());
        let (digits, rest) = text.split_at(end);
        if digits.is_empty() {
            return Err(self.unexpected("a dim"));
        }
        self.0 = rest;
        digits
            .parse()
            .map_err(|_| format!("dim {digits:.40} is too large").into())
    }
}
