//! Futures that are dropped half-way, or finished on another thread.

use std::pin::pin;
use std::task::Poll;
use std::thread;

use libtest_mimic::Trial;
use wgpu_gather::{BadIndices, Executor, Gather, Reduce};

use crate::at_call::before_call;
use crate::support::{App, Machine, Work, on_both, on_gpu, poll_once};

pub fn trials() -> Vec<Trial> {
    let mut trials = on_both(
        "a future that is never polled asks nothing of the device",
        never_polled,
    );
    trials.push(on_gpu(
        "a future that is dropped half-way gives all its memory back",
        dropped_half_way,
    ));
    trials.push(on_gpu(
        "a request writes if it is polled and dropped",
        polled_and_dropped,
    ));
    trials.extend(on_both(
        "a future may be finished on another thread",
        finished_elsewhere,
    ));
    trials
}

fn never_polled(machine: &Machine) {
    let (app, work) = (machine.app(), Work::small());
    let table = app.upload(&work);
    let drop_both = || {
        drop(app.gpu.gather(&work.plan, &table, &work.indices));
        drop(table.download());
    };
    let called = before_call(0, |_| {}, drop_both);
    assert!(called.is_none(), "wgpu is called");
    app.assert_handlers_are_the_apps();
}

/// wgpu's counts of an app's buffers, their bytes, bind groups and shader modules.
fn held(app: &App) -> [isize; 4] {
    // One poll finishes work, and the next one frees its objects.
    app.poll();
    app.poll();
    let counted = app.device().get_internal_counters().hal;
    [
        counted.buffers.read(),
        counted.buffer_memory.read(),
        counted.bind_groups.read(),
        counted.shader_modules.read(),
    ]
}

fn dropped_half_way(machine: &Machine) {
    let app = machine.app();
    let works = [Work::small(), Work::long()];
    let tables = works.each_ref().map(|work| app.upload(work));
    for work in &works {
        assert!(app.gather(work) == Ok(machine.answer(work)));
    }
    let before = held(&app);
    assert!(before[0] >= 2, "the back end counts buffers: {before:?}");
    for (work, table, times) in [(&works[0], &tables[0], 100), (&works[1], &tables[1], 4)] {
        let mut pending = 0;
        for _ in 0..times {
            let gather = pin!(app.start(work, table));
            pending += usize::from(poll_once(gather).is_pending());
            let download = pin!(table.download().into_future());
            pending += usize::from(poll_once(download).is_pending());
        }
        // A dropped future takes along the buffers that its executor kept from the gather before.
        let (after, all) = (held(&app), before);
        let is_all = after.iter().zip(&all).all(|(after, all)| after <= all);
        assert!(is_all, "{pending} futures dropped half-way: {after:?}");
    }
    assert_eq!(app.gather(&works[0]), Ok(machine.answer(&works[0])));
    app.assert_handlers_are_the_apps();
}

/// Tensors are written from the first poll on, whether or not the future is polled again.
fn polled_and_dropped(machine: &Machine) {
    let app = machine.app();
    let gather = Gather::new().bad_indices(BadIndices::Error);
    for executor in [&*app.gpu, &Executor::cpu()] {
        let updates = executor.upload(&[1.0, 2.0, 4.0], &[3]).unwrap();
        let mut sums = executor.zeros::<f32>(&[4]).unwrap();
        let mut rows = executor.zeros::<f32>(&[2]).unwrap();
        let mut mask = executor.zeros::<bool>(&[2]).unwrap();
        for polls in [0_u8, 1, 1] {
            let before = sums.download_blocking().unwrap();
            let scatter = executor.scatter(gather, &updates, &[2, 0, 2], &mut sums);
            let mut scatter = scatter.reduce(Reduce::Add).into_future();
            if polls > 0 {
                let _ = poll_once(scatter.as_mut());
            }
            drop(scatter);
            let polls = f32::from(polls);
            let added = [2.0, 0.0, 5.0, 0.0].map(|sum: f32| sum * polls);
            let expected: Vec<f32> = before.iter().zip(added).map(|(a, b)| a + b).collect();
            assert_eq!(sums.download_blocking().unwrap(), expected);
        }
        let clamp = Gather::new().bad_indices(BadIndices::Clamp);
        let request = executor.gather(clamp, &updates, &[9, 1]).mask(&mut mask);
        let _ = poll_once(request.into_tensor(&mut rows).into_future().as_mut());
        assert_eq!(rows.download_blocking().unwrap(), [4.0, 2.0]);
        assert_eq!(mask.download_blocking().unwrap(), [true, false]);
    }
    app.assert_handlers_are_the_apps();
}

fn finished_elsewhere(machine: &Machine) {
    let (app, work) = (machine.app(), Work::rows(1 << 10, 16, 1 << 16));
    let table = app.upload(&work);
    let mut gather = app.start(&work, &table);
    let first = poll_once(pin!(&mut gather));
    let output = thread::scope(|scope| {
        let finish = || match first {
            Poll::Ready(output) => output,
            Poll::Pending => pollster::block_on(gather),
        };
        scope.spawn(finish).join().unwrap()
    });
    assert!(output == Ok(machine.answer(&work)));
    app.assert_handlers_are_the_apps();
}
