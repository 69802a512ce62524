use super::*;
use crate::Gather;

#[track_caller]
fn assert_kernel(params_shape: &[usize], element_bytes: u64, unit: Unit, lanes: u32) {
    let plan = Gather::new()
        .plan(params_shape, &[5])
        .expect("a valid shape");
    let slice_bytes = plan.dims().slice_len * element_bytes;
    let kernel = Kernel::choose(slice_bytes, 5, wgpu::DeviceType::DiscreteGpu);
    assert_eq!(
        (kernel.unit, 1 << kernel.lanes_log2),
        (unit, lanes),
        "{params_shape:?} x {element_bytes}"
    );
}

#[test]
fn a_slice_takes_the_widest_unit_that_divides_it() {
    assert_kernel(&[9], 4, Unit::Word, 1);
    assert_kernel(&[9, 3], 4, Unit::Word, 1);
    assert_kernel(&[9], 8, Unit::Vec2, 1);
    assert_kernel(&[9, 3], 8, Unit::Vec2, 1);
    assert_kernel(&[9, 10], 4, Unit::Vec2, 1);
    assert_kernel(&[9, 4], 4, Unit::Vec4, 1);
    assert_kernel(&[9, 16], 1, Unit::Vec4, 1);
    assert_kernel(&[9, 12], 1, Unit::Word, 1);
    assert_kernel(&[9, 3], 2, Unit::Byte, 1);
    assert_kernel(&[9, 64], 1, Unit::Vec4, 1);
    assert_kernel(&[9], 16, Unit::Vec4, 1);
    assert_kernel(&[9], 6, Unit::Byte, 1);
}

#[test]
fn long_slices_are_shared_by_lanes() {
    assert_kernel(&[9, 31], 16, Unit::Vec4, 4);
    assert_kernel(&[9, 32], 16, Unit::Vec4, 8);
    assert_kernel(&[9, 9], 4, Unit::Word, 2);
    assert_kernel(&[9, 25], 8, Unit::Vec2, 4);
    assert_kernel(&[9, 1 << 18], 16, Unit::Vec4, 64);
    assert_kernel(&[9, 1 << 20], 16, Unit::Vec4, 256);
    assert_kernel(&[9, (1 << 20) + 1], 1, Unit::Byte, 1);
}

#[test]
fn rows_of_one_unit_are_taken_in_groups_and_on_a_cpu_longer_ones_too() {
    let (gpu, cpu) = (wgpu::DeviceType::DiscreteGpu, wgpu::DeviceType::Cpu);
    for (slice_bytes, device_type, unit, lanes_log2, groups) in [
        (1, gpu, Unit::Byte, 0, 0),
        (4, gpu, Unit::Word, 0, 1),
        (8, gpu, Unit::Vec2, 0, 0),
        (12, gpu, Unit::Word, 0, 0),
        (16, gpu, Unit::Vec4, 0, 1),
        (32, gpu, Unit::Vec4, 0, 0),
        (1 << 20, gpu, Unit::Vec4, 6, 0),
        ((1 << 24) + 4, gpu, Unit::Word, 10, 0),
        (1, cpu, Unit::Byte, 0, 0),
        (4, cpu, Unit::Word, 0, 16),
        (8, cpu, Unit::Vec2, 0, 16),
        (12, cpu, Unit::Word, 0, 16),
        (24, cpu, Unit::Vec2, 0, 10),
        (16, cpu, Unit::Vec4, 0, 16),
        (64, cpu, Unit::Vec4, 0, 4),
        (20, cpu, Unit::Word, 0, 12),
        (256, cpu, Unit::Vec4, 0, 1),
        (264, cpu, Unit::Vec2, 0, 0),
        (512, cpu, Unit::Vec4, 0, 0),
        (1 << 16, cpu, Unit::Vec4, 0, 0),
        (1 << 20, cpu, Unit::Vec4, 4, 0),
        ((1 << 18) + 4, cpu, Unit::Word, 4, 0),
        (1 << 40, cpu, Unit::Vec4, 15, 0),
        (1 << 60, gpu, Unit::Vec4, 15, 0),
    ] {
        let kernel = Kernel::choose(slice_bytes, 5, device_type);
        let expected = Kernel {
            unit,
            lanes_log2,
            groups,
            one_unit: [1, 4, 8, 16].contains(&slice_bytes),
        };
        assert_eq!(kernel, expected, "{slice_bytes} {device_type:?}");
    }
}

#[test]
fn on_a_cpu_invocations_take_pages_of_a_long_output() {
    let (gpu, cpu) = (wgpu::DeviceType::DiscreteGpu, wgpu::DeviceType::Cpu);
    for (slice_bytes, output_bytes, device_type, groups) in [
        (248, 1 << 30, cpu, 1),
        (256, (1 << 24) - 256, cpu, 1),
        (256, 1 << 24, cpu, 16),
        (512, (1 << 24) - 512, cpu, 0),
        (512, 1 << 24, cpu, 8),
        (768, 1 << 30, cpu, 5),
        (1024, 1 << 24, cpu, 4),
        (1028, 1 << 30, cpu, 0),
        (2048, 1 << 30, cpu, 0),
        (512, 1 << 30, gpu, 0),
        (512, u64::MAX, cpu, 8),
    ] {
        let kernel = Kernel::choose(slice_bytes, output_bytes / slice_bytes, device_type);
        assert_eq!(
            kernel.groups, groups,
            "{slice_bytes} {output_bytes} {device_type:?}"
        );
    }
}

#[test]
fn groups_of_slices_of_one_unit_have_pipelines_of_their_own() {
    let (gpu, cpu) = (wgpu::DeviceType::DiscreteGpu, wgpu::DeviceType::Cpu);
    for (slice_bytes, device_type, grouped, rows, one_unit, one_group) in [
        (8, cpu, true, Rows::GroupsOfUnits, 1.0, 0.0),
        (16, cpu, true, Rows::GroupsOfUnits, 1.0, 0.0),
        (4, gpu, true, Rows::GroupOfUnits, 1.0, 1.0),
        (16, gpu, true, Rows::GroupOfUnits, 1.0, 1.0),
        (24, cpu, true, Rows::Groups, 0.0, 0.0),
        (256, cpu, true, Rows::Groups, 0.0, 0.0),
        (8, cpu, false, Rows::Single, 0.0, 0.0),
        (16, gpu, false, Rows::Single, 0.0, 0.0),
    ] {
        let kernel = Kernel::choose(slice_bytes, 5, device_type);
        assert_eq!(kernel.rows(grouped), rows, "{slice_bytes}");
        let key = PipelineKey {
            entry_point: EntryPoint::Gather {
                unit: kernel.unit,
                rows,
                bad_rows: BadRowsTo::Nowhere,
            },
            ..PipelineKey::COUNT_ROWS
        };
        let [.., found_unit, found_group] = key.overrides();
        assert_eq!(found_unit, ("ONE_UNIT", one_unit), "{slice_bytes}");
        assert_eq!(found_group, ("ONE_GROUP", one_group), "{slice_bytes}");
    }
}
