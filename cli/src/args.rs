//! The command line: what may be asked for, with an example of each.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use wgpu_gather::BadIndices;

/// tf.gather_nd, tf.gather and torch.gather, exactly, on the GPU and on the CPU.
#[derive(Parser)]
#[command(
    version,
    after_help = "\
Example: wgpu-gather run gather TABLE.npy IDS.npy -o ROWS.npy

WGPU_BACKEND (vulkan, metal, dx12, gl) says which back ends are looked at.
Exit status: 0 fine, 1 a gather or a case failed, 2 wrong usage."
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Lists the GPUs that wgpu finds, and how large a table each takes
    #[command(after_help = "\
Example: WGPU_BACKEND=vulkan wgpu-gather adapters
  shows what Vulkan alone offers.")]
    Adapters,
    /// Gathers from files into a file
    #[command(after_help = RUN_HELP)]
    Run(Run),
    /// Checks that each GPU and the CPU give TensorFlow's answers
    #[command(after_help = "\
Replays the results of TensorFlow and ONNX, and a sample of all small shapes against a plain definition.

Example: wgpu-gather doctor --adapter radeon
  checks the CPU and the adapters that have \"radeon\" in their name.

Exit status: 0 all cases passed, 1 a case failed or an adapter gave no device, 2 wrong usage.")]
    Doctor(Choice),
    /// Times a few gathers on the CPU and on one GPU, beside plain copies
    #[command(after_help = "\
Example: wgpu-gather bench --adapter llvmpipe

Each result is compared with what was asked for before it is timed. A time is the median of several; the ratio
is to a copy of the output's bytes: memcpy on one thread for the CPU, a buffer copy for the GPU.")]
    Bench(Choice),
}

const RUN_HELP: &str = "\
PARAMS and INDICES are each FILE.npy, FILE.npz:NAME (a member) or FILE.safetensors:NAME (a tensor).
  params   bool, int8 to int64, uint8 to uint64, float16 to float64, complex64, complex128
  indices  int32, int64, uint32, uint64
All little-endian and in C order. NumPy has no bfloat16 and no 8-bit floats: tensors of these become void
types, V2 and V1, to be viewed as what they are: rows.view(ml_dtypes.bfloat16).

Examples:
  wgpu-gather run gather TABLE.npy IDS.npy -o ROWS.npy
      the rows of a table that IDS names
  wgpu-gather run gather model.safetensors:wte.weight tokens.npz:ids -o rows.npy --device cpu
      embeddings of a model, on the CPU
  wgpu-gather run gather_nd X.npy AT.npy -o OUT.npy --batch-dims 1 --from-end
      tf.gather_nd(x, at, batch_dims=1), where -1 is the last

Exit status: 0 done, 1 no result (and no output file), 2 wrong usage.";

#[derive(clap::Args)]
pub struct Choice {
    /// Only adapters with this in their name, upper or lower case
    #[arg(
        long,
        value_name = "NAME",
        env = "WGPU_ADAPTER_NAME",
        hide_env_values = true
    )]
    pub adapter: Option<String>,
}

/// One gather, from files to a file.
#[derive(clap::Args)]
pub struct Run {
    pub operation: Operation,
    /// What is gathered from
    pub params: PathBuf,
    /// What says which slices
    pub indices: PathBuf,
    /// Where the result goes; replaced only once the result is complete
    #[arg(short, long, value_name = "OUT.npy")]
    pub output: PathBuf,
    /// gather: the dim of params to select along; batch-dims unless given. gather_elements: likewise; 0 unless given
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub axis: Option<i64>,
    /// How many leading dims params and indices share
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value_t = 0
    )]
    pub batch_dims: i64,
    /// auto: the GPU if there is one, else the CPU. WGPU_ADAPTER_NAME chooses among GPUs
    #[arg(long, value_enum, default_value_t = Device::Auto)]
    pub device: Device,
    /// What an index that is out of range gives: an error that names the first one, zeros in its slice, or what the
    /// nearest index gives that is not.
    /// default: zero for gpu as in TensorFlow, else error
    #[arg(long, value_name = "POLICY", value_enum, default_value_t = Policy::Default)]
    bad_indices: Policy,
    /// A negative index counts from the end of its dim, as in NumPy, Paddle and ONNX
    #[arg(long)]
    pub from_end: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Operation {
    Gather,
    GatherNd,
    GatherElements,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Device {
    Auto,
    Cpu,
    Gpu,
}

#[derive(Clone, Copy, ValueEnum)]
enum Policy {
    Default,
    Error,
    Zero,
    Clamp,
}

impl Run {
    /// Ends the process where options contradict each other, as clap does.
    pub fn check(&self) {
        if self.operation == Operation::GatherNd && self.axis.is_some() {
            refuse(ErrorKind::ArgumentConflict, "gather_nd has no --axis");
        }
        if self.operation == Operation::GatherElements && self.batch_dims != 0 {
            let error = "gather_elements has no --batch-dims";
            refuse(ErrorKind::ArgumentConflict, error);
        }
        let extension = self.output.extension().and_then(|name| name.to_str());
        if let Some(other @ ("npz" | "safetensors")) = extension {
            let error = format!("--output is a .npy file, found .{other}");
            refuse(ErrorKind::ValueValidation, &error);
        }
    }

    /// What is the default on a GPU would make the answer of `auto` depend on the machine.
    pub fn bad_indices(&self) -> BadIndices {
        match (self.bad_indices, self.device) {
            (Policy::Clamp, _) => BadIndices::Clamp,
            (Policy::Zero, _) | (Policy::Default, Device::Gpu) => BadIndices::Zero,
            _ => BadIndices::Error,
        }
    }
}

fn refuse(kind: ErrorKind, error: &str) -> ! {
    let mut command = Args::command();
    command.build();
    let run = command.find_subcommand_mut("run").expect("a subcommand");
    run.error(kind, error).exit()
}
