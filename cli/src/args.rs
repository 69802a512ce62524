//! The command line: subcommands, arguments and help texts, with an example of each subcommand.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use serde_json::json;
use wgpu_gather::{BadIndices, Encoding, FloatKind};
use wgpu_gather_cli::arrays::{Dtype, file_of};

/// Picks rows of arrays in files by their numbers, as tf.gather, tf.gather_nd and torch.gather do, on a GPU or the CPU.
#[derive(Parser)]
#[command(
    name = "wgpu-gather",
    version,
    after_help = "\
Example:
  wgpu-gather run gather TABLE.npy --at 7,0,999
  prints three rows. In a pipe, add --print.

WGPU_BACKEND (vulkan, metal, dx12, gl) selects the back ends that are
searched for GPUs.
Exit status: 0 success, 1 a gather or a case failed, 2 wrong usage."
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Gathers rows of an array in a file
    #[command(after_help = RUN_SHORT_HELP, after_long_help = RUN_HELP)]
    Run(Box<Run>),
    /// Lists the arrays of files, with dtypes and shapes
    #[command(after_help = "\
Reads only headers, so a damaged tensor or member may still be listed.

Example:
  wgpu-gather info model.safetensors
  lists all tensors; model.safetensors:wte.weight is one of them.

  wgpu-gather info model-*.safetensors
  lists which file of a model in several has which tensors.

Exit status: 0 done, 1 the file cannot be read, 2 wrong usage.")]
    Info(Info),
    /// Lists the GPUs, and how large a table each takes
    #[command(after_help = "\
Example:
  WGPU_BACKEND=vulkan wgpu-gather adapters
  lists the adapters of Vulkan only.")]
    Adapters(Form),
    /// Checks gathers on each GPU
    #[command(after_help = "\
Runs gathers of random shapes, types and policies, the same on every machine, \
and compares each with the CPU's result.

Example:
  wgpu-gather doctor --adapter radeon
  checks the adapters that have \"radeon\" in their name.

Exit status: 0 all cases passed, 1 a case failed or an adapter gave no device, 2 wrong usage.")]
    Doctor(Choice),
}

const RUN_SHORT_HELP: &str = "\
Examples:
  wgpu-gather run gather TABLE.npy --at 7,0,999    (in a pipe, add --print)
  wgpu-gather run gather model.gguf:token_embd.weight ids.npy -o rows.npy

--help says more: operations, files, dtypes and policies.";

const RUN_HELP: &str = "\
Operations:
  gather           rows of PARAMS along an axis: tf.gather, numpy.take
  gather_nd        an index row names a place in several dims: tf.gather_nd
  gather_elements  one element of each line of an axis: ONNX's GatherElements.
                   torch.gather is this one, and not gather

Files: PARAMS and INDICES are each a .npy file, FILE:NAME for a member of a .npz file or a tensor of a .safetensors or .gguf \
file, or - or a pipe (a .npy file). A file's first bytes tell its format. Of a model in several files, name the one that has the \
tensor: info lists them. Of a table only the rows that are gathered are read, unless these are more than a quarter of it.

Dtypes: params may have any dtype of a fixed size, in either byte order, and of several fields. Their bytes are gathered as they \
are, and the output has the same dtype. Floats of 4 and 6 bits come out as the uint8 bytes that hold them. GGUF's blocks are \
decoded to float32, or to the type after --to. Indices are integers of 8 to 64 bits, or a \
mask of bool: the places at which it is true, as numpy.flatnonzero has them, for gather_nd as numpy.argwhere.

NumPy has no bfloat16 and no 8-bit floats: their output has NumPy's void types V2 and V1. To get values, view them \
(rows.view(ml_dtypes.bfloat16)), or gather with --decode. A .npy file cannot say that it holds such types, so --as says it.

Examples:

wgpu-gather run gather TABLE.npy IDS.npy -o ROWS.npy
  gathers the rows of TABLE that IDS selects.

wgpu-gather run gather model.gguf:token_embd.weight --at 1,2,3
  prints three embeddings of a quantised model, as float32. In a pipe, add --print.

wgpu-gather run gather TABLE.npy IDS.npy -o - | gzip > ROWS.npy.gz
  writes the rows to standard output.

wgpu-gather run gather_nd X.npy --at 3,1 --at 0,2 --from-end
  prints x[3, 1] and x[0, 2]; an index -1 would be the last. In a pipe, add --print.

wgpu-gather run gather BITS.npy IDS.npy --as bf16 --decode -o ROWS.npy
  reads the elements of BITS, of 2 bytes, as bfloat16.

wgpu-gather run gather model.gguf:token_embd.weight IDS.npy --to f16 -o ROWS.npy
  writes the embeddings as float16, half the bytes of float32.

Exit status: 0 done, 1 no result (and no output file), 2 wrong usage.";

/// The files to describe.
#[derive(clap::Args)]
pub struct Info {
    /// A .npy, .npz, .safetensors or .gguf file, or the index of .safetensors files; with :NAME after a file of several
    /// arrays only its member or tensor NAME
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

/// The arguments of one gather.
#[derive(clap::Args)]
pub struct Run {
    /// gather, gather_nd or gather_elements: the last is torch.gather
    #[arg(hide_possible_values = true)]
    pub operation: Operation,
    /// Array to gather slices from
    pub params: PathBuf,
    /// Array of the indices that select the slices
    pub indices: Option<PathBuf>,
    /// Indices, in place of a file
    ///
    /// One --at is a vector of indices, or for gather_nd one index row. Several are the rows of a matrix.
    #[arg(long, value_name = "I,J,..", allow_hyphen_values = true, conflicts_with = "indices", value_parser = index_row)]
    pub at: Vec<IndexRow>,
    /// File for the result, - for standard output
    ///
    /// An existing file is replaced only after the result is complete. Without it the rows are printed, if standard output is a
    /// terminal.
    #[arg(short, long, value_name = "OUT.npy")]
    pub output: Option<PathBuf>,
    /// Print the rows as text
    ///
    /// Of more than 1,000 elements only the first and last of each dim are shown; --json prints all.
    #[arg(short, long)]
    pub print: bool,
    /// First dim of params to select in
    ///
    /// Default: batch-dims for gather and gather_nd, 0 for gather_elements.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub axis: Option<i64>,
    /// Leading dims that both share
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value_t = 0
    )]
    pub batch_dims: i64,
    /// gather_elements: dims of 1 repeat
    ///
    /// All dims but the axis are broadcast, as numpy.take_along_axis does.
    #[arg(long)]
    pub broadcast: bool,
    /// Negative indices count from the end
    ///
    /// As in NumPy, Paddle and ONNX. In TensorFlow a negative index is out of range.
    #[arg(long)]
    pub from_end: bool,
    /// Policy for indices out of range
    ///
    /// error stops and names the first one, fill puts zeros in their slices, clamp takes the nearest index in range, wrap the index
    /// modulo the dim. device-default is TensorFlow's rule: fill on a GPU, error on the CPU.
    #[arg(long, value_name = "POLICY", value_parser = policies(), default_value_t = BadIndices::Error, hide_possible_values = true)]
    pub bad_indices: BadIndices,
    /// Number of --bad-indices fill, if not 0
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    pub fill: Option<String>,
    /// Dtype or encoding that params' file cannot say
    ///
    /// The bytes are read as numpy.ndarray.view does. NAME is bf16, f8_e4m3, f8_e5m2, int32, f2, or the name of GGUF's blocks, as q4_k.
    #[arg(long = "as", value_name = "NAME", value_parser = dtype_of)]
    pub view: Option<Dtype>,
    /// Decode floats of 1 or 2 bytes to float32
    ///
    /// That is float16, BF16, F8_E4M3 and F8_E5M2. GGUF's blocks are always decoded.
    #[arg(long)]
    pub decode: bool,
    /// Decode to f32, f16 or bf16
    ///
    /// As --decode, but float32 is cast too. Each value is rounded to the nearest one that TYPE has. GGUF's blocks are
    /// decoded to TYPE in place of float32.
    #[arg(long, value_name = "TYPE", value_parser = floats(), hide_possible_values = true)]
    pub to: Option<FloatKind>,
    /// Compare checksums of large .npz members too
    ///
    /// The command always compares them for compressed members and for members of at most 64 MiB. Of larger ones it may read only
    /// the selected rows; --verify makes it read and compare all. .npy, .safetensors and .gguf files hold no checksum.
    #[arg(long)]
    pub verify: bool,
    /// auto, cpu or gpu
    ///
    /// auto takes the GPU if there is one, else the CPU, which is faster than a software adapter. WGPU_ADAPTER_NAME selects one of
    /// several GPUs.
    #[arg(long, value_enum, default_value_t = Device::Auto, hide_possible_values = true)]
    pub device: Device,
    /// Use only a GPU with NAME in its name
    #[arg(long, value_name = "NAME")]
    pub adapter: Option<String>,
    /// Print neither progress nor what was done
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub form: Form,
}

/// The values of one `--at`.
#[derive(Clone, PartialEq)]
pub struct IndexRow(pub Vec<i64>);

fn index_row(text: &str) -> Result<IndexRow, String> {
    let value = |value: &str| match value.trim() {
        "" => Err("an index is missing; write them without spaces, as 7,0,999".to_owned()),
        value => value
            .parse()
            .map_err(|_| format!("\"{value}\" is no index")),
    };
    text.split(',')
        .map(value)
        .collect::<Result<_, _>>()
        .map(IndexRow)
}

/// The dtype or encoding of a name: NumPy's, ml_dtypes', GGUF's or that of safetensors.
fn dtype_of(name: &str) -> Result<Dtype, String> {
    let lower = name.to_ascii_lowercase();
    let name = match lower.as_str() {
        "bfloat16" => "bf16",
        "float8_e4m3fn" => "f8_e4m3",
        "float8_e5m2" => "f8_e5m2",
        "f16" => "float16",
        "f32" => "float32",
        name => name,
    };
    if let Some(dtype) = Dtype::from_code(name) {
        return Ok(dtype);
    }
    let size = |size: u64| usize::try_from(size).map_err(|error| error.to_string());
    match name.to_ascii_uppercase().parse::<Encoding>() {
        Ok(encoding) if encoding.row_bytes(0) == Some(0) => Ok(Dtype::of_format(
            encoding.to_string(),
            size(encoding.block_len())?,
            size(encoding.block_bytes())?,
        )),
        _ => Err("it is neither a dtype nor an encoding".to_owned()),
    }
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Operation {
    Gather,
    #[value(alias = "gather-nd")]
    GatherNd,
    #[value(alias = "gather-elements")]
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

/// The float types by their names.
fn floats() -> impl TypedValueParser<Value = FloatKind> {
    let names = FloatKind::ALL.iter().map(FloatKind::to_string);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<FloatKind>())
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
            Self::Doctor(choice) => choice.form.json,
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
        if self.indices.is_none() && self.at.is_empty() {
            let error = "INDICES or --at I,J,.. is missing";
            refuse(ErrorKind::MissingRequiredArgument, error);
        }
        if self.operation != Operation::GatherElements && self.broadcast {
            let error = "--broadcast is for gather_elements";
            refuse(ErrorKind::ArgumentConflict, error);
        }
        if self.fill.is_some() && self.bad_indices != BadIndices::Fill {
            let error = "--fill needs --bad-indices fill";
            refuse(ErrorKind::ArgumentConflict, error);
        }
        if self
            .at
            .windows(2)
            .any(|two| two[0].0.len() != two[1].0.len())
        {
            let error = "each --at must have as many indices as the others";
            refuse(ErrorKind::ValueValidation, error);
        }
        if self.output.is_none() && !self.prints() {
            let error = "--output OUT.npy or --print is missing: standard output is no terminal";
            refuse(ErrorKind::MissingRequiredArgument, error);
        }
        if self.device == Device::Cpu && self.adapter.is_some() {
            refuse(ErrorKind::ArgumentConflict, "--device cpu has no --adapter");
        }
        if self.inputs().filter(|(_, path)| is_stdin(path)).count() > 1 {
            let error = "only one of PARAMS and INDICES can be standard input";
            refuse(ErrorKind::ArgumentConflict, error);
        }
        let output = self.output.as_ref().filter(|_| !self.output_is_stdout());
        let inputs = output.into_iter().flat_map(|_| self.inputs());
        for (name, path) in inputs {
            let file = match is_stdin(path) {
                true => Path::new("/dev/stdin"),
                false => file_of(path),
            };
            if output.is_some_and(|output| is_same_file(output, file)) {
                let error = format!("--output is the file of {name}, {}", path.display());
                refuse(ErrorKind::ArgumentConflict, &error);
            }
        }
        if self.output_is_stdout() && (self.form.json || self.print) {
            let option = if self.form.json { "--json" } else { "--print" };
            let error = &format!("{option} and --output - both need standard output");
            refuse(ErrorKind::ArgumentConflict, error);
        }
        if self.output_is_stdout() && std::io::stdout().is_terminal() {
            let error = "--output - is a terminal, and .npy is not text";
            refuse(ErrorKind::ValueValidation, error);
        }
        let output = self.output.as_deref().unwrap_or(Path::new(""));
        let extension = output.extension().and_then(|name| name.to_str());
        if let Some(other @ ("npz" | "safetensors" | "gguf")) = extension {
            let error = format!("--output is a .npy file, found .{other}");
            refuse(ErrorKind::ValueValidation, &error);
        }
    }

    /// The arrays that are read, each with the name of its argument.
    fn inputs(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let indices = self.indices.iter().map(|path| ("INDICES", path.as_path()));
        [("PARAMS", self.params.as_path())]
            .into_iter()
            .chain(indices)
    }

    /// True if the output is `-`, or a name that the system has for standard output.
    pub fn output_is_stdout(&self) -> bool {
        let names = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
        let output = self.output.as_deref();
        output.is_some_and(|output| names.iter().any(|name| output == Path::new(name)))
    }

    /// True if the rows are printed.
    pub fn prints(&self) -> bool {
        self.print || self.output.is_none() && (self.form.json || io::stdout().is_terminal())
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
