//! A row in the guide's tables: another library's call, its equal here, and calls with their outputs.

use wgpu_gather::{BadIndices, Gather, GatherElements, GatherNd, GatherPlan, NegativeIndices};

pub struct Row {
    pub there: &'static str,
    pub here: Here,
    pub calls: Vec<Call>,
}

/// The column `here`: an operation and its attributes.
#[derive(Clone, Copy)]
pub enum Here {
    Gather(Option<i64>, i64, NegativeIndices, BadIndices),
    GatherNd(i64, NegativeIndices, BadIndices),
    /// An axis, without batch dims.
    GatherNdAt(i64, NegativeIndices, BadIndices),
    GatherElements(i64, NegativeIndices, BadIndices),
    /// With broadcasting.
    Broadcast(i64, NegativeIndices, BadIndices),
}

/// One call and its output. Without an output, a bad index is expected.
pub struct Call {
    pub params: Array<f32>,
    pub indices: Array<i64>,
    pub fill: f32,
    pub output: Option<Array<f32>>,
    /// The mask of bad rows, if the other library has one.
    pub mask: Option<&'static [bool]>,
}

/// Shape and values.
pub type Array<T> = (&'static [usize], &'static [T]);

pub const TENS: Array<f32> = (
    &[4, 3],
    &[0., 1., 2., 10., 11., 12., 20., 21., 22., 30., 31., 32.],
);
pub const ONE_TO_FIVE: Array<f32> = (&[5], &[1., 2., 3., 4., 5.]);
pub const ONE_TO_SIX: Array<f32> = (&[3, 2], &[1., 2., 3., 4., 5., 6.]);
pub const ONE_TO_TWELVE: Array<f32> = (
    &[2, 3, 2],
    &[1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12.],
);
pub const ZERO_TO_SEVEN: Array<f32> = (&[2, 2, 2], &[0., 1., 2., 3., 4., 5., 6., 7.]);
pub const THREE: Array<f32> = (&[3], &[1., 2., 3.]);
pub const NUMPY: Array<f32> = (&[6], &[4., 3., 5., 7., 6., 8.]);
pub const NUMPY_2D: Array<f32> = (&[2, 3], &[4., 3., 5., 7., 6., 8.]);
pub const NAN: f32 = f32::NAN;

pub fn row(there: &'static str, here: Here, calls: impl IntoIterator<Item = Call>) -> Row {
    Row {
        there,
        here,
        calls: calls.into_iter().collect(),
    }
}

pub fn call(params: Array<f32>, indices: Array<i64>, output: Array<f32>) -> Call {
    Call {
        params,
        indices,
        fill: 0.0,
        output: Some(output),
        mask: None,
    }
}

pub fn filled(fill: f32, call: Call) -> Call {
    Call { fill, ..call }
}

pub fn masked(mask: &'static [bool], call: Call) -> Call {
    Call {
        mask: Some(mask),
        ..call
    }
}

pub fn error(params: Array<f32>, indices: Array<i64>) -> Call {
    Call {
        params,
        indices,
        fill: 0.0,
        output: None,
        mask: None,
    }
}

impl Here {
    pub fn plan(self, call: &Call) -> GatherPlan {
        let (params, indices) = (call.params.0, call.indices.0);
        let plan = match self {
            Self::Gather(axis, batch_dims, negative, bad) => {
                let gather = axis.map_or(Gather::new(), |axis| Gather::new().axis(axis));
                let gather = gather.batch_dims(batch_dims).negative_indices(negative);
                gather.bad_indices(bad).plan(params, indices)
            }
            Self::GatherNd(batch_dims, negative, bad) => GatherNd::new()
                .batch_dims(batch_dims)
                .negative_indices(negative)
                .bad_indices(bad)
                .plan(params, indices),
            Self::GatherNdAt(axis, negative, bad) => GatherNd::new()
                .axis(axis)
                .negative_indices(negative)
                .bad_indices(bad)
                .plan(params, indices),
            Self::GatherElements(axis, negative, bad) | Self::Broadcast(axis, negative, bad) => {
                GatherElements::new()
                    .axis(axis)
                    .broadcast(matches!(self, Self::Broadcast(..)))
                    .negative_indices(negative)
                    .bad_indices(bad)
                    .plan(params, indices)
            }
        };
        plan.unwrap()
    }

    /// The code that the guide shows: attributes with their defaults are left out.
    pub fn code(self) -> String {
        let (operation, axis, batch_dims, negative, bad) = match self {
            Self::Gather(axis, batch_dims, negative, bad) => {
                ("Gather", axis, batch_dims, negative, bad)
            }
            Self::GatherNd(batch_dims, negative, bad) => {
                ("GatherNd", None, batch_dims, negative, bad)
            }
            Self::GatherNdAt(axis, negative, bad) => ("GatherNd", Some(axis), 0, negative, bad),
            Self::GatherElements(axis, negative, bad) | Self::Broadcast(axis, negative, bad) => {
                let axis = (axis != 0).then_some(axis);
                ("GatherElements", axis, 0, negative, bad)
            }
        };
        let mut code = format!("{operation}::new()");
        if let Some(axis) = axis {
            code += &format!(".axis({axis})");
        }
        if let Self::Broadcast(..) = self {
            code += ".broadcast(true)";
        }
        if batch_dims != 0 {
            code += &format!(".batch_dims({batch_dims})");
        }
        if negative != NegativeIndices::default() {
            code += &format!(".negative_indices({negative:?})");
        }
        if bad != BadIndices::default() {
            code += &format!(".bad_indices({bad:?})");
        }
        code
    }
}
