//! `wgpu-gather` on files of other kinds, which it names by their first bytes, and on folders.

use std::fs;

use testkit::ran::Ran;

use crate::archives::{STORED, npz};
use crate::support::{Folder, npy, wgpu_gather};

const UNKNOWN: &str = "not a .npy, .npz, .safetensors or .gguf file";

/// Asserts that `info` and `run` refuse `source` with the same error.
#[track_caller]
fn refuses(folder: &Folder, source: &str, error: &str) {
    let mut info = wgpu_gather();
    let info = info.current_dir(&folder.0).args(["info", source]);
    let run = format!("gather {source} --at 0 -o out.npy --device cpu");
    for ran in [Ran::new(info), folder.run(&run)] {
        let expected = (1, "", format!("error: {source}: {error}\n"));
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr), expected);
    }
}

pub fn other_kinds_are_named() {
    let folder = Folder::new("kinds");
    let pytorch = "it is a PyTorch checkpoint: save its tensors with safetensors.torch.save_file";
    let page = "it is a web page, saved in place of the file";
    let torch_zip = npz(
        STORED,
        &[
            ("archive/data.pkl", b"\x80\x02}q\0.".to_vec()),
            ("archive/version", b"3\n".to_vec()),
            ("archive/data/0", vec![0; 16]),
        ],
    );
    for (bytes, error) in [
        (torch_zip, pytorch),
        (
            b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M".to_vec(),
            pytorch,
        ),
        (b"\x80\x02}q\0.".to_vec(), UNKNOWN),
        (b"\x89HDF\r\n\x1a\n\0\0\0".to_vec(), UNKNOWN),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n".to_vec(),
            "it is a Git LFS pointer: fetch the file with git lfs pull",
        ),
        (b"<!doctype HTML>\n<html>".to_vec(), page),
        (b"\xef\xbb\xbf\n  <HTML lang=\"en\">".to_vec(), page),
        (b"<?xml version=\"1.0\"?><html>".to_vec(), UNKNOWN),
        (b"PK\x07\x08".to_vec(), UNKNOWN),
    ] {
        folder.write("model.bin", bytes);
        refuses(&folder, "model.bin", error);
    }
    // An archive that has arrays too is one of arrays.
    let members = [
        ("a/data.pkl", vec![0x80, 2]),
        ("t.npy", npy("|u1", "(2,)", &[7, 8])),
    ];
    folder.write("both.npz", npz(STORED, &members));
    folder.makes(
        "gather both.npz:t --at 1",
        "uint8 [1]",
        &npy("|u1", "(1,)", &[8]),
    );
}

pub fn folders_are_no_files() {
    let folder = Folder::new("folders");
    let error = "it is a folder: name a file in it";
    let model = folder.0.join("model");
    fs::create_dir(&model).unwrap();
    refuses(&folder, "model", error);
    refuses(&folder, "model:wte.weight", error);
}
