//! `wgpu-gather run` on .npz archives and .safetensors files, good and hostile.

use std::io::{Cursor, Write};

use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::support::{Folder, file, lines, npy, numbers, wgpu_gather};
use testkit::ran::Ran;

pub const STORED: CompressionMethod = CompressionMethod::Stored;
pub const DEFLATED: CompressionMethod = CompressionMethod::Deflated;

pub fn npz(method: CompressionMethod, members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        let options = SimpleFileOptions::default().compression_method(method);
        archive.start_file(*name, options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

pub fn safetensors(header: &str, data: &[u8]) -> Vec<u8> {
    let length = (header.len() as u64).to_le_bytes();
    [&length, header.as_bytes(), data].concat()
}

fn ids() -> Vec<u8> {
    npy("<i4", "(2,)", &numbers(&[2, 0], i32::to_le_bytes))
}

pub fn npz_members_are_gathered() {
    for (name, method) in [("stored", STORED), ("deflated", DEFLATED)] {
        let folder = Folder::new(name);
        let table = npy("|u1", "(3, 2)", &[1, 2, 3, 4, 5, 6]);
        let members = [("table.npy", table), ("ids.npy", ids())];
        folder.write("a.npz", npz(method, &members));
        let command = "gather a.npz:table a.npz:ids.npy";
        folder.makes(
            command,
            "uint8 [2, 2]",
            &npy("|u1", "(2, 2)", &[5, 6, 1, 2]),
        );
    }
}

pub fn tensors_are_gathered() {
    let folder = Folder::new("tensors");
    folder.write("ids.npy", ids());
    let header = r#"{"__metadata__":{"format":"pt"},
        "first":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},
        "wte.weight":{"dtype":"BF16","shape":[3,2],"data_offsets":[3,15]},
        "ids":{"dtype":"I64","shape":[1],"data_offsets":[15,23]}}"#;
    let weights: Vec<u8> = (10..22).collect();
    let data = [&[7, 8, 9][..], &weights, &numbers(&[1], i64::to_le_bytes)].concat();
    folder.write("m.safetensors", safetensors(header, &data));

    let command = "gather m.safetensors:first ids.npy";
    folder.makes(command, "uint8 [2]", &npy("|u1", "(2,)", &[9, 7]));

    let command = "gather m.safetensors:wte.weight ids.npy";
    let rows = npy("<V2", "(2, 2)", &[18, 19, 20, 21, 10, 11, 12, 13]);
    folder.makes(command, "BF16 [2, 2]", &rows);

    // The output is the params of a second gather.
    folder.write("rows.npy", rows);
    let command = "gather rows.npy m.safetensors:ids";
    let row = npy("<V2", "(1, 2)", &[10, 11, 12, 13]);
    folder.makes(command, "void16 [1, 2]", &row);
}

/// On systems that keep a path's bytes as they are.
#[cfg(target_os = "linux")]
pub fn archives_paths_need_not_be_utf8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = Folder::new("not-utf8");
    folder.i32("ids.npy", "(1,)", &[1]);
    let rows = npy("|u1", "(2,)", &[7, 8]);
    let tensor = r#"{"t":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}"#;
    for (file, bytes) in [
        (&b"\xff.npz"[..], npz(STORED, &[("t.npy", rows)])),
        (b"\xff.safetensors", safetensors(tensor, &[7, 8])),
    ] {
        std::fs::write(folder.0.join(OsStr::from_bytes(file)), bytes).unwrap();
        let run = |name: &[u8]| {
            let mut command = wgpu_gather();
            command.current_dir(&folder.0).args(["run", "gather"]);
            command.arg(OsStr::from_bytes(&[file, name].concat()));
            command.args(["ids.npy", "-o", "out.npy", "--device", "cpu"]);
            Ran::new(&mut command)
        };
        let found = run(b":t");
        assert_eq!(found.code, 0, "{found:?}");
        assert_eq!(folder.read("out.npy"), npy("|u1", "(1,)", &[8]));
        let absent = run(b":\xfe");
        assert!(
            absent.stderr.contains("\"\u{fffd}\", it has t"),
            "{absent:?}"
        );
    }
}

pub fn hostile_npz_is_refused() {
    let folder = Folder::new("hostile-npz");
    folder.write("ids.npy", ids());
    let header = |descr: &str, order: &str| {
        let text = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': (3, 2), }}");
        file(1, &text, &[1, 2, 3, 4, 5, 6])
    };
    let one = |bytes: Vec<u8>| npz(STORED, &[("a.npy", bytes)]);
    let good = one(header("'|u1'", "False"));
    let many: Vec<(String, Vec<u8>)> = (0..10).map(|n| (format!("m{n}.npy"), ids())).collect();
    let many: Vec<(&str, Vec<u8>)> = many.iter().map(|(n, b)| (n.as_str(), b.clone())).collect();
    for (bytes, error) in [
        (vec![], "not a .npy, .npz, .safetensors or .gguf file"),
        (
            ids(),
            "a .npy file has one array: names are for .npz, .safetensors and .gguf files",
        ),
        (
            good[..good.len() - 30].to_vec(),
            "invalid Zip archive: Could not find EOCD",
        ),
        (npz(STORED, &[]), "no member \"a\", it has none"),
        (
            npz(STORED, &[("b.npy", ids())]),
            "no member \"a\", it has b",
        ),
        (
            npz(DEFLATED, &many),
            "no member \"a\", it has m0, m1, m2, m3, m4, m5, m6, m7, 2 more",
        ),
        (one(b"text".to_vec()), "not a .npy file"),
        (one(ids()[..9].to_vec()), "the file ends within its header"),
        (
            one([&b"\x93NUMPY\x02\x00"[..], &[255; 4]].concat()),
            "header must have at most 4194304 bytes, found 4294967295",
        ),
        (
            one(header("'|O'", "False")),
            "arrays of Python objects are not supported",
        ),
        (
            changed(&good, &[1, 2, 3], &[1, 9, 3]),
            "the member is damaged: Invalid checksum",
        ),
        (
            claims(&good, u32::MAX - 1),
            "the member cannot have 4294967294 bytes, 75 in the archive of 183",
        ),
    ] {
        folder.write("bad.npz", bytes);
        folder.refuses("gather bad.npz:a ids.npy", &format!("bad.npz:a: {error}"));
    }
    folder.write("bad.npz", good);
    folder.refuses(
        "gather bad.npz ids.npy",
        "bad.npz: name a member, as FILE:NAME; it has a",
    );
}

/// The archive with the first `from` replaced by `to`, and its checksum unchanged.
fn changed(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = bytes.windows(from.len()).position(|part| part == from);
    let mut bytes = bytes.to_vec();
    bytes[at.unwrap()..][..to.len()].copy_from_slice(to);
    bytes
}

/// The archive whose directory gives `bytes` as the size of its only member.
fn claims(archive: &[u8], bytes: u32) -> Vec<u8> {
    let at = archive.windows(4).position(|part| part == b"PK\x01\x02");
    let mut archive = archive.to_vec();
    archive[at.unwrap() + 24..][..4].copy_from_slice(&bytes.to_le_bytes());
    archive
}

/// Dtypes, shapes and offsets of tensors, and their errors.
const TENSORS: &str = "
U8 [3] 3 0 | data_offsets must be in order and in the 3 bytes of data, found 3 and 0
U8 [4] 0 3 | uint8 data of shape [4] must have 4 bytes, found 3
U8 [4294967296,4294967296] 0 0 | the size of shape overflows
U8 [-1] 0 0 | invalid value: integer `-1`, expected usize
U7 [3] 0 3 | dtype U7 is not supported
F4 [2,3] 0 3 | dtype F4 must have rows of whole bytes, found 3 values of 4 bits
F6_E2M3 [2,6] 0 9 | dtype F6_E2M3 must have rows of whole bytes, found 6 values of 6 bits
F4 [2,4] 0 3 | F4 data of shape [2, 4] must have 4 bytes, found 3
";

pub fn hostile_safetensors_are_refused() {
    let folder = Folder::new("hostile-safetensors");
    folder.write("ids.npy", ids());
    let tensor = |dtype: &str, shape: &str, start: usize, end: usize| {
        format!(r#"{{"t":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{start},{end}]}}}}"#)
    };
    let one = |dtype, shape, start, end, data: &[u8]| {
        safetensors(&tensor(dtype, shape, start, end), data)
    };
    let ends = "the file ends within its header";
    let unknown = "not a .npy, .npz, .safetensors or .gguf file";
    let good = one("U8", "[3]", 0, 3, &[1, 2, 3]);
    let files = [
        (vec![], unknown),
        (vec![9, 0, 0], unknown),
        (vec![255; 100], unknown),
        (
            [&[255; 8], &b"{"[..]].concat(),
            "header must have at most 100000000 bytes, found 18446744073709551615",
        ),
        (good[..20].to_vec(), ends),
        (
            good[..good.len() - 1].to_vec(),
            "data_offsets must be in order and in the 2 bytes of data, found 0 and 3",
        ),
        (
            safetensors("{", &[]),
            "header is not valid: EOF while parsing an object at line 1 column 1",
        ),
        (
            safetensors(
                r#"{"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}"#,
                &[],
            ),
            "two tensors have the name \"t\"",
        ),
        (safetensors("{}", &[]), "no tensor \"t\", it has none"),
        (
            safetensors(&tensor("U8", "[1]", 0, 1).replace("\"t\"", "\"u\""), &[0]),
            "no tensor \"t\", it has u",
        ),
    ];
    let tensors = lines(TENSORS).map(|(described, error)| {
        let words: Vec<&str> = described.split(' ').collect();
        let [start, end]: [usize; 2] = [2, 3].map(|n: usize| words[n].parse().unwrap());
        let data = vec![0; start.max(end)];
        (one(words[0], words[1], start, end, &data), error)
    });
    for (bytes, error) in files.into_iter().chain(tensors) {
        folder.write("bad.safetensors", bytes);
        let command = "gather bad.safetensors:t ids.npy";
        folder.refuses(command, &format!("bad.safetensors:t: {error}"));
    }
    folder.write("bad.safetensors", good);
    folder.refuses(
        "gather bad.safetensors ids.npy",
        "bad.safetensors: name a tensor, as FILE:NAME; it has t",
    );
}
