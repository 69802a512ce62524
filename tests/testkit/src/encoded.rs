//! Gathers from encoded params: the table's cases with a block in place of each element, and the values that gguf-py
//! decodes from recorded rows.

use half::{bf16, f16};
use wgpu_gather::{BadIndices, Encoded, Encoding, FloatKind, Gather, GatherPlan, IndexKind};

use crate::data;
use crate::oracle::{Case, Op};
use crate::samples::{Sample, pattern};

/// Encoded rows in tests/data/encoded, and the bits of the values that gguf-py decodes from them.
pub struct Recorded {
    pub encoding: Encoding,
    pub rows: Vec<u8>,
    pub values: Vec<u32>,
    /// Rows, and values per row.
    pub shape: [usize; 2],
}

impl Recorded {
    pub fn of(encoding: Encoding) -> Self {
        let (rows_header, rows) = array(encoding, "rows");
        let (values_header, values) = array(encoding, "values");
        assert!(rows_header.contains("'|u1'") && values_header.contains("'<u4'"));
        let values: Vec<u32> = bytemuck::pod_collect_to_vec(&values);
        let (_, shape) = values_header.split_once("'shape': (").unwrap();
        let (row_count, _) = shape.split_once(',').unwrap();
        let row_count = row_count.parse().unwrap();
        let shape = [row_count, values.len() / row_count];
        assert!(row_count >= 200);
        let row_bytes = encoding.row_bytes(shape[1] as u64).unwrap();
        assert_eq!(rows.len() as u64, shape[0] as u64 * row_bytes);
        Self {
            encoding,
            rows,
            values,
            shape,
        }
    }

    /// Another array of words recorded for these rows.
    pub fn array(&self, part: &str) -> Vec<u32> {
        let (_, words) = array(self.encoding, part);
        bytemuck::pod_collect_to_vec(&words)
    }

    /// Indices that put all rows in another order, and their gather's plan.
    pub fn reordered(&self) -> (Vec<i32>, GatherPlan) {
        let [rows, row_len] = self.shape;
        let indices = (0..rows).map(|n| i32::try_from(n * 7 % rows).unwrap());
        let plan = Gather::new().plan(&[rows, row_len], &[rows]).unwrap();
        (indices.collect(), plan)
    }

    /// Compares values gathered by `indices` with gguf-py's, bit for bit. A NaN may have any bits, unless rows hold 16-bit
    /// floats.
    #[track_caller]
    pub fn check(&self, indices: &[i32], found: &[f32]) {
        let row_len = self.shape[1];
        assert_eq!(found.len(), indices.len() * row_len);
        let is_exact = matches!(
            self.encoding,
            Encoding::F32 | Encoding::F16 | Encoding::Bf16
        );
        for (&index, found) in indices.iter().zip(found.chunks(row_len)) {
            let row = usize::try_from(index).unwrap();
            let expected = &self.values[row * row_len..][..row_len];
            for (at, (found, &expected)) in found.iter().zip(expected).enumerate() {
                let are_nans = found.is_nan() && f32::from_bits(expected).is_nan();
                assert!(
                    found.to_bits() == expected || are_nans && !is_exact,
                    "{}: value {at} of row {row} is {:#010x}, not {expected:#010x}",
                    self.encoding,
                    found.to_bits()
                );
            }
        }
    }
}

impl Recorded {
    /// Compares halves gathered by `indices`, as bytes, with gguf-py's values, rounded. Rows of the same halves keep all bits.
    #[track_caller]
    pub fn check_halves(&self, to: FloatKind, indices: &[i32], found: &[u8]) {
        let row_len = self.shape[1];
        let moves = self.encoding.to_string().to_lowercase() == to.to_string();
        assert_eq!(found.len(), indices.len() * row_len * 2);
        for (&index, found) in indices.iter().zip(found.chunks(row_len * 2)) {
            let row = usize::try_from(index).unwrap();
            let expected = match moves {
                true => self.rows[row * row_len * 2..][..row_len * 2].to_vec(),
                false => self.halves_of_row(row, to),
            };
            assert!(found == expected, "row {row} of {} to {to}", self.encoding);
        }
    }

    /// The bytes of a row's values as halves.
    pub fn halves_of_row(&self, row: usize, to: FloatKind) -> Vec<u8> {
        let row_len = self.shape[1];
        let values = self.values[row * row_len..][..row_len].iter();
        values
            .flat_map(|&bits| rounded(f32::from_bits(bits), to))
            .collect()
    }
}

/// The header and the elements of an array in tests/data/encoded.
fn array(encoding: Encoding, part: &str) -> (String, Vec<u8>) {
    let name = encoding.to_string().to_lowercase();
    let file = data::file(&format!("encoded/{name}_{part}.npy"));
    let bytes = std::fs::read(file).unwrap();
    // A .npy file holds magic and version (8 bytes), the header's length (2 bytes), the header, and the elements.
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8(bytes[10..start].to_vec()).unwrap();
    (header, bytes[start..].to_vec())
}

impl Case {
    /// This case with a row of `len` elements in place of each params element. `None` for gather_elements, which would
    /// select within a row, and for a default axis that counts from the end.
    fn with_rows(&self, len: usize) -> Option<Self> {
        let moved = |axis: i64| if axis < 0 { axis - 1 } else { axis };
        let op = match self.op {
            Op::Gather { axis, batch_dims } if axis.is_some() || batch_dims >= 0 => Op::Gather {
                axis: axis.map(moved),
                batch_dims,
            },
            Op::GatherNd { axis, batch_dims } if axis.is_some() || batch_dims >= 0 => {
                Op::GatherNd {
                    axis: axis.map(moved),
                    batch_dims,
                }
            }
            _ => return None,
        };
        let params_shape = [&self.params_shape[..], &[len]].concat();
        Some(Self {
            op,
            params_shape,
            ..self.clone()
        })
    }

    /// This case's samples with a block, or a short row, in place of each params element, decoded to `to`; none if that is
    /// impossible.
    pub fn encoded_samples(
        &self,
        encoding: Encoding,
        to: FloatKind,
        index_kinds: &[IndexKind],
        policies: &[BadIndices],
    ) -> Vec<Sample> {
        let row_len = row_len(encoding);
        let Some(case) = self.with_rows(row_len) else {
            return Vec::new();
        };
        let rows: usize = self.params_shape.iter().product();
        // Scales are finite, since a NaN product may have any payload. No f32 is subnormal, since a driver may flush it.
        let [of_params, of_scales, of_zero_points] = row_bytes(encoding, row_len);
        let mut params: Vec<u8> = pattern(rows * of_params);
        params.iter_mut().for_each(|byte| *byte &= 0xbf);
        if encoding == Encoding::RowWise8 {
            for end in params
                .chunks_mut(of_params)
                .map(|row| &mut row[of_params - 8..])
            {
                end[3] |= 0x20;
                end[7] |= 0x20;
            }
        }
        let mut scales = pattern(rows * of_scales);
        for half in scales.chunks_mut(2) {
            half[1] = half[1] & 0xbf | 0x20;
        }
        let qparams = [scales, pattern(rows * of_zero_points)];
        let plan = Gather::new().plan(&[rows, row_len], &[rows]).unwrap();
        let every = (0..rows as u64).collect::<Vec<_>>();
        let values = plan.gather_encoded(&encoded(encoding, &params, &qparams), &every);
        let values = values.unwrap();
        let slice = |at: Option<usize>, fill: f32| match at {
            Some(at) => values[at * row_len..][..row_len].to_vec(),
            None => vec![fill; row_len],
        };
        let mut samples = Vec::new();
        for &policy in policies {
            let answer = self.replaced_by(policy).as_ref().unwrap_or(self).answer();
            let output = |fill: f32| {
                let slices = answer.elements.iter().flat_map(|&at| slice(at, fill));
                slices
                    .flat_map(|value| rounded(value, to))
                    .collect::<Vec<u8>>()
            };
            let first_bad = answer.bad_rows.first();
            let (zeros, filled) = (output(0.0), output(-1.5));
            for sample in self.samples(&[4], index_kinds, &[policy]) {
                let fills = policy == BadIndices::Fill && sample.index_kind == IndexKind::I64;
                samples.push(Sample {
                    plan: case.plan(policy).expect("a valid case"),
                    element_bytes: usize::try_from(to.bytes()).unwrap(),
                    encoding: Some(encoding),
                    to,
                    params: params.clone(),
                    qparams: qparams.clone(),
                    output: if fills { filled.clone() } else { zeros.clone() },
                    fill: if fills { rounded(-1.5, to) } else { Vec::new() },
                    bad_row_count: answer.bad_rows.len(),
                    bad_index: first_bad.map(|&row| case.bad_index_text(row)),
                    case: case.clone(),
                    ..sample
                });
            }
        }
        samples
    }
}

/// A value's bytes, after its one rounding.
pub fn rounded(value: f32, to: FloatKind) -> Vec<u8> {
    match to {
        FloatKind::F16 if value.is_nan() => 0x7e00_u16.to_le_bytes().to_vec(),
        FloatKind::F16 => f16::from_f32_const(value).to_le_bytes().to_vec(),
        FloatKind::Bf16 if value.is_nan() => 0x7fc0_u16.to_le_bytes().to_vec(),
        FloatKind::Bf16 => bf16::from_f32_const(value).to_le_bytes().to_vec(),
        _ => value.to_le_bytes().to_vec(),
    }
}

/// Values in the row that replaces an element in the samples: a block, or some values that fill no unit or no block.
pub fn row_len(encoding: Encoding) -> usize {
    match encoding {
        Encoding::F32 => 3,
        Encoding::F16 => 5,
        Encoding::RowWise8 => 4,
        Encoding::RowWise4 => 6,
        Encoding::BlockQuantized(quantized) => usize::try_from(quantized.block_len()).unwrap() + 8,
        _ => usize::try_from(encoding.block_len()).unwrap(),
    }
}

/// Bytes that a row of `len` values takes: in params, in scales and in zero points.
pub fn row_bytes(encoding: Encoding, len: usize) -> [usize; 3] {
    let len = len as u64;
    let of_params = encoding.row_bytes(len).expect("whole blocks");
    let [of_scales, of_zero_points] = match encoding {
        Encoding::BlockQuantized(of) => {
            [of.scale_bytes(len), of.zero_point_bytes(len).unwrap_or(0)]
        }
        _ => [0, 0],
    };
    [of_params, of_scales, of_zero_points].map(|bytes| usize::try_from(bytes).unwrap())
}

/// Params with scales and zero points, which are empty if there are none.
pub fn encoded<'a>(
    encoding: Encoding,
    params: &'a [u8],
    qparams: &'a [Vec<u8>; 2],
) -> Encoded<&'a [u8]> {
    let mut encoded = Encoded::new(encoding, params);
    if !qparams[0].is_empty() {
        encoded = encoded.scales(&qparams[0]);
    }
    if !qparams[1].is_empty() {
        encoded = encoded.zero_points(&qparams[1]);
    }
    encoded
}

impl Sample {
    /// Elements, or encoded values, in a part of params that is never cut.
    pub fn part_len(&self) -> usize {
        match self.encoding {
            None => 1,
            Some(Encoding::RowWise8 | Encoding::RowWise4 | Encoding::BlockQuantized(_)) => {
                *self.case.params_shape.last().expect("rows")
            }
            Some(encoding) => usize::try_from(encoding.block_len()).unwrap(),
        }
    }

    pub fn encoded(&self, encoding: Encoding) -> Encoded<&[u8]> {
        encoded(encoding, &self.params, &self.qparams)
    }

    /// This sample with other params, scales and zero points. `make` gets the old bytes, and how many a slice of
    /// `slice_len` elements takes.
    pub fn with_operands(&self, slice_len: usize, make: impl Fn(&[u8], usize) -> Vec<u8>) -> Self {
        let part = match self.encoding {
            Some(encoding) => row_bytes(encoding, self.part_len()),
            None => [self.element_bytes, 0, 0],
        };
        let parts = slice_len / self.part_len();
        let [scales, zero_points] = [0, 1].map(|at| make(&self.qparams[at], parts * part[1 + at]));
        Self {
            params: make(&self.params, parts * part[0]),
            qparams: [scales, zero_points],
            ..self.clone()
        }
    }
}
