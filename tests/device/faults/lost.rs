//! A device that is lost before, during and after a gather.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::task::Poll;

use libtest_mimic::Trial;
use testkit::sweep::takes_every_case;
use wgpu_gather::{ElementTypes, GatherError, GpuError, Tensor, wgpu};

use crate::at_call::before_call;
use crate::support::{App, AppBuffers, Machine, Work, assert_lost, on_both, on_gpu, poll_once};

pub fn trials() -> Vec<Trial> {
    let mut trials = on_both("a device lost before the work refuses all of it", before);
    trials.extend(on_both(
        "a device lost before the first gather refuses it",
        before_the_first,
    ));
    trials.push(on_gpu(
        "a device lost while a gather runs ends it",
        while_running,
    ));
    trials.extend(on_both(
        "a device lost after a gather leaves its result",
        after,
    ));
    trials.extend(on_both(
        "a device lost before any call of wgpu is an error or changes nothing",
        before_any_call,
    ));
    trials.extend(on_both(
        "a driver that loses the device while it is polled is an error",
        lost_by_the_driver,
    ));
    trials
}

fn before(machine: &Machine) {
    let (app, work) = (machine.app(), Work::small());
    let table = app.upload(&work);
    // Makes all pipelines.
    assert_eq!(app.gather(&work), Ok(machine.answer(&work)));
    let buffers = AppBuffers::new(&app);
    app.device().destroy();
    assert_all_refused(&app, &table, &buffers);
    app.assert_only_the_loss_is_heard();
    assert_all_refused(&app, &table, &buffers);
    app.assert_only_the_loss_is_heard();
}

fn before_the_first(machine: &Machine) {
    let app = machine.app();
    let (table, buffers) = (app.upload(&Work::small()), AppBuffers::new(&app));
    app.device().destroy();
    assert_all_refused(&app, &table, &buffers);
    app.assert_only_the_loss_is_heard();
}

fn assert_all_refused(app: &App, table: &Tensor<f32>, buffers: &AppBuffers) {
    let (
        gpu,
        Work {
            plan,
            params,
            indices,
        },
    ) = (&app.gpu, Work::small());
    let lost = || GpuError::from(GatherError::DeviceLost);
    assert_eq!(gpu.upload(&params, &[10]).unwrap_err(), lost());
    let gather = || gpu.gather(&plan, table, &indices);
    assert_eq!(gather().wait(), Err(lost()));
    assert_eq!(pollster::block_on(gather()), Err(lost()));
    assert_eq!(table.download_blocking(), Err(lost()));
    assert_eq!(pollster::block_on(table.download()), Err(lost()));
    let gatherer = gpu.gatherer();
    let mut encoder = app.device().create_command_encoder(&Default::default());
    let encoded = gatherer.encode(&mut encoder, &plan, &buffers.bound());
    assert_eq!(encoded, Err(GatherError::DeviceLost));
    let prepared = gatherer.prepare(&plan, &buffers.bound());
    assert_eq!(prepared.unwrap_err(), GatherError::DeviceLost);
    let types = ElementTypes::of::<f32, u32>();
    assert_eq!(gatherer.warm_up(&plan, types), Err(GatherError::DeviceLost));
}

fn while_running(machine: &Machine) {
    let (app, work) = (machine.app(), Work::long());
    let table = app.upload(&work);
    let mut gather = pin!(app.start(&work, &table));
    let first = poll_once(gather.as_mut());
    app.device().destroy();
    match first {
        Poll::Pending => {
            let error = pollster::block_on(gather).unwrap_err();
            assert!(matches!(error, GpuError::ReadBack(_)), "{error:?}");
        }
        // GL on the CPU has run a submission when submit returns.
        Poll::Ready(output) => assert!(output == Ok(machine.answer(&work))),
    }
    app.assert_only_the_loss_is_heard();
}

fn after(machine: &Machine) {
    let (app, work) = (machine.app(), Work::small());
    let table = app.upload(&work);
    let output = app.gpu.gather(&work.plan, &table, &work.indices).wait();
    app.device().destroy();
    assert_eq!(output, Ok(machine.answer(&work)));
    drop(table);
    app.assert_only_the_loss_is_heard();
}

/// A request that an app makes of a device; returns the gathered elements, if the request gathers.
type Ask = fn(&App, &Work) -> Result<Option<Vec<f32>>, GpuError>;

/// A way in which an app, or another of its threads, loses its device.
type Lose = fn(&wgpu::Device);

const LOSSES: [(&str, Lose); 2] = [
    ("destroyed", wgpu::Device::destroy),
    ("destroyed and polled", |device| {
        device.destroy();
        // wgpu frees all buffers here.
        device.poll(wgpu::PollType::Poll).unwrap();
    }),
];

fn before_any_call(machine: &Machine) {
    let asked: [(&str, Ask); 5] = [
        ("gather, waited for", |app, work| app.gather(work).map(Some)),
        ("gather", |app, work| {
            let table = app.gpu.upload(&work.params, work.plan.params_shape())?;
            let gather = app.gpu.gather(&work.plan, &table, &work.indices);
            pollster::block_on(gather).map(Some)
        }),
        ("download", |app, work| {
            let table = app.gpu.upload(&work.params, work.plan.params_shape())?;
            let download = pollster::block_on(table.download())?;
            assert_eq!(download, work.params);
            Ok(None)
        }),
        ("download, waited for", |app, work| {
            let table = app.gpu.upload(&work.params, work.plan.params_shape())?;
            assert_eq!(table.download_blocking()?, work.params);
            Ok(None)
        }),
        ("encode", |app, work| {
            let buffers = AppBuffers::new(app);
            let mut encoder = app.device().create_command_encoder(&Default::default());
            let gatherer = app.gpu.gatherer();
            gatherer.encode(&mut encoder, &work.plan, &buffers.bound())?;
            Ok(None)
        }),
    ];
    for (name, ask) in asked {
        for (loss, lose) in LOSSES {
            assert_lost_before_any_call(machine, &format!("{name}, {loss}"), ask, lose);
        }
    }
}

/// The noop back end meets the loss before each call, a GPU, which takes longer, before one call in five.
fn assert_lost_before_any_call(machine: &Machine, name: &str, ask: Ask, lose: Lose) {
    let work = Work::small();
    let mut errors = 0;
    let are_few = machine.runs_shaders && !takes_every_case();
    for calls in (0..).step_by(if are_few { 5 } else { 1 }) {
        let app = machine.app();
        let device = app.device().clone();
        let Some(result) = before_call(calls, move |_| lose(&device), || ask(&app, &work)) else {
            eprintln!("{name} before each of {calls} calls: {errors} errors");
            break;
        };
        match result {
            Ok(output) => {
                let right = output.is_none_or(|output| output == machine.answer(&work));
                assert!(right, "{name} before call {calls}");
            }
            Err(error) => {
                assert_lost(&error);
                errors += 1;
            }
        }
        app.assert_only_the_loss_is_heard();
    }
    assert!(errors > 0, "{name}: there are calls that a loss breaks");
}

/// The text of wgpu's panic in `Device::poll` when Vulkan returns `VK_ERROR_DEVICE_LOST`.
pub const PANIC_OF_WGPU: &str =
    "Error in Device::poll: Validation Error\n\nCaused by:\n  Parent device is lost\n";

fn lost_by_the_driver(machine: &Machine) {
    for text in [PANIC_OF_WGPU, "an app's callback"] {
        let (app, work) = (machine.app(), Work::small());
        let mut panicked = 0;
        for calls in 0.. {
            let table = app.upload(&work);
            let panic = move |call: &str| {
                if call.starts_with("Device::poll") {
                    resume_unwind(Box::new(text.to_owned()));
                }
            };
            let gather = || {
                let gather = || app.gpu.gather(&work.plan, &table, &work.indices).wait();
                catch_unwind(AssertUnwindSafe(gather))
            };
            match before_call(calls, panic, gather) {
                None => break,
                Some(Ok(Err(GpuError::ReadBack(said)))) => {
                    assert_eq!(said, PANIC_OF_WGPU);
                    panicked += 1;
                }
                Some(Err(said)) => {
                    assert_eq!(said.downcast_ref::<String>().unwrap(), "an app's callback");
                    panicked += 1;
                }
                Some(Ok(gathered)) => assert_eq!(gathered, Ok(machine.answer(&work))),
            }
        }
        assert!(panicked > 0, "a gather polls");
        app.assert_handlers_are_the_apps();
    }
}
