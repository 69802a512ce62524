//! The texts of the shader modules, put together of the files of shaders/ as the library does.

use wasm_bindgen::prelude::wasm_bindgen;

macro_rules! composed {
    ($($file:ident),*) => {
        [$(include_str!(concat!("../../../../shaders/", stringify!($file), ".wgsl"))),*].join("\n")
    };
}

/// The shader module, as it is compiled, of the kernel that the explanation names; without a name, the module for units
/// of 4 bytes.
#[wasm_bindgen]
pub fn wgsl(explained: &str) -> String {
    let kernel = explained.lines().find(|line| line.starts_with("kernel "));
    let kernel = kernel.unwrap_or("kernel rows: units of 4 bytes");
    let general = kernel.contains("64-bit");
    let vec4 = kernel.contains("units of 16 bytes");
    match (general, kernel) {
        (_, kernel) if kernel.starts_with("kernel packed") => composed!(common, packed),
        (false, kernel) if kernel.starts_with("kernel bytes") => {
            composed!(common, index_rows, bytes)
        }
        (true, kernel) if kernel.starts_with("kernel bytes") => composed!(common, general, bytes),
        (false, _) if vec4 => composed!(common, index_rows, vec4, rows, four_rows, long),
        (false, _) => composed!(common, index_rows, words, rows, four_rows, long),
        (true, _) if vec4 => composed!(common, general, vec4, rows, long),
        (true, _) => composed!(common, general, words, rows, long),
    }
}
