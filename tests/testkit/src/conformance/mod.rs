//! TensorFlow's and ONNX's recorded results, and checks of a device against them.

pub mod cases;
pub mod check;
pub mod executor;
pub mod line;

use std::fmt::Debug;

/// The built-in recorded results: a name, and a text with one case per line.
pub const BUILT_IN: [(&str, &str); 2] = [
    ("tensorflow", include_str!("../../../data/tensorflow.jsonl")),
    ("onnx", include_str!("../../../data/onnx.jsonl")),
];

/// An error that names what differs.
pub fn same<T: PartialEq + Debug + ?Sized>(
    what: &str,
    found: &T,
    expected: &T,
) -> Result<(), String> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{what} is {found:?}, expected {expected:?}"))
    }
}

pub fn same_bytes(what: &str, found: &[u8], expected: &[u8]) -> Result<(), String> {
    same(
        &format!("byte count of {what}"),
        &found.len(),
        &expected.len(),
    )?;
    match found
        .iter()
        .zip(expected)
        .position(|(found, expected)| found != expected)
    {
        None => Ok(()),
        Some(at) => same(&format!("byte {at} of {what}"), &found[at], &expected[at]),
    }
}
