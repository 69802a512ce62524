//! Names what is no array file by its first bytes, and says how to get one.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::names::shown;

/// First bytes that are read to tell a file's kind.
pub(super) const FIRST_BYTES: u64 = 512;

pub(super) const PYTORCH: &str =
    "it is a PyTorch checkpoint: save its tensors with safetensors.torch.save_file";

/// Bytes that only one kind of file has, where they start, and the error.
const KINDS: [(usize, &[u8], &str); 6] = [
    (
        0,
        b"version https://git-lfs",
        "it is a Git LFS pointer: fetch the file with git lfs pull",
    ),
    // A pickle of PyTorch's magic number.
    (
        0,
        b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.",
        PYTORCH,
    ),
    (
        0,
        b"\x89HDF\r\n\x1a\n",
        "it is an HDF5 file: save its arrays with numpy.savez",
    ),
    (
        0,
        b"PAR1",
        "it is a Parquet file: save its columns with numpy.savez",
    ),
    (
        0,
        b"ARROW1\0\0",
        "it is an Arrow file: save its columns with numpy.savez",
    ),
    (
        4,
        b"TFL3",
        "it is a TensorFlow Lite model: save its tensors with numpy.savez",
    ),
];

/// The error for a file that begins with these bytes.
pub(super) fn error_of(first: &[u8]) -> &'static str {
    let is_at = |start: usize, bytes: &[u8]| {
        let at = first.get(start..);
        at.is_some_and(|at| at.starts_with(bytes))
    };
    if let Some((.., error)) = KINDS.iter().find(|(start, bytes, _)| is_at(*start, bytes)) {
        return error;
    }
    match first {
        first if is_pickle(first) => {
            "it is a pickle: save its arrays with numpy.savez, or its tensors with safetensors.torch.save_file"
        }
        first if is_onnx(first) => "it is an ONNX model: save its tensors with numpy.savez",
        first if is_html(first) => "it is a web page, saved in place of the file",
        _ => "not a .npy, .npz, .safetensors or .gguf file",
    }
}

/// True for a pickle of Python. Its first opcode gives its version, and the next begins a frame or a value: a list, a tuple, a dict,
/// a class, a text or a number.
fn is_pickle(first: &[u8]) -> bool {
    matches!(
        first,
        [
            0x80,
            2 | 3,
            b']' | b'(' | b'}' | b'c' | b'X' | b'K' | b'J' | 0x8a,
            ..
        ] | [0x80, 4 | 5, 0x95, ..]
    )
}

/// ONNX's `ModelProto` begins with a small version and its producer's name, before the tag of another field.
fn is_onnx(first: &[u8]) -> bool {
    let [8, 1..=32, 0x12, len @ 1..=64, rest @ ..] = first else {
        return false;
    };
    let Some((name, rest)) = rest.split_at_checked(usize::from(*len)) else {
        return false;
    };
    let is_name = name
        .iter()
        .all(|&byte| byte == b' ' || byte.is_ascii_graphic());
    // The producer's version, a domain, the model's version, a comment, the graph or the operators.
    is_name && matches!(rest.first(), Some(0x1a | 0x22 | 0x28 | 0x32 | 0x3a | 0x42))
}

fn is_html(first: &[u8]) -> bool {
    let first = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first);
    let text = first.trim_ascii_start().to_ascii_lowercase();
    text.starts_with(b"<!doctype html") || text.starts_with(b"<html")
}

/// True for the name that PyTorch gives the pickle in its archives: `archive/data.pkl`.
pub(super) fn is_pytorch(member: &str) -> bool {
    let folder = member.strip_suffix("/data.pkl");
    folder.is_some_and(|folder| !folder.contains('/'))
}

/// The error for a folder in place of a file. It names the index of a model's .safetensors files.
pub(super) fn error_of_folder(folder: &Path) -> String {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name());
    let indices = names.filter(|name| {
        let name = name.as_encoded_bytes();
        name.ends_with(b".safetensors.index.json")
    });
    let usual = OsStr::new("model.safetensors.index.json");
    let index = indices.min_by_key(|name| (name != usual, name.clone()));
    let example = index.map_or(String::new(), |name| {
        format!(", as {}", shown(&name.to_string_lossy()))
    });
    format!("it is a folder: name a file in it{example}")
}
