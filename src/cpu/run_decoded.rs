//! `GatherPlan::run_decoded` and `run_decoded_into`: gathers of encoded params.

use super::operands::{HostOperands, HostParams};
use crate::encoding::{Encoded, Encoding};
use crate::error::RunError;
use crate::index::GatherIndex;
use crate::plan::GatherPlan;

impl GatherPlan {
    /// As [`run`](Self::run), but decodes rows of `params` that are encoded. Bad rows that are filled hold 0.
    ///
    /// The plan counts values. A slice, and a [stride](Self::with_params_stride) of params, is whole blocks of the encoding
    /// along the last dim of params, or whole rows of it if the encoding has scales for whole rows or in an operand of their own.
    /// `params` has [`row_bytes`](Encoding::row_bytes) bytes for each row of the last dim. Scales and zero points that lie apart
    /// are given as [`Encoded`].
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run), with the lengths of `params`, scales and zero points in bytes, and [`RunError::Block`]
    /// for a plan that cuts blocks, as one of `GatherElements` does.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{Encoding, Gather};
    ///
    /// // A table of two rows of 32 values: a scale, 1.0 and 0.5 as half floats, and 32 signed bytes.
    /// let row = |scale: [u8; 2], value: u8| [&scale[..], &[value; 32][..]].concat();
    /// let table = [row([0x00, 0x3c], 3), row([0x00, 0x38], 0xff)].concat();
    /// let plan = Gather::new().plan(&[2, 32], &[3])?;
    /// let rows = plan.run_decoded(Encoding::Q8_0, &table, &[1, 0, 1])?;
    /// assert_eq!([rows[0], rows[32], rows[64]], [-0.5, 3.0, -0.5]);
    ///
    /// let cut = Gather::new().plan(&[2, 48], &[3])?.run_decoded(Encoding::Q8_0, &table, &[1, 0, 1]);
    /// let text = "the last dim of params must be whole blocks of Q8_0, of 32 values each, found 48";
    /// assert_eq!(cut.unwrap_err().to_string(), text);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_decoded<'a, I: GatherIndex>(
        &self,
        encoding: Encoding,
        params: impl Into<Encoded<&'a [u8]>>,
        indices: &[I],
    ) -> Result<Vec<f32>, RunError> {
        let params = params.into();
        self.check_encoded_lengths(encoding, &params.map(|of| of.len()), indices.len())?;
        self.run_with(&encoded_operands(encoding, params, indices, &[0.0]))
    }

    /// As [`run_decoded`](Self::run_decoded), but into `output`, and with `fill` in the slices of bad rows.
    ///
    /// # Errors
    ///
    /// The errors of [`run_decoded`](Self::run_decoded), and an `output` of another length than the plan's. After the error
    /// of bad rows the contents of `output` are unspecified.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{BadIndices, Encoding, Gather};
    ///
    /// let plan = Gather::new().bad_indices(BadIndices::Fill).plan(&[2, 2], &[2])?;
    /// let halves = [0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0xff, 0x7b];
    /// let mut output = [0.0; 4];
    /// plan.run_decoded_into(Encoding::F16, &halves, &[7, 0], -1.0, &mut output)?;
    /// assert_eq!(output, [-1.0, -1.0, 1.0, -2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_decoded_into<'a, I: GatherIndex>(
        &self,
        encoding: Encoding,
        params: impl Into<Encoded<&'a [u8]>>,
        indices: &[I],
        fill: f32,
        output: &mut [f32],
    ) -> Result<(), RunError> {
        let params = params.into();
        self.check_encoded_lengths(encoding, &params.map(|of| of.len()), indices.len())?;
        self.check_output_length(output.len())?;
        self.run_into_with(
            &encoded_operands(encoding, params, indices, &[fill]),
            output,
        )
    }
}

fn encoded_operands<'a, I: GatherIndex>(
    encoding: Encoding,
    params: Encoded<&'a [u8]>,
    indices: &'a [I],
    fill: &'a [f32],
) -> HostOperands<'a, f32> {
    HostOperands {
        element_bytes: size_of::<f32>(),
        params: HostParams::Encoded(params, encoding),
        indices: I::values(indices),
        zero: &[0.0],
        fill,
    }
}
