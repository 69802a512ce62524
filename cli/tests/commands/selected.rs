//! Of a large table only the selected rows are read: in little memory, in every order, and from files that change meanwhile.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::archives::safetensors;
use crate::support::{Folder, npy, numbers, wgpu_gather};

/// The table's rows that are not zeros, and the index rows: some twice, one of zeros.
const ROWS: [u64; 3] = [7, 500_000, (1 << 20) - 1];
const IDS: [i32; 5] = [500_000, 7, 3, (1 << 20) - 1, 7];

/// Makes a file of holes behind a header: 2^20 rows of `row_bytes` bytes, of which those in [`ROWS`] are `row` and their number.
fn sparse(folder: &Folder, name: &str, header: &[u8], row: &[u8]) {
    use std::io::{Seek, SeekFrom};

    let mut file = fs::File::create(folder.0.join(name)).unwrap();
    file.write_all(header).unwrap();
    let size = row.len() as u64;
    file.set_len(header.len() as u64 + (size << 20)).unwrap();
    for row_number in ROWS {
        let start = header.len() as u64 + row_number * size;
        file.seek(SeekFrom::Start(start)).unwrap();
        file.write_all(row).unwrap();
    }
}

/// Four rows of 4 GiB, in 50 MiB of address space.
#[cfg(target_os = "linux")]
pub fn large_tables_take_little_memory() {
    let folder = Folder::new("large");
    folder.i32("ids.npy", "(5,)", &IDS);
    let row: Vec<u8> = (0..1024_u32)
        .flat_map(|n| (n as f32).to_le_bytes())
        .collect();
    let header = npy("<f4", "(1048576, 1024)", &[]);
    sparse(&folder, "t.npy", &header, &row);
    let text = r#"{"t":{"dtype":"F32","shape":[1048576,1024],"data_offsets":[0,4294967296]}}"#;
    sparse(&folder, "t.safetensors", &safetensors(text, &[]), &row);
    // Of 1024 values in blocks of Q8_0: a scale of 1, and 32 bytes.
    let block: Vec<u8> = [0, 0x3c].into_iter().chain(0..32).collect();
    sparse(&folder, "t.gguf", &gguf_header(1024, 8), &block.repeat(32));
    let of_bytes = |name: &str| {
        let rows = IDS.map(
            |id| match (ROWS.contains(&u64::from(id.cast_unsigned())), name) {
                (false, _) => vec![0; 4096],
                (true, "t.gguf") => (0..1024_u32)
                    .flat_map(|n| ((n % 32) as f32).to_le_bytes())
                    .collect(),
                (true, _) => row.clone(),
            },
        );
        npy("<f4", "(5, 1024)", &rows.concat())
    };
    for (name, source) in [
        ("t.npy", "t.npy"),
        ("t.safetensors", "t.safetensors:t"),
        ("t.gguf", "t.gguf:t"),
    ] {
        let line = format!(
            "ulimit -v 51200; exec \"$0\" run gather {source} ids.npy -o out.npy --device cpu"
        );
        let ran = crate::faults::shell(&folder, &line);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{name}");
        assert!(folder.read("out.npy") == of_bytes(name), "{name}");
        fs::remove_file(folder.0.join(name)).unwrap();
    }
}

/// A header of one tensor "t" of 2^20 rows, whose data begins behind it.
fn gguf_header(row_len: u64, kind: u32) -> Vec<u8> {
    let mut header = [
        &b"GGUF\x03\0\0\0"[..],
        &1_u64.to_le_bytes(),
        &0_u64.to_le_bytes(),
    ]
    .concat();
    header.extend(1_u64.to_le_bytes());
    header.extend(b"t");
    header.extend(2_u32.to_le_bytes());
    header.extend(row_len.to_le_bytes());
    header.extend((1_u64 << 20).to_le_bytes());
    header.extend(kind.to_le_bytes());
    header.extend(0_u64.to_le_bytes());
    header.resize(header.len().next_multiple_of(32), 0);
    header
}

/// A file that is cut, grown or replaced while it is read: the old rows, of a new file its rows, or an error.
pub fn changed_files_give_an_error_or_the_right_rows() {
    let folder = Folder::new("changed");
    let (rows, row_len) = (4096, 64);
    let table = |value: u8| {
        npy(
            "|u1",
            &format!("({rows}, {row_len})"),
            &vec![value; rows * row_len],
        )
    };
    let ids: Vec<i32> = (0..900).map(|n| n * 977 % 4096).collect();
    folder.i32("ids.npy", "(900,)", &ids);
    let (mut errors, mut gathered) = (0, 0);
    for turn in 0..200_u64 {
        let path = folder.0.join("t.npy");
        folder.write("t.npy", table(1));
        folder.write("new.npy", table(2));
        let _ = fs::remove_file(folder.0.join("out.npy"));
        let mut run = wgpu_gather();
        run.current_dir(&folder.0)
            .args(["run", "gather", "t.npy", "ids.npy", "-o", "out.npy"]);
        let mut run = run
            .args(["--device", "cpu", "--quiet"])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_micros(turn * 37 % 6000));
        match turn % 3 {
            0 => fs::File::options()
                .write(true)
                .open(&path)
                .unwrap()
                .set_len(turn * 997)
                .unwrap(),
            1 => {
                let mut file = fs::File::options().append(true).open(&path).unwrap();
                file.write_all(&[3; 5000]).unwrap();
            }
            _ => fs::rename(folder.0.join("new.npy"), &path).unwrap(),
        }
        match run.wait().unwrap().code() {
            Some(1) => {
                assert!(!folder.0.join("out.npy").exists(), "{turn}");
                errors += 1;
            }
            code => {
                assert_eq!(code, Some(0), "{turn}");
                let out = folder.read("out.npy");
                let (_, values) = out.split_at(128);
                let first = values[0];
                assert!(
                    values.len() == 900 * row_len && (1..=2).contains(&first),
                    "{turn}"
                );
                assert!(
                    values.iter().all(|&value| value == first),
                    "{turn}: {first}"
                );
                gathered += 1;
            }
        }
    }
    assert!(
        errors > 0 && gathered > 0,
        "{errors} errors, {gathered} gathered"
    );
}

/// Elements of every fixed size, in both byte orders: their bytes and their dtype stay.
pub fn every_dtype_passes_through() {
    let folder = Folder::new("every-dtype");
    folder.i32("one.npy", "(1,)", &[9]);
    folder.i32("many.npy", "(9,)", &[9, 0, 9, 1, 2, 3, 4, 5, 9]);
    for (descr, size) in [
        ("'<U7'", 28),
        ("'>U3'", 12),
        ("'|S3'", 3),
        ("'<M8[25s]'", 8),
        ("'>m8[D]'", 8),
        ("'|V5'", 5),
        ("'>f8'", 8),
        ("'<f16'", 16),
        ("'|S0'", 0),
        ("[('id', '<i4'), ('box', '>f4', (2, 2)), ('é', '|u1')]", 21),
        (
            "[('x', [('y', '|u1'), ('', '|V3')]), (('title', 'n'), '<i2')]",
            6,
        ),
    ] {
        let data: Vec<u8> = (0..251).cycle().take(40 * size).collect();
        // NumPy writes these texts in Latin-1.
        let latin = |text: &str| -> Vec<u8> {
            let bytes = text.chars().map(u8::try_from);
            bytes.map(Result::unwrap).collect()
        };
        let text = |shape: &str| {
            format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}")
        };
        let header = latin(&format!("{}\n", text("(20, 2)")));
        let len = u16::try_from(header.len()).unwrap().to_le_bytes();
        let file = [&b"\x93NUMPY\x01\x00"[..], &len, &header, &data].concat();
        folder.write("t.npy", file);
        let row = |n: usize| data[n * 2 * size..][..2 * size].to_vec();
        for (ids, rows) in [
            ("one.npy", vec![9]),
            ("many.npy", vec![9, 0, 9, 1, 2, 3, 4, 5, 9]),
        ] {
            let ran = folder.run(&format!("gather t.npy {ids} -o out.npy --device cpu"));
            assert_eq!(ran.code, 0, "{descr}: {}", ran.stderr);
            let rows: Vec<Vec<u8>> = rows.into_iter().map(row).collect();
            let out = folder.read("out.npy");
            let (header, out_rows) = out.split_at(out.len() - rows.concat().len());
            let text = latin(&text(&format!("({}, 2)", rows.len())));
            assert!(
                header[10..].starts_with(&text) && header.len().is_multiple_of(64),
                "{descr} {ids}"
            );
            assert!(out_rows == rows.concat(), "{descr} {ids}");
        }
    }
}

/// The first dim is the innermost one in the file: rows are found element by element, or the table is turned.
pub fn fortran_order_is_read() {
    let folder = Folder::new("fortran");
    let columns: Vec<u16> = (0..5)
        .flat_map(|column| (0..200).map(move |row| row * 5 + column))
        .collect();
    let header = "{'descr': '<u2', 'fortran_order': True, 'shape': (200, 5), }";
    let data = numbers(&columns, u16::to_le_bytes);
    folder.write(
        "t.npy",
        crate::support::file(1, &format!("{header:<117}\n"), &data),
    );
    for count in [2_u16, 150] {
        let ids: Vec<u16> = (0..count).map(|n| n * 71 % 200).collect();
        folder.write(
            "ids.npy",
            npy(
                "<u2",
                &format!("({count},)"),
                &numbers(&ids, u16::to_le_bytes),
            ),
        );
        let command = "gather t.npy ids.npy";
        let rows: Vec<u16> = ids
            .iter()
            .flat_map(|row| (0..5).map(move |column| row * 5 + column))
            .collect();
        let expected = npy(
            "<u2",
            &format!("({count}, 5)"),
            &numbers(&rows, u16::to_le_bytes),
        );
        folder.makes(command, &format!("uint16 [{count}, 5]"), &expected);
    }
}

/// A file that cannot say what its bytes are is read as the option says.
pub fn views_are_read() {
    let folder = Folder::new("views");
    folder.i32("ids.npy", "(1,)", &[1]);
    let check = |file: Vec<u8>, options: &str, output: &str, expected: Vec<u8>| {
        folder.write("t.npy", file);
        let command = format!("gather t.npy ids.npy {options}");
        folder.makes(&command, output, &expected);
    };
    // 1 and -2 as bfloat16.
    let halves = [0x80, 0x3f, 0x00, 0xc0];
    let two = npy("<f4", "(1,)", &(-2_f32).to_le_bytes());
    check(
        npy("|V2", "(2,)", &halves),
        "--as bf16 --decode",
        "float32 [1]",
        two.clone(),
    );
    check(
        npy("<u2", "(2,)", &halves),
        "--as bfloat16 --decode",
        "float32 [1]",
        two.clone(),
    );
    check(
        npy("|V2", "(2,)", &halves),
        "--as BF16",
        "BF16 [1]",
        npy("<V2", "(1,)", &[0, 0xc0]),
    );
    check(
        npy("<f1", "(2,)", &[0x38, 0xc0]),
        "--as f8_e4m3 --decode",
        "float32 [1]",
        two.clone(),
    );
    // A big-endian float16 is decoded too.
    check(
        npy(">f2", "(2,)", &[0x3c, 0, 0xc0, 0]),
        "--decode",
        "float32 [1]",
        two,
    );
    check(
        npy("|u1", "(2, 4)", &[1, 0, 0, 0, 2, 0, 0, 0]),
        "--as int32",
        "int32 [1, 1]",
        npy("<i4", "(1, 1)", &[2, 0, 0, 0]),
    );
    let block: Vec<u8> = [0, 0x3c].into_iter().chain(0..32).collect();
    let values: Vec<f32> = (0_u8..32).map(f32::from).collect();
    let expected = npy("<f4", "(1, 32)", &numbers(&values, f32::to_le_bytes));
    check(
        npy("|u1", "(2, 34)", &block.repeat(2)),
        "--as q8_0",
        "float32 [1, 32]",
        expected,
    );
    folder.refuses(
        "gather t.npy ids.npy --as q4_k",
        "t.npy: uint8 of shape [2, 34] is not read as Q4_K: rows must be whole multiples of 144 bytes",
    );
}

/// The places at which a mask is true are the indices, for gather_nd by their coordinates.
pub fn masks_select_rows() {
    let folder = Folder::new("masks");
    folder.write("t.npy", npy("|u1", "(4,)", &[5, 6, 7, 8]));
    folder.write("mask.npy", npy("|b1", "(2, 2)", &[1, 0, 0, 1]));
    folder.write("m.npy", npy("|u1", "(2, 2)", &[1, 2, 3, 4]));
    folder.makes(
        "gather_nd m.npy mask.npy",
        "uint8 [2]",
        &npy("|u1", "(2,)", &[1, 4]),
    );
    folder.refuses(
        "gather_elements m.npy mask.npy",
        "mask.npy: gather_elements takes integers, found a mask",
    );
    folder.makes(
        "gather t.npy mask.npy",
        "uint8 [2]",
        &npy("|u1", "(2,)", &[5, 8]),
    );
}

/// A number in the slices of bad rows, of a small and a large table, and dims that repeat.
pub fn fills_and_broadcasts() {
    let folder = Folder::new("fills");
    for rows in [3_i16, 400] {
        let values: Vec<i16> = (0..rows * 2).collect();
        let table = npy(
            ">i2",
            &format!("({rows}, 2)"),
            &numbers(&values, i16::to_be_bytes),
        );
        folder.write("t.npy", table);
        let command = "gather t.npy --at 1,-1,2000 --bad-indices fill --fill -7";
        let expected = numbers(&[2, 3, -7, -7, -7, -7], i16::to_be_bytes);
        folder.makes(command, ">i2 [3, 2]", &npy(">i2", "(3, 2)", &expected));
    }
    folder.refuses(
        "gather t.npy --at 1 --bad-indices fill --fill 40000",
        "--fill 40000 is no >i2",
    );
    folder.write("m.npy", npy("|u1", "(2, 3)", &[1, 2, 3, 4, 5, 6]));
    folder.write("i.npy", npy("|u1", "(1, 2)", &[2, 0]));
    folder.makes(
        "gather-elements m.npy i.npy --axis 1 --broadcast",
        "uint8 [2, 2]",
        &npy("|u1", "(2, 2)", &[3, 1, 6, 4]),
    );
}
