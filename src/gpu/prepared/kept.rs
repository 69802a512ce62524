//! Properties of operands that a prepared gather keeps when its buffers change.

use crate::element::ElementTypes;
use crate::encoding::{Encoding, QPARAMS};
use crate::error::GatherError;
use crate::gpu::cut::Shard;
use crate::gpu::fill::FillPattern;
use crate::gpu::operands::Operands;
use crate::gpu::update::Update;
use crate::operand::Operand;

/// Properties of operands that the dispatches depend on. Starts are bytes from the last aligned offset on.
#[derive(PartialEq)]
pub(super) struct Kept {
    pub(super) types: ElementTypes,
    update: Option<Update>,
    fill: FillPattern,
    shards: Vec<Shard>,
    indices_start: u64,
    output_start: u64,
    mask_start: Option<u64>,
    /// Of scales and of zero points.
    qparam_starts: [Option<u64>; 2],
    has_report: bool,
    has_index_count: bool,
    /// True if operands that are read share buffers with those that are written: in the gather, and in the mask.
    are_shared: [bool; 2],
}

impl Kept {
    pub(super) fn of(operands: &Operands<'_>) -> Self {
        Self {
            types: operands.types,
            update: operands.update,
            fill: operands.fill,
            shards: operands.placed_shards(),
            indices_start: operands.start(operands.indices),
            output_start: operands.start(operands.output),
            mask_start: operands.mask.map(|mask| operands.start(mask)),
            qparam_starts: (operands.qparams).map(|range| Some(operands.start(range?))),
            has_report: operands.report.is_some(),
            has_index_count: operands.index_count.is_some(),
            are_shared: [operands.aliased, operands.mask_aliased],
        }
    }

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
        let named = |operand: Operand| match self.update {
            Some(_) => operand.of_scatter(),
            None => operand,
        };
        let start = |operand: Operand, start: u64| {
            let operand = named(operand);
            let property = format!("the bytes of {operand} after an aligned offset");
            (property, start.to_string())
        };
        let given = |operand: Operand, is_given: bool| {
            let value = if is_given { "given" } else { "not given" };
            (operand.to_string(), value.to_owned())
        };
        let fill = self.fill.pattern[..self.fill.words as usize].iter();
        let fill: Vec<_> = fill.map(|word| format!("{word:#010x}")).collect();
        let mut properties = vec![
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
                (self.types.encoding).map_or_else(|| "none".to_owned(), |of| of.to_string()),
            ),
            (
                "the numbers of quantised params".to_owned(),
                (self.types.encoding.and_then(Encoding::block_quantized))
                    .map_or_else(|| "none".to_owned(), |of| format!("{of:?}")),
            ),
            (
                "the update".to_owned(),
                self.update.map_or_else(String::new, |of| of.to_string()),
            ),
            ("the words of the fill".to_owned(), fill.join(" ")),
            (
                format!("the number of {} shards", named(Operand::Params)),
                self.shards.len().to_string(),
            ),
        ];
        for (number, shard) in self.shards.iter().enumerate() {
            let operand = match self.shards.len() {
                1 => Operand::Params,
                _ => Operand::ParamsShard(number),
            };
            let rows = format!("the rows of {}", named(operand));
            properties.push((rows, shard.rows.to_string()));
            properties.push(start(operand, shard.start));
        }
        properties.extend([
            start(Operand::Indices, self.indices_start),
            start(Operand::Output, self.output_start),
            given(Operand::Report, self.has_report),
            given(Operand::IndexCount, self.has_index_count),
            given(Operand::Mask, self.mask_start.is_some()),
            start(Operand::Mask, self.mask_start.unwrap_or(0)),
        ]);
        for (operand, start_of) in QPARAMS.into_iter().zip(self.qparam_starts) {
            properties.extend([
                given(operand, start_of.is_some()),
                start(operand, start_of.unwrap_or(0)),
            ]);
        }
        let of_mask = "a buffer that indices share with the mask";
        let of_gather = match self.update {
            Some(_) => "a buffer that operands share with the target or the report",
            None => "a buffer that operands share with the output or the report",
        };
        for (property, is_shared) in [of_gather, of_mask].into_iter().zip(self.are_shared) {
            let value = if is_shared { "there" } else { "not there" };
            properties.push((property.to_owned(), value.to_owned()));
        }
        properties
    }
}
