//! A plan in words: what a gather will move and run on a device with these limits.

use std::fmt::Write;

use super::cut::{Cut, Dispatch};
use super::kernel::{BadRowsTo, EntryPoint, GROUP_ROWS, Unit, WORKGROUP_SIZE};
use super::window::{OperandBytes, check_limits};
use crate::bad_indices::BadIndices;
use crate::element::IndexKind;
use crate::error::GatherError;
use crate::plan::GatherPlan;

/// Dispatches are counted this far.
const MAX_SHOWN: usize = 1000;

impl GatherPlan {
    /// Says in a few lines what the GPU will run for elements of `element_bytes` bytes: the sizes, the bytes
    /// moved, the kernel and its dispatch, or why it cannot run within `limits`. On a CPU that poses as a GPU the
    /// kernel may be another one than on a GPU.
    ///
    /// ```
    /// use wgpu_gather::{GatherNd, IndexKind, wgpu};
    ///
    /// let plan = GatherNd::new().plan(&[1000, 64], &[300, 1])?;
    /// let (limits, gpu) = (wgpu::Limits::default(), wgpu::DeviceType::DiscreteGpu);
    /// let text = plan.explain(4, IndexKind::I32, &limits, gpu);
    /// assert_eq!(
    ///     text,
    ///     "gather_nd params [1000,64], indices [300,1], batch_dims 0 -> output [300,64]\n\
    ///      300 slices of 256 bytes out of 1000 rows; params 256000 bytes, indices 1200 bytes (i32), output 76800 bytes\n\
    ///      moves 154800 bytes: reads 1200 of indices and at most 76800 of params, writes 76800\n\
    ///      kernel gather_vec4: units of 16 bytes, 4 invocations a slice\n\
    ///      1 dispatch of 19 x 1 workgroups of 64 invocations"
    /// );
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    #[must_use]
    pub fn explain(
        &self,
        element_bytes: u64,
        index_kind: IndexKind,
        limits: &wgpu::Limits,
        device_type: wgpu::DeviceType,
    ) -> String {
        let mut text = self.to_string();
        if let Err(error) =
            self.explain_into(&mut text, element_bytes, index_kind, limits, device_type)
        {
            let _ = write!(text, "\ncannot run: {error}");
        }
        text
    }

    fn explain_into(
        &self,
        text: &mut String,
        element_bytes: u64,
        index_kind: IndexKind,
        limits: &wgpu::Limits,
        device_type: wgpu::DeviceType,
    ) -> Result<(), GatherError> {
        if element_bytes == 0 {
            return Err(GatherError::ZeroSizedElement);
        }
        let dims = self.dims();
        let bytes = OperandBytes::new(dims, element_bytes, index_kind)?;
        let OperandBytes {
            params,
            indices,
            output,
        } = bytes;
        let mut line = |line: String| text.push_str(&format!("\n{line}"));
        line(format!(
            "{} of {} bytes out of {}; params {params} bytes, indices {indices} bytes ({index_kind}), \
             output {output} bytes",
            count(dims.output_rows(), "slice"),
            u128::from(dims.slice_len) * u128::from(element_bytes),
            count(dims.params_rows(), "row"),
        ));
        let rows = [dims.params_rows()];
        let cut = Cut::new(
            dims,
            element_bytes,
            index_kind.bytes(),
            &rows,
            limits,
            device_type,
        )?;
        let report = self.bad_indices() == BadIndices::Error;
        let report_bad_rows = EntryPoint::ReportBadRows.name();
        let dispatches = cut.dispatches_with(report).filter(Dispatch::gathers);
        let dispatches: Vec<_> = dispatches.take(MAX_SHOWN + 1).collect();
        let Some(first) = dispatches.first() else {
            line("empty output: nothing to gather".into());
            if report {
                check_limits(limits, report, false)?;
                line(format!("{report_bad_rows} alone: 1 invocation"));
            }
            return Ok(());
        };
        check_limits(limits, report, false)?;
        line(format!(
            "moves {} bytes: reads {indices} of indices and at most {output} of params, writes {output}",
            u128::from(indices) + 2 * u128::from(output),
        ));
        let unit = cut.kernel.unit;
        let grouped = first.grouped;
        let bad_rows = first.bad_rows_to(report);
        let entry_point = EntryPoint::Gather {
            unit,
            rows: cut.kernel.rows(grouped),
            bad_rows,
        };
        let entry_point = entry_point.name();
        line(match (unit, cut.kernel) {
            (Unit::Byte, _) => {
                format!("kernel {entry_point}: single bytes, 1 invocation for 4 of them")
            }
            (unit, kernel) => {
                let share = match u64::from(kernel.groups) * GROUP_ROWS {
                    slices if grouped => format!("{slices} slices an invocation"),
                    _ => format!("{} a slice", count(1 << kernel.lanes_log2, "invocation")),
                };
                format!(
                    "kernel {entry_point}: units of {} bytes, {share}",
                    unit.bytes()
                )
            }
        });
        let (width, height) = first.workgroups;
        let size = format!("{width} x {height} workgroups of {WORKGROUP_SIZE} invocations");
        line(match dispatches.len() {
            1 => format!("1 dispatch of {size}"),
            number if number <= MAX_SHOWN => format!("{number} dispatches, the first of {size}"),
            _ => format!("more than {MAX_SHOWN} dispatches, the first of {size}"),
        });
        match bad_rows {
            BadRowsTo::Nowhere => {}
            BadRowsTo::Notes => line(format!("behind each {report_bad_rows}: 1 invocation")),
            BadRowsTo::Report => line("the last invocation to end writes the report".into()),
        }
        Ok(())
    }
}

/// "1 row", "2 rows".
fn count(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}
