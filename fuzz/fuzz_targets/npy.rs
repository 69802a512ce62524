//! The command `wgpu-gather` reads any bytes as a .npy file: no panic, and memory within a bound for the file's length.
//! An accepted array is written and read again unchanged, also with a byte after its last.

#![no_main]

mod answer;
mod memory;

use libfuzzer_sys::fuzz_target;
use wgpu_gather_cli::arrays::npy_read::{MAGIC, Remaining, read_array};
use wgpu_gather_cli::arrays::{Array, Result};

/// Memory for a file of any length: dims and an error's text.
const MEMORY_BYTES: usize = 8 * 1024;
/// Memory for each byte of the file: a field of a structure takes at least 10 characters, and has room for two of 96 bytes.
const MEMORY_PER_BYTE: usize = 32;

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    if !bytes.starts_with(MAGIC) {
        check(&framed(bytes));
    }
});

fn check(file: &[u8]) {
    let len = file.len() as u64;
    let (array, peak_bytes) = memory::peak_bytes(|| read(file));
    assert!(
        peak_bytes <= MEMORY_BYTES + MEMORY_PER_BYTE * file.len(),
        "{peak_bytes} bytes of memory for a file of {len}"
    );
    if let Ok(array) = &array {
        let longer = read(&[file, &[0]].concat());
        answer::assert_same(array, &longer.expect("a byte after the last element"));
    }
    if let Err(error) = &array {
        assert!(!error.to_string().contains('\n'), "{error}");
    }
    answer::check(&array);
}

fn read(file: &[u8]) -> Result<Array> {
    read_array(&mut Remaining::new(file, file.len() as u64))
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
