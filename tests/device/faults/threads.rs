//! One executor, and so one `Gatherer`, used by many threads at once.

use std::sync::Barrier;
use std::thread;

use libtest_mimic::Trial;
use wgpu_gather::IndexKind;

use crate::support::{Machine, Work, on_both, on_gpu};
use testkit::cases;
use testkit::device::OnGpu;
use testkit::samples::{POLICIES, Sample};

const THREADS: usize = 8;

pub fn trials() -> Vec<Trial> {
    let mut trials = on_both(
        "threads that need the same pipelines first all get them",
        first_gathers,
    );
    trials.push(on_gpu(
        "threads that gather different shapes at once get their own answers",
        different_shapes,
    ));
    trials
}

fn first_gathers(machine: &Machine) {
    for _ in 0..4 {
        let (app, work) = (machine.app(), Work::small());
        let start = Barrier::new(THREADS);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    start.wait();
                    assert_eq!(app.gather(&work), Ok(machine.answer(&work)));
                });
            }
        });
        app.assert_handlers_are_the_apps();
    }
}

/// Half the threads wait for their gathers, half await them.
fn different_shapes(machine: &Machine) {
    let app = machine.app();
    let kinds = [IndexKind::I32, IndexKind::U64];
    let valid = cases::table().into_iter().filter(|case| case.check_plan());
    let samples = valid.flat_map(|case| case.samples(&[1, 4, 16], &kinds, POLICIES));
    // One in three, with every width, kind and policy.
    let samples: Vec<Sample> = samples.step_by(3).collect();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (gpu, samples) = (&app.gpu, &samples);
            scope.spawn(move || {
                let runner = OnGpu {
                    executor: gpu,
                    awaits: thread % 2 == 0,
                    fill: &[],
                };
                // Two of the threads run each sample, at different times.
                let start = thread * samples.len() / THREADS;
                let share = 2 * samples.len().div_ceil(THREADS);
                for sample in samples.iter().cycle().skip(start).take(share) {
                    sample.check(&runner);
                }
            });
        }
    });
    app.assert_handlers_are_the_apps();
}
