//! Rebinds a prepared gather to other buffers: what may differ, and what may not.

use std::sync::atomic::Ordering;

use testkit::gpu::{buffers_of, buffers_of_shards};
use wgpu_gather::{
    BlockQuantized, Buffers, ElementTypes, Encoding, FloatKind, GatherError, GatherNd, IndexKind,
    Operand, Prepared, wgpu,
};

use super::{App, STORAGE, Set, plan};

/// For each operand of [`plan`], a range in a large buffer, with its start.
#[derive(Clone, Copy)]
struct Bound<'a> {
    types: ElementTypes,
    of: [(&'a wgpu::Buffer, u64); 6],
    has_report: bool,
    has_mask: bool,
    has_count: bool,
    /// Params in shards, in place of one range.
    shards: Option<&'a [(usize, wgpu::BufferSlice<'a>)]>,
}

const PARAMS: usize = 0;
const INDICES: usize = 1;
const OUTPUT: usize = 2;
const REPORT: usize = 3;
const MASK: usize = 4;
const COUNT: usize = 5;

impl<'a> Bound<'a> {
    fn new(buffers: &'a [wgpu::Buffer; 6]) -> Self {
        Self {
            types: ElementTypes::of::<f32, i32>(),
            of: buffers.each_ref().map(|buffer| (buffer, 0)),
            has_report: true,
            has_mask: true,
            has_count: true,
            shards: None,
        }
    }

    fn starting(mut self, operand: usize, start: u64) -> Self {
        self.of[operand].1 = start;
        self
    }

    fn sharing(mut self, operand: usize, with: usize, start: u64) -> Self {
        self.of[operand] = (self.of[with].0, start);
        self
    }

    fn bound(self) -> Buffers<'a> {
        let range = |operand: usize| {
            let (buffer, start) = self.of[operand];
            buffer.slice(start..)
        };
        let (indices, output) = (range(INDICES), range(OUTPUT));
        let mut bound = match self.shards {
            None => buffers_of(self.types, [range(PARAMS), indices, output]),
            Some(shards) => buffers_of_shards(self.types, shards, [indices, output]),
        };
        if self.has_report {
            bound = bound.report(range(REPORT));
        }
        if self.has_mask {
            bound = bound.mask(range(MASK));
        }
        if self.has_count {
            bound = bound.index_count(range(COUNT));
        }
        bound
    }
}

fn buffers(app: &App) -> [wgpu::Buffer; 6] {
    [(); 6].map(|()| app.buffer(4096, STORAGE))
}

/// The gather's commands use these buffers: after they are destroyed, the commands cannot be submitted.
#[track_caller]
fn assert_bound_to(app: &App, gather: &Prepared, buffers: &[wgpu::Buffer]) {
    let mut encoder = app.encoder();
    gather.encode(&mut encoder);
    buffers.iter().for_each(wgpu::Buffer::destroy);
    app.queue.submit([encoder.finish()]);
    assert_eq!(app.errors.swap(0, Ordering::Relaxed), 1);
}

#[test]
fn other_buffers_and_offsets_are_bound() {
    let app = App::new();
    let [old, new] = [(); 2].map(|()| buffers(&app));
    let bound = Bound::new(&old).bound();
    let mut gather = app.gatherer.prepare(&plan(), &bound).unwrap();
    let mut recorded = app.encoder();
    gather.encode(&mut recorded);
    let ranges = Bound::new(&new).starting(PARAMS, 512);
    let ranges = ranges.starting(OUTPUT, 256).starting(COUNT, 1024);
    assert_eq!(gather.rebind(&ranges.bound()), Ok(()));
    app.queue.submit([recorded.finish()]);
    assert_eq!(app.errors.load(Ordering::Relaxed), 0);
    // The old buffers are not used any more.
    old.iter().for_each(wgpu::Buffer::destroy);
    app.submit(&gather);
    app.assert_handler_heard_nothing();
    assert_bound_to(&app, &gather, &new);
}

#[test]
fn what_the_dispatches_depend_on_is_kept() {
    let app = App::new();
    let [old, new] = [(); 2].map(|()| buffers(&app));
    let same = Bound::new(&new);
    let mut gather = app
        .gatherer
        .prepare(&plan(), &Bound::new(&old).bound())
        .unwrap();
    let mut refused = |buffers: &Buffers<'_>, property: &str, expected: &str, found: &str| {
        let error = gather.rebind(buffers).unwrap_err();
        let text = format!("what is prepared must keep {property}: {expected}, found {found}");
        assert_eq!(error.to_string(), text);
        assert!(matches!(error, GatherError::Rebound { .. }));
    };
    for (types, property, expected, found) in [
        (
            ElementTypes::of::<u16, i32>(),
            "the bytes of an element",
            "4",
            "2",
        ),
        (
            ElementTypes::of::<f32, i64>(),
            "the type of indices",
            "i32",
            "i64",
        ),
        (
            ElementTypes::of::<f32, u32>(),
            "the type of indices",
            "i32",
            "u32",
        ),
        (
            ElementTypes::encoded(Encoding::F16, IndexKind::I32),
            "the encoding of params",
            "none",
            "F16",
        ),
    ] {
        refused(&Bound { types, ..same }.bound(), property, expected, found);
    }
    let filled = same.bound().fill(&[1, 0, 0, 0]);
    refused(&filled, "the words of the fill", "0x00000000", "0x00000001");
    for (operand, name) in [
        (PARAMS, "params"),
        (INDICES, "indices"),
        (OUTPUT, "output"),
        (MASK, "mask"),
    ] {
        let property = format!("the bytes of {name} after an aligned offset");
        refused(&same.starting(operand, 260).bound(), &property, "0", "4");
    }
    let mut without = same;
    without.has_report = false;
    refused(&without.bound(), "report", "given", "not given");
    without = same;
    without.has_count = false;
    refused(&without.bound(), "index count", "given", "not given");
    without = same;
    without.has_mask = false;
    refused(&without.bound(), "mask", "given", "not given");
    let shards = [(4, new[PARAMS].slice(..)), (6, new[PARAMS].slice(256..))];
    let mut sharded = same;
    sharded.shards = Some(&shards);
    refused(&sharded.bound(), "the number of params shards", "1", "2");
    refused(
        &same.sharing(OUTPUT, PARAMS, 1024).bound(),
        "a buffer that operands share with the output or the report",
        "not there",
        "there",
    );
    refused(
        &same.sharing(MASK, INDICES, 1024).bound(),
        "a buffer that indices share with the mask",
        "not there",
        "there",
    );
    new.iter().for_each(wgpu::Buffer::destroy);
    assert_bound_to(&app, &gather, &old);
}

#[test]
fn quantised_params_keep_their_numbers() {
    let app = App::new();
    let plan = GatherNd::new().plan(&[10, 32], &[4, 1]).unwrap();
    let of = BlockQuantized::new(4, 16).unwrap().with_zero_points();
    let [old, new] = [(); 2].map(|()| app.buffer(4096, STORAGE));
    let [params, output] = [(); 2].map(|()| app.buffer(4096, STORAGE));
    let bound =
        |of, scales: &'_ wgpu::Buffer, starts: [u64; 2], prepared: Option<&mut Prepared>| {
            let types = ElementTypes::encoded(Encoding::BlockQuantized(of), IndexKind::I32);
            let mut buffers = buffers_of(
                types,
                [params.slice(..), params.slice(1024..), output.slice(..)],
            )
            .scales(scales.slice(starts[0]..));
            if of.zero_point_bytes(32).is_some() {
                buffers = buffers.zero_points(scales.slice(1024 + starts[1]..));
            }
            match prepared {
                Some(prepared) => prepared.rebind(&buffers).map(|()| None),
                None => app.gatherer.prepare(&plan, &buffers).map(Some),
            }
        };
    let mut gather = bound(of, &old, [0; 2], None).unwrap().unwrap();
    assert!(bound(of, &new, [256, 512], Some(&mut gather)).is_ok());
    let mut refused = |of, starts| {
        let error = bound(of, &new, starts, Some(&mut gather)).err().unwrap();
        let GatherError::Rebound {
            property,
            expected,
            found,
        } = error
        else {
            panic!("{error}");
        };
        assert_ne!(expected, found);
        property
    };
    let numbers = "the numbers of quantised params";
    assert_eq!(refused(of.with_scales(FloatKind::F16), [0; 2]), numbers);
    assert_eq!(refused(of.signed(), [0; 2]), numbers);
    assert_eq!(
        refused(BlockQuantized::new(4, 16).unwrap(), [0; 2]),
        numbers
    );
    let other = BlockQuantized::new(4, 32).unwrap().with_zero_points();
    assert_eq!(refused(other, [0; 2]), "the encoding of params");
    let text = "the bytes of scales after an aligned offset";
    assert_eq!(refused(of, [4, 0]), text);
    let text = "the bytes of zero points after an aligned offset";
    assert_eq!(refused(of, [0, 3]), text);
    [old, new]
        .each_ref()
        .iter()
        .for_each(|buffer| buffer.destroy());
}

fn others(of: &[wgpu::Buffer; 6]) -> [wgpu::BufferSlice<'_>; 2] {
    [INDICES, OUTPUT].map(|operand| of[operand].slice(..))
}

#[test]
fn shards_keep_their_rows() {
    let app = App::new();
    let [old, new] = [(); 2].map(|()| buffers(&app));
    let plan = GatherNd::new().plan(&[10, 2], &[4, 1]).unwrap();
    let shards = [(6, old[PARAMS].slice(..)), (4, old[MASK].slice(..))];
    let types = ElementTypes::of::<f32, i32>();
    let bound = buffers_of_shards(types, &shards, others(&old));
    let mut gather = app.gatherer.prepare(&plan, &bound).unwrap();
    let shards = [(5, new[PARAMS].slice(..)), (5, new[MASK].slice(..))];
    let other = buffers_of_shards(types, &shards, others(&new));
    let error = gather.rebind(&other).unwrap_err();
    let text = "what is prepared must keep the rows of params shard 0: 6, found 5";
    assert_eq!(error.to_string(), text);
}

#[test]
fn mistakes_are_the_errors_of_prepare() {
    let [app, other] = App::two();
    let set = Set::new(&app);
    let mut gather = app.gatherer.prepare(&plan(), &set.bound()).unwrap();
    let short = app.buffer(12, STORAGE);
    let unusable = app.buffer(256, wgpu::BufferUsages::COPY_DST);
    let foreign = other.buffer(256, STORAGE);
    let destroyed = app.buffer(256, STORAGE);
    destroyed.destroy();
    for operand in Set::OPERANDS {
        for wrong in [&short, &unusable, &foreign, &destroyed] {
            let bound = set.bound_but(operand, wrong.slice(..));
            let expected = app.gatherer.prepare(&plan(), &bound).unwrap_err();
            let found = gather.rebind(&bound).unwrap_err();
            assert_eq!(
                std::mem::discriminant(&found),
                std::mem::discriminant(&expected),
                "{operand}: {found}"
            );
        }
    }
    let misaligned = set.bound_but(Operand::Output, set.output.slice(2..));
    assert!(gather.rebind(&misaligned).is_err());
    app.assert_handler_heard_nothing();
    other.assert_handler_heard_nothing();
    // The old buffers are still bound.
    app.submit(&gather);
    app.assert_handler_heard_nothing();
}

#[test]
fn a_lost_device_is_an_error_of_rebind() {
    let app = App::new();
    let [old, new] = [(); 2].map(|()| Set::new(&app));
    let mut gather = app.gatherer.prepare(&plan(), &old.bound()).unwrap();
    app.device.destroy();
    let rebound = gather.rebind(&new.bound());
    assert_eq!(rebound, Err(GatherError::DeviceLost));
    let mut encoder = app.encoder();
    gather.encode(&mut encoder);
    drop(encoder.finish());
    assert_eq!(app.errors.load(Ordering::Relaxed), 0);
}
