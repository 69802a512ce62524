//! Parses the header of a .npy file, the text of a Python dict:
//! `{'descr': '<i4', 'fortran_order': False, 'shape': (30, 1), }`.
//!
//! The crate npyz does not replace this parser. Version 0.9.1 allocates 4 GiB for the fuzz seed `v2_long_header`, which has 13
//! bytes, and needs 5 s for a dtype of structures nested 10 deep, over 20 s at 12. It refuses latin1.npy and python2.npy of
//! tests/data, the dtypes `<M8`, `<M8[25s]`, `|f1` and `=i4`, and fields that have a title or hold an array, as `('<i2', (3,))`.

use std::borrow::Cow;
use std::error::Error;

use super::names::{Result, shown, start_of};

/// Most dims that NumPy gives an array.
pub const MAX_RANK: usize = 64;

/// An array's description in its header.
#[derive(Debug)]
pub(super) struct Header {
    /// The dtype's text: a string without its quotes, or a list or tuple as it stands.
    pub descr: String,
    fortran_order: bool,
    pub shape: Vec<usize>,
}

impl Header {
    /// Parses a text. Spaces and key order are free.
    pub fn parse(text: &str) -> Result<Self> {
        let mut text = Text(text);
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        text.expect("{")?;
        while !text.skip("}") {
            match &*text.string()? {
                "descr" => descr = Some(text.value(Text::descr)?),
                "fortran_order" => fortran_order = Some(text.value(Text::boolean)?),
                "shape" => shape = Some(text.value(Text::shape)?),
                key => return Err(format!("header has an unknown key \"{}\"", shown(key)).into()),
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
            (Some(descr), Some(fortran_order), Some(shape)) => Ok(Self {
                descr: descr.to_owned(),
                fortran_order,
                shape,
            }),
            _ => Err("header must have the keys descr, fortran_order and shape".into()),
        }
    }

    /// True if the first dim is the innermost one. With at most one dim above 1, both orders are the same.
    pub fn is_fortran(&self) -> bool {
        let long = self.shape.iter().filter(|&&dim| dim > 1).count();
        self.fortran_order && long > 1 && !self.shape.contains(&0)
    }
}

/// Undoes the escapes in Python's repr. Any other backslash is dropped.
fn unescaped(string: &str) -> String {
    let mut text = String::new();
    let mut rest = string;
    while let Some((before, after)) = rest.split_once('\\') {
        text += before;
        let mut characters = after.chars();
        let kind = characters.next();
        rest = characters.as_str();
        let digits = match kind {
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            _ => 0,
        };
        let hex = rest.get(..digits).unwrap_or_default();
        let number = u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
        match (kind, number) {
            (Some('x' | 'u' | 'U'), Some(character)) => {
                text.push(character);
                rest = &rest[digits..];
            }
            (Some('n'), _) => text.push('\n'),
            (Some('r'), _) => text.push('\r'),
            (Some('t'), _) => text.push('\t'),
            (Some(character), _) => text.push(character),
            (None, _) => {}
        }
    }
    text + rest
}

/// The unread part of a header.
pub(super) struct Text<'a>(pub &'a str);

impl<'a> Text<'a> {
    /// Skips spaces and `token` if `token` is next, and returns true if it was.
    pub fn skip(&mut self, token: &str) -> bool {
        let rest = self.0.trim_start().strip_prefix(token);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// True if `token` is next.
    pub fn next_is(&self, token: &str) -> bool {
        self.0.trim_start().starts_with(token)
    }

    pub fn expect(&mut self, token: &str) -> Result<()> {
        if self.skip(token) {
            Ok(())
        } else {
            Err(self.unexpected(token))
        }
    }

    fn unexpected(&self, expected: &str) -> Box<dyn Error> {
        let found = start_of(self.0.trim_start());
        format!("header must go on with {expected}, found \"{found}\"").into()
    }

    fn value<T>(&mut self, read: fn(&mut Self) -> Result<T>) -> Result<T> {
        self.expect(":")?;
        read(self)
    }

    /// Reads a string as Python's repr writes it.
    pub fn string(&mut self) -> Result<Cow<'a, str>> {
        let quote = if self.skip("\"") { '"' } else { '\'' };
        if quote == '\'' {
            self.expect("'")?;
        }
        let mut characters = self.0.char_indices();
        let end = loop {
            match characters.next() {
                Some((at, character)) if character == quote => break at,
                Some((_, '\\')) => {
                    characters.next();
                }
                Some(_) => {}
                None => return Err("header has a string without an end".into()),
            }
        };
        let string = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Ok(match string.contains('\\') {
            true => unescaped(string).into(),
            false => string.into(),
        })
    }

    /// Reads a string, or a list or tuple with a structure's names and dtypes, as text.
    fn descr(&mut self) -> Result<&'a str> {
        let text = self.0.trim_start();
        if !text.starts_with(['[', '(']) {
            return match self.string()? {
                Cow::Borrowed(descr) => Ok(descr),
                Cow::Owned(descr) => {
                    Err(format!("dtype \"{}\" is not supported", start_of(&descr)).into())
                }
            };
        }
        let (mut depth, mut quote) = (0_usize, None);
        let mut characters = text.char_indices();
        while let Some((at, character)) = characters.next() {
            match (quote, character) {
                (Some(_), '\\') => {
                    characters.next();
                }
                (Some(open), _) if open == character => quote = None,
                (Some(_), _) => {}
                (None, '\'' | '"') => quote = Some(character),
                (None, '[' | '(') => depth += 1,
                (None, ']' | ')') => depth -= 1,
                (None, _) => {}
            }
            if depth == 0 {
                let (structure, rest) = text.split_at(at + 1);
                self.0 = rest;
                return Ok(structure);
            }
        }
        Err("header has a list without an end".into())
    }

    fn boolean(&mut self) -> Result<bool> {
        if self.skip("True") {
            return Ok(true);
        }
        self.expect("False").map(|()| false)
    }

    /// Reads a tuple: `()`, `(30,)` or `(30, 1)`.
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

    /// Reads the dims of an array in a structure: a tuple, or a number.
    pub fn dims(&mut self) -> Result<Vec<usize>> {
        match self.next_is("(") {
            true => self.shape(),
            false => Ok(vec![self.dim()?]),
        }
    }

    /// Reads a dim: `30`, or `30L` as Python 2 wrote it.
    fn dim(&mut self) -> Result<usize> {
        let text = self.0.trim_start();
        let end = text
            .find(|digit: char| !digit.is_ascii_digit())
            .unwrap_or(text.len());
        let (digits, rest) = text.split_at(end);
        if digits.is_empty() {
            return Err(self.unexpected("a dim"));
        }
        self.0 = rest.strip_prefix('L').unwrap_or(rest);
        digits
            .parse()
            .map_err(|_| format!("dim {} is too large", start_of(digits)).into())
    }
}
