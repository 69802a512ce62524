//! Bad-row masks with sizes and buffers that the batches of samples do not have.

use libtest_mimic::Trial;
use wgpu_gather::{
    BadIndices, ElementTypes, Gather, GatherElements, GatherNd, GatherPlan, NegativeIndices, wgpu,
};

use crate::batch::read_back;
use crate::cuts::limited_device;
use crate::{flat, trial};
use testkit::gpu::{Gpu, buffers_of, buffers_of_shards, range};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_grid_of_several_rows_writes_a_mask", grid),
        trial("more_than_65535_workgroups_write_a_mask", many_workgroups),
        trial("a_mask_is_of_all_shards", shards),
        trial("an_empty_output_of_large_params_has_a_mask", empty_output),
    ]
}

/// Compares a mask of bytes with the CPU.
fn check(gpu: &Gpu, plan: &GatherPlan, indices: &[i8]) {
    let table = flat(gpu, &[1_u8, 2, 3]);
    let mut mask = gpu.zeros::<bool>(&[indices.len()]).unwrap();
    let request = gpu.gather(plan, &table, indices).mask(&mut mask);
    drop(request.on_gpu().wait().unwrap());
    // Too long to print.
    let expected = plan.out_of_range(indices).unwrap();
    assert!(mask.download_blocking().unwrap() == expected, "{plan}");
    assert!(expected.contains(&true) && expected.contains(&false));
}

/// Values in range and out of range, without a short period.
fn values(len: usize) -> Vec<i8> {
    let value = |at: usize| i8::try_from(at * at % 251 % 7).unwrap() - 3;
    (0..len).map(value).collect()
}

fn grid(_: &'static Gpu) {
    let gpu = limited_device(|limits| wgpu::Limits {
        max_compute_workgroups_per_dimension: 3,
        ..limits
    });
    let gather = Gather::new().negative_indices(NegativeIndices::FromEnd);
    for workgroups in [1, 3, 4, 8, 9, 10, 30] {
        for more in [0, 1, 2, 3] {
            let len = workgroups * 1024 - more;
            check(&gpu, &gather.plan(&[3], &[len]).unwrap(), &values(len));
        }
    }
}

fn many_workgroups(gpu: &'static Gpu) {
    let len = 65_536 * 1024 + 77;
    check(
        gpu,
        &Gather::new().plan(&[3], &[len]).unwrap(),
        &values(len),
    );
}

/// Params in shards, one of which shares the mask's buffer, and a shard's plan.
fn shards(gpu: &'static Gpu) {
    let plan = GatherNd::new().bad_indices(BadIndices::Fill);
    let plan = plan.plan(&[5, 2], &[7, 1]).unwrap();
    let arena = flat(gpu, &[9_u8; 1024]);
    let arena = arena.buffer().unwrap();
    let table = flat(gpu, &[1_u8, 2, 3, 4, 5, 6]);
    let indices = flat(gpu, &[4_i64, 5, -1, 0, 2, 1 << 32, 3]);
    let output = flat(gpu, &[7_u8; 14]);
    let shards = [(3, range(&table)), (2, arena.slice(..4))];
    let (types, indices, output) = (
        ElementTypes::of::<u8, i64>(),
        range(&indices),
        range(&output),
    );
    let whole = buffers_of_shards(types, &shards, [indices, output]);
    let shard = buffers_of(types, [arena.slice(..4), indices, output]);
    for (plan, buffers) in [(plan.clone(), whole), (plan.shard(3..5).unwrap(), shard)] {
        let buffers = buffers.mask(arena.slice(512..));
        gpu.queue().write_buffer(arena, 512, &[9; 8]);
        gpu.submit_gather(&plan, &buffers);
        let [found] = read_back(gpu, [arena]);
        assert_eq!(found[512..520], [0, 1, 1, 0, 0, 1, 0, 9], "{plan}");
        assert!(
            found[..512]
                .iter()
                .chain(&found[520..])
                .all(|&byte| byte == 9)
        );
    }
}

/// The dims of params are past 32 bits, and none of its elements exists.
fn empty_output(gpu: &'static Gpu) {
    for (axis, params_shape, indices_shape, rows) in [
        (2, [0, 2, 1 << 32], [1, 2, 1], 2),
        (1, [0, 1 << 20, 1 << 20], [1, 5, 1], 5),
    ] {
        let gather = GatherElements::new().axis(axis).broadcast(true);
        let plan = gather.plan(&params_shape, &indices_shape).unwrap();
        let indices = [0_i64, i64::MAX, 3, -1, 7];
        let table = gpu.upload(&[0_u8; 0], &params_shape).unwrap();
        let mut mask = gpu.zeros::<bool>(&[rows]).unwrap();
        let request = gpu.gather(&plan, &table, (&indices[..rows], &indices_shape));
        assert_eq!(request.mask(&mut mask).wait(), Ok(vec![]));
        let expected = plan.out_of_range(&indices[..rows]);
        assert_eq!(mask.download_blocking().ok(), expected.ok(), "{plan}");
    }
}
