//! Rows on the terminal and in JSON, and indices on the command line.

#[cfg(target_os = "linux")]
use libtest_mimic::Completion;
use serde_json::{Value, json};

use crate::support::{Folder, npy, numbers};

pub fn indices_come_from_the_command_line() {
    let folder = Folder::new("at");
    folder.write(
        "t.npy",
        npy(
            "<f4",
            "(4, 3)",
            &numbers(
                &(0..12).map(|n| n as f32).collect::<Vec<_>>(),
                f32::to_le_bytes,
            ),
        ),
    );
    for (command, expected) in [
        (
            "gather t.npy --at 2,0",
            "[[6.0, 7.0, 8.0],\n [0.0, 1.0, 2.0]]\n",
        ),
        (
            "gather t.npy --at 1 --at 3",
            "[[[ 3.0,  4.0,  5.0]],\n [[ 9.0, 10.0, 11.0]]]\n",
        ),
        ("gather t.npy --at=-1 --from-end", "[[ 9.0, 10.0, 11.0]]\n"),
        (
            "gather t.npy --axis 1 --at 2",
            "[[ 2.0],\n [ 5.0],\n [ 8.0],\n [11.0]]\n",
        ),
        ("gather_nd t.npy --at 3,1 --at 0,2", "[10.0,  2.0]\n"),
        ("gather-nd t.npy --at 3", "[[ 9.0, 10.0, 11.0]]\n"),
        ("gather_elements t.npy --at 3,0,1", "[[9.0, 1.0, 5.0]]\n"),
    ] {
        let ran = folder.run(&format!("{command} --print --quiet --device cpu"));
        assert_eq!(
            (ran.stdout.as_str(), ran.stderr.as_str()),
            (expected, ""),
            "{command}"
        );
    }
    folder.refuses(
        "gather t.npy --at 0,4",
        "--at: indices[1] = 4 is not in [0, 4)",
    );
    // The line goes to standard error, and with --json the rows are whole.
    let ran = folder.run("gather t.npy --at 1 --print --device cpu");
    assert_eq!(ran.stdout, "[[3.0, 4.0, 5.0]]\n");
    assert!(
        ran.stderr
            .starts_with("float32 [1, 3], 1 row gathered on the CPU in "),
        "{ran:?}"
    );
    let ran = folder.run("gather t.npy --at 1,9 --json --device cpu --bad-indices fill");
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        document["values"],
        json!([[3.0, 4.0, 5.0], [0.0, 0.0, 0.0]])
    );
    assert_eq!(
        (&document["output"], &document["bad_rows"]),
        (&Value::Null, &json!(1))
    );
}

/// The rows of `file` that a mask of `rows` selects, all of them: as text, and in JSON.
fn printed(folder: &Folder, file: Vec<u8>, rows: usize, options: &str) -> (String, Value) {
    folder.write("t.npy", file);
    folder.write("all.npy", npy("|b1", &format!("({rows},)"), &vec![1; rows]));
    let run = |option: &str| {
        let ran = folder.run(&format!(
            "gather t.npy all.npy --quiet --device cpu {options} {option}"
        ));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        ran.stdout
    };
    let document: Value = serde_json::from_str(&run("--json")).unwrap();
    (run("--print"), document["values"].clone())
}

/// Each kind of element: in JSON, those that it has not are strings, and structures objects.
pub fn elements_of_each_kind_are_printed() {
    let folder = Folder::new("printed");
    let f64s = |values: &[f64]| numbers(values, f64::to_le_bytes);
    let not_finite = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.1];
    // A terminal would obey some of these characters, so the command must print their escapes.
    let text = "é\0b\"\u{1b}\u{9b}".chars().map(u32::from);
    let text: Vec<u8> = text.flat_map(u32::to_be_bytes).collect();
    let long_double = "07".repeat(16);
    for (descr, data, text, json) in [
        ("|b1", vec![1, 0], "[ true, false]", json!([true, false])),
        ("|i1", vec![255, 7], "[-1,  7]", json!([-1, 7])),
        (
            ">u8",
            vec![255; 8],
            "[18446744073709551615]",
            json!([u64::MAX]),
        ),
        (
            "<f4",
            numbers(&not_finite, f32::to_le_bytes),
            "[ NaN,  inf, -inf, -0.0,  0.1]",
            json!(["NaN", "Infinity", "-Infinity", -0.0, 0.1]),
        ),
        (
            "<f8",
            f64s(&[5e-7, 1e22]),
            "[5e-7, 1e22]",
            json!([5e-7, 1e22]),
        ),
        (
            ">f2",
            vec![0x2e, 0x66, 0xfc, 0],
            "[0.099975586,        -inf]",
            json!([0.099_975_586, "-Infinity"]),
        ),
        (
            "<c16",
            f64s(&[1.5, f64::NAN]),
            "[(1.5, NaN)]",
            json!([[1.5, "NaN"]]),
        ),
        (
            ">U2",
            text,
            r#"[           "é",          "b\"", "\u{1b}\u{9b}"]"#,
            json!(["é", "b\"", "\u{1b}\u{9b}"]),
        ),
        (
            "|S2",
            b"a\0\0\"\xff\0".to_vec(),
            r#"[     b"a", b"\x00\"",   b"\xff"]"#,
            json!(["a", "\0\"", "\u{fffd}"]),
        ),
        (
            "<M8[D]",
            numbers(&[-7, i64::MIN], i64::to_le_bytes),
            "[ -7, NaT]",
            json!([-7, i64::MIN]),
        ),
        (
            "|V2",
            vec![1, 2, 3, 255],
            r#"["0102", "03ff"]"#,
            json!(["0102", "03ff"]),
        ),
        // Machines differ in long doubles, so these are bytes.
        (
            "<f16",
            vec![7; 16],
            &format!("[\"{long_double}\"]"),
            json!([long_double]),
        ),
    ] {
        let count = json.as_array().unwrap().len();
        let file = npy(descr, &format!("({count},)"), &data);
        let found = printed(&folder, file, count, "");
        assert_eq!(found, (format!("{text}\n"), json), "{descr}");
    }
    let structure = "[('a', '>i2'), ('b', '|u1', (2, 2)), ('', '|V1'), ('\"', '<M8[D]')]";
    let header = format!("{{'descr': {structure}, 'fortran_order': False, 'shape': (1,), }}");
    let data = [&[1, 0, 5, 6, 7, 8, 9][..], &18_321_i64.to_le_bytes()].concat();
    let file = crate::support::file(1, &format!("{header:<181}\n"), &data);
    let text = "[{\"a\": 256, \"b\": [[5, 6], [7, 8]], \"\\\"\": 18321}]\n";
    let json = json!([{ "a": 256, "b": [[5, 6], [7, 8]], "\"": 18_321 }]);
    assert_eq!(printed(&folder, file, 1, ""), (text.to_owned(), json));
    // Types that NumPy lacks have the values of their names.
    for (name, file, text) in [
        ("bf16", npy("<V2", "(1,)", &[0xc0, 0x3f]), "[1.5]\n"),
        ("f8_e4m3", npy("|V1", "(1,)", &[0x3c]), "[1.5]\n"),
    ] {
        let found = printed(&folder, file, 1, &format!("--as {name}"));
        assert_eq!(found, (text.to_owned(), json!([1.5])), "{name}");
    }
}

/// Text of more than 1,000 elements has three at each end of a dim. Of an empty array there is nothing to shorten.
pub fn long_arrays_are_shortened() {
    let folder = Folder::new("shortened");
    let bytes = |count: u32| (0..count).map(|n| n.to_le_bytes()[0]).collect::<Vec<u8>>();
    let text = "\
[[  0,   1,   2, ..., 247, 248, 249],
 [250, 251, 252, ..., 241, 242, 243],
 [244, 245, 246, ..., 235, 236, 237],
 ...,
 [220, 221, 222, ..., 211, 212, 213],
 [214, 215, 216, ..., 205, 206, 207],
 [208, 209, 210, ..., 199, 200, 201]]
";
    let (found, json) = printed(&folder, npy("|u1", "(9, 250)", &bytes(2250)), 9, "");
    assert_eq!(found, text);
    assert_eq!(json[8][249], 201);
    let (found, _) = printed(&folder, npy("|u1", "(1000,)", &[7; 1000]), 1000, "");
    assert_eq!(found, format!("[{}]\n", ["7"; 1000].join(", ")));
    let empty = printed(&folder, npy("<f4", "(2, 0)", &[]), 2, "");
    assert_eq!(empty, ("[]\n".to_owned(), json!([[], []])));
}

/// Without an output a terminal gets the rows.
#[cfg(target_os = "linux")]
pub fn a_terminal_gets_rows() -> Completion {
    let folder = Folder::new("terminal");
    folder.write("t.npy", npy("|u1", "(2, 2)", &[1, 2, 3, 4]));
    let command = format!(
        "{} run gather t.npy --at 1 --device cpu",
        env!("CARGO_BIN_EXE_wgpu-gather")
    );
    let Some((code, shown)) = crate::support::in_terminal(&folder.0, &command) else {
        return Completion::ignored_with("there is no program `script`");
    };
    assert!(
        code == 0 && shown.contains("[[3, 4]]") && shown.contains("1 row gathered"),
        "{code}: {shown}"
    );
    Completion::Completed
}

/// Arrays that cannot be printed give an error soon, and no file.
pub fn endless_arrays_are_not_printed() {
    let folder = Folder::new("endless");
    let dims = "10, ".repeat(18);
    folder.write("t.npy", npy("|V0", &format!("({dims})"), &[]));
    for option in ["--print", "--json --print"] {
        let command = format!("gather t.npy --at 0 -o out.npy --device cpu {option}");
        let ran = folder.run(&command);
        assert!(
            ran.code == 1 && !folder.0.join("out.npy").exists(),
            "{ran:?}"
        );
    }
    let header =
        "{'descr': [('a', '|V0', (4000000000,))], 'fortran_order': False, 'shape': (3,), }";
    folder.write(
        "t.npy",
        crate::support::file(1, &format!("{header:<117}\n"), &[]),
    );
    folder.refuses(
        "gather t.npy --at 0",
        "t.npy: 4000000000 elements without bytes are not supported",
    );
    folder.write("t.npy", npy("|V18446744073709551615", "(4, 0)", &[]));
    folder.gathers("gather t.npy --at 1", "|V18446744073709551615 [1, 0]");
}

/// An array without dims is its element.
pub fn an_array_without_dims_is_its_element() {
    let folder = Folder::new("alone");
    folder.write("at.npy", npy("<i4", "()", &[0; 4]));
    folder.write("t.npy", npy("<f4", "(1,)", &3_f32.to_le_bytes()));
    let ran = folder.run("gather t.npy at.npy --print --quiet --device cpu");
    assert_eq!(ran.stdout, "3.0\n");
    let ran = folder.run("gather t.npy at.npy --json --device cpu");
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(document["values"], 3.0);
}
