//! The .safetensors reading of the command `wgpu-gather` on any bytes: no panic, no more memory than the bytes are
//! worth, what is accepted is what the crate `safetensors` reads of the whole file, and is written and read again as
//! it was.

#![no_main]

mod answer;
mod memory;
#[path = "../../src/bin/wgpu-gather/arrays/names.rs"]
mod names;
#[path = "../../src/bin/wgpu-gather/arrays/npy_read.rs"]
#[allow(dead_code, reason = "the command uses the rest")]
mod npy_read;
#[path = "../../src/bin/wgpu-gather/arrays/npy_write.rs"]
mod npy_write;
#[path = "../../src/bin/wgpu-gather/arrays/safetensors.rs"]
#[allow(dead_code, reason = "the command uses the rest")]
mod tensors;

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use npy_read::{Array, Result};
use safetensors::SafeTensors;

/// Memory besides what depends on the file: an error's words.
const MEMORY_BYTES: usize = 8 * 1024;
/// Memory for a byte of the file: a list of JSON keeps room for four values of 32 bytes from the first on.
const MEMORY_PER_BYTE: usize = 128;

/// What the file is asked for.
const NAME: Option<&str> = Some("t");

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    check(&framed(bytes));
});

fn check(file: &[u8]) {
    check_unnamed(file);
    let array = read(file, NAME);
    answer::check(&array);
    let whole = SafeTensors::deserialize(file);
    let tensor = whole.as_ref().ok().and_then(|whole| whole.tensor("t").ok());
    match (&array, tensor) {
        (Ok(array), Some(tensor)) => {
            assert_eq!(array.shape, tensor.shape());
            assert_eq!(array.bytes, tensor.data());
        }
        (Ok(array), None) => panic!("{array:?} is read, but {:?}", whole.err()),
        (Err(error), Some(tensor)) => {
            let error = error.to_string();
            assert!(error.starts_with("dtype "), "{error}, but {tensor:?}");
        }
        (Err(_), None) => {}
    }
}

/// Without a name the error names the tensors.
fn check_unnamed(file: &[u8]) {
    let unnamed = read(file, None);
    assert!(unnamed.is_err(), "an array without a name");
    answer::check(&unnamed);
}

fn read(file: &[u8], name: Option<&str>) -> Result<Array> {
    let len = file.len();
    let read = || tensors::read_tensor(Cursor::new(file), len as u64, name);
    let (array, peak_bytes) = memory::peak_bytes(read);
    assert!(
        peak_bytes <= MEMORY_BYTES + MEMORY_PER_BYTE * len,
        "{peak_bytes} bytes of memory for a file of {len}"
    );
    array
}

/// A file with a right header length: the header is up to the first newline, the data behind it.
fn framed(bytes: &[u8]) -> Vec<u8> {
    let end = bytes.iter().position(|&byte| byte == b'\n');
    let (header, data) = bytes.split_at(end.map_or(bytes.len(), |newline| newline + 1));
    [&(header.len() as u64).to_le_bytes(), header, data].concat()
}
