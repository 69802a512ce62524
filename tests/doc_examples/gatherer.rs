use wgpu_gather::{Buffers, ElementTypes, Gather, GatherError, GatherPlan, Gatherer, PlanError, Ranges, wgpu};

/// Looks up 1,000 embeddings of 128 numbers in a table of 50,000.
pub fn embedding_plan() -> Result<GatherPlan, PlanError> {
    Gather::new().plan(&[50_000, 128], &[1_000])
}

/// Records the look-up; keep the gatherer, it holds the pipelines.
pub fn record_embedding(
    gatherer: &Gatherer, // Gatherer::new(&device)
    encoder: &mut wgpu::CommandEncoder,
    table: &wgpu::Buffer,
    token_ids: &wgpu::Buffer,
    output: &wgpu::Buffer,
) -> Result<(), GatherError> {
    let plan = embedding_plan().expect("constant shapes are right");
    let buffers = Buffers::gather(ElementTypes::of::<f32, u32>(), Ranges {
        params: table.slice(..),
        indices: token_ids.slice(..),
        output: output.slice(..),
    });
    gatherer.encode(encoder, &plan, &buffers)
}
