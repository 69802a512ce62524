//! Rows on the terminal and in JSON, and indices on the command line.

use std::fs;
use std::path::Path;

#[cfg(target_os = "linux")]
use libtest_mimic::Completion;
use serde_json::{Value, json};
use testkit::ran::Ran;

use crate::support::{Folder, npy, numbers, wgpu_gather};

/// Arrays of all kinds of elements, and what NumPy prints of each; by tests/data/make.py.
pub fn rows_are_printed_as_numpy_does() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let printed = fs::read_to_string(data.join("printed.txt")).unwrap();
    let folder = Folder::new("printed");
    folder.write("a.npz", fs::read(data.join("printed.npz")).unwrap());
    folder.write("all.npy", npy("|b1", "(2000,)", &[1; 2000]));
    for (number, expected) in printed.split("\u{c}\n").enumerate() {
        // Each row once: the mask has as many places.
        let info = Ran::new(wgpu_gather().current_dir(&folder.0).args([
            "info",
            "--json",
            &format!("a.npz:a{number}"),
        ]));
        let info: Value = serde_json::from_str(&info.stdout).unwrap();
        let rows = info["arrays"][0]["shape"][0].as_u64().unwrap();
        let rows = usize::try_from(rows).unwrap();
        folder.write("all.npy", npy("|b1", &format!("({rows},)"), &vec![1; rows]));
        let ran = folder.run(&format!(
            "gather a.npz:a{number} all.npy --print --quiet --device cpu"
        ));
        assert_eq!(
            (ran.stdout.as_str(), ran.stderr.as_str()),
            (expected, ""),
            "{number}"
        );
    }
}

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
        ("gather t.npy --at 2,0", "[[6. 7. 8.]\n [0. 1. 2.]]\n"),
        (
            "gather t.npy --at 1 --at 3",
            "[[[ 3.  4.  5.]]\n\n [[ 9. 10. 11.]]]\n",
        ),
        ("gather t.npy --at=-1 --from-end", "[[ 9. 10. 11.]]\n"),
        (
            "gather t.npy --axis 1 --at 2",
            "[[ 2.]\n [ 5.]\n [ 8.]\n [11.]]\n",
        ),
        ("gather_nd t.npy --at 3,1 --at 0,2", "[10.  2.]\n"),
        ("gather-nd t.npy --at 3", "[[ 9. 10. 11.]]\n"),
        ("gather_elements t.npy --at 3,0,1", "[[9. 1. 5.]]\n"),
    ] {
        let ran = folder.run(&format!("{command} --print --quiet --device cpu"));
        assert_eq!(
            (ran.stdout.as_str(), ran.stderr.as_str()),
            (expected, ""),
            "{command}"
        );
    }
    folder.refuses(
        "gather t.npy --at 0,4 -o out.npy --device cpu",
        "--at: indices[1] = 4 is not in [0, 4)",
    );
    // The line goes to standard error, and with --json the rows are whole.
    let ran = folder.run("gather t.npy --at 1 --print --device cpu");
    assert_eq!(ran.stdout, "[[3. 4. 5.]]\n");
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

/// Elements that JSON has not are strings; structures are objects.
pub fn json_has_every_kind_of_element() {
    let folder = Folder::new("json-rows");
    let check = |file: Vec<u8>, expected: Value| {
        folder.write("t.npy", file);
        let ran = folder.run("gather t.npy --at 0,1 --json --device cpu");
        let document: Value = serde_json::from_str(&ran.stdout).expect(&ran.stderr);
        assert_eq!(document["values"], expected);
    };
    let floats = numbers(&[0.1_f32, f32::NAN], f32::to_le_bytes);
    check(npy("<f4", "(2,)", &floats), json!([0.1, "NaN"]));
    check(
        npy("<f2", "(2,)", &[0x66, 0x2e, 0, 0xfc]),
        json!([0.1, "-Infinity"]),
    );
    check(
        npy("<c8", "(2,)", &[0; 16]),
        json!([[0.0, 0.0], [0.0, 0.0]]),
    );
    check(npy("|b1", "(2,)", &[1, 0]), json!([true, false]));
    check(
        npy("<u8", "(2,)", &numbers(&[u64::MAX, 0], u64::to_le_bytes)),
        json!([u64::MAX, 0]),
    );
    check(npy("|S2", "(2,)", b"a\0bc"), json!(["a", "bc"]));
    let days = numbers(&[18_321, i64::MIN], i64::to_le_bytes);
    check(npy("<M8[D]", "(2,)", &days), json!(["2020-02-29", "NaT"]));
    check(npy("|V2", "(2,)", &[1, 2, 3, 255]), json!(["0102", "03ff"]));
    let header =
        "{'descr': [('a', '>i2'), ('b', '|u1', (2,))], 'fortran_order': False, 'shape': (2,), }";
    let file = crate::support::file(
        1,
        &format!("{header:<117}\n"),
        &[1, 0, 5, 6, 255, 255, 7, 8],
    );
    check(
        file,
        json!([{ "a": 256, "b": [5, 6] }, { "a": -1, "b": [7, 8] }]),
    );
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
        code == 0 && shown.contains("[[3 4]]") && shown.contains("1 row gathered"),
        "{code}: {shown}"
    );
    Completion::Completed
}

pub fn manual_pages_name_each_command() {
    let page = |command: &[&str]| {
        let ran = Ran::new(wgpu_gather().arg("man").args(command));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{command:?}");
        ran.stdout
    };
    let whole = page(&[]);
    for command in ["run", "info", "adapters", "doctor", "completions", "man"] {
        assert!(
            whole.contains(&format!("wgpu\\-gather\\-{command}(1)")),
            "{whole}"
        );
        let own = page(&[command]);
        assert!(
            own.contains(&format!("wgpu-gather-{command}"))
                || own.contains(&format!("wgpu\\-gather\\-{command}")),
            "{own}"
        );
    }
    assert_eq!(Ran::new(wgpu_gather().args(["man", "take"])).code, 2);
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
        "gather t.npy --at 0 -o out.npy --device cpu",
        "t.npy: 4000000000 elements without bytes are not supported",
    );
    folder.write("t.npy", npy("|V18446744073709551615", "(4, 0)", &[]));
    folder.gathers(
        "gather t.npy --at 1 -o out.npy --device cpu",
        "|V18446744073709551615 [1, 0]",
    );
}

/// An array without dims is printed as its element is.
pub fn single_elements_are_printed_alone() {
    let folder = Folder::new("alone");
    folder.write("at.npy", npy("<i4", "()", &[0; 4]));
    let check = |file: Vec<u8>, expected: &str| {
        folder.write("t.npy", file);
        let ran = folder.run("gather t.npy at.npy --print --quiet --device cpu");
        assert_eq!(ran.stdout, format!("{expected}\n"));
    };
    check(
        npy("<f8", "(1,)", &0.404_318_572_812_918_16_f64.to_le_bytes()),
        "0.40431857281291816",
    );
    check(npy("<f4", "(1,)", &3e6_f32.to_le_bytes()), "3e+06");
    check(npy("<f4", "(1,)", &3_f32.to_le_bytes()), "3.0");
    check(npy("|b1", "(1,)", &[1]), "True");
    check(npy("<U1", "(1,)", &u32::from('é').to_le_bytes()), "é");
    check(npy("<m8[D]", "(1,)", &(-7_i64).to_le_bytes()), "-7 days");
    check(npy("<M8[D]", "(1,)", &0_i64.to_le_bytes()), "1970-01-01");
    // A terminal would not show this character, and JSON has it.
    folder.write("t.npy", npy("<U1", "(1,)", &0x7f_u32.to_le_bytes()));
    let ran = folder.run("gather t.npy at.npy --json --device cpu");
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(document["values"], "\u{7f}");
}
