//! Arrays as text: as NumPy prints them, or as JSON.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde_json::{Value, json};
use wgpu_gather::{Encoded, Encoding, Gather};
use wgpu_gather_cli::arrays::descr::{Element, Kind};
use wgpu_gather_cli::arrays::{Array, Dtype, Result};

use crate::dates::{date, unit_of};
use crate::floats::{self, floats, shortest};

/// Above this count, only each dim's first and last elements are printed.
const MAX_ELEMENTS: usize = 1000;
/// Elements then printed at each end of a dim.
const EDGE: usize = 3;
/// The longest line, unless one word is longer.
const LINE_CHARS: usize = 75;

/// Elements decoded at once, if NumPy lacks their type.
const DECODED_AT_ONCE: usize = 1 << 16;

/// What `print(array)` prints in NumPy.
pub fn text(array: &Array) -> Result<String> {
    let count = count(&array.shape);
    if count == 0 {
        return Ok("[]".to_owned());
    }
    let size = array.dtype.bytes;
    check_count(size, count)?;
    let is_short = count > MAX_ELEMENTS;
    let dims: Vec<Dim> = (array.shape.iter())
        .map(|&len| Dim {
            len,
            is_short: is_short && len > 2 * EDGE,
        })
        .collect();
    let mut places = Vec::new();
    shown(&dims, 0, &mut places);
    let mut bytes = Vec::new();
    for place in places {
        bytes.extend_from_slice(&array.bytes[place * size..][..size]);
    }
    let (element, bytes) = as_numpy_has(&array.dtype, &bytes)?;
    let elements = match element.bytes {
        0 => vec![&[][..]; count],
        size => bytes.chunks_exact(size).collect(),
    };
    if let ([], [bytes]) = (&array.shape[..], &elements[..]) {
        return Ok(scalar(&element, bytes));
    }
    let mut words = words(&element, &elements).into_iter();
    Ok(lines(&dims, 0, LINE_CHARS, &mut words))
}

/// Appends the array as nested JSON lists. A float that JSON lacks becomes a string.
pub fn write_json(array: &Array, json: &mut String) -> Result<()> {
    let size = array.dtype.bytes;
    check_count(size, count(&array.shape))?;
    let mut parts = array
        .bytes
        .chunks(DECODED_AT_ONCE.saturating_mul(size).max(1));
    let mut values: VecDeque<Value> = VecDeque::new();
    let mut next = || -> Result<Value> {
        if values.is_empty() {
            let (element, bytes) = as_numpy_has(&array.dtype, parts.next().unwrap_or_default())?;
            match element.bytes {
                0 => values.push_back(value(&element, &[])),
                size => values.extend(bytes.chunks_exact(size).map(|bytes| value(&element, bytes))),
            }
        }
        values
            .pop_front()
            .ok_or_else(|| "an element is missing".into())
    };
    write_nested(&array.shape, &mut next, json)
}

fn write_nested(
    shape: &[usize],
    next: &mut dyn FnMut() -> Result<Value>,
    json: &mut String,
) -> Result<()> {
    let push = |text: &str, json: &mut String| -> Result<()> {
        (json.try_reserve(text.len())).map_err(|_| "out of memory for the rows as JSON")?;
        json.push_str(text);
        Ok(())
    };
    let Some((&dim, rest)) = shape.split_first() else {
        return push(&next()?.to_string(), json);
    };
    push("[", json)?;
    for n in 0..dim {
        if n > 0 {
            push(",", json)?;
        }
        write_nested(rest, next, json)?;
    }
    push("]", json)
}

/// Refuses many elements without bytes, which a short file could claim.
fn check_count(element_bytes: usize, count: usize) -> Result<()> {
    match element_bytes == 0 && count > MAX_ELEMENTS {
        true => Err("so many elements without bytes are not printed".into()),
        false => Ok(()),
    }
}

/// Elements as NumPy has them: those whose type it lacks become float32.
fn as_numpy_has<'a>(dtype: &Dtype, bytes: &'a [u8]) -> Result<(Element, Cow<'a, [u8]>)> {
    match dtype.encoding().parse::<Encoding>() {
        Ok(encoding) if dtype.code().starts_with('V') => {
            let count = bytes.len() / dtype.bytes;
            let all: Vec<u64> = (0..count as u64).collect();
            let plan = Gather::new().plan(&[count], &[count])?;
            let values = plan.run_decoded(&Encoded::new(encoding, bytes), &all)?;
            let bytes = values.iter().flat_map(|value| value.to_le_bytes());
            let f32 = Dtype::from_code("f4").expect("a dtype of NumPy");
            Ok((f32.element()?, bytes.collect()))
        }
        _ => Ok((dtype.element()?, bytes.into())),
    }
}

/// What `print(array)` prints for an array without dims.
fn scalar(element: &Element, bytes: &[u8]) -> String {
    let unquoted = |word: String| word.trim_matches('\'').to_owned();
    match &element.kind {
        Kind::Bool => ["False", "True"][usize::from(bytes[0] != 0)].to_owned(),
        Kind::Float if has_value(element) => {
            floats::alone(numbers(element, &[bytes])[0], element.bytes)
        }
        Kind::Text => text_of(element, bytes),
        Kind::Date(_) => unquoted(words(element, &[bytes]).remove(0)),
        Kind::Span(unit) if signed(element, bytes) != i64::MIN => {
            let (count, name) = unit_of(unit);
            format!("{} {name}", i128::from(signed(element, bytes)) * count)
        }
        Kind::Span(_) => "NaT".to_owned(),
        _ => words(element, &[bytes]).remove(0),
    }
}

fn count(shape: &[usize]) -> usize {
    shape
        .iter()
        .fold(1, |count, &dim| count.saturating_mul(dim))
}

struct Dim {
    len: usize,
    /// True if the middle is left out.
    is_short: bool,
}

impl Dim {
    /// The shown places, with one `None` for those left out.
    fn places(&self) -> impl Iterator<Item = Option<usize>> {
        let (first, last) = match self.is_short {
            true => (EDGE, self.len - EDGE),
            false => (self.len, self.len),
        };
        let left_out = self.is_short.then_some(None);
        (0..first)
            .map(Some)
            .chain(left_out)
            .chain((last..self.len).map(Some))
    }
}

/// Appends the places of the shown elements. `of` numbers this array among those with the same `dims`.
fn shown(dims: &[Dim], of: usize, places: &mut Vec<usize>) {
    match dims.split_first() {
        None => places.push(of),
        Some((dim, rest)) => dim
            .places()
            .flatten()
            .for_each(|place| shown(rest, of.wrapping_mul(dim.len).wrapping_add(place), places)),
    }
}

/// Breaks the shown elements' words into lines, as NumPy does. `depth` arrays surround this one, and a line has
/// room for `width` characters.
fn lines(
    dims: &[Dim],
    depth: usize,
    width: usize,
    words: &mut impl Iterator<Item = String>,
) -> String {
    let Some((dim, rest)) = dims.split_first() else {
        return words.next().unwrap_or_default();
    };
    let indent = " ".repeat(depth + 1);
    let mut text = String::new();
    if rest.is_empty() {
        let mut line = indent.clone();
        for (n, place) in dim.places().enumerate() {
            let word = match place {
                Some(_) => words.next().unwrap_or_default(),
                None => "...".to_owned(),
            };
            if n > 0 {
                line.push(' ');
            }
            let is_full = line.chars().count() + word.chars().count() > width - 1;
            if is_full && line.len() > indent.len() {
                text += line.trim_end();
                text.push('\n');
                line = indent.clone();
            }
            line += &word;
        }
        text += &line;
    } else {
        for (n, place) in dim.places().enumerate() {
            if n > 0 {
                text += &"\n".repeat(rest.len());
            }
            text += &indent;
            text += &match place {
                Some(_) => lines(rest, depth + 1, width - 1, words),
                None => "...".to_owned(),
            };
        }
    }
    format!("[{}]", &text[indent.len()..])
}

/// True if a float's value is known: not with 1 byte, nor for a long double, which differs among machines.
fn has_value(element: &Element) -> bool {
    matches!(element.bytes, 2 | 4 | 8)
}

/// The elements' words; numbers are padded to the widest.
fn words(element: &Element, elements: &[&[u8]]) -> Vec<String> {
    let each = |word: &dyn Fn(&[u8]) -> String| elements.iter().map(|bytes| word(bytes)).collect();
    match &element.kind {
        Kind::Bool => {
            each(&|bytes| [" False", "  True"][usize::from(bytes[0] != 0)][1..].to_owned())
        }
        Kind::Int => aligned(each(&|bytes| signed(element, bytes).to_string())),
        Kind::Uint => aligned(each(&|bytes| unsigned(element, bytes).to_string())),
        Kind::Float if has_value(element) => {
            floats(&numbers(element, elements), element.bytes, false)
        }
        Kind::Complex if element.bytes <= 16 => {
            let part = Element {
                kind: Kind::Float,
                bytes: element.bytes / 2,
                is_big_endian: element.is_big_endian,
            };
            let parts = |from: usize| -> Vec<&[u8]> {
                let each = elements.iter();
                each.map(|bytes| &bytes[from..][..part.bytes]).collect()
            };
            let real = numbers(&part, &parts(0));
            let imaginary = numbers(&part, &parts(part.bytes));
            let words = floats(&real, part.bytes, false).into_iter();
            let words = words.zip(floats(&imaginary, part.bytes, true));
            let word = |(real, imaginary): (String, String)| {
                let digits = imaginary.trim_end();
                let spaces = &imaginary[digits.len()..];
                format!("{real}{digits}j{spaces}")
            };
            words.map(word).collect()
        }
        Kind::Text => each(&|bytes| quoted(&text_of(element, bytes))),
        Kind::Bytes => each(&|bytes| bytes_of(until_zeros(bytes))),
        Kind::Date(unit) => {
            let words: Vec<String> = each(&|bytes| match signed(element, bytes) {
                i64::MIN => "NaT".to_owned(),
                time => date(time, unit),
            });
            let quoted = words.iter().map(|word| match word.as_str() {
                "NaT" => "'NaT'".to_owned(),
                word => format!("'{word}'"),
            });
            aligned(quoted.collect())
        }
        Kind::Span(_) => aligned(each(&|bytes| match signed(element, bytes) {
            i64::MIN => "'NaT'".to_owned(),
            span => span.to_string(),
        })),
        Kind::Fields(fields) => {
            let mut start = 0;
            let mut columns = Vec::new();
            for (name, field) in fields {
                let from = start;
                start += field.bytes;
                let parts = elements.iter().map(|bytes| &bytes[from..start]);
                if !name.is_empty() {
                    columns.push(words(field, &parts.collect::<Vec<_>>()));
                }
            }
            let row = |n: usize| {
                columns
                    .iter()
                    .map(|column| column[n].as_str())
                    .collect::<Vec<_>>()
            };
            let rows = (0..elements.len()).map(|n| match row(n)[..] {
                [word] => format!("({word},)"),
                ref row => format!("({})", row.join(", ")),
            });
            rows.collect()
        }
        Kind::Array(dims, inner) => {
            let parts = elements
                .iter()
                .flat_map(|bytes| bytes.chunks_exact(inner.bytes.max(1)));
            let mut words = words(inner, &parts.collect::<Vec<_>>()).into_iter();
            elements.iter().map(|_| list(dims, &mut words)).collect()
        }
        // Also long doubles, whose bytes differ among machines.
        Kind::Void | Kind::Float | Kind::Complex => each(&|bytes| {
            let hex: String = bytes.iter().map(|byte| format!("\\x{byte:02X}")).collect();
            format!("b'{hex}'")
        }),
    }
}

fn list(dims: &[usize], words: &mut impl Iterator<Item = String>) -> String {
    match dims.split_first() {
        None => words.next().unwrap_or_default(),
        Some((&dim, rest)) => {
            let items: Vec<String> = (0..dim).map(|_| list(rest, words)).collect();
            format!("[{}]", items.join(", "))
        }
    }
}

fn aligned(words: Vec<String>) -> Vec<String> {
    let width = words.iter().map(String::len).max().unwrap_or(0);
    words.iter().map(|word| format!("{word:>width$}")).collect()
}

/// An unsigned number of up to 8 bytes.
fn unsigned(element: &Element, bytes: &[u8]) -> u64 {
    let add = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
    match element.is_big_endian {
        true => bytes.iter().fold(0, add),
        false => bytes.iter().rev().fold(0, add),
    }
}

fn signed(element: &Element, bytes: &[u8]) -> i64 {
    let unused = 64 - 8 * bytes.len();
    (unsigned(element, bytes) << unused).cast_signed() >> unused
}

/// Floats with 2, 4 or 8 bytes; others become NaN.
fn numbers(element: &Element, elements: &[&[u8]]) -> Vec<f64> {
    let number = |bytes: &&[u8]| {
        let bits = unsigned(element, bytes);
        match element.bytes {
            2 => half(bits),
            4 => u32::try_from(bits).map_or(f64::NAN, |bits| f32::from_bits(bits).into()),
            8 => f64::from_bits(bits),
            _ => f64::NAN,
        }
    };
    elements.iter().map(number).collect()
}

/// The value of a half float.
fn half(bits: u64) -> f64 {
    let bits = u16::try_from(bits).unwrap_or(u16::MAX);
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let magnitude = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (1024.0 + fraction) * 2_f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

fn until_zeros(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| byte != 0);
    &bytes[..end.map_or(0, |last| last + 1)]
}

/// The characters of a text, without zeros at its end. A number that is no character becomes the replacement character.
fn text_of(element: &Element, bytes: &[u8]) -> String {
    let characters = bytes.chunks_exact(4).map(|bytes| {
        let number = unsigned(element, bytes);
        let character = u32::try_from(number).ok().and_then(char::from_u32);
        character.unwrap_or(char::REPLACEMENT_CHARACTER)
    });
    let text: String = characters.collect();
    text.trim_end_matches('\0').to_owned()
}

/// A text in quotes, as Python's repr writes it.
fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut word = String::from(quote);
    for character in text.chars() {
        match character {
            '\\' => word += "\\\\",
            '\n' => word += "\\n",
            '\r' => word += "\\r",
            '\t' => word += "\\t",
            _ if character == quote => word.extend(['\\', quote]),
            _ if !is_printable(character) => {
                let number = u32::from(character);
                word += &match number {
                    ..=0xff => format!("\\x{number:02x}"),
                    0x100..=0xffff => format!("\\u{number:04x}"),
                    _ => format!("\\U{number:08x}"),
                };
            }
            _ => word.push(character),
        }
    }
    word.push(quote);
    word
}

/// True unless Python's repr escapes the character: a control code, a space that is not ' ', a format or a private character.
fn is_printable(character: char) -> bool {
    let is_space = character.is_whitespace() && character != ' ';
    let is_format = matches!(
        character,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0001}'..='\u{e007f}'
    );
    let is_private = matches!(character, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..);
    !(character.is_control() || is_space || is_format || is_private)
}

/// Bytes in quotes, as Python's repr writes them.
fn bytes_of(bytes: &[u8]) -> String {
    let has = |byte| bytes.contains(&byte);
    let quote = if has(b'\'') && !has(b'"') { '"' } else { '\'' };
    let mut word = format!("b{quote}");
    for &byte in bytes {
        match byte {
            b'\\' => word += "\\\\",
            b'\n' => word += "\\n",
            b'\r' => word += "\\r",
            b'\t' => word += "\\t",
            _ if char::from(byte) == quote => word.extend(['\\', quote]),
            b' '..=b'~' => word.push(byte.into()),
            _ => word += &format!("\\x{byte:02x}"),
        }
    }
    word.push(quote);
    word
}

fn nested(shape: &[usize], next: &mut impl FnMut() -> Value) -> Value {
    match shape.split_first() {
        None => next(),
        Some((&dim, rest)) => (0..dim).map(|_| nested(rest, next)).collect(),
    }
}

fn value(element: &Element, bytes: &[u8]) -> Value {
    let float = |number: f64, bytes: usize| match number {
        number if number.is_nan() => json!("NaN"),
        number if number.is_infinite() => json!(if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }),
        number => json!(shortest(number, bytes).parse::<f64>().ok()),
    };
    match &element.kind {
        Kind::Bool => json!(bytes[0] != 0),
        Kind::Int | Kind::Span(_) => json!(signed(element, bytes)),
        Kind::Uint => json!(unsigned(element, bytes)),
        Kind::Float if has_value(element) => float(numbers(element, &[bytes])[0], element.bytes),
        Kind::Complex if element.bytes <= 16 => {
            let part = Element {
                kind: Kind::Float,
                bytes: element.bytes / 2,
                is_big_endian: element.is_big_endian,
            };
            bytes
                .chunks_exact(part.bytes)
                .map(|bytes| value(&part, bytes))
                .collect()
        }
        Kind::Text => json!(text_of(element, bytes)),
        Kind::Bytes => json!(String::from_utf8_lossy(until_zeros(bytes))),
        Kind::Date(unit) => match signed(element, bytes) {
            i64::MIN => json!("NaT"),
            time => json!(date(time, unit)),
        },
        Kind::Fields(fields) => {
            let mut start = 0;
            let mut object = serde_json::Map::new();
            for (name, field) in fields {
                if !name.is_empty() {
                    object.insert(name.clone(), value(field, &bytes[start..][..field.bytes]));
                }
                start += field.bytes;
            }
            object.into()
        }
        Kind::Array(dims, inner) => {
            let mut parts = bytes.chunks_exact(inner.bytes.max(1));
            nested(dims, &mut || value(inner, parts.next().unwrap_or_default()))
        }
        Kind::Void | Kind::Float | Kind::Complex => {
            json!(
                bytes
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect::<String>()
            )
        }
    }
}
