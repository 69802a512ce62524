//! The command `wgpu-gather` reads any bytes as a .npz archive: no panic, and memory within a bound for the archive's
//! length. An accepted array is written and read again unchanged. Bytes that are the member of an archive, stored or
//! deflated, give the array or the error that they give as a .npy file.

#![no_main]

mod answer;
mod memory;

use std::io::{Cursor, Write};

use libfuzzer_sys::fuzz_target;
use wgpu_gather_cli::arrays::npy_read::{Remaining, read_array};
use wgpu_gather_cli::arrays::npz::Npz;
use wgpu_gather_cli::arrays::{Array, Result};
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

/// Memory for an archive of any length: room for all members that its last 22 bytes can claim, and Deflate's window.
const MEMORY_BYTES: usize = 16 * 1024 * 1024;
/// Memory for each byte of the archive: at most 1032 bytes of inflated data, and the entries of a directory.
const MEMORY_PER_BYTE: usize = 2048;

/// The member that is read.
const NAME: Option<&str> = Some("a");

fuzz_target!(|bytes: &[u8]| {
    answer::check(&read(bytes, NAME));
    check_unnamed(bytes);
    if !bytes.starts_with(b"PK") {
        let alone = read_array(&mut Remaining::new(bytes, bytes.len() as u64));
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
    let read = || Npz::open(Cursor::new(archive), len as u64)?.read(name);
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
