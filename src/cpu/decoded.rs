//! Gathers from encoded params.

use super::operands::{Operands, Params};
use crate::encoding::{Encoded, Float};
use crate::error::RunError;
use crate::index::Index;
use crate::plan::{GatherPlan, With};

impl GatherPlan {
    /// As [`gather`](Self::gather), but `params` is encoded, and the selected rows are decoded: to `f32`, or to halves by
    /// [`Encoded::to`]. Bad rows that are filled hold 0.
    ///
    /// The plan's shapes count values. Along the last dim of params, a slice and a [stride](Self::with_params_stride) must be
    /// whole blocks. For `RowWise8`, `RowWise4` and `BlockQuantized` they must be whole rows.
    ///
    /// # Errors
    ///
    /// As [`gather`](Self::gather), but a wrong length of `params`, scales or zero points is [`RunError::ByteLength`]. [`PlanError::CutBlock`](crate::PlanError::CutBlock) if the
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
    /// let rows = plan.gather_encoded(&table, &[1, 0, 1])?;
    /// assert_eq!([rows[0], rows[32], rows[64]], [-0.5, 3.0, -0.5]);
    ///
    /// let cut = Gather::new().plan(&[2, 48], &[3])?.gather_encoded(&table, &[1, 0, 1]);
    /// let text = "the last dim of params must be whole blocks of Q8_0, of 32 values each, found 48";
    /// assert_eq!(cut.unwrap_err().to_string(), text);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gather_encoded<T: Float, I: Index>(
        &self,
        params: &Encoded<impl AsRef<[u8]>, T>,
        indices: &[I],
    ) -> Result<Vec<T>, RunError> {
        self.fill(T::default()).gather_encoded(params, indices)
    }

    /// As [`gather_encoded`](Self::gather_encoded), but into `output` instead of a new vector.
    ///
    /// # Errors
    ///
    /// As [`gather_encoded`](Self::gather_encoded), and an `output` whose length is not the plan's. After an error about bad rows,
    /// what `output` holds is unspecified.
    ///
    /// # Examples
    ///
    /// ```
    /// use wgpu_gather::{Encoded, Encoding, Gather};
    ///
    /// let halves = Encoded::new(Encoding::F16, [0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0xff, 0x7b]);
    /// let mut output = [0.0; 2];
    /// Gather::new().plan(&[2, 2], &[1])?.gather_encoded_into(&halves, &[0], &mut output)?;
    /// assert_eq!(output, [1.0, -2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gather_encoded_into<T: Float, I: Index>(
        &self,
        params: &Encoded<impl AsRef<[u8]>, T>,
        indices: &[I],
        output: &mut [T],
    ) -> Result<(), RunError> {
        self.fill(T::default())
            .gather_encoded_into(params, indices, output)
    }
}

impl<T: Float> With<'_, T> {
    /// As [`GatherPlan::gather_encoded`], with the fill in the slices of bad rows.
    ///
    /// # Errors
    ///
    /// As [`GatherPlan::gather_encoded`].
    pub fn gather_encoded<I: Index>(
        &self,
        params: &Encoded<impl AsRef<[u8]>, T>,
        indices: &[I],
    ) -> Result<Vec<T>, RunError> {
        let (zero, fill) = ([T::default()], self.fills());
        self.plan
            .gather_operands(&operands(self.plan, params, indices, &zero, &fill)?)
    }

    /// As [`GatherPlan::gather_encoded_into`], with the fill in the slices of bad rows.
    ///
    /// # Errors
    ///
    /// As [`GatherPlan::gather_encoded_into`].
    pub fn gather_encoded_into<I: Index>(
        &self,
        params: &Encoded<impl AsRef<[u8]>, T>,
        indices: &[I],
        output: &mut [T],
    ) -> Result<(), RunError> {
        let (zero, fill) = ([T::default()], self.fills());
        let operands = operands(self.plan, params, indices, &zero, &fill)?;
        self.plan.check_output_length(output.len())?;
        self.plan.gather_operands_into(&operands, output)
    }
}

/// The operands, whose lengths are checked.
fn operands<'a, T: Float, I: Index>(
    plan: &GatherPlan,
    params: &'a Encoded<impl AsRef<[u8]>, T>,
    indices: &'a [I],
    zero: &'a [T],
    fill: &'a [T],
) -> Result<Operands<'a, T>, RunError> {
    let params = params.map(AsRef::as_ref);
    let parts = plan.check_encoded(&params.map(|of| of.len()))?;
    plan.check_indices_length(indices.len())?;
    Ok(Operands {
        element_bytes: size_of::<T>(),
        parts,
        params: Params::Encoded(params, T::KIND),
        indices: I::values(indices),
        zero,
        fill,
    })
}
