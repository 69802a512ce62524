//! Comparisons whose errors name what differs.

use std::fmt::Debug;

pub fn same<T: PartialEq + Debug + ?Sized>(
    what: &str,
    found: &T,
    expected: &T,
) -> Result<(), String> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{what} is {found:?}, expected {expected:?}"))
    }
}

pub fn same_bytes(what: &str, found: &[u8], expected: &[u8]) -> Result<(), String> {
    same(
        &format!("byte count of {what}"),
        &found.len(),
        &expected.len(),
    )?;
    match found
        .iter()
        .zip(expected)
        .position(|(found, expected)| found != expected)
    {
        None => Ok(()),
        Some(at) => same(&format!("byte {at} of {what}"), &found[at], &expected[at]),
    }
}
