//! Cuts quantised params, whose scales may be longer than params.

use super::{Cut, Placed, gather, limits};
use crate::element::ElementTypes;
use crate::encoding::{BlockQuantized, Encoding};
use crate::gpu::bound::BoundRange;
use crate::index::IndexKind;

#[test]
fn windows_hold_as_many_rows_as_scales_fit() {
    // A row has 4 values: one params byte, and a 4-byte scale. The first scale starts at byte 8.
    let quantized = BlockQuantized::new(2, 16).expect("a block");
    let types = ElementTypes::encoded(Encoding::BlockQuantized(quantized), IndexKind::I32);
    let plan = gather(&[1000, 4], &[10]);
    let placed = Placed {
        qparam_starts: [Some(8), None],
        ..Placed::aligned(&plan)
    };
    let cut = Cut::new(super::typed(&plan, types), &placed, &limits(1024, 65_535));
    let cut = cut.expect("it fits");
    let dispatches: Vec<_> = cut.dispatches().collect();
    let windows: Vec<_> = dispatches.iter().map(|of| of.params_rows).collect();
    assert_eq!(windows, [(0, 254), (254, 510), (510, 766), (766, 1000)]);
    let scales: Vec<_> = dispatches.iter().map(|of| of.qparams[0]).collect();
    let bound = |offset, bytes, start| BoundRange {
        offset,
        bytes,
        start,
    };
    let expected = [
        bound(0, 1024, 8),
        bound(1024, 1024, 0),
        bound(2048, 1024, 0),
        bound(3072, 936, 0),
    ];
    assert_eq!(scales, expected);
    assert!(
        dispatches
            .iter()
            .all(|of| of.qparams[1] == BoundRange::default())
    );
}
