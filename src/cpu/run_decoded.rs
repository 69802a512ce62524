//! `GatherPlan::run_decoded`, and its calls with an output: they gather from encoded params.

use super::operands::{Operands, Params};
use crate::encoding::Encoded;
use crate::error::RunError;
use crate::index::GatherIndex;
use crate::plan::GatherPlan;

impl GatherPlan {
    /// As [`run`](Self::run), but `params` is encoded, and the selected rows are decoded to `f32`. Bad rows that are filled hold 0.
    ///
    /// The plan's shapes count values. Along the last dim of params, a slice and a [stride](Self::with_params_stride) must be
    /// whole blocks. For `RowWise8`, `RowWise4` and `BlockQuantized` they must be whole rows.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run), but a wrong length of `params`, scales or zero points is [`RunError::ByteLength`]. [`RunError::Block`] if the
    /// plan cuts blocks, as `GatherElements` does.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{Encoded, Encoding, Gather};
    ///
    /// // A table of two rows of 32 values: a scale, 1.0 and 0.5 as half floats, and 32 signed bytes.
    /// let row = |scale: [u8; 2], value: u8| [&scale[..], &[value; 32][..]].concat();
    /// let table = [row([0x00, 0x3c], 3), row([0x00, 0x38], 0xff)].concat();
    /// let table = Encoded::new(Encoding::Q8_0, table);
    /// let plan = Gather::new().plan(&[2, 32], &[3])?;
    /// let rows = plan.run_decoded(&table, &[1, 0, 1])?;
    /// assert_eq!([rows[0], rows[32], rows[64]], [-0.5, 3.0, -0.5]);
    ///
    /// let cut = Gather::new().plan(&[2, 48], &[3])?.run_decoded(&table, &[1, 0, 1]);
    /// let text = "the last dim of params must be whole blocks of Q8_0, of 32 values each, found 48";
    /// assert_eq!(cut.unwrap_err().to_string(), text);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_decoded<I: GatherIndex>(
        &self,
        params: &Encoded<impl AsRef<[u8]>>,
        indices: &[I],
    ) -> Result<Vec<f32>, RunError> {
        self.run_with(&self.decoded_operands(params, indices, &[0.0])?)
    }

    /// As [`run_decoded`](Self::run_decoded), but into `output` instead of a new vector.
    ///
    /// # Errors
    ///
    /// As [`run_decoded`](Self::run_decoded), and an `output` whose length is not the plan's. After an error about bad rows,
    /// what `output` holds is unspecified.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{Encoded, Encoding, Gather};
    ///
    /// let halves = Encoded::new(Encoding::F16, [0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0xff, 0x7b]);
    /// let mut output = [0.0; 2];
    /// Gather::new().plan(&[2, 2], &[1])?.run_decoded_into(&halves, &[0], &mut output)?;
    /// assert_eq!(output, [1.0, -2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_decoded_into<I: GatherIndex>(
        &self,
        params: &Encoded<impl AsRef<[u8]>>,
        indices: &[I],
        output: &mut [f32],
    ) -> Result<(), RunError> {
        self.run_decoded_into_with_fill(params, indices, 0.0, output)
    }

    /// As [`run_decoded_into`](Self::run_decoded_into), but with `fill` in the slices of bad rows.
    ///
    /// # Errors
    ///
    /// As [`run_decoded_into`](Self::run_decoded_into).
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{BadIndices, Encoded, Encoding, Gather};
    ///
    /// let plan = Gather::new().bad_indices(BadIndices::Fill).plan(&[2, 2], &[2])?;
    /// let halves = Encoded::new(Encoding::F16, [0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0xff, 0x7b]);
    /// let mut output = [0.0; 4];
    /// plan.run_decoded_into_with_fill(&halves, &[7, 0], -1.0, &mut output)?;
    /// assert_eq!(output, [-1.0, -1.0, 1.0, -2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_decoded_into_with_fill<I: GatherIndex>(
        &self,
        params: &Encoded<impl AsRef<[u8]>>,
        indices: &[I],
        fill: f32,
        output: &mut [f32],
    ) -> Result<(), RunError> {
        let fill = [fill];
        let operands = self.decoded_operands(params, indices, &fill)?;
        self.check_output_length(output.len())?;
        self.run_into_with(&operands, output)
    }

    /// The operands, whose lengths are checked.
    fn decoded_operands<'a, I: GatherIndex>(
        &self,
        params: &'a Encoded<impl AsRef<[u8]>>,
        indices: &'a [I],
        fill: &'a [f32],
    ) -> Result<Operands<'a, f32>, RunError> {
        let params = params.map(AsRef::as_ref);
        let parts = self.check_encoded(&params.map(|of| of.len()))?;
        self.check_indices_length(indices.len())?;
        Ok(Operands {
            element_bytes: size_of::<f32>(),
            parts,
            params: Params::Encoded(params),
            indices: I::values(indices),
            zero: &[0.0],
            fill,
        })
    }
}
