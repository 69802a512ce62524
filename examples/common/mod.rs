//! Shared by the examples: behaviour on a machine without a GPU.

use std::env;
use std::error::Error;

/// Prints the error in one line, or returns it if `GATHER_REQUIRE_GPU` is 1.
pub fn without_gpu(error: impl Error + 'static) -> Result<(), Box<dyn Error>> {
    if env::var("GATHER_REQUIRE_GPU").is_ok_and(|value| value == "1") {
        return Err(error.into());
    }
    eprintln!("no GPU: {error}");
    Ok(())
}
