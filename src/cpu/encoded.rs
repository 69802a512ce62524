//! Encoded params: the copy loop, which decodes instead of copying.

use super::copy::{Slices, copy_each};
use super::index_rows::SelectedRows;
use crate::encoding::{
    BlockQuantized, Decode, Encoded, Encoding, FloatKind, Output, Parts, QuantizedRow,
};
use crate::memory::{Byte, Pairs, address};
use crate::operand::Operand;
use crate::plan::GatherDims;

/// Encoded params, and the parts in which a slice is decoded. Lengths are in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct EncodedRows<'a> {
    pub(super) rows: &'a [u8],
    /// The float type that rows are decoded to.
    to: FloatKind,
    decoder: Decoder<'a>,
    /// A part in params and in the output. Block decoders take the whole slice at once.
    part: usize,
    part_of_output: usize,
}

#[derive(Debug, Clone, Copy)]
enum Decoder<'a> {
    Rows(Decode, Parts),
    Quantized(QuantizedRows<'a>),
}

/// Scales and zero points beside params. Lengths are in bytes.
#[derive(Debug, Clone, Copy)]
struct QuantizedRows<'a> {
    numbers: BlockQuantized,
    scales: &'a [u8],
    /// Empty if zero points are no operand.
    zero_points: &'a [u8],
    /// How many scales and zero points a row has along the last dim.
    row_scales: usize,
    row_zero_points: usize,
    /// The distance between params rows, in rows along the last dim.
    stride: usize,
}

fn in_memory(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

impl<'a> EncodedRows<'a> {
    pub(super) fn new(
        params: Encoded<&'a [u8]>,
        to: FloatKind,
        parts: Parts,
        dims: &GatherDims,
    ) -> Self {
        let encoding = params.encoding;
        let decoded = match encoding.has_whole_rows() {
            true => parts.len,
            false => dims.slice_len,
        };
        let qparam_bytes = |operand| in_memory(parts.of_qparam(Some(encoding), operand).bytes);
        let decoder = match encoding {
            Encoding::BlockQuantized(numbers) => Decoder::Quantized(QuantizedRows {
                numbers,
                scales: params.qparams[0].unwrap_or_default(),
                zero_points: params.qparams[1].unwrap_or_default(),
                row_scales: qparam_bytes(Operand::Scales),
                row_zero_points: qparam_bytes(Operand::ZeroPoints),
                stride: in_memory(dims.params_stride / parts.len),
            }),
            _ => {
                let decode = encoding.decode().expect("rows with all that they need");
                Decoder::Rows(decode, parts)
            }
        };
        Self {
            rows: params.rows,
            to,
            decoder,
            part: in_memory(parts.bytes_of(decoded)),
            part_of_output: in_memory(decoded.saturating_mul(to.bytes())),
        }
    }

    /// Decodes slices of located rows, as [`copy`](super::copy::copy) copies them.
    pub(super) fn decode(
        &self,
        row_count: u64,
        slices: &Slices,
        rows: &[u64],
        count: usize,
        output: &mut [Byte],
    ) -> usize {
        let mut values = Output::new(self.to);
        match self.decoder {
            Decoder::Rows(decode, of_parts) => {
                let decode_slice = |from: &[u8], to: &mut [Byte]| {
                    let parts = from.chunks_exact(self.part);
                    for (from, to) in parts.zip(to.chunks_exact_mut(self.part_of_output)) {
                        values.store(to, &|first, to| {
                            let blocks = in_memory(of_parts.bytes_of(first as u64));
                            decode(&from[blocks..], first, to);
                        });
                    }
                };
                let (params, bytes) = (self.rows, slices.bytes);
                let pairs = Pairs::new(params, row_count, output, count, bytes);
                let prefetch = |k| slices.prefetch.before(params, rows, k, bytes);
                copy_each(pairs, prefetch, &rows[..count], decode_slice)
            }
            Decoder::Quantized(of) => {
                let of_slice = slices.bytes;
                for (k, output) in (0..count).zip(output.chunks_mut(of_slice.output_stride)) {
                    slices.prefetch.before(self.rows, rows, k, of_slice);
                    match rows.row(k).filter(|&row| row < row_count) {
                        Some(row) => {
                            let output = &mut output[..of_slice.slice];
                            self.decode_quantized(&of, row, &mut values, output);
                        }
                        None => return k,
                    }
                }
                count
            }
        }
    }

    fn decode_quantized(
        &self,
        of: &QuantizedRows<'_>,
        row: u64,
        values: &mut Output,
        output: &mut [Byte],
    ) {
        let first = address(row) * of.stride;
        for (row, to) in (first..).zip(output.chunks_exact_mut(self.part_of_output)) {
            let [numbers, scales, zero_points] = [
                (self.rows, self.part),
                (of.scales, of.row_scales),
                (of.zero_points, of.row_zero_points),
            ]
            .map(|(bytes, of_row)| &bytes[row * of_row..][..of_row]);
            let row = QuantizedRow {
                numbers: of.numbers,
                values: numbers,
                scales,
                zero_points,
            };
            values.store(to, &|first, to| row.decode(first, to));
        }
    }
}
