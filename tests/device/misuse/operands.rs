//! Operands that a gather refuses: destroyed buffers, another device's buffers, elements without bytes, shards, fills.

use testkit::gpu::buffers_of;
use wgpu_gather::{ElementTypes, Gather, GatherError, GatherNd, IndexKind, Operand, wgpu};

use super::{App, Recorded, STORAGE, Set, f32s, plan, plan_with_error};

#[test]
fn a_destroyed_buffer_is_refused() {
    let app = App::new();
    for operand in Set::OPERANDS {
        let set = Set::new(&app);
        set.of(operand).destroy();
        assert_rejected(&app, &set, operand, "has been destroyed");
    }
}

#[test]
fn a_buffer_of_another_device_is_refused() {
    let [app, other] = App::two();
    for operand in Set::OPERANDS {
        let set = Set::new(&app).with(operand, other.buffer(256, STORAGE));
        assert_rejected(&app, &set, operand, "doesn't match");
        other.assert_handler_heard_nothing();
    }
}

#[test]
fn an_empty_output_with_an_unusable_report_is_refused() {
    let [app, other] = App::two();
    let plan = Gather::new().plan(&[10], &[0]).unwrap();
    let destroyed = app.buffer(80, STORAGE);
    destroyed.destroy();
    for report in [destroyed, other.buffer(80, STORAGE)] {
        let set = Set::new(&app).with(Operand::Report, report);
        let recorded = [
            app.encode(&plan, &set.bound()),
            app.record(&plan, &set.bound()),
        ];
        for Recorded { result, .. } in &recorded {
            assert!(
                matches!(result, Err(GatherError::Rejected(_))),
                "{result:?}"
            );
        }
        app.assert_nothing_recorded(recorded, &set.all());
    }
}

/// Both ways of recording are rejected, and wgpu's text contains `part`.
#[track_caller]
fn assert_rejected(app: &App, set: &Set, operand: Operand, part: &str) {
    let recorded = [
        app.encode(&plan(), &set.bound()),
        app.record(&plan(), &set.bound()),
    ];
    for Recorded { result, .. } in &recorded {
        let Err(GatherError::Rejected(reason)) = result else {
            panic!("{operand}: {result:?}");
        };
        assert!(reason.contains(part), "{operand}: {reason}");
        assert_eq!(
            result.as_ref().unwrap_err().to_string(),
            format!("rejected by the device: {reason}")
        );
    }
    app.assert_nothing_recorded(recorded, &set.all());
}

#[test]
fn operands_without_elements_may_have_empty_ranges() {
    let app = App::new();
    let set = Set::new(&app);
    let gather = Gather::new();
    for (plan, [params, indices, output]) in [
        (gather.plan(&[3, 0], &[4]), [0, 16, 0]),
        (gather.plan(&[3], &[0]), [12, 0, 0]),
        (gather.plan(&[0], &[0]), [0, 0, 0]),
        (gather.plan(&[0], &[4]), [0, 16, 16]),
        (GatherNd::new().plan(&[4], &[1, 0]), [16, 0, 16]),
    ] {
        let buffers = f32s([
            set.params.slice(..params),
            set.indices.slice(..indices),
            set.output.slice(..output),
        ]);
        let plan = plan.unwrap();
        app.assert_accepted(&plan, &buffers);
        app.assert_accepted(&plan, &buffers.report(set.report.slice(..)));
    }
}

#[test]
fn an_operand_without_elements_may_be_any_buffer() {
    let app = App::new();
    let unusable = app.buffer(4, wgpu::BufferUsages::COPY_DST);
    unusable.destroy();
    let set = Set::new(&app)
        .with(Operand::Params, unusable.clone())
        .with(Operand::Output, unusable.clone());
    app.assert_accepted(&Gather::new().plan(&[3, 0], &[4]).unwrap(), &set.bound());
    let set = Set::new(&app).with(Operand::Params, unusable);
    app.assert_accepted(&Gather::new().plan(&[0], &[4]).unwrap(), &set.bound());
    let set = Set::new(&app).with(Operand::Output, set.params.clone());
    app.assert_accepted(&Gather::new().plan(&[10], &[0]).unwrap(), &set.bound());
}

#[test]
fn the_error_policy_needs_a_report() {
    let app = App::new();
    let plan = plan_with_error();
    let set = Set::new(&app);
    app.assert_accepted(&plan, &set.bound());
    let text = "bad_indices Error must have a report buffer on the GPU, found none";
    app.assert_refused(&plan, &set.without_report(), &set.all(), text);
}

#[test]
fn elements_without_bytes_are_refused() {
    let app = App::new();
    let set = Set::new(&app);
    let buffers = set.of_types(ElementTypes::of::<(), i32>());
    assert_eq!(buffers, set.of_types(ElementTypes::new(0, IndexKind::I32)));
    let text = "an element must have at least 1 byte on the GPU, found 0";
    app.assert_refused(&plan(), &buffers, &set.all(), text);
}

#[test]
fn bytes_that_cannot_be_counted_are_refused() {
    let app = App::new();
    for (element_bytes, found) in [
        (u64::MAX, "10 elements of 18446744073709551615 bytes"),
        (
            i64::MAX as u64 / 10 + 1,
            "10 elements of 922337203685477581 bytes",
        ),
    ] {
        let set = Set::new(&app);
        let buffers = set.of_types(ElementTypes::new(element_bytes, IndexKind::I32));
        let text = format!("params must have at most 9223372036854775807 bytes, found {found}");
        app.assert_refused(&plan(), &buffers, &set.all(), &text);
    }
    let set = Set::new(&app);
    let plan = Gather::new().plan(&[10], &[1 << 62]).unwrap();
    let text = "indices must have at most 9223372036854775807 bytes, found 4611686018427387904 elements of 4 bytes";
    app.assert_refused(&plan, &set.bound(), &set.all(), text);
    let set = Set::new(&app);
    let plan = GatherNd::new().plan(&[10], &[1 << 58, 0]).unwrap();
    let text = "output must have at most 9223372036854775807 bytes, found 2882303761517117440 elements of 4 bytes";
    app.assert_refused(&plan, &set.bound(), &set.all(), text);
}

#[test]
fn shards_that_do_not_make_up_params_are_refused() {
    let app = App::new();
    for (rows, text) in [
        ([6, 4], None),
        (
            [6, 3],
            Some("params shards must have 10 rows together, found 9"),
        ),
        (
            [usize::MAX, 11],
            Some("params shards must have 10 rows together, found 18446744073709551615"),
        ),
        (
            [5, 5],
            Some("params shard 1 range must have at least 20 bytes, found 16"),
        ),
        (
            [10, 0],
            Some("params shard 0 range must have at least 40 bytes, found 24"),
        ),
    ] {
        let set = Set::new(&app);
        let (one, two) = (app.buffer(24, STORAGE), app.buffer(16, STORAGE));
        let shards =
            [(rows[0], &one), (rows[1], &two)].map(|(rows, buffer)| (rows, buffer.slice(..)));
        let buffers = set.of_shards(&shards);
        match text {
            None => app.assert_accepted(&plan(), &buffers),
            Some(text) => app.assert_refused(&plan(), &buffers, &[&one, &two, &set.output], text),
        }
    }
    let set = Set::new(&app).with(Operand::Output, app.buffer(40, STORAGE));
    let shards = [(10, set.output.slice(..))];
    let buffers = set.of_shards(&shards);
    let text = "output must not share bytes with params shard 0, found 0..16 in both";
    app.assert_refused(&plan(), &buffers, &[&set.indices, &set.output], text);
}

#[test]
fn params_without_rows_may_have_no_shards() {
    let app = App::new();
    for index_count in [0, 2] {
        let plan = Gather::new().plan(&[0, 2], &[index_count]).unwrap();
        let set = Set::new(&app);
        let buffers = set.of_shards(&[]);
        app.assert_accepted(&plan, &buffers);
        app.assert_accepted(&plan, &buffers.report(set.report.slice(..)));
    }
}

#[test]
fn a_fill_that_is_no_element_is_refused() {
    let app = App::new();
    let [params, indices, output] = [40, 16, 16].map(|size| app.buffer(size, STORAGE));
    let buffers = f32s([params.slice(..), indices.slice(..), output.slice(..)]);
    for (fill, found) in [(&[0_u8; 2][..], 2), (&[0; 8], 8), (&[], 0), (&[0; 65], 65)] {
        app.assert_refused(
            &plan(),
            &buffers.fill(fill),
            &[],
            &format!("the fill has {found} bytes, an element 4"),
        );
    }
    let [params, indices, output] = [170, 16, 68].map(|size| app.buffer(size + 2, STORAGE));
    let [params, indices, output] = [&params, &indices, &output].map(|buffer| buffer.slice(..));
    let buffers = buffers_of(
        ElementTypes::new(17, IndexKind::I32),
        [params, indices, output],
    );
    let text = "a fill of elements of 17 bytes is too long for the GPU";
    app.assert_refused(&plan(), &buffers.fill(&[1; 17]), &[], text);
}
