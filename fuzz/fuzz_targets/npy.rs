//! The .npy reading of the command `wgpu-gather` on any bytes: no panic, no more memory than the bytes are worth, and
//! what is accepted is written and read again as it was.

#![no_main]

mod memory;
#[path = "../../src/bin/wgpu-gather/arrays/npy_read.rs"]
#[allow(dead_code, reason = "the command uses the rest")]
mod npy_read;
#[path = "../../src/bin/wgpu-gather/arrays/npy_write.rs"]
mod npy_write;

use std::path::PathBuf;
use std::sync::LazyLock;
use std::{env, fs, process};

use libfuzzer_sys::fuzz_target;
use npy_read::{Array, MAGIC, Result, read_array};

/// Memory besides a file's own bytes: dims and an error's words.
const MEMORY_BYTES: usize = 8 * 1024;

/// Where accepted arrays are written.
static WRITTEN: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = env::temp_dir().join(format!("wgpu-gather-fuzz-{}", process::id()));
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    folder.join("written.npy")
});

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
    refused(read_array(file, len + 1), "a file shorter than it was");
    match array {
        Ok(array) => check_accepted(&array),
        Err(error) => {
            let text = error.to_string();
            assert!(!text.is_empty() && !text.contains('\n'), "{text:?}");
        }
    }
}

fn check_accepted(array: &Array) {
    // The other dims of an empty array may be too large to multiply.
    let elements = match array.shape.contains(&0) {
        true => 0,
        false => array.shape.iter().product::<usize>(),
    };
    assert_eq!(array.bytes.len(), elements * array.dtype.bytes);
    npy_write::write(&WRITTEN, array).expect("a read array can be written");
    let again = npy_read::read(&WRITTEN).expect("a written array can be read");
    assert_eq!(array.dtype, again.dtype);
    assert_eq!(array.shape, again.shape);
    assert_eq!(array.bytes, again.bytes);
}

fn refused(array: Result<Array>, what: &str) {
    assert!(array.is_err(), "{what} is read");
}

/// A file with a right magic and header length: the text is up to the first newline, the data behind it.
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
