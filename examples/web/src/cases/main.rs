//! The tests' cases, compiled to wasm: TensorFlow's and ONNX's results and the documentations' examples on the CPU and
//! on the GPU, the crate's own examples, rows as halves, bags, and faults. `run` posts the name of each case with its problem, if it has one.

mod bags;
mod examples;
mod faults;
mod halves;

use std::panic;
use std::path::Path;

use js_sys::Function;
use testkit::conformance::executor::Device;
use testkit::conformance::{BUILT_IN, cases, check};
use testkit::gpu::Gpu;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

type Checked = Result<(), String>;

fn main() {}

/// Posts `(name, problem)` of each case; `problem` is null if the case passes. Without a GPU the run is an error. A
/// panic ends the run and is posted as the failure of the case `panic`.
#[wasm_bindgen]
pub async fn run(posted: Function) -> Result<(), JsValue> {
    let post = move |name: &str, checked: Checked| {
        let problem = checked.err().map_or(JsValue::NULL, JsValue::from);
        // An exception of the listener is ignored.
        let _ = posted.call2(&JsValue::NULL, &name.into(), &problem);
    };
    let on_panic = post.clone();
    panic::set_hook(Box::new(move |panic| {
        on_panic("panic", Err(panic.to_string()));
    }));

    let gpu = Gpu::new()
        .await
        .map_err(|error| JsValue::from(error.to_string()))?;
    // The cases borrow their GPU as the tests do: to the end of the program.
    let gpu: &'static Gpu = Box::leak(Box::new(gpu));
    for (device, kind) in [(Device::Cpu, "cpu"), (Device::Gpu(gpu), "gpu")] {
        for (file, text) in BUILT_IN {
            for case in cases::lines(Path::new(file), text) {
                let checked = match &case.line {
                    Ok(line) => check::check(line, device).await,
                    Err(problem) => Err(problem.clone()),
                };
                let checked = checked.map_err(|problem| format!("{problem}\n{}", case.json));
                post(&format!("{kind}::lines::{}", case.name), checked);
            }
        }
        for (number, example) in (1..).zip(testkit::cases::documentation()) {
            let checked = examples::check_documented(&example, device).await;
            post(&format!("{kind}::documentation::{number}"), checked);
        }
    }
    for (name, checked) in examples::check_own(gpu).await {
        post(&format!("gpu::examples::{name}"), checked);
    }
    for (name, checked) in halves::check(gpu).await {
        post(&format!("gpu::halves::{name}"), checked);
    }
    for (name, checked) in bags::check(gpu).await {
        post(&format!("gpu::bags::{name}"), checked);
    }
    for (name, checked) in faults::check().await {
        post(&format!("gpu::faults::{name}"), checked);
    }
    Ok(())
}

/// The error of `Executor::gpu` for a caller that has hidden `navigator.gpu`; null if there is an adapter.
#[wasm_bindgen]
pub async fn error_without_adapter() -> Option<String> {
    Gpu::new().await.err().map(|error| format!("{error:?}"))
}
