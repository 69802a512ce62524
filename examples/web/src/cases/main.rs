//! The tests' cases, compiled to wasm: TensorFlow's and ONNX's results and the documentations' examples on the CPU
//! and on the GPU, the crate's own examples, and what becomes of faults. `run` posts the name of each case with
//! what is wrong with it, if anything.

#[path = "../../../../tests/conformance/cases.rs"]
#[allow(dead_code, reason = "the tests read files, too")]
mod cases;
#[path = "../../../../tests/conformance/check.rs"]
mod check;
mod common;
mod examples;
#[path = "../../../../tests/conformance/executor.rs"]
mod executor;
mod faults;
#[path = "../../../../tests/conformance/line.rs"]
mod line;
#[path = "../../../../tests/conformance/recorded.rs"]
mod recorded;

use std::panic;
use std::path::Path;

use js_sys::Function;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wgpu_gather::Gpu;

use self::executor::Device;

const FILES: [(&str, &str); 2] = [
    (
        "tensorflow",
        include_str!("../../../../tests/data/tensorflow.jsonl"),
    ),
    ("onnx", include_str!("../../../../tests/data/onnx.jsonl")),
];

type Checked = Result<(), String>;

/// A panic ends the run; it is posted as the failure of a case of its own.
fn main() {}

/// Posts `(name, problem)` of each case; problem is null where there is none. Without a GPU there is no run.
#[wasm_bindgen]
pub async fn run(posted: Function) -> Result<(), JsValue> {
    let post = move |name: &str, checked: Checked| {
        let problem = checked.err().map_or(JsValue::NULL, JsValue::from);
        // What a listener throws is its own.
        let _ = posted.call2(&JsValue::NULL, &name.into(), &problem);
    };
    let on_panic = post.clone();
    panic::set_hook(Box::new(move |panic| {
        on_panic("panic", Err(panic.to_string()));
    }));

    let gpu = Gpu::new()
        .await
        .map_err(|error| JsValue::from(error.to_string()))?;
    // The cases hold on to their GPU as the tests do: to the end.
    let gpu: &'static Gpu = Box::leak(Box::new(gpu));
    for (device, kind) in [(Device::Cpu, "cpu"), (Device::Gpu(gpu), "gpu")] {
        for (file, text) in FILES {
            for case in cases::lines(Path::new(file), text) {
                let checked = match &case.line {
                    Ok(line) => check::check(line, device).await,
                    Err(problem) => Err(problem.clone()),
                };
                let checked = checked.map_err(|problem| format!("{problem}\n{}", case.json));
                post(&format!("{kind}::lines::{}", case.name), checked);
            }
        }
        for (number, example) in (1..).zip(common::cases::documentation()) {
            let checked = examples::check_documented(&example, device).await;
            post(&format!("{kind}::documentation::{number}"), checked);
        }
    }
    for (name, checked) in examples::check_own(gpu).await {
        post(&format!("gpu::examples::{name}"), checked);
    }
    for (name, checked) in faults::check().await {
        post(&format!("gpu::faults::{name}"), checked);
    }
    Ok(())
}

/// What `Gpu::new` says where there is no adapter, for a caller who has hidden `navigator.gpu`; null where there is one.
#[wasm_bindgen]
pub async fn error_without_adapter() -> Option<String> {
    Gpu::new().await.err().map(|error| format!("{error:?}"))
}
