//! Tests the shaders' overrides, and the values that pipelines give them.

use std::collections::{BTreeMap, BTreeSet};

use naga::{Expression, Literal, Scalar};

use super::parsed::ValidModule;
use super::pipeline::for_each_pipeline;
use crate::encoding::{Decoding, Encoding, FloatKind};
use crate::gpu::find_rows::FindRows;
use crate::gpu::kernel::{Kernel, Unit, WORKGROUP_SIZE};
use crate::gpu::shaders::EntryPoint;

const F32_TO_F16: Decoding = Decoding {
    encoding: Encoding::F32,
    to: FloatKind::F16,
};

#[test]
fn overrides_are_u32_and_have_defaults() {
    for shader in ValidModule::all(false) {
        for (_, found) in shader.module.overrides.iter() {
            let name = found.name.as_deref().expect("an override has a name");
            assert_eq!(found.id, None, "{name} is set by name");
            assert_eq!(shader.scalar(found.ty), Scalar::U32, "{name}");
            let default = found.init.expect("an override has a default");
            let expected = match name {
                "INDEX_WORDS" | "DEPTH" | "LANE_WORDS" | "ENTRY_BITS" => 1,
                "ELEMENTS" | "WRAPS" | "HAS_ROWS" | "REDUCE" | "NUMBER" | "IS_WEIGHTED" => 0,
                "PACKED_BYTES" | "BITS" => 4,
                "BLOCK_LEN" => 32,
                other => panic!("{other} is in no table"),
            };
            let default = &shader.module.global_expressions[default];
            assert_eq!(
                default,
                &Expression::Literal(Literal::U32(expected)),
                "{name}"
            );
        }
    }
}

#[test]
fn a_pipeline_sets_the_overrides_of_its_kernel() {
    let find = FindRows::Words {
        index_words: 2,
        depth: 1,
    };
    let of_find = |find: FindRows, expected: [f64; 4]| {
        let names = ["INDEX_WORDS", "DEPTH", "ELEMENTS", "WRAPS"];
        let expected: Vec<_> = names.into_iter().zip(expected).collect();
        assert_eq!(find.overrides(), expected);
    };
    of_find(find, [2.0, 1.0, 0.0, 0.0]);
    of_find(FindRows::Wrapped { index_words: 1 }, [1.0, 1.0, 0.0, 1.0]);
    of_find(FindRows::Deep, [2.0, 0.0, 0.0, 0.0]);
    of_find(FindRows::Elements { index_words: 2 }, [2.0, 1.0, 1.0, 0.0]);
    assert_eq!(FindRows::General.overrides(), []);
    for (kernel, of_kernel) in [
        (Kernel::Rows(Unit::Word), None),
        (Kernel::FourRows(Unit::Word), None),
        (Kernel::Long(Unit::Vec4), None),
        (
            Kernel::Packed { slice_bytes: 2 },
            Some(("PACKED_BYTES", 2.0)),
        ),
        (Kernel::Bytes { lane_words: 1 }, Some(("LANE_WORDS", 1.0))),
        (Kernel::Bytes { lane_words: 4 }, Some(("LANE_WORDS", 4.0))),
        (Kernel::Halves(F32_TO_F16), Some(("HAS_ROWS", 0.0))),
    ] {
        for report in [false, true] {
            let entry_point = EntryPoint::Gather {
                kernel,
                find,
                report,
            };
            let expected: Vec<_> = find.overrides().into_iter().chain(of_kernel).collect();
            assert_eq!(entry_point.overrides(), expected, "{entry_point:?}");
        }
    }
    assert_eq!(EntryPoint::FinishReport.overrides(), []);
    assert_eq!(EntryPoint::CountRows.overrides(), []);
    assert_eq!(EntryPoint::OutOfRange.overrides(), []);
}

/// A pipeline has one entry point of its size, and sets every override that it reads.
#[test]
fn pipelines_read_the_overrides_that_they_set() {
    let names = [
        "INDEX_WORDS",
        "DEPTH",
        "ELEMENTS",
        "WRAPS",
        "PACKED_BYTES",
        "LANE_WORDS",
        "BITS",
        "BLOCK_LEN",
        "HAS_ROWS",
        "REDUCE",
        "NUMBER",
        "IS_WEIGHTED",
        "ENTRY_BITS",
    ];
    for_each_pipeline(|pipeline| {
        let [entry_point] = &pipeline.module.entry_points[..] else {
            panic!("{:?} has one entry point", pipeline.key);
        };
        let size = match pipeline.key.entry_point {
            EntryPoint::FinishReport | EntryPoint::CountRows => 1,
            _ => WORKGROUP_SIZE,
        };
        let key = &pipeline.key;
        assert_eq!(entry_point.workgroup_size, [size, 1, 1], "{key:?}");
        assert_eq!(entry_point.name, pipeline.name());
        let constants = pipeline.module.constants.iter();
        let found: BTreeMap<_, _> = constants
            .filter_map(|(_, constant)| {
                let name = constant
                    .name
                    .as_deref()
                    .filter(|name| names.contains(name))?;
                match pipeline.module.global_expressions[constant.init] {
                    Expression::Literal(Literal::U32(value)) => Some((name, f64::from(value))),
                    ref other => panic!("{name}: {other:?}"),
                }
            })
            .collect();
        let expected = BTreeMap::from_iter(pipeline.key.entry_point.overrides());
        assert_eq!(found, expected, "{:?}", pipeline.key);
    });
}

#[test]
fn entry_points_and_overrides_are_few() {
    let mut entry_points = BTreeSet::new();
    let mut overrides = BTreeSet::new();
    for shader in ValidModule::all(false) {
        for entry_point in shader.entry_points() {
            let unit_bytes = match entry_point {
                EntryPoint::Gather { kernel, .. } => kernel.slice_unit_bytes(),
                _ => 0,
            };
            entry_points.insert((entry_point.name(), unit_bytes));
        }
        let found = shader.module.overrides.iter();
        overrides.extend(found.map(|(_, found)| found.name.clone()));
    }
    assert!(entry_points.len() <= 52, "{entry_points:?}");
    assert!(overrides.len() <= 13, "{overrides:?}");
}
