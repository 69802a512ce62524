//! The recorded results of TensorFlow and ONNX, and checks of a device against them.

pub mod cases;
pub mod check;
pub mod executor;
pub mod line;
#[cfg(feature = "gpu")]
pub mod recorded;
pub mod same;

/// The recorded results that are built in: a name, and a text of one case a line.
pub const BUILT_IN: [(&str, &str); 2] = [
    (
        "tensorflow",
        include_str!("../../../tests/data/tensorflow.jsonl"),
    ),
    ("onnx", include_str!("../../../tests/data/onnx.jsonl")),
];
