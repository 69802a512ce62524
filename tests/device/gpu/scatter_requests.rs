//! Scatters by an executor, on a GPU and on the CPU.

use libtest_mimic::Trial;
use wgpu_gather::{
    BadIndices, Executor, Gather, GatherError, GatherPlan, GpuError, Index, Operand, Reduce,
    RunError, Tensor,
};

use crate::{flat, trial};
use testkit::gpu::Gpu;
use testkit::scatter::{Number, Scatters, Told, check_recorded};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("recorded_scatters_of_other_libraries_are_equal", recorded),
        trial("a_request_scatters_on_each_device", requests),
        trial("an_awaited_error_leaves_the_good_rows_written", written),
        trial("mistakes_of_a_scatter_name_the_operand", mistakes),
    ]
}

/// A GPU's scatters, without those that only the CPU has.
struct OnGpu<'a>(&'a Gpu);

impl Scatters for OnGpu<'_> {
    fn run<T: Number, I: Index>(
        &self,
        plan: &GatherPlan,
        told: Told,
        updates: &[T],
        indices: &[I],
        target: &mut [T],
    ) -> Option<Result<(), RunError>> {
        let updates = flat(self.0, updates);
        let mut on_gpu = self.0.upload(&*target, plan.params_shape()).unwrap();
        let request = self
            .0
            .scatter(told.with(plan), &updates, indices, &mut on_gpu);
        let found = match told.reduce {
            Some(reduce) => request.reduce(reduce).wait(),
            None => request.wait(),
        };
        target.copy_from_slice(&on_gpu.download_blocking().unwrap());
        match found {
            Ok(()) => Some(Ok(())),
            Err(GpuError::Run(error)) => Some(Err(error)),
            Err(GpuError::Gather(
                GatherError::UnsupportedReduce { .. } | GatherError::NumberBytes { .. },
            )) => None,
            Err(error) => panic!("{plan}: {error}"),
        }
    }
}

fn recorded(gpu: &'static Gpu) {
    let counts =
        ["scatter_reports.jsonl", "scatter.jsonl"].map(|file| check_recorded(file, &OnGpu(gpu)));
    println!("{counts:?} recorded scatters");
    assert!(counts[0] >= 30 && counts[1] >= 400, "{counts:?}");
}

fn requests(gpu: &'static Gpu) {
    for executor in [gpu.executor(), Executor::cpu()] {
        let plan = Gather::new().bad_indices(BadIndices::Fill);
        let mut table = executor.upload(&[1_i32, 2, 3, 4, 5, 6], &[3, 2]).unwrap();
        let updates = executor.upload(&[7, 8, 9, -9], &[2, 2]).unwrap();
        let mut mask = executor.zeros(&[2]).unwrap();
        let request = executor.scatter(plan, &updates, &[2, -1], &mut table);
        request.mask(&mut mask).wait().unwrap();
        assert_eq!(mask.download_blocking().unwrap(), [false, true]);
        assert_eq!(table.download_blocking().unwrap(), [1, 2, 3, 4, 7, 8]);
        let request = executor.scatter(plan, &updates, &[1_u8, 1], &mut table);
        request.reduce(Reduce::Min).wait().unwrap();
        assert_eq!(table.download_blocking().unwrap(), [1, 2, 3, -9, 7, 8]);
        // The last of equal rows, by indices that stay on the device, awaited.
        let indices = executor.upload(&[0_i64, 0], &[2]).unwrap();
        pollster::block_on(async {
            let done = executor.scatter(plan, &updates, &indices, &mut table).await;
            done.unwrap();
        });
        assert_eq!(table.download_blocking().unwrap(), [9, -9, 3, -9, 7, 8]);
        // One update for all rows.
        let plan = Gather::new().plan(&[3, 2], &[3]).unwrap();
        let ones = executor.upload(&[1, 100], &[2]).unwrap();
        let request = executor.scatter(plan.one_update(), &ones, &[2_u16, 0, 2], &mut table);
        request.reduce(Reduce::Add).wait().unwrap();
        assert_eq!(table.download_blocking().unwrap(), [10, 91, 3, -9, 9, 208]);
    }
}

fn written(gpu: &'static Gpu) {
    let plan = Gather::new().bad_indices(BadIndices::Error);
    for (executor, expected) in [(gpu.executor(), [8, 2, 7]), (Executor::cpu(), [1, 2, 3])] {
        let mut table = executor.upload(&[1_u16, 2, 3], &[3]).unwrap();
        let updates = executor.upload(&[7, 9, 8], &[3]).unwrap();
        let found = executor
            .scatter(plan, &updates, &[2, 3, 0], &mut table)
            .wait();
        let text = "indices[1] = 3 is not in [0, 3)";
        assert_eq!(found.unwrap_err().to_string(), text);
        assert_eq!(table.download_blocking().unwrap(), expected, "{executor}");
    }
}

fn mistakes(gpu: &'static Gpu) {
    let plan = Gather::new().plan(&[3, 2], &[2]).unwrap();
    for executor in [gpu.executor(), Executor::cpu()] {
        let text = |updates: usize, target: &[usize], indices: &[i32]| {
            let updates = executor.zeros::<i32>(&[updates]).unwrap();
            let mut target = executor.zeros(target).unwrap();
            let found = executor
                .scatter(&plan, &updates, indices, &mut target)
                .wait();
            found.unwrap_err().to_string()
        };
        for (found, expected) in [
            (
                text(3, &[3, 2], &[0, 1]),
                "updates must have 4 elements, found 3",
            ),
            (
                text(4, &[6], &[0, 1]),
                "target must have the plan's shape [3,2], found [6]",
            ),
            (
                text(4, &[3, 2], &[0]),
                "indices must have 2 elements, found 1",
            ),
        ] {
            assert_eq!(found, expected);
        }
    }
    // Another owner's tensors, and two over one buffer.
    let mut on_host = Executor::cpu().zeros::<i32>(&[3, 2]).unwrap();
    let updates = gpu.zeros::<i32>(&[4]).unwrap();
    let found = gpu.scatter(&plan, &updates, &[0, 1], &mut on_host).wait();
    let operand = Operand::Target;
    assert_eq!(found, Err(GpuError::OtherOwner { operand }));
    let mut target = gpu.zeros::<i32>(&[3, 2]).unwrap();
    let buffer = target.buffer().unwrap().clone();
    let over = Tensor::<i32>::from_buffer(&gpu.executor(), buffer, &[4]).unwrap();
    let found = gpu.scatter(&plan, &over, &[0, 1], &mut target).wait();
    let text = "target must not share bytes with updates, found 0..16 in both";
    assert_eq!(found.unwrap_err().to_string(), text);
    // A reduction that only the CPU has.
    let mut target = gpu.zeros::<f32>(&[3, 2]).unwrap();
    let updates = gpu.zeros::<f32>(&[4]).unwrap();
    let request = gpu.scatter(&plan, &updates, &[0, 1], &mut target);
    let text = "a GPU has no mul of f32: GatherPlan::scatter_reduce has it, on the CPU";
    assert_eq!(
        request.reduce(Reduce::Mul).wait().unwrap_err().to_string(),
        text
    );
}
