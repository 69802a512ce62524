//! Devices, and the process itself, that run out of memory in the middle of a gather.

use std::process::Command;

use libtest_mimic::{Completion, Trial};
use wgpu_gather::{Gather, GatherError, GpuError, RunError, wgpu};

use crate::support::{Machine, Work, in_time};
use testkit::device;

/// The environment variable that is set in the process that is to run out of memory.
const SHORT_OF_MEMORY: &str = "FAULTS_SHORT_OF_MEMORY";

/// The process that is to run out of memory is ended after this time.
const TIME_LIMIT_SECONDS: &str = "500";

const MIB: u64 = 1 << 20;

/// Amounts of memory in which each gather runs.
const STEPS: usize = 10;

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![Trial::test(
        "noop: a result that no memory holds is an error and the device lives",
        || in_time(huge_machine(), a_huge_result),
    )];
    trials.push(Trial::ignorable_test(
        "gpu: a gather short of memory is right or an error, the device lives",
        || match device::gpu() {
            Err(error) => device::without_gpu(error),
            Ok(_) if cfg!(not(target_os = "linux")) => {
                Ok(Completion::ignored_with("memory is limited on Linux only"))
            }
            Ok(_) if !Machine::gpu().is_vulkan_on_the_cpu() => {
                Ok(device::ignored("needs Vulkan on the CPU"))
            }
            Ok(_) if !Machine::gpu().reports_lack_of_memory() => Ok(Completion::ignored_with(
                "lavapipe of Mesa 25 dies without memory",
            )),
            Ok(_) => {
                in_time(Machine::gpu(), in_a_process_of_its_own).map(|()| Completion::Completed)
            }
        },
    ));
    trials
}

/// A device whose limits are larger than any memory.
fn huge_machine() -> Machine {
    Machine::noop(huge_limits())
}

fn huge_limits() -> wgpu::Limits {
    wgpu::Limits {
        max_buffer_size: 1 << 52,
        max_storage_buffer_binding_size: 1 << 52,
        ..wgpu::Limits::default()
    }
}

fn a_huge_result(machine: &Machine) {
    let app = machine.app_with(huge_limits()).unwrap();
    // 2^48 bytes, more than a process can address.
    let plan = Gather::new().plan(&[1, 1 << 24], &[1 << 24]).unwrap();
    let params = vec![1_u8; 1 << 24];
    let table = app.gpu.upload(params, plan.params_shape()).unwrap();
    let indices = vec![0_u32; 1 << 24];
    let error = app.gpu.gather(&plan, &table, &indices).wait().unwrap_err();
    let text = error.to_string();
    let told = text.starts_with("out of memory");
    assert!(told, "{text}");
    let small = Work::small();
    assert_eq!(app.gather(&small), Ok(machine.answer(&small)));
    app.assert_handlers_are_the_apps();
}

fn is_out_of_memory(error: &GpuError) -> bool {
    matches!(error, GpuError::Gather(GatherError::OutOfMemory(_)))
}

fn in_a_process_of_its_own(_: &Machine) {
    let ended = Command::new("timeout")
        .arg(TIME_LIMIT_SECONDS)
        .arg(std::env::current_exe().unwrap())
        .env(SHORT_OF_MEMORY, "1")
        // Makes glibc return large freed blocks: blocks that it keeps would add to the address space left.
        .env("MALLOC_MMAP_THRESHOLD_", "1048576")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{}:\n{said}", ended.status);
}

/// Returns true in the process that is to run out of memory.
pub fn is_short_of_memory() -> bool {
    std::env::var_os(SHORT_OF_MEMORY).is_some()
}

/// Gathers with less and less address space left, which includes llvmpipe's memory. The first gather needs memory for its table,
/// the second for its result. The host copies the result after the device has freed as much memory, so the host runs out only if
/// the address space is fragmented.
pub fn gather_in_less_and_less() {
    let machine = Machine::gpu();
    let mut outcomes = Vec::new();
    for work in [
        Work::rows(1 << 19, 16, 1 << 15),
        Work::rows(1 << 10, 16, 1 << 19),
    ] {
        for spare in (1..=STEPS).rev().map(|step| step as u64 * 32 * MIB) {
            let outcome = gather_in(&machine, &work, spare);
            eprintln!("{}, {} MiB to spare: {outcome:?}", work.plan, spare / MIB);
            outcomes.push(outcome);
        }
        assert_eq!(outcomes[outcomes.len() - STEPS], Outcome::Right);
        assert_eq!(outcomes.last(), Some(&Outcome::NoDeviceMemory));
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Outcome {
    Right,
    NoDeviceMemory,
    NoHostMemory,
}

fn gather_in(machine: &Machine, work: &Work, spare: u64) -> Outcome {
    let (app, small) = (machine.app(), Work::small());
    let right = |work: &Work| Ok(machine.answer(work));
    assert_eq!(app.gather(&small), right(&small));

    limit_address_space(&(address_space() + spare).to_string());
    let gathered = app.gather(work);
    // There is memory for the small gather.
    let small_gathered = app.gather(&small);
    limit_address_space("unlimited");

    assert_eq!(small_gathered, right(&small));
    let outcome = match gathered {
        Ok(output) => {
            assert!(output == machine.answer(work));
            Outcome::Right
        }
        Err(GpuError::Run(RunError::OutOfMemory { .. })) => Outcome::NoHostMemory,
        Err(error) => {
            assert!(is_out_of_memory(&error), "{error:?}");
            Outcome::NoDeviceMemory
        }
    };
    assert!(app.gather(work) == right(work), "with memory again");
    app.assert_handlers_are_the_apps();
    outcome
}

/// This process's address space in bytes.
fn address_space() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let kib = size.unwrap().trim().trim_end_matches(" kB");
    kib.parse::<u64>().unwrap() * 1024
}

/// Sets the soft limit, which the process can raise again.
fn limit_address_space(bytes: &str) {
    let limited = Command::new("prlimit")
        .arg(format!("--pid={}", std::process::id()))
        .arg(format!("--as={bytes}:"))
        .status();
    assert!(limited.unwrap().success());
}
