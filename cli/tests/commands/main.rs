//! Tests every command of `wgpu-gather`. The test binary tests/npy covers `run` on .npy files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod archives;
mod damaged;
mod faults;
mod files;
mod gguf;
mod halves;
mod info;
mod json;
mod kinds;
mod packed;
mod rows;
mod selected;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "tests/npy uses the rest")]
mod support;
mod usage;

#[cfg(target_os = "linux")]
use std::path::Path;
use std::process::ExitCode;

#[cfg(target_os = "linux")]
use libtest_mimic::Trial;
use support::wgpu_gather;
use testkit::device::{
    self, Arguments, cpu_trial as cpu, gpu_trial, program_trial as gpu, trial_of,
};
use testkit::ran::{NO_GPU, Ran};

fn main() -> ExitCode {
    let mut trials = Vec::new();
    trials.extend([
        trial_of(help_teaches_each_command),
        trial_of(wrong_usage_exits_with_2),
        trial_of(archives::npz_members_are_gathered),
        trial_of(archives::tensors_are_gathered),
        trial_of(archives::hostile_npz_is_refused),
        trial_of(archives::hostile_safetensors_are_refused),
        cpu("encoded_rows_are_decoded", || gguf::rows_are_decoded("cpu")),
        gpu("encoded_rows_are_decoded_on_the_gpu", || {
            gguf::rows_are_decoded("gpu")
        }),
        trial_of(halves::plain_floats_are_cast),
        trial_of(halves::fills_are_of_the_output),
        trial_of(selected::changed_files_give_an_error_or_the_right_rows),
        trial_of(selected::every_dtype_passes_through),
        trial_of(selected::fortran_order_is_read),
        trial_of(selected::views_are_read),
        trial_of(selected::masks_select_rows),
        trial_of(selected::fills_and_broadcasts),
        trial_of(rows::elements_of_each_kind_are_printed),
        trial_of(rows::long_arrays_are_shortened),
        trial_of(rows::indices_come_from_the_command_line),
        trial_of(rows::endless_arrays_are_not_printed),
        trial_of(rows::an_array_without_dims_is_its_element),
        cpu("gguf_info_lists_tensors", gguf::info_lists_tensors),
        cpu("cut_gguf_files_are_refused", gguf::cut_files_are_refused),
        trial_of(gguf::hostile_gguf_is_refused),
        trial_of(faults::an_operation_needs_run),
        trial_of(faults::json_says_what_run_did),
        trial_of(faults::bad_indices_name_their_file),
        trial_of(faults::names_are_for_archives),
        trial_of(damaged::damaged_members_give_an_error_or_the_right_rows),
        trial_of(damaged::large_members_are_checked_if_asked),
        trial_of(kinds::other_kinds_are_named),
        trial_of(kinds::folders_are_no_files),
        trial_of(packed::small_floats_are_gathered_as_bytes),
        trial_of(packed::mxfp4_in_two_tensors_is_refused),
        trial_of(files::archives_of_all_sorts_are_read),
        trial_of(files::models_with_unknown_types_are_read),
        trial_of(files::tensors_beside_unknown_types_are_read),
        trial_of(files::odd_headers_are_read),
        trial_of(files::all_types_are_listed),
        trial_of(files::names_tell_no_format),
        trial_of(files::names_in_errors_are_whole),
        trial_of(usage::usage_errors_are_json),
        trial_of(usage::two_arrays_from_standard_input_are_refused),
        trial_of(usage::an_output_that_is_an_input_is_refused),
        trial_of(usage::unknown_back_ends_are_named),
        trial_of(usage::run_says_what_it_did),
        trial_of(faults::help_is_wrapped_once),
        trial_of(info::info_describes_arrays),
        trial_of(info::info_refuses_hostile_files),
        trial_of(colours_are_for_terminals),
        cpu("json_is_all_of_standard_output", json::without_a_gpu),
        gpu_trial("json_describes_the_adapter", |gpu| {
            json::of_the_adapter(&gpu.device().adapter_info().name);
            Ok(())
        }),
        trial_of(all_runs_without_a_gpu),
        trial_of(an_absent_adapter_is_an_error),
        gpu_trial("adapters_says_what_fits", |gpu| {
            let info = gpu.device().adapter_info();
            let text = succeeds(&["adapters"]);
            for part in [
                info.name.as_str(),
                "max_storage_buffer_binding_size",
                "fits ",
            ] {
                assert!(text.contains(part), "{part} is not in\n{text}");
            }
            Ok(())
        }),
        gpu_trial("doctor_passes", |gpu| {
            let info = gpu.device().adapter_info();
            let text = succeeds(&["doctor"]);
            let mut rows = text.lines().filter(|line| line.starts_with(&info.name));
            assert!(rows.next().is_some(), "no row of {}\n{text}", info.name);
            assert!(
                text.lines().skip(1).all(|row| row.ends_with(" 0")),
                "{text}"
            );
            Ok(())
        }),
    ]);
    #[cfg(unix)]
    trials.extend([
        trial_of(usage::a_closed_standard_output_is_an_error),
        trial_of(usage::streams_are_refused_by_their_start),
        trial_of(usage::ignored_signals_stay_ignored),
        trial_of(usage::private_outputs_stay_private),
        trial_of(faults::pipes_are_read_and_written),
        trial_of(faults::set_uid_is_not_copied),
        gpu("doctor_stops_cleanly", faults::doctor_stops_cleanly),
    ]);
    #[cfg(target_os = "linux")]
    trials.extend([
        trial_of(archives::archives_paths_need_not_be_utf8),
        trial_of(selected::large_tables_take_little_memory),
        Trial::ignorable_test("a_terminal_gets_rows", || Ok(rows::a_terminal_gets_rows())),
        trial_of(faults::unwritten_answers_are_errors),
        trial_of(faults::a_file_limit_leaves_no_partial),
        trial_of(faults::a_signal_after_the_output_is_late),
        trial_of(files::info_takes_little_memory),
        trial_of(usage::arguments_need_not_be_utf8),
        trial_of(usage::help_that_is_not_written_is_an_error),
        gpu("doctor_shows_progress", doctor_shows_progress),
    ]);
    device::run(&Arguments::from_args(), trials)
}

/// Runs the command, which must succeed, and returns its standard output.
#[track_caller]
fn succeeds(args: &[&str]) -> String {
    let result = Ran::new(wgpu_gather().args(args));
    assert_eq!(
        result.code, 0,
        "{args:?}: {}{}",
        result.stdout, result.stderr
    );
    result.stdout
}

fn help_teaches_each_command() {
    let help = succeeds(&["--help"]);
    for command in ["adapters", "run", "info", "doctor"] {
        assert!(help.contains(&format!("\n  {command} ")), "{help}");
        let own = succeeds(&[command, "--help"]);
        let example = own.lines().find(|line| {
            line.contains(&format!("wgpu-gather {command}")) && !line.starts_with("Usage")
        });
        assert!(example.is_some(), "no example in\n{own}");
    }
    assert!(help.contains("Exit status: 0 success, 1 "), "{help}");
}

fn wrong_usage_exits_with_2() {
    for args in [
        &[][..],
        &["take"],
        &["adapters", "all"],
        &["doctor", "--adapters", "a"],
        &["doctor", "--adapter"],
    ] {
        let result = Ran::new(wgpu_gather().args(args));
        assert_eq!((result.code, result.stdout.as_str()), (2, ""), "{args:?}");
    }
}

fn colours_are_for_terminals() {
    let stderr_of = |name: &str, value: &str, no_color: bool| {
        let mut command = wgpu_gather();
        command.args(["doctor", "--adapter", "nothing has this name"]);
        command.env_remove("NO_COLOR").env(name, value);
        if no_color {
            command.env("NO_COLOR", "1");
        }
        Ran::new(&mut command).stderr
    };
    assert!(!stderr_of("CLICOLOR", "1", false).contains('\x1b'));
    assert!(stderr_of("CLICOLOR_FORCE", "1", false).contains('\x1b'));
    assert!(!stderr_of("CLICOLOR_FORCE", "1", true).contains('\x1b'));
}

fn all_runs_without_a_gpu() {
    let stdout_of = |command: &str| {
        let mut run = wgpu_gather();
        run.arg(command)
            .envs([NO_GPU])
            .env_remove("WGPU_ADAPTER_NAME");
        let result = Ran::new(&mut run);
        // A progress bar is for terminals only, so stderr stays empty.
        assert_eq!((result.code, result.stderr.as_str()), (0, ""), "{command}");
        result.stdout
    };
    let adapters = stdout_of("adapters");
    assert_eq!(adapters, "no adapter found: gathers run on the CPU\n");
    assert_eq!(stdout_of("doctor"), "no adapter found\n");
}

#[cfg(target_os = "linux")]
fn doctor_shows_progress() {
    let command = format!("{} doctor > /dev/null", env!("CARGO_BIN_EXE_wgpu-gather"));
    // Not on a machine without the program `script`.
    if let Some((code, shown)) = support::in_terminal(Path::new("."), &command) {
        assert!(code == 0 && shown.contains('█'), "{shown}");
    }
}

fn an_absent_adapter_is_an_error() {
    let args = ["doctor", "--adapter", "nothing has this name"];
    let result = Ran::new(wgpu_gather().args(args).envs([NO_GPU]));
    let expected = "error: no GPU: none has \"nothing has this name\" in its name, found none\n";
    assert_eq!((result.code, result.stderr.as_str()), (1, expected));
}
