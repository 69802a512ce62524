//! Mistakes in a scatter's buffers: each error names the operand as a scatter does, and nothing is recorded.

use wgpu_gather::{
    BadRows, Buffers, ElementTypes, Encoding, Gather, GatherElements, GatherError, IndexKind,
    Reduce, ScatterRanges, With, wgpu,
};

use super::{App, Recorded, STORAGE, plan, plan_with_error};

/// Buffers for the target, indices, updates and the report.
type Set = [wgpu::Buffer; 4];

fn set(app: &App) -> Set {
    [40, 16, 16, BadRows::REPORT_BYTES].map(|size| app.buffer(size, STORAGE))
}

fn ranges(set: &Set) -> ScatterRanges<'_> {
    ScatterRanges {
        target: set[0].slice(..),
        indices: set[1].slice(..),
        updates: set[2].slice(..),
    }
}

type Shards<'a> = &'a [(usize, wgpu::BufferSlice<'a>)];

fn shard_ranges<'a>(set: &'a Set, target: Shards<'a>) -> ScatterRanges<'a, Shards<'a>> {
    let (indices, updates) = (set[1].slice(..), set[2].slice(..));
    ScatterRanges {
        target,
        indices,
        updates,
    }
}

fn types() -> ElementTypes {
    ElementTypes::of::<f32, i32>()
}

/// Each way of recording gives this error, and records nothing.
#[track_caller]
fn assert_refused<'p>(
    app: &App,
    plan: impl Into<With<'p, Reduce>>,
    buffers: &Buffers<'_, Reduce>,
    of: &[&wgpu::Buffer],
    text: &str,
) {
    let (plan, mut encoder) = (plan.into(), app.encoder());
    let result = app.gatherer.encode(&mut encoder, plan, buffers);
    assert_eq!(result.clone().unwrap_err().to_string(), text);
    let prepared = app.gatherer.prepare(plan, buffers).map(drop);
    assert_eq!(prepared, result);
    app.assert_nothing_recorded([Recorded { encoder, result }], of);
}

#[test]
fn right_buffers_are_accepted() {
    let app = App::new();
    let set = set(&app);
    let buffers = Buffers::scatter(types(), ranges(&set));
    let plan = plan();
    for (is_unique, buffers) in [
        (false, buffers),
        (false, buffers.report(set[3].slice(..))),
        (true, buffers),
        (true, buffers.reduce::<f32>(Reduce::Max)),
        (false, buffers.reduce::<u32>(Reduce::Min)),
    ] {
        let mut encoder = app.encoder();
        let with = match is_unique {
            true => plan.unique(),
            false => With::from(&plan),
        };
        let result = app.gatherer.encode(&mut encoder, with, &buffers);
        assert_eq!(result, Ok(()), "{buffers:?}");
        app.queue.submit([encoder.finish()]);
    }
    // A shard without rows may start anywhere.
    let shards = [(0, set[3].slice(2..6)), (10, set[0].slice(..))];
    let of_shards = shard_ranges(&set, &shards);
    let buffers = Buffers::scatter_shards(types(), of_shards).reduce::<u32>(Reduce::Add);
    let prepared = app.gatherer.prepare(&plan, &buffers);
    assert!(prepared.is_ok(), "{prepared:?}");
    app.assert_handler_heard_nothing();
}

#[test]
fn ranges_are_named_as_a_scatter_names_them() {
    let app = App::new();
    let refused = |change: &dyn Fn(&mut Set), text: &str| {
        let mut set = set(&app);
        change(&mut set);
        let buffers = Buffers::scatter(types(), ranges(&set)).report(set[3].slice(..));
        assert_refused(&app, &plan(), &buffers, &set.each_ref(), text);
    };
    let text = "target range must have at least 40 bytes, found 36";
    refused(&|set| set[0] = app.buffer(36, STORAGE), text);
    let text = "updates range must have at least 16 bytes, found 12";
    refused(&|set| set[2] = app.buffer(12, STORAGE), text);
    let text = "target buffer must have usage BufferUsages(STORAGE), found BufferUsages(COPY_DST)";
    let usage = wgpu::BufferUsages::COPY_DST;
    refused(&|set| set[0] = app.buffer(40, usage), text);
}

#[test]
fn a_target_overlaps_no_other_operand() {
    let app = App::new();
    for (with, name) in [(1, "indices"), (2, "updates")] {
        let mut set = set(&app);
        set[with] = app.buffer(40, STORAGE);
        set[0] = set[with].clone();
        let buffers = Buffers::scatter(types(), ranges(&set));
        let text = format!("target must not share bytes with {name}, found 0..16 in both");
        assert_refused(&app, &plan(), &buffers, &[&set[0]], &text);
    }
    // Two shards of the target.
    let set = set(&app);
    let shards = [(5, set[0].slice(..20)), (5, set[0].slice(16..36))];
    let of_shards = shard_ranges(&set, &shards);
    let buffers = Buffers::scatter_shards(types(), of_shards);
    let text = "target shard 1 must not share bytes with target shard 0, found 16..20 in both";
    assert_refused(&app, &plan(), &buffers, &[&set[0]], text);
    let few = [(9, set[0].slice(..))];
    let buffers = Buffers::scatter_shards(types(), shard_ranges(&set, &few));
    let text = "target shards must have 10 rows together, found 9";
    assert_refused(&app, &plan(), &buffers, &[], text);
}

/// Each batch takes three dispatches: two for the winners, and one for the updates.
#[test]
fn an_index_count_of_too_many_dispatches_is_refused() {
    let app = App::new();
    let gather = Gather::new().batch_dims(1).axis(1);
    let plan = gather.plan(&[60_000, 2], &[60_000, 2]).unwrap();
    let set = [480_000, 480_000, 480_000, 4].map(|size| app.buffer(size, STORAGE));
    let buffers = Buffers::scatter(types(), ranges(&set)).index_count(set[3].slice(..));
    let text = "a call with an index count must take at most 65536 dispatches, found 180000 or more: each block takes its own";
    assert_refused(&app, &plan, &buffers, &set.each_ref(), text);
}

#[test]
fn scatters_that_no_gpu_has_are_refused() {
    let app = App::new();
    let set = set(&app);
    let buffers = Buffers::scatter(types(), ranges(&set));
    let refused = |plan: With<'_, Reduce>, buffers: &Buffers<'_, Reduce>, text: &str| {
        assert_refused(&app, plan, buffers, &[], text);
    };
    for (reduced, text) in [
        (
            buffers.reduce::<f32>(Reduce::Mul),
            "a GPU has no mul of f32: GatherPlan::scatter_reduce has it, on the CPU",
        ),
        (
            buffers.reduce::<i64>(Reduce::Min),
            "a GPU has no min of i64: GatherPlan::scatter_reduce has it, on the CPU",
        ),
    ] {
        refused(plan().unique(), &reduced, text);
    }
    let narrow = ElementTypes::new(2, IndexKind::I32);
    let buffers = Buffers::scatter(narrow, ranges(&set)).reduce::<u32>(Reduce::Add);
    let text = "u32 must have the width of an element, found elements of 2 bytes";
    refused((&plan()).into(), &buffers, text);
    let encoded = ElementTypes::encoded(Encoding::Q8_0, IndexKind::I32);
    let buffers = Buffers::scatter(encoded, ranges(&set));
    let text = "target must hold elements, found rows of Q8_0: a scatter encodes nothing";
    refused((&plan()).into(), &buffers, text);
    let broadcast = GatherElements::new().broadcast(true);
    let broadcast = broadcast.plan(&[9, 1], &[5, 6]).unwrap();
    let buffers = Buffers::scatter(types(), ranges(&set));
    let text =
        "target must not be stretched by broadcasting: its dim 1 must be 6 in a scatter, found 1";
    refused((&broadcast).into(), &buffers, text);
    let text = "bad_indices Error must have a report buffer on the GPU, found none";
    refused((&plan_with_error()).into(), &buffers, text);
}

#[test]
fn a_prepared_scatter_keeps_its_update() {
    let app = App::new();
    let set = set(&app);
    let buffers = Buffers::scatter(types(), ranges(&set));
    let mut prepared = app.gatherer.prepare(&plan(), &buffers).unwrap();
    assert_eq!(prepared.rebind(&buffers), Ok(()));
    let text = |found: Result<(), GatherError>| found.unwrap_err().to_string();
    let found = text(prepared.rebind(&buffers.reduce::<u32>(Reduce::Add)));
    let expected = "what is prepared must keep the operation: scatter, found add of u32";
    assert_eq!(found, expected);
    let large = app.buffer(64, STORAGE);
    let moved = ScatterRanges {
        target: large.slice(4..),
        ..ranges(&set)
    };
    let found = text(prepared.rebind(&Buffers::scatter(types(), moved)));
    let expected =
        "what is prepared must keep the bytes of target after an aligned offset: 0, found 4";
    assert_eq!(found, expected);
    let found = text(prepared.rebind(&buffers.report(set[3].slice(..))));
    assert_eq!(
        found,
        "what is prepared must keep report: not given, found given"
    );
    app.assert_handler_heard_nothing();
}
