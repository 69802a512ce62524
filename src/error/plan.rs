//! The error of shapes, attributes and types, before there are data.

use super::bad_index::join;
use crate::operand::Operand;

/// Why shapes or attributes make no plan, why a plan does not serve a call, or why a name is no attribute.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the texts say what the fields are")]
pub enum PlanError {
    /// gather_nd counts batch dims from the front only.
    #[error("gather_nd does not allow negative batch_dims, found {batch_dims}")]
    BatchDimsNegative { batch_dims: i64 },
    /// gather's batch_dims lies outside `-rank(indices)..=rank(indices)`.
    #[error(
        "batch_dims must be in [-{indices_rank}, {indices_rank}] for indices of rank {indices_rank}, found {batch_dims}"
    )]
    BatchDimsOutOfRange {
        batch_dims: i64,
        indices_rank: usize,
    },
    /// The last dim of gather_nd's indices holds the values of an index row, so it cannot be a batch dim.
    #[error("batch_dims must be less than rank(indices) = {indices_rank}, found {batch_dims}")]
    BatchDimsNotBelowIndicesRank {
        batch_dims: u64,
        indices_rank: usize,
    },
    /// Params needs a dim after its batch dims.
    #[error("batch_dims must be less than rank(params) = {params_rank}, found {batch_dims}")]
    BatchDimsNotBelowParamsRank { batch_dims: u64, params_rank: usize },
    /// The axis is one of the batch dims.
    #[error("batch_dims must be less than or equal to axis = {axis}, found {batch_dims}")]
    BatchDimsAboveAxis { batch_dims: usize, axis: usize },
    /// The operands' batch dims differ.
    #[error(
        "batch dims must be equal: params.shape[{dim}] = {params_dim}, indices.shape[{dim}] = {indices_dim}"
    )]
    BatchDimsUnequal {
        dim: usize,
        params_dim: usize,
        indices_dim: usize,
    },
    /// Params has no dim to index.
    #[error("params must be at least a vector")]
    ParamsScalar,
    /// gather_nd's indices has no last dim.
    #[error("indices must be at least a vector")]
    IndicesScalar,
    /// An index row has more values than params has dims from the axis on. Unless you give it, gather_nd's axis is batch_dims.
    #[error(
        "index depth (the last dim of indices) must be at most {max}, the dims of params from the axis on, found {index_depth}"
    )]
    IndexDepthAboveRank { index_depth: usize, max: usize },
    /// An index row has more values than this crate handles.
    #[error("index depth (the last dim of indices) must be at most 8, found {index_depth}")]
    IndexDepthAboveLimit { index_depth: usize },
    /// A dim differs in params and in gather_elements' indices, and is 1 in neither, so they do not broadcast.
    #[error(
        "dims must be equal or 1 to broadcast, found params.shape[{dim}] = {params_dim} and indices.shape[{dim}] = {indices_dim}"
    )]
    DimsNotBroadcast {
        dim: usize,
        params_dim: usize,
        indices_dim: usize,
    },
    /// Rows with this stride would overlap.
    #[error("{operand} stride must be at least the slice's {slice_len} elements, found {stride}")]
    StrideBelowSlice {
        operand: Operand,
        slice_len: u64,
        stride: u64,
    },
    /// The rows with their gaps have more elements than this crate counts.
    #[error(
        "{operand} must have at most {limit} elements, found {rows} rows with a stride of {stride}"
    )]
    StrideTooLong {
        operand: Operand,
        rows: u64,
        stride: u64,
        limit: u64,
    },
    /// The axis is not a dim of params.
    #[error("axis{} must be in [-{params_rank}, {params_rank}) for params of rank {params_rank}, found {axis}",
        if *.given { "" } else { " (not given, so batch_dims)" })]
    AxisOutOfRange {
        axis: i64,
        given: bool,
        params_rank: usize,
    },
    /// gather_elements needs indices with params' rank.
    #[error("indices must have the rank of params = {params_rank}, found {indices_rank}")]
    RanksUnequal {
        params_rank: usize,
        indices_rank: usize,
    },
    /// A dim other than the axis is larger in gather_elements' indices than in params.
    #[error(
        "indices.shape[{dim}] must be at most params.shape[{dim}] = {params_dim}, found {indices_dim}"
    )]
    IndicesDimAboveParams {
        dim: usize,
        params_dim: usize,
        indices_dim: usize,
    },
    /// An index row can select nothing in params without elements. The text is TensorFlow's.
    #[error("Requested more than 0 entries, but params is empty.  Params shape: [{}]", join(.params_shape, ","))]
    EmptyParams { params_shape: Vec<usize> },
    /// A shard holds rows that params does not have.
    #[error("shard must lie within rows 0..{row_count}, found {start}..{end}")]
    ShardOutOfRange {
        start: u64,
        end: u64,
        row_count: u64,
    },
    /// The text is none of the names that `Display` prints and `FromStr` reads.
    #[error("{of} must be one of {}, found {found:?}", join(.names, ", "))]
    UnknownName {
        of: &'static str,
        names: &'static [&'static str],
        found: String,
    },
    /// A tensor's non-zero dims multiply to more than `limit`: `i64::MAX`; `usize::MAX` if addresses have 32 bits; `isize::MAX` for
    /// an ndarray array.
    #[error("{operand} must have at most {limit} elements, found shape [{}]", join(.shape, ","))]
    TooManyElements {
        operand: Operand,
        shape: Vec<usize>,
        limit: u64,
    },
    /// A scatter through this plan has no meaning: broadcasting stretches a dim of 1 in the target, so that several updates
    /// stand for one element. Make a plan whose params have the whole dim.
    #[error(
        "target must not be stretched by broadcasting: its dim {dim} must be {size} in a scatter, found 1"
    )]
    StretchedTarget { dim: usize, size: usize },
    /// A scatter to rows of the encoding that is named.
    #[error("target must hold elements, found rows of {encoding}: a scatter encodes nothing")]
    EncodedTarget { encoding: String },
    /// `part` is not whole blocks of the encoding: the last dim of params, along which blocks lie, the slices, or the params
    /// stride. For `RowWise8`, `RowWise4` and `BlockQuantized`, slices and stride must be whole rows of the last dim.
    #[error("{part} must be whole blocks of {encoding}, of {block_len} values each, found {found}")]
    CutBlock {
        part: &'static str,
        encoding: String,
        block_len: u64,
        found: u64,
    },
    /// gather_elements takes no encoded params, not even with blocks of one value.
    #[error(
        "gather_elements must not have params of {encoding}, in blocks of {block_len}: its slices have {found}"
    )]
    EncodedElements {
        encoding: String,
        block_len: u64,
        found: u64,
    },
    /// Bags are of rows along the first axis of whole params, and leave no gaps in the output. `part` is what the plan has otherwise.
    #[error("a plan for bags must have {part} {expected}, found {found}")]
    Bags {
        part: &'static str,
        expected: u64,
        found: u64,
    },
    /// Quantised values cannot have `found` bits.
    #[error("quantised values must have 2, 4 or 8 bits, found {found}")]
    QuantizedBits { found: u32 },
    /// Quantised blocks cannot have `found` values.
    #[error("quantised blocks must have 16, 32, 64, 128 or 256 values, found {found}")]
    QuantizedBlockLen { found: u64 },
}
