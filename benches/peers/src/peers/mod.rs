//! The peers, which implement one trait: this crate, other libraries, a plain loop, and copies of the output's bytes.
//! Only [`Job::run`] is timed.

use std::hint::black_box;
use std::marker::PhantomData;
use std::mem;
use std::sync::{Arc, Mutex};

use bytemuck::Pod;
use testkit::gpu::Gpu;

use self::ours_cpu::OursCpu;
use crate::data::{Data, Output};

mod copies;
mod ndarray;
mod ours_cpu;
mod ours_gpu;
mod plain_loop;

/// This crate's name among the peers.
pub const OURS: &str = "wgpu-gather";

/// The measure of peers that copy the output's bytes.
pub const COPY: &str = "copy";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    Cpu,
    Gpu,
}

impl Device {
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
        }
    }
}

/// A library, or a loop, that gathers; or a copy.
pub trait Peer {
    fn name(&self) -> &'static str;

    /// The package whose version is printed.
    fn package(&self) -> Option<&'static str> {
        None
    }

    fn device(&self) -> Device {
        Device::Cpu
    }

    /// The kind of the timed call: `gather_into`, `gather`, `resident`, or `copy`.
    fn measure(&self) -> &'static str;

    /// Returns true if the peer can use more than one thread.
    fn uses_threads(&self) -> bool {
        false
    }

    /// A note that is printed below the figures.
    fn note(&self) -> &'static str;

    /// Prepares the timed call: makes tensors, buffers, and indices of a type that the peer takes.
    ///
    /// # Errors
    ///
    /// The reason why this peer cannot do this workload.
    fn start<'a>(&'a self, data: &'a Data) -> Result<Box<dyn Job + 'a>, String>;
}

/// One peer at one workload.
pub trait Job: Send {
    /// The timed call.
    fn run(&mut self);

    /// Drops the output that the call has allocated, or gives a shared output back.
    fn forget(&mut self) {}

    /// The last call's output, as bytes.
    fn output(&mut self) -> Vec<u8>;
}

/// All peers that this machine can run.
pub fn peers(gpu: Option<Arc<Gpu>>) -> Vec<Box<dyn Peer>> {
    let mut peers: Vec<Box<dyn Peer>> = vec![
        Box::new(copies::Memcpy),
        Box::new(OursCpu::GatherInto),
        Box::new(OursCpu::Gather),
        Box::new(plain_loop::PlainLoop),
        Box::new(ndarray::Ndarray),
    ];
    if let Some(gpu) = gpu {
        peers.push(Box::new(copies::BufferCopy(gpu.clone())));
        peers.push(Box::new(ours_gpu::Resident(gpu)));
    }
    peers
}

/// A job whose call allocates its output.
struct Made<Make, Output, Bytes> {
    make: Make,
    output: Option<Output>,
    bytes: Bytes,
}

fn made<'a, Output: Send + 'a>(
    make: impl FnMut() -> Output + Send + 'a,
    bytes: impl Fn(&Output) -> Vec<u8> + Send + 'a,
) -> Box<dyn Job + 'a> {
    Box::new(Made {
        make,
        output: None,
        bytes,
    })
}

impl<Make, Output, Bytes> Job for Made<Make, Output, Bytes>
where
    Make: FnMut() -> Output + Send,
    Output: Send,
    Bytes: Fn(&Output) -> Vec<u8> + Send,
{
    fn run(&mut self) {
        self.output = Some(black_box((self.make)()));
    }

    fn forget(&mut self) {
        self.output = None;
    }

    fn output(&mut self) -> Vec<u8> {
        (self.bytes)(self.output.as_ref().expect("run before output"))
    }
}

/// A job whose call fills an existing output, with pages that have been touched. A workload's jobs share one output,
/// because its place in memory changes times more than the choice between some peers.
struct Filled<'a, T, Fill> {
    shared: &'a Mutex<Output>,
    /// The shared output, held from a call until `forget`.
    output: Option<Output>,
    fill: Fill,
    element: PhantomData<fn(&mut [T])>,
}

fn filled<'a, T: Pod + Send>(
    data: &'a Data,
    fill: impl FnMut(&mut [T]) + Send + 'a,
) -> Box<dyn Job + 'a> {
    Box::new(Filled {
        shared: &data.output,
        output: None,
        fill,
        element: PhantomData,
    })
}

impl<T: Pod + Send, Fill: FnMut(&mut [T]) + Send> Job for Filled<'_, T, Fill> {
    fn run(&mut self) {
        let output = self
            .output
            .get_or_insert_with(|| mem::take(&mut *self.shared.lock().expect("no job panicked")));
        (self.fill)(black_box(bytemuck::cast_slice_mut(output)));
    }

    fn forget(&mut self) {
        if let Some(output) = self.output.take() {
            *self.shared.lock().expect("no job panicked") = output;
        }
    }

    fn output(&mut self) -> Vec<u8> {
        let output = self.output.as_ref().expect("run before output");
        bytemuck::cast_slice(output).to_vec()
    }
}
