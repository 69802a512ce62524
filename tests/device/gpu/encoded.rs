//! Gathers of encoded rows: the values are gguf-py's, by each call and on each device.

use libtest_mimic::Trial;
use pollster::block_on;
use wgpu_gather::{
    BadIndices, BlockPart, ElementTypes, Encoding, Executor, Gather, GatherBuffers, GatherError,
    Gpu, GpuError, IndexKind, RunError,
};

use crate::batch::read_back;
use crate::into_buffers::encoded;
use crate::{flat, trial};
use testkit::device::blocking;
use testkit::encoded::Recorded;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = (Encoding::ALL.iter())
        .map(|&encoding| {
            let name = format!("recorded_rows_of_{encoding}_are_decoded");
            trial(name.to_lowercase(), move |gpu| recorded(gpu, encoding))
        })
        .collect();
    trials.extend([
        trial("every_half_float_is_decoded", halves),
        trial("a_gpu_gathers_a_tensor_of_encoded_rows", |gpu| {
            for sample in encoded().filter(|sample| sample.fill.is_empty()).step_by(5) {
                sample.check(&blocking(gpu));
            }
        }),
        trial("a_tensor_of_encoded_rows_has_the_shape_of_the_plan", shapes),
    ]);
    trials
}

/// The recorded rows in another order, by each way to gather them: as a tensor, as bytes, in units of four values and of
/// one, and a table cut into windows.
fn recorded(gpu: &'static Gpu, encoding: Encoding) {
    let recorded = Recorded::of(encoding);
    let [rows, row_len] = recorded.shape;
    let (indices, plan) = recorded.reordered();
    let table = gpu
        .upload(&recorded.rows, &[rows, recorded.rows.len() / rows])
        .unwrap();
    let found = gpu.gather_decoded(Gather::new(), encoding, &table, &indices);
    recorded.check(&indices, &found.wait().unwrap());

    let types = ElementTypes::encoded(encoding, IndexKind::I32);
    let bytes = flat(gpu, bytemuck::cast_slice::<i32, u8>(&indices));
    let found = gpu
        .gather_bytes(&plan, types, &table, &bytes)
        .wait()
        .unwrap();
    recorded.check(&indices, &bytemuck::pod_collect_to_vec(&found));

    // Units of one value, since the output does not start at a multiple of 16 bytes.
    let found = gpu.zeros::<f32>(&[rows * row_len + 1]).unwrap();
    let found = found.buffer().unwrap();
    let buffers = GatherBuffers::new(types)
        .params(table.buffer().unwrap().slice(..))
        .indices(bytes.buffer().unwrap().slice(..))
        .output(found.slice(4..));
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    gpu.gatherer()
        .encode(&mut encoder, &plan, &buffers)
        .unwrap();
    gpu.queue().submit([encoder.finish()]);
    let [found] = read_back(gpu, [found]);
    recorded.check(&indices, &bytemuck::pod_collect_to_vec(&found[4..]));

    // On the CPU, the same.
    let executor = Executor::Cpu(GpuError::NoAdapter("none is asked for".into()));
    let table = executor.upload(&recorded.rows, table.shape()).unwrap();
    let found = block_on(executor.gather_decoded(&plan, encoding, &table, &indices));
    recorded.check(&indices, &found.unwrap());
}

fn halves(gpu: &'static Gpu) {
    let rows: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    // Rows of four values, and of three, whose last group is not whole.
    for row_len in [4, 3] {
        let count = (1 << 16) / row_len;
        let bytes = &rows[..count * row_len * 2];
        let table = gpu.upload(bytes, &[count, row_len * 2]).unwrap();
        let every: Vec<u32> = (0..u32::try_from(count).unwrap()).collect();
        for (encoding, value) in [
            (Encoding::F16, f16_bits as fn(u16) -> u32),
            (Encoding::Bf16, |bits| u32::from(bits) << 16),
        ] {
            let found = gpu.gather_decoded(Gather::new(), encoding, &table, &every);
            let found = found.wait().unwrap();
            assert_eq!(found.len(), count * row_len);
            for (bits, found) in (0..=u16::MAX).zip(found) {
                assert_eq!(found.to_bits(), value(bits), "{encoding} {bits:#06x}");
            }
        }
    }
}

/// The bits of the value of a half float, from its definition.
fn f16_bits(bits: u16) -> u32 {
    let (sign, rest) = (u32::from(bits >> 15) << 31, u32::from(bits & 0x7fff));
    match (rest >> 10, rest & 0x3ff) {
        (31, payload) => sign | 0xff << 23 | payload << 13,
        (0, number) => {
            let value = f64::from(number) / f64::from(1 << 24);
            let value = format!("{value}").parse::<f32>().unwrap();
            sign | value.to_bits()
        }
        (exponent, fraction) => sign | (exponent + 112) << 23 | fraction << 13,
    }
}

fn shapes(gpu: &'static Gpu) {
    let table = gpu.upload(&[0_u8; 36 * 5], &[5, 36]).unwrap();
    let gather = |params_shape: &[usize], encoding| {
        let plan = Gather::new()
            .bad_indices(BadIndices::Fill)
            .plan(params_shape, &[2]);
        let plan = plan.unwrap();
        let rows = gpu
            .gather_decoded(&plan, encoding, &table, &[4_u32, 9])
            .fill(2.5);
        rows.wait()
    };
    let rows = gather(&[5, 64], Encoding::Q4_0).unwrap();
    assert_eq!(rows, [vec![0.0; 64], vec![2.5; 64]].concat());
    let text = |result: Result<Vec<f32>, GpuError>| result.unwrap_err().to_string();
    assert_eq!(
        text(gather(&[5, 96], Encoding::Q4_0)),
        "params must have the plan's shape [5,54], found [5,36]"
    );
    assert_eq!(
        text(gather(&[5, 48], Encoding::Q4_0)),
        "the last dim of params must be whole blocks of Q4_0, of 32 values each, found 48"
    );
    // Rows that are no whole blocks.
    let request = gpu.gather_decoded(Gather::new(), Encoding::Q8_0, &table, &[0]);
    assert_eq!(
        text(request.wait()),
        "params must have the plan's shape [5,34], found [5,36]"
    );
    let plan = Gather::new().axis(1).plan(&[5, 64], &[2]).unwrap();
    let request = gpu.gather_decoded(&plan, Encoding::Q4_0, &table, &[0, 1]);
    let Err(GpuError::Run(RunError::Block(error))) = request.wait() else {
        panic!("slices of one value are refused");
    };
    assert_eq!((error.part, error.found), (BlockPart::Slice, 1));
    let types = ElementTypes::encoded(Encoding::Q4_0, IndexKind::U32);
    let refused = gpu.gatherer().warm_up(&plan, types);
    assert_eq!(refused, Err(GatherError::Block(error.clone())));
    let limits = plan.required_limits(types, &gpu.device().limits());
    assert_eq!(limits.err(), Some(GatherError::Block(error)));
}
