//! `wgpu-gather run --to`: plain floats that are cast, and fills of the type that comes out.

use crate::archives::safetensors;
use crate::support::{Folder, assert_usage, lines, npy, numbers};

fn f32s(values: &[f32]) -> Vec<u8> {
    numbers(values, f32::to_le_bytes)
}

fn halves(values: &[u16]) -> Vec<u8> {
    numbers(values, u16::to_le_bytes)
}

/// Each type to each, in both byte orders. Where both are equal, a NaN keeps its payload.
pub fn plain_floats_are_cast() {
    let folder = Folder::new("cast");
    let odd_nan = f32::from_bits(0xffa1_2345);
    let values = [1.0, 65_519.0, 65_520.0, 1e-8, -0.0, odd_nan];
    let of_f16 = [0x3c00, 0x7bff, 0x7c00, 0, 0x8000, 0x7e00];
    let of_bf16 = [0x3f80, 0x4780, 0x4780, 0x322c, 0x8000, 0x7fc0];
    // 1, -2 and a NaN.
    let (f16, bf16) = ([0x3c00, 0xc000, 0x7d01], [0x3f80, 0xc000, 0xffa1]);
    let big = |halves: &[u16]| numbers(halves, u16::to_be_bytes);
    let tensor = |dtype: &str, bytes: &[u8]| {
        let header = format!(
            r#"{{"t":{{"dtype":"{dtype}","shape":[1,3],"data_offsets":[0,{}]}}}}"#,
            bytes.len()
        );
        safetensors(&header, bytes)
    };
    folder.write("f4.npy", npy("<f4", "(1, 6)", &f32s(&values)));
    folder.write(
        "big4.npy",
        npy(">f4", "(1, 6)", &numbers(&values, f32::to_be_bytes)),
    );
    folder.write("f2.npy", npy("<f2", "(1, 3)", &halves(&f16)));
    folder.write("big2.npy", npy(">f2", "(1, 3)", &big(&f16)));
    folder.write("bf16.npy", npy("<V2", "(1, 3)", &halves(&bf16)));
    folder.write("f16.safetensors", tensor("F16", &halves(&f16)));
    folder.write("bf16.safetensors", tensor("BF16", &halves(&bf16)));
    folder.write(
        "f32.safetensors",
        tensor("F32", &f32s(&[1.0, -2.0, odd_nan])),
    );
    let rounded = |nan: u16, values: [u16; 3]| halves(&[values[0], values[1], nan]);
    let widened = |nan: u32| f32s(&[1.0, -2.0, f32::from_bits(nan)]);
    for (command, dtype, bytes) in [
        ("f4.npy --to f16", "float16", halves(&of_f16)),
        ("f4.npy --to bf16", "BF16", halves(&of_bf16)),
        ("big4.npy --to f16", "float16", halves(&of_f16)),
        ("big4.npy --to f32", "float32", f32s(&values)),
        ("f4.npy --to f32", "float32", f32s(&values)),
        ("f4.npy --decode", "float32", f32s(&values)),
        ("f4.npy", "float32", f32s(&values)),
        ("f2.npy --to f16", "float16", halves(&f16)),
        ("big2.npy --to f16", "float16", halves(&f16)),
        ("big2.npy --to bf16", "BF16", rounded(0x7fc0, bf16)),
        (
            "bf16.npy --as bf16 --to f16",
            "float16",
            rounded(0x7e00, f16),
        ),
        ("f16.safetensors:t --to bf16", "BF16", rounded(0x7fc0, bf16)),
        (
            "bf16.safetensors:t --to f16",
            "float16",
            rounded(0x7e00, f16),
        ),
        ("bf16.safetensors:t --to bf16", "BF16", halves(&bf16)),
        (
            "bf16.safetensors:t --decode --to f32",
            "float32",
            widened(0xffa1_0000),
        ),
        (
            "f32.safetensors:t --to f16",
            "float16",
            rounded(0x7e00, f16),
        ),
    ] {
        let len = if dtype == "float32" {
            bytes.len() / 4
        } else {
            bytes.len() / 2
        };
        let descr = match dtype {
            "float32" => "<f4",
            "float16" => "<f2",
            _ => "<V2",
        };
        let expected = npy(descr, &format!("(1, {len})"), &bytes);
        folder.makes(
            &format!("gather {command} --at 0"),
            &format!("{dtype} [1, {len}]"),
            &expected,
        );
    }
    // Single values, which start and end within a word of a GPU's output.
    let single = npy("<f2", "(3,)", &halves(&[0x7c00, 0x3c00, 0x8000]));
    let command = "gather_nd f4.npy --at 0,2 --at 0,0 --at 0,4 --to f16";
    folder.makes(command, "float16 [3]", &single);
    folder.refuses(
        "gather_elements f4.npy --axis 1 --at 2,0,4 --to f16",
        "gather_elements must not have params of F32, in blocks of 1: its slices have 1",
    );
    let ran = folder.run("gather f4.npy --at 0 --to bf16 --print --quiet --device cpu");
    assert_eq!(
        ran.stdout,
        "[[         1.0,      65536.0,      65536.0, 1.0011718e-8,         -0.0,          NaN]]\n"
    );
    let ran = folder.run("gather f4.npy --at 0 --to f64 -o out.npy");
    assert_usage(&ran, "invalid value 'f64' for '--to <TYPE>'");
}

/// Options, and the fill, the output's dtype, its code, and its bytes. The last table is not decoded.
const FILLS: &str = "
f4.npy --to f16 | -1.5 float16 <f2 00 40 00 be
f4.npy --to f16 | 65519 float16 <f2 00 40 ff 7b
f4.npy --to f16 | -inf float16 <f2 00 40 00 fc
f4.npy --to bf16 | 1.01 BF16 <V2 00 40 81 3f
f4.npy --to bf16 | nan BF16 <V2 00 40 c0 7f
f2.npy | -1.5 >f2 >f2 40 00 be 00
";

/// Options, and a fill that the output's dtype does not have.
const WRONG_FILLS: &str = "
f4.npy --to f16 | 65520 float16
f4.npy --to bf16 | 3.4e38 BF16
f4.npy --to bf16 | 1e39 BF16
f4.npy --to f16 | one float16
";

pub fn fills_are_of_the_output() {
    let folder = Folder::new("fills-to");
    folder.write("f4.npy", npy("<f4", "(2, 1)", &f32s(&[1.0, 2.0])));
    folder.write("f2.npy", npy(">f2", "(2, 1)", &[0x3c, 0, 0x40, 0]));
    let command =
        |file: &str, fill: &str| format!("gather {file} --at 1,9 --bad-indices fill --fill {fill}");
    for (options, words) in lines(FILLS) {
        let words: Vec<&str> = words.split(' ').collect();
        let bytes = words[3..].iter();
        let bytes: Vec<u8> = bytes
            .map(|byte| u8::from_str_radix(byte, 16).unwrap())
            .collect();
        folder.makes(
            &command(options, words[0]),
            &format!("{} [2, 1]", words[1]),
            &npy(words[2], "(2, 1)", &bytes),
        );
    }
    for (options, words) in lines(WRONG_FILLS) {
        let (fill, dtype) = words.split_once(' ').unwrap();
        let error = format!("--fill {fill} is no {dtype}");
        folder.refuses(&command(options, fill), &error);
    }
}
