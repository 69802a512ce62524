//! Requests to an executor on the GPU and on the CPU, whose operand types are known only at run time, and tensors that hold
//! zeros.

use libtest_mimic::Trial;
use wgpu_gather::{
    BadIndices, ElementTypes, Executor, Gather, GatherError, GpuError, IndexKind, Operand,
    RunError, Tensor,
};

use crate::executors::both;
use crate::to_host::block_on;
use crate::trial;
use testkit::cases;
use testkit::gpu::Gpu;
use testkit::oracle::Case;
use testkit::samples::{Sample, WIDTHS};
use testkit::sweep;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("an_executor_gives_one_result_of_bytes", bytes),
        trial("an_executor_refuses_bytes_of_other_lengths", lengths),
        trial("zeros_are_zeros_on_either_device", zeros),
    ]
}

fn types(sample: &Sample) -> ElementTypes {
    sample.types()
}

/// A tensor of one dim.
fn upload(executor: &Executor, bytes: &[u8]) -> Tensor<u8> {
    executor.upload(bytes, &[bytes.len()]).unwrap()
}

/// Each policy that has one result on both devices, with and without a fill.
fn samples() -> impl Iterator<Item = Sample> {
    let policies = [
        BadIndices::Fill,
        BadIndices::Error,
        BadIndices::Clamp,
        BadIndices::Wrap,
    ];
    let cases = cases::table().into_iter().filter(Case::check_plan);
    let samples = cases.flat_map(move |case| case.samples(&WIDTHS, IndexKind::ALL, &policies));
    let samples = sweep::some(0, 67, 0, samples).enumerate();
    samples.map(|(number, sample)| match sample.plan.bad_indices() {
        BadIndices::Fill if number % 2 == 0 => sample.filled(),
        _ => sample,
    })
}

/// What a gather of bytes returns: the output's shape and bytes, or an error; and the mask.
type Found = (Result<(Vec<usize>, Vec<u8>), GpuError>, Vec<bool>);

fn gather_bytes(executor: &Executor, sample: &Sample, way: usize) -> Found {
    let (table, indices) = (
        upload(executor, &sample.params),
        upload(executor, &sample.indices),
    );
    // The opposite of what the gather writes.
    let mask: Vec<bool> = sample.case.out_of_range();
    let mask: Vec<bool> = mask.into_iter().map(|is_bad| !is_bad).collect();
    let mut mask = executor.upload(&mask, &[mask.len()]).unwrap();
    let mut output = upload(executor, &vec![9; sample.output.len()]);
    let request = executor.gather_bytes(&sample.plan, types(sample), &table, &indices);
    let request = match &sample.fill[..] {
        [] => request,
        fill => request.fill(fill),
    };
    let request = request.mask(&mut mask);
    let element = [sample.plan.output_shape(), &[sample.element_bytes]].concat();
    let of_tensor = |output: &Tensor<u8>| {
        let bytes = block_on(output.download()).unwrap();
        (output.shape().to_vec(), bytes)
    };
    let found = match way {
        0 => request.wait().map(|bytes| (element, bytes)),
        1 => block_on(request).map(|bytes| (element, bytes)),
        2 => request.on_gpu().wait().map(|output| of_tensor(&output)),
        _ => {
            let written = request.into_tensor(&mut output).wait();
            written.map(|()| (element, of_tensor(&output).1))
        }
    };
    (found, mask.download_blocking().unwrap())
}

fn bytes(gpu: &'static Gpu) {
    let executors = both(gpu);
    let mut counts = [0; 3];
    for (number, sample) in samples().enumerate() {
        for way in sweep::some(0, 4, number, 0..4) {
            let [on_gpu, on_cpu] = executors.each_ref().map(|e| gather_bytes(e, &sample, way));
            assert_eq!(on_gpu, on_cpu, "way {way} of {sample}");
            let (found, mask) = on_cpu;
            assert_eq!(mask, sample.case.out_of_range(), "way {way} of {sample}");
            match found {
                Ok((shape, bytes)) => {
                    let expected = [sample.plan.output_shape(), &[sample.element_bytes]].concat();
                    assert_eq!(shape, expected, "way {way} of {sample}");
                    assert_eq!(bytes, sample.output, "way {way} of {sample}");
                    counts[usize::from(sample.fill.is_empty())] += 1;
                }
                Err(error) => {
                    assert_eq!(Some(error.to_string()), sample.bad_index, "{sample}");
                    counts[2] += 1;
                }
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 40), "{counts:?}");
}

fn lengths(gpu: &'static Gpu) {
    let plan = Gather::new().bad_indices(BadIndices::Fill);
    let plan = plan.plan(&[2], &[2]).unwrap();
    let types = ElementTypes::of::<[u8; 3], u16>();
    for executor in both(gpu) {
        let gather = |params: usize, indices: usize, output: usize, fill: &[u8]| {
            let table = upload(&executor, &vec![1; params]);
            let indices = upload(&executor, &vec![0; indices]);
            let mut output = upload(&executor, &vec![9; output]);
            let request = executor.gather_bytes(&plan, types, &table, &indices);
            let request = request.fill(fill).into_tensor(&mut output);
            let result = request.wait();
            let untouched = output.download_blocking().unwrap().iter().all(|&b| b == 9);
            assert_eq!(result.is_err(), untouched, "{executor}");
            result
        };
        let length = |operand, expected: u64, found| {
            let length = RunError::ByteLength {
                operand,
                expected: expected..=expected,
                found,
            };
            Err(GpuError::Run(length))
        };
        assert_eq!(gather(6, 4, 6, b"abc"), Ok(()), "{executor}");
        assert_eq!(gather(5, 4, 6, b"abc"), length(Operand::Params, 6, 5));
        assert_eq!(gather(6, 5, 6, b"abc"), length(Operand::Indices, 4, 5));
        assert_eq!(gather(6, 4, 7, b"abc"), length(Operand::Output, 6, 7));
        let fill = GatherError::FillBytes {
            expected: 3,
            found: 2,
        };
        assert_eq!(gather(6, 4, 6, b"ab"), Err(fill.into()), "{executor}");
    }
}

fn zeros(gpu: &'static Gpu) {
    for executor in both(gpu) {
        let table = executor.zeros::<[u16; 3]>(&[2, 5]).unwrap();
        assert_eq!(table.shape(), [2, 5], "{executor}");
        assert_eq!(
            table.download_blocking(),
            Ok(vec![[0; 3]; 10]),
            "{executor}"
        );
        let empty = executor.zeros::<u8>(&[usize::MAX, 0, 2]).unwrap();
        assert_eq!(empty.download_blocking(), Ok(vec![]), "{executor}");
        let scalar = executor.zeros::<bool>(&[]).unwrap();
        assert_eq!(scalar.download_blocking(), Ok(vec![false]), "{executor}");
        for shape in [usize::MAX, 1 << 61] {
            let error = executor.zeros::<u64>(&[shape]).unwrap_err();
            let is_refused = matches!(error, GpuError::Gather(GatherError::TooManyBytes { .. }));
            assert!(is_refused, "{executor}: {error}");
        }
        let error = executor.zeros::<u64>(&[1 << 62, 8]).unwrap_err();
        let text = "tensor must have at most 9223372036854775807 elements, found shape [4611686018427387904,8]";
        assert_eq!(error.to_string(), text, "{executor}");
        // More bytes than a GPU buffer, or than host memory.
        let error = executor.zeros::<u8>(&[1 << 62]).unwrap_err();
        match executor.device() {
            Ok(_) => assert!(matches!(error, GpuError::BufferTooLarge { .. })),
            Err(_) => assert!(matches!(
                error,
                GpuError::Run(RunError::OutOfMemory { operand, .. }) if operand == Operand::Tensor
            )),
        }
    }
}
