//! Buffer ranges that do not fit their operand: usage, length, offset.

use testkit::gpu::buffers_of;
use wgpu_gather::{Buffers, ElementTypes, Gather, IndexKind, Operand, wgpu};

use super::{App, STORAGE, Set, f32s, plan};

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

/// Operands for gathering 6 out of 10 one-byte elements, with `params` and `output` bytes in their ranges.
fn bound_bytes(set: &Set, params: u64, output: u64) -> Buffers<'_> {
    let (params, output) = (set.params.slice(..params), set.output.slice(..output));
    buffers_of(
        ElementTypes::new(1, IndexKind::U64),
        [params, set.indices.slice(..), output],
    )
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
        let types = ElementTypes::new(element_bytes, index_kind);
        let [of_elements, of_indices] = alignments;
        let set = Set::new(&app);
        let set = Set::OPERANDS.into_iter().fold(set, |set, operand| {
            set.with(operand, app.buffer(512, STORAGE))
        });
        let bound = |starts: [u64; 3]| {
            buffers_of(
                types,
                [
                    set.params.slice(starts[0]..),
                    set.indices.slice(starts[1]..),
                    set.output.slice(starts[2]..),
                ],
            )
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
    // 4 out of 10 rows, with 2 elements each. Params rows are 3 elements apart, output rows 5.
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
        f32s([
            set.params.slice(..params),
            set.indices.slice(..),
            set.output.slice(4..4 + output),
        ])
    };
    app.assert_accepted(&plan, &bound(116, 68));
    let text = "params range must have at least 116 bytes, found 112";
    app.assert_refused(&plan, &bound(112, 68), &set.all(), text);
    let text = "output range must have at least 68 bytes, found 64";
    app.assert_refused(&plan, &bound(116, 64), &set.all(), text);
}
