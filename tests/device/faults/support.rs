//! Machines, apps with error handlers on their devices, and a time limit for each trial.

use std::mem::take;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use wgpu_gather::{
    BadIndices, BadRows, Buffers, ElementTypes, Gather, GatherError, GatherPlan, GpuError, Tensor,
    wgpu,
};

use testkit::device;
use testkit::gpu::{Gpu, buffers_of, noop_adapter};

/// A trial that takes longer fails. The longest take a minute, on two cores, and the machine may be busy.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// One trial on the noop device, which runs no shader, and one on the GPU, which is ignored without a GPU.
pub fn on_both(name: &str, run: fn(&Machine)) -> Vec<Trial> {
    let without_gpu = Trial::test(format!("noop: {name}"), move || {
        in_time(Machine::unlimited_noop(), run)
    });
    vec![without_gpu, on_gpu(name, run)]
}

/// A trial on the GPU.
pub fn on_gpu(name: &str, run: fn(&Machine)) -> Trial {
    device::gpu_trial(format!("gpu: {name}"), move |_| {
        in_time(Machine::gpu(), run)
    })
}

/// Written while a process of its own runs a trial.
static ALONE: RwLock<()> = RwLock::new(());

/// The environment variable by which [`alone`] tells the process that it starts to run the trial itself.
const ONE_TRIAL: &str = "FAULTS_ONE_TRIAL";

/// Runs the named trial in a process of its own, without other trials' threads and polls. No other trial in this process runs
/// meanwhile.
pub fn alone(name: &str, machine: fn() -> Machine, run: fn(&Machine)) -> Result<(), Failed> {
    if std::env::var_os(ONE_TRIAL).is_some() {
        return in_time(machine(), run);
    }
    let _alone = ALONE.write().unwrap_or_else(PoisonError::into_inner);
    let mut process = Command::new(std::env::current_exe()?);
    process
        .args(["--exact", name, "--nocapture"])
        .env(ONE_TRIAL, "1");
    let ended = process.output()?;
    let [stdout, stderr] = [ended.stdout, ended.stderr].map(String::from_utf8);
    let (stdout, stderr) = (stdout?, stderr?);
    eprint!("{stderr}");
    match ended.status.success() && stdout.contains("1 passed; 0 failed") {
        true => Ok(()),
        false => Err(format!("{}:\n{stdout}\n{stderr}", ended.status).into()),
    }
}

/// Runs a trial, and then a gather on a new device; fails after [`TIME_LIMIT`].
pub fn in_time(machine: Machine, run: fn(&Machine)) -> Result<(), Failed> {
    let _others = ALONE.read().unwrap_or_else(PoisonError::into_inner);
    let (sender, ended) = mpsc::channel();
    let body = thread::spawn(move || {
        run(&machine);
        let app = machine.app();
        let work = Work::small();
        assert_eq!(app.gather(&work), Ok(machine.answer(&work)));
        app.assert_handlers_are_the_apps();
        // The receiver is gone after the time limit.
        let _ = sender.send(());
    });
    if ended.recv_timeout(TIME_LIMIT) == Err(mpsc::RecvTimeoutError::Timeout) {
        return Err(format!("still running after {TIME_LIMIT:?}").into());
    }
    body.join().map_err(|panic| resume_unwind(panic))
}

/// An adapter; a trial opens any number of devices on it.
#[derive(Debug, Clone)]
pub struct Machine {
    adapter: wgpu::Adapter,
    pub runs_shaders: bool,
}

impl Machine {
    /// [`noop`](Self::noop) without limits of its own.
    pub fn unlimited_noop() -> Self {
        Self::noop(wgpu::Limits::unlimited())
    }

    /// The noop back end, whose every answer is zeros.
    pub fn noop(limits: wgpu::Limits) -> Self {
        Self {
            adapter: noop_adapter(limits),
            runs_shaders: false,
        }
    }

    /// The adapter that the environment chooses.
    pub fn gpu() -> Self {
        static ADAPTER: OnceLock<wgpu::Adapter> = OnceLock::new();
        let adapter = ADAPTER.get_or_init(|| {
            let instance = wgpu::Instance::new(device::descriptor());
            let adapter = wgpu::util::initialize_adapter_from_env_or_default(&instance, None);
            pollster::block_on(adapter).unwrap()
        });
        Self {
            adapter: adapter.clone(),
            runs_shaders: true,
        }
    }

    /// Returns true for a software adapter, which gathers on the process's threads.
    pub fn is_on_the_cpu(&self) -> bool {
        self.adapter.get_info().device_type == wgpu::DeviceType::Cpu
    }

    /// Returns true for Vulkan on the CPU, whose memory is the process's. GL reports no lack of memory.
    pub fn is_vulkan_on_the_cpu(&self) -> bool {
        self.is_on_the_cpu() && self.adapter.get_info().backend == wgpu::Backend::Vulkan
    }

    /// Returns false for every Mesa but 22. Lavapipe of Mesa 25 dies in `vkAllocateDescriptorSets` without memory, that of Mesa
    /// 22 returns an error; the versions between were not tried.
    pub fn reports_lack_of_memory(&self) -> bool {
        let driver = self.adapter.get_info().driver_info;
        !driver.starts_with("Mesa ") || driver.starts_with("Mesa 22.")
    }

    /// A new device with limits high enough for every trial.
    pub fn app(&self) -> App {
        let gpu = self.runs_shaders.then(|| self.adapter.limits());
        self.app_with(gpu.unwrap_or_default()).unwrap()
    }

    /// A new device with these limits, if the adapter has them.
    pub fn app_with(&self, limits: wgpu::Limits) -> Option<App> {
        let descriptor = wgpu::DeviceDescriptor {
            required_limits: limits,
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(self.adapter.request_device(&descriptor)).ok()?;
        let heard = Arc::new(Heard::default());
        let hears_errors = heard.clone();
        device.on_uncaptured_error(Arc::new(move |error| {
            hears_errors.errors.lock().unwrap().push(error.to_string());
        }));
        let hears_loss = heard.clone();
        device.set_device_lost_callback(move |_, _| {
            hears_loss.losses.fetch_add(1, Ordering::Relaxed);
        });
        let gpu = Gpu::from_parts(device, queue);
        Some(App { gpu, heard })
    }

    /// The output that this machine's devices should return.
    pub fn answer(&self, work: &Work) -> Vec<f32> {
        if self.runs_shaders {
            work.plan.gather(&work.params, &work.indices).unwrap()
        } else {
            vec![0.0; work.plan.output_shape().iter().product()]
        }
    }
}

/// The errors and device losses that the app's handlers have received.
#[derive(Debug, Default)]
struct Heard {
    errors: Mutex<Vec<String>>,
    losses: AtomicUsize,
}

/// An app with a device of its own and handlers on it.
#[derive(Debug)]
pub struct App {
    pub gpu: Gpu,
    heard: Arc<Heard>,
}

impl App {
    pub fn device(&self) -> &wgpu::Device {
        self.gpu.device()
    }

    pub fn gather(&self, work: &Work) -> Result<Vec<f32>, GpuError> {
        let table = self.gpu.upload(&work.params, work.plan.params_shape())?;
        self.gpu.gather(&work.plan, &table, &work.indices).wait()
    }

    pub fn start<'a>(
        &'a self,
        work: &'a Work,
        table: &'a Tensor<f32>,
    ) -> impl Future<Output = Result<Vec<f32>, GpuError>> + Send + Unpin {
        let gather = self.gpu.gather(&work.plan, table, &work.indices);
        gather.into_future()
    }

    pub fn upload(&self, work: &Work) -> Tensor<f32> {
        let shape = work.plan.params_shape();
        self.gpu.upload(&work.params, shape).unwrap()
    }

    pub fn buffer(&self, size: u64, mapped_at_creation: bool) -> wgpu::Buffer {
        self.device().create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: wgpu::BufferUsages::STORAGE
                | wgpu::BufferUsages::COPY_SRC
                | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation,
        })
    }

    pub fn poll(&self) {
        let polled = self.device().poll(wgpu::PollType::wait_indefinitely());
        polled.unwrap();
    }

    /// The errors that the app's handler has received since the last call.
    pub fn errors_heard(&self) -> Vec<String> {
        take(&mut self.heard.errors.lock().unwrap())
    }

    pub fn losses_heard(&self) -> usize {
        self.heard.losses.load(Ordering::Relaxed)
    }

    /// Asserts that nothing has reached the app's handlers and that they are still set: they receive an error that the
    /// app causes, and the loss of the device, which is destroyed.
    #[track_caller]
    pub fn assert_handlers_are_the_apps(&self) {
        assert_eq!((self.errors_heard(), self.losses_heard()), (vec![], 0));
        drop(self.device().create_buffer(&wgpu::BufferDescriptor {
            label: Some("storage cannot be mapped"),
            size: 4,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        }));
        assert_eq!((self.errors_heard().len(), self.losses_heard()), (1, 0));
        self.device().destroy();
        self.assert_only_the_loss_is_heard();
    }

    #[track_caller]
    pub fn assert_only_the_loss_is_heard(&self) {
        self.poll();
        // A poll thread that polls at the same time may have taken the callback, and not called it yet.
        let polled = Instant::now();
        while self.losses_heard() == 0 && polled.elapsed() < Duration::from_secs(10) {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!((self.errors_heard(), self.losses_heard()), (vec![], 1));
    }
}

/// A gather of rows of `f32`, whose elements are not zero.
#[derive(Debug)]
pub struct Work {
    pub plan: GatherPlan,
    pub params: Vec<f32>,
    pub indices: Vec<i32>,
}

impl Work {
    /// 4 of 10 elements, with a report.
    pub fn small() -> Self {
        Self::rows(10, 1, 4)
    }

    /// 32 MiB of output, which keep the device busy for a while.
    pub fn long() -> Self {
        Self::rows(1 << 10, 16, 1 << 19)
    }

    pub fn rows(row_count: usize, slice_len: usize, index_count: usize) -> Self {
        let gather = Gather::new().bad_indices(BadIndices::Error);
        let row = |at: usize| i32::try_from(at * 7 % row_count).unwrap();
        Self {
            plan: gather
                .plan(&[row_count, slice_len], &[index_count])
                .unwrap(),
            params: (1..=row_count * slice_len).map(|at| at as f32).collect(),
            indices: (0..index_count).map(row).collect(),
        }
    }
}

/// Buffers of an app for [`Work::small`].
#[derive(Debug)]
pub struct AppBuffers {
    pub all: [wgpu::Buffer; 4],
}

impl AppBuffers {
    pub fn new(app: &App) -> Self {
        let all = [40, 16, 16, BadRows::REPORT_BYTES].map(|size| app.buffer(size, false));
        Self { all }
    }

    pub fn bound(&self) -> Buffers<'_> {
        let [params, indices, output, report] = self.all.each_ref().map(|buffer| buffer.slice(..));
        buffers_of(ElementTypes::of::<f32, i32>(), [params, indices, output]).report(report)
    }
}

pub fn poll_once<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[track_caller]
pub fn assert_rejected(error: &GpuError) {
    let rejected = matches!(error, GpuError::Gather(GatherError::Rejected(_)));
    assert!(rejected, "{error:?}");
}

/// Asserts that the error, from a call or from a read-back, names the loss of the device.
#[track_caller]
pub fn assert_lost(error: &GpuError) {
    let lost = matches!(
        error,
        GpuError::Gather(GatherError::DeviceLost) | GpuError::ReadBack(_)
    );
    assert!(lost, "{error:?}");
}
