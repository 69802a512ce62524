//! Buffers that do not fit their operand: usage, length, offset, device, shards, fill.

use wgpu_gather::{
    BadIndices, ElementTypes, Gather, GatherBuffers, GatherError, GatherNd, IndexKind, Operand,
    wgpu,
};

use super::{App, Recorded, STORAGE, Set, adapter, plan};

#[test]
fn a_buffer_without_the_usage_is_refused() {
    let app = App::new();
    for operand in Set::OPERANDS {
        let set = Set::new(&app).with(operand, app.buffer(80, wgpu::BufferUsages::COPY_DST));
        let text = format!(
            "{operand} buffer must have usage BufferUsages(STORAGE), found BufferUsages(COPY_DST)"
        );
        app.assert_refused(&plan(), &set.bound(), &set.all(), &text);
    }
}

#[test]
fn a_range_shorter_than_its_operand_is_refused() {
    let app = App::new();
    for (operand, expected) in Set::OPERANDS.into_iter().zip([40, 16, 16, 80]) {
        let set = Set::new(&app);
        let buffers = set.bound_but(operand, set.of(operand).slice(..expected - 4));
        let text = format!(
            "{operand} range must have at least {expected} bytes, found {}",
            expected - 4
        );
        app.assert_refused(&plan(), &buffers, &set.all(), &text);
        let set = Set::new(&app);
        let buffers = set.bound_but(operand, set.of(operand).slice(0..0));
        let text = format!("{operand} range must have at least {expected} bytes, found 0");
        app.assert_refused(&plan(), &buffers, &set.all(), &text);
    }
}

/// Operands of a gather of 6 out of 10 elements of 1 byte, with `params` and `output` bytes in their ranges.
fn bound_bytes(set: &Set, params: u64, output: u64) -> GatherBuffers<'_> {
    let (params, output) = (set.params.slice(..params), set.output.slice(..output));
    GatherBuffers::new(ElementTypes {
        element_bytes: 1,
        index_kind: IndexKind::U64,
    })
    .params(params)
    .indices(set.indices.slice(..))
    .output(output)
}

#[test]
fn a_range_holds_whole_words() {
    let app = App::new();
    let plan = Gather::new().plan(&[10], &[6]).unwrap();
    let set = || Set::new(&app).with(Operand::Indices, app.buffer(48, STORAGE));
    app.assert_accepted(&plan, &bound_bytes(&set(), 12, 8));
    for (params, output, text) in [
        (10, 8, "params range must have at least 12 bytes, found 10"),
        (12, 6, "output range must have at least 8 bytes, found 6"),
    ] {
        let set = set();
        app.assert_refused(&plan, &bound_bytes(&set, params, output), &set.all(), text);
    }
}

#[test]
fn a_range_that_starts_off_the_alignment_is_refused() {
    let app = App::new();
    for operand in Set::OPERANDS {
        let (alignment, refused) = match operand {
            Operand::Report => (256, [4, 255, 257]),
            _ => (4, [1, 2, 255]),
        };
        for offset in refused {
            let set = Set::new(&app).with(operand, app.buffer(512, STORAGE));
            let buffers = set.bound_but(operand, set.of(operand).slice(offset..));
            let text = format!(
                "{operand} range must start at a multiple of {alignment} bytes, found {offset}"
            );
            app.assert_refused(&plan(), &buffers, &set.all(), &text);
        }
        for offset in [alignment, 256] {
            let set = Set::new(&app).with(operand, app.buffer(512, STORAGE));
            let buffers = set.bound_but(operand, set.of(operand).slice(offset..));
            app.assert_accepted(&plan(), &buffers);
        }
    }
}

#[test]
fn a_range_starts_with_a_whole_element() {
    let app = App::new();
    for (element_bytes, index_kind, alignments) in [
        (1, IndexKind::U8, [1, 1]),
        (2, IndexKind::I16, [2, 2]),
        (3, IndexKind::U16, [1, 2]),
        (6, IndexKind::I64, [2, 4]),
        (8, IndexKind::U32, [4, 4]),
        (12, IndexKind::U64, [4, 4]),
    ] {
        let types = ElementTypes {
            element_bytes,
            index_kind,
        };
        let [of_elements, of_indices] = alignments;
        let set = Set::new(&app);
        let set = Set::OPERANDS.into_iter().fold(set, |set, operand| {
            set.with(operand, app.buffer(512, STORAGE))
        });
        let bound = |starts: [u64; 3]| {
            GatherBuffers::new(types)
                .params(set.params.slice(starts[0]..))
                .indices(set.indices.slice(starts[1]..))
                .output(set.output.slice(starts[2]..))
        };
        app.assert_accepted(&plan(), &bound([of_elements, of_indices, 3 * of_elements]));
        for (starts, operand, alignment, offset) in [
            (
                [of_elements / 2, 0, 0],
                "params",
                of_elements,
                of_elements / 2,
            ),
            (
                [0, of_indices / 2, 0],
                "indices",
                of_indices,
                of_indices / 2,
            ),
            (
                [0, 0, 2 * of_elements + of_elements / 2],
                "output",
                of_elements,
                2 * of_elements + of_elements / 2,
            ),
        ] {
            if alignment > 1 {
                let text = format!(
                    "{operand} range must start at a multiple of {alignment} bytes, found {offset}"
                );
                app.assert_refused(&plan(), &bound(starts), &set.all(), &text);
            }
        }
    }
}

#[test]
fn a_range_with_gaps_ends_at_the_last_slice() {
    let app = App::new();
    // 4 of 10 rows of 2 elements. Rows of params are 3 elements apart, and rows of the output 5.
    let plan = Gather::new().plan(&[10, 2], &[4]).unwrap();
    let plan = plan
        .with_params_stride(3)
        .unwrap()
        .with_output_stride(5)
        .unwrap();
    let set = Set::new(&app)
        .with(Operand::Params, app.buffer(256, STORAGE))
        .with(Operand::Output, app.buffer(256, STORAGE));
    let bound = |params: u64, output: u64| {
        GatherBuffers::new(ElementTypes::of::<f32, i32>())
            .params(set.params.slice(..params))
            .indices(set.indices.slice(..))
            .output(set.output.slice(4..4 + output))
    };
    app.assert_accepted(&plan, &bound(116, 68));
    let text = "params range must have at least 116 bytes, found 112";
    app.assert_refused(&plan, &bound(112, 68), &set.all(), text);
    let text = "output range must have at least 68 bytes, found 64";
    app.assert_refused(&plan, &bound(116, 64), &set.all(), text);
}

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
    let adapter = adapter(wgpu::Limits::unlimited());
    let [app, other] = [(); 2].map(|()| App::on(&adapter, wgpu::Limits::default()));
    for operand in Set::OPERANDS {
        let set = Set::new(&app).with(operand, other.buffer(256, STORAGE));
        assert_rejected(&app, &set, operand, "doesn't match");
        other.assert_handler_heard_nothing();
    }
}

#[test]
fn an_empty_output_with_an_unusable_report_is_refused() {
    let adapter = adapter(wgpu::Limits::unlimited());
    let [app, other] = [(); 2].map(|()| App::on(&adapter, wgpu::Limits::default()));
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
        let buffers = GatherBuffers::new(ElementTypes::of::<f32, i32>())
            .params(set.params.slice(..params))
            .indices(set.indices.slice(..indices))
            .output(set.output.slice(..output));
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
    let plan = Gather::new()
        .bad_indices(BadIndices::Error)
        .plan(&[10], &[4])
        .unwrap();
    let set = Set::new(&app);
    app.assert_accepted(&plan, &set.bound());
    let text = "bad_indices Error must have a report buffer on the GPU, found none";
    app.assert_refused(&plan, &set.without_report(), &set.all(), text);
}

#[test]
fn elements_without_bytes_are_refused() {
    let app = App::new();
    let set = Set::new(&app);
    let (params, indices, output) = (
        set.params.slice(..),
        set.indices.slice(..),
        set.output.slice(..),
    );
    let buffers = GatherBuffers::new(ElementTypes::of::<(), i32>())
        .params(params)
        .indices(indices)
        .output(output);
    assert_eq!(
        buffers,
        GatherBuffers::new(ElementTypes {
            element_bytes: 0,
            index_kind: IndexKind::I32
        })
        .params(params)
        .indices(indices)
        .output(output)
    );
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
        let (params, indices, output) = (
            set.params.slice(..),
            set.indices.slice(..),
            set.output.slice(..),
        );
        let buffers = GatherBuffers::new(ElementTypes {
            element_bytes,
            index_kind: IndexKind::I32,
        })
        .params(params)
        .indices(indices)
        .output(output);
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
            [u64::MAX, 11],
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
        let buffers = set.without_report().params_shards(&shards);
        match text {
            None => app.assert_accepted(&plan(), &buffers),
            Some(text) => app.assert_refused(&plan(), &buffers, &[&one, &two, &set.output], text),
        }
    }
    let set = Set::new(&app).with(Operand::Output, app.buffer(40, STORAGE));
    let shards = [(10, set.output.slice(..))];
    let buffers = set.without_report().params_shards(&shards);
    let text = "output must not share bytes with params shard 0, found 0..16 in both";
    app.assert_refused(&plan(), &buffers, &[&set.indices, &set.output], text);
}

#[test]
fn params_without_rows_may_have_no_shards() {
    let app = App::new();
    for index_count in [0, 2] {
        let plan = Gather::new().plan(&[0, 2], &[index_count]).unwrap();
        let set = Set::new(&app);
        let buffers = set.without_report().params_shards(&[]);
        app.assert_accepted(&plan, &buffers);
        app.assert_accepted(&plan, &buffers.report(set.report.slice(..)));
    }
}

#[test]
fn a_fill_that_is_no_element_is_refused() {
    let app = App::new();
    let [params, indices, output] = [40, 16, 16].map(|size| app.buffer(size, STORAGE));
    let buffers = GatherBuffers::new(ElementTypes::of::<f32, i32>())
        .params(params.slice(..))
        .indices(indices.slice(..))
        .output(output.slice(..));
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
    let buffers = GatherBuffers::new(ElementTypes {
        element_bytes: 17,
        index_kind: IndexKind::I32,
    })
    .params(params)
    .indices(indices)
    .output(output);
    let text = "a fill of elements of 17 bytes is too long for the GPU";
    app.assert_refused(&plan(), &buffers.fill(&[1; 17]), &[], text);
}
