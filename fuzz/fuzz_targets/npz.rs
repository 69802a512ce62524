//! The .npz reading of the command `wgpu-gather` on any bytes: no panic, no more memory than the bytes are worth, and
//! what is accepted is written and read again as it was. As the member of an archive, stored or deflated, the bytes
//! give what they give as a .npy file.

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
#[path = "../../src/bin/wgpu-gather/arrays/npz.rs"]
#[allow(dead_code, reason = "the command uses the rest")]
mod npz;

use std::io::{Cursor, Write};

use libfuzzer_sys::fuzz_target;
use npy_read::{Array, Result, read_array};
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

/// Memory besides what depends on the archive: room for as many members as the last 22 bytes of one can claim to
/// have, and a window of Deflate's.
const MEMORY_BYTES: usize = 16 * 1024 * 1024;
/// Memory for a byte of the archive: 1032 of data, and what a directory of so many bytes may hold.
const MEMORY_PER_BYTE: usize = 2048;

/// What the archive is asked for.
const NAME: Option<&str> = Some("a");

fuzz_target!(|bytes: &[u8]| {
    answer::check(&read(bytes, NAME));
    check_unnamed(bytes);
    if !bytes.starts_with(b"PK") {
        let alone = read_array(bytes, bytes.len() as u64);
        for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
            assert_same(&alone, &read(&archived(bytes, method), NAME));
        }
    }
});

/// Without a name the error names the members.
fn check_unnamed(archive: &[u8]) {
    let unnamed = read(archive, None);
    assert!(unnamed.is_err(), "an array without a name");
    answer::check(&unnamed);
}

fn read(archive: &[u8], name: Option<&str>) -> Result<Array> {
    let len = archive.len();
    let read = || npz::read_member(Cursor::new(archive), len as u64, name);
    let (array, peak_bytes) = memory::peak_bytes(read);
    assert!(
        peak_bytes <= MEMORY_BYTES + MEMORY_PER_BYTE * len,
        "{peak_bytes} bytes of memory for an archive of {len}"
    );
    array
}

/// An archive that has the bytes as its one member.
fn archived(bytes: &[u8], method: CompressionMethod) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    let written = archive
        .start_file("a.npy", options)
        .and_then(|()| Ok(archive.write_all(bytes)?))
        .and_then(|()| archive.finish());
    written.expect("an archive in memory").into_inner()
}

fn assert_same(alone: &Result<Array>, member: &Result<Array>) {
    match (alone, member) {
        (Ok(alone), Ok(member)) => answer::assert_same(alone, member),
        (Err(alone), Err(member)) => assert_eq!(alone.to_string(), member.to_string()),
        _ => panic!("alone {alone:?}, in an archive {member:?}"),
    }
}
