//! Gathers whose operands share a buffer. One operand is an indirect gather's index count.

use wgpu_gather::{Gather, GatherError, Operand, wgpu};

use super::{App, STORAGE, Set, f32s, plan};

#[test]
fn written_bytes_are_shared_with_no_other_operand() {
    let app = App::new();
    for (operand, with, end) in [
        (Operand::Output, Operand::Params, 16),
        (Operand::Output, Operand::Indices, 16),
        (Operand::Report, Operand::Params, 40),
        (Operand::Report, Operand::Indices, 16),
        (Operand::Report, Operand::Output, 16),
    ] {
        let shared = app.buffer(512, STORAGE);
        let set = Set::new(&app)
            .with(operand, shared.clone())
            .with(with, shared.clone());
        let text = format!("{operand} must not share bytes with {with}, found 0..{end} in both");
        app.assert_refused(&plan(), &set.bound(), &set.all(), &text);
    }
}

#[test]
fn bytes_that_are_shared_in_part_are_named() {
    let app = App::new();
    let plan = Gather::new().plan(&[100], &[80]).unwrap();
    let arena = app.buffer(2048, STORAGE);
    let indices = app.buffer(512, STORAGE);
    let bound = |params: u64, output: u64| {
        let (params, output) = (arena.slice(params..), arena.slice(output..));
        f32s([params, indices.slice(..), output])
    };
    // Params have 400 bytes, the output 320.
    let before = "output must not share bytes with params, found 256..320 in both";
    app.assert_refused(&plan, &bound(256, 0), &[&arena], before);
    let arena = app.buffer(2048, STORAGE);
    let after = f32s([arena.slice(..), indices.slice(..), arena.slice(256..)]);
    let text = "output must not share bytes with params, found 256..400 in both";
    app.assert_refused(&plan, &after, &[&arena], text);
}

/// wgpu rejects a dispatch that binds one buffer both read-only and writable; burn and tract fail with that error.
#[test]
fn burn_and_tract_operands_in_one_buffer_are_gathered() {
    for apart in 0..1 << Set::OPERANDS.len() {
        let app = App::new();
        let arena = app.buffer(2048, STORAGE);
        let set = Set::new(&app);
        let mut starts = (0..).step_by(256);
        let [params, indices, output, report] = [0, 1, 2, 3].map(|number| {
            let start = starts.next().unwrap();
            match apart >> number & 1 {
                0 => arena.slice(start..),
                _ => set.of(Set::OPERANDS[number]).slice(..),
            }
        });
        let buffers = f32s([params, indices, output]);
        for buffers in [buffers, buffers.mask(arena.slice(1024..))] {
            app.assert_accepted(&plan(), &buffers.report(report));
            app.assert_accepted(&plan(), &buffers);
        }
        app.assert_handler_heard_nothing();
    }
}

#[test]
fn operands_without_bytes_may_share_a_written_buffer() {
    let app = App::new();
    let arena = app.buffer(2048, STORAGE);
    let buffers = f32s([arena.slice(..), arena.slice(..256), arena.slice(256..)]);
    // Params without rows, where every index is bad, and index rows without values.
    app.assert_accepted(&Gather::new().plan(&[0], &[4]).unwrap(), &buffers);
    let all = wgpu_gather::GatherNd::new().plan(&[4], &[2, 0]).unwrap();
    app.assert_accepted(&all, &buffers);
    app.assert_handler_heard_nothing();
}

#[test]
fn params_and_indices_may_share_bytes() {
    let app = App::new();
    let shared = app.buffer(512, STORAGE);
    let set = Set::new(&app)
        .with(Operand::Params, shared.clone())
        .with(Operand::Indices, shared.clone());
    app.assert_accepted(&plan(), &set.bound());
    app.assert_accepted(
        &plan(),
        &set.bound_but(Operand::Indices, shared.slice(256..)),
    );
}

#[test]
fn a_count_is_an_operand_like_any() {
    let app = App::new();
    let refused = |count: wgpu::BufferSlice<'_>, text: &str| {
        let set = Set::new(&app);
        let buffers = set.bound().index_count(count);
        app.assert_refused(&plan(), &buffers, &set.all(), text);
    };
    let copied = app.buffer(4, wgpu::BufferUsages::COPY_DST);
    refused(
        copied.slice(..),
        "index count buffer must have usage BufferUsages(STORAGE), found BufferUsages(COPY_DST)",
    );
    let counts = app.buffer(512, STORAGE);
    refused(
        counts.slice(..0),
        "index count range must have at least 4 bytes, found 0",
    );
    refused(
        counts.slice(4..),
        "index count range must start at a multiple of 256 bytes, found 4",
    );
    let set = Set::new(&app);
    app.assert_accepted(&plan(), &set.bound().index_count(counts.slice(256..)));

    let set = Set::new(&app).with(Operand::Output, counts.clone());
    let buffers = set.bound().index_count(counts.slice(..));
    let text = "output must not share bytes with index count, found 0..4 in both";
    app.assert_refused(&plan(), &buffers, &set.all(), text);
    let counts = app.buffer(512, STORAGE);
    let set = Set::new(&app).with(Operand::Output, counts.clone());
    let buffers = set.bound().index_count(counts.slice(256..));
    app.assert_accepted(&plan(), &buffers);
    app.assert_handler_heard_nothing();

    let set = Set::new(&app);
    let destroyed = app.buffer(4, STORAGE);
    destroyed.destroy();
    let buffers = set.bound().index_count(destroyed.slice(..));
    let recorded = app.encode(&plan(), &buffers);
    assert!(matches!(recorded.result, Err(GatherError::Rejected(_))));
    app.assert_nothing_recorded([recorded], &set.all());
}

#[test]
fn a_count_needs_more_bindings_and_a_larger_one() {
    for (name, limits) in [
        (
            "max_bindings_per_bind_group must be at least 9, found 8",
            wgpu::Limits {
                max_bindings_per_bind_group: 8,
                ..Default::default()
            },
        ),
        (
            "max_storage_buffer_binding_size must be at least 512, found 256",
            wgpu::Limits {
                max_storage_buffer_binding_size: 256,
                ..Default::default()
            },
        ),
    ] {
        let app = App::with_limits(limits);
        let set = Set::new(&app);
        app.assert_accepted(&plan(), &set.bound());
        let counts = app.buffer(4, STORAGE);
        let buffers = set.bound().index_count(counts.slice(..));
        app.assert_refused(&plan(), &buffers, &[], &format!("device limit {name}"));
    }
}
