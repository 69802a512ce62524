//! Faults in a browser, where a device's errors are known only after its call returns. Each fault has a device of its
//! own, whose error handler must hear nothing of a gather's errors.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use wgpu_gather::{Gather, GatherError, GatherPlan, GpuError, wgpu};

use super::Checked;
use testkit::conformance::same;
use testkit::gpu::Gpu;

/// Checks each fault. Returns its name with the result.
pub async fn check() -> Vec<(&'static str, Checked)> {
    type Fault = fn(App) -> Pin<Box<dyn Future<Output = Checked>>>;
    let faults: [(&str, Fault); 6] = [
        ("scopes_of_an_app", |app| Box::pin(scopes_of_an_app(app))),
        ("a_destroyed_table", |app| Box::pin(a_destroyed_table(app))),
        ("a_table_beyond_a_buffer", |app| {
            Box::pin(a_table_beyond_a_buffer(app))
        }),
        ("lost_before", |app| Box::pin(lost_before(app))),
        ("lost_while_running", |app| {
            Box::pin(lost_while_running(app))
        }),
        ("a_dropped_future", |app| Box::pin(a_dropped_future(app))),
    ];
    let mut checked = Vec::new();
    for (name, fault) in faults {
        checked.push((
            name,
            match App::new().await {
                Ok(app) => fault(app).await,
                Err(error) => Err(error.to_string()),
            },
        ));
    }
    checked
}

/// A device, and the errors that its handler hears.
struct App {
    gpu: Gpu,
    plan: GatherPlan,
    heard: Arc<Mutex<Vec<String>>>,
}

const PARAMS: [u32; 3] = [10, 20, 30];
const INDICES: [u32; 4] = [2, 0, 1, 2];
const OUTPUT: [u32; 4] = [30, 10, 20, 30];

impl App {
    async fn new() -> Result<Self, GpuError> {
        let gpu = Gpu::new().await?;
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hearing = Arc::clone(&heard);
        gpu.device()
            .on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
                let mut heard = hearing.lock().unwrap_or_else(PoisonError::into_inner);
                heard.push(error.to_string());
            }));
        let plan = Gather::new().plan(&[3], &[4]);
        Ok(Self {
            gpu,
            plan: plan.expect("constant shapes are right"),
            heard,
        })
    }

    async fn gather(&self) -> Result<Vec<u32>, GpuError> {
        let table = self.gpu.upload(&PARAMS, &[3])?;
        self.gpu.gather(&self.plan, &table, &INDICES).await
    }

    async fn check_gather(&self) -> Checked {
        let output = self.gather().await.map_err(|error| error.to_string())?;
        same("output", output.as_slice(), &OUTPUT)?;
        self.check_nothing_heard()
    }

    fn check_nothing_heard(&self) -> Checked {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        same("what the handler heard", heard.as_slice(), &[])
    }
}

/// A gather's own error scopes leave the app's error scopes as they were.
async fn scopes_of_an_app(app: App) -> Checked {
    let scope = app
        .gpu
        .device()
        .push_error_scope(wgpu::ErrorFilter::Validation);
    let gathered = app.check_gather();
    let mut gathered = pin!(gathered);
    let _ = poll_once(gathered.as_mut());
    let caught = scope.pop();
    gathered.await?;
    same("an error in a good gather", &caught.await.map(text), &None)?;

    let scope = app
        .gpu
        .device()
        .push_error_scope(wgpu::ErrorFilter::Validation);
    let _ = app.gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 4,
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::STORAGE,
        mapped_at_creation: false,
    });
    let caught = scope.pop().await;
    same(
        "whether the app's mistake is caught",
        &caught.is_some(),
        &true,
    )?;
    app.check_gather().await
}

/// A destroyed table gives an error, not zeros, and the device can still gather.
async fn a_destroyed_table(app: App) -> Checked {
    let table = app.gpu.upload(&PARAMS, &[3]);
    let table = table.map_err(|error| error.to_string())?;
    let buffer = table.buffer().map_err(|error| error.to_string())?;
    buffer.destroy();
    let gathered = app.gpu.gather(&app.plan, &table, &INDICES).await;
    if !matches!(&gathered, Err(GpuError::Gather(GatherError::Rejected(_)))) {
        return Err(format!("{gathered:?}, expected Rejected"));
    }
    app.check_gather().await
}

async fn a_table_beyond_a_buffer(app: App) -> Checked {
    let limit = app.gpu.device().limits().max_buffer_size;
    let Some(len) = usize::try_from(limit).ok().filter(|&len| len < 1 << 29) else {
        // Elements beyond the limit would need more host memory than wasm has.
        return app.check_gather().await;
    };
    let uploaded = app.gpu.upload(vec![1_u8; len + 4], &[len + 4]).map(drop);
    if !matches!(&uploaded, Err(GpuError::BufferTooLarge { .. })) {
        return Err(format!("{uploaded:?}, expected BufferTooLarge"));
    }
    app.check_gather().await
}

async fn lost_before(app: App) -> Checked {
    app.check_gather().await?;
    app.gpu.device().destroy();
    for _ in 0..2 {
        let gathered = app.gather().await;
        if gathered.is_ok() {
            return Err(format!("{gathered:?} of a device that is lost"));
        }
    }
    app.check_nothing_heard()
}

async fn lost_while_running(app: App) -> Checked {
    app.check_gather().await?;
    let gathered = {
        let mut gathering = pin!(app.gather());
        let early = poll_once(gathering.as_mut());
        if early.is_ready() {
            return Err(format!("{early:?} before the device can answer"));
        }
        app.gpu.device().destroy();
        gathering.await
    };
    match gathered {
        Ok(output) => same("output", output.as_slice(), &OUTPUT)?,
        Err(GpuError::ReadBack(_)) => {}
        Err(error) => return Err(format!("{error:?}, expected ReadBack")),
    }
    app.check_nothing_heard()
}

async fn a_dropped_future(app: App) -> Checked {
    {
        let gathering = pin!(app.gather());
        let _ = poll_once(gathering);
    }
    app.check_gather().await
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn text(error: wgpu::Error) -> String {
    error.to_string()
}
