//! Functions that Python's ctypes calls: this crate and the plain loop, with operands as addresses.
#![allow(unsafe_code, reason = "functions for C")]

use std::any::Any;
use std::ffi::{CStr, c_char};
use std::hint::black_box;
use std::slice;

use bytemuck::Pod;
use half::f16;
use testkit::bench::workloads::{Element, Workload, other, usual};
use wgpu_gather::{BadIndices, GatherPlan, Index, IndexKind};

use crate::plain_loop::{Place, gather};

/// A workload with its plan.
pub struct Job {
    workload: Workload,
    plan: GatherPlan,
    /// The output of the last `gather`.
    made: Option<Box<dyn Any + Send>>,
}

/// Addresses and byte counts.
#[repr(C)]
pub struct Operands {
    params: *const u8,
    params_bytes: usize,
    indices: *const u8,
    indices_bytes: usize,
    output: *mut u8,
    output_bytes: usize,
}

#[repr(u8)]
#[derive(Clone, Copy)]
pub enum Call {
    GatherInto = 0,
    Gather = 1,
    PlainLoop = 2,
    /// Copies the output of the last `Run` to the operands' output.
    Read = 3,
}

/// Makes a job, which lives as long as the process; null for a name that no workload has.
///
/// # Safety
///
/// `name` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn job(name: *const c_char) -> *mut Job {
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    let mut workloads = [usual(), other()].concat().into_iter();
    let Some(workload) = workloads.find(|workload| workload.name == *name) else {
        return std::ptr::null_mut();
    };
    Box::into_raw(Box::new(Job {
        plan: workload.plan(BadIndices::DeviceDefault),
        workload,
        made: None,
    }))
}

/// Makes the call `times` times.
///
/// # Safety
///
/// `job` comes from the function `job`, and no other call uses it; the operands have the workload's types, are aligned for
/// them, and live as long as the call.
///
/// # Panics
///
/// The operands do not have the workload's shapes, or an index is bad.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn run(job: *mut Job, call: Call, times: usize, operands: &Operands) {
    // SAFETY: the caller's promises.
    unsafe {
        let job = &mut *job;
        match (job.workload.element, job.workload.index) {
            (Element::F32, IndexKind::U8) => job.run::<f32, u8>(call, times, operands),
            (Element::F32, IndexKind::I64) => job.run::<f32, i64>(call, times, operands),
            (Element::F32, _) => job.run::<f32, i32>(call, times, operands),
            (Element::F16, _) => job.run::<f16, i32>(call, times, operands),
            (Element::U8, _) => job.run::<u8, i32>(call, times, operands),
        }
    }
}

impl Job {
    /// # Safety
    ///
    /// The operands have the element type `T`, the index type `I`, and all else that [`run`] asks for.
    unsafe fn run<T, I>(&mut self, call: Call, times: usize, operands: &Operands)
    where
        T: Pod + Default + Send + Sync,
        I: Place + Pod + Index,
    {
        let Self {
            workload,
            plan,
            made,
        } = self;
        let &Operands {
            params,
            indices,
            output,
            ..
        } = operands;
        let lens = (
            operands.params_bytes / size_of::<T>(),
            operands.indices_bytes / size_of::<I>(),
            operands.output_bytes / size_of::<T>(),
        );
        // SAFETY: the caller's promise.
        let (params, indices, output) = unsafe {
            (
                slice::from_raw_parts(params.cast::<T>(), lens.0),
                slice::from_raw_parts(indices.cast::<I>(), lens.1),
                slice::from_raw_parts_mut(output.cast::<T>(), lens.2),
            )
        };
        for _ in 0..times {
            match call {
                Call::GatherInto => {
                    let run = plan.gather_into(params, indices, black_box(&mut *output));
                    run.expect("indices are in range");
                }
                Call::Gather => {
                    let run = plan.gather(params, indices);
                    *made = Some(Box::new(black_box(run.expect("indices are in range"))));
                }
                Call::PlainLoop => {
                    gather(workload, plan, params, indices, black_box(&mut *output));
                }
                Call::Read => {
                    let made = made.as_ref().and_then(|made| made.downcast_ref::<Vec<T>>());
                    output.copy_from_slice(made.expect("a run before"));
                }
            }
        }
    }
}
