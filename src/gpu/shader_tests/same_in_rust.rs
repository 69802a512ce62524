//! Structs and numbers that the shaders and the Rust side share.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::offset_of;

use naga::TypeInner;

use super::parsed::ValidModule;
use crate::bad_indices::Beyond;
use crate::bags::BLOCK_PLACES;
use crate::gpu::kernel;
use crate::gpu::report::{BadRowCounter, BadRowReport};
use crate::gpu::scatter::order;
use crate::gpu::shaders::{EntryPoint, Shader};
use crate::gpu::shares;
use crate::gpu::types::size;
use crate::gpu::uniform::{BagsUniform, GatherUniform, General, OrderUniform, Quantized};

/// Field names of a Rust struct with their offsets in bytes, and its size.
macro_rules! rust_layout {
    ($of:ty: $($field:ident),*) => {
        (vec![$((stringify!($field), offset_of!($of, $field))),*], size_of::<$of>())
    };
}

#[test]
fn numbers_are_the_same_in_both_languages() {
    let numbers = BTreeMap::from([
        ("WORKGROUP_SIZE", kernel::WORKGROUP_SIZE),
        ("LANE_ROWS", kernel::LANE_ROWS),
        ("LANE_UNITS", kernel::LANE_UNITS),
        ("LANE_BYTES", kernel::LANE_BYTES),
        ("SLOT_BITS", shares::SLOT_BITS),
        ("NONE", u32::MAX),
        ("NO_ROW", u32::MAX),
        ("ALL_BITS", u32::MAX),
        ("NEAREST", Beyond::Nearest as u32),
        ("REMAINDER", Beyond::Remainder as u32),
        ("DIGITS", 256),
        ("TILE", order::TILE),
        ("SCANNED", order::SCANNED),
        ("ROUNDS", order::TILE / kernel::WORKGROUP_SIZE),
        ("LANE_COUNTS", order::SCANNED / kernel::WORKGROUP_SIZE),
        ("BIT_WORDS", kernel::WORKGROUP_SIZE / u32::BITS),
        // sort_move names each couple.
        ("BIT_COUPLES", 4),
        ("FIRST_PLAIN", 25 << 24),
        ("PLAIN_END", 243 << 24),
        ("SIGN_BIT", (-0.0_f32).to_bits()),
        ("ONE", 1.0_f32.to_bits()),
        ("INFINITY", f32::INFINITY.to_bits()),
        ("NAN", f32::NAN.to_bits()),
        ("NEGATIVE_INFINITY", f32::NEG_INFINITY.to_bits()),
        ("BLOCK_PLACES", size(BLOCK_PLACES)),
        ("FIRST_FACTOR", 64 << 24),
        ("FACTORS_END", 191 << 24),
    ]);
    let mut seen = BTreeSet::new();
    for shader in ValidModule::all(false) {
        for (name, number) in shader.constants() {
            assert_eq!(numbers.get(name), Some(&number), "{name}");
            seen.insert(name.to_owned());
        }
    }
    assert_eq!(seen.len(), numbers.len(), "{seen:?}");
}

#[test]
fn structs_have_one_layout_in_both_languages() {
    let report = ValidModule::new(Shader::of(EntryPoint::FinishReport), false);
    assert_eq!(
        report.layout("GatherUniform"),
        rust_layout!(GatherUniform: rows, units, grid_width, workgroup_rows, slot_scale, lane_step, slice_workgroups,
            params_start, output_start, indices_start, params_stride, output_stride, first_n, index_count,
            outer_size, window_rows, sign, from_end, beyond, fill_words, reports, most_rows, held_rows,
            first_row, window_first_row, index_row_base, last_dim, last_dim_stride, dims, fill, general, quantized, order, bags)
    );
    assert_eq!(
        report.layout("General"),
        rust_layout!(General: index_depth, index_bits_log2, index_stride, winners_start, element_dims)
    );
    assert_eq!(
        report.layout("Quantized"),
        rust_layout!(Quantized: params_start, scales_start, zero_points_start, scale_bytes, are_scales_bf16,
            zero_point, flipped, zero)
    );
    assert_eq!(
        report.layout("Order"),
        rust_layout!(OrderUniform: zeros, places, first_key, shift, tiles, first_update, updates, sum_updates, most_steps,
            first_sum, slice_units, first_sum_unit)
    );
    assert_eq!(
        report.layout("Bags"),
        rust_layout!(BagsUniform: places, size, offsets_start, weights_start, offset_words, offset_sign, offsets, is_mean)
    );
    assert_eq!(
        report.layout("BadRowReport"),
        rust_layout!(BadRowReport: bad_row_count, first_bad_row, index)
    );
    assert_eq!(
        report.layout("BadRowCounter"),
        rust_layout!(BadRowCounter: count, first_complement)
    );
}

#[test]
fn uniform_arrays_have_no_padding() {
    let shader = ValidModule::new(Shader::of(EntryPoint::FinishReport), false);
    let types = &shader.module.types;
    let mut arrays = Vec::new();
    for name in ["GatherUniform", "General", "Quantized", "Order"] {
        let TypeInner::Struct { members, .. } = shader.type_named(name) else {
            panic!("{name} is a struct");
        };
        for member in members {
            if let TypeInner::Array { base, stride, .. } = types[member.ty].inner {
                let size = types[base].inner.size(shader.module.to_ctx());
                arrays.push((member.name.as_deref(), stride, size));
            }
        }
    }
    let expected = ["dims", "fill", "element_dims"].map(|name| (Some(name), 16, 16));
    assert_eq!(arrays, expected);
}
