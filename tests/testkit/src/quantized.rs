//! The recorded gathers in tests/data/quantized.jsonl: ONNX Runtime's `GatherBlockQuantized`, and its formula in NumPy.

use serde_json::Value;
use wgpu_gather::{
    BadIndices, BlockQuantized, Encoded, Encoding, FloatKind, Gather, GatherPlan, NegativeIndices,
};

use crate::data;
use crate::encoded::{encoded, rounded};

/// A recorded gather of quantised values: its operands, and its output's bytes, in the scales' element type.
pub struct Quantized {
    /// The file's line.
    json: String,
    pub encoding: Encoding,
    pub plan: GatherPlan,
    pub params: Vec<u8>,
    /// Scales and zero points; empty if there are none.
    pub qparams: [Vec<u8>; 2],
    pub indices: Vec<i64>,
    pub indices_shape: [usize; 2],
    pub scales: FloatKind,
    output: Vec<u8>,
}

impl Quantized {
    pub fn all() -> Vec<Self> {
        let text = std::fs::read_to_string(data::file("quantized.jsonl")).unwrap();
        let all: Vec<_> = text.lines().map(Self::parse).collect();
        assert_eq!(all.len(), 121);
        all
    }

    fn parse(line: &str) -> Self {
        let json: Value = serde_json::from_str(line).unwrap();
        let number = |name: &str| json[name].as_u64().unwrap();
        let hex = |name: &str| match json[name].as_str() {
            Some(text) => bytes_of_hex(text),
            None => Vec::new(),
        };
        let numbers = |json: &Value| -> Vec<i64> {
            let numbers = json.as_array().unwrap().iter();
            numbers.map(|number| number.as_i64().unwrap()).collect()
        };
        let scales = match json["scale_kind"].as_str().unwrap() {
            "f32" => FloatKind::F32,
            "f16" => FloatKind::F16,
            _ => FloatKind::Bf16,
        };
        let bits = u32::try_from(number("bits")).unwrap();
        let mut of = BlockQuantized::new(bits, number("block")).unwrap();
        of = match json["kind"].as_str().unwrap() {
            "int4" => of.signed(),
            "uint4" => of.with_zero_point_0(),
            _ => of,
        };
        let qparams = [hex("scales"), hex("zero_points")];
        if !qparams[1].is_empty() {
            of = of.with_zero_points();
        }
        let rows = json["indices"].as_array().unwrap();
        let indices: Vec<_> = rows.iter().flat_map(numbers).collect();
        let indices_shape = [rows.len(), indices.len() / rows.len()];
        let shape = numbers(&json["shape"]).into_iter();
        let shape: Vec<_> = shape.map(|dim| usize::try_from(dim).unwrap()).collect();
        let gather = Gather::new().axis(numbers(&Value::Array(vec![json["axis"].clone()]))[0]);
        let gather = gather.negative_indices(NegativeIndices::FromEnd);
        // ONNX Runtime gives zeros for an index out of range.
        let plan = gather
            .bad_indices(BadIndices::Fill)
            .plan(&shape, &indices_shape);
        Self {
            json: line.to_owned(),
            encoding: Encoding::BlockQuantized(of.with_scales(scales)),
            plan: plan.unwrap(),
            params: hex("data"),
            qparams,
            indices,
            indices_shape,
            scales,
            output: hex("output"),
        }
    }

    pub fn encoded(&self) -> Encoded<&[u8]> {
        encoded(self.encoding, &self.params, &self.qparams)
    }

    /// Compares values with the recorded ones, after one rounding to the scales' type.
    #[track_caller]
    pub fn check(&self, found: &[f32]) {
        let found = found.iter().flat_map(|&value| rounded(value, self.scales));
        self.check_bytes(&found.collect::<Vec<u8>>());
    }

    /// Compares values of the scales' type, as bytes, with the recorded ones.
    #[track_caller]
    pub fn check_bytes(&self, found: &[u8]) {
        assert!(found == self.output, "{}", self.json);
    }
}

fn bytes_of_hex(text: &str) -> Vec<u8> {
    let digit = |digit: &u8| char::from(*digit).to_digit(16).unwrap();
    let bytes = text.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::try_from(digit(&pair[0]) << 4 | digit(&pair[1])).unwrap();
    bytes.map(byte).collect()
}
