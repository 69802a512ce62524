//! The command line: subcommands, arguments and help texts, with an example of each subcommand.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use serde_json::json;
use wgpu_gather::BadIndices;
use wgpu_gather_cli::arrays::file_of;

/// Runs tf.gather_nd, tf.gather and torch.gather exactly, on the GPU or on the CPU.
#[derive(Parser)]
#[command(
    name = "wgpu-gather",
    version,
    after_help = "\
Example: wgpu-gather run gather TABLE.npy IDS.npy -o ROWS.npy

WGPU_BACKEND (vulkan, metal, dx12, gl) selects the back ends that are searched for GPUs.
Exit status: 0 success, 1 a gather or a case failed, 2 wrong usage."
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
  lists the adapters of Vulkan only.")]
    Adapters(Form),
    /// Gathers from the arrays of two files into a .npy file
    #[command(after_help = RUN_HELP)]
    Run(Run),
    /// Describes the arrays of files: name, dtype or encoding, shape and bytes
    #[command(after_help = "\
Reads only headers, so a damaged tensor or member may still be listed.

Example: wgpu-gather info model.safetensors
  lists all tensors; model.safetensors:wte.weight is one of them.

Exit status: 0 done, 1 the file cannot be read, 2 wrong usage.")]
    Info(Info),
    /// Checks that each GPU and the CPU give the answers of the operations' definitions
    #[command(after_help = "\
Runs gathers of random shapes, types and policies, the same on every machine, and compares each with TensorFlow's, \
ONNX's or PyTorch's definition of its operation.

Example: wgpu-gather doctor --adapter radeon
  checks the CPU and the adapters that have \"radeon\" in their name.

Exit status: 0 all cases passed, 1 a case failed or an adapter gave no device, 2 wrong usage.")]
    Doctor(Choice),
    /// Times a few gathers on the CPU and on one GPU, and plain copies for comparison
    #[command(after_help = "\
Example: wgpu-gather bench --adapter llvmpipe

Each result is compared with the expected output before the gather is timed. A time is the median of several. \
The column \"x copy\" is that time divided by the time to copy the output's bytes: by memcpy on one thread for the \
CPU, by a buffer copy for the GPU.")]
    Bench(Choice),
    /// Prints completions for a shell
    #[command(after_help = "\
Example: wgpu-gather completions bash > ~/.local/share/bash-completion/completions/wgpu-gather")]
    Completions { shell: Shell },
}

/// The completions of all commands for a shell.
pub fn completions(shell: Shell) -> String {
    let (mut command, mut text) = (Args::command(), Vec::new());
    let name = command.get_name().to_owned();
    clap_complete::generate(shell, &mut command, name, &mut text);
    String::from_utf8_lossy(&text).trim_end().to_owned()
}

const RUN_HELP: &str = "\
PARAMS and INDICES are each a .npy file, FILE:NAME for a member of a .npz file or a tensor of a .safetensors or .gguf file, \
or - or a pipe (a .npy file). A file's first bytes tell its format.

Params may be bool, int8 to int64, uint8 to uint64, float16 to float64, complex64, complex128, and GGUF's blocks: these \
are decoded to float32. Indices are integers: int8 to int64, uint8 to uint64. All are little-endian and in C order.

NumPy has no bfloat16 and no 8-bit floats: a gather from a tensor of these types writes NumPy's void types V2 and V1. To \
get the values, view them (rows.view(ml_dtypes.bfloat16)), or gather with --decode.

Examples:

wgpu-gather run gather TABLE.npy IDS.npy -o ROWS.npy
  gathers the rows of TABLE that IDS selects.

wgpu-gather run gather model.gguf:token_embd.weight ids.npy -o rows.npy
  gathers embeddings of a quantised model, as float32.

wgpu-gather run gather model.safetensors:wte.weight tokens.npz:ids -o rows.npy --device cpu
  gathers embeddings of a model on the CPU.

wgpu-gather run gather TABLE.npy IDS.npy -o - --adapter radeon | gzip > ROWS.npy.gz
  writes the rows to standard output, from a GPU with \"radeon\" in its name.

wgpu-gather run gather_nd X.npy AT.npy -o OUT.npy --batch-dims 1 --from-end
  is tf.gather_nd(x, at, batch_dims=1), where index -1 is the last.

Exit status: 0 done, 1 no result (and no output file), 2 wrong usage.";

/// The files to describe.
#[derive(clap::Args)]
pub struct Info {
    /// A .npy, .npz, .safetensors or .gguf file; with :NAME after a file of several arrays only its member or tensor NAME
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub form: Form,
}

/// The form of an answer.
#[derive(clap::Args)]
pub struct Form {
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

#[derive(clap::Args)]
pub struct Choice {
    #[command(flatten)]
    pub form: Form,
    /// Use only adapters whose name contains NAME, in upper or lower case
    #[arg(
        long,
        value_name = "NAME",
        env = "WGPU_ADAPTER_NAME",
        hide_env_values = true
    )]
    pub adapter: Option<String>,
}

/// The arguments of one gather from two files to a file.
#[derive(clap::Args)]
pub struct Run {
    pub operation: Operation,
    /// Array to gather slices from
    pub params: PathBuf,
    /// Array of the indices that select the slices
    pub indices: PathBuf,
    /// File for the result, or - for standard output; an existing file is replaced only after the result is complete
    #[arg(short, long, value_name = "OUT.npy")]
    pub output: PathBuf,
    /// First dim of params to select in. Default: batch-dims for gather and gather_nd, 0 for gather_elements
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub axis: Option<i64>,
    /// Number of leading dims that params and indices share
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value_t = 0
    )]
    pub batch_dims: i64,
    /// auto takes the GPU if there is one, else the CPU, which is faster than a software adapter. WGPU_ADAPTER_NAME selects
    /// one of several GPUs
    #[arg(long, value_enum, default_value_t = Device::Auto)]
    pub device: Device,
    /// Use only a GPU whose name contains NAME, in upper or lower case, and never the CPU
    #[arg(long, value_name = "NAME")]
    pub adapter: Option<String>,
    /// Treatment of indices out of range: error stops and names the first one, fill puts zeros in their slices,
    /// clamp takes the nearest index in range, wrap the index modulo the dim.
    /// device-default is TensorFlow's rule: fill on a GPU, error on the CPU
    #[arg(long, value_name = "POLICY", value_parser = policies(), default_value_t = BadIndices::Error)]
    pub bad_indices: BadIndices,
    /// A negative index counts from the end of its dim, as in NumPy, Paddle and ONNX
    #[arg(long)]
    pub from_end: bool,
    /// Decode float16, BF16, F8_E4M3 and F8_E5M2 to float32; GGUF's blocks are always decoded
    #[arg(long)]
    pub decode: bool,
    #[command(flatten)]
    pub quantized: Quantized,
    #[command(flatten)]
    pub form: Form,
}

/// Tables of uint8 whose bytes are quantised values, which are decoded to float32.
#[derive(clap::Args)]
pub struct Quantized {
    /// Decode values in blocks with these scales, as ONNX Runtime's GatherBlockQuantized does. float16, float32 or BF16
    #[arg(long, value_name = "FILE")]
    pub scales: Option<PathBuf>,
    /// Zero points of the blocks, packed like the values. Default: the middle of the range
    #[arg(long, value_name = "FILE", requires = "scales")]
    pub zero_points: Option<PathBuf>,
    /// Bits of a quantised value, in a table whose scales are given by --scales: 2, 4 or 8
    #[arg(long, value_name = "N", default_value_t = 4, requires = "scales")]
    pub bits: u32,
    /// Values of a block: 16, 32, 64, 128 or 256. Default: 128
    #[arg(long, value_name = "N", requires = "scales")]
    pub block_size: Option<u64>,
    /// Decode rows with a scale and a bias at their end, of values of 8 or 4 bits, as FBGEMM's and PyTorch's embedding bags
    /// have them
    #[arg(
        long,
        value_name = "BITS",
        conflicts_with_all = ["scales", "zero_points", "bits", "block_size"],
        value_parser = clap::value_parser!(u8).range(4..=8)
    )]
    pub row_wise: Option<u8>,
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

/// The policies by their names.
fn policies() -> impl TypedValueParser<Value = BadIndices> {
    let names = BadIndices::ALL.iter().map(BadIndices::to_string);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<BadIndices>())
}

impl Args {
    /// The arguments of the process. An operation without `run` before it gets an error that says so.
    pub fn of_process() -> Self {
        let args: Vec<OsString> = std::env::args_os().collect();
        let operation = args.get(1).and_then(|name| name.to_str());
        let is_operation = |name: &&str| Operation::from_str(name, false).is_ok();
        if let Some(operation) = operation.filter(is_operation) {
            let error =
                format!("{operation} is an operation of run: wgpu-gather run {operation} ..");
            end(&Self::command().error(ErrorKind::InvalidSubcommand, error))
        }
        Self::try_parse_from(args).unwrap_or_else(|error| end(&error))
    }
}

/// Ends the process with a help text or an error of usage.
fn end(error: &clap::Error) -> ! {
    let wants_json = std::env::args_os().any(|arg| arg == "--json");
    if error.use_stderr() && !wants_json {
        error.exit();
    }
    let printed = if error.use_stderr() {
        let text = error.to_string();
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        let text = text.split("\n\n").next().unwrap_or(text);
        let words: Vec<&str> = text.split_whitespace().collect();
        let document = json!({ "error": words.join(" ") });
        writeln!(io::stdout(), "{document:#}")
    } else {
        error.print()
    };
    let status = match printed.and_then(|()| io::stdout().flush()) {
        Err(failed) if failed.kind() != io::ErrorKind::BrokenPipe => {
            let _ = writeln!(io::stderr(), "error: standard output: {failed}");
            1
        }
        _ => error.exit_code(),
    };
    std::process::exit(status)
}

impl Command {
    /// True if the answer is a JSON document.
    pub fn wants_json(&self) -> bool {
        match self {
            Self::Adapters(form) => form.json,
            Self::Run(args) => args.form.json,
            Self::Info(args) => args.form.json,
            Self::Doctor(choice) | Self::Bench(choice) => choice.form.json,
            Self::Completions { .. } => false,
        }
    }
}

impl Run {
    /// Ends the process with an error of clap if options contradict each other, or the output is an archive or a
    /// terminal.
    pub fn check(&self) {
        if self.operation == Operation::GatherElements && self.batch_dims != 0 {
            let error = "gather_elements has no --batch-dims";
            refuse(ErrorKind::ArgumentConflict, error);
        }
        if let Some(bits @ 5..8) = self.quantized.row_wise {
            let error = format!("--row-wise must be 8 or 4, found {bits}");
            refuse(ErrorKind::ValueValidation, &error);
        }
        if self.device == Device::Cpu && self.adapter.is_some() {
            refuse(ErrorKind::ArgumentConflict, "--device cpu has no --adapter");
        }
        let from_stdin: Vec<&str> = (self.inputs())
            .filter_map(|(name, path)| is_stdin(path).then_some(name))
            .collect();
        if from_stdin.len() > 1 {
            let error = format!(
                "only one of {} can be standard input",
                from_stdin.join(" and ")
            );
            refuse(ErrorKind::ArgumentConflict, &error);
        }
        for (name, path) in self.inputs() {
            let file = match is_stdin(path) {
                true => Path::new("/dev/stdin"),
                false => file_of(path),
            };
            if !self.output_is_stdout() && is_same_file(&self.output, file) {
                let error = format!("--output is the file of {name}, {}", path.display());
                refuse(ErrorKind::ArgumentConflict, &error);
            }
        }
        if self.output_is_stdout() && self.form.json {
            let error = "--json and --output - both need standard output";
            refuse(ErrorKind::ArgumentConflict, error);
        }
        if self.output_is_stdout() && std::io::stdout().is_terminal() {
            let error = "--output - is a terminal, and .npy is not text";
            refuse(ErrorKind::ValueValidation, error);
        }
        let extension = self.output.extension().and_then(|name| name.to_str());
        if let Some(other @ ("npz" | "safetensors" | "gguf")) = extension {
            let error = format!("--output is a .npy file, found .{other}");
            refuse(ErrorKind::ValueValidation, &error);
        }
    }

    /// The arrays that are read, each with the name of its argument.
    fn inputs(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let options = &self.quantized;
        let all = [
            ("PARAMS", Some(&self.params)),
            ("INDICES", Some(&self.indices)),
            ("--scales", options.scales.as_ref()),
            ("--zero-points", options.zero_points.as_ref()),
        ];
        let given = all.into_iter();
        given.filter_map(|(name, path)| Some((name, path?.as_path())))
    }

    /// True if the output is `-`, or a name that the system has for standard output.
    pub fn output_is_stdout(&self) -> bool {
        let names = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
        names.iter().any(|name| self.output == Path::new(name))
    }
}

fn refuse(kind: ErrorKind, error: &str) -> ! {
    let mut command = Args::command();
    command.build();
    let run = command.find_subcommand_mut("run").expect("a subcommand");
    end(&run.error(kind, error))
}

/// True if the path is `-`, or a name that the system has for standard input.
fn is_stdin(path: &Path) -> bool {
    let names = ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];
    names.iter().any(|name| path == Path::new(name))
}

/// True if both are paths of one file, by links too.
fn is_same_file(path: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;

        let number = |path: &Path| {
            let metadata = path.metadata().ok().filter(|metadata| metadata.is_file())?;
            Some((metadata.dev(), metadata.ino()))
        };
        number(path).is_some_and(|found| number(other) == Some(found))
    }
    #[cfg(not(unix))]
    {
        let real = |path: &Path| path.canonicalize().ok();
        real(path).is_some_and(|found| real(other) == Some(found))
    }
}
