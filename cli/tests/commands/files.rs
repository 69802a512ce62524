//! `wgpu-gather` on files as people have them, which tests/data/make.py made with NumPy, safetensors and gguf-py.

use std::fs;
use std::path::Path;

use testkit::ran::Ran;

use crate::support::{Folder, npy, numbers, wgpu_gather};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");

fn data(name: &str) -> Vec<u8> {
    fs::read(Path::new(DATA).join(name)).unwrap()
}

/// A folder with copies of these files.
fn folder(name: &str, files: &[&str]) -> Folder {
    let folder = Folder::new(name);
    for file in files {
        folder.write(file, data(file));
    }
    folder
}

/// The lines of `info`, without the spaces that align them and without the header.
#[track_caller]
fn listed(folder: &Folder, source: &str) -> Vec<String> {
    let ran = Ran::new(wgpu_gather().current_dir(&folder.0).args(["info", source]));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{source}");
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    ran.stdout.lines().skip(1).map(words).collect()
}

pub fn archives_of_all_sorts_are_read() {
    let folder = folder("mixed", &["mixed.npz"]);
    assert_eq!(
        listed(&folder, "mixed.npz"),
        [
            "table float32 [3, 2] 24",
            "ids int64 [2] 16",
            "labels <U1 [3] 12",
            "columns float32 [3, 2] 24",
            "cut unreadable: the file ends within its header - -",
        ]
    );
    let command = "gather mixed.npz:table mixed.npz:ids";
    let rows = numbers(&[4.0, 5.0, 0.0, 1.0], f32::to_le_bytes);
    folder.makes(command, "float32 [2, 2]", &npy("<f4", "(2, 2)", &rows));
    // The table in Fortran order, and texts.
    let command = "gather mixed.npz:columns mixed.npz:ids";
    folder.makes(command, "float32 [2, 2]", &npy("<f4", "(2, 2)", &rows));
    let command = "gather mixed.npz:labels mixed.npz:ids";
    let texts = numbers(&['c' as u32, 'a' as u32], u32::to_le_bytes);
    folder.makes(command, "<U1 [2]", &npy("<U1", "(2,)", &texts));
    for (member, error) in [
        ("README.txt", "not a .npy file"),
        (
            "rows",
            "no member \"rows\", it has columns, ids, labels, cut, table",
        ),
    ] {
        folder.refuses(
            &format!("gather mixed.npz:{member} mixed.npz:ids"),
            &format!("mixed.npz:{member}: {error}"),
        );
    }
}

pub fn models_with_unknown_types_are_read() {
    let folder = folder("blob", &["blob", "blob_rows.npy"]);
    folder.i32("ids.npy", "(4,)", &[0, 1, 2, 3]);
    assert_eq!(
        listed(&folder, "blob"),
        [
            "first type 41 [4, 32] -",
            "rows Q8_0 [4, 32] 136",
            "last type 4 [4, 32] -",
            "deep float32 [1, 1, 2, 1, 2] 16",
        ]
    );
    folder.makes(
        "gather blob:rows ids.npy",
        "float32 [4, 32]",
        &data("blob_rows.npy"),
    );
    folder.i32("ids.npy", "(1,)", &[0]);
    folder.gathers("gather blob:deep ids.npy", "float32 [1, 1, 2, 1, 2]");
    let error = "blob:first: tensor \"first\" has a type of number 41, which is not supported";
    folder.refuses("gather blob:first ids.npy", error);
}

pub fn tensors_beside_unknown_types_are_read() {
    let folder = folder("later", &["later.safetensors"]);
    folder.i32("ids.npy", "(1,)", &[1]);
    let mut lines = listed(&folder, "later.safetensors");
    lines.sort();
    assert_eq!(lines, ["other U99 [2] 16", "table float32 [3, 2] 24"]);
    folder.gathers("gather later.safetensors:table ids.npy", "float32 [1, 2]");
    folder.refuses(
        "gather later.safetensors:other ids.npy",
        "later.safetensors:other: dtype U99 is not supported",
    );
}

/// The files have a vector in Fortran order, dims as Python 2 wrote them, and bytes after the last element.
pub fn odd_headers_are_read() {
    let files = ["julia.npy", "python2.npy", "appended.npy"];
    let folder = folder("odd", &files);
    folder.i32("ids.npy", "(1,)", &[0]);
    for file in files {
        assert_eq!(listed(&folder, file), ["- int64 [2] 16"]);
        let command = format!("gather {file} ids.npy");
        let row = numbers(&[2], i64::to_le_bytes);
        folder.makes(&command, "int64 [1]", &npy("<i8", "(1,)", &row));
    }
}

/// Types that have no name in NumPy.
pub fn all_types_are_listed() {
    let files = ["latin1.npy", "big_endian.npy", "objects.npy"];
    let folder = folder("types", &files);
    for (file, line) in files.iter().zip([
        "- [('é', '<i4')] [2] 8",
        "- >i8 [2] 16",
        // The header does not tell how many bytes a pickle has.
        "- |O [1] -",
    ]) {
        let lines = listed(&folder, file);
        assert_eq!(lines, [line], "{file}");
    }
}

/// A file's bytes tell its format, and its name may have colons.
pub fn names_tell_no_format() {
    let folder = folder(
        "formats",
        &["mixed.npz", "later.safetensors", "julia.npy", "blob"],
    );
    folder.i32("ids.npy", "(1,)", &[1]);
    let copies = [
        (
            "mixed.npz",
            "no ending",
            "no ending:table",
            "float32 [1, 2]",
        ),
        ("mixed.npz", "t.gguf", "t.gguf:table", "float32 [1, 2]"),
        ("later.safetensors", "a:b", "a:b:table", "float32 [1, 2]"),
        ("julia.npy", "a:b.npz", "a:b.npz", "int64 [1]"),
        ("blob", "t.npy", "t.npy:rows", "float32 [1, 32]"),
    ];
    for (file, copy, source, output) in copies {
        folder.write(copy, data(file));
        let mut run = wgpu_gather();
        run.current_dir(&folder.0).args(["run", "gather", source]);
        let ran = Ran::new(run.args("ids.npy -o out.npy --device cpu".split(' ')));
        let expected = format!("out.npy: {output}, ");
        assert!(ran.stdout.starts_with(&expected), "{source}: {ran:?}");
    }
    // The length of this header is 0x4b50, the letters that a zip file begins with.
    let tensor = r#"{"t":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}"#;
    let header = format!("{tensor:<width$}", width = 0x4b50);
    folder.write("pk", crate::archives::safetensors(&header, &[7, 8]));
    folder.gathers("gather pk:t ids.npy", "uint8 [1]");
    folder.write("text.npy", b"a text, no array".to_vec());
    folder.refuses(
        "gather text.npy ids.npy",
        "text.npy: not a .npy, .npz, .safetensors or .gguf file",
    );
}

/// Long names keep both ends, and those that are like the asked one come first.
pub fn names_in_errors_are_whole() {
    let long = format!("{}.weight", "layer.".repeat(20));
    let names = [
        "a",
        "b",
        "c",
        "d",
        "e",
        "f",
        "g",
        "model.layers.0.self_attn.q_proj.weight",
        &long,
    ];
    let tensors =
        names.map(|name| format!(r#""{name}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}"#));
    let folder = Folder::new("names");
    let header = format!("{{{}}}", tensors.join(","));
    folder.write("m.st", crate::archives::safetensors(&header, &[]));
    folder.i32("ids.npy", "(0,)", &[]);
    folder.refuses(
        "gather m.st:q_proj.weight ids.npy",
        "m.st:q_proj.weight: no tensor \"q_proj.weight\", it has model.layers.0.self_attn.q_proj.weight, \
         layer.layer.layer.layer.layer.layer.laye..er.layer.layer.layer.layer.layer..weight, a, b, c, d, e, f, 1 more",
    );
}

/// A header of many small tensors is described in little memory: the peak is looked at while the pipe is full.
#[cfg(target_os = "linux")]
pub fn info_takes_little_memory() {
    use std::io::Read;
    use std::process::Stdio;

    let folder = Folder::new("info-memory");
    // The KiB of a file of so many tensors, and the most that the process has in memory when it has written the start of its
    // answer.
    let sizes = |tensors: u32| {
        let count = u64::from(tensors).to_le_bytes();
        let mut file = [&b"GGUF\x03\0\0\0"[..], &count, &[0; 8]].concat();
        for tensor in 0..tensors {
            let name = format!("{tensor:x}");
            file.extend((name.len() as u64).to_le_bytes());
            file.extend(name.as_bytes());
            // No dims, a type that is not known, and the start of the data.
            file.extend([&[0; 4], &99_u32.to_le_bytes(), &[0; 8][..]].concat());
        }
        let kib = file.len() / 1024;
        folder.write("many.gguf", file);
        let mut info = wgpu_gather();
        info.current_dir(&folder.0)
            .args(["info", "--json", "many.gguf"]);
        let mut info = info.stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = info.stdout.take().unwrap();
        stdout.read_exact(&mut [0; 1000]).unwrap();
        let status = fs::read_to_string(format!("/proc/{}/status", info.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak: usize = (peak.unwrap().trim().trim_end_matches(" kB"))
            .parse()
            .unwrap();
        drop(stdout);
        assert!(info.wait().unwrap().success());
        (kib, peak)
    };
    let ((few, least), (many, most)) = (sizes(2000), sizes(60_000));
    assert!(
        most <= least + 3 * (many - few),
        "{least} KiB for a file of {few}, {most} for one of {many}"
    );
}
