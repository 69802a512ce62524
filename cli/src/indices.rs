//! Indices for a gather: from a file, from a mask's true places, or from the command line.

use wgpu_gather::{GatherPlan, IndexKind, RunError};

use crate::args::{Operation, Run};
use wgpu_gather_cli::arrays::{Array, Dtype, Result, read};

pub struct Indices {
    /// The file or the option that gave them.
    pub source: String,
    pub kind: IndexKind,
    pub shape: Vec<usize>,
    /// Little-endian numbers.
    pub array: Array,
}

/// Evaluates an expression with `$numbers`, the indices as a vector in their own type.
macro_rules! by_index_type {
    ($indices:expr, |$numbers:ident| $value:expr) => {{
        use wgpu_gather::IndexKind;
        macro_rules! of {
            ($number:ty) => {{
                let $numbers = $indices.array.numbers(<$number>::from_le_bytes)?;
                $value
            }};
        }
        match $indices.kind {
            IndexKind::I8 => of!(i8),
            IndexKind::U8 => of!(u8),
            IndexKind::I16 => of!(i16),
            IndexKind::U16 => of!(u16),
            IndexKind::I32 => of!(i32),
            IndexKind::U32 => of!(u32),
            IndexKind::U64 => of!(u64),
            _ => of!(i64),
        }
    }};
}
pub(crate) use by_index_type;

impl Indices {
    /// The indices that the arguments give, into params with `rank` dims.
    pub fn of(args: &Run, rank: usize) -> Result<Self> {
        let Some(path) = &args.indices else {
            return Self::of_rows(args, rank);
        };
        let source = path.display().to_string();
        let array = read(path)?.little_endian();
        let kind = match array.dtype.code() {
            "i1" => IndexKind::I8,
            "u1" => IndexKind::U8,
            "i2" => IndexKind::I16,
            "u2" => IndexKind::U16,
            "i4" => IndexKind::I32,
            "i8" => IndexKind::I64,
            "u4" => IndexKind::U32,
            "u8" => IndexKind::U64,
            "b1" => return Self::of_mask(source, args.operation, &array),
            _ => {
                let found = array.dtype;
                return Err(format!("{source}: indices must be integers, found {found}").into());
            }
        };
        Ok(Self {
            source,
            kind,
            shape: array.shape.clone(),
            array,
        })
    }

    /// The places where a mask is true, like numpy.flatnonzero or, for gather_nd, numpy.argwhere.
    fn of_mask(source: String, operation: Operation, mask: &Array) -> Result<Self> {
        let count = mask.bytes.iter().filter(|&&byte| byte != 0).count();
        let (shape, depth) = match operation {
            Operation::Gather => (vec![count], 1),
            Operation::GatherNd => (vec![count, mask.shape.len()], mask.shape.len()),
            Operation::GatherElements => {
                return Err(
                    format!("{source}: gather_elements takes integers, found a mask").into(),
                );
            }
        };
        let mut places = Vec::new();
        (places.try_reserve_exact(count.saturating_mul(depth)))
            .map_err(|_| format!("{source}: out of memory for {count} places"))?;
        let chosen = mask.bytes.iter().zip(0..).filter(|&(&byte, _)| byte != 0);
        for (_, place) in chosen {
            let first = places.len();
            if operation == Operation::Gather {
                places.push(place);
                continue;
            }
            let mut rest: i64 = place;
            for &dim in mask.shape.iter().rev() {
                let dim = i64::try_from(dim)?;
                places.push(rest % dim);
                rest /= dim;
            }
            places[first..].reverse();
        }
        Self::of_numbers(source, shape, &places)
    }

    /// The indices that `--at` gives.
    fn of_rows(args: &Run, rank: usize) -> Result<Self> {
        let is_matrix = match args.operation {
            Operation::Gather => args.at.len() > 1,
            Operation::GatherNd => true,
            Operation::GatherElements => args.at.len() > 1 || rank == 2,
        };
        let numbers: Vec<i64> = args.at.iter().flat_map(|row| row.0.clone()).collect();
        let shape = match is_matrix {
            true => vec![args.at.len(), numbers.len() / args.at.len()],
            false => vec![numbers.len()],
        };
        Self::of_numbers("--at".to_owned(), shape, &numbers)
    }

    pub fn of_numbers(source: String, shape: Vec<usize>, numbers: &[i64]) -> Result<Self> {
        let mut bytes = Vec::new();
        let size = size_of_val(numbers);
        (bytes.try_reserve_exact(size)).map_err(|_| format!("out of memory for {size} bytes"))?;
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        Ok(Self {
            source,
            kind: IndexKind::I64,
            array: Array {
                dtype: Dtype::from_code("i8").expect("a dtype of NumPy"),
                shape: shape.clone(),
                bytes,
            },
            shape,
        })
    }

    /// For each index row, true if it is out of range.
    pub fn out_of_range(&self, plan: &GatherPlan) -> Result<Vec<bool>> {
        Ok(by_index_type!(self, |numbers| plan.out_of_range(&numbers))?)
    }

    /// The params row that each output row copies, by [`GatherPlan::params_rows`].
    pub fn params_rows(
        &self,
        plan: &GatherPlan,
    ) -> Result<std::result::Result<Vec<Option<usize>>, RunError>> {
        Ok(by_index_type!(self, |numbers| plan.params_rows(&numbers)))
    }
}
