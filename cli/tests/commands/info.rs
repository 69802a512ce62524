//! `wgpu-gather info` on every format, and on hostile files.

use serde_json::{Value, json};
use testkit::ran::Ran;

use crate::archives::{DEFLATED, npz, safetensors};
use crate::json::document;
use crate::support::{Folder, file, npy, wgpu_gather};

const HEADER: &str = r#"{"wte.weight":{"dtype":"BF16","shape":[3,2],"data_offsets":[0,12]},
    "an\nb":{"dtype":"U8","shape":[1],"data_offsets":[12,13]}}"#;

fn info(folder: &Folder, source: &str) -> Ran {
    Ran::new(wgpu_gather().current_dir(&folder.0).args(["info", source]))
}

/// A folder with a file of each format.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    let table = npy("<f4", "(1000, 3)", &[0; 12_000]);
    let members = [
        ("table.npy", table.clone()),
        ("ids.npy", npy("<i8", "()", &[0; 8])),
    ];
    folder.write("a.npy", table);
    folder.write("a.npz", npz(DEFLATED, &members));
    folder.write("a.safetensors", safetensors(HEADER, &[0; 13]));
    folder
}

pub fn info_describes_arrays() {
    let folder = folder("info");
    for (source, lines) in [
        ("a.npy", &["-     float32  [1000, 3]  12000"][..]),
        (
            "a.npz",
            &[
                "table  float32  [1000, 3]  12000",
                "ids    int64    []             8",
            ],
        ),
        ("a.npz:ids", &["ids   int64  []         8"]),
        (
            "a.safetensors",
            &[
                "wte.weight  BF16   [3, 2]     12",
                "an b        uint8  [1]         1",
            ],
        ),
    ] {
        let found = info(&folder, source);
        assert_eq!(found.code, 0, "{found:?}");
        let found: Vec<&str> = found.stdout.lines().skip(1).collect();
        assert_eq!(found, lines, "{source}");
    }
    let path = folder
        .0
        .join("a.npz")
        .into_os_string()
        .into_string()
        .unwrap();
    let described = document(&format!("info {path}"), None);
    assert_eq!(
        described,
        json!({ "arrays": [
            { "file": path, "name": "table", "dtype": "float32", "shape": [1000, 3], "bytes": 12_000 },
            { "file": path, "name": "ids", "dtype": "int64", "shape": [], "bytes": 8 },
        ] })
    );
}

pub fn info_refuses_hostile_files() {
    let folder = folder("info-hostile");
    let huge = file(
        2,
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000,)}",
        &[],
    );
    folder.write("huge.npy", huge.clone());
    folder.write("huge.npz", npz(DEFLATED, &[("a\nb.npy", huge)]));
    for (source, error) in [
        ("a.npz:rows", "no member \"rows\", it has ids, table"),
        (
            "a.safetensors:t",
            "no tensor \"t\", it has wte.weight, an b",
        ),
        (".", "it is a folder: name a file in it"),
    ] {
        let found = info(&folder, source);
        let expected = format!("error: {source}: {error}\n");
        assert_eq!(
            (found.code, found.stderr, found.stdout),
            (1, expected, String::new())
        );
    }
    // Only headers are read, so that what a file lacks is listed.
    for (source, name) in [
        ("huge.npy", "-    "),
        ("huge.npz", "a b  "),
        ("huge.npz:a\nb", "a b  "),
    ] {
        let found = info(&folder, source);
        let line = found.stdout.lines().nth(1).unwrap();
        let expected = format!("{name} float32  [4000000000]  16000000000");
        assert_eq!((found.code, line), (0, expected.as_str()), "{found:?}");
    }
    // Beside others, a member that cannot be described is an entry.
    folder.write(
        "cut.npz",
        npz(DEFLATED, &[("a\nb.npy", b"\x93NUMPY".to_vec())]),
    );
    let error = "the file ends within its header";
    let path = folder.0.join("cut.npz");
    let found = document(&format!("info {}", path.to_str().unwrap()), None);
    let entry = &found["arrays"][0];
    assert_eq!(
        (&entry["name"], &entry["error"]),
        (&json!("a\nb"), &json!(error))
    );
    assert_eq!([&entry["dtype"], &entry["shape"]], [&Value::Null; 2]);
    let found = info(&folder, "cut.npz:a\nb");
    let expected = format!("error: cut.npz:a b: {error}\n");
    assert_eq!((found.code, found.stderr), (1, expected));
}
