//! The command `wgpu-gather` reads any bytes as a .gguf file: no panic, and memory within a bound for the file's length. An
//! accepted tensor has whole blocks.

#![no_main]

mod answer;
mod memory;

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use wgpu_gather_cli::arrays::gguf::Gguf;

/// Memory for a file of any length: an error's text.
const MEMORY_BYTES: usize = 8 * 1024;
/// Memory for each byte of the file: the descriptions and the names for an error, in vectors that double. A tensor of 25
/// bytes has its place in 16 and its name in 50.
const MEMORY_PER_BYTE: usize = 12;

fuzz_target!(|bytes: &[u8]| {
    for name in [Some("t"), None] {
        let read = || Gguf::open(Cursor::new(bytes), bytes.len() as u64)?.read(name);
        let (array, peak_bytes) = memory::peak_bytes(read);
        assert!(
            peak_bytes <= MEMORY_BYTES + MEMORY_PER_BYTE * bytes.len(),
            "{peak_bytes} bytes of memory for a file of {}",
            bytes.len()
        );
        match &array {
            Ok(array) => {
                assert!(name.is_some(), "an array without a name");
                // The other dims of an empty array may be too large to multiply.
                let values = match array.shape.contains(&0) {
                    true => 0,
                    false => array.shape.iter().product::<usize>(),
                };
                assert_eq!(
                    values / array.dtype.block_len * array.dtype.bytes,
                    array.bytes.len()
                );
            }
            Err(_) => answer::check(&array),
        }
    }
});
