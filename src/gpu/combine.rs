//! How a pass over bags combines rows. Pure.

use super::find_rows::FindRows;
use super::unit::{Unit, decoding_overrides};

/// How a pass of shaders/bags.wgsl combines rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CombineRows {
    /// True for the blocks of long bags, false for the bags.
    pub(crate) of_blocks: bool,
    /// The unit of params, decoded to `f32`.
    pub(crate) unit: Unit,
    pub(crate) find: FindRows,
    pub(crate) is_max: bool,
    pub(crate) is_weighted: bool,
}

impl CombineRows {
    pub(crate) const fn name(self) -> &'static str {
        if self.of_blocks { "bag_blocks" } else { "bags" }
    }

    pub(crate) fn overrides(self) -> Vec<(&'static str, f64)> {
        let mut overrides = self.find.overrides();
        if let Some(of) = self.unit.decoding() {
            let is_one = matches!(self.unit, Unit::OneDecoded(_));
            overrides.extend(decoding_overrides(of.encoding, is_one));
        }
        overrides.extend([
            ("REDUCE", if self.is_max { 3.0 } else { 0.0 }),
            ("NUMBER", 2.0),
            ("IS_WEIGHTED", f64::from(u8::from(self.is_weighted))),
        ]);
        overrides
    }
}
