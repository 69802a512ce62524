//! An array in memory, its element type, and its place in a file.

use std::borrow::Cow;
use std::fmt;

use super::descr::{Element, Kind};
use super::names::Result;

/// An element type, or an encoding of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dtype {
    /// NumPy's description, as in a header, but strings without quotes. Blocks have none.
    descr: Cow<'static, str>,
    name: Cow<'static, str>,
    /// Bytes per element, or per block.
    pub bytes: usize,
    /// Values per block; 1 for elements.
    pub block_len: usize,
}

/// The dtypes that have a name: description, name, and bytes per element.
const NAMES: [(&str, &str, usize); 14] = [
    ("|b1", "bool", 1),
    ("|i1", "int8", 1),
    ("<i2", "int16", 2),
    ("<i4", "int32", 4),
    ("<i8", "int64", 8),
    ("|u1", "uint8", 1),
    ("<u2", "uint16", 2),
    ("<u4", "uint32", 4),
    ("<u8", "uint64", 8),
    ("<f2", "float16", 2),
    ("<f4", "float32", 4),
    ("<f8", "float64", 8),
    ("<c8", "complex64", 8),
    ("<c16", "complex128", 16),
];

/// Floats smaller than a byte, which safetensors packs side by side: name, values per block, and bytes per block.
const PACKED: [(&str, usize, usize); 3] = [("F4", 2, 1), ("F6_E2M3", 4, 3), ("F6_E3M2", 4, 3)];

impl Dtype {
    /// The floats smaller than a byte that safetensors calls `name`.
    pub(super) fn packed(name: &str) -> Option<Self> {
        let mut found = PACKED.into_iter().filter(|(packed, ..)| *packed == name);
        found
            .next()
            .map(|(name, block_len, bytes)| Self::of_format(name, block_len, bytes))
    }

    /// True for floats smaller than a byte. They are gathered as bytes.
    pub fn is_packed(&self) -> bool {
        PACKED.iter().any(|(name, ..)| *name == self.name)
    }

    /// A file format's type that NumPy lacks: blocks that hold `block_len` values in `bytes` bytes, or elements, which
    /// NumPy holds as void types.
    pub fn of_format(name: impl Into<Cow<'static, str>>, block_len: usize, bytes: usize) -> Self {
        Self {
            // As ml_dtypes writes them.
            descr: match (block_len, bytes) {
                (1, 1) => "|V1".into(),
                (1, _) => format!("<V{bytes}").into(),
                _ => "".into(),
            },
            name: name.into(),
            bytes,
            block_len,
        }
    }

    /// The name by which the library knows the encoding: that in GGUF or safetensors.
    pub fn encoding(&self) -> &str {
        match &*self.name {
            "float32" => "F32",
            "float16" => "F16",
            name => name,
        }
    }

    /// NumPy's description, as in a header, but strings without quotes.
    pub fn descr(&self) -> &str {
        &self.descr
    }

    /// NumPy's code for little-endian elements, without the byte order: `i4`. Empty for others.
    pub fn code(&self) -> &str {
        (self.descr.strip_prefix(['<', '|', '='])).unwrap_or_default()
    }

    /// The dtype whose code without the byte order, or whose name, is `text`.
    pub fn from_code(text: &str) -> Option<Self> {
        let named = NAMES.into_iter();
        let mut found = named.filter(|(descr, name, _)| descr[1..] == *text || *name == text);
        found.next().map(|(descr, name, bytes)| Self {
            descr: descr.into(),
            name: name.into(),
            bytes,
            block_len: 1,
        })
    }

    /// The dtype of a header's `descr`; an error if its elements have no fixed size.
    pub(super) fn from_descr(descr: &str) -> Result<Self> {
        let element = Element::parse(descr)?;
        let is_ordered = descr.starts_with(['<', '|']) || element.bytes == 1;
        if is_ordered && let Some(dtype) = descr.get(1..).and_then(Self::from_code) {
            return Ok(dtype);
        }
        let name = match (element.kind, element.bytes.checked_mul(8)) {
            (Kind::Void, Some(bits)) => format!("void{bits}"),
            _ => descr.to_owned(),
        };
        Ok(Self {
            descr: descr.to_owned().into(),
            name: name.into(),
            bytes: element.bytes,
            block_len: 1,
        })
    }

    /// The little-endian dtype for the same numbers, if these are big-endian.
    pub fn little_endian(&self) -> Option<Self> {
        self.descr.strip_prefix('>').and_then(Self::from_code)
    }

    /// An element's kind, size and byte order. An error for blocks, which have no elements.
    pub fn element(&self) -> Result<Element> {
        Element::parse(&self.descr)
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// An array in row-major order.
#[derive(Debug)]
pub struct Array {
    pub dtype: Dtype,
    /// The dims, outermost first.
    pub shape: Vec<usize>,
    /// The data: elements or blocks, one after another.
    pub bytes: Vec<u8>,
}

impl Array {
    /// Makes numbers little-endian: reverses the bytes of each big-endian number, and leaves other elements.
    #[must_use]
    pub fn little_endian(mut self) -> Self {
        if let Some(dtype) = self.dtype.little_endian() {
            let parts = if dtype.code().starts_with('c') { 2 } else { 1 };
            for number in self.bytes.chunks_exact_mut(dtype.bytes / parts) {
                number.reverse();
            }
            self.dtype = dtype;
        }
        self
    }

    /// The elements as numbers: `array.numbers(i32::from_le_bytes)`; an error if memory runs out. Panics unless
    /// an element has `N` bytes.
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

/// What a file's header says about an array.
#[derive(Debug, PartialEq)]
pub struct Entry {
    /// The name of a member or a tensor; a .npy file has none.
    pub name: Option<String>,
    /// The element type's name: NumPy's or, if that type is not supported, the file's own. If the description cannot
    /// be read, the error's text.
    pub dtype: std::result::Result<String, String>,
    /// The dims, outermost first, if they can be read.
    pub shape: Option<Vec<usize>>,
    /// The size of the data in bytes, if the file tells it.
    pub bytes: Option<u64>,
}

/// An array's dtype and shape, and where its data is.
#[derive(Debug)]
pub struct Place {
    pub dtype: Dtype,
    /// The dims, outermost first.
    pub shape: Vec<usize>,
    /// True if the first dim is the innermost one in the file.
    pub is_fortran: bool,
    /// Where the data starts in the file, in bytes.
    pub start: u64,
    /// The size of the data in bytes.
    pub bytes: u64,
}

/// The place of an element in Fortran order, from its place in row-major order.
pub(super) fn fortran_place(mut element: usize, shape: &[usize]) -> u64 {
    let (mut place, mut stride) = (0, shape.iter().map(|&dim| dim as u64).product::<u64>());
    for &dim in shape.iter().rev() {
        stride /= dim as u64;
        place += (element % dim) as u64 * stride;
        element /= dim;
    }
    place
}

/// Reorders an array from Fortran order to row-major order.
pub(super) fn row_major(bytes: &[u8], shape: &[usize], element_bytes: usize) -> Result<Vec<u8>> {
    let mut ordered = Vec::new();
    ordered
        .try_reserve_exact(bytes.len())
        .map_err(|_| format!("out of memory for {} bytes", bytes.len()))?;
    let Some(&last) = shape.last() else {
        return Ok(bytes.to_vec());
    };
    if bytes.is_empty() {
        return Ok(ordered);
    }
    let step = bytes.len() / last;
    let rows = bytes.len() / element_bytes / last;
    for row in 0..rows {
        let first = fortran_place(row * last, shape);
        let first = usize::try_from(first)? * element_bytes;
        for column in 0..last {
            ordered.extend_from_slice(&bytes[first + column * step..][..element_bytes]);
        }
    }
    Ok(ordered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fortran_order_is_undone() {
        // Element (i, j, k) of 2 x 3 x 4 is 100 i + 10 j + k.
        let mut file = Vec::new();
        for k in 0..4 {
            for j in 0..3 {
                file.extend([10 * j + k, 100 + 10 * j + k]);
            }
        }
        let ordered = row_major(&file, &[2, 3, 4], 1).expect("memory");
        let expected = (0..24).map(|n| n / 12 * 100 + n / 4 % 3 * 10 + n % 4);
        assert_eq!(ordered, expected.collect::<Vec<u8>>());
    }
}
