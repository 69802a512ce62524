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
    /// Index rows of one to four values that select among at most 2^31 rows, by indices that are compared without a branch:
    /// shaders/index_rows.wgsl, packed_words.wgsl and packed_narrow.wgsl. `index_words` are the words of an index value, 0 if a word holds several:
    /// the depth is then 1.
    Words { index_words: u32, depth: u32 },
    /// As `Words`, for single values of 8 to 32 bits that wrap.
    Wrapped { index_words: u32 },
    /// As `Words`, for index rows of five to eight values, or of two to eight of 8 or 16 bits: they are read one by one.
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
        let index_words = size(index_kind.bytes() / u64::from(WORD_BYTES));
        let wraps = plan.bad_indices().beyond() == Beyond::Remainder;
        match (wraps, dims.has_element_dims(), dims.index_depth()) {
            _ if rows > MAX_WORD_ROWS => Self::General,
            (true, false, 1) if index_words <= 1 => Self::Wrapped { index_words },
            (true, ..) | (_, _, 0) => Self::General,
            (_, true, _) if index_words == 0 => Self::General,
            (_, true, _) => Self::Elements { index_words },
            (_, _, depth @ 1..=4) if index_words > 0 || depth == 1 => Self::Words {
                index_words,
                depth: size(depth as u64),
            },
            _ => Self::Deep,
        }
    }

    /// True if a word holds several of the index values that are found in words.
    pub(crate) const fn is_narrow(self) -> bool {
        matches!(
            self,
            Self::Words { index_words: 0, .. } | Self::Wrapped { index_words: 0 }
        )
    }

    /// True if finding an index row takes so little that a lane finds several.
    pub(crate) const fn is_short(self) -> bool {
        matches!(self, Self::Words { .. } | Self::Wrapped { .. })
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
            Self::General => "general",
            _ => "index_rows",
        }
    }

    /// The name of the file of shaders/ that finds rows for `Packed`, by four index rows at once.
    pub(crate) const fn packed_file(self) -> &'static str {
        if self.is_narrow() {
            "packed_narrow"
        } else {
            "packed_words"
        }
    }

    /// The values of the shader's override constants.
    pub(crate) fn overrides(self) -> Vec<(&'static str, f64)> {
        let (index_words, depth, elements, wraps) = match self {
            Self::Words { index_words, depth } => (index_words, depth, 0, 0),
            Self::Wrapped { index_words } => (index_words, 1, 0, 1),
            // The shader extends index values of all types to two words, as it compares those of 64 bits.
            Self::Deep => (2, 0, 0, 0),
            Self::Elements { index_words } => (index_words, 1, 1, 0),
            Self::General => return Vec::new(),
        };
        let values = [index_words, depth, elements, wraps].map(f64::from);
        ["INDEX_WORDS", "DEPTH", "ELEMENTS", "WRAPS"]
            .into_iter()
            .zip(values)
            .collect()
    }

    /// A name for files and tables.
    #[cfg(test)]
    pub(crate) fn name(self) -> String {
        match self {
            Self::Words { index_words, depth } => format!("w{index_words}-d{depth}"),
            Self::Wrapped { index_words } => format!("w{index_words}-wrapped"),
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
            for depth in 2..=8 {
                let expected = match (index_words, depth) {
                    (1.., 2..=4) => words(index_words, size(depth as u64)),
                    _ => FindRows::Deep,
                };
                assert_eq!(find(nd(&vec![9; depth]), index_kind), expected);
            }
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
        for (index_kind, index_words) in
            [(IndexKind::U8, 0), (IndexKind::I16, 0), (IndexKind::I32, 1)]
        {
            let wrapped = FindRows::Wrapped { index_words };
            assert_eq!(find(policy(Wrap), index_kind), wrapped);
        }
        let pairs = GatherNd::new().bad_indices(Wrap).plan(&[9, 9], &[3, 2]);
        assert_eq!(find(pairs, IndexKind::I32), FindRows::General);
        let elements = GatherElements::new().bad_indices(Wrap);
        let elements = elements.plan(&[9, 8], &[6, 8]);
        assert_eq!(find(elements, IndexKind::I32), FindRows::General);
    }
}
