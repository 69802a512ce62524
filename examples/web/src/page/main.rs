//! What the page asks of the library: a gather planned, run on the CPU and on the GPU, where each output element
//! comes from, and how long a large gather takes. The page draws it.

mod device;
mod gather;
mod large;

fn main() {}

/// An error as the page shows it.
fn message(error: impl ToString) -> wasm_bindgen::JsError {
    wasm_bindgen::JsError::new(&error.to_string())
}
