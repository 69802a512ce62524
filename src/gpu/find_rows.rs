//! How a kernel finds the row that an index row selects.

use super::types::{WORD_BYTES, size};
use crate::bad_indices::Beyond;
use crate::index::IndexKind;
use crate::plan::GatherPlan;

/// The largest dim, and the most params rows, that the shader counts in one word. As a word, a negative 32-bit index is
/// at least this number, and so is beyond every dim.
const MAX_WORD_ROWS: u64 = 1 << 31;

/// How a kernel finds the row that an index row selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum FindRows {
    /// Index rows of depth 1 or 2 that select among at most 2^31 rows, by indices that are compared without a branch:
    /// shaders/index_rows.wgsl and packed.wgsl. `index_words` are the words of an index value, 0 if a word holds several:
    /// the depth is then 1.
    Words { index_words: u32, depth: u32 },
    /// As `Words`, for index rows of three to eight values, or of two of 8 or 16 bits: they are read one by one.
    Deep,
    /// As `Words`, for a gather_elements of 32 or 64-bit indices, whose output rows are laid out in element dims.
    Elements { index_words: u32 },
    /// All other index rows: shaders/general.wgsl.
    General,
}

impl FindRows {
    /// How the index rows of a plan are found; a dispatch may need `General` all the same.
    pub(crate) fn of_plan(plan: &GatherPlan, index_kind: IndexKind) -> Self {
        let dims = plan.dims();
        let rows = dims.indexed_dims.iter().copied().max().unwrap_or(0);
        let rows = rows.max(dims.row_count).max(dims.params_rows());
        let beyond = plan.bad_indices().beyond();
        if rows > MAX_WORD_ROWS || !matches!(beyond, Beyond::Bad | Beyond::Nearest) {
            return Self::General;
        }
        let index_words = size(index_kind.bytes() / u64::from(WORD_BYTES));
        match (dims.has_element_dims(), dims.index_depth(), index_words) {
            (_, 0, _) | (true, _, 0) => Self::General,
            (true, ..) => Self::Elements { index_words },
            (false, 1, _) => Self::Words {
                index_words,
                depth: 1,
            },
            (false, 2, 1..) => Self::Words {
                index_words,
                depth: 2,
            },
            _ => Self::Deep,
        }
    }

    /// True if index rows are found in words, and are single values of 32 or 64 bits.
    pub(crate) const fn is_one_value(self) -> bool {
        matches!(
            self,
            Self::Words {
                index_words: 1..,
                depth: 1
            }
        )
    }

    /// The file of shaders/ that finds the rows.
    pub(crate) const fn file(self) -> &'static str {
        match self {
            Self::Words { .. } | Self::Deep | Self::Elements { .. } => "index_rows",
            Self::General => "general",
        }
    }

    /// The values of the shader's override constants.
    pub(crate) fn overrides(self) -> Vec<(&'static str, f64)> {
        let (index_words, depth, elements) = match self {
            Self::Words { index_words, depth } => (index_words, depth, 0),
            // The shader extends index values of all types to two words, as it compares those of 64 bits.
            Self::Deep => (2, 0, 0),
            Self::Elements { index_words } => (index_words, 1, 1),
            Self::General => return Vec::new(),
        };
        let values = [index_words, depth, elements].map(f64::from);
        ["INDEX_WORDS", "DEPTH", "ELEMENTS"]
            .into_iter()
            .zip(values)
            .collect()
    }

    /// A name for files and tables.
    #[cfg(test)]
    pub(crate) fn name(self) -> String {
        match self {
            Self::Words { index_words, depth } => format!("w{index_words}-d{depth}"),
            Self::Deep => "deep".to_owned(),
            Self::Elements { index_words } => format!("w{index_words}-elements"),
            Self::General => "general".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gather, GatherElements, GatherNd};

    #[test]
    fn short_index_rows_of_few_rows_are_found_in_words() {
        let find = |plan: Result<GatherPlan, _>, index_kind| {
            FindRows::of_plan(&plan.expect("a valid shape"), index_kind)
        };
        let nd = |params: &[usize]| GatherNd::new().plan(params, &[3, params.len()]);
        let words = |index_words, depth| FindRows::Words { index_words, depth };
        for (index_kind, index_words) in [
            (IndexKind::I8, 0),
            (IndexKind::U8, 0),
            (IndexKind::I16, 0),
            (IndexKind::U16, 0),
            (IndexKind::I32, 1),
            (IndexKind::U32, 1),
            (IndexKind::I64, 2),
            (IndexKind::U64, 2),
        ] {
            assert_eq!(find(nd(&[9]), index_kind), words(index_words, 1));
            let pairs = match index_words {
                0 => FindRows::Deep,
                _ => words(index_words, 2),
            };
            assert_eq!(find(nd(&[9, 9]), index_kind), pairs);
            assert_eq!(find(nd(&[9; 3]), index_kind), FindRows::Deep);
            assert_eq!(find(nd(&[9; 8]), index_kind), FindRows::Deep);
            assert_eq!(find(nd(&[1 << 11; 3]), index_kind), FindRows::General);
            let no_values = GatherNd::new().plan(&[9], &[3, 0]);
            assert_eq!(find(no_values, index_kind), FindRows::General);
        }
        let i64 = IndexKind::I64;
        let gather = |rows: usize| Gather::new().plan(&[rows], &[3]);
        assert_eq!(find(gather(1 << 31), i64), words(2, 1));
        assert_eq!(find(gather((1 << 31) + 1), i64), FindRows::General);
        assert_eq!(find(nd(&[1 << 16, 1 << 15]), i64), words(2, 2));
        assert_eq!(find(nd(&[1 << 16, 1 << 16]), i64), FindRows::General);
        let elements = GatherElements::new().plan(&[9, 8], &[6, 8]);
        assert_eq!(
            find(elements.clone(), i64),
            FindRows::Elements { index_words: 2 }
        );
        assert_eq!(find(elements, IndexKind::U16), FindRows::General);
        let many = GatherElements::new().plan(&[1 << 16, (1 << 15) + 1], &[6, 8]);
        assert_eq!(find(many, i64), FindRows::General);
        use crate::BadIndices::{Clamp, Wrap};
        let policy = |policy| Gather::new().bad_indices(policy).plan(&[9], &[3]);
        assert_eq!(find(policy(Clamp), i64), words(2, 1));
        assert_eq!(find(policy(Wrap), i64), FindRows::General);
    }
}
