//! The command `wgpu-gather` reads any bytes as a .npy file: no panic, and memory within a bound for the file's length.
//! An accepted array is written and read again unchanged.

#![no_main]

mod answer;
mod memory;

use libfuzzer_sys::fuzz_target;
use wgpu_gather_cli::arrays::npy_read::{MAGIC, read_array};

/// Memory beside a file's own bytes, for dims and an error's text.
const MEMORY_BYTES: usize = 8 * 1024;

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    if !bytes.starts_with(MAGIC) {
        check(&framed(bytes));
    }
});

fn check(file: &[u8]) {
    let len = file.len() as u64;
    let (array, peak_bytes) = memory::peak_bytes(|| read_array(file, len));
    assert!(
        peak_bytes <= MEMORY_BYTES + file.len(),
        "{peak_bytes} bytes of memory for a file of {len}"
    );
    let longer = read_array(file, len + 1);
    assert!(longer.is_err(), "a file shorter than it was is read");
    if let Err(error) = &array {
        assert!(!error.to_string().contains('\n'), "{error}");
    }
    answer::check(&array);
}

/// A file with a valid magic and header length. The header ends at the first newline, and the data comes after it.
fn framed(bytes: &[u8]) -> Vec<u8> {
    let end = bytes.iter().position(|&byte| byte == b'\n');
    let (text, data) = bytes.split_at(end.map_or(bytes.len(), |newline| newline + 1));
    match u16::try_from(text.len()) {
        Ok(len) => [MAGIC, &[1, 0], &len.to_le_bytes(), text, data].concat(),
        Err(_) => {
            let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
            [MAGIC, &[3, 0], &len.to_le_bytes(), text, data].concat()
        }
    }
}
