//! Index values: edge values, and pseudo-random choices among them.

use wgpu_gather::IndexKind;

use super::oracle::Case;

/// Values at the ends of a dim and the index kinds, and values that become valid if read as 32 bits or as signed.
pub fn values_around(dim: usize) -> Vec<i128> {
    let (dim, two_to_32) = (dim as i128, 1_i128 << 32);
    #[rustfmt::skip]
    let mut values = vec![
        0, dim - 1, dim, dim + 1, -1, -dim, -dim - 1,
        -129, -128, 127, 128, 255, 256, 1 << 15, -(1 << 15), (1 << 15) - 1, (1 << 16) - 1, 1 << 16,
        i128::from(i32::MIN), i128::from(i32::MAX), 1 << 30, (1 << 30) + 1, 1 << 31, 3 << 30,
        two_to_32 - dim, two_to_32 - 1, two_to_32, two_to_32 + 1, two_to_32 + dim - 1,
        -two_to_32, -two_to_32 + 1, -two_to_32 - 1, i128::from(i64::MIN), i128::from(i64::MIN) + 1,
        i128::from(i64::MAX), 1 << 63, (1 << 64) - dim, i128::from(u64::MAX),
    ];
    values.sort_unstable();
    values.dedup();
    values
}

/// The 32- and 64-bit index kinds.
pub const WIDE: [IndexKind; 4] = [
    IndexKind::I32,
    IndexKind::U32,
    IndexKind::I64,
    IndexKind::U64,
];

/// Evaluates an expression in which `$index` is an index kind's type.
#[macro_export]
macro_rules! of_index_type {
    ($kind:expr, $index:ident => $result:expr) => {
        $crate::of_index_type!(@ $kind, $index => $result,
            I8 i8, U8 u8, I16 i16, U16 u16, I32 i32, U32 u32, I64 i64, U64 u64)
    };
    (@ $kind:expr, $index:ident => $result:expr, $($name:ident $type:ty),*) => {
        match $kind {
            $(wgpu_gather::IndexKind::$name => {
                type $index = $type;
                $result
            })*
            kind => panic!("no {kind} here"),
        }
    };
}

/// True if the index kind can hold the value.
pub fn holds(kind: IndexKind, value: i128) -> bool {
    of_index_type!(kind, I => I::try_from(value).is_ok())
}

impl Case {
    /// Chooses indices that all of `kinds` can hold. In half the cases, all indices are in range, unless a dim is 0; in the
    /// others, one in eight is one of [`values_around`]. The shapes must be valid.
    pub fn fill(&mut self, kinds: &[IndexKind], hash: &mut Hash) {
        let dims = self
            .op
            .indexed_dims(&self.params_shape, &self.indices_shape);
        let bad_values = hash.below(2) == 1;
        self.indices = (0..self.indices_shape.iter().product())
            .map(|place| {
                let dim = dims[place % dims.len()];
                if dim == 0 || bad_values && hash.below(8) == 0 {
                    let mut values = values_around(dim);
                    values.retain(|&value| kinds.iter().all(|&kind| holds(kind, value)));
                    return values[hash.below(values.len())];
                }
                let position = hash.below(dim) as i128;
                let signed = kinds.iter().all(|&kind| holds(kind, -1));
                if self.from_end && signed && hash.below(2) == 0 {
                    position - dim as i128
                } else {
                    position
                }
            })
            .collect();
    }
}

/// A pseudo-random generator: equal seeds give equal numbers.
#[derive(Debug)]
pub struct Hash(u64);

impl Hash {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A generator seeded by a case.
    pub fn of(case: &Case) -> Self {
        let text = format!("{case:?}");
        // FNV-1a
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(hash)
    }

    /// The next number, which is below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        // SplitMix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        usize::try_from((u128::from(bits) * end as u128) >> 64).expect("below end")
    }
}
