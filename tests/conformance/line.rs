//! One line of a conformance file, read strictly: what is missing, unknown or out of its type's range is an
//! error that names it. Judges nothing.
//!
//! Fields: `kind` (valid, empty, oob, error, quirk), `op`, `params_shape`, `params_dtype`, `params` (numbers for
//! bool and integers, hex of the little-endian bytes else), `indices_shape`, `indices_dtype`, `indices`, `axis`
//! (gather only; null is not given), `batch_dims`, and `expect`: {shape, data} or {error, error_kind, exact}.
//! An oob line has `bad_rows` and `expect_zero` too. `indices_onnx` are `indices` before negative ones were
//! resolved.

use serde_json::Value;
use wgpu_gather::IndexKind;

use super::common::indices::holds;
use super::common::oracle::{Case, Op};

/// The first and the last number, if the type is written as numbers.
type NumberRange = Option<(i128, i128)>;

/// Name and bytes of each type.
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
    /// `indices_onnx`, if there, in place of `indices`.
    pub case_from_end: Option<Case>,
    pub params: Params,
    pub expect: Expect,
}

pub struct Params {
    pub dtype: &'static str,
    pub element_bytes: usize,
    pub bytes: Vec<u8>,
}

pub enum Expect {
    /// valid, empty.
    Output(Output),
    /// oob.
    BadRows(BadRows),
    /// error, quirk. A quirk has no text: TensorFlow gives an output.
    PlanError { kind: String, text: Option<String> },
}

pub struct Output {
    pub shape: Vec<usize>,
    pub data: Vec<u8>,
}

pub struct BadRows {
    /// TensorFlow's, without its node name.
    pub text: String,
    /// Whether TensorFlow had one row to name only.
    pub exact: bool,
    /// Index rows in row-major order.
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
            dtype,
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
        "gather_nd" => Ok(Op::GatherNd { batch_dims }),
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
    let kind = IndexKind::ALL
        .into_iter()
        .find(|kind| kind.to_string() == dtype);
    kind.ok_or_else(|| format!("unknown indices_dtype {dtype}"))
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

/// `u64` holds what `i64` does not, and no JSON number here is larger.
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
