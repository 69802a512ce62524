//! Sums over bags: the GPU gives the bits of the definition; for rows of each encoding, the CPU's.

use testkit::bags::BagsCase;
use testkit::gpu::Gpu;
use testkit::indices::Hash;
use wgpu_gather::{Bags, Encoded, Encoding, Gather, GpuError, Offsets, RunError};

use super::Checked;

pub async fn check(gpu: &'static Gpu) -> Vec<(String, Checked)> {
    let mut hash = Hash::new(918);
    let mut checked = Vec::new();
    let told = |found: Result<bool, GpuError>| match found {
        Ok(true) => Ok(()),
        Ok(false) => Err("the sums differ".to_owned()),
        Err(error) => Err(error.to_string()),
    };
    for number in 0..24 {
        // Some bags have several blocks.
        let sizes: &[usize] = if number % 8 == 0 {
            &[3, 2500, 0, 1025]
        } else {
            &[0, 1, 7, 40, 3]
        };
        let case = BagsCase::of(sizes, 1 + number * 3 % 37, &mut hash);
        checked.push((format!("{number}"), told(are_equal(gpu, &case).await)));
    }
    for &encoding in Encoding::ALL {
        checked.push((encoding.to_string(), told(are_decoded(gpu, encoding).await)));
    }
    checked
}

async fn are_equal(gpu: &'static Gpu, case: &BagsCase) -> Result<bool, GpuError> {
    let plan = case.plan();
    let table = gpu.upload(&case.params, plan.params_shape())?;
    let offsets = gpu.upload(&case.offsets, &[case.offsets.len()])?;
    let weights = gpu.upload(&case.weights, &[case.weights.len()])?;
    let bags = case.bags(Offsets::from(&offsets), &weights);
    let found = gpu.gather_bags(&plan, &table, &case.indices, bags).await?;
    let expected = case.expected(|at| case.params[at]);
    let expected = expected.into_iter().map(f32::to_bits);
    Ok(found.into_iter().map(f32::to_bits).eq(expected))
}

async fn are_decoded(gpu: &'static Gpu, encoding: Encoding) -> Result<bool, GpuError> {
    let (rows, len) = (16, 512);
    let row_bytes = encoding.row_bytes(len as u64).unwrap_or_default();
    let bytes = usize::try_from(row_bytes).unwrap_or_default();
    // Floats near 1, wherever scales lie.
    let table: Vec<u8> = (0..rows * bytes)
        .map(|at| 0x30 | (at * 7 % 16).to_le_bytes()[0])
        .collect();
    let ids: Vec<u32> = (0..60).map(|at| at * 7 % 16).collect();
    let plan = Gather::new()
        .plan(&[rows, len], &[ids.len()])
        .map_err(RunError::from)?;
    let on_cpu = Encoded::new(encoding, &table);
    let expected = plan.gather_bags_encoded(&on_cpu, &ids, Bags::sum(Offsets::each(3, 20)))?;
    let on_gpu = gpu.upload_encoded(&Encoded::new(encoding, table), &[rows, len])?;
    let bags = Bags::sum(Offsets::each(3, 20));
    let found = gpu.gather_bags(&plan, &on_gpu, &ids, bags).await?;
    let [found, expected] =
        [found, expected].map(|of| of.into_iter().map(f32::to_bits).collect::<Vec<_>>());
    Ok(found == expected)
}
