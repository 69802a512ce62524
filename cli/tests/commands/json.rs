//! The JSON documents that commands print.

use serde_json::{Value, json};
use testkit::ran::{NO_GPU, Ran};

use crate::support::wgpu_gather;

/// The document that the command prints, which must succeed.
#[track_caller]
pub fn document(command: &str, env: Option<(&str, &str)>) -> Value {
    let mut run = wgpu_gather();
    run.args(command.split(' ')).arg("--json");
    let ran = Ran::new(run.envs(env).env("CLICOLOR_FORCE", "1"));
    assert_eq!(ran.code, 0, "{command}: {}", ran.stderr);
    serde_json::from_str(&ran.stdout).expect(&ran.stdout)
}

pub fn without_a_gpu() {
    let no_gpu = Some(NO_GPU);
    assert_eq!(document("adapters", no_gpu), json!({ "adapters": [] }));

    let none = json!({ "passed": true, "devices": [] });
    assert_eq!(document("doctor", no_gpu), none);
}

pub fn of_the_adapter(name: &str) {
    let adapters = document("adapters", None);
    let adapters = adapters["adapters"].as_array().unwrap();
    let adapter = adapters.iter().find(|adapter| adapter["name"] == name);
    let adapter = adapter.expect("the adapter of the tests");
    assert!(
        adapter["max_buffer_size"].as_u64().unwrap() > 0,
        "{adapter}"
    );
}
