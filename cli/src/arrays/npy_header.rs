//! Parses the header of a .npy file, the text of a Python dict:
//! `{'descr': '<i4', 'fortran_order': False, 'shape': (30, 1), }`.

use std::error::Error;

use super::array::{Dtype, Result, start_of};

/// Most dims that NumPy gives an array.
pub const MAX_RANK: usize = 64;

/// Returns the dtype and the shape that a header gives. Spaces and the order of its keys are free.
pub(super) fn parse_header(header: &[u8]) -> Result<(Dtype, Vec<usize>)> {
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
            Err("Fortran order is not supported: save numpy.ascontiguousarray of the array".into())
        }
        (Some(descr), Some(false), Some(shape)) => Ok((Dtype::from_descr(descr)?, shape)),
        _ => Err("header must have the keys descr, fortran_order and shape".into()),
    }
}

/// The unread part of a header.
struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    /// Skips spaces and `token` if `token` is next, and returns true if it was.
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
