//! `wgpu-gather` on .gguf files, good and hostile.

use std::fs;

use testkit::encoded::Recorded;
use testkit::ran::Ran;
use wgpu_gather::{Encoding, FloatKind};

use crate::archives::safetensors;
use crate::support::{Folder, npy, numbers, wgpu_gather};

/// Tensors of each encoding, by gguf-py: the first rows of the recorded ones.
const MODEL: &[u8] = include_bytes!("../../../tests/data/encoded/model.gguf");
const IDS: [i32; 4] = [2, 0, 7, 2];

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("model.gguf", MODEL.to_vec());
    folder.i32("ids.npy", "(4,)", &IDS);
    folder
}

/// Asserts that out.npy holds halves: gguf-py's values, rounded.
fn check_halves(folder: &Folder, encoding: Encoding, to: FloatKind) {
    let recorded = Recorded::of(encoding);
    let descr = if to == FloatKind::F16 { "<f2" } else { "<V2" };
    let header = npy(descr, &format!("(4, {})", recorded.shape[1]), &[]);
    let output = folder.read("out.npy");
    assert_eq!(output[..header.len()], header, "{encoding}");
    recorded.check_halves(to, &IDS, &output[header.len()..]);
}

/// Compares the rows in out.npy with those that gguf-py decodes.
fn check(folder: &Folder, encoding: Encoding) {
    let recorded = Recorded::of(encoding);
    let row_len = recorded.shape[1];
    let header = npy("<f4", &format!("(4, {row_len})"), &[]);
    let output = folder.read("out.npy");
    assert_eq!(output[..header.len()], header, "{encoding}");
    let (values, _) = output[header.len()..].as_chunks();
    let values: Vec<f32> = values
        .iter()
        .map(|&value| f32::from_le_bytes(value))
        .collect();
    recorded.check(&IDS, &values);
}

/// Gathers rows of each encoding, from GGUF or else from safetensors or .npy.
pub fn rows_are_decoded(device: &str) {
    let folder = folder(&format!("gguf-{device}"));
    let halves = [FloatKind::F16, FloatKind::Bf16].into_iter().cycle();
    for (&encoding, to) in Encoding::ALL.iter().zip(halves) {
        let recorded = Recorded::of(encoding);
        let [rows, row_len] = recorded.shape;
        let (source, decode) = match encoding {
            Encoding::F8E4M3 | Encoding::F8E5M2 => {
                let end = recorded.rows.len();
                let header = format!(
                    r#"{{"{encoding}":{{"dtype":"{encoding}","shape":[{rows},{row_len}],"data_offsets":[0,{end}]}}}}"#
                );
                folder.write("f.safetensors", safetensors(&header, &recorded.rows));
                (format!("f.safetensors:{encoding}"), "--decode")
            }
            Encoding::F32 => {
                let shape = format!("({rows}, {row_len})");
                folder.write("rows.npy", npy("<f4", &shape, &recorded.rows));
                ("rows.npy".to_owned(), "")
            }
            Encoding::F16 | Encoding::Bf16 => (format!("model.gguf:{encoding}"), "--decode"),
            // No file names these.
            Encoding::RowWise8 | Encoding::RowWise4 => continue,
            _ => (format!("model.gguf:{encoding}"), ""),
        };
        let command = format!("gather {source} ids.npy -o out.npy --device {device} {decode}");
        folder.gathers(&command, &format!("float32 [4, {row_len}]"));
        check(&folder, encoding);
        let dtype = if to == FloatKind::F16 {
            "float16"
        } else {
            "BF16"
        };
        let command = format!("{command} --to {to}");
        folder.gathers(&command, &format!("{dtype} [4, {row_len}]"));
        check_halves(&folder, encoding, to);
    }
    let command =
        format!("gather model.gguf:F32 ids.npy --bad-indices clamp -o out.npy --device {device}");
    let values: Vec<f32> = [2, 0, 3, 2]
        .into_iter()
        .flat_map(|row| (0..6).map(move |at| (6 * row + at) as f32))
        .collect();
    folder.makes(
        &command,
        "float32 [4, 3, 2]",
        &npy("<f4", "(4, 3, 2)", &numbers(&values, f32::to_le_bytes)),
    );
}

pub fn info_lists_tensors() {
    let folder = folder("gguf-info");
    let ran =
        Ran::new(
            wgpu_gather()
                .current_dir(&folder.0)
                .args(["info", "model.gguf", "ids.npy"]),
        );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let lines: Vec<String> = ran
        .stdout
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert!(
        lines.contains(&"model.gguf Q4_K Q4_K [8, 256] 1152".to_owned()),
        "{lines:?}"
    );
    assert!(
        lines.contains(&"model.gguf F32 float32 [4, 3, 2] 96".to_owned()),
        "{lines:?}"
    );
    assert!(
        lines.contains(&"ids.npy - int32 [4] 16".to_owned()),
        "{lines:?}"
    );
    // All but two floats of 8 bits and two row-wise encodings, which GGUF does not have.
    let tensors = Encoding::ALL.len() - 4;
    assert_eq!(lines.len(), 1 + tensors + 1);
}

/// A file that is cut off before the last byte of its last tensor.
pub fn cut_files_are_refused() {
    let folder = folder("gguf-cut");
    let last = 96;
    // 64 is the alignment: the last tensor may have padding after it.
    let end = MODEL.len() - (64 - last % 64) % 64;
    for cut in 0..40 {
        let len = (end - 1) * cut / 39;
        folder.write("model.gguf", MODEL[..len].to_vec());
        let ran =
            folder.run("gather model.gguf:F32 ids.npy -o out.npy --bad-indices clamp --device cpu");
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (1, ""),
            "{len} of {end} bytes"
        );
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        assert!(!folder.0.join("out.npy").exists());
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 2);
    }
    folder.write("model.gguf", MODEL[..end].to_vec());
    let command = "gather model.gguf:F32 ids.npy -o out.npy --bad-indices clamp --device cpu";
    folder.gathers(command, "float32 [4, 3, 2]");
}

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

/// A file with these pairs of metadata and descriptions of tensors, each counted as one, and 64 bytes of data.
fn gguf(pairs: &[Vec<u8>], tensors: &[Vec<u8>]) -> Vec<u8> {
    let counts = [tensors.len() as u64, pairs.len() as u64];
    let head = [
        &b"GGUF"[..],
        &3_u32.to_le_bytes(),
        &numbers(&counts, u64::to_le_bytes),
    ]
    .concat();
    let mut file = [head, pairs.concat(), tensors.concat()].concat();
    file.resize(file.len().next_multiple_of(32) + 64, 1);
    file
}

fn tensor(dims: &[u64], kind: u32, offset: u64) -> Vec<u8> {
    let rank = u32::try_from(dims.len()).unwrap();
    [
        string("t"),
        rank.to_le_bytes().to_vec(),
        numbers(dims, u64::to_le_bytes),
        kind.to_le_bytes().to_vec(),
        offset.to_le_bytes().to_vec(),
    ]
    .concat()
}

fn pair(key: &str, kind: u32, value: &[u8]) -> Vec<u8> {
    [&string(key), &kind.to_le_bytes()[..], value].concat()
}

pub fn hostile_gguf_is_refused() {
    let folder = folder("gguf-hostile");
    let ends = "the file ends within its header";
    let of_key = "metadata \"k\": the file ends within its header";
    let alignment = |kind, value: &[u8]| pair("general.alignment", kind, value);
    let nested = [&9_u32.to_le_bytes()[..], &1_u64.to_le_bytes()].concat();
    let long = u64::MAX.to_le_bytes();
    let of_tensor = |dims: &[u64], kind, offset| gguf(&[], &[tensor(dims, kind, offset)]);
    let start = |version: u32, rest: &[u8]| [&b"GGUF"[..], &version.to_le_bytes(), rest].concat();
    let array = |kind: u32| [&kind.to_le_bytes()[..], &long].concat();
    for (bytes, error) in [
        (vec![], "not a .npy, .npz, .safetensors or .gguf file"),
        (
            b"GGML\x03\0\0\0".to_vec(),
            "not a .npy, .npz, .safetensors or .gguf file",
        ),
        (start(0, &[0; 16]), "format version 0 is not supported"),
        (start(1, &[0; 16]), "format version 1 is not supported"),
        (
            start(3 << 24, &[0; 16]),
            "big-endian files are not supported",
        ),
        (start(3, &[255; 16]), ends),
        (start(3, &[0; 16]), "no tensor \"t\", it has none"),
        (gguf(&[pair("k", 8, &long)], &[]), of_key),
        (gguf(&[pair("k", 9, &array(4))], &[]), of_key),
        (gguf(&[pair("k", 9, &array(8))], &[]), of_key),
        (
            gguf(&[pair("k", 9, &nested.repeat(80))], &[]),
            "metadata \"k\": at most 64 arrays may be in one another",
        ),
        (
            gguf(&[pair("k", 13, &[])], &[]),
            "metadata \"k\": type 13 is not supported",
        ),
        (
            gguf(&[alignment(4, &[0; 4])], &[]),
            "general.alignment must be a power of two, found 0",
        ),
        (
            gguf(&[alignment(10, &32_u64.to_le_bytes())], &[]),
            "general.alignment must be a uint32 (type 4), found type 10",
        ),
        (
            gguf(
                &[
                    alignment(4, &32_u32.to_le_bytes()),
                    alignment(4, &64_u32.to_le_bytes()),
                ],
                &[],
            ),
            "general.alignment must be given once, found 32 and 64",
        ),
        (
            of_tensor(&[1; 65], 0, 0),
            "tensor \"t\" must have at most 64 dims, found 65",
        ),
        (
            gguf(&[], &[tensor(&[1], 0, 0), tensor(&[2], 0, 32)]),
            "two tensors have the name \"t\"",
        ),
        (
            of_tensor(&[1], 41, 0),
            "tensor \"t\" has a type of number 41, which is not supported",
        ),
        (
            of_tensor(&[48, 2], 2, 0),
            "tensor \"t\" must have rows of whole blocks of Q4_0, of 32 values each, found 48",
        ),
        (
            of_tensor(&[1 << 32, 1 << 32], 0, 0),
            "the size of tensor \"t\" overflows",
        ),
        (
            of_tensor(&[1 << 32, 1 << 20], 0, 0),
            "the 18014398509481984 bytes of the tensor must end in the file of 160 bytes, but start at byte 96",
        ),
        (
            of_tensor(&[16], 0, 32),
            "the 64 bytes of the tensor must end in the file of 128 bytes, but start at byte 96",
        ),
        (
            of_tensor(&[16], 0, u64::MAX),
            "the 64 bytes of the tensor must end in the file of 128 bytes, but start at byte 18446744073709551679",
        ),
    ] {
        folder.write("bad.gguf", bytes);
        let error = format!("bad.gguf:t: {error}");
        folder.refuses("gather bad.gguf:t ids.npy", &error);
    }
    folder.write("iq2.gguf", of_tensor(&[0, 256], 16, 0));
    for (params, dtype, option) in [
        ("iq2.gguf:t", "IQ2_XXS", "--decode"),
        ("ids.npy", "int32", "--decode"),
        ("ids.npy", "int32", "--to f16"),
    ] {
        let ran = folder.run(&format!(
            "gather {params} ids.npy -o out.npy --device cpu {option}"
        ));
        let error = format!("{params}: {dtype} is not decoded, only F32, F16, BF16, ");
        assert!(
            ran.code == 1 && ran.stderr.contains(&error),
            "{}",
            ran.stderr
        );
    }
}
