//! Masks of bad rows that do not fit, or that share bytes with another operand.

use std::sync::atomic::Ordering;

use testkit::gpu::buffers_of;
use wgpu_gather::{Buffers, ElementTypes, Gather, GatherError, GatherNd, Operand, wgpu};

use super::{App, STORAGE, Set, adapter, plan};

#[test]
fn a_mask_is_an_operand_like_any() {
    let app = App::new();
    let refused = |mask: wgpu::BufferSlice<'_>, text: &str| {
        let set = Set::new(&app);
        app.assert_refused(&plan(), &set.bound().mask(mask), &set.all(), text);
    };
    let copied = app.buffer(4, wgpu::BufferUsages::COPY_DST);
    refused(
        copied.slice(..),
        "mask buffer must have usage BufferUsages(STORAGE), found BufferUsages(COPY_DST)",
    );
    let mask = app.buffer(512, STORAGE);
    refused(
        mask.slice(..0),
        "mask range must have at least 4 bytes, found 0",
    );
    refused(
        mask.slice(2..),
        "mask range must start at a multiple of 4 bytes, found 2",
    );
    let set = Set::new(&app);
    app.assert_accepted(&plan(), &set.bound().mask(mask.slice(4..)));
    app.assert_accepted(&plan(), &set.bound().mask(mask.slice(256..)));
    app.assert_accepted(&plan(), &set.without_report().mask(mask.slice(256..260)));
    app.assert_handler_heard_nothing();

    let destroyed = app.buffer(4, STORAGE);
    destroyed.destroy();
    let adapter = adapter();
    let other = App::on(&adapter, wgpu::Limits::default());
    for mask in [destroyed, other.buffer(4, STORAGE)] {
        let set = Set::new(&app);
        let recorded = app.encode(&plan(), &set.bound().mask(mask.slice(..)));
        assert!(matches!(recorded.result, Err(GatherError::Rejected(_))));
        app.assert_nothing_recorded([recorded], &set.all());
    }
}

#[test]
fn a_mask_has_whole_words() {
    let app = App::new();
    let set = Set::new(&app).with(Operand::Indices, app.buffer(24, STORAGE));
    let set = set.with(Operand::Output, app.buffer(24, STORAGE));
    let plan = Gather::new().plan(&[10], &[6]).unwrap();
    let mask = app.buffer(8, STORAGE);
    app.assert_accepted(&plan, &set.bound().mask(mask.slice(..)));
    let text = "mask range must have at least 8 bytes, found 6";
    let short = set.bound().mask(mask.slice(..6));
    app.assert_refused(&plan, &short, &set.all(), text);
}

#[test]
fn a_mask_shares_bytes_with_no_operand() {
    let app = App::new();
    for operand in Set::OPERANDS {
        let shared = app.buffer(512, STORAGE);
        let set = Set::new(&app).with(operand, shared.clone());
        let text = format!("mask must not share bytes with {operand}, found 0..4 in both");
        let buffers = set.bound().mask(shared.slice(..));
        app.assert_refused(&plan(), &buffers, &set.all(), &text);
    }
    let count = app.buffer(4, STORAGE);
    let set = Set::new(&app);
    let buffers = set.bound().index_count(count.slice(..));
    let text = "mask must not share bytes with index count, found 0..4 in both";
    app.assert_refused(&plan(), &buffers.mask(count.slice(..)), &set.all(), text);

    let set = Set::new(&app);
    let (one, two) = (app.buffer(24, STORAGE), app.buffer(16, STORAGE));
    let shards = [(6, one.slice(..)), (4, two.slice(..))];
    let buffers = set.of_shards(&shards);
    let text = "mask must not share bytes with params shard 1, found 0..4 in both";
    app.assert_refused(&plan(), &buffers.mask(two.slice(..)), &[&one, &two], text);
}

/// Also if the mask is in the buffer of params, so that the gather's own dispatch binds that buffer only for reading.
#[test]
fn a_mask_is_one_more_dispatch_and_pipeline() {
    let app = App::new();
    let arena = app.buffer(512, STORAGE);
    let set = Set::new(&app).with(Operand::Params, arena.clone());
    let made = |buffers: &Buffers<'_>| {
        let prepared = app.gatherer.prepare(&plan(), buffers).unwrap();
        let gatherer = format!("{:?}", app.gatherer);
        let pipelines = gatherer.split_once("pipelines: ").unwrap().1;
        let (_, pipelines) = pipelines.split_once("pipelines: ").unwrap();
        let (pipelines, _) = pipelines.split_once(',').unwrap();
        (format!("{prepared:?}"), pipelines.to_owned())
    };
    let text = |dispatches| format!("Prepared {{ dispatches: {dispatches} }}");
    let plain = set.without_report();
    assert_eq!(made(&plain), (text(1), "1".to_owned()));
    let masked = plain.mask(arena.slice(256..));
    assert_eq!(made(&masked), (text(2), "2".to_owned()));
    assert_eq!(made(&plain), (text(1), "2".to_owned()));
}

#[test]
fn a_mask_needs_more_bindings_than_a_gather() {
    let app = App::with_limits(wgpu::Limits {
        max_bindings_per_bind_group: 9,
        ..Default::default()
    });
    let set = Set::new(&app);
    app.assert_accepted(&plan(), &set.bound());
    let mask = app.buffer(4, STORAGE);
    let text = "device limit max_bindings_per_bind_group must be at least 10, found 9";
    let buffers = set.bound().mask(mask.slice(..));
    app.assert_refused(&plan(), &buffers, &set.all(), text);
}

#[test]
fn a_mask_needs_bindings_of_four_index_rows() {
    let app = App::binding(352);
    let plan = GatherNd::new().plan(&[1; 8], &[99, 5]).unwrap();
    let [params, indices, output, mask] = [4, 3960, 396, 100].map(|size| app.buffer(size, STORAGE));
    let buffers = buffers_of(
        ElementTypes::of::<f32, u64>(),
        [params.slice(..), indices.slice(..), output.slice(..)],
    );
    app.assert_accepted(&plan, &buffers);
    let text = "device limit max_storage_buffer_binding_size must be at least 384, found 352";
    let buffers = buffers.mask(mask.slice(..));
    app.assert_refused(&plan, &buffers, &[&params, &indices, &output, &mask], text);
}

/// The dispatch of the mask uses its buffer, and a gather without index rows uses none.
#[test]
fn a_mask_of_an_empty_output_is_recorded() {
    let app = App::new();
    let set = Set::new(&app);
    let mask = app.buffer(4, STORAGE);
    let buffers = set.without_report().mask(mask.slice(..));
    let empty_slices = Gather::new().plan(&[3, 0], &[4]).unwrap();
    app.assert_accepted(&empty_slices, &buffers);
    app.assert_accepted(&empty_slices, &buffers.report(set.report.slice(..)));
    let recorded = app.encode(&empty_slices, &buffers);
    mask.destroy();
    app.queue.submit([recorded.encoder.finish()]);
    assert_eq!(app.errors.swap(0, Ordering::Relaxed), 1);

    let no_rows = Gather::new().plan(&[10], &[0]).unwrap();
    let unusable = app.buffer(4, wgpu::BufferUsages::COPY_DST);
    unusable.destroy();
    app.assert_accepted(&no_rows, &buffers.mask(unusable.slice(..)));
    app.assert_handler_heard_nothing();
}
