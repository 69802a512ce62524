//! Submits that wgpu rejects, and apps with error handlers and error scopes of their own. A gather returns its errors: they
//! reach none of the app's handlers or scopes, and no error becomes an output of zeros.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::thread;

use libtest_mimic::Trial;
use wgpu_gather::wgpu;

use crate::at_call::before_call;
use crate::support::{AppBuffers, Machine, Work, assert_rejected, on_both, on_gpu, poll_once};

pub fn trials() -> Vec<Trial> {
    [
        on_both(
            "a table destroyed before any wgpu call is an error or changes nothing",
            destroyed_before_any_call,
        ),
        vec![on_gpu(
            "a table destroyed while a gather runs changes nothing",
            destroyed_while_running,
        )],
        on_both(
            "an app's scopes catch nothing of a gather",
            scopes_of_the_app,
        ),
        on_both(
            "an app's rejected submit is its own error and harms no other",
            rejected_submit_of_the_app,
        ),
        on_both(
            "an app that polls the device all the time takes no result away",
            polled_by_the_app,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn destroyed_before_any_call(machine: &Machine) {
    let work = Work::small();
    let (mut right, mut errors) = (0, 0);
    for calls in 0.. {
        let app = machine.app();
        let table = app.upload(&work);
        let buffer = table.buffer().unwrap().clone();
        let gather = || app.gpu.gather(&work.plan, &table, &work.indices).wait();
        match before_call(calls, move |_| buffer.destroy(), gather) {
            None => break,
            Some(Ok(output)) => {
                assert_eq!(output, machine.answer(&work), "before call {calls}");
                right += 1;
            }
            Some(Err(error)) => {
                assert_rejected(&error);
                errors += 1;
            }
        }
        assert_eq!(app.gather(&work), Ok(machine.answer(&work)));
        app.assert_handlers_are_the_apps();
    }
    assert!(right > 0 && errors > 0, "{right} right, {errors} errors");
}

fn destroyed_while_running(machine: &Machine) {
    let (app, work) = (machine.app(), Work::long());
    let table = app.upload(&work);
    let mut gather = pin!(app.start(&work, &table));
    let first = poll_once(gather.as_mut());
    table.buffer().unwrap().destroy();
    let output = match first {
        Poll::Pending => pollster::block_on(gather),
        // GL on the CPU has run a submission when submit returns.
        Poll::Ready(output) => output,
    };
    assert!(output == Ok(machine.answer(&work)));
    app.assert_handlers_are_the_apps();
}

fn scopes_of_the_app(machine: &Machine) {
    let (app, work) = (machine.app(), Work::small());
    let destroyed = app.upload(&work);
    destroyed.buffer().unwrap().destroy();
    let filters = [
        wgpu::ErrorFilter::Validation,
        wgpu::ErrorFilter::Internal,
        wgpu::ErrorFilter::OutOfMemory,
    ];
    let scopes = filters.map(|filter| app.device().push_error_scope(filter));
    let rejected = app.gpu.gather(&work.plan, &destroyed, &work.indices).wait();
    assert_rejected(&rejected.unwrap_err());
    assert_eq!(app.gather(&work), Ok(machine.answer(&work)));
    for scope in scopes.into_iter().rev() {
        assert!(pollster::block_on(scope.pop()).is_none());
    }
    app.assert_handlers_are_the_apps();
}

fn rejected_submit_of_the_app(machine: &Machine) {
    let (app, work) = (machine.app(), Work::small());
    let gatherer = app.gpu.gatherer();
    let mut mapped = AppBuffers::new(&app);
    mapped.all[0] = app.buffer(40, true);
    let destroyed = AppBuffers::new(&app);
    for (buffers, destroy) in [(&mapped, false), (&destroyed, true)] {
        let mut encoder = app.device().create_command_encoder(&Default::default());
        gatherer
            .encode(&mut encoder, &work.plan, &buffers.bound())
            .unwrap();
        if destroy {
            buffers.all[0].destroy();
        }
        app.gpu.queue().submit([encoder.finish()]);
        assert_eq!(app.errors_heard().len(), 1, "the app's own handler hears");
        assert_eq!(app.gather(&work), Ok(machine.answer(&work)));
    }
    app.assert_handlers_are_the_apps();
}

fn polled_by_the_app(machine: &Machine) {
    let (app, work) = (machine.app(), Work::small());
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                app.device().poll(wgpu::PollType::Poll).unwrap();
            }
        });
        let results: Vec<_> = (0..100).map(|_| app.gather(&work)).collect();
        done.store(true, Ordering::Relaxed);
        for result in results {
            assert_eq!(result, Ok(machine.answer(&work)));
        }
    });
    app.assert_handlers_are_the_apps();
}
