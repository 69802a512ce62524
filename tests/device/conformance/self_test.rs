//! Tests of the checker: a line that passes must fail after an alteration, with a text about the alteration.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use testkit::conformance::check::check;
use testkit::conformance::executor::Device;
use testkit::conformance::line::Line;
use testkit::conformance::{BUILT_IN, cases};
use testkit::device::check_driver;
use testkit::device::gpu_trial;

struct Alteration {
    name: &'static str,
    /// Alters a line; `None` if the alteration does not apply to the line.
    alter: fn(&mut Value) -> Option<()>,
    /// Text that the failure must contain.
    complaint: &'static str,
}

static ALTERATIONS: [Alteration; 13] = [
    Alteration {
        name: "expected_byte",
        alter: |line| alter_first(&mut line["expect"]["data"]),
        complaint: "byte 0 of output",
    },
    Alteration {
        name: "expected_byte_count",
        alter: |line| append(&mut line["expect"]["data"], "00"),
        complaint: "byte count of output",
    },
    Alteration {
        name: "expected_zero",
        alter: |line| alter_first(line.get_mut("expect_zero")?.get_mut("data")?),
        complaint: "byte 0 of output",
    },
    Alteration {
        name: "expected_shape",
        alter: |line| {
            line["expect"]["shape"].as_array_mut()?.push(json!(1));
            Some(())
        },
        complaint: "output shape",
    },
    Alteration {
        name: "exact_text",
        alter: |line| {
            is_oob(line, true)?;
            alter_not(&mut line["expect"]["error"])
        },
        complaint: "TensorFlow's is",
    },
    Alteration {
        name: "text_of_several_bad_rows",
        alter: |line| {
            is_oob(line, false)?;
            alter_not(&mut line["expect"]["error"])
        },
        complaint: "names no bad row",
    },
    Alteration {
        name: "first_bad_row",
        alter: |line| {
            let row = line.get_mut("bad_rows")?.get_mut(0)?;
            *row = json!(row.as_u64()? + 1);
            Some(())
        },
        complaint: "first bad row",
    },
    Alteration {
        name: "bad_row_left_out",
        alter: |line| {
            let rows = line.get_mut("bad_rows")?.as_array_mut()?;
            let has_another = rows.len() > 1;
            has_another.then(|| rows.pop()).flatten().map(drop)
        },
        complaint: "bad row",
    },
    Alteration {
        name: "bad_rows_called_valid",
        alter: |line| {
            line["expect"] = line.get("expect_zero")?.clone();
            line["kind"] = json!("valid");
            Some(())
        },
        complaint: "expected an output",
    },
    Alteration {
        name: "valid_called_bad",
        alter: |line| {
            line["expect"]["data"].as_str()?;
            line["expect_zero"] = line["expect"].clone();
            line["expect"] = json!({"error": "bad", "exact": true});
            line["bad_rows"] = json!([0]);
            line["kind"] = json!("oob");
            Some(())
        },
        complaint: "expected the error bad",
    },
    Alteration {
        name: "error_kind",
        alter: |line| {
            is_planning_error(line)?;
            let kind = &mut line["expect"]["error_kind"];
            *kind = json!(if kind == "batch_mismatch" {
                "axis_range"
            } else {
                "batch_mismatch"
            });
            Some(())
        },
        complaint: "error_kind",
    },
    Alteration {
        name: "unknown_error_kind",
        alter: |line| {
            is_planning_error(line)?;
            append(&mut line["expect"]["error_kind"], "s")
        },
        complaint: "error_kind",
    },
    Alteration {
        name: "empty_params_text",
        alter: |line| {
            (line["expect"]["error_kind"] == "empty_params").then_some(())?;
            append(&mut line["expect"]["error"], ".")
        },
        complaint: "text is",
    },
];

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("self_test::what_is_no_line_is_a_failing_case", || {
            for path in ["no/such/file.jsonl", "."] {
                let path = std::path::Path::new(path);
                let cases = cases::read(path);
                if !matches!(cases.as_slice(), [case] if case.line.is_err()) {
                    return Err(format!("{} gives no failing case", path.display()).into());
                }
            }
            Ok(())
        }),
        Trial::test("self_test::odd_lines_do_not_parse", || Ok(odd_lines()?)),
        Trial::test("self_test::only_the_driver_that_is_named_will_do", || {
            Ok(other_drivers()?)
        }),
    ];
    for alteration in &ALTERATIONS {
        let name = alteration.name;
        trials.push(Trial::test(format!("cpu::self_test::{name}"), move || {
            Ok(try_alteration(alteration, Device::Cpu)?)
        }));
        trials.push(gpu_trial(format!("gpu::self_test::{name}"), move |gpu| {
            Ok(try_alteration(alteration, Device::Gpu(gpu))?)
        }));
    }
    trials
}

fn odd_lines() -> Result<(), String> {
    let line = r#"{"id": "", "kind": "valid", "op": "gather", "params_shape": [1], "params_dtype": "u64",
        "params": [18446744073709551615], "indices_shape": [1], "indices_dtype": "i32", "indices": [0],
        "axis": null, "batch_dims": 0, "expect": {"shape": [1], "data": "ffffffffffffffff"}}"#;
    check_line(&cases::parse(line)?, Device::Cpu)?;
    for (part, odd) in [
        ("valid", "odd"),
        ("gather", "scatter"),
        ("u64", "u65"),
        ("i32", "i33"),
        ("18446744073709551615", "18446744073709551616"),
        ("18446744073709551615", "-1"),
        ("[0]", "[2147483648]"),
        ("null", "\"0\""),
        ("batch_dims", "batch"),
        ("ffff\"", "fff\""),
        ("ffff\"", "ff+f\""),
        ("}}", "}"),
        (line, ""),
    ] {
        if cases::parse(&line.replacen(part, odd, 1)).is_ok() {
            return Err(format!("{odd} in place of {part} parses"));
        }
    }
    Ok(())
}

/// llvmpipe has one name on Vulkan and GL, so only the back end tells them apart.
fn other_drivers() -> Result<(), String> {
    use wgpu_gather::wgpu::{AdapterInfo, Backend, DeviceType};

    let mut found = AdapterInfo::new(DeviceType::Cpu, Backend::Vulkan);
    found.name = "llvmpipe (LLVM 15.0.6, 256 bits)".into();
    found.driver = "Mesa".into();
    for expected in ["vulkan/llvmpipe", "vulkan/LLVM 15", "vulkan/mesa"] {
        check_driver(expected, &found)?;
    }
    for other in [
        "gl/llvmpipe",
        "vulkan/softpipe",
        "vulkan/",
        "vulkan",
        "/llvmpipe",
        "",
    ] {
        if check_driver(other, &found).is_ok() {
            return Err(format!("{found:?} passes as {other:?}"));
        }
    }
    Ok(())
}

fn try_alteration(alteration: &Alteration, device: Device) -> Result<(), String> {
    let (_, text) = BUILT_IN[0];
    let mut applied = 0;
    for json in text.lines() {
        let line: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let mut altered = line.clone();
        if (alteration.alter)(&mut altered).is_none() {
            continue;
        }
        applied += 1;
        check_line(&Line::parse(&line)?, device)?;
        match check_line(&Line::parse(&altered)?, device) {
            Err(problem) if problem.contains(alteration.complaint) => {}
            result => {
                let complaint = alteration.complaint;
                return Err(format!("{result:?}, expected {complaint:?} of {altered}"));
            }
        }
    }
    if applied == 0 {
        return Err("applies to no line".into());
    }
    Ok(())
}

fn check_line(line: &Line, device: Device) -> Result<(), String> {
    pollster::block_on(check(line, device))
}

fn is_oob(line: &Value, exact: bool) -> Option<()> {
    (line["kind"] == "oob" && line["expect"]["exact"] == exact).then_some(())
}

fn is_planning_error(line: &Value) -> Option<()> {
    (line["kind"] == "error" || line["kind"] == "quirk").then_some(())
}

/// Changes the first hex digit.
fn alter_first(hex: &mut Value) -> Option<()> {
    let digits = hex.as_str()?;
    let other = if digits.starts_with('0') { "1" } else { "0" };
    *hex = json!(format!("{other}{}", digits.get(1..)?));
    Some(())
}

/// Replaces "not", a word after the position in every TensorFlow text.
fn alter_not(text: &mut Value) -> Option<()> {
    *text = json!(text.as_str()?.replacen("not", "now", 1));
    Some(())
}

fn append(text: &mut Value, tail: &str) -> Option<()> {
    *text = json!(format!("{}{tail}", text.as_str()?));
    Some(())
}
