//! Another owner's tensors: they are refused before any other mistake.

use libtest_mimic::Trial;
use testkit::gpu::Gpu;
use wgpu_gather::{
    BadIndices, ElementTypes, Executor, Gather, GatherNd, GatherPlan, GpuError, Operand, PlanError,
    RunError, Tensor,
};

use crate::executors::both;
use crate::to_host::block_on;
use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_tensor_of_another_owner_is_refused", each_operand),
        trial("another_owner_comes_before_other_mistakes", before_mistakes),
        trial("bytes_of_another_owner_are_refused", bytes),
        trial("clones_of_a_gpu_are_one_owner", clones),
        trial("executors_on_the_cpu_are_one_owner", on_the_cpu),
    ]
}

/// Pairs of owners that refuse each other's tensors: the CPU, and two owners on one device.
fn pairs(gpu: &Gpu) -> [[Executor; 2]; 4] {
    let [[a, cpu], [b, _]] = [both(gpu), both(gpu)];
    let [a, b] = [&a, &b].map(|gpu| || gpu.clone());
    [[a(), cpu], [Executor::cpu(), a()], [a(), b()], [b(), a()]]
}

fn other_owner<T>(operand: Operand) -> Result<T, GpuError> {
    Err(GpuError::OtherOwner { operand })
}

/// The tensors for a gather of 2 rows from 3.
struct Operands {
    params: Tensor<u32>,
    indices: Tensor<i32>,
    mask: Tensor<bool>,
    output: Tensor<u32>,
}

impl Operands {
    fn new(of: impl Fn(Operand) -> Executor) -> Self {
        Self {
            params: of(Operand::Params).upload(&[1, 2, 3], &[3]).unwrap(),
            indices: of(Operand::Indices).upload(&[2, 0], &[2]).unwrap(),
            mask: of(Operand::Mask).zeros(&[2]).unwrap(),
            output: of(Operand::Output).zeros(&[2]).unwrap(),
        }
    }

    /// The results of requesting the gather into the output, in each way; if `all`, also in each way without an output.
    fn gather(
        &mut self,
        executor: &Executor,
        plan: &GatherPlan,
        all: bool,
    ) -> Vec<Result<(), GpuError>> {
        let mut results = Vec::new();
        for awaits in [false, true] {
            let request = executor.gather(plan, &self.params, &self.indices);
            let request = request.mask(&mut self.mask).into_tensor(&mut self.output);
            results.push(if awaits {
                block_on(request)
            } else {
                request.wait()
            });
        }
        if all {
            let request = executor.gather(plan, &self.params, &self.indices);
            results.push(request.mask(&mut self.mask).wait().map(drop));
            let request = executor.gather(plan, &self.params, &self.indices);
            let request = request.mask(&mut self.mask).on_gpu();
            results.push(request.wait().map(drop));
        }
        results
    }
}

const OPERANDS: [Operand; 4] = [
    Operand::Params,
    Operand::Indices,
    Operand::Mask,
    Operand::Output,
];

fn each_operand(gpu: &'static Gpu) {
    let plan = Gather::new().plan(&[3], &[2]).unwrap();
    for [own, other] in &pairs(gpu) {
        for foreign in OPERANDS {
            let mut operands = Operands::new(|operand| match operand == foreign {
                true => other.clone(),
                false => own.clone(),
            });
            let all = foreign != Operand::Output;
            for result in operands.gather(own, &plan, all) {
                assert_eq!(result, other_owner(foreign), "{own}, {other}");
            }
        }
        let mut operands = Operands::new(|_| own.clone());
        assert_eq!(operands.gather(own, &plan, true), vec![Ok(()); 4]);
        assert_eq!(operands.output.download_blocking(), Ok(vec![3, 1]), "{own}");
    }
    let text = "params must be a tensor of this owner, found one of another executor";
    let error = other_owner::<()>(Operand::Params).unwrap_err();
    assert_eq!(error.to_string(), text);
}

/// Another owner's tensor is named before mistakes in shapes, in lengths and in the fill.
fn before_mistakes(gpu: &'static Gpu) {
    let plan = Gather::new().bad_indices(BadIndices::Fill);
    let right = plan.plan(&[3], &[2]).unwrap();
    let plans = [
        // Other shapes of params and indices, and another params length, as it may be a shard.
        plan.plan(&[4], &[2]).unwrap(),
        plan.plan(&[3], &[2, 1]).unwrap(),
        plan.plan(&[9], &[2]).unwrap().shard(0..5).unwrap(),
        // Other mask and output lengths.
        plan.plan(&[3], &[2]).unwrap(),
    ];
    for [own, other] in &pairs(gpu) {
        for (plan, foreign) in plans.iter().flat_map(|plan| OPERANDS.map(|of| (plan, of))) {
            let name = format!("{plan}: {foreign} of {other} on {own}");
            let mut operands = Operands::new(|operand| match operand == foreign {
                true => other.clone(),
                false => own.clone(),
            });
            if *plan == right {
                let of = |operand| if operand == foreign { other } else { own };
                operands.mask = of(Operand::Mask).zeros(&[5]).unwrap();
                operands.output = of(Operand::Output).zeros(&[5]).unwrap();
            }
            for result in operands.gather(own, plan, foreign != Operand::Output) {
                assert_eq!(result, other_owner(foreign), "{name}");
            }
            let request = own.gather(plan, &operands.params, &operands.indices);
            let request = request.mask(&mut operands.mask).fill(7);
            let result = request.into_tensor(&mut operands.output).wait();
            assert_eq!(result, other_owner(foreign), "{name}");
        }

        // An operation that cannot be planned, and indices without a shape or with a wrong one.
        let params = other.upload(&[1, 2, 3], &[3]).unwrap();
        let expected = other_owner(Operand::Params);
        let gather = Gather::new().axis(7);
        assert_eq!(own.gather(gather, &params, &[0]).wait(), expected);
        let nd = GatherNd::new();
        assert_eq!(own.gather(nd, &params, &[0]).wait(), expected);
        let shaped = own.gather(nd, &params, (&[0], &[2, 2]));
        assert_eq!(shaped.wait(), expected);
        let params = own.upload(&[1, 2, 3], &[3]).unwrap();
        let unplanned = own.gather(gather, &params, &[0]).wait();
        let unplanned = unplanned.unwrap_err();
        assert!(matches!(
            unplanned,
            GpuError::Run(RunError::Plan(PlanError::AxisOutOfRange { axis: 7, .. }))
        ));
    }
}

fn bytes(gpu: &'static Gpu) {
    let plan = Gather::new().plan(&[3], &[2]).unwrap();
    let types = ElementTypes::of::<u16, u8>();
    for [own, other] in &pairs(gpu) {
        let [[params, indices], [their_params, their_indices]] = [own, other]
            .map(|owner| {
                [&[1, 0, 2, 0, 3, 0][..], &[2, 0]].map(|bytes| owner.upload(bytes, &[bytes.len()]))
            })
            .map(|tensors| tensors.map(Result::unwrap));
        let result = own
            .gather_bytes(&plan, types, &their_params, &indices)
            .wait();
        assert_eq!(result, other_owner(Operand::Params), "{own}");
        let result = own
            .gather_bytes(&plan, types, &params, &their_indices)
            .wait();
        assert_eq!(result, other_owner(Operand::Indices), "{own}");
        // Before the number of bytes.
        let wide = ElementTypes::of::<u64, u8>();
        let result = own
            .gather_bytes(&plan, wide, &params, &their_indices)
            .wait();
        assert_eq!(result, other_owner(Operand::Indices), "{own}");
        let mut output = other.zeros(&[5]).unwrap();
        let request = own.gather_bytes(&plan, types, &params, &indices);
        let result = request.into_tensor(&mut output).wait();
        assert_eq!(result, other_owner(Operand::Output), "{own}");
        let result = own.gather_bytes(&plan, types, &params, &indices).wait();
        assert_eq!(result, Ok(vec![3, 0, 1, 0]), "{own}");
    }
}

fn clones(gpu: &'static Gpu) {
    let table = gpu.clone().upload(&[1, 2, 3], &[3]).unwrap();
    let output = gpu.gather(Gather::new(), &table, &[2, 0]).wait();
    assert_eq!(output, Ok(vec![3, 1]));
    let executor = gpu.executor();
    let output = executor.gather(Gather::new(), &table, &[1]).wait();
    assert_eq!(output, Ok(vec![2]));
}

fn on_the_cpu(gpu: &'static Gpu) {
    let [[_, a], [_, b]] = [both(gpu), both(gpu)];
    let plan = Gather::new().plan(&[3], &[2]).unwrap();
    let mut operands = Operands::new(|_| a.clone());
    assert_eq!(operands.gather(&b, &plan, true), vec![Ok(()); 4]);
    assert_eq!(operands.output.download_blocking(), Ok(vec![3, 1]));
}
