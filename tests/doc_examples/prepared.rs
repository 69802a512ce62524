use wgpu_gather::{Buffers, ElementTypes, GatherError, GatherPlan, Gatherer, Prepared, Ranges, wgpu};

/// Once: everything is checked, and pipelines and bind groups are made.
pub fn prepare_lookup(
    gatherer: &Gatherer,
    plan: &GatherPlan,
    table: &wgpu::Buffer,
    token_ids: &wgpu::Buffer,
    output: &wgpu::Buffer,
) -> Result<Prepared, GatherError> {
    let buffers = Buffers::gather(ElementTypes::of::<f32, u32>(), Ranges {
        params: table.slice(..),
        indices: token_ids.slice(..),
        output: output.slice(..),
    });
    gatherer.prepare(plan, &buffers)
}

/// Each frame: token_ids hold other numbers, and nothing is made.
pub fn record_lookup(lookup: &Prepared, encoder: &mut wgpu::CommandEncoder) {
    lookup.encode(encoder);
}
