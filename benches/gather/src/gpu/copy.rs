//! Copies to compare gathers with: by the driver from buffer to buffer, and by a shader.

use wgpu_gather::wgpu;

use super::card::Card;
use super::figure::Figure;

/// Bytes that a workgroup moves: 64 for each of its 256 invocations.
const WORKGROUP_BYTES: u64 = 64 * 256;

/// Copies `source`'s first `bytes` bytes, in whole units of 16, to the offsets `starts` in `target`, in turn.
pub fn copies<'a>(
    card: &'a Card,
    source: &'a wgpu::Buffer,
    target: &'a wgpu::Buffer,
    starts: &'a [u64],
    bytes: u64,
) -> [Figure<'a>; 2] {
    let most = source.size().min(card.binding_bytes()) / 16 * 16;
    let bytes = (bytes / 16 * 16).clamp(16, most);
    let [width, height] = card.grid(bytes.div_ceil(WORKGROUP_BYTES));
    let constants = [("UNITS", (bytes / 16) as f64), ("WIDTH", f64::from(width))];
    let pipeline = card.pipeline(include_str!("copy.wgsl"), &constants);
    let bind = |&at: &u64| {
        card.bind(
            &pipeline,
            &[source.slice(..bytes), target.slice(at..at + bytes)],
        )
    };
    let operands: Vec<_> = starts.iter().map(bind).collect();
    let by_driver = move |encoder: &mut wgpu::CommandEncoder, calls| {
        for call in 0..calls {
            encoder.copy_buffer_to_buffer(source, 0, target, starts[call % starts.len()], bytes);
        }
    };
    let by_shader = move |encoder: &mut wgpu::CommandEncoder, calls| {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        for call in 0..calls {
            pass.set_bind_group(0, &operands[call % operands.len()], &[]);
            pass.dispatch_workgroups(width, height, 1);
        }
    };
    [
        Figure {
            measure: "copy".into(),
            card,
            record: Box::new(by_driver),
        },
        Figure {
            measure: "shader_copy".into(),
            card,
            record: Box::new(by_shader),
        },
    ]
}

/// Dispatches a shader that does nothing.
pub fn empty(card: &Card) -> Figure<'_> {
    let pipeline = card.pipeline("@compute @workgroup_size(64) fn main() {}", &[]);
    let record = move |encoder: &mut wgpu::CommandEncoder, calls| {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        (0..calls).for_each(|_| pass.dispatch_workgroups(1, 1, 1));
    };
    Figure {
        measure: "empty_dispatch".into(),
        card,
        record: Box::new(record),
    }
}
