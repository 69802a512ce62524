//! Arrays as nested lists: JSON, or text for a reader, which is JSON's but for spaces, words such as NaN without quotes, and
//! characters that a terminal would obey.

use std::fmt::{Debug, Write};
use std::mem::take;
use std::sync::LazyLock;

use serde_json::json;
use wgpu_gather::{Encoded, Encoding, Gather};
use wgpu_gather_cli::arrays::descr::{Element, Kind};
use wgpu_gather_cli::arrays::{Array, Result};

/// A reader of a larger array gets only the first and last elements of each dim.
const MAX_ELEMENTS: usize = 1000;
/// Elements at each end of a dim.
const EDGE: usize = 3;
/// Most lists or elements without bytes: a short file could claim any number.
const MAX_WITHOUT_BYTES: usize = 1 << 20;

/// float16 by its bits.
static HALVES: LazyLock<Vec<f32>> = LazyLock::new(|| values_of(Encoding::F16, 2));

/// The array for a reader, with elements of one width. Of more than 1,000 elements, most become `...`.
pub fn text(array: &Array) -> Result<String> {
    if array.shape.contains(&0) {
        return Ok("[]".to_owned());
    }
    let mut lists = Lists::of(array, false, String::new())?;
    lists.write(0, 0)?;
    // Again, as the widest element is known now.
    lists.out.clear();
    lists.width = lists.widest;
    lists.write(0, 0)?;
    Ok(lists.out)
}

/// Appends the array as JSON. NaN, infinities and bytes are strings, structures objects, complex numbers pairs.
pub fn write_json(array: &Array, json: &mut String) -> Result<()> {
    let mut lists = Lists::of(array, true, take(json))?;
    lists.write(0, 0)?;
    *json = lists.out;
    Ok(())
}

struct Lists<'a> {
    array: &'a Array,
    element: Element,
    /// The elements' values by their bits, if NumPy lacks the type.
    values: Option<Vec<f32>>,
    is_json: bool,
    is_short: bool,
    out: String,
    /// Characters of an element: at least, and at most so far.
    width: usize,
    widest: usize,
}

impl<'a> Lists<'a> {
    fn of(array: &'a Array, is_json: bool, out: String) -> Result<Self> {
        let dims = array.shape.iter().map(|&dim| dim.max(1));
        let count = dims.fold(1_usize, usize::saturating_mul);
        if array.bytes.is_empty() && count > MAX_WITHOUT_BYTES {
            return Err("so many elements without bytes are not printed".into());
        }
        let dtype = &array.dtype;
        let encoding = dtype.encoding().parse().ok();
        let encoding = encoding.filter(|_| dtype.code().starts_with('V') && dtype.bytes <= 2);
        Ok(Self {
            array,
            element: dtype.element()?,
            values: encoding.map(|encoding| values_of(encoding, dtype.bytes)),
            is_json,
            is_short: !is_json && count > MAX_ELEMENTS,
            out,
            width: 0,
            widest: 0,
        })
    }

    /// Writes the list number `at` among those inside `depth` others, or that element.
    fn write(&mut self, depth: usize, at: usize) -> Result<()> {
        let Some(&dim) = self.array.shape.get(depth) else {
            let size = self.array.dtype.bytes;
            let bytes = &self.array.bytes[at * size..][..size];
            let word = match &self.values {
                Some(values) => self.float(of_code(values, bits(&self.element, bytes))),
                None => self.word(&self.element, bytes),
            };
            self.widest = self.widest.max(word.chars().count());
            return self.push(&format!("{word:>width$}", width = self.width));
        };
        let between = match (self.is_json, depth + 1 == self.array.shape.len()) {
            (true, _) => ",".to_owned(),
            (false, true) => ", ".to_owned(),
            (false, false) => format!(",\n{}", " ".repeat(depth + 1)),
        };
        let (first, last) = match self.is_short && dim > 2 * EDGE {
            true => (EDGE, dim - EDGE),
            false => (dim, dim),
        };
        self.push("[")?;
        for n in (0..first).chain(last..dim) {
            if n > 0 {
                self.push(&between)?;
            }
            if n == last {
                self.push(&format!("...{between}"))?;
            }
            self.write(depth + 1, at.wrapping_mul(dim).wrapping_add(n))?;
        }
        self.push("]")
    }

    fn push(&mut self, text: &str) -> Result<()> {
        let room = self.out.try_reserve(text.len());
        room.map_err(|_| "out of memory for the rows as text")?;
        self.out.push_str(text);
        Ok(())
    }

    fn word(&self, element: &Element, bytes: &[u8]) -> String {
        let bits = || bits(element, bytes);
        let signed = || (bits() << (64 - 8 * bytes.len())).cast_signed() >> (64 - 8 * bytes.len());
        let comma = if self.is_json { "," } else { ", " };
        match (&element.kind, element.bytes) {
            (Kind::Bool, _) => (bytes[0] != 0).to_string(),
            (Kind::Time, _) if !self.is_json && signed() == i64::MIN => "NaT".to_owned(),
            (Kind::Int | Kind::Time, _) => signed().to_string(),
            (Kind::Uint, _) => bits().to_string(),
            (Kind::Float, 2) => self.float(of_code(&HALVES, bits())),
            (Kind::Float, 4) => self.float(f32::from_bits(u32::try_from(bits()).expect("4 bytes"))),
            (Kind::Float, 8) => self.float(f64::from_bits(bits())),
            (Kind::Complex, 8 | 16) => {
                let part = Element {
                    kind: Kind::Float,
                    bytes: element.bytes / 2,
                    is_big_endian: element.is_big_endian,
                };
                let (re, im) = bytes.split_at(part.bytes);
                let (open, close) = if self.is_json { ('[', ']') } else { ('(', ')') };
                let (re, im) = (self.word(&part, re), self.word(&part, im));
                format!("{open}{re}{comma}{im}{close}")
            }
            (Kind::Text, _) => self.quoted(&text_of(element, bytes)),
            (Kind::Bytes, _) if self.is_json => {
                json!(String::from_utf8_lossy(until_zeros(bytes))).to_string()
            }
            (Kind::Bytes, _) => format!("b\"{}\"", until_zeros(bytes).escape_ascii()),
            (Kind::Fields(fields), _) => {
                let (mut words, mut rest) = (Vec::new(), bytes);
                for (name, field) in fields {
                    let (of_field, after) = rest.split_at(field.bytes);
                    rest = after;
                    if !name.is_empty() {
                        words.push(format!(
                            "{}: {}",
                            self.quoted(name),
                            self.word(field, of_field)
                        ));
                    }
                }
                format!("{{{}}}", words.join(comma))
            }
            (Kind::Array(dims, _), _) if dims.contains(&0) => "[]".to_owned(),
            (Kind::Array(dims, inner), _) => {
                let count = dims.iter().product::<usize>();
                let parts = (0..count).map(|n| &bytes[n * inner.bytes..][..inner.bytes]);
                let mut words: Vec<String> = parts.map(|part| self.word(inner, part)).collect();
                for &dim in dims.iter().rev() {
                    let lists = words.chunks(dim);
                    words = lists
                        .map(|list| format!("[{}]", list.join(comma)))
                        .collect();
                }
                words.concat()
            }
            // Long doubles differ among machines.
            (Kind::Void | Kind::Float | Kind::Complex, _) => {
                let digits = bytes.iter().fold(String::new(), |mut digits, byte| {
                    let _ = write!(digits, "{byte:02x}");
                    digits
                });
                format!("\"{digits}\"")
            }
        }
    }

    /// The fewest digits that give the float.
    fn float(&self, number: impl Into<f64> + Debug + Copy) -> String {
        match number.into() {
            value if value.is_finite() || !self.is_json => format!("{number:?}"),
            value if value.is_nan() => "\"NaN\"".to_owned(),
            value if value > 0.0 => "\"Infinity\"".to_owned(),
            _ => "\"-Infinity\"".to_owned(),
        }
    }

    fn quoted(&self, text: &str) -> String {
        match self.is_json {
            true => json!(text).to_string(),
            false => format!("{text:?}"),
        }
    }
}

/// The values of all numbers of 1 or 2 bytes.
fn values_of(encoding: Encoding, bytes: usize) -> Vec<f32> {
    let codes: Vec<u64> = (0..1 << (8 * bytes)).collect();
    let table = codes
        .iter()
        .flat_map(|code| code.to_le_bytes().into_iter().take(bytes));
    let table: Vec<u8> = table.collect();
    let plan = Gather::new().plan(&[codes.len()], &[codes.len()]);
    let plan = plan.expect("a valid shape");
    plan.gather_encoded(&Encoded::new(encoding, &table), &codes)
        .expect("codes in range")
}

fn of_code(values: &[f32], code: u64) -> f32 {
    values[usize::try_from(code).expect("2 bytes")]
}

/// An element of at most 8 bytes as a number, whatever its byte order.
fn bits(element: &Element, bytes: &[u8]) -> u64 {
    let add = |bits: u64, &byte: &u8| bits << 8 | u64::from(byte);
    match element.is_big_endian {
        true => bytes.iter().fold(0, add),
        false => bytes.iter().rev().fold(0, add),
    }
}

fn until_zeros(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| byte != 0);
    &bytes[..end.map_or(0, |last| last + 1)]
}

/// The characters of a text, without zeros at its end. A number that is no character becomes the replacement character.
fn text_of(element: &Element, bytes: &[u8]) -> String {
    let characters = bytes.chunks_exact(4).map(|bytes| {
        let number = u32::try_from(bits(element, bytes)).ok();
        let character = number.and_then(char::from_u32);
        character.unwrap_or(char::REPLACEMENT_CHARACTER)
    });
    let text: String = characters.collect();
    text.trim_end_matches('\0').to_owned()
}
