//! A caller's mistakes on the GPU, on a device that runs no shader. Each mistake returns an error with its text, records
//! nothing, and does not reach the app's own error handler.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod gpu;
mod limits;
mod mask;
mod operands;
mod ranges;
mod rebind;
mod report;
mod scatter;
mod sharing;
mod tensors;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use testkit::gpu::{buffers_of, buffers_of_shards, noop_adapter};
use wgpu_gather::{
    BadIndices, BadRows, Buffers, ElementTypes, Gather, GatherError, GatherPlan, Gatherer, Operand,
    Prepared, wgpu,
};

/// The one usage that an operand needs.
const STORAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE;

/// An app with a device of its own, which counts the errors that reach its handler.
struct App {
    device: wgpu::Device,
    queue: wgpu::Queue,
    gatherer: Gatherer,
    errors: Arc<AtomicUsize>,
}

impl App {
    fn new() -> Self {
        Self::with_limits(wgpu::Limits::default())
    }

    fn with_limits(required_limits: wgpu::Limits) -> Self {
        Self::on(&adapter(), required_limits)
    }

    /// On a device that binds so many bytes of storage.
    fn binding(max_storage_buffer_binding_size: u64) -> Self {
        Self::with_limits(wgpu::Limits {
            max_storage_buffer_binding_size,
            ..Default::default()
        })
    }

    /// Two devices of one instance.
    fn two() -> [Self; 2] {
        let adapter = adapter();
        [(); 2].map(|()| Self::on(&adapter, wgpu::Limits::default()))
    }

    fn on(adapter: &wgpu::Adapter, required_limits: wgpu::Limits) -> Self {
        let descriptor = wgpu::DeviceDescriptor {
            required_limits,
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).unwrap();
        let errors = Arc::new(AtomicUsize::new(0));
        let counted = errors.clone();
        device.on_uncaptured_error(Arc::new(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
        }));
        let gatherer = Gatherer::new(&device);
        Self {
            device,
            queue,
            gatherer,
            errors,
        }
    }

    fn buffer(&self, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        })
    }

    fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&Default::default())
    }

    /// Submits a prepared gather.
    fn submit(&self, gather: &Prepared) {
        let mut encoder = self.encoder();
        gather.encode(&mut encoder);
        self.queue.submit([encoder.finish()]);
    }

    fn encode(&self, plan: &GatherPlan, buffers: &Buffers<'_>) -> Recorded {
        let mut encoder = self.encoder();
        let result = self.gatherer.encode(&mut encoder, plan, buffers);
        Recorded { encoder, result }
    }

    fn record(&self, plan: &GatherPlan, buffers: &Buffers<'_>) -> Recorded {
        let mut encoder = self.encoder();
        let mut pass = encoder.begin_compute_pass(&Default::default());
        let result = self.gatherer.prepare(plan, buffers);
        let result = result.map(|gather| gather.encode_in_pass(&mut pass));
        drop(pass);
        Recorded { encoder, result }
    }

    /// Both ways of recording succeed, and what they record can be submitted.
    #[track_caller]
    fn assert_accepted(&self, plan: &GatherPlan, buffers: &Buffers<'_>) {
        for recorded in [self.encode(plan, buffers), self.record(plan, buffers)] {
            assert_eq!(recorded.result, Ok(()), "{plan}");
            self.queue.submit([recorded.encoder.finish()]);
            assert_eq!(self.errors.load(Ordering::Relaxed), 0, "{plan}");
        }
    }

    /// Both ways of recording give this error and record nothing. Destroys the buffers.
    #[track_caller]
    fn assert_refused(
        &self,
        plan: &GatherPlan,
        buffers: &Buffers<'_>,
        of: &[&wgpu::Buffer],
        text: &str,
    ) {
        let recorded = [self.encode(plan, buffers), self.record(plan, buffers)];
        for Recorded { result, .. } in &recorded {
            assert_eq!(result.clone().unwrap_err().to_string(), text, "{plan}");
        }
        self.assert_nothing_recorded(recorded, of);
    }

    /// The recorded commands use none of these buffers: they can be submitted after the buffers are destroyed.
    #[track_caller]
    fn assert_nothing_recorded<const N: usize>(
        &self,
        recorded: [Recorded; N],
        of: &[&wgpu::Buffer],
    ) {
        of.iter().for_each(|buffer| buffer.destroy());
        for Recorded { encoder, .. } in recorded {
            self.queue.submit([encoder.finish()]);
        }
        self.assert_handler_heard_nothing();
    }

    /// No error has reached the app's handler. The handler is still in place: a mistake made here reaches it.
    #[track_caller]
    fn assert_handler_heard_nothing(&self) {
        assert_eq!(self.errors.load(Ordering::Relaxed), 0);
        self.buffer(
            4,
            wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::STORAGE,
        );
        assert_eq!(self.errors.swap(0, Ordering::Relaxed), 1);
    }
}

/// An adapter that validates everything and runs no shader.
fn adapter() -> wgpu::Adapter {
    noop_adapter(wgpu::Limits::unlimited())
}

/// Params, indices and output in these ranges, for gathering `f32` by `i32`.
fn f32s(ranges: [wgpu::BufferSlice<'_>; 3]) -> Buffers<'_> {
    buffers_of(ElementTypes::of::<f32, i32>(), ranges)
}

/// An encoder, and the result of recording a gather into it.
struct Recorded {
    encoder: wgpu::CommandEncoder,
    result: Result<(), GatherError>,
}

/// A gather of 4 out of 10 `f32`, the operands of [`Set`].
fn plan() -> GatherPlan {
    Gather::new().plan(&[10], &[4]).unwrap()
}

/// As [`plan`], but it needs a report.
fn plan_with_error() -> GatherPlan {
    let gather = Gather::new().bad_indices(BadIndices::Error);
    gather.plan(&[10], &[4]).unwrap()
}

/// A buffer for each operand of [`plan`].
struct Set {
    params: wgpu::Buffer,
    indices: wgpu::Buffer,
    output: wgpu::Buffer,
    report: wgpu::Buffer,
}

impl Set {
    const OPERANDS: [Operand; 4] = [
        Operand::Params,
        Operand::Indices,
        Operand::Output,
        Operand::Report,
    ];

    fn new(app: &App) -> Self {
        Self {
            params: app.buffer(40, STORAGE),
            indices: app.buffer(16, STORAGE),
            output: app.buffer(16, STORAGE),
            report: app.buffer(BadRows::REPORT_BYTES, STORAGE),
        }
    }

    fn with(mut self, operand: Operand, buffer: wgpu::Buffer) -> Self {
        *match operand {
            Operand::Params => &mut self.params,
            Operand::Indices => &mut self.indices,
            Operand::Output => &mut self.output,
            _ => &mut self.report,
        } = buffer;
        self
    }

    fn of(&self, operand: Operand) -> &wgpu::Buffer {
        match operand {
            Operand::Params => &self.params,
            Operand::Indices => &self.indices,
            Operand::Output => &self.output,
            _ => &self.report,
        }
    }

    fn all(&self) -> [&wgpu::Buffer; 4] {
        Self::OPERANDS.map(|operand| self.of(operand))
    }

    fn without_report(&self) -> Buffers<'_> {
        self.of_types(ElementTypes::of::<f32, i32>())
    }

    fn of_types(&self, types: ElementTypes) -> Buffers<'_> {
        let buffers = [&self.params, &self.indices, &self.output];
        buffers_of(types, buffers.map(|buffer| buffer.slice(..)))
    }

    /// As `without_report`, but with params in these shards.
    fn of_shards<'a>(&'a self, shards: &'a [(usize, wgpu::BufferSlice<'a>)]) -> Buffers<'a> {
        let others = [self.indices.slice(..), self.output.slice(..)];
        buffers_of_shards(ElementTypes::of::<f32, i32>(), shards, others)
    }

    fn bound(&self) -> Buffers<'_> {
        self.without_report().report(self.report.slice(..))
    }

    /// As `bound`, but with this range for one operand.
    fn bound_but<'a>(&'a self, operand: Operand, range: wgpu::BufferSlice<'a>) -> Buffers<'a> {
        let [params, indices, output, report] = Self::OPERANDS.map(|other| {
            if other == operand {
                range
            } else {
                self.of(other).slice(..)
            }
        });
        f32s([params, indices, output]).report(report)
    }
}

#[test]
fn the_right_buffers_are_accepted_and_used() {
    let app = App::new();
    let set = Set::new(&app);
    app.assert_accepted(&plan(), &set.bound());
    app.assert_accepted(&plan(), &set.without_report());
    app.assert_handler_heard_nothing();

    let recorded = [
        app.encode(&plan(), &set.without_report()),
        app.record(&plan(), &set.without_report()),
    ];
    set.all().into_iter().for_each(wgpu::Buffer::destroy);
    for (count, Recorded { encoder, result }) in (1..).zip(recorded) {
        assert_eq!(result, Ok(()));
        app.queue.submit([encoder.finish()]);
        assert_eq!(
            app.errors.load(Ordering::Relaxed),
            count,
            "a use of destroyed buffers is an error"
        );
    }
}

#[test]
fn a_gather_that_is_refused_leaves_the_pass_as_it_was() {
    let app = App::new();
    let set = Set::new(&app);
    let mut encoder = app.encoder();
    let mut pass = encoder.begin_compute_pass(&Default::default());
    let mut record = |plan: &GatherPlan, buffers: Buffers<'_>| {
        let prepared = app.gatherer.prepare(plan, &buffers);
        prepared.map(|gather| gather.encode_in_pass(&mut pass))
    };
    record(&plan(), set.bound()).unwrap();
    record(&plan_with_error(), set.without_report()).unwrap_err();
    record(&plan(), set.bound()).unwrap();
    drop(pass);
    app.queue.submit([encoder.finish()]);
    app.assert_handler_heard_nothing();
}
