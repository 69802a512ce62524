//! The page's calls of the library: a gather planned, run on the CPU and on the GPU, the source of each output element,
//! and the time of a large gather. The page's scripts draw the results.

mod device;
mod gather;
mod large;

fn main() {}

/// An error as the page shows it.
fn message(error: impl ToString) -> wasm_bindgen::JsError {
    wasm_bindgen::JsError::new(&error.to_string())
}
