//! `wgpu-gather` on tensors of floats smaller than a byte, and on MXFP4 as .safetensors files have it.

use testkit::ran::Ran;

use crate::archives::safetensors;
use crate::support::{Folder, npy, wgpu_gather};

/// The file with one tensor of zeros and ascending bytes, and those bytes.
fn tensor(dtype: &str, shape: &str, bytes: usize) -> (Vec<u8>, Vec<u8>) {
    let header =
        format!(r#"{{"t":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[0,{bytes}]}}}}"#);
    let data: Vec<u8> = (0..=250).cycle().take(bytes).collect();
    (safetensors(&header, &data), data)
}

/// Few and most of the rows, which are read alone or with all others.
pub fn small_floats_are_gathered_as_bytes() {
    let folder = Folder::new("packed");
    for (dtype, row_len, row_bytes) in [("F4", 6, 3), ("F6_E2M3", 8, 6), ("F6_E3M2", 4, 3)] {
        let (file, data) = tensor(dtype, &format!("[100,2,{row_len}]"), 200 * row_bytes);
        folder.write("t.safetensors", file);
        let mut info = wgpu_gather();
        let info = info.current_dir(&folder.0).args(["info", "t.safetensors"]);
        let listed = Ran::new(info).stdout;
        let line = format!("{dtype}    [100, 2, {row_len}]    {}", 200 * row_bytes);
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&listed).contains(&words(&line)), "{listed}");
        for count in [2, 80] {
            let ids: Vec<usize> = (0..count).map(|n| n * 37 % 100).collect();
            let text: Vec<String> = ids.iter().map(usize::to_string).collect();
            let rows = ids
                .iter()
                .map(|id| &data[id * 2 * row_bytes..][..2 * row_bytes]);
            let shape = format!("({count}, 2, {row_bytes})");
            folder.makes(
                &format!("gather t.safetensors:t --at {}", text.join(",")),
                &format!("uint8 [{count}, 2, {row_bytes}]"),
                &npy("|u1", &shape, &rows.collect::<Vec<_>>().concat()),
            );
        }
        // A row of the second dim.
        folder.makes(
            "gather_nd t.safetensors:t --at 99,-1 --from-end",
            &format!("uint8 [1, {row_bytes}]"),
            &npy(
                "|u1",
                &format!("(1, {row_bytes})"),
                &data[data.len() - row_bytes..],
            ),
        );
        let block_len = if dtype == "F4" { 2 } else { 4 };
        let cut =
            format!("slices must be whole blocks of {dtype}, of {block_len} values each, found 1");
        for command in [
            "gather t.safetensors:t --at 0 --axis 2",
            "gather_nd t.safetensors:t --at 0,0,0",
        ] {
            folder.refuses(command, &cut);
        }
        for (option, error) in [
            (
                "--bad-indices fill --fill 7",
                format!(
                    "--fill is for bool, integers, BF16, float16, float32 and float64, found {dtype}"
                ),
            ),
            (
                "--as u1",
                format!("t.safetensors:t: {dtype} is not read as uint8: the file says its type"),
            ),
        ] {
            folder.refuses(&format!("gather t.safetensors:t --at 0 {option}"), &error);
        }
        let ran = folder.run("gather t.safetensors:t --at 0 --decode -o out.npy --device cpu");
        let error = format!("error: t.safetensors:t: {dtype} is not decoded, only F32");
        assert!(ran.code == 1 && ran.stderr.starts_with(&error), "{ran:?}");
    }
    let (file, data) = tensor("F8_E8M0", "[3,2]", 6);
    folder.write("t.safetensors", file);
    folder.makes(
        "gather t.safetensors:t --at 2",
        "F8_E8M0 [1, 2]",
        &npy("|V1", "(1, 2)", &data[4..]),
    );
}

/// Blocks of 32 values in 16 bytes, and a scale for each in another tensor.
pub fn mxfp4_in_two_tensors_is_refused() {
    let folder = Folder::new("mxfp4");
    let data: Vec<u8> = (0..=250).cycle().take(5 * 3 * 16).collect();
    let scales = vec![127; 15];
    let header = r#"{"w_blocks":{"dtype":"U8","shape":[5,3,16],"data_offsets":[0,240]},
        "w_scales":{"dtype":"SCALES","shape":[5,3],"data_offsets":[240,255]}}"#;
    let refused = "MXFP4 with blocks and scales in two tensors, as in gpt-oss, is not decoded: \
                   gather the bytes of each tensor in a run of its own";
    for dtype in ["U8", "F8_E8M0"] {
        let header = header.replace("SCALES", dtype);
        let file = safetensors(&header, &[&data[..], &scales].concat());
        folder.write("m.safetensors", file);
        folder.refuses(
            "gather m.safetensors:w_blocks --at 0 --as mxfp4",
            &format!("m.safetensors:w_blocks: {refused}"),
        );
    }
    folder.makes(
        "gather m.safetensors:w_blocks --at 4",
        "uint8 [1, 3, 16]",
        &npy("|u1", "(1, 3, 16)", &data[192..]),
    );
}
