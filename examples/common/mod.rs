//! What the examples do on a machine without a GPU.

use std::env;
use std::error::Error;

/// Says so in one line and goes on, unless a GPU is required: then it is an error.
pub fn without_gpu(error: impl Error + 'static) -> Result<(), Box<dyn Error>> {
    if env::var("GATHER_REQUIRE_GPU").is_ok_and(|value| value == "1") {
        return Err(error.into());
    }
    eprintln!("no GPU: {error}");
    Ok(())
}
