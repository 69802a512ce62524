//! Gathers of encoded params: the cases of the table with a block in place of each element, and the values that gguf-py
//! decodes from recorded rows.

use std::path::Path;

use wgpu_gather::{BadIndices, Encoding, Gather, GatherPlan, IndexKind};

use crate::oracle::{Case, Op};
use crate::samples::{Sample, pattern};

/// Rows of bytes, and the bits of the values that gguf-py decodes from them, of tests/data/encoded.
pub struct Recorded {
    pub encoding: Encoding,
    pub rows: Vec<u8>,
    pub values: Vec<u32>,
    /// Rows, and values of a row.
    pub shape: [usize; 2],
}

impl Recorded {
    pub fn of(encoding: Encoding) -> Self {
        let array = |part: &str| {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/encoded");
            let name = encoding.to_string().to_lowercase();
            let bytes = std::fs::read(folder.join(format!("{name}_{part}.npy"))).unwrap();
            // A version, the length of the header, the header, the elements.
            let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
            let header = String::from_utf8(bytes[10..start].to_vec()).unwrap();
            (header, bytes[start..].to_vec())
        };
        let (rows_header, rows) = array("rows");
        let (values_header, values) = array("values");
        assert!(rows_header.contains("'|u1'") && values_header.contains("'<u4'"));
        let values: Vec<u32> = bytemuck::pod_collect_to_vec(&values);
        let block = [encoding.block_bytes(), encoding.block_len()];
        let [block_bytes, block_len] = block.map(|number| usize::try_from(number).unwrap());
        assert_eq!(rows.len() / block_bytes * block_len, values.len());
        let (_, shape) = values_header.split_once("'shape': (").unwrap();
        let (row_count, _) = shape.split_once(',').unwrap();
        let row_count = row_count.parse().unwrap();
        let shape = [row_count, values.len() / row_count];
        assert!(row_count >= 200);
        Self {
            encoding,
            rows,
            values,
            shape,
        }
    }

    /// Indices that put all rows in another order, and the plan of their gather.
    pub fn reordered(&self) -> (Vec<i32>, GatherPlan) {
        let [rows, row_len] = self.shape;
        let indices = (0..rows).map(|n| i32::try_from(n * 7 % rows).unwrap());
        let plan = Gather::new().plan(&[rows, row_len], &[rows]).unwrap();
        (indices.collect(), plan)
    }

    /// Compares values gathered by `indices` with gguf-py's. Floats of 16 bits are equal bit for bit; any other NaN may have
    /// any bits.
    #[track_caller]
    pub fn check(&self, indices: &[i32], found: &[f32]) {
        let row_len = self.shape[1];
        assert_eq!(found.len(), indices.len() * row_len);
        let is_exact = matches!(self.encoding, Encoding::F16 | Encoding::Bf16);
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

impl Case {
    /// This case with a row of `len` elements in place of each element of params. `None` for gather_elements, which would
    /// select among them, and for a default axis that counts dims from the end.
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

    /// The samples of this case with a block in place of each element of params; none for a case that cannot be so.
    pub fn encoded_samples(
        &self,
        encoding: Encoding,
        index_kinds: &[IndexKind],
        policies: &[BadIndices],
    ) -> Vec<Sample> {
        let block_len = usize::try_from(encoding.block_len()).unwrap();
        let block_bytes = usize::try_from(encoding.block_bytes()).unwrap();
        let Some(case) = self.with_rows(block_len) else {
            return Vec::new();
        };
        let blocks: usize = self.params_shape.iter().product();
        // Scales are finite: a NaN of a product may have any payload.
        let params: Vec<u8> = pattern(blocks * block_bytes)
            .iter()
            .map(|byte| byte & 0xbf)
            .collect();
        let values = Gather::new().plan(&[blocks, block_len], &[blocks]).unwrap();
        let every = (0..blocks as u64).collect::<Vec<_>>();
        let values = values.run_decoded(encoding, &params, &every).unwrap();
        let slice = |at: Option<usize>, fill: f32| match at {
            Some(at) => values[at * block_len..][..block_len].to_vec(),
            None => vec![fill; block_len],
        };
        let mut samples = Vec::new();
        for &policy in policies {
            let answer = self.replaced_by(policy).as_ref().unwrap_or(self).answer();
            let output = |fill: f32| {
                let slices = answer.elements.iter().flat_map(|&at| slice(at, fill));
                slices.flat_map(f32::to_le_bytes).collect::<Vec<u8>>()
            };
            let first_bad = answer.bad_rows.first();
            let (zeros, filled) = (output(0.0), output(-1.5));
            for sample in self.samples(&[4], index_kinds, &[policy]) {
                let fills = policy == BadIndices::Fill && sample.index_kind == IndexKind::I64;
                samples.push(Sample {
                    plan: case.plan(policy).expect("a valid case"),
                    encoding: Some(encoding),
                    params: params.clone(),
                    output: if fills { filled.clone() } else { zeros.clone() },
                    fill: if fills {
                        (-1.5_f32).to_le_bytes().to_vec()
                    } else {
                        Vec::new()
                    },
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
