//! Samples with random shapes, larger than the small ones.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::cases::{case, gather, gather_nd};
use super::indices::Hash;
use super::oracle::Case;
use super::samples::{POLICIES, Sample};
use super::small_shapes::{rank, samples_by};

/// Calls `check` with the samples of this many random valid cases. A failure names the smallest shapes that still fail.
pub fn check_random_samples(cases: u32, check: impl Fn(&Sample)) {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let checked = TestRunner::new(config).run(&(valid_shapes(), any::<u64>()), |(case, seed)| {
        for sample in samples_by(case, Hash::new(seed), POLICIES) {
            check(&sample);
        }
        Ok(())
    });
    if let Err(error) = checked {
        panic!("{error}");
    }
}

/// Cases that give shapes but no index values, with params of rank 1 to 7. The planner accepts each.
fn valid_shapes() -> impl Strategy<Value = Case> {
    let dims = |ranks| prop::collection::vec(0_usize..6, ranks);
    let sizes = (dims(0..3), dims(0..3), dims(1..3), dims(0..3), dims(0..3));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let made = (sizes, flags).prop_map(
        |((batch, outer, indexed, inner, index_rows), (is_nd, axis_below_0, batch_below_0))| {
            if is_nd {
                let params = [&*batch, &indexed, &inner].concat();
                let indices = [&*batch, &index_rows, &[indexed.len()]].concat();
                return case(gather_nd(rank(batch.len())), &params, &indices, &[]);
            }
            let params = [&*batch, &outer, &indexed[..1], &inner].concat();
            let indices = [batch.clone(), index_rows].concat();
            let mut axis = rank(batch.len() + outer.len());
            let mut batch_dims = rank(batch.len());
            if axis_below_0 {
                axis -= rank(params.len());
            }
            // A batch_dims equal to the rank of indices has no negative form.
            if batch_below_0 && batch.len() < indices.len() {
                batch_dims -= rank(indices.len());
            }
            case(gather(axis, batch_dims), &params, &indices, &[])
        },
    );
    made.prop_filter("gather_nd refuses index rows into empty params", |case| {
        case.output_shape().is_ok()
    })
}
