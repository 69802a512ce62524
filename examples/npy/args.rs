//! The command line: what may be asked for, and a clear line about what may not.

use std::ffi::OsString;
use std::path::PathBuf;

use wgpu_gather::BadIndices;

pub const USAGE: &str = "\
Gathers from .npy files, as tf.gather_nd and tf.gather do.

usage: npy gather_nd PARAMS.npy INDICES.npy -o OUT.npy [options]
       npy gather    PARAMS.npy INDICES.npy -o OUT.npy [options]

  -o, --output OUT.npy   where the result goes; replaced only once the result is complete
  --axis N               gather: the dim of params to select along; batch-dims unless given
  --batch-dims N         how many leading dims params and indices share; 0 unless given
  --device DEVICE        auto (unless given): the GPU if there is one, else the CPU; cpu; gpu
  --bad-indices POLICY   what an index that is out of range gives:
                           error    an error that names the first one
                           zero     zeros in its slice
                           default  TensorFlow's choice for the device: error for cpu, zero for gpu.
                                    For auto it is error, so that every machine answers the same
  --from-end             a negative index counts from the end of its dim, as in NumPy, Paddle and ONNX
  -h, --help             this text

params: bool, int8 to int64, uint8 to uint64, float16 to float64, complex64, complex128.
indices: int32, int64, uint32, uint64. Both little-endian and in C order.
The GPU is the one that WGPU_BACKEND and WGPU_ADAPTER_NAME choose, if they are set.
Exit status: 0 done, 1 no result (and no output file), 2 wrong arguments.";

/// What the command is asked to do.
pub enum Command {
    Help,
    Gather(Args),
}

/// One gather, from files to a file.
pub struct Args {
    pub operation: Operation,
    pub params: PathBuf,
    pub indices: PathBuf,
    pub output: PathBuf,
    pub batch_dims: i64,
    pub device: Device,
    pub bad_indices: BadIndices,
    pub from_end: bool,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Operation {
    GatherNd,
    Gather { axis: Option<i64> },
}

#[derive(Clone, Copy, PartialEq)]
pub enum Device {
    Auto,
    Cpu,
    Gpu,
}

impl Command {
    /// Reads the arguments behind the command's own name.
    pub fn parse(mut args: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut given = Given::default();
        while let Some(arg) = args.next() {
            let Some(name) = arg.to_str().filter(|arg| arg.starts_with('-')) else {
                given.positional.push(arg);
                continue;
            };
            // `--axis=1` is `--axis 1`.
            let (name, attached) = match name.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value)),
                _ => (name, None),
            };
            let (name, value) = match name {
                "-h" | "--help" => return Ok(Self::Help),
                "--from-end" => {
                    if let Some(value) = attached {
                        return Err(format!("{name} takes no value, found {value:?}"));
                    }
                    given.from_end = true;
                    continue;
                }
                "-o" | "--output" => ("--output", &mut given.output),
                "--axis" => ("--axis", &mut given.axis),
                "--batch-dims" => ("--batch-dims", &mut given.batch_dims),
                "--device" => ("--device", &mut given.device),
                "--bad-indices" => ("--bad-indices", &mut given.bad_indices),
                _ => return Err(format!("unknown option {name}")),
            };
            let new = match attached {
                Some(value) => value.into(),
                None => args.next().ok_or(format!("{name} needs a value"))?,
            };
            if value.replace(new).is_some() {
                return Err(format!("{name} is given twice"));
            }
        }
        given.check().map(Self::Gather)
    }
}

/// The arguments as they were given.
#[derive(Default)]
struct Given {
    positional: Vec<OsString>,
    output: Option<OsString>,
    axis: Option<OsString>,
    batch_dims: Option<OsString>,
    device: Option<OsString>,
    bad_indices: Option<OsString>,
    from_end: bool,
}

impl Given {
    fn check(self) -> Result<Args, String> {
        let axis = self.axis.map(|axis| integer("--axis", &axis)).transpose()?;
        let mut positional = self.positional.into_iter();
        let operation = match positional.next() {
            Some(name) if name == "gather" => Operation::Gather { axis },
            Some(name) if name == "gather_nd" && axis.is_none() => Operation::GatherNd,
            Some(name) if name == "gather_nd" => return Err("gather_nd has no --axis".into()),
            Some(name) => {
                return Err(format!(
                    "operation must be gather or gather_nd, found {name:?}"
                ));
            }
            None => return Err("no operation given".into()),
        };
        let (Some(params), Some(indices), None) =
            (positional.next(), positional.next(), positional.next())
        else {
            return Err("two files must be given: PARAMS.npy INDICES.npy".into());
        };
        let output = self.output.ok_or("no --output given")?;
        for (name, path) in [
            ("PARAMS.npy", &params),
            ("INDICES.npy", &indices),
            ("--output", &output),
        ] {
            if path.is_empty() {
                return Err(format!("{name} must be the name of a file, found \"\""));
            }
        }
        let batch_dims = self
            .batch_dims
            .map_or(Ok(0), |batch_dims| integer("--batch-dims", &batch_dims))?;
        let device = one_of(
            "--device",
            self.device,
            [
                ("auto", Device::Auto),
                ("cpu", Device::Cpu),
                ("gpu", Device::Gpu),
            ],
        )?;
        let default_policy = match device {
            Device::Gpu => BadIndices::Zero,
            Device::Auto | Device::Cpu => BadIndices::Error,
        };
        let bad_indices = one_of(
            "--bad-indices",
            self.bad_indices,
            [
                ("default", default_policy),
                ("error", BadIndices::Error),
                ("zero", BadIndices::Zero),
            ],
        )?;
        Ok(Args {
            operation,
            params: params.into(),
            indices: indices.into(),
            output: output.into(),
            batch_dims,
            device,
            bad_indices,
            from_end: self.from_end,
        })
    }
}

fn integer(name: &str, value: &OsString) -> Result<i64, String> {
    value
        .to_str()
        .and_then(|value| value.parse().ok())
        .ok_or_else(|| format!("{name} must be an integer, found {value:?}"))
}

/// The choice with the given name; the first one if none is given.
fn one_of<T: Copy>(
    name: &str,
    value: Option<OsString>,
    choices: [(&str, T); 3],
) -> Result<T, String> {
    let Some(value) = value else {
        return Ok(choices[0].1);
    };
    let names = choices.map(|(choice, _)| choice).join(", ");
    choices
        .into_iter()
        .find(|(choice, _)| value == *choice)
        .map(|(_, meaning)| meaning)
        .ok_or_else(|| format!("{name} must be one of {names}, found {value:?}"))
}
