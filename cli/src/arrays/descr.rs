//! Parses NumPy's description of an element type in a header: a string such as `<i4`, or a structure's fields such as
//! `[('id', '<i4'), ('box', '<f4', (2, 2))]`.

use super::names::{Result, start_of};
use super::npy_header::Text;

/// Time units. A number may stand before one.
const UNITS: [&str; 13] = [
    "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as",
];
/// How deep structures may nest.
const MAX_DEPTH: usize = 32;

/// The kind, size and byte order of an element.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    pub kind: Kind,
    pub bytes: usize,
    pub is_big_endian: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Bool,
    Int,
    Uint,
    Float,
    Complex,
    /// Bytes up to the first trailing zero.
    Bytes,
    /// 4-byte characters, up to the first trailing zero.
    Text,
    /// A count of units of time, since 1970 for a date.
    Time,
    Void,
    /// Fields and their names, one after another. A field without a name is padding.
    Fields(Vec<(String, Element)>),
    /// An array with these dims in one element.
    Array(Vec<usize>, Box<Element>),
}

impl Element {
    /// Parses a string without its quotes, or a list or tuple as it stands.
    pub fn parse(descr: &str) -> Result<Self> {
        match descr.starts_with(['[', '(']) {
            true => Self::read(&mut Text(descr), 0),
            false => Self::simple(descr),
        }
    }

    fn simple(descr: &str) -> Result<Self> {
        let unknown = || format!("dtype \"{}\" is not supported", start_of(descr));
        let mut characters = descr.chars();
        let (order, code) = (characters.next(), characters.next());
        if code == Some('O') {
            return Err("arrays of Python objects are not supported".into());
        }
        let (size, unit) = match characters.as_str().split_once('[') {
            Some((size, unit)) => (size, unit.strip_suffix(']').ok_or_else(unknown)?),
            None => (characters.as_str(), ""),
        };
        let size: usize = size.parse().map_err(|_| unknown())?;
        let named = unit.trim_start_matches(|digit: char| digit.is_ascii_digit());
        if !unit.is_empty() && !UNITS.contains(&named) {
            return Err(unknown().into());
        }
        let (kind, bytes) = match (code, size) {
            (Some('b'), 1) => (Kind::Bool, 1),
            (Some('i'), 1 | 2 | 4 | 8) => (Kind::Int, size),
            (Some('u'), 1 | 2 | 4 | 8) => (Kind::Uint, size),
            // ml_dtypes writes some with 1 byte; long doubles have 10 to 16, depending on the machine.
            (Some('f'), 1 | 2 | 4 | 8 | 10 | 12 | 16) => (Kind::Float, size),
            (Some('c'), 8 | 16 | 20 | 24 | 32) => (Kind::Complex, size),
            (Some('S' | 'a'), _) => (Kind::Bytes, size),
            (Some('U'), _) => (Kind::Text, size.checked_mul(4).ok_or_else(unknown)?),
            (Some('V'), _) => (Kind::Void, size),
            (Some('M' | 'm'), 8) => (Kind::Time, 8),
            _ => return Err(unknown().into()),
        };
        if !unit.is_empty() && kind != Kind::Time || !matches!(order, Some('<' | '>' | '|' | '=')) {
            return Err(unknown().into());
        }
        Ok(Self {
            kind,
            bytes,
            is_big_endian: order == Some('>'),
        })
    }

    /// Reads a string, a field list, or a tuple with an element type and dims.
    fn read(text: &mut Text<'_>, depth: usize) -> Result<Self> {
        if depth > MAX_DEPTH {
            return Err(format!("at most {MAX_DEPTH} structures may be in one another").into());
        }
        if text.skip("[") {
            return Self::fields(text, depth);
        }
        if text.skip("(") {
            let element = Self::read(text, depth + 1)?;
            text.expect(",")?;
            let dims = text.dims()?;
            text.skip(",");
            text.expect(")")?;
            return element.array(dims);
        }
        Self::simple(&text.string()?)
    }

    /// Reads the fields of a structure: names, element types and, for an array, dims.
    fn fields(text: &mut Text<'_>, depth: usize) -> Result<Self> {
        let (mut fields, mut bytes) = (Vec::new(), 0_usize);
        while !text.skip("]") {
            text.expect("(")?;
            let name = match text.skip("(") {
                // A title, and the name.
                true => {
                    text.string()?;
                    text.expect(",")?;
                    let name = text.string()?;
                    text.skip(",");
                    text.expect(")")?;
                    name
                }
                false => text.string()?,
            };
            text.expect(",")?;
            let mut element = Self::read(text, depth + 1)?;
            if text.skip(",") && !text.next_is(")") {
                element = element.array(text.dims()?)?;
                text.skip(",");
            }
            text.expect(")")?;
            bytes = bytes
                .checked_add(element.bytes)
                .ok_or("the size of the dtype overflows")?;
            fields.push((name.into_owned(), element));
            if !text.skip(",") {
                text.expect("]")?;
                break;
            }
        }
        Ok(Self {
            kind: Kind::Fields(fields),
            bytes,
            is_big_endian: false,
        })
    }

    fn array(self, dims: Vec<usize>) -> Result<Self> {
        /// Most elements without bytes: a short file could claim any number.
        const MAX_WITHOUT_BYTES: usize = 1000;

        let count = dims
            .iter()
            .fold(1_usize, |count, &dim| count.saturating_mul(dim));
        if self.bytes == 0 && count > MAX_WITHOUT_BYTES {
            return Err(format!("{count} elements without bytes are not supported").into());
        }
        let bytes = dims
            .iter()
            .try_fold(self.bytes, |bytes, &dim| bytes.checked_mul(dim));
        Ok(Self {
            bytes: bytes.ok_or("the size of the dtype overflows")?,
            is_big_endian: false,
            kind: Kind::Array(dims, Box::new(self)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(descr: &str) -> usize {
        Element::parse(descr).expect("a dtype").bytes
    }

    #[test]
    fn sizes_are_those_of_numpy() {
        for (descr, size) in [
            ("<i4", 4),
            (">f8", 8),
            ("|b1", 1),
            ("<U7", 28),
            ("|S3", 3),
            ("<M8[ns]", 8),
            ("<m8", 8),
            ("|V3", 3),
            ("|V0", 0),
            ("<c16", 16),
            ("<f16", 16),
            ("[('a', '<i4'), ('b', '|S3')]", 7),
            (
                "[('a', [('x', '<f4'), ('y', '<f4')], (2, 3)), (('title', 'b'), '|u1')]",
                49,
            ),
            ("[('a', ('<i2', (3,))), ('', '|V2')]", 8),
            ("[('a', '<f8', 2)]", 16),
            ("[]", 0),
        ] {
            assert_eq!(bytes(descr), size, "{descr}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let deep = format!("{}'<i4'", "[('a', ".repeat(40));
        for descr in [
            "",
            "i4",
            "<i3",
            "<q8",
            "|O",
            "<f4[s]",
            "<i4x",
            "?i4",
            "<U9999999999999999999",
            "[('a', '<i4')",
            "[('a')]",
            "[('a', '|O8')]",
            "[('a', '|S9', (99999999999, 99999999999))]",
            &deep,
        ] {
            assert!(Element::parse(descr).is_err(), "{descr}");
        }
    }
}
