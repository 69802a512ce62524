//! The shapes of a request's operands, compared with the plan's.

use libtest_mimic::Trial;
use testkit::gpu::Gpu;
use wgpu_gather::{
    ElementTypes, Gather, GatherElements, GatherNd, GpuError, Indices, Operand, RunError, Tensor,
    ToPlan,
};

use crate::executors::both;
use crate::to_host::block_on;
use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_plan_of_other_shapes_is_refused", other_shapes),
        trial("params_of_a_shard_or_with_gaps_has_any_shape", any_shape),
        trial("gather_nd_needs_the_shape_of_a_slice", missing_shape),
        trial("a_slice_has_as_many_values_as_its_shape", shaped_slices),
        trial("a_shape_is_refused_before_a_length", before_lengths),
    ]
}

/// The error when gathering from 6 numbers shaped [2, 3] by indices in a slice, with a shape or without: the same on the GPU and
/// on the CPU, by each way to request it.
fn error_of(
    gpu: &Gpu,
    plan: &(impl for<'p> ToPlan<'p> + Clone),
    indices: &[i32],
    shape: Option<&[usize]>,
) -> GpuError {
    let mut first = None;
    for executor in both(gpu) {
        let table = executor.upload(vec![1, 2, 3, 4, 5, 6], &[2, 3]).unwrap();
        let mut output = executor.zeros(&[1]).unwrap();
        let request = || {
            let indices: Indices<'_, i32> = match shape {
                Some(shape) => (indices, shape).into(),
                None => indices.into(),
            };
            executor.gather(plan.clone(), &table, indices)
        };
        for error in [
            request().wait().map(drop),
            block_on(request()).map(drop),
            request().on_gpu().wait().map(drop),
            request().into_tensor(&mut output).wait(),
        ] {
            let error = error.unwrap_err();
            assert_eq!(*first.get_or_insert(error.clone()), error, "{executor}");
        }
    }
    first.unwrap()
}

fn plan_shape(operand: Operand, expected: &[usize], found: &[usize]) -> GpuError {
    GpuError::Run(RunError::PlanShape {
        operand,
        expected: expected.to_vec(),
        found: found.to_vec(),
    })
}

/// Other shapes with equal lengths.
fn other_shapes(gpu: &'static Gpu) {
    let plan = Gather::new().plan(&[3, 2], &[4]).unwrap();
    let error = error_of(gpu, &plan, &[0, 1, 0, 1], None);
    assert_eq!(error, plan_shape(Operand::Params, &[3, 2], &[2, 3]));
    let text = "params must have the plan's shape [3,2], found [2,3]";
    assert_eq!(error.to_string(), text);
    for plan in [
        Gather::new().plan(&[6], &[4]).unwrap(),
        Gather::new().plan(&[2, 3, 1], &[4]).unwrap(),
        GatherNd::new().plan(&[1, 2, 3], &[4, 1]).unwrap(),
    ] {
        let error = error_of(gpu, &plan, &[0, 1, 0, 1], None);
        let expected = plan_shape(Operand::Params, plan.params_shape(), &[2, 3]);
        assert_eq!(error, expected, "{plan}");
    }

    let plan = Gather::new().plan(&[2, 3], &[2, 2]).unwrap();
    let error = error_of(gpu, &plan, &[0, 1, 0, 1], Some(&[4]));
    assert_eq!(error, plan_shape(Operand::Indices, &[2, 2], &[4]));
    let text = "indices must have the plan's shape [2,2], found [4]";
    assert_eq!(error.to_string(), text);
    let plan = GatherNd::new().plan(&[2, 3], &[4, 1]).unwrap();
    let error = error_of(gpu, &plan, &[0, 1, 0, 1], Some(&[2, 2]));
    assert_eq!(error, plan_shape(Operand::Indices, &[4, 1], &[2, 2]));
    for executor in both(gpu) {
        let table = executor.upload(&[1, 2, 3, 4, 5, 6], &[2, 3]).unwrap();
        let rows = executor.upload(&[0, 1, 0, 1], &[4]).unwrap();
        let error = executor.gather(&plan, &table, &rows).wait();
        let expected = plan_shape(Operand::Indices, &[4, 1], &[4]);
        assert_eq!(error, Err(expected), "{executor}");
        let rows = rows.with_shape(&[4, 1]).unwrap();
        let expected = Ok(vec![1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]);
        let output = executor.gather(&plan, &table, &rows).wait();
        assert_eq!(output, expected, "{executor}");
        // A slice of indices without a shape is taken in the plan's shape, if it has as many values.
        let output = executor.gather(&plan, &table, &[0, 1, 0, 1]).wait();
        assert_eq!(output, expected, "{executor}");
        // A tensor of bytes needs only the right number of bytes: its shape is not compared with the plan's.
        let bytes = executor.upload(&[1_u8, 2, 3, 4, 5, 6], &[6]).unwrap();
        let rows = executor.upload(&[0_u8, 1, 0, 1], &[2, 2]).unwrap();
        let types = ElementTypes::of::<u8, u8>();
        let output = executor.gather_bytes(&plan, types, &bytes, &rows).wait();
        let expected = vec![1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6];
        assert_eq!(output, Ok(expected), "{executor}");
    }
}

/// Indices are compared for these plans too.
fn any_shape(gpu: &'static Gpu) {
    let plan = Gather::new().plan(&[4, 2], &[2, 1]).unwrap();
    let shard = plan.shard(1..3).unwrap();
    let wide = plan.with_params_stride(3).unwrap();
    for executor in both(gpu) {
        let check = |plan, table: &Tensor<i32>, expected: [i32; 4]| {
            for shape in [&[2, 1][..], &[1, 2], &[2]] {
                let found = executor.gather(plan, table, (&[2, 0], shape)).wait();
                match shape {
                    [2, 1] => assert_eq!(found, Ok(expected.to_vec()), "{executor}"),
                    _ => {
                        let error = plan_shape(Operand::Indices, &[2, 1], shape);
                        assert_eq!(found, Err(error), "{executor}");
                    }
                }
            }
        };
        let mut held = executor.upload(vec![21, 22, 31, 32], &[4]).unwrap();
        for shape in [&[4][..], &[2, 2], &[1, 4, 1]] {
            held = held.with_shape(shape).unwrap();
            check(&shard, &held, [31, 32, 0, 0]);
        }
        let mut gaps: Tensor<i32> = executor.upload((0..12).collect::<Vec<_>>(), &[12]).unwrap();
        for shape in [&[12][..], &[4, 3], &[3, 4]] {
            gaps = gaps.with_shape(shape).unwrap();
            check(&wide, &gaps, [6, 7, 0, 1]);
        }
    }
}

fn missing_shape(gpu: &'static Gpu) {
    let nd = GatherNd::new();
    let (indices, list) = ([1, 2, 0, 0], vec![1_u8, 2]);
    let error = error_of(gpu, &nd, &indices, None);
    assert_eq!(error, GpuError::MissingShape);
    let text = "indices of gather_nd must have a shape, found a slice";
    assert_eq!(error.to_string(), text);
    for executor in both(gpu) {
        let table = executor.upload(&[1, 2, 3, 4, 5, 6], &[2, 3]).unwrap();
        let without = executor.gather(nd, &table, &indices).wait();
        assert_eq!(without, Err(GpuError::MissingShape), "{executor}");
        let without = executor.gather(nd, &table, &list).wait();
        assert_eq!(without, Err(GpuError::MissingShape), "{executor}");
        let output = executor.gather(nd, &table, (&indices, &[2, 2])).wait();
        assert_eq!(output, Ok(vec![6, 1]), "{executor}");
        let output = executor.gather(nd, &table, (&list, [2])).wait();
        assert_eq!(output, Ok(vec![6]), "{executor}");
        let tensor = executor.upload(&indices, &[2, 2]).unwrap();
        let output = executor.gather(nd, &table, &tensor).wait();
        assert_eq!(output, Ok(vec![6, 1]), "{executor}");
        // Gather and GatherElements take a slice without a shape as indices with one dim.
        let output = executor.gather(Gather::new(), &table, &[1]).wait();
        assert_eq!(output, Ok(vec![4, 5, 6]), "{executor}");
        let ranks = executor.gather(GatherElements::new(), &table, &[1]).wait();
        let text = "indices must have the rank of params = 2, found 1";
        assert_eq!(ranks.unwrap_err().to_string(), text, "{executor}");
    }
}

fn shaped_slices(gpu: &'static Gpu) {
    let plan = Gather::new().plan(&[2, 3], &[2, 2]).unwrap();
    let indices = [0, 1, 0, 1];
    for shape in [
        &[2, 3][..],
        &[],
        &[2, 0],
        &[1 << 63, 2, 4],
        &[usize::MAX, usize::MAX],
    ] {
        let expected = GpuError::Shape {
            operand: Operand::Indices,
            expected: 4,
            shape: shape.to_vec(),
        };
        let error = error_of(gpu, &plan, &indices, Some(shape));
        assert_eq!(error, expected, "{shape:?}");
        let error = error_of(gpu, &Gather::new(), &indices, Some(shape));
        assert_eq!(error, expected, "{shape:?}");
        let error = error_of(gpu, &GatherNd::new(), &indices, Some(shape));
        assert_eq!(error, expected, "{shape:?}");
    }
    let error = error_of(gpu, &plan, &indices, Some(&[2, 3]));
    let text = "indices shape must have 4 elements, found [2,3]";
    assert_eq!(error.to_string(), text);
}

/// A wrong shape is named before a wrong length, also before that of an output or a mask.
fn before_lengths(gpu: &'static Gpu) {
    let plan = Gather::new().plan(&[3], &[2]).unwrap();
    for executor in both(gpu) {
        let table = executor.upload(&[1_u8, 2], &[2]).unwrap();
        let mut mask = executor.zeros(&[9]).unwrap();
        let mut output = executor.zeros(&[7]).unwrap();
        let request = executor.gather(&plan, &table, &[0; 5]).mask(&mut mask);
        let error = request.into_tensor(&mut output).wait();
        let expected = plan_shape(Operand::Params, &[3], &[2]);
        assert_eq!(error, Err(expected), "{executor}");
        let table = executor.upload(&[1_u8, 2, 3], &[3]).unwrap();
        let length = |operand, expected, found| {
            Err(GpuError::Run(RunError::Length {
                operand,
                expected: expected..=expected,
                found,
            }))
        };
        let request = executor.gather(&plan, &table, &[0; 5]).mask(&mut mask);
        let error = request.into_tensor(&mut output).wait();
        assert_eq!(error, length(Operand::Indices, 2, 5), "{executor}");
        let request = executor.gather(&plan, &table, &[0; 2]).mask(&mut mask);
        let error = request.wait().map(drop);
        assert_eq!(error, length(Operand::Mask, 2, 9), "{executor}");
        let request = executor.gather(&plan, &table, &[0; 2]);
        let error = request.into_tensor(&mut output).wait();
        assert_eq!(error, length(Operand::Output, 2, 7), "{executor}");
    }
}
