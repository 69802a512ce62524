//! Scatters with their GPU objects made, ready to be recorded any number of times.

use std::fmt;

use super::buffers::ScatterBuffers;
use crate::error::GatherError;
use crate::gpu::prepared::PreparedGather;
use crate::gpu::report::BadRows;

/// A scatter with its pipelines, uniforms and bind groups made, ready to record. Made by
/// [`Gatherer::prepare_scatter`](crate::Gatherer::prepare_scatter).
///
/// All that [`PreparedGather`] says about recording holds here too.
pub struct PreparedScatter {
    prepared: PreparedGather,
}

impl PreparedScatter {
    pub(crate) const fn new(prepared: PreparedGather) -> Self {
        Self { prepared }
    }

    /// Binds other buffers, for the same plan and the same update: see [`PreparedGather::rebind`].
    ///
    /// # Errors
    ///
    /// The errors of [`PreparedGather::rebind`].
    pub fn rebind(&mut self, buffers: &ScatterBuffers<'_>) -> Result<(), GatherError> {
        let plan = self.prepared.plan().clone();
        self.prepared
            .rebind_typed(&buffers.typed(&plan)?, &buffers.buffers)
    }

    /// Reads the report of this scatter: see [`PreparedGather::bad_rows`].
    ///
    /// # Errors
    ///
    /// The errors of [`BadRows::from_report`].
    pub fn bad_rows(&self, report: &[u8]) -> Result<Option<BadRows>, GatherError> {
        let bad_rows = self.prepared.bad_rows(report)?;
        Ok(bad_rows.map(BadRows::of_scatter))
    }

    /// Records the scatter as one compute pass.
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        self.prepared.encode(encoder);
    }

    /// Records the scatter into the caller's compute pass, and sets the pass's pipeline and bind group 0.
    ///
    /// Each dispatch of a pass sees what the dispatches before it wrote, so the scatter may stand between dispatches of the app.
    pub fn encode_in_pass(&self, pass: &mut wgpu::ComputePass<'_>) {
        self.prepared.encode_in_pass(pass);
    }
}

/// Prints the number of dispatches:
///
/// - one for the scatter; several if the device's limits cut it, the target has shards, or an index count meets several blocks
/// - two more for an assign of several updates whose rows may repeat, and two for a report; each of these is several if the
///   device's limits cut the indices
/// - for a reduction that sorts, as [`explain_scatter_reduce`](crate::GatherPlan::explain_scatter_reduce) counts
/// - with an index count, one more for each dispatch over indices or updates, but none for a sort or a fold; for a mask, one or
///   several
impl fmt::Debug for PreparedScatter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedScatter")
            .field("dispatches", &self.prepared.dispatches())
            .finish()
    }
}
