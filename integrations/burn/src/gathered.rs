//! The output of a gather, and the report of its bad rows.

use std::fmt;

use burn::tensor::Tensor;
use burn::tensor::kind::Basic;
use burn_cubecl::cubecl::client::Client;
use burn_cubecl::cubecl::server::Handle;
use wgpu_gather::{BadRows, GatherPlan, IndexKind, Operand};

use crate::BridgeError;

/// The output of a gather: a burn tensor on the device of its operands. The work is submitted, and may still run.
#[derive(Debug)]
pub struct Gathered<const D: usize, K: Basic> {
    /// The output. Its bad rows hold zeros, or the fill.
    pub tensor: Tensor<D, K>,
    /// The report of bad rows, if the policy is [`BadIndices::Error`](wgpu_gather::BadIndices::Error) and there is an
    /// output to write.
    pub report: Option<Report>,
}

impl<const D: usize, K: Basic> Gathered<D, K> {
    /// The output, after its report is read. Waits for the device if there is a report.
    ///
    /// # Errors
    ///
    /// [`BridgeError::BadIndex`] names the first bad row; [`BridgeError::Burn`] if the report cannot be read.
    pub fn checked(self) -> Result<Tensor<D, K>, BridgeError> {
        let bad = self.report.map(Report::read).transpose()?.flatten();
        bad.map_or(Ok(self.tensor), |bad| Err(bad.first.into()))
    }
}

/// The report of one gather, in burn's memory until it is read.
pub struct Report {
    pub(crate) client: Client,
    pub(crate) handle: Handle,
    pub(crate) plan: GatherPlan,
    pub(crate) index_kind: IndexKind,
}

impl Report {
    /// Waits for the device, and reads the report; `None` if no row was bad.
    ///
    /// # Errors
    ///
    /// [`BridgeError::Burn`] if burn cannot read its memory.
    pub fn read(self) -> Result<Option<BadRows>, BridgeError> {
        let bytes = self.client.read_one(self.handle);
        let bytes = bytes.map_err(|error| BridgeError::burn(Operand::Report, error))?;
        Ok(BadRows::from_report(&self.plan, self.index_kind, &bytes)?)
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Report")
            .field("plan", &self.plan)
            .finish_non_exhaustive()
    }
}
