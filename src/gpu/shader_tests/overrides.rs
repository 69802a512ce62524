//! The shader's overrides against what a pipeline sets.

use naga::Expression;

use super::{EntryPoint, PipelineKey, Shader, WORKGROUP_SIZE};
use crate::element::IndexKind;

#[test]
fn the_overrides_are_those_of_a_pipeline_and_default_to_its_i32_values() {
    let shader = Shader::gather();
    let found: Vec<_> = shader
        .module
        .overrides
        .iter()
        .map(|(_, found)| {
            assert_eq!(found.id, None, "{:?} is set by name", found.name);
            let init = found.init.expect("an override has a default");
            let Expression::Literal(default) = shader.module.global_expressions[init] else {
                panic!("the default of {:?} is a literal", found.name);
            };
            (
                found.name.as_deref().expect("an override has a name"),
                number(default),
            )
        })
        .collect();
    let i32_key = PipelineKey {
        entry_point: EntryPoint::ReportBadRows,
        index_kind: IndexKind::I32,
        from_end: false,
        clamp: false,
        fill: false,
        places: false,
        wide: false,
        one_part: false,
        one_buffer: false,
        index_depth: 1,
    };
    assert_eq!(found, i32_key.overrides());
    let types: Vec<_> = shader
        .module
        .overrides
        .iter()
        .map(|(_, found)| shader.scalar(found.ty))
        .collect();
    let (u32, bool) = (naga::Scalar::U32, naga::Scalar::BOOL);
    assert_eq!(
        types,
        [
            u32, u32, bool, bool, bool, bool, bool, bool, bool, u32, bool, bool
        ]
    );
}

#[test]
fn each_index_kind_sets_its_overrides() {
    let workgroup = f64::from(WORKGROUP_SIZE);
    for (index_kind, words, signed) in [
        (IndexKind::I32, 1.0, 1.0),
        (IndexKind::U32, 1.0, 0.0),
        (IndexKind::I64, 2.0, 1.0),
        (IndexKind::U64, 2.0, 0.0),
    ] {
        for (from_end, expected) in [(false, 0.0), (true, 1.0)] {
            let entry_point = EntryPoint::ReportBadRows;
            let key = PipelineKey {
                entry_point,
                index_kind,
                from_end,
                clamp: !from_end,
                fill: from_end,
                places: from_end,
                wide: from_end,
                one_part: !from_end,
                one_buffer: false,
                index_depth: 2,
            };
            assert_eq!(
                key.overrides().map(|(_, value)| value),
                [
                    workgroup,
                    words,
                    signed,
                    expected,
                    1.0 - expected,
                    expected,
                    expected,
                    expected,
                    1.0 - expected,
                    2.0,
                    0.0,
                    0.0
                ],
                "{key:?}"
            );
        }
    }
}

/// A literal as the pipeline would set it.
pub(super) fn number(literal: naga::Literal) -> f64 {
    match literal {
        naga::Literal::U32(value) => f64::from(value),
        naga::Literal::Bool(value) => f64::from(u8::from(value)),
        other => panic!("{other:?} is neither u32 nor bool"),
    }
}
