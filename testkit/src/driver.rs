//! The driver that `GATHER_EXPECT_DRIVER` names. With `vulkan/SwiftShader`, all GPU trials fail unless the adapter's
//! back end is Vulkan and its name or its driver's contains `SwiftShader`.

use wgpu_gather::wgpu::AdapterInfo;

const EXPECT_DRIVER: &str = "GATHER_EXPECT_DRIVER";

/// The value of `GATHER_EXPECT_DRIVER`.
pub fn expected() -> Option<String> {
    std::env::var(EXPECT_DRIVER).ok()
}

/// Returns an error that describes `found` if it is not the expected driver.
pub fn check(expected: &str, found: &AdapterInfo) -> Result<(), String> {
    let (back_end, driver) = expected.split_once('/').unwrap_or((expected, ""));
    let (name, of) = (&found.name, &found.driver);
    let is_it = |text: &str| text.to_lowercase().contains(&driver.to_lowercase());
    // Every name contains an empty text.
    if found.backend.to_str() == back_end && !driver.is_empty() && (is_it(name) || is_it(of)) {
        return Ok(());
    }
    Err(format!(
        "{EXPECT_DRIVER}={expected}, but the adapter is {name:?}, driver {of:?} {:?}, on {}",
        found.driver_info,
        found.backend.to_str()
    ))
}
