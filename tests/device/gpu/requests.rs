//! The request for a gather: its operands, its output, bytes of types known at run time, and the buffers that an
//! executor keeps.

use std::task::{Context, Poll, Waker};
use std::thread;

use libtest_mimic::Trial;
use wgpu_gather::{BadIndices, ElementTypes, Gather, GatherError, GpuError, Tensor};

use crate::executors::both;
use crate::to_host::block_on;
use crate::{flat, trial};
use testkit::device::open_gpu;
use testkit::gpu::Gpu;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("indices_are_tensors_or_slices_of_any_kind", indices),
        trial("bytes_are_filled_by_an_element_of_bytes", bytes),
        trial("a_gather_writes_the_callers_tensor", callers_tensor),
        trial("a_request_on_the_gpu_waits_for_nothing", no_wait),
        trial("kept_buffers_serve_any_size_and_thread", kept_buffers),
    ]
}

fn indices(gpu: &'static Gpu) {
    let table = flat(gpu, vec![10.5_f32, 20.5, 30.5]);
    let indices = [2_u64, 0, 7];
    let (rows, list) = (flat(gpu, &indices), indices.to_vec());
    let plan = Gather::new().plan(&[3], &[3]).unwrap();
    let expected = Ok(vec![30.5, 10.5, 0.0]);
    assert_eq!(gpu.gather(&plan, &table, &indices).wait(), expected);
    assert_eq!(gpu.gather(&plan, &table, &list).wait(), expected);
    assert_eq!(block_on(gpu.gather(&plan, &table, &indices[..])), expected);
    assert_eq!(block_on(gpu.gather(&plan, &table, &rows)), expected);
    for request in [
        gpu.gather(&plan, &table, (&indices, &[3])),
        gpu.gather(&plan, &table, (&indices[..], [3])),
        gpu.gather(&plan, &table, (&list, vec![3])),
    ] {
        assert_eq!(request.wait(), expected);
    }
    let places = [2, 0, usize::MAX];
    assert_eq!(gpu.gather(&plan, &table, &places).wait(), expected);
    let places = flat(gpu, &places);
    assert_eq!(gpu.gather(plan, &table, &places).wait(), expected);
}

fn bytes(gpu: &'static Gpu) {
    let plan = Gather::new().bad_indices(BadIndices::Fill);
    let plan = plan.plan(&[2], &[2]).unwrap();
    let types = ElementTypes::of::<[u8; 3], u32>();
    // Indices in a slice of bytes, on both devices.
    for executor in both(gpu) {
        let table = executor.upload(b"abcdef", &[6]).unwrap();
        let request = executor.gather_bytes(&plan, types, &table, &[1, 0, 0, 0, 9, 0, 0, 0]);
        assert_eq!(request.fill(b"xyz").wait(), Ok(b"defxyz".to_vec()));
        let short = executor.gather_bytes(&plan, types, &table, &[1, 0, 0, 0]);
        let text = "indices must have 8 bytes, found 4";
        assert_eq!(short.wait().unwrap_err().to_string(), text, "{executor}");
    }
}

fn callers_tensor(gpu: &'static Gpu) {
    let table = gpu.upload(&[1_u16, 2, 3, 4, 5, 6], &[3, 2]).unwrap();
    let gather = Gather::new().bad_indices(BadIndices::Error);
    let mut output = flat(gpu, &[9_u16; 4]);
    for (indices, expected) in [([2, 0], [5, 6, 1, 2]), ([1, 1], [3, 4, 3, 4])] {
        let request = gpu.gather(gather, &table, &indices);
        block_on(request.into_tensor(&mut output)).unwrap();
        assert_eq!(output.download_blocking(), Ok(expected.to_vec()));
    }
    let request = gpu.gather(gather, &table, &[0, 3]);
    let error = request.into_tensor(&mut output).wait().unwrap_err();
    assert_eq!(error.to_string(), "indices[1] = 3 is not in [0, 3)");
    // Two tensors share the buffer, so the gather would write what it reads.
    let buffer = table.buffer().unwrap().clone();
    let mut same = Tensor::from_buffer(gpu, buffer, &[3, 2]).unwrap();
    let request = gpu.gather(Gather::new(), &table, &[0, 1, 2]);
    let error = request.into_tensor(&mut same).wait();
    let overlap = matches!(error, Err(GpuError::Gather(GatherError::Overlap { .. })));
    assert!(overlap, "{error:?}");
    assert_eq!(table.download_blocking(), Ok(vec![1, 2, 3, 4, 5, 6]));
}

fn no_wait(gpu: &'static Gpu) {
    let table = flat(gpu, vec![1.0_f32; 1 << 20]);
    let indices = vec![7; 1 << 20];
    let mut future = gpu
        .gather(Gather::new(), &table, &indices)
        .on_gpu()
        .into_future();
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(output) => assert_eq!(output.unwrap().shape(), [1 << 20]),
        Poll::Pending => panic!("the output stays on the GPU"),
    }
}

/// Outputs whose sizes fall and rise, one after the other and from several threads.
fn kept_buffers(_: &'static Gpu) {
    let gpu = open_gpu().unwrap();
    let params: Vec<u32> = (0..5000).collect();
    let table = flat(&gpu, &params);
    let check = |len: u32, by: u32| {
        let indices: Vec<u32> = (0..len).map(|n| n * by % 5003).collect();
        let expected: Vec<u32> = indices
            .iter()
            .map(|&n| if n < 5000 { n } else { 0 })
            .collect();
        let found = gpu.gather(Gather::new(), &table, &indices).wait();
        assert_eq!(found, Ok(expected), "{len} by {by}");
    };
    for len in [4096, 1, 17, 4095, 5000, 3, 0, 4999] {
        check(len, 7919);
    }
    let check = &check;
    thread::scope(|scope| {
        for by in [1, 3, 5, 7] {
            scope.spawn(move || (0..20).for_each(|n| check(1 + n * 97 * by, by)));
        }
    });
    let (before, after) = (gpu.device().get_internal_counters(), {
        for len in [5000, 2500, 1] {
            check(len, 11);
        }
        gpu.device().get_internal_counters()
    });
    let made = after.hal.buffers.read() - before.hal.buffers.read();
    assert!(made <= 2, "{made} buffers more are kept");
}
