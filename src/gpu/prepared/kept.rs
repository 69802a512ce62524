//! Properties of operands that a prepared gather keeps when its buffers change.

use crate::element::ElementTypes;
use crate::encoding::{Encoding, QPARAMS};
use crate::error::GatherError;
use crate::gpu::placed::Placed;
use crate::gpu::types::named;
use crate::gpu::work::Scatters;
use crate::operand::Operand;
use crate::plan::ScatterRules;

/// The properties of a call that [`rebind`](super::Prepared::rebind) keeps, beside the plan.
#[derive(PartialEq)]
pub(super) struct Kept {
    pub(super) types: ElementTypes,
    pub(super) scatter: Option<Scatters>,
    pub(super) placed: Placed,
}

impl Kept {
    /// Checks that other operands have the same, and names the first difference.
    pub(super) fn check(&self, other: &Self) -> Result<(), GatherError> {
        if self == other {
            return Ok(());
        }
        let both = self.properties().into_iter().zip(other.properties());
        let (property, kept, found) = both
            .map(|((property, kept), (_, found))| (property, kept, found))
            .find(|(_, kept, found)| kept != found)
            .expect("properties that are equal are of equal operands");
        Err(GatherError::Rebound {
            property,
            expected: kept,
            found,
        })
    }

    /// Each property with its value, as text. Up to the first difference, both sides have the same properties.
    fn properties(&self) -> Vec<(String, String)> {
        let named = |operand: Operand| named(operand, self.scatter.is_some());
        let start = |operand: Operand, start: u64| {
            let operand = named(operand);
            let property = format!("the bytes of {operand} after an aligned offset");
            (property, start.to_string())
        };
        let given = |operand: Operand, is_given: bool| {
            let value = if is_given { "given" } else { "not given" };
            (operand.to_string(), value.to_owned())
        };
        let fill = self.placed.fill.pattern[..self.placed.fill.words as usize].iter();
        let fill: Vec<_> = fill.map(|word| format!("{word:#010x}")).collect();
        let shards: Vec<_> = self.placed.shards.different().collect();
        let operation = match self.scatter {
            None => "gather".to_owned(),
            Some(scatters) => scatters.told(ScatterRules::default()).to_string(),
        };
        let mut properties = vec![
            ("the operation".to_owned(), operation),
            (
                "the bytes of an element".to_owned(),
                self.types.element_bytes.to_string(),
            ),
            (
                "the type of indices".to_owned(),
                self.types.index_kind.to_string(),
            ),
            (
                "the encoding of params".to_owned(),
                (self.types.decoding).map_or_else(|| "none".to_owned(), |of| of.to_string()),
            ),
            (
                "the numbers of quantised params".to_owned(),
                (self.types.encoding().and_then(Encoding::block_quantized))
                    .map_or_else(|| "none".to_owned(), |of| format!("{of:?}")),
            ),
            ("the words of the fill".to_owned(), fill.join(" ")),
            (
                format!("the number of {} shards", named(Operand::Params)),
                shards.len().to_string(),
            ),
        ];
        for (number, shard) in shards.iter().enumerate() {
            let operand = match shards.len() {
                1 => Operand::Params,
                _ => Operand::ParamsShard(number),
            };
            let rows = format!("the rows of {}", named(operand));
            properties.push((rows, shard.rows.to_string()));
            properties.push(start(operand, shard.start));
        }
        properties.extend([
            start(Operand::Indices, self.placed.indices_start),
            start(Operand::Output, self.placed.output_start),
            given(Operand::Report, self.placed.has_report),
            given(Operand::IndexCount, self.placed.has_index_count),
            given(Operand::Mask, self.placed.mask_start.is_some()),
            start(Operand::Mask, self.placed.mask_start.unwrap_or(0)),
        ]);
        for (operand, start_of) in QPARAMS.into_iter().zip(self.placed.qparam_starts) {
            properties.extend([
                given(operand, start_of.is_some()),
                start(operand, start_of.unwrap_or(0)),
            ]);
        }
        let of_mask = "a buffer that indices share with the mask";
        let of_gather = match self.scatter {
            Some(_) => "a buffer that operands share with the target or the report",
            None => "a buffer that operands share with the output or the report",
        };
        for (property, is_shared) in [
            (of_gather, self.placed.aliased),
            (of_mask, self.placed.mask_aliased),
        ] {
            let value = if is_shared { "there" } else { "not there" };
            properties.push((property.to_owned(), value.to_owned()));
        }
        properties
    }
}
