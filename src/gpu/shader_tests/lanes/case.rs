//! A gather or a scatter to run, and what its operands hold.

use std::cell::RefCell;
use std::ops::Range;

use crate::Gather;
use crate::element::ElementTypes;
use crate::encoding::{Decoding, Encoded, Encoding, Parts, QPARAMS};
use crate::gpu::cut::{Dispatch, Shard, Shards};
use crate::gpu::fill::{Fill, FillPattern};
use crate::gpu::pass::{Pass, Source};
use crate::gpu::placed::Placed;
use crate::gpu::scatter::Order;
use crate::gpu::shader_tests::oracle::{Slice, Values, slice_of};
use crate::gpu::types::TypedPlan;
use crate::gpu::update::Update;
use crate::gpu::work::{Stage, Work};
use crate::index::IndexKind;
use crate::plan::GatherPlan;
use crate::plan::dims::spanned;

const MOST_DISPATCHES: usize = 1 << 14;

/// A call to run, and the limits to cut it by.
pub(crate) struct Case<'a> {
    pub(crate) plan: GatherPlan,
    pub(crate) types: ElementTypes,
    /// How a scatter through [`GatherPlan::of_updates`] updates; `None` for a gather.
    pub(crate) update: Option<Update>,
    /// How many updates to a row a fold reduces one by one, and how many sums of them a lane takes in one dispatch.
    pub(crate) steps: (u32, u32),
    /// The number of index rows, if the call has a count.
    pub(crate) index_count: Option<u32>,
    pub(crate) has_mask: bool,
    /// The element that bad rows hold, as bytes; `None` for zeros.
    pub(crate) fill: Option<&'a [u8]>,
    /// Params rows in each buffer.
    pub(crate) shard_rows: Vec<u64>,
    /// Bytes from the last aligned offset to where params or the target (in each buffer), indices, and the output or updates start.
    pub(crate) starts: [u64; 3],
    /// As `starts`, for scales and zero points.
    pub(crate) qparam_starts: [u64; 2],
    pub(crate) limits: wgpu::Limits,
    pub(crate) index: Values<'a>,
}

impl<'a> Case<'a> {
    /// A gather with params in one buffer, in one dispatch if 32 bits can count each operand's bytes.
    pub(crate) fn new(plan: GatherPlan, types: ElementTypes, index: Values<'a>) -> Self {
        Self {
            types,
            update: None,
            steps: (1024, 4096),
            index_count: None,
            has_mask: false,
            fill: None,
            shard_rows: vec![plan.dims().params_rows()],
            starts: [0; 3],
            qparam_starts: [0; 2],
            limits: wgpu::Limits {
                max_storage_buffer_binding_size: 1 << 40,
                ..wgpu::Limits::default()
            },
            index,
            plan,
        }
    }

    pub(crate) fn slice_bytes(&self) -> u64 {
        self.plan.dims().slice_len * self.types.element_bytes
    }

    /// An output row's first byte, counted from the last aligned offset.
    pub(crate) fn output_row_at(&self, row: u64) -> u64 {
        self.starts[2] + row * self.plan.dims().output_stride * self.types.element_bytes
    }

    pub(crate) fn fill_pattern(&self) -> FillPattern {
        self.fill.map_or(FillPattern::ZEROS, |fill| {
            let pattern = Fill::new(fill).pattern(self.types.element_bytes);
            pattern.expect("the fill is short")
        })
    }

    /// Calls `run` with the call's work.
    pub(crate) fn with_work<R>(&self, reports: bool, run: impl FnOnce(&Work<'_>) -> R) -> R {
        let [params_start, indices_start, output_start] = self.starts;
        let shard = |&rows: &u64| Shard {
            rows,
            start: params_start,
        };
        let placed = Placed {
            shards: Shards::new(self.shard_rows.iter().map(shard)),
            indices_start,
            output_start,
            qparam_starts: self.qparam_starts.map(Some),
            mask_start: self.has_mask.then_some(0),
            fill: self.fill_pattern(),
            has_report: reports,
            has_index_count: self.index_count.is_some(),
            ..Placed::aligned(&self.plan)
        };
        let typed = self.typed();
        let index_rows = typed.index_rows();
        let work = match &index_rows {
            None => Work::new(typed, None, &placed, &self.limits),
            Some(rows) => Work::scatter_by(self.order(), typed, rows, &placed, &self.limits),
        };
        run(&work.expect("the limits allow it"))
    }

    /// The sort that folds need.
    pub(crate) fn order(&self) -> Option<Order> {
        let bytes = self.typed().bytes;
        let fold = (self.update).filter(|update| matches!(update, Update::Fold(..)))?;
        (bytes.params > 0 && bytes.output > 0).then(|| {
            // A tile of pairs is bound whole, even where the limits of a test bind less.
            let limits = wgpu::Limits {
                max_storage_buffer_binding_size: 1 << 27,
                max_buffer_size: 1 << 27,
                ..self.limits.clone()
            };
            let order = Order::new(self.plan.dims(), fold, &limits);
            let (sum_updates, most_steps) = self.steps;
            (order.expect("few pairs")).with_steps(sum_updates, most_steps)
        })
    }

    /// A gather's dispatches.
    pub(crate) fn dispatches(&self) -> Vec<Dispatch> {
        self.with_work(false, |work| {
            let dispatches: Vec<_> = work.dispatches().take(MOST_DISPATCHES).collect();
            assert!(dispatches.len() < MOST_DISPATCHES, "{}", self.plan);
            dispatches
        })
    }

    /// The pass of one of the dispatches.
    pub(crate) fn pass(&self, dispatch: &Dispatch, reports: bool, is_first: bool) -> Pass {
        self.with_work(reports, |work| {
            work.pass(Stage::Slices, &self.plan, dispatch, is_first)
        })
    }

    /// Where an operand ends: in bytes from the aligned offset from which ranges in it are counted.
    pub(crate) fn end_of(&self, source: Source) -> u64 {
        let TypedPlan { parts, bytes, .. } = self.typed();
        let dims = self.plan.dims();
        let [params_start, indices_start, output_start] = self.starts;
        match source {
            Source::Table(shard) => {
                let rows = self.shard_rows[shard];
                let elements = spanned(rows, dims.params_stride, dims.slice_len);
                params_start + parts.bytes_of(elements)
            }
            Source::Indices => indices_start + bytes.indices,
            Source::Slices => output_start + bytes.output,
            Source::Scales => self.qparam_starts[0] + bytes.qparams[0],
            Source::ZeroPoints => self.qparam_starts[1] + bytes.qparams[1],
            Source::Mask => dims.index_rows(),
            // What is bound whole.
            _ => i64::MAX.unsigned_abs(),
        }
    }

    /// Returns a function from a byte's number in the output row to its right value.
    pub(crate) fn slice(&self, output_row: u64) -> impl Fn(u64) -> u8 {
        let (_, slice) = slice_of(&self.plan, self.index, output_row);
        let (mut shard, mut first) = (0, 0);
        let decoded = RefCell::new((u64::MAX, Vec::new()));
        let whole_row = match slice {
            Slice::Row(row) => row,
            _ => 0,
        };
        if let Slice::Row(mut row) = slice {
            while row >= self.shard_rows[shard] {
                row -= self.shard_rows[shard];
                shard += 1;
            }
            first = self.params_row_at(row);
        }
        move |byte| match slice {
            Slice::Row(_) => match self.types.decodes() {
                None => self.params_byte(shard, first + byte),
                Some(decoding) => {
                    let part_bytes = self.parts().len * self.types.element_bytes;
                    let part = byte / part_bytes;
                    let mut decoded = decoded.borrow_mut();
                    if decoded.0 != part {
                        let first = (shard, first + part * self.parts().bytes);
                        *decoded = (part, self.decoded(decoding, first, whole_row, part));
                    }
                    decoded.1[index_of(byte % part_bytes)]
                }
            },
            Slice::Absent => 0,
            Slice::Bad => self
                .fill
                .map_or(0, |fill| fill[index_of(byte) % fill.len()]),
        }
    }

    /// The first byte of a shard's row, counted from the last aligned offset.
    fn params_row_at(&self, row: u64) -> u64 {
        self.starts[0] + row * self.parts().bytes_of(self.plan.dims().params_stride)
    }

    fn typed(&self) -> TypedPlan<'_> {
        let typed = match self.update {
            None => TypedPlan::new(&self.plan, self.types),
            Some(update) => TypedPlan::of_scatter(&self.plan, self.types, update),
        };
        typed.expect("slices are whole parts")
    }

    fn parts(&self) -> Parts {
        self.typed().parts
    }

    /// The values in one part of a params row, as bytes. The part starts at the shard's byte `first`.
    fn decoded(
        &self,
        Decoding { encoding, to }: Decoding,
        (shard, first): (usize, u64),
        row: u64,
        part: u64,
    ) -> Vec<u8> {
        let parts = self.parts();
        let bytes = (first..first + parts.bytes).map(|at| self.params_byte(shard, at));
        let bytes: Vec<u8> = bytes.collect();
        let qparams: [Option<Vec<u8>>; 2] = [0, 1].map(|operand| {
            let bytes = parts.of_qparam(Some(encoding), QPARAMS[operand]).bytes;
            let row_parts = self.plan.dims().params_stride / parts.len;
            let first = self.qparam_starts[operand] + (row * row_parts + part) * bytes;
            let byte = |at| byte_of(self.qparam_word(operand, at / 4), at);
            (bytes > 0).then(|| (first..first + bytes).map(byte).collect())
        });
        let mut params = Encoded::new(encoding, &bytes[..]);
        params.qparams = qparams.each_ref().map(Option::as_deref);
        let plan = Gather::new().plan(&[1, index_of(parts.len)], &[1]);
        let plan = plan.expect("a valid shape");
        let values = plan.gather_encoded(&params, &[0]).expect("a part");
        let values: Vec<_> = values.into_iter().flat_map(f32::to_le_bytes).collect();
        let rounded = ElementTypes::decoded(Encoding::F32, to, IndexKind::U8);
        plan.gather_bytes(rounded, &values, &[0]).expect("a row")
    }

    /// A word that holds scales, which are finite, or zero points.
    pub(crate) fn qparam_word(&self, operand: usize, word: u64) -> u32 {
        mixed((word << 4) + 7 + operand as u64) & [0xbf7f_bf7f, u32::MAX][operand]
    }

    fn params_byte(&self, shard: usize, at: u64) -> u8 {
        byte_of(self.params_word(shard, at / 4), at)
    }

    /// A word of params. Scales in it are finite, since a product's NaN may have any payload.
    pub(crate) fn params_word(&self, shard: usize, word: u64) -> u32 {
        let finite = match self.types.encoding() {
            None | Some(Encoding::BlockQuantized(_)) => u32::MAX,
            Some(_) => 0xbfbf_bfbf,
        };
        mixed(word << 4 | shard as u64) & finite
    }

    /// The output bytes in a range that a dispatch is to write, with their values; rows in other windows are left out.
    pub(crate) fn expected(
        &self,
        dispatch: &Dispatch,
        bytes: Range<u64>,
    ) -> impl Iterator<Item = (u64, u8)> {
        let stride = self.output_row_at(1) - self.starts[2];
        let rows = bytes.start.saturating_sub(self.starts[2]) / stride
            ..bytes.end.saturating_sub(self.starts[2]).div_ceil(stride);
        rows.flat_map(move |row| {
            let slice = self.slice(row);
            let first = self.output_row_at(row);
            let piece = dispatch.piece..dispatch.piece + dispatch.piece_bytes;
            let piece = match self.is_in(dispatch, row) {
                true => {
                    piece.start.max(bytes.start.saturating_sub(first))
                        ..piece.end.min(bytes.end - first)
                }
                false => 0..0,
            };
            piece.map(move |byte| (first + byte, slice(byte)))
        })
    }

    /// The output's end, counted from the last aligned offset.
    pub(crate) fn output_end(&self) -> u64 {
        self.starts[2] + self.plan.dims().output_len() * self.types.element_bytes
    }

    pub(crate) fn index_word(&self, word: u64) -> u32 {
        let bytes = self.types.index_kind.bytes();
        let word = (0..4).map(|byte| {
            // Bytes outside the values are not 0, so that a test fails if they count.
            let at = (word * 4 + byte).checked_sub(self.starts[1]);
            match at.filter(|at| at / bytes < self.plan.dims().indices_len()) {
                Some(at) => (self.index)(at / bytes).to_le_bytes()[index_of(at % bytes)],
                None => 0x81,
            }
        });
        let word: Vec<u8> = word.collect();
        u32::from_le_bytes(word.try_into().expect("four bytes"))
    }

    /// True if the index count, if any, covers the index row of an output row.
    pub(crate) fn is_counted(&self, output_row: u64) -> bool {
        let n = output_row % self.plan.dims().index_count;
        self.index_count.is_none_or(|count| n < count.into())
    }

    /// The CPU path's output.
    pub(crate) fn on_cpu(&self) -> Vec<u8> {
        let dims = self.plan.dims();
        let mut params = Vec::new();
        for (shard, rows) in self.shard_rows.iter().enumerate() {
            let bytes = 0..rows * self.parts().bytes_of(self.plan.dims().slice_len);
            params.extend(bytes.map(|at| self.params_byte(shard, at)));
        }
        let bytes = dims.indices_len() * self.types.index_kind.bytes();
        let words = (0..bytes.div_ceil(4)).map(|word| self.index_word(word));
        let mut indices: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        indices.truncate(index_of(bytes));
        let output = self.plan.gather_bytes(self.types, &params, &indices);
        output.expect("the policy fills")
    }

    /// True if a dispatch writes an output row: the row is among its output rows, and its window holds the params row. For a bad
    /// or absent row, the block's first row stands for the params row.
    fn is_in(&self, dispatch: &Dispatch, output_row: u64) -> bool {
        let dims = self.plan.dims();
        let row = match slice_of(&self.plan, self.index, output_row) {
            (_, Slice::Row(row)) => row,
            _ => output_row / dims.index_count * dims.held_rows.max(1),
        };
        (dispatch.output_rows.0..dispatch.output_rows.1).contains(&output_row)
            && (dispatch.params_rows.0..dispatch.params_rows.1).contains(&row)
    }
}

pub(crate) fn index_of(number: u64) -> usize {
    usize::try_from(number).expect("tests run where numbers of bytes are indices")
}

pub(crate) fn mixed(number: u64) -> u32 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    u32::try_from((mixed ^ mixed >> 29) >> 32).expect("32 bits are left")
}

/// An output word before the gather.
pub(crate) fn word_before(word: u64) -> u32 {
    mixed(word << 4 | 15)
}

pub(crate) fn byte_of(word: u32, at: u64) -> u8 {
    word.to_le_bytes()[index_of(at % 4)]
}
