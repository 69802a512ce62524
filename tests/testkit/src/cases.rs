//! The table of cases that the oracle, the CPU and the GPU all run, one per line.

use super::indices::{Hash, WIDE, values_around};
use super::oracle::{Case, Op};
use super::rejected::rejected;
pub use crate::examples::{
    Example, broadcast, case, documentation, elements, first, gather, gather_nd, nd_at,
};

/// All cases, including the documentation's. Planning rejects some; others have out-of-range indices.
#[rustfmt::skip]
pub fn table() -> Vec<Case> {
    let (nd, max) = (gather_nd, i128::from(i64::MAX));
    let mut cases: Vec<Case> = documentation().into_iter().map(|example| example.case).collect();
    cases.extend([
        // Shapes that the documentation shows without a printed result.
        case(nd(0), &[5, 7, 3], &[5, 2], &[0, 1, 1, 0, 2, 4, 3, 2, 4, 1]),
        case(nd(1), &[5, 7, 3], &[5, 1], &[1, 0, 4, 2, 1]),
        case(nd(1), &[5, 7, 3], &[5, 1], &[0, 0, 0, 0, 0]),
        mixed(gather(2, 0), &[5, 6, 7, 8], &[10, 11]),
        mixed(gather(3, 2), &[2, 3, 4, 5, 6], &[2, 3, 7]),

        // A lane takes several output rows: with rows left over, with one block and with several, and with blocks that end
        // within a lane's rows.
        mixed(gather(0, 0), &[9], &[1027]),
        mixed(gather(0, 0), &[9, 4], &[1030]),
        mixed(gather(0, 0), &[9, 12], &[1025]).counted_from_end(),
        mixed(nd(0), &[5, 7], &[1029, 2]),
        mixed(nd(0), &[5, 7, 4], &[64, 2]),
        mixed(gather(1, 0), &[3, 9], &[8]),
        mixed(gather(1, 0), &[3, 9, 4], &[6]),
        mixed(gather(2, 1), &[2, 3, 9, 4], &[2, 4]),
        mixed(nd(1), &[4, 3, 5], &[4, 8, 2]),
        mixed(nd(1), &[2, 3, 5], &[2, 516, 2]).counted_from_end(),

        // gather_nd with dims before the axis that are copied through.
        case(nd_at(1, 0), &[2, 2, 2], &[2, 2], &[0, 1, 1, 0]),
        case(nd_at(-2, 0), &[3, 2, 4], &[5, 1], &[1, 0, 1, 2, 0]),
        case(nd_at(1, 0), &[3, 4, 2], &[1, 2, 2], &[3, 1, 4, 0]),
        case(nd_at(2, 1), &[2, 3, 4, 5], &[2, 2, 2], &[3, 4, 0, 0, 1, 5, 2, 2]),
        case(nd_at(2, 0), &[2, 3, 2, 2], &[3, 2], &[-1, 0, 1, -2, 0, 1]).counted_from_end(),
        case(nd_at(1, 0), &[2, 3], &[4, 0], &[]),
        case(nd_at(1, 1), &[2, 3], &[2, 1], &[2, 3]),
        case(nd_at(1, 0), &[2, 3, 0], &[0, 2], &[]),
        mixed(nd_at(1, 0), &[3, 4, 5], &[1029, 2]),
        mixed(nd_at(1, 0), &[5, 3, 4, 16], &[40, 2]),
        mixed(nd_at(2, 1), &[2, 5, 3, 4, 300], &[2, 3, 2]),
        mixed(nd_at(1, 0), &[3, 2, 3, 2, 5], &[7, 3]),
        // Empty params: TensorFlow's gather_nd refuses them, counting from the end allows them.
        case(nd(0), &[3, 0], &[2, 1], &[0, 7]).counted_from_end(),
        case(nd(0), &[0, 3], &[2, 1], &[0, 7]).counted_from_end(),
        case(nd(0), &[0, 3], &[2, 2], &[0, 0, -1, 2]).counted_from_end(),
        case(nd(1), &[2, 0, 3], &[2, 4, 0], &[]).counted_from_end(),
        case(nd_at(1, 0), &[0, 3], &[2, 1], &[0, 7]).counted_from_end(),
        case(nd_at(1, 0), &[2, 0, 3], &[2, 1], &[0, -1]).counted_from_end(),
        case(nd_at(1, 0), &[2, 0, 3], &[2, 1], &[0, 0]),

        // Scalar indices; indices of any rank; each axis.
        case(gather(0, 0), &[3], &[], &[2]),
        case(gather(1, 0), &[2, 3, 2], &[], &[2]),
        case(gather(-1, 0), &[2, 3], &[], &[0]),
        case(gather(1, 1), &[2, 3, 2], &[2], &[2, 0]),
        case(gather(-3, 0), &[2, 3, 2], &[2], &[1, 0]),
        case(gather(-2, 0), &[2, 3, 2], &[2], &[2, 0]),
        case(gather(-1, 0), &[2, 3, 2], &[3], &[1, 0, 1]),
        mixed(gather(4, 0), &[2, 1, 2, 1, 3, 1, 2, 1, 2], &[1, 2, 1, 2, 1, 2, 1, 2, 1]),
        mixed(gather(9, 4), &[2, 1, 2, 2, 1, 2, 1, 2, 1, 5, 2, 1], &[2, 1, 2, 2, 3, 1, 2]),

        // Batch dims, counted from either end, with and without outer dims between them and the axis.
        mixed(gather(2, 1), &[3, 2, 5, 2], &[3, 4]),
        mixed(gather(2, 1), &[3, 2, 5], &[3]),
        mixed(gather(3, 1), &[2, 3, 2, 5, 3], &[2, 2, 2]),
        mixed(gather(2, 2), &[2, 3, 5, 3], &[2, 3, 4]),
        mixed(gather(-1, -1), &[2, 3, 5], &[2, 4]),
        mixed(gather(2, -2), &[2, 3, 5], &[2, 4, 2]),
        case(gather(2, -1), &[2, 3, 4], &[2, 2], &[3, 0, 1, 4]),

        // The default axis is batch_dims as written: a negative one counts from the rank of params.
        case(first(-1), &[2, 3, 4], &[2, 3], &[0, 1, 2, 3, 0, 1]),
        case(first(-2), &[2, 3, 4], &[2, 2], &[0, 1, 2, 0]),
        case(first(1), &[2, 3, 4], &[2, 2], &[0, 1, 2, 0]),
        case(first(2), &[2, 3, 4], &[2, 3], &[0, 1, 2, 3, 0, 1]),
        case(first(-2), &[2, 2], &[2], &[0, 1]),

        // Index depth 0: every slice is all of params, or all of its batch.
        case(nd(0), &[2, 3], &[0], &[]),
        case(nd(0), &[2, 3], &[4, 0], &[]),
        case(nd(1), &[2, 3], &[2, 2, 0], &[]),
        case(nd(1), &[2, 3, 2], &[2, 0], &[]),
        case(nd(0), &[2, 3], &[0, 0], &[]),
        case(nd(0), &[2, 0], &[4, 0], &[]),

        // A vector of indices is one index row.
        case(nd(0), &[3], &[1], &[2]),
        case(nd(0), &[2, 3, 2], &[2], &[1, 2]),
        mixed(nd(0), &[2, 1, 3, 1, 2, 2, 1, 2, 1, 3], &[2, 1, 1, 1, 2, 1, 1, 1, 3, 5]),
        mixed(nd(3), &[2, 1, 3, 4, 1, 2, 2], &[2, 1, 3, 4, 2, 3]),
        mixed(nd(2), &[2, 3, 5], &[2, 3, 1]),

        // gather_elements along each axis: with indices smaller than params in one dim or in several, and with many dims.
        mixed(elements(0), &[9], &[1027]),
        mixed(elements(0), &[5, 7], &[3, 7]),
        mixed(elements(0), &[5, 7], &[3, 4]),
        mixed(elements(1), &[5, 7], &[5, 9]),
        mixed(elements(1), &[5, 7], &[3, 9]),
        mixed(elements(-1), &[5, 7], &[1, 2]),
        mixed(elements(-2), &[5, 7], &[30, 7]).counted_from_end(),
        mixed(elements(0), &[6, 12], &[40, 12]),
        mixed(elements(0), &[5, 7, 3], &[8, 1, 1]),
        mixed(elements(0), &[5, 7, 3], &[8, 1, 2]),
        mixed(elements(1), &[5, 7, 3], &[5, 11, 3]),
        mixed(elements(1), &[5, 7, 3], &[4, 6, 2]),
        mixed(elements(1), &[2, 5, 7, 3], &[2, 4, 6, 2]),
        mixed(elements(2), &[2, 3, 5, 7, 3], &[2, 2, 8, 6, 2]),
        mixed(elements(2), &[2, 3, 5, 7, 3], &[2, 3, 8, 7, 3]).counted_from_end(),
        mixed(elements(3), &[3, 3, 3, 5, 3, 3, 3], &[2, 2, 2, 3, 2, 2, 2]),
        case(elements(0), &[2, 3], &[2, 3], &[2, 0, 1, 1, -1, 0]),
        case(elements(1), &[2, 3], &[2, 1], &[3, 2]),
        case(elements(0), &[2, 3], &[0, 3], &[]),
        case(elements(0), &[2, 3], &[2, 0], &[]),
        case(elements(1), &[2, 0], &[1, 2], &[0, 0]),
        case(elements(1), &[2, 0], &[1, 2], &[-1, 0]).counted_from_end(),
        case(elements(0), &[0, 1 << 40], &[2, 1], &[0, 0]),
        case(elements(0), &[0, 3], &[0, 2], &[]),
        // Indices stretch over a whole slice, all outer dims, or both.
        mixed(broadcast(0), &[5, 7, 3], &[8, 1, 1]),
        mixed(broadcast(1), &[4, 9, 6], &[1, 5, 1]),
        mixed(broadcast(2), &[2, 3, 5, 4], &[2, 1, 6, 1]),
        mixed(broadcast(1), &[3, 300, 16], &[1, 70, 1]),
        // Params stretch.
        mixed(broadcast(0), &[9, 1], &[5, 6]),
        mixed(broadcast(1), &[1, 9], &[5, 6]).counted_from_end(),
        mixed(broadcast(1), &[1, 9, 4, 1], &[3, 5, 4, 2]),
        // Indices stretch in dims between others.
        mixed(broadcast(0), &[5, 7, 3], &[8, 1, 3]),
        mixed(broadcast(2), &[3, 4, 9], &[3, 1, 5]),
        mixed(broadcast(3), &[2, 3, 4, 9], &[1, 3, 1, 5]).counted_from_end(),
        mixed(broadcast(1), &[3, 9, 2, 5, 4], &[3, 6, 1, 5, 1]),
        // Both stretch.
        mixed(broadcast(1), &[1, 9, 6, 1], &[4, 5, 1, 3]),
        mixed(broadcast(0), &[9, 1, 6, 2], &[5, 4, 1, 2]),
        mixed(broadcast(2), &[1, 4, 3, 1, 5], &[2, 1, 6, 7, 5]),
        // One index row for a whole line of output rows.
        mixed(broadcast(2), &[1, 40, 9], &[5, 1, 1]),
        case(broadcast(2), &[1, 3, 4], &[2, 1, 1], &[3, -1]).counted_from_end(),
        case(broadcast(0), &[5, 1, 3], &[4, 2, 1], &[4, 7, -1, 0, 7, 7, 1, 2]),
        case(broadcast(1), &[2, 3, 2], &[1, 2, 2], &[2, 0, 3, 1]),
        case(broadcast(0), &[3, 0], &[2, 1], &[7, 0]),
        case(broadcast(0), &[3, 1], &[2, 0], &[]),
        case(broadcast(1), &[0, 3, 2], &[1, 2, 2], &[7, 0, 0, 0]),
        case(broadcast(0), &[0, 1], &[2, 3], &[0, 0, 0, 0, 0, 0]),
        case(broadcast(0), &[7], &[3], &[6, 7, 0]),

        // Nothing to gather.
        case(nd(0), &[0], &[0, 1], &[]),
        case(nd(0), &[3], &[0, 1], &[]),
        case(nd(0), &[3], &[2, 0, 1], &[]),
        case(nd(0), &[3, 0], &[0, 1], &[]),
        case(nd(1), &[0, 3, 2], &[0, 4, 1], &[]),
        case(nd(1), &[2, 0, 3], &[2, 0, 1], &[]),
        case(nd(0), &[1; 9], &[0, 9], &[]),
        case(gather(0, 0), &[0], &[0], &[]),
        case(gather(0, 0), &[3], &[0], &[]),
        case(gather(1, 0), &[2, 3], &[0, 2], &[]),
        case(gather(1, 1), &[0, 3], &[0, 2], &[]),
        case(gather(1, 1), &[2, 0], &[2, 0], &[]),
        // The output is empty: indices out of range are no error.
        case(gather(1, 0), &[2, 3, 0], &[2], &[7, max]),
        case(gather(1, 0), &[0, 3], &[2], &[7, max]),
        case(gather(1, 0), &[0, 0], &[2], &[7, max]),
        // An axis of length 0: every index is out of range.
        case(gather(0, 0), &[0], &[], &[0]),
        case(gather(0, 0), &[0], &[3], &[0, 0, 0]),
        case(gather(0, 0), &[0, 4], &[3], &[0, 1, max]),
        case(gather(1, 0), &[2, 0, 3], &[2], &[0, 0]),
        case(gather(2, 1), &[2, 3, 0, 3], &[2, 2], &[0, 0, 0, 0]),
        case(gather(1, 0), &[2, 0, 3], &[2], &[0, 0]).counted_from_end(),

        // Bad rows: the first, the last, all, in one batch of several, and under outer dims.
        case(nd(0), &[3, 2], &[3, 1], &[3, 0, 1]),
        case(nd(0), &[3, 2], &[3, 1], &[0, 1, 3]),
        case(nd(0), &[3, 2], &[1, 2, 2], &[2, 2, 3, 0]),
        case(nd(1), &[2, 3, 4], &[2, 1], &[0, 3]),
        case(nd(2), &[2, 2, 3], &[2, 2, 1], &[0, 1, 2, 3]),
        case(gather(1, 0), &[3, 2, 2], &[4], &[0, 2, 1, 5]),
        case(gather(2, 1), &[2, 3, 2, 2], &[2, 3], &[0, 1, 1, 0, 2, 3]),

        // Negative indices: out of range, or counted from the end.
        case(nd(0), &[3, 4], &[5, 2], &[-1, 0, 2, -4, -3, -1, 0, -5, -4, 0]),
        case(nd(0), &[3, 4], &[5, 2], &[-1, 0, 2, -4, -3, -1, 0, -5, -4, 0]).counted_from_end(),
        case(gather(1, 0), &[2, 3], &[5], &[-1, -2, -3, -4, 2]),
        case(gather(1, 0), &[2, 3], &[5], &[-1, -2, -3, -4, 2]).counted_from_end(),

        // Slices of odd lengths, and about as long as one workgroup or several copy.
        mixed(gather(1, 0), &[2, 3, 63], &[4]),
        mixed(gather(1, 0), &[2, 3, 65], &[5]),
        mixed(nd(0), &[5, 257], &[7, 1]),
        mixed(nd(0), &[3, 1023], &[5, 1]),
        mixed(gather(1, 1), &[2, 3, 2048], &[2, 3]),
        mixed(gather(0, 0), &[3, 4099], &[4]),
    ]);
    cases.extend(rejected());
    let deep = [2, 1, 3, 2, 1, 2, 2, 2, 3];
    cases.extend((1..=8).map(|depth| mixed(nd(0), &deep, &[5, depth])));
    cases.extend((1..=8).map(|depth| mixed(nd(1), &deep, &[2, 3, depth])));
    cases
}

/// Cases with each of [`values_around`] in turn at one place in an index row, among valid indices.
pub fn index_values() -> Vec<Case> {
    #[rustfmt::skip]
    let hosts = [
        (case(gather(0, 0), &[3], &[], &[0]), 0),
        (case(gather(0, 0), &[0], &[2], &[0, 0]), 1),
        (case(gather(1, 0), &[2, 3, 2], &[2, 2], &[0, 2, 1, 0]), 2),
        (case(gather(2, 1), &[2, 2, 3], &[2, 2], &[0, 2, 1, 2]), 2),
        (case(elements(1), &[2, 3, 2], &[2, 2, 2], &[0, 2, 1, 0, 1, 1, 2, 0]), 5),
        (case(elements(0), &[3, 4], &[2, 3], &[0, 2, 1, 1, 0, 2]), 3),
        (case(broadcast(0), &[3, 4, 2], &[2, 1, 2], &[0, 2, 1, 1]), 2),
        (case(gather_nd(0), &[3], &[1], &[0]), 0),
        (case(gather_nd(0), &[2, 3, 4], &[3, 3], &[1, 2, 3, 0, 0, 0, 1, 1, 1]), 3),
        (case(gather_nd(0), &[2, 3, 4], &[3, 3], &[1, 2, 3, 0, 0, 0, 1, 1, 1]), 4),
        (case(gather_nd(0), &[2, 3, 4], &[3, 3], &[1, 2, 3, 0, 0, 0, 1, 1, 1]), 5),
        // Four index rows, as many as a lane may take.
        (case(gather_nd(0), &[3, 4, 1], &[4, 2], &[1, 2, 0, 0, 2, 3, 1, 1]), 4),
        (case(gather_nd(0), &[3, 4, 1], &[4, 2], &[1, 2, 0, 0, 2, 3, 1, 1]), 3),
        (case(gather_nd(1), &[2, 3, 4, 2], &[2, 2, 2], &[0, 3, 2, 1, 1, 1, 0, 0]), 4),
        (case(gather_nd(1), &[2, 3, 4, 2], &[2, 2, 2], &[0, 3, 2, 1, 1, 1, 0, 0]), 5),
    ];
    let mut cases = Vec::new();
    for (host, place) in hosts {
        let dims = host
            .op
            .indexed_dims(&host.params_shape, &host.indices_shape);
        for value in values_around(dims[place % dims.len()]) {
            for from_end in [false, true] {
                let mut case = host.clone();
                case.indices[place] = value;
                case.from_end = from_end;
                cases.push(case);
            }
        }
    }
    cases
}

/// gather and gather_nd with every slice length from 1 to 17 elements, each with one bad row.
pub fn slice_lengths() -> Vec<Case> {
    (1..=17)
        .flat_map(|slice_len| {
            [
                case(gather(1, 0), &[2, 3, slice_len], &[4], &[2, 0, 3, 1]),
                case(
                    gather_nd(0),
                    &[2, 2, slice_len],
                    &[3, 2],
                    &[1, 0, 2, 1, 0, 1],
                ),
            ]
        })
        .collect()
}

/// Failures in other libraries' gathers, from advisories and bug reports. Planning rejects some of the cases. Binding one buffer
/// for reading and writing, with which burn and tract fail, is in tests/device/misuse/sharing.rs.
#[rustfmt::skip]
pub fn known_failures() -> Vec<(&'static str, Vec<Case>)> {
    let (nd, min, max) = (gather_nd, i128::from(i64::MIN), i128::from(i64::MAX));
    vec![
        ("cve_2021_29589_division_by_a_dim_of_zero", vec![
            case(gather(0, 0), &[2, 0], &[3], &[0, 1, 9]),
            case(gather(1, 0), &[0, 2], &[3], &[0, 1, 9]),
            case(nd(0), &[2, 0, 3], &[0, 2], &[]),
            case(nd(0), &[2, 0, 3], &[4, 2], &[]),
        ]),
        ("cve_2021_37653_batch_of_size_zero", vec![
            case(gather(1, 1), &[0, 3], &[0, 2], &[]),
            case(nd(1), &[0, 3], &[0, 2, 1], &[]),
        ]),
        ("cve_2021_37687_negative_index_read", vec![
            case(gather(0, 0), &[3], &[3], &[0, -1, 2]),
            case(gather(0, 0), &[3, 5], &[2], &[-3, 1]),
            case(gather(0, 0), &[3], &[2], &[0, min]),
            case(nd(0), &[2, 2], &[2, 2], &[1, -1, 1, 1]),
        ]),
        ("cve_2022_35937_and_35938_index_past_the_dim_read", vec![
            // Inside params, but out of range of the dim.
            case(nd(0), &[2, 2], &[3, 2], &[0, 2, 1, 1, 0, 3]),
            case(nd(0), &[2, 2], &[2, 2], &[2, 0, 1 << 32, 1]),
            case(gather(1, 0), &[3, 2], &[3], &[1, 2, 3]),
            case(gather(0, 0), &[3], &[4], &[3, 2, 1 << 32, max]),
        ]),
        ("onnxruntime_27963_index_0_into_a_dim_of_zero", vec![
            case(gather(0, 0), &[0], &[1], &[0]),
            case(gather(0, 0), &[0, 4], &[], &[0]),
            case(gather(0, 0), &[0], &[1], &[-1]).counted_from_end(),
        ]),
        ("cve_2021_37641_operand_of_rank_zero", vec![
            case(nd(0), &[], &[1, 1], &[]),
            case(nd(0), &[], &[0], &[]),
            case(nd(0), &[3], &[], &[]),
            case(gather(0, 0), &[], &[], &[]),
            case(gather(0, 0), &[3], &[], &[2]),
        ]),
        ("cve_2021_37654_batch_dims_at_the_rank_of_params", vec![
            case(nd(1), &[2], &[2, 1], &[]),
            case(nd(2), &[2], &[2, 1, 1], &[]),
            case(gather(0, 1), &[2], &[2, 1], &[]),
            case(gather(0, -1), &[2], &[2, 1], &[]),
            case(gather(0, 2), &[2], &[2, 1], &[]),
        ]),
        ("tfsa_2020_009_axis_below_minus_the_rank", vec![
            case(gather(-3, 0), &[2, 3], &[1], &[]),
            case(gather(-4, 0), &[2, 3], &[1], &[]),
            case(gather(i64::from(i32::MIN), 0), &[2, 3], &[1], &[]),
            case(gather(i64::MIN, 0), &[2, 3], &[1], &[]),
        ]),
    ]
}

/// A gather with about 4.2 million output rows.
pub fn many_rows() -> Case {
    mixed(gather(1, 0), &[3, 7], &[65_536 * 64 / 3 + 77])
}

/// A valid case with pseudo-random indices, seeded by operation and shapes, that all 32- and 64-bit index kinds can hold.
fn mixed(op: Op, params_shape: &[usize], indices_shape: &[usize]) -> Case {
    let mut case = case(op, params_shape, indices_shape, &[]);
    case.fill(&WIDE, &mut Hash::of(&case));
    case
}

impl Case {
    fn counted_from_end(self) -> Self {
        Self {
            from_end: true,
            ..self
        }
    }
}
