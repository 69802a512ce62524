use lampshade::KeyValueSoaSorter;
use wgpu_gather::{Buffers, ElementTypes, Gather, Gatherer, Ranges, wgpu};

/// Records `output = table[argsort(keys)[:8]]`. `order` holds 0, 1, 2 and so on before, and the order after it.
pub fn top_8(
    encoder: &mut wgpu::CommandEncoder,
    (gatherer, sorter): (&Gatherer, &mut KeyValueSoaSorter),
    [table, keys, order, output]: [&wgpu::Buffer; 4],
) -> Result<(), Box<dyn std::error::Error>> {
    sorter.record_sort(encoder, keys, order, 1000)?;
    let plan = Gather::new().plan(&[1000, 3], &[8])?;
    let buffers = Buffers::gather(ElementTypes::of::<f32, u32>(), Ranges {
        params: table.slice(..),
        indices: order.slice(..),
        output: output.slice(..),
    });
    gatherer.encode(encoder, &plan, &buffers)?;
    Ok(())
}
