//! Gathers encoded rows: each call returns gguf-py's values, on each device.

use half::{bf16, f16};
use libtest_mimic::Trial;
use pollster::block_on;
use wgpu_gather::{
    BadIndices, BlockQuantized, Buffers, Element, ElementTypes, Encoded, Encoding, Executor, Float,
    FloatKind, Gather, GatherError, GpuError, IndexKind, PlanError, RunError, Tensor,
};

use crate::batch::read_back;
use crate::executors::both;
use crate::into_buffers::encoded;
use crate::{flat, trial};
use testkit::device::blocking;
use testkit::encoded::{Recorded, rounded};
use testkit::gpu::{Gpu, buffers_of, range};
use testkit::quantized::Quantized;
use testkit::sweep;
use testkit::waits::encoded_shape;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = (Encoding::ALL.iter())
        .map(|&encoding| {
            let name = format!("recorded_rows_of_{encoding}_are_decoded");
            trial(name.to_lowercase(), move |gpu| recorded(gpu, encoding))
        })
        .collect();
    trials.extend([
        trial("every_half_float_is_decoded", halves),
        trial("every_edge_of_f32_is_rounded_to_halves", edges),
        trial("recorded_rows_of_onnx_runtime_are_decoded", quantized),
        trial("scales_that_are_missing_or_misplaced_are_refused", scales),
        trial("a_product_that_overflows_is_an_infinity", overflow),
        trial(
            "a_product_of_a_tiny_scale_is_rounded_before_the_sum",
            tiny_scales,
        ),
        trial("a_gpu_gathers_a_tensor_of_encoded_rows", |gpu| {
            let plain = encoded().filter(|sample| sample.fill.is_empty());
            for sample in sweep::some(0, 29, 0, plain) {
                sample.check(&blocking(gpu));
            }
        }),
        trial("a_tensor_of_encoded_rows_has_the_shape_of_the_plan", shapes),
    ]);
    trials
}

/// Gathers the recorded rows in another order, in each way: as a tensor, as bytes, in four-value and one-value units, and from a
/// table cut into windows.
fn recorded(gpu: &'static Gpu, encoding: Encoding) {
    let recorded = Recorded::of(encoding);
    let [rows, row_len] = recorded.shape;
    let (indices, plan) = recorded.reordered();
    let encoded = Encoded::new(encoding, &recorded.rows);
    let table = gpu.upload_encoded(&encoded, &[rows, row_len]).unwrap();
    let found = gpu.gather(Gather::new(), &table, &indices);
    recorded.check(&indices, &found.wait().unwrap());

    let types = ElementTypes::encoded(encoding, IndexKind::I32);
    let table = flat(gpu, &recorded.rows);
    let bytes = flat(gpu, bytemuck::cast_slice::<i32, u8>(&indices));
    let found = gpu
        .gather_bytes(&plan, types, &table, &bytes)
        .wait()
        .unwrap();
    recorded.check(&indices, &bytemuck::pod_collect_to_vec(&found));

    // Units of one value, since the output does not start at a multiple of 16 bytes.
    let found = gpu.zeros::<f32>(&[rows * row_len + 1]).unwrap();
    let found = found.buffer().unwrap();
    let buffers = buffers_of(types, [range(&table), range(&bytes), found.slice(4..)]);
    gpu.submit_gather(&plan, &buffers);
    let [found] = read_back(gpu, [found]);
    recorded.check(&indices, &bytemuck::pod_collect_to_vec(&found[4..]));

    recorded_halves::<f16>(gpu, &recorded, FloatKind::F16);
    recorded_halves::<bf16>(gpu, &recorded, FloatKind::Bf16);

    // On the CPU, the same.
    let executor = Executor::cpu();
    let table = executor.upload_encoded(&encoded, &[rows, row_len]).unwrap();
    let found = block_on(executor.gather(&plan, &table, &indices));
    recorded.check(&indices, &found.unwrap());
}

/// The rows as halves: as a tensor, in units of four values, and into a buffer, 2 bytes past a word.
fn recorded_halves<T: Element + Float>(gpu: &'static Gpu, recorded: &Recorded, to: FloatKind) {
    let (indices, plan) = recorded.reordered();
    let table = Encoded::new(recorded.encoding, &recorded.rows).to::<T>();
    let table = gpu.upload_encoded(&table, &recorded.shape).unwrap();
    let found = gpu.gather(&plan, &table, &indices).wait().unwrap();
    recorded.check_halves(to, &indices, bytemuck::cast_slice(&found));

    let types = ElementTypes::decoded(recorded.encoding, to, IndexKind::I32);
    let (params, indices_bytes) = (flat(gpu, &recorded.rows), flat(gpu, &indices));
    let end = found.len() * 2;
    let output = flat(gpu, vec![0xa5_u8; end + 4]);
    let output = output.buffer().unwrap();
    let ranges = [range(&params), range(&indices_bytes), output.slice(2..)];
    gpu.submit_gather(&plan, &buffers_of(types, ranges));
    let [bytes] = read_back(gpu, [output]);
    let (before, bytes) = bytes.split_at(2);
    let (bytes, after) = bytes.split_at(end);
    recorded.check_halves(to, &indices, bytes);
    assert!([before, after].concat().iter().all(|&byte| byte == 0xa5));
}

/// 2^20 floats, those next to each half and to each middle of two among them; with `GATHER_EVERY_CASE` 2^24.
fn edges(gpu: &'static Gpu) {
    let mut lows = vec![
        0, 1, 0xfff, 0x1000, 0x1001, 0x1fff, 0x2000, 0x3000, 0x3001, 0x5000, 0x7fff, 0x8000,
        0x8001, 0xefff, 0xf000, 0xffff,
    ];
    if sweep::takes_every_case() {
        lows.extend((0..240).map(|low| low * 273 + 2));
    }
    let floats = (0..1 << 16).flat_map(|high: u32| lows.iter().map(move |low| high << 16 | low));
    let floats: Vec<u8> = floats.flat_map(u32::to_le_bytes).collect();
    let rows = floats.len() / 1024;
    let plan = Gather::new().plan(&[rows, 256], &[rows]).unwrap();
    let (table, every) = (
        flat(gpu, &floats),
        Vec::from_iter(0..u32::try_from(rows).unwrap()),
    );
    let every = flat(gpu, bytemuck::cast_slice::<u32, u8>(&every));
    for to in [FloatKind::F16, FloatKind::Bf16] {
        let types = ElementTypes::decoded(Encoding::F32, to, IndexKind::U32);
        let found = gpu
            .gather_bytes(&plan, types, &table, &every)
            .wait()
            .unwrap();
        for (value, found) in floats.chunks(4).zip(found.chunks(2)) {
            let value = f32::from_le_bytes(value.try_into().unwrap());
            assert!(
                rounded(value, to) == found,
                "{:#010x} to {to}",
                value.to_bits()
            );
        }
    }
}

/// The recorded gathers from quantised values, as tensors and into buffers.
fn quantized(gpu: &'static Gpu) {
    for case in Quantized::all() {
        let encoded = case.encoded();
        let shape = encoded_shape(&case.plan, &encoded);
        let table = gpu.upload_encoded(&encoded, &shape).unwrap();
        let indices = (&case.indices, case.indices_shape);
        let found = gpu.gather(&case.plan, &table, indices);
        case.check(&found.wait().unwrap());

        // Units of one value, as in `recorded`.
        let output = gpu.zeros::<f32>(&[case.plan.output_len() + 1]);
        let (output, indices) = (output.unwrap(), flat(gpu, &case.indices));
        let output = output.buffer().unwrap();
        let types = ElementTypes::encoded(case.encoding, IndexKind::I64);
        let params = flat(gpu, &case.params);
        let qparams = case.qparams.each_ref().map(|bytes| flat(gpu, bytes));
        let [scales, zero_points] = qparams.each_ref().map(|of| of.buffer().unwrap());
        let mut buffers = buffers_of(types, [range(&params), range(&indices), output.slice(4..)])
            .scales(scales.slice(..));
        if !case.qparams[1].is_empty() {
            buffers = buffers.zero_points(zero_points.slice(..));
        }
        gpu.submit_gather(&case.plan, &buffers);
        let [found] = read_back(gpu, [output]);
        case.check(&bytemuck::pod_collect_to_vec::<u8, f32>(&found[4..]));

        // The type of the scales.
        let indices = (&case.indices, case.indices_shape);
        let found = match case.scales {
            FloatKind::F16 => {
                let found = gpu.gather(&case.plan, &table.to::<f16>(), indices).wait();
                bytemuck::cast_slice(&found.unwrap()).to_vec()
            }
            FloatKind::Bf16 => {
                let found = gpu.gather(&case.plan, &table.to::<bf16>(), indices).wait();
                bytemuck::cast_slice(&found.unwrap()).to_vec()
            }
            _ => continue,
        };
        case.check_bytes(&found);
    }
}

fn scales(gpu: &'static Gpu) {
    let plan = Gather::new().plan(&[3, 64], &[2]).unwrap();
    let quantized = BlockQuantized::new(4, 16).unwrap();
    let [rows, scales, indices, output] =
        [96, 48, 8, 512].map(|bytes| gpu.zeros::<u8>(&[bytes]).unwrap());
    let slice = |tensor: &'_ Tensor<u8>| tensor.buffer().unwrap().clone();
    let [rows_buffer, scales_buffer, indices, output] =
        [&rows, &scales, &indices, &output].map(slice);
    let refused = |of, add: &dyn Fn(Buffers<'_>) -> Result<(), GatherError>| {
        let types = ElementTypes::encoded(of, IndexKind::I32);
        let buffers = buffers_of(
            types,
            [rows_buffer.slice(..), indices.slice(..), output.slice(..)],
        );
        add(buffers).unwrap_err().to_string()
    };
    let prepare = |buffers: Buffers<'_>| gpu.gatherer().prepare(&plan, &buffers).map(drop);
    let of = Encoding::BlockQuantized(quantized);
    assert_eq!(
        refused(of, &|buffers| prepare(buffers)),
        "scales must have a buffer range, found none"
    );
    assert_eq!(
        refused(Encoding::RowWise4, &|buffers| prepare(
            buffers.scales(scales_buffer.slice(..))
        )),
        "scales must not have a buffer range: the types of the gather have no scales"
    );
    assert_eq!(
        refused(of, &|buffers| {
            let buffers = buffers.scales(scales_buffer.slice(..));
            prepare(buffers.zero_points(scales_buffer.slice(..)))
        }),
        "zero points must not have a buffer range: the types of the gather have no zero points"
    );
    let zero_points = Encoding::BlockQuantized(quantized.with_zero_points());
    assert_eq!(
        refused(zero_points, &|buffers| prepare(
            buffers.scales(scales_buffer.slice(..))
        )),
        "zero points must have a buffer range, found none"
    );
    assert_eq!(
        refused(of, &|buffers| prepare(
            buffers.scales(scales_buffer.slice(..44))
        )),
        "scales range must have at least 48 bytes, found 44"
    );
    let large = gpu.zeros::<u8>(&[64]).unwrap();
    let large = large.buffer().unwrap();
    assert_eq!(
        refused(of, &|buffers| prepare(buffers.scales(large.slice(2..)))),
        "scales range must start at a multiple of 4 bytes, found 2"
    );
    // As tensors, on the GPU and on the CPU alike.
    for executor in both(gpu) {
        let refused = |params: &Encoded<&[u8]>| {
            let refused = executor.upload_encoded(params, &[3, 64]);
            refused.unwrap_err().to_string()
        };
        let params = Encoded::new(of, &[0; 96][..]);
        let text = "scales must have 48 bytes, found 96";
        assert_eq!(refused(&params.scales(&[0; 96])), text);
        let text =
            "scales must be given, in an Encoded: the encoding has them in an operand of their own";
        assert_eq!(refused(&params), text);
    }
}

/// A row with four 8-bit values.
fn row_wise_8(values: [u8; 4], scale: f32, bias: f32) -> Vec<u8> {
    [values, scale.to_le_bytes(), bias.to_le_bytes()].concat()
}

/// A product that overflows is an infinity, and the bias stays finite.
fn overflow(gpu: &'static Gpu) {
    let table = [
        row_wise_8([0, 1, 2, 255], f32::MAX, 1.0),
        row_wise_8([0, 1, 2, 255], -f32::MAX / 200.0, f32::MAX),
    ];
    let plan = Gather::new().plan(&[2, 4], &[2]).unwrap();
    let table = Encoded::new(Encoding::RowWise8, table.concat());
    let rows = plan.gather_encoded(&table, &[0, 1]).unwrap();
    assert_eq!(rows[..4], [1.0, f32::MAX, f32::INFINITY, f32::INFINITY]);
    assert!(rows[4..7].iter().all(|value| value.is_finite()));
    assert_eq!(rows[7], f32::NEG_INFINITY);
    let tensor = gpu.upload_encoded(&table, &[2, 4]).unwrap();
    let found = gpu.gather(&plan, &tensor, &[0, 1]);
    assert_eq!(found.wait().unwrap(), rows);
}

/// The bias takes away most of each product, so that what is left shows how it was rounded.
fn tiny_scales(gpu: &'static Gpu) {
    let exponents = [-110, -104, -103, -102, -60];
    let rows = exponents.map(|exponent| {
        let scale = 2.0_f32.powi(exponent) * (1.0 + f32::EPSILON);
        (scale, -scale * 250.0)
    });
    let table = rows.map(|(scale, bias)| row_wise_8([3, 251, 253, 255], scale, bias));
    let plan = Gather::new().plan(&[5, 4], &[5]).unwrap();
    let table = Encoded::new(Encoding::RowWise8, table.concat());
    let indices = [0, 1, 2, 3, 4];
    let values = plan.gather_encoded(&table, &indices).unwrap();
    let fused =
        rows.map(|(scale, bias)| [3.0, 251.0, 253.0, 255.0].map(|q| scale.mul_add(q, bias)));
    for (values, fused) in values.chunks(4).zip(fused) {
        assert_ne!(values, fused);
    }
    let tensor = gpu.upload_encoded(&table, &[5, 4]).unwrap();
    let found = gpu.gather(&plan, &tensor, &indices);
    assert_eq!(found.wait().unwrap(), values);
}

fn halves(gpu: &'static Gpu) {
    let rows: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    // Rows with four values, and with three, whose last group is not whole.
    for row_len in [4, 3] {
        let count = (1 << 16) / row_len;
        let bytes = &rows[..count * row_len * 2];
        let every: Vec<u32> = (0..u32::try_from(count).unwrap()).collect();
        for (encoding, value) in [
            (Encoding::F16, f16_bits as fn(u16) -> u32),
            (Encoding::Bf16, |bits| u32::from(bits) << 16),
        ] {
            let table = Encoded::new(encoding, bytes);
            let table = gpu.upload_encoded(&table, &[count, row_len]).unwrap();
            let found = gpu.gather(Gather::new(), &table, &every);
            let found = found.wait().unwrap();
            assert_eq!(found.len(), count * row_len);
            for (bits, found) in (0..=u16::MAX).zip(found) {
                assert_eq!(found.to_bits(), value(bits), "{encoding} {bits:#06x}");
            }
        }
    }
}

/// The bits of a half float's value, from its definition.
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
    let upload = |shape: &[usize]| {
        let table = Encoded::new(Encoding::Q4_0, &[0_u8; 36 * 5]);
        gpu.upload_encoded(&table, shape)
    };
    let table = upload(&[5, 64]).unwrap();
    assert_eq!(
        (table.rows().shape(), table.encoding()),
        (&[5, 36][..], Encoding::Q4_0)
    );
    let gather = |params_shape: &[usize]| {
        let plan = Gather::new().bad_indices(BadIndices::Fill);
        let plan = plan.plan(params_shape, &[2]).unwrap();
        gpu.gather(&plan, &table, &[4_u32, 9]).fill(2.5).wait()
    };
    assert_eq!(
        gather(&[5, 64]).unwrap(),
        [vec![0.0; 64], vec![2.5; 64]].concat()
    );
    for shape in [[5, 96], [10, 32]] {
        assert_eq!(
            gather(&shape).unwrap_err().to_string(),
            format!(
                "params must have the plan's shape [{},{}], found [5,64]",
                shape[0], shape[1]
            )
        );
    }
    for (shape, text) in [
        (
            &[5, 48][..],
            "the last dim of params must be whole blocks of Q4_0, of 32 values each, found 48",
        ),
        (&[5, 96], "params must have 270 bytes, found 180"),
        (
            &[],
            "the last dim of params must be whole blocks of Q4_0, of 32 values each, found 1",
        ),
        (
            &[usize::MAX, 64],
            "params must have at most 9223372036854775807 elements, found shape [18446744073709551615,64]",
        ),
    ] {
        assert_eq!(upload(shape).unwrap_err().to_string(), text, "{shape:?}");
    }
    let cut = Encoded::new(Encoding::Q4_0, gpu.zeros(&[5, 35]).unwrap());
    let error = gpu.gather(Gather::new(), &cut, &[0]).wait().unwrap_err();
    let text = "the bytes of a row must be whole blocks of Q4_0, of 32 values each, found 35";
    assert_eq!(error.to_string(), text);
    let plan = Gather::new().axis(1).plan(&[5, 64], &[2]).unwrap();
    let request = gpu.gather(&plan, &table, &[0, 1]);
    let Err(GpuError::Run(RunError::Plan(error))) = request.wait() else {
        panic!("slices of one value are refused");
    };
    let is_of_slices = matches!(
        error,
        PlanError::CutBlock {
            part: "slices",
            found: 1,
            ..
        }
    );
    assert!(is_of_slices, "{error:?}");
    let types = ElementTypes::encoded(Encoding::Q4_0, IndexKind::U32);
    let refused = gpu.gatherer().warm_up(&plan, types);
    assert_eq!(refused, Err(GatherError::Plan(error.clone())));
    let limits = plan.required_limits(types, &gpu.device().limits());
    assert_eq!(limits.err(), Some(GatherError::Plan(error)));
}
