//! Checks a reader's answer: an array that can be written and read again unchanged, or a short error.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::{env, fs, process};

use wgpu_gather_cli::arrays::npy_header::MAX_RANK;
use wgpu_gather_cli::arrays::{self, Array, Result};

/// More bytes than any error's text has.
const MAX_ERROR_BYTES: usize = 1000;

/// The file to which accepted arrays are written.
static WRITTEN: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = env::temp_dir().join(format!("wgpu-gather-fuzz-{}", process::id()));
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    folder.join("written.npy")
});

pub fn check(answer: &Result<Array>) {
    match answer {
        Ok(array) => check_accepted(array),
        Err(error) => {
            let text = error.to_string();
            assert!(!text.is_empty() && text.len() < MAX_ERROR_BYTES, "{text:?}");
        }
    }
}

fn check_accepted(array: &Array) {
    // The other dims of an empty array may be too large to multiply.
    let elements = match array.shape.contains(&0) {
        true => 0,
        false => array.shape.iter().product::<usize>(),
    };
    let blocks = elements / array.dtype.block_len;
    assert_eq!(array.bytes.len(), blocks * array.dtype.bytes);
    if array.dtype.is_packed() {
        // They are written as bytes.
        return;
    }
    let written = arrays::write(&WRITTEN, array);
    if array.shape.len() > MAX_RANK {
        assert!(
            written.is_err(),
            "a .npy file of {} dims",
            array.shape.len()
        );
        return;
    }
    written.expect("a read array can be written");
    let again = arrays::read(&WRITTEN).expect("a written array can be read");
    assert_same(array, &again);
}

pub fn assert_same(array: &Array, again: &Array) {
    assert_eq!(array.dtype.descr(), again.dtype.descr());
    assert_eq!(array.shape, again.shape);
    assert_eq!(array.bytes, again.bytes);
}
