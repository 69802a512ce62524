//! `wgpu-gather run` on valid and hostile .npy files, and with valid and wrong arguments.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod devices;
#[cfg(unix)]
mod output;
mod refusals;
#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::process::ExitCode;

#[cfg(target_os = "linux")]
use libtest_mimic::Trial;
use support::{Folder, file, lines, npy, numbers};
use testkit::device::{
    self, Arguments, cpu_trial as cpu, gpu_trial, program_trial as gpu, trial_of,
};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data");

fn main() -> ExitCode {
    let trials = vec![
        cpu("digits_on_the_cpu", || digits("cpu")),
        gpu("digits_on_the_gpu", || digits("gpu")),
        cpu("every_dtype_on_the_cpu", || every_dtype("cpu")),
        gpu("every_dtype_on_the_gpu", || every_dtype("gpu")),
        cpu("attributes_on_the_cpu", || attributes("cpu")),
        gpu("attributes_on_the_gpu", || attributes("gpu")),
        trial_of(bad_index_on_the_cpu),
        gpu("bad_index_on_the_gpu", bad_index_on_the_gpu),
        trial_of(every_format_version_is_read),
        trial_of(refusals::hostile_files_are_refused),
        trial_of(refusals::files_that_do_not_fit_are_refused),
        trial_of(refusals::wrong_arguments_are_refused),
        trial_of(output_is_replaced_whole),
        #[cfg(unix)]
        cpu("output_goes_to_the_target_of_links", output::links),
        #[cfg(unix)]
        cpu("output_may_have_a_long_name", output::long_name),
        #[cfg(unix)]
        cpu(
            "output_has_the_permissions_of_the_umask",
            output::permissions,
        ),
        #[cfg(unix)]
        cpu("a_stopped_run_leaves_no_file", || output::stopped("TERM")),
        #[cfg(unix)]
        Trial::ignorable_test("an_interrupted_run_leaves_no_file", || {
            Ok(output::interrupted())
        }),
        #[cfg(unix)]
        cpu("a_pipe_is_refused", output::pipe),
        #[cfg(target_os = "linux")]
        cpu("little_memory_is_an_error", output::little_memory),
        trial_of(devices::npy_without_a_gpu),
        #[cfg(target_os = "linux")]
        Trial::ignorable_test("a_terminal_gets_no_array", || Ok(output::terminal())),
        gpu_trial("run_takes_the_adapter_of_the_name", |gpu| {
            let info = gpu.device().adapter_info();
            devices::takes_the_adapter(&info.name);
            // Another adapter may be the fastest, unless this one is of software: then no adapter is faster.
            if format!("{:?}", info.device_type) == "Cpu" {
                devices::auto_avoids(&info.name);
            }
            Ok(())
        }),
    ];
    device::run(&Arguments::from_args(), trials)
}

fn digits(device: &str) {
    let folder = Folder::new(&format!("digits-{device}"));
    let data = |name: &str| fs::read(format!("{DATA}/digits_{name}.npy")).unwrap();
    folder.write("images.npy", data("images_u8"));
    folder.write("indices.npy", data("indices_i32"));
    let command = format!("gather_nd images.npy indices.npy -o out.npy --device {device}");
    folder.makes(&command, "uint8 [30, 8, 8]", &data("expected_u8"));
}

/// Gathers elements of every dtype bit for bit: NaNs, negative zeros, booleans. Index types take turns.
fn every_dtype(device: &str) {
    let folder = Folder::new(&format!("dtypes-{device}"));
    let dtypes = [
        ("|b1", "bool", 1),
        ("|i1", "int8", 1),
        ("|u1", "uint8", 1),
        ("<i2", "int16", 2),
        ("<u2", "uint16", 2),
        ("<f2", "float16", 2),
        ("<i4", "int32", 4),
        ("<u4", "uint32", 4),
        ("<f4", "float32", 4),
        ("<i8", "int64", 8),
        ("<u8", "uint64", 8),
        ("<f8", "float64", 8),
        ("<c8", "complex64", 8),
        ("<c16", "complex128", 16),
    ];
    let indices = [
        ("<i4", numbers(&[2, 0], i32::to_le_bytes)),
        ("<i8", numbers(&[2, 0], i64::to_le_bytes)),
        ("<u4", numbers(&[2, 0], u32::to_le_bytes)),
        ("<u8", numbers(&[2, 0], u64::to_le_bytes)),
    ];
    for ((descr, name, width), (index_descr, indices)) in
        dtypes.into_iter().zip(indices.iter().cycle())
    {
        let params: Vec<u8> = if name == "bool" {
            vec![1, 0, 0, 0, 1, 1]
        } else {
            (0..=255).rev().take(6 * width).collect()
        };
        let row = |row: usize| &params[row * 2 * width..][..2 * width];
        let expected = npy(descr, "(2, 2)", &[row(2), row(0)].concat());
        folder.write("params.npy", npy(descr, "(3, 2)", &params));
        folder.write("indices.npy", npy(index_descr, "(2, 1)", indices));
        let command = format!("gather_nd params.npy indices.npy -o out.npy --device {device}");
        folder.makes(&command, &format!("{name} [2, 2]"), &expected);
    }
}

/// Gathers, and the shapes and elements of their outputs.
const ATTRIBUTES: &str = "
gather params.npy columns.npy --axis 1 | (2, 2): 3, 1, 6, 4
gather params.npy columns.npy --axis=-1 | (2, 2): 3, 1, 6, 4
gather params.npy last.npy --from-end | (3,): 4, 5, 6
gather params.npy batched.npy --batch-dims 1 | (2, 1): 2, 6
gather_nd params.npy batched.npy --batch-dims 1 | (2,): 2, 6
gather_nd params.npy cells.npy --from-end | (1,): 5
gather_nd params.npy cells.npy --bad-indices fill | (1,): 0
gather_nd params.npy cells.npy --bad-indices clamp | (1,): 2
gather_elements params.npy batched.npy --axis 1 | (2, 1): 2, 6
gather_elements params.npy first.npy | (1, 3): 4, 2, 6
";

fn attributes(device: &str) {
    let folder = Folder::new(&format!("attributes-{device}"));
    folder.write("params.npy", npy("|u1", "(2, 3)", &[1, 2, 3, 4, 5, 6]));
    folder.i32("last.npy", "()", &[-1]);
    folder.i32("columns.npy", "(2,)", &[2, 0]);
    folder.i32("batched.npy", "(2, 1)", &[1, 2]);
    folder.i32("cells.npy", "(1, 2)", &[-1, 1]);
    folder.i32("first.npy", "(1, 3)", &[1, 0, 1]);
    for (command, output) in lines(ATTRIBUTES) {
        let (shape, elements) = output.split_once(": ").unwrap();
        let elements: Vec<u8> = elements.split(", ").map(|of| of.parse().unwrap()).collect();
        let result = folder.run(&format!("{command} -o out.npy --device {device}"));
        assert_eq!(result.code, 0, "{command}: {}", result.stderr);
        assert_eq!(
            folder.read("out.npy"),
            npy("|u1", shape, &elements),
            "{command}"
        );
    }
}

const BAD_INDEX: &str = "indices.npy: indices[1,0] = [7] does not index into param shape [3]";

fn folder_with_bad_index(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("params.npy", npy("|u1", "(3,)", &[1, 2, 3]));
    folder.i32("indices.npy", "(2, 1, 1)", &[1, 7]);
    folder
}

fn bad_index_on_the_cpu() {
    let folder = folder_with_bad_index("bad-index-cpu");
    let command = "gather_nd params.npy indices.npy";
    folder.refuses(command, BAD_INDEX);
    folder.refuses(&format!("{command} --bad-indices error"), BAD_INDEX);
}

fn bad_index_on_the_gpu() {
    let folder = folder_with_bad_index("bad-index-gpu");
    let command = "gather_nd params.npy indices.npy -o out.npy --device";
    // The result is equal on every machine.
    folder.refuses(&format!("{command} gpu"), BAD_INDEX);
    folder.refuses(&format!("{command} auto"), BAD_INDEX);
    folder.makes(
        &format!("{command} gpu --bad-indices device-default"),
        "uint8 [2, 1]",
        &npy("|u1", "(2, 1)", &[2, 0]),
    );
}

fn every_format_version_is_read() {
    let folder = Folder::new("versions");
    folder.i32("indices.npy", "(1,)", &[1]);
    let header = "{\"shape\":(2 ,),'fortran_order' : False, 'descr': '<u2'}\n";
    for version in 1..=3 {
        folder.write("params.npy", file(version, header, &[1, 2, 3, 4]));
        folder.makes(
            "gather params.npy indices.npy",
            "uint16 [1]",
            &npy("<u2", "(1,)", &[3, 4]),
        );
    }
}

fn output_is_replaced_whole() {
    let folder = folder_with_bad_index("replace");
    folder.write("out.npy", b"old".to_vec());
    let command = "gather_nd params.npy indices.npy";
    folder.refuses(command, BAD_INDEX);
    folder.makes(
        &format!("{command} --bad-indices fill"),
        "uint8 [2, 1]",
        &npy("|u1", "(2, 1)", &[2, 0]),
    );
    assert_eq!(folder.files().len(), 3);
}
