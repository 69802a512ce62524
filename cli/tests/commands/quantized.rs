//! `wgpu-gather run` on quantised tables, whose scales and zero points are arrays of their own.

use testkit::quantized::Quantized;
use wgpu_gather::{Encoding, FloatKind};

use crate::archives::{STORED, npz, safetensors};
use crate::support::{Folder, assert_usage, lines, npy, numbers};

/// The shape of an array whose last dim fills it.
fn filled(leading: &[usize], bytes: usize) -> String {
    let last = bytes / leading.iter().product::<usize>();
    let dims = leading.iter().chain([&last]).map(usize::to_string);
    format!("({})", dims.collect::<Vec<_>>().join(", "))
}

/// The recorded gathers of ONNX Runtime with uint8 values, from members of a .npz file.
pub fn npz_members_are_decoded(device: &str) {
    let folder = Folder::new(&format!("quantized-{device}"));
    let all = Quantized::all().into_iter();
    let cases: Vec<_> = all.filter(|case| case.json.contains("\"uint8\"")).collect();
    assert!(cases.len() > 90);
    for case in cases.iter().step_by(if device == "cpu" { 1 } else { 9 }) {
        let Encoding::BlockQuantized(of) = case.encoding else {
            panic!("all are quantised");
        };
        let shape = case.plan.params_shape();
        let leading = &shape[..shape.len() - 1];
        let [scales, zero_points] = &case.qparams;
        let (descr, width) = match of.scale_kind() {
            FloatKind::F32 => ("<f4", 4),
            _ => ("<f2", 2),
        };
        let scales_npy = npy(descr, &filled(leading, scales.len() / width), scales);
        let ids = npy(
            "<i8",
            &filled(&[2], 4),
            &numbers(&case.indices, i64::to_le_bytes),
        );
        let mut members = vec![
            (
                "data.npy",
                npy("|u1", &filled(leading, case.params.len()), &case.params),
            ),
            ("scales.npy", scales_npy),
            ("ids.npy", ids),
        ];
        let mut options = format!("--bits {} --block-size {}", of.bits(), of.block_len());
        if !zero_points.is_empty() {
            options += " --zero-points t.npz:zp";
            let shape = filled(leading, zero_points.len());
            members.push(("zp.npy", npy("|u1", &shape, zero_points)));
        }
        options += match of.scale_kind() {
            // NumPy has no dtype of bfloat16.
            FloatKind::Bf16 => {
                let dims = filled(leading, scales.len() / 2).replace(['(', ')'], "");
                let header = format!(
                    r#"{{"scales":{{"dtype":"BF16","shape":[{dims}],"data_offsets":[0,{}]}}}}"#,
                    scales.len()
                );
                folder.write("s.safetensors", safetensors(&header, scales));
                " --scales s.safetensors:scales"
            }
            _ => " --scales t.npz:scales",
        };
        folder.write("t.npz", npz(STORED, &members));
        let command = format!(
            "gather t.npz:data t.npz:ids -o out.npy --from-end --bad-indices fill --device {device} {options}"
        );
        let output = case.plan.output_shape();
        folder.gathers(&command, &format!("float32 {output:?}"));
        let file = folder.read("out.npy");
        let (values, _) = file[128..].as_chunks();
        let values: Vec<_> = values
            .iter()
            .map(|&value| f32::from_le_bytes(value))
            .collect();
        case.check(&values);
        // The operator's output has the scales' type.
        let scales = of.scale_kind();
        let dtype = match scales {
            FloatKind::F32 => "float32",
            FloatKind::F16 => "float16",
            _ => "BF16",
        };
        let command = format!("{command} --to {scales}");
        folder.gathers(&command, &format!("{dtype} {output:?}"));
        case.check_bytes(&folder.read("out.npy")[128..]);
    }
}

/// Operands and options of gathers, and their errors.
const WRONG_TABLES: &str = "
t.npy ids.npy --scales f8.npy | f8.npy: scales must be float32, float16 or BF16, found float64
i2.npy ids.npy --scales s.npy | i2.npy: quantised values must be uint8, found int16
i2.npy ids.npy --row-wise 8 | i2.npy: quantised values must be uint8, found int16
t.npy ids.npy --scales s.npy | --block-size is missing: rows of 32 values and 2 scales have blocks of 16
t.npy ids.npy --scales s.npy --block-size 32 | scales must have 8 bytes, found 16
t.npy ids.npy --scales s.npy --block-size 16 --zero-points i2.npy | i2.npy: quantised values must be uint8, found int16
t.npy ids.npy --scales s.npy --block-size 16 --zero-points t.npy | zero points must have 2 bytes, found 32
t.npy ids.npy --scales s.npy --bits 3 | quantised values must have 2, 4 or 8 bits, found 3
t.npy ids.npy --scales s.npy --block-size 100 | quantised blocks must have 16, 32, 64, 128 or 256 values, found 100
t.npy ids.npy --row-wise 4 --axis 1 | slices must be whole blocks of ROW_WISE_4, of 24 values each, found 1
";

pub fn wrong_tables_are_refused() {
    let folder = Folder::new("quantized-wrong");
    folder.i32("ids.npy", "(1,)", &[1]);
    folder.write("t.npy", npy("|u1", "(2, 16)", &[7; 32]));
    folder.write("s.npy", npy("<f4", "(2, 2)", &[0; 16]));
    folder.write("f8.npy", npy("<f8", "(2, 2)", &[0; 32]));
    folder.write("i2.npy", npy("<i2", "(2, 8)", &[0; 32]));
    for (options, error) in lines(WRONG_TABLES) {
        folder.refuses(&format!("gather {options}"), error);
    }
    for options in [
        "--bits 4",
        "--zero-points t.npy",
        "--row-wise 8 --scales s.npy",
        "--row-wise 8 --zero-points t.npy",
        "--row-wise 8 --bits 4",
        "--row-wise 8 --block-size 16",
    ] {
        let ran = folder.run(&format!("gather t.npy ids.npy -o out.npy {options}"));
        assert_eq!(ran.code, 2, "{options}: {}", ran.stderr);
    }
    for bits in ["5", "9", "-4", "four"] {
        let ran = folder.run(&format!(
            "gather t.npy ids.npy -o out.npy --row-wise={bits}"
        ));
        let error = format!("invalid value '{bits}' for '--row-wise <BITS>': it must be 8 or 4");
        assert_usage(&ran, &error);
    }
}
