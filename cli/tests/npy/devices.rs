//! The device that `wgpu-gather run` takes.

use testkit::ran::{NO_GPU, Ran};

use crate::support::{Folder, wgpu_gather};

pub fn takes_the_adapter(name: &str) {
    let folder = Folder::new("adapter");
    folder.i32("vector.npy", "(2,)", &[0, 1]);
    let run = |name: &str| {
        let mut run = wgpu_gather();
        run.current_dir(&folder.0).env_remove("WGPU_ADAPTER_NAME");
        run.args("run gather vector.npy vector.npy -o out.npy --adapter".split(' '));
        Ran::new(run.arg(name))
    };
    let found = run(&name.to_uppercase());
    let expected = format!("out.npy: int32 [2], 2 rows gathered on {name} ");
    assert!(found.stdout.starts_with(&expected), "{found:?}");
    let absent = run("nothing has this name");
    let line = absent.stderr.lines().next_back().unwrap_or_default();
    let expected = "error: no GPU: none has \"nothing has this name\" in its name";
    assert!(absent.code == 1 && line.starts_with(expected), "{absent:?}");
}

/// `auto` takes the CPU before a software adapter, and names the adapter.
pub fn auto_avoids(software_adapter: &str) {
    let folder = Folder::new("software");
    folder.i32("vector.npy", "(2,)", &[0, 1]);
    let mut run = wgpu_gather();
    run.current_dir(&folder.0).env_remove("WGPU_ADAPTER_NAME");
    let found = Ran::new(run.args("run gather vector.npy vector.npy -o out.npy".split(' ')));
    let expected = format!(
        "out.npy: int32 [2], 2 rows gathered on the CPU (no GPU: only the software adapter {software_adapter}"
    );
    assert!(found.stdout.starts_with(&expected), "{found:?}");
}

pub fn npy_without_a_gpu() {
    let folder = Folder::new("no-gpu");
    folder.i32("vector.npy", "(2,)", &[0, 1]);
    let run = |device, env: (&str, &str)| {
        let args = [
            "run",
            "gather",
            "vector.npy",
            "vector.npy",
            "-o",
            "out.npy",
            "--device",
            device,
        ];
        Ran::new(wgpu_gather().current_dir(&folder.0).args(args).envs([env]))
    };
    let auto = run("auto", NO_GPU);
    let expected = "out.npy: int32 [2], 2 rows gathered on the CPU (no GPU: ";
    assert!(auto.stdout.starts_with(expected), "{auto:?}");
    let unnamed = ("WGPU_ADAPTER_NAME", "nothing has this name");
    let named = "none has \"nothing has this name\" in its name, found ";
    for (env, reason) in [(NO_GPU, ""), (unnamed, named)] {
        let gpu = run("gpu", env);
        let ours: Vec<&str> = (gpu.stderr.lines())
            .filter(|line| !line.contains("XDG_RUNTIME_DIR"))
            .collect();
        let [line] = ours[..] else { panic!("{gpu:?}") };
        assert_eq!(gpu.code, 1, "{gpu:?}");
        let expected = format!("error: no GPU: {reason}");
        assert!(line.starts_with(&expected), "{gpu:?}");
    }
}
