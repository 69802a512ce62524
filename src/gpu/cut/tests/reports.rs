//! Which dispatches write their reports themselves.

use super::{GPU, cut, cut_for, gather, limits};
use crate::gpu::cut::Cut;
use crate::gpu::kernel::BadRowsTo;

#[test]
fn a_small_dispatch_that_is_alone_writes_its_report_itself() {
    let whole = wgpu::Limits::default();
    // Of each dispatch whether it begins the report, and how many invocations write it if they do.
    let found = |cut: &Cut<'_>, report| {
        let dispatches = cut.dispatches_with(report).map(|dispatch| {
            let window = dispatch.window;
            let itself = dispatch.bad_rows_to(report) == BadRowsTo::Report;
            assert_eq!(itself, window.reporters > 0);
            (window.begins_report, window.reporters)
        });
        dispatches.collect::<Vec<_>>()
    };
    let report = |params: &[usize], rows, element_bytes, limits: &wgpu::Limits, device_type| {
        let plan = gather(params, &[rows]);
        found(&cut_for(&plan, element_bytes, limits, device_type), true)
    };
    let cpu = wgpu::DeviceType::Cpu;
    assert_eq!(report(&[9], 1, 4, &whole, GPU), [(1, 1)]);
    assert_eq!(report(&[9], 1, 1, &whole, GPU), [(1, 1)]);
    assert_eq!(report(&[9], 5, 1, &whole, GPU), [(1, 2)]);
    assert_eq!(report(&[9, 3], 5, 4, &whole, GPU), [(1, 5)]);
    assert_eq!(report(&[9, 3], 5, 1, &whole, GPU), [(1, 4)]);
    assert_eq!(report(&[9], 8, 4, &whole, GPU), [(1, 2)]);
    assert_eq!(report(&[9, 64], 64, 4, &whole, GPU), [(1, 256)]);
    assert_eq!(report(&[9, 64], 64, 4, &whole, cpu), [(1, 16)]);
    assert_eq!(report(&[9], 1000, 4, &whole, cpu), [(1, 16)]);
    // No more than 1,024 rows, or invocations.
    assert_eq!(report(&[9, 2], 1024, 4, &whole, GPU), [(1, 1024)]);
    assert_eq!(report(&[9, 2], 1025, 4, &whole, GPU), [(1, 0)]);
    assert_eq!(report(&[9], 1028, 4, &whole, cpu), [(1, 0)]);
    assert_eq!(report(&[9, 64], 256, 4, &whole, GPU), [(1, 1024)]);
    assert_eq!(report(&[9, 64], 257, 4, &whole, GPU), [(1, 0)]);
    // Of one dispatch among several, none.
    assert_eq!(report(&[9], 1027, 4, &whole, cpu), [(1, 0), (0, 0)]);
    assert_eq!(
        report(&[300], 8, 4, &limits(1024, 2), GPU),
        [(1, 0), (0, 0)]
    );
    // Four storage buffers are enough for notes, but not for a report beside them.
    for (most, reporters) in [(4, 0), (5, 8)] {
        let few = wgpu::Limits {
            max_storage_buffers_per_shader_stage: most,
            ..whole.clone()
        };
        assert_eq!(report(&[9, 2], 8, 4, &few, GPU), [(1, reporters)]);
    }
    let plan = gather(&[9, 2], &[8]);
    let cut = || cut(&plan, 4, &whole);
    assert_eq!(found(&cut().counted(), true), [(1, 0)]);
    assert_eq!(found(&cut(), false), [(0, 0)]);
    assert_eq!(report(&[9], 0, 4, &whole, GPU), [(1, 0)]);
}
