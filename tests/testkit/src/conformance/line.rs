//! One line of a conformance file. The error for a field that is missing, unknown or out of range names the field.
//!
//! Fields: `kind` (valid, empty, oob, error, quirk), `op`, `params_shape`, `params_dtype`, `params` (numbers for
//! bool and integers, else hex of the little-endian bytes), `indices_shape`, `indices_dtype`, `indices`, `axis`
//! (gather only; null if not given), `batch_dims`, and `expect`: {shape, data} or {error, error_kind, exact}.
//! An oob line also has `bad_rows` and `expect_zero`. `indices_onnx` are `indices` before negative ones were
//! resolved.

use serde_json::Value;
use wgpu_gather::IndexKind;

use crate::examples::gather_nd;
use crate::indices::holds;
use crate::oracle::{Case, Op};

/// The smallest and the largest value of a type that is written as numbers; none for a type that is written as hex.
type NumberRange = Option<(i128, i128)>;

/// The name of each type, its size in bytes, and its range.
const DTYPES: [(&str, usize, NumberRange); 15] = [
    ("bool", 1, Some((0, 1))),
    ("i8", 1, Some((i8::MIN as i128, i8::MAX as i128))),
    ("u8", 1, Some((0, u8::MAX as i128))),
    ("i16", 2, Some((i16::MIN as i128, i16::MAX as i128))),
    ("u16", 2, Some((0, u16::MAX as i128))),
    ("i32", 4, Some((i32::MIN as i128, i32::MAX as i128))),
    ("u32", 4, Some((0, u32::MAX as i128))),
    ("i64", 8, Some((i64::MIN as i128, i64::MAX as i128))),
    ("u64", 8, Some((0, u64::MAX as i128))),
    ("f16", 2, None),
    ("bf16", 2, None),
    ("f32", 4, None),
    ("f64", 8, None),
    ("c64", 8, None),
    ("c128", 16, None),
];

pub struct Line {
    pub id: String,
    pub case: Case,
    pub index_kind: IndexKind,
    /// The case with the line's ONNX indices, where those below 0 count from the end; `None` if the line has none.
    pub case_from_end: Option<Case>,
    pub params: Params,
    pub expect: Expect,
}

pub struct Params {
    pub element_bytes: usize,
    pub bytes: Vec<u8>,
}

pub enum Expect {
    /// The kinds valid and empty.
    Output(Output),
    /// The kind oob.
    BadRows(BadRows),
    /// The kinds error and quirk. For a quirk, TensorFlow returns an output where this crate refuses, so there is no text
    /// to compare.
    PlanError { kind: String, text: Option<String> },
}

pub struct Output {
    pub shape: Vec<usize>,
    pub data: Vec<u8>,
}

pub struct BadRows {
    /// TensorFlow's error text, without the node name.
    pub text: String,
    /// True if the error's text must be TensorFlow's, which had only one bad row to name.
    pub exact: bool,
    /// The bad rows, numbered in row-major order.
    pub rows: Vec<usize>,
    pub zero: Output,
}

impl Line {
    pub fn parse(line: &Value) -> Result<Self, String> {
        let index_kind = index_kind(text(line, "indices_dtype")?)?;
        let case = Case {
            op: op(line)?,
            params_shape: integers(line, "params_shape")?,
            indices_shape: integers(line, "indices_shape")?,
            indices: indices(line, "indices", index_kind)?,
            from_end: false,
        };
        let case_from_end = match line.get("indices_onnx") {
            None => None,
            Some(_) => Some(Case {
                indices: indices(line, "indices_onnx", index_kind)?,
                from_end: true,
                ..case.clone()
            }),
        };
        Ok(Self {
            id: text(line, "id")?.to_owned(),
            case,
            index_kind,
            case_from_end,
            params: Params::parse(line)?,
            expect: Expect::parse(line)?,
        })
    }
}

impl Params {
    fn parse(line: &Value) -> Result<Self, String> {
        let name = text(line, "params_dtype")?;
        let &(dtype, element_bytes, range) = DTYPES
            .iter()
            .find(|(dtype, ..)| *dtype == name)
            .ok_or_else(|| format!("unknown params_dtype {name}"))?;
        let bytes = match range {
            None => hex(line, "params")?,
            Some((first, last)) => {
                let mut bytes = Vec::new();
                for element in integers::<i128>(line, "params")? {
                    if !(first..=last).contains(&element) {
                        return Err(format!("params holds {element}, which is no {dtype}"));
                    }
                    bytes.extend_from_slice(&element.to_le_bytes()[..element_bytes]);
                }
                bytes
            }
        };
        Ok(Self {
            element_bytes,
            bytes,
        })
    }
}

impl Expect {
    fn parse(line: &Value) -> Result<Self, String> {
        let expect = field(line, "expect")?;
        match text(line, "kind")? {
            "valid" | "empty" => Ok(Self::Output(Output::parse(expect)?)),
            "oob" => {
                let text = text(expect, "error")?;
                let text = text.split_once(", node name: ").map_or(text, |cut| cut.0);
                Ok(Self::BadRows(BadRows {
                    text: text.to_owned(),
                    exact: field(expect, "exact")?
                        .as_bool()
                        .ok_or("exact is no bool")?,
                    rows: integers(line, "bad_rows")?,
                    zero: Output::parse(field(line, "expect_zero")?)?,
                }))
            }
            kind @ ("error" | "quirk") => Ok(Self::PlanError {
                kind: text(expect, "error_kind")?.to_owned(),
                text: match kind {
                    "error" => Some(text(expect, "error")?.to_owned()),
                    _ => None,
                },
            }),
            unknown => Err(format!("unknown kind {unknown}")),
        }
    }
}

impl Output {
    fn parse(value: &Value) -> Result<Self, String> {
        Ok(Self {
            shape: integers(value, "shape")?,
            data: hex(value, "data")?,
        })
    }
}

fn op(line: &Value) -> Result<Op, String> {
    let batch_dims = integer("batch_dims", field(line, "batch_dims")?)?;
    match text(line, "op")? {
        "gather_nd" => Ok(gather_nd(batch_dims)),
        "gather" => {
            let axis = match field(line, "axis")? {
                Value::Null => None,
                axis => Some(integer("axis", axis)?),
            };
            Ok(Op::Gather { axis, batch_dims })
        }
        unknown => Err(format!("unknown op {unknown}")),
    }
}

fn index_kind(dtype: &str) -> Result<IndexKind, String> {
    let kind = dtype.parse();
    kind.map_err(|_| format!("unknown indices_dtype {dtype}"))
}

fn indices(line: &Value, name: &str, index_kind: IndexKind) -> Result<Vec<i128>, String> {
    let indices = integers(line, name)?;
    match indices.iter().find(|&&value| !holds(index_kind, value)) {
        Some(value) => Err(format!("{name} holds {value}, which is no {index_kind}")),
        None => Ok(indices),
    }
}

fn field<'a>(value: &'a Value, name: &str) -> Result<&'a Value, String> {
    value.get(name).ok_or_else(|| format!("no field {name}"))
}

fn text<'a>(value: &'a Value, name: &str) -> Result<&'a str, String> {
    let text = field(value, name)?;
    text.as_str()
        .ok_or_else(|| format!("{name} is no text: {text}"))
}

fn integers<T: TryFrom<i128>>(value: &Value, name: &str) -> Result<Vec<T>, String> {
    let items = field(value, name)?;
    items
        .as_array()
        .ok_or_else(|| format!("{name} is no list: {items}"))?
        .iter()
        .map(|item| integer(name, item))
        .collect()
}

/// Reads an integer that `i64` or `u64` can hold.
fn integer<T: TryFrom<i128>>(name: &str, value: &Value) -> Result<T, String> {
    let number = value.as_i64().map(i128::from);
    number
        .or_else(|| value.as_u64().map(i128::from))
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| format!("{name} holds {value}, which is no number of its type"))
}

fn hex(value: &Value, name: &str) -> Result<Vec<u8>, String> {
    let digits = text(value, name)?;
    let bytes: Option<Vec<u8>> = digits
        .as_bytes()
        .chunks(2)
        .map(|pair| {
            let pair = std::str::from_utf8(pair).ok().filter(|pair| {
                pair.len() == 2 && pair.bytes().all(|digit| digit.is_ascii_hexdigit())
            })?;
            u8::from_str_radix(pair, 16).ok()
        })
        .collect();
    bytes.ok_or_else(|| format!("{name} is no hex: {digits}"))
}
