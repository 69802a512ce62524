//! The command `wgpu-gather` reads any bytes as a .safetensors file: no panic, and memory within a bound for the file's
//! length. An accepted array is written and read again unchanged, and of a file that the crate `safetensors` accepts, it is
//! that crate's tensor.

#![no_main]

mod answer;
mod memory;

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use safetensors::SafeTensors;
use wgpu_gather_cli::arrays::safetensors::Safetensors;
use wgpu_gather_cli::arrays::{Array, Result};

/// Memory for a file of any length: an error's text.
const MEMORY_BYTES: usize = 8 * 1024;
/// Memory for each byte of the file: a JSON list of one value has room for four values of 32 bytes.
const MEMORY_PER_BYTE: usize = 128;

/// The tensor that is read.
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
        // The crate refuses a whole file for one tensor.
        (Ok(array), None) => assert!(whole.is_err(), "{array:?}"),
        // The crate takes the last tensor of a name, and types that the command does not gather.
        (Err(error), Some(tensor)) => {
            let error = error.to_string();
            let starts = ["dtype ", "two tensors have the name "];
            let is_strict = starts.iter().any(|start| error.starts_with(start));
            assert!(is_strict, "{error}, but {tensor:?}");
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
    let read = || Safetensors::open(Cursor::new(file), len as u64)?.read(name);
    let (array, peak_bytes) = memory::peak_bytes(read);
    assert!(
        peak_bytes <= MEMORY_BYTES + MEMORY_PER_BYTE * len,
        "{peak_bytes} bytes of memory for a file of {len}"
    );
    array
}

/// A file with a valid header length. The header ends at the first newline, and the data comes after it.
fn framed(bytes: &[u8]) -> Vec<u8> {
    let end = bytes.iter().position(|&byte| byte == b'\n');
    let (header, data) = bytes.split_at(end.map_or(bytes.len(), |newline| newline + 1));
    [&(header.len() as u64).to_le_bytes(), header, data].concat()
}
