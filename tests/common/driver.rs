//! The driver that a run names, and no other: with `GATHER_EXPECT_DRIVER=vulkan/SwiftShader` an adapter of that
//! back end is expected, with the rest in its name or its driver's. On another all GPU trials fail.

use wgpu_gather::wgpu::AdapterInfo;

const EXPECT_DRIVER: &str = "GATHER_EXPECT_DRIVER";

/// What the environment names.
pub fn expected() -> Option<String> {
    std::env::var(EXPECT_DRIVER).ok()
}

/// `Err` says what was found instead.
pub fn check(expected: &str, found: &AdapterInfo) -> Result<(), String> {
    let (back_end, driver) = expected.split_once('/').unwrap_or((expected, ""));
    let (name, of) = (&found.name, &found.driver);
    let is_it = |text: &str| text.to_lowercase().contains(&driver.to_lowercase());
    // Nothing is in every name.
    if found.backend.to_str() == back_end && !driver.is_empty() && (is_it(name) || is_it(of)) {
        return Ok(());
    }
    Err(format!(
        "{EXPECT_DRIVER}={expected}, but the adapter is {name:?}, driver {of:?} {:?}, on {}",
        found.driver_info,
        found.backend.to_str()
    ))
}
