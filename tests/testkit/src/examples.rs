//! Cases as one line of code each, and the examples in TensorFlow's and Paddle's documentation.

use std::fmt;

use super::oracle::{Case, Op};

/// A gather that TensorFlow's or Paddle's documentation shows, with its printed result.
#[derive(Debug, Clone)]
pub struct Example {
    pub case: Case,
    pub params: Vec<&'static str>,
    pub output_shape: &'static [usize],
    pub output: Vec<&'static str>,
}

const PAIRS: &str = "a0 b0 c0 d0 a1 b1 c1 d1";
const COUNTED: &str = "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23";
const TENS: &str = "0 1 2 10 11 12 20 21 22 30 31 32";

/// The documented examples of tf.gather_nd, paddle.gather_nd and tf.gather, in page order.
#[rustfmt::skip]
pub fn documentation() -> Vec<Example> {
    let nd = gather_nd;
    vec![
        example(nd(0), &[2, 2], &[2, 2], &[0, 0, 1, 1], "a b c d", &[2], "a d"),
        example(nd(0), &[2, 3], &[2, 1], &[1, 0], "a b c d e f", &[2, 3], "d e f a b c"),
        example(nd(0), &[2, 2, 2], &[1, 1], &[1], PAIRS, &[1, 2, 2], "a1 b1 c1 d1"),
        example(nd(0), &[2, 2, 2], &[2, 2], &[0, 1, 1, 0], PAIRS, &[2, 2], "c0 d0 a1 b1"),
        example(nd(0), &[2, 2, 2], &[2, 3], &[0, 0, 1, 1, 0, 1], PAIRS, &[2], "b0 b1"),
        example(nd(0), &[2, 2], &[2, 1, 2], &[0, 0, 0, 1], "a b c d", &[2, 1], "a b"),
        example(nd(0), &[2, 2], &[2, 1, 1], &[1, 0], "a b c d", &[2, 1, 2], "c d a b"),
        example(nd(0), &[2, 2, 2], &[2, 1, 1], &[1, 0], PAIRS, &[2, 1, 2, 2], "a1 b1 c1 d1 a0 b0 c0 d0"),
        example(nd(0), &[2, 2, 2], &[2, 2, 2], &[0, 1, 1, 0, 0, 0, 1, 1], PAIRS, &[2, 2, 2], "c0 d0 a1 b1 a0 b0 c1 d1"),
        example(nd(0), &[2, 2, 2], &[2, 2, 3], &[0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 0], PAIRS, &[2, 2], "b0 b1 d0 c1"),
        example(nd(1), &[2, 2, 2], &[2, 1], &[1, 0], PAIRS, &[2, 2], "c0 d0 a1 b1"),
        example(nd(1), &[2, 2, 2], &[2, 1, 1], &[1, 0], PAIRS, &[2, 1, 2], "c0 d0 a1 b1"),
        example(nd(1), &[2, 2, 2], &[2, 1, 2], &[1, 0, 0, 1], PAIRS, &[2, 1], "c0 b1"),

        example(nd(0), &[2, 3, 4], &[1, 1], &[1], COUNTED, &[1, 3, 4], "12 13 14 15 16 17 18 19 20 21 22 23"),
        example(nd(0), &[2, 3, 4], &[1, 2], &[0, 2], COUNTED, &[1, 4], "8 9 10 11"),
        example(nd(0), &[2, 3, 4], &[1, 3], &[1, 2, 3], COUNTED, &[1], "23"),
        example(nd(0), &[2, 3, 2], &[1, 2], &[0, 1], "1 2 3 4 5 6 7 8 9 10 11 12", &[1, 2], "3 4"),

        example(first(0), &[6], &[], &[3], "p0 p1 p2 p3 p4 p5", &[], "p3"),
        example(first(0), &[6], &[4], &[2, 0, 2, 5], "p0 p1 p2 p3 p4 p5", &[4], "p2 p0 p2 p5"),
        example(first(0), &[6], &[2, 2], &[2, 0, 2, 5], "p0 p1 p2 p3 p4 p5", &[2, 2], "p2 p0 p2 p5"),
        example(first(0), &[4, 3], &[2], &[3, 1], TENS, &[2, 3], "30 31 32 10 11 12"),
        example(gather(1, 0), &[4, 3], &[2], &[2, 1], TENS, &[4, 2], "2 1 12 11 22 21 32 31"),
        example(gather(1, 1), &[3, 5], &[3, 2], &[2, 4, 0, 4, 1, 3], "0 0 1 0 2 3 0 0 0 4 0 5 0 6 0", &[3, 2], "1 2 3 4 5 6"),
    ]
}

pub fn gather(axis: i64, batch_dims: i64) -> Op {
    Op::Gather {
        axis: Some(axis),
        batch_dims,
    }
}

/// gather without an axis.
pub fn first(batch_dims: i64) -> Op {
    Op::Gather {
        axis: None,
        batch_dims,
    }
}

pub fn gather_nd(batch_dims: i64) -> Op {
    let axis = None;
    Op::GatherNd { axis, batch_dims }
}

/// gather_nd behind dims that are copied through: those from the batch dims to the axis.
pub fn nd_at(axis: i64, batch_dims: i64) -> Op {
    let axis = Some(axis);
    Op::GatherNd { axis, batch_dims }
}

pub fn elements(axis: i64) -> Op {
    Op::GatherElements {
        axis,
        broadcast: false,
    }
}

/// gather_elements whose dims of 1 stretch, except along the axis.
pub fn broadcast(axis: i64) -> Op {
    Op::GatherElements {
        axis,
        broadcast: true,
    }
}

pub fn case(op: Op, params_shape: &[usize], indices_shape: &[usize], indices: &[i128]) -> Case {
    Case {
        op,
        params_shape: params_shape.to_vec(),
        indices_shape: indices_shape.to_vec(),
        indices: indices.to_vec(),
        from_end: false,
    }
}

fn example(
    op: Op,
    params_shape: &[usize],
    indices_shape: &[usize],
    indices: &[i128],
    params: &'static str,
    output_shape: &'static [usize],
    output: &'static str,
) -> Example {
    Example {
        case: case(op, params_shape, indices_shape, indices),
        params: params.split(' ').collect(),
        output_shape,
        output: output.split(' ').collect(),
    }
}

/// Writes the case as a line in tests/testkit/src/cases.rs.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let op = match self.op {
            Op::Gather {
                axis: Some(axis),
                batch_dims,
            } => format!("gather({axis}, {batch_dims})"),
            Op::Gather {
                axis: None,
                batch_dims,
            } => format!("first({batch_dims})"),
            Op::GatherNd {
                axis: Some(axis),
                batch_dims,
            } => format!("nd_at({axis}, {batch_dims})"),
            Op::GatherNd {
                axis: None,
                batch_dims,
            } => format!("gather_nd({batch_dims})"),
            Op::GatherElements { axis, broadcast } => match broadcast {
                true => format!("broadcast({axis})"),
                false => format!("elements({axis})"),
            },
        };
        let (params, indices_shape) = (&self.params_shape, &self.indices_shape);
        let from_end = if self.from_end {
            ".counted_from_end()"
        } else {
            ""
        };
        if self.indices.len() > 1000 {
            return write!(f, "mixed({op}, &{params:?}, &{indices_shape:?}){from_end}");
        }
        let indices = &self.indices;
        write!(
            f,
            "case({op}, &{params:?}, &{indices_shape:?}, &{indices:?}){from_end}"
        )
    }
}
