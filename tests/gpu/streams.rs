//! Streams, which gather in chunks from tables that a device does not hold: jobs of the other trials in a few hundred
//! bytes of device memory, and larger gathers whose device memory is counted.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use libtest_mimic::Trial;
use wgpu_gather::{
    BadIndices, Gather, GatherError, GatherIndex, GatherNd, GatherPlan, Gpu, GpuError, GpuOptions,
    IndexKind, Input, RunError, wgpu,
};

use crate::common::cases;
use crate::common::elements::check_element_types;
use crate::common::indices::Hash;
use crate::common::oracle::Case;
use crate::common::voices::{Element, Job, POLICIES, Voice};
use crate::cuts::small_device;
use crate::into_buffers::{filled, index_values, table, widths};
use crate::to_host::block_on;
use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("streams_of_a_few_bytes_give_the_table", |gpu| {
            in_turn(gpu, table().step_by(11));
        }),
        trial("streams_of_a_few_bytes_give_index_values", |gpu| {
            in_turn(gpu, index_values().step_by(17));
        }),
        trial("streams_of_a_few_bytes_give_every_width", |gpu| {
            in_turn(gpu, widths().step_by(5));
        }),
        trial("streams_of_a_few_bytes_leave_gaps_out", |gpu| {
            let jobs = table().step_by(29).chain(widths().step_by(11));
            in_turn(gpu, jobs.map(|job| job.with_gaps([3, 2])));
        }),
        trial("streams_of_a_few_bytes_give_the_fill", |gpu| {
            in_turn(gpu, filled().step_by(5));
        }),
        trial("a_stream_holds_the_fill_across_chunks", filled_chunks),
        trial("streams_of_shards_put_together_are_the_whole", shards),
        trial("elements_of_every_type_stream_bit_for_bit", |gpu| {
            for from in SOURCES {
                let device_bytes = Some(4096);
                check_element_types(&Stream {
                    gpu,
                    from,
                    device_bytes,
                    fill: &[],
                });
            }
        }),
        trial("a_device_of_small_buffers_streams_the_table", small_buffers),
        trial("a_stream_stays_within_its_device_bytes", bounded),
        trial("a_dropped_chunk_is_gathered_again", dropped),
        trial("a_lost_device_ends_a_stream", lost),
        trial("a_mistake_is_an_error_before_any_chunk", mistakes),
    ]
}

/// The place of a stream's params.
#[derive(Debug, Clone, Copy)]
enum Place {
    Host,
    Table,
}

/// `Gpu::stream` or `Gpu::stream`, in `device_bytes` or, without a number, in as few as it takes.
struct Stream<'a> {
    gpu: &'a Gpu,
    from: Place,
    device_bytes: Option<u64>,
    /// The bytes of an element; empty for zeros.
    fill: &'a [u8],
}

impl Stream<'_> {
    fn run<T: Element, I: GatherIndex>(
        &self,
        plan: &GatherPlan,
        params: &[T],
        indices: &[I],
        device_bytes: u64,
    ) -> Result<Vec<T>, GpuError> {
        let mut output = Vec::new();
        let mut take = |chunk: Result<Vec<T>, GpuError>| {
            let chunk = chunk?;
            assert!(!chunk.is_empty(), "an empty chunk");
            output.extend(chunk);
            Ok::<_, GpuError>(())
        };
        let table;
        let params = match self.from {
            Place::Host => Input::Host(params),
            Place::Table => {
                table = self.gpu.upload(params)?;
                Input::Tensor(&table)
            }
        };
        let mut stream = self.gpu.stream(plan, params, indices, device_bytes)?;
        if !self.fill.is_empty() {
            stream = stream.fill(bytemuck::checked::pod_read_unaligned(self.fill))?;
        }
        stream.try_for_each(&mut take)?;
        Ok(output)
    }
}

impl Voice for Stream<'_> {
    const DEVICE_DEFAULT: BadIndices = BadIndices::Zero;

    fn gather<T: Element, I: GatherIndex>(
        &self,
        plan: &GatherPlan,
        params: &[T],
        indices: &[I],
    ) -> Result<Vec<T>, RunError> {
        let first = self.run(plan, params, indices, self.device_bytes.unwrap_or(0));
        let result = match first {
            Err(GpuError::DeviceBytes { expected, found: 0 }) => {
                self.run(plan, params, indices, expected)
            }
            result => result,
        };
        match result {
            Ok(output) => Ok(output),
            Err(GpuError::Run(error)) => Err(error),
            Err(error) => panic!("{error}"),
        }
    }
}

const SOURCES: [Place; 2] = [Place::Host, Place::Table];

/// Checks each job by the next way to stream, in turn.
fn in_turn(gpu: &Gpu, jobs: impl Iterator<Item = Job>) {
    for (number, job) in jobs.enumerate() {
        // In the least bytes, a job takes a dispatch for every few bytes of its operands.
        let bytes = job.params.len().max(job.output.len());
        let device_bytes = (bytes > 1 << 10 || number % 4 < 2).then_some(16_001);
        if bytes <= 1 << 18 {
            let from = SOURCES[number % 2];
            job.check(&Stream {
                gpu,
                from,
                device_bytes,
                fill: &job.fill,
            });
        }
    }
}

fn shards(gpu: &'static Gpu) {
    let mut hash = Hash::new(5);
    for (number, job) in widths().enumerate().step_by(19) {
        let stream = Stream {
            gpu,
            from: SOURCES[number % 2],
            device_bytes: None,
            fill: &[],
        };
        job.check_shards(&stream, &mut hash);
    }
}

/// The device has buffers of 4 KiB and bindings of 1 KiB, much less than the stream's `device_bytes`.
fn small_buffers(_: &'static Gpu) {
    let gpu = small_device(4096);
    let stream = Stream {
        gpu: &gpu,
        from: Place::Host,
        device_bytes: Some(1 << 30),
        fill: &[],
    };
    let planned = cases::table().into_iter().filter(Case::check_plan);
    let kinds = [IndexKind::I32, IndexKind::U64];
    let jobs = planned.flat_map(|case| case.jobs(&[1, 3, 16], &kinds, &POLICIES));
    for job in jobs.step_by(5) {
        job.check(&stream);
    }
}

/// Windows of a table, pieces of a slice, and elements that two chunks share.
fn filled_chunks(gpu: &'static Gpu) {
    let plan = Gather::new().bad_indices(BadIndices::Zero);
    // Slices of 24 bytes, of 12,000 bytes in pieces, and of 3 bytes.
    for (slice_len, device_bytes) in [(8, None), (4000, Some(8 * 1024)), (1, None)] {
        let plan = plan.plan(&[100, slice_len], &[40]).unwrap();
        let params: Vec<[u8; 3]> = (0_u8..100)
            .flat_map(|row| vec![[row, 101, 102]; slice_len])
            .collect();
        let indices: Vec<i64> = (0..40).map(|n| n * 37 % 120 - 5).collect();
        let fill = [201, 202, 203];
        let mut expected = Vec::new();
        for &index in &indices {
            let row = u8::try_from(index).ok().filter(|&row| row < 100);
            let element = row.map_or(fill, |row| [row, 101, 102]);
            expected.extend(vec![element; slice_len]);
        }
        assert!(expected.contains(&fill));
        for from in SOURCES {
            let stream = Stream {
                gpu,
                from,
                device_bytes,
                fill: &fill,
            };
            let output = stream.gather(&plan, &params, &indices).unwrap();
            assert!(output == expected, "{from:?} {slice_len}");
        }
    }

    // A row that the shard does not hold gives zeros.
    let shard = plan.plan(&[4, 2], &[4]).unwrap().shard(2..4).unwrap();
    let stream = gpu.stream(&shard, &[3_u16, 3, 4, 4], &[3, 0, 4, 2], 1 << 14);
    let chunks: Result<Vec<_>, _> = stream.unwrap().fill(9).unwrap().collect();
    assert_eq!(chunks.unwrap().concat(), [4, 4, 0, 0, 9, 9, 3, 3]);
}

/// 64 MiB of params, 64 MiB of output and 4 MiB of indices.
fn large() -> (GatherPlan, Vec<u32>, Vec<u32>) {
    let plan = Gather::new().bad_indices(BadIndices::Error);
    let plan = plan.plan(&[1 << 20, 16], &[1 << 20]).unwrap();
    let mut hash = Hash::new(7);
    let indices = (0..1 << 20).map(|_| u32::try_from(hash.below(1 << 20)).unwrap());
    (plan, (0..16 << 20).collect(), indices.collect())
}

/// On a device of its own, whose buffer memory is read every millisecond.
fn bounded(_: &'static Gpu) {
    const DEVICE_BYTES: u64 = 8 << 20;
    let gpu = pollster::block_on(Gpu::open(&GpuOptions::from_env())).unwrap();
    let (plan, params, indices) = large();
    let expected = plan.run(&params, &indices).unwrap();
    let table = gpu.upload(&params).unwrap();
    for from in SOURCES {
        let held = || {
            let counters = gpu.device().get_internal_counters();
            counters.hal.buffer_memory.read()
        };
        gpu.device()
            .poll(wgpu::PollType::wait_indefinitely())
            .unwrap();
        let (done, start) = (AtomicBool::new(false), held());
        let most = thread::scope(|scope| {
            let counting = scope.spawn(|| {
                let mut most = 0;
                while !done.load(Ordering::Relaxed) {
                    most = most.max(held() - start);
                    thread::sleep(Duration::from_millis(1));
                }
                u64::try_from(most).unwrap()
            });
            let output: Result<Vec<_>, _> = match from {
                Place::Host => {
                    let stream = gpu.stream(&plan, &params, &indices, DEVICE_BYTES);
                    stream.unwrap().collect()
                }
                Place::Table => {
                    let stream = gpu.stream(&plan, &table, &indices, DEVICE_BYTES);
                    stream.unwrap().collect()
                }
            };
            done.store(true, Ordering::Relaxed);
            assert!(output.unwrap().concat() == expected);
            counting.join().unwrap()
        });
        // Uniforms are not part of the device bytes. On DX12, even a small buffer takes 64 KiB.
        let dx12 = gpu.device().adapter_info().backend == wgpu::Backend::Dx12;
        let allowed = DEVICE_BYTES + ((if dx12 { 8 } else { 1 }) << 16);
        // wgpu counts no memory on GL, not even the table's.
        let counts = start > 0;
        assert!(
            !counts || DEVICE_BYTES / 2 < most && most <= allowed,
            "{from:?}: {most}"
        );
    }
}

/// Begins each chunk, polls it a few times and drops it, and then takes the chunk.
fn dropped(gpu: &'static Gpu) {
    let plan = GatherNd::new().bad_indices(BadIndices::Zero);
    let plan = plan.plan(&[300, 7], &[500, 1]).unwrap();
    let params: Vec<u16> = (0..2100).collect();
    let indices: Vec<i64> = (0..500).map(|n| n * 7919 % 302 - 1).collect();
    let mut stream = gpu.stream(&plan, &params, &indices, 8 * 512).unwrap();
    let mut output = Vec::new();
    for polls in 0.. {
        let begun = {
            let mut chunk = pin!(stream.next_chunk());
            let mut context = Context::from_waker(Waker::noop());
            let mut polled = (0..polls % 50).map(|_| chunk.as_mut().poll(&mut context));
            polled.find(Poll::is_ready)
        };
        let chunk = match begun {
            Some(Poll::Ready(chunk)) => chunk,
            _ => block_on(stream.next_chunk()),
        };
        match chunk.unwrap() {
            Some(chunk) => output.extend(chunk),
            None => break,
        }
    }
    assert_eq!(output, plan.run(&params, &indices).unwrap());
}

fn lost(_: &'static Gpu) {
    let gpu = pollster::block_on(Gpu::open(&GpuOptions::from_env())).unwrap();
    let plan = Gather::new().plan(&[100, 100], &[100]).unwrap();
    let (params, indices) = ([7_u8; 10_000], [0_u32; 100]);
    let mut stream = gpu.stream(&plan, &params, &indices, 8192).unwrap();
    assert!(matches!(stream.next(), Some(Ok(_))));
    gpu.device().destroy();
    assert!(matches!(stream.next(), Some(Err(_))));
    assert_eq!(stream.next(), None);
    assert_eq!(block_on(stream.next_chunk()), Ok(None));
}

fn mistakes(gpu: &'static Gpu) {
    let plan = Gather::new().bad_indices(BadIndices::Error);
    let plan = plan.plan(&[3], &[2]).unwrap();
    let text = |params: &[u8], indices: &[i32], device_bytes| {
        let host = gpu.stream(&plan, params, indices, device_bytes).map(drop);
        let table = gpu.upload(params).unwrap();
        let device = gpu.stream(&plan, &table, indices, device_bytes).map(drop);
        let [host, device] = [host, device].map(|result| result.unwrap_err().to_string());
        assert_eq!(host, device);
        host
    };
    assert_eq!(
        text(&[1; 2], &[0, 0], 1 << 20),
        "params must have 3 elements, found 2"
    );
    assert_eq!(
        text(&[1; 3], &[0], 1 << 20),
        "indices must have 2 elements, found 1"
    );
    assert_eq!(
        text(&[1; 3], &[0, 3], 1 << 20),
        "indices[1] = 3 is not in [0, 3)"
    );

    let none = gpu.stream(&plan, &[(); 3], &[0, 1], 1 << 20);
    assert_eq!(
        none.map(drop),
        Err(GpuError::Gather(GatherError::ZeroSizedElement))
    );
    // The fill is refused at once, even if nothing is streamed.
    let zero = Gather::new().bad_indices(BadIndices::Zero);
    for rows in [0, 2] {
        let plan = zero.plan(&[3], &[rows]).unwrap();
        let (params, indices) = ([[1_u8; 17]; 3], vec![3; rows]);
        let stream = gpu.stream(&plan, &params, &indices, 1 << 20);
        let too_long = stream.unwrap().fill([9; 17]).map(drop);
        let error = GatherError::FillTooLong { element_bytes: 17 };
        assert_eq!(too_long, Err(GpuError::Gather(error)));
    }
    // The least chunk has a word of params, two of indices and one of output.
    let few = gpu.stream(&plan, &[1_u8; 3], &[0, 1], 63);
    let few = few.map(drop).unwrap_err();
    assert_eq!(
        few,
        GpuError::DeviceBytes {
            expected: 64,
            found: 63
        }
    );
    assert_eq!(
        few.to_string(),
        "device_bytes must be at least 64 for this gather, found 63"
    );

    let empty = Gather::new().plan(&[3], &[0]).unwrap();
    let mut stream = gpu.stream(&empty, &[1, 2, 3], &[0_i32; 0], 0).unwrap();
    assert_eq!(stream.next(), None);
}
