//! `wgpu-gather run`: one gather, from files to a file or a terminal. A gather moves bytes, so only an element's size matters:
//! float16 is gathered like uint16. Encoded rows are decoded to floats. From a large table only the selected slices are read.
//! They form a small table, from which new indices gather the output.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;
use wgpu_gather::half::{bf16, f16};
use wgpu_gather::{
    BadIndices, ElementTypes, Encoding, Executor, FloatKind, Gather, GatherElements, GatherNd,
    GatherPlan, GpuError, NegativeIndices, RunError, wgpu,
};

use crate::args::{Device, Operation, Run};
use crate::choose;
use crate::decoded;
use crate::indices::Indices;
use crate::progress::OfBytes;
use crate::rows;
use wgpu_gather_cli::arrays::descr::Kind;
use wgpu_gather_cli::arrays::names::{on_one_line, shown};
use wgpu_gather_cli::arrays::npy_write::{check_stdout, write_to_stdout, write_with_progress};
use wgpu_gather_cli::arrays::{Array, Dtype, Result, Stored, open};

/// Gathers from files. Returns what to print: a JSON document, the rows, or a line that says what was gathered. If standard
/// output takes the rows, that line goes to standard error.
pub fn run(args: &Run) -> Result<String> {
    if args.output_is_stdout() {
        check_stdout()?;
    }
    let params = open(&args.params)?.verified(args.verify);
    let params = match &args.view {
        Some(dtype) => params.view(dtype.clone())?,
        None => params,
    };
    let indices = Indices::of(args, params.shape.len())?;
    let encoding = encoding(args, &params.dtype)?;
    let shape = params.shape.clone();
    let plan = make_plan(args, args.bad_indices, &shape, &indices.shape)?;
    let (params, shape, plan) = match params.dtype.is_packed() {
        true => {
            check_packed(args, &params.dtype, &plan)?;
            let params = params.unpacked();
            let shape = params.shape.clone();
            let plan = make_plan(args, args.bad_indices, &shape, &indices.shape)?;
            (params, shape, plan)
        }
        false => (params, shape, plan),
    };
    let dtype = match encoding {
        None => params.dtype.clone(),
        Some(_) => dtype_of(args.to.unwrap_or_default()),
    };
    let fill = args
        .fill
        .as_deref()
        .map(|number| element_of(number, &dtype))
        .transpose()?;
    let (gpu, device) = device_of(args)?;
    let work = Work {
        args,
        encoding,
        dtype: &dtype,
        shape: &shape,
        plan: &plan,
        indices: &indices,
        fill,
    };
    let (bytes, took) = work.gather(params, gpu.as_ref())?;
    let output = Array {
        dtype,
        shape: plan.output_shape().to_vec(),
        bytes,
    };
    let rows = indices.out_of_range(&plan)?;
    let bad_rows = rows.iter().filter(|&&is_bad| is_bad).count();
    let path = args.output.as_ref().map(|path| path.display().to_string());
    let line = format!(
        "{}{} {:?}, {} gathered on {device} in {}, {} out of range",
        path.as_ref()
            .map_or(String::new(), |path| format!("{path}: ")),
        shown(&output.dtype.to_string()),
        output.shape,
        match rows.len() {
            1 => "1 row".to_owned(),
            count => format!("{count} rows"),
        },
        time(took),
        match bad_rows {
            0 => "none".to_owned(),
            count => count.to_string(),
        }
    );
    let line = on_one_line(&line);
    // The text is made before a file is, so that an error leaves none.
    let text = match args.form.json {
        true => {
            let document = json!({
                "output": path,
                "dtype": output.dtype.to_string(),
                "shape": output.shape,
                "device": device,
                "seconds": took.as_secs_f64(),
                "rows": rows.len(),
                "bad_rows": bad_rows,
            });
            let mut text = format!("{document:#}");
            if args.prints() {
                text.truncate(text.len() - "\n}".len());
                text += ",\n  \"values\": ";
                rows::write_json(&output, &mut text)?;
                text += "\n}";
            }
            text
        }
        false if args.prints() => rows::text(&output)?,
        false => String::new(),
    };
    let is_array = args.output_is_stdout();
    if is_array {
        write_to_stdout(&output)?;
    } else if let Some(path) = &args.output {
        let size = output.bytes.len() as u64;
        let progress = OfBytes::new(format!("writes {}", path.display()), size, args.quiet);
        write_with_progress(path, &output, &|bytes| progress.add(bytes))?;
    }
    if args.quiet || args.form.json {
        return Ok(text);
    }
    match is_array || args.prints() {
        true => {
            let _ = writeln!(anstream::stderr(), "{line}");
            Ok(text)
        }
        false => Ok(line),
    }
}

/// The GPU to gather on, if any, and the device's name.
fn device_of(args: &Run) -> Result<(Option<Executor>, String)> {
    Ok(match args.device {
        Device::Cpu => (None, "the CPU".to_owned()),
        // The CPU never replaces a named GPU.
        Device::Auto if args.adapter.is_none() => match open_faster() {
            Ok(gpu) => (Some(gpu.clone()), gpu.to_string()),
            Err(error) => (None, format!("the CPU ({error})")),
        },
        Device::Auto | Device::Gpu => {
            let gpu = pollster::block_on(choose::open(args.adapter.as_deref()))?;
            (Some(gpu.clone()), gpu.to_string())
        }
    })
}

/// One gather, whose table was not read yet.
struct Work<'a> {
    args: &'a Run,
    encoding: Option<Encoding>,
    /// The dtype of the output.
    dtype: &'a Dtype,
    /// The shape of params, in values.
    shape: &'a [usize],
    plan: &'a GatherPlan,
    indices: &'a Indices,
    /// The element that fills bad rows, if given.
    fill: Option<Vec<u8>>,
}

impl Work<'_> {
    /// Reads all params, or only the slices that the indices select, and gathers. Returns the output's bytes, and the time
    /// without that for reading.
    fn gather(&self, mut params: Stored, gpu: Option<&Executor>) -> Result<(Vec<u8>, Duration)> {
        let (args, plan) = (self.args, self.plan);
        let slice_len = plan.slice_len();
        let output_rows = plan.output_len().checked_div(slice_len).unwrap_or(0);
        // A slice of an encoded table covers whole rows.
        let row_len = match self.encoding {
            None => slice_len,
            Some(_) => self.shape.last().copied().unwrap_or(1),
        };
        let rows = slice_len.checked_div(row_len).unwrap_or(0);
        let is_whole = rows > 0 && slice_len.is_multiple_of(row_len);
        let reads_slices = is_whole && params.has_slices(output_rows, slice_len);
        // By default a GPU fills slices, and the CPU returns an error.
        let policy = match (args.bad_indices, gpu) {
            (BadIndices::DeviceDefault, Some(_)) => BadIndices::Fill,
            (policy, _) => policy,
        };
        let selected = match reads_slices || self.fill.is_some() {
            true => {
                let plan = make_plan(args, policy, self.shape, &self.indices.shape)?;
                let rows = self.indices.params_rows(&plan)?;
                Some(rows.map_err(|error| self.explained(error.into()))?)
            }
            false => None,
        };
        if let (Some(rows_of_params), true) = (&selected, reads_slices) {
            let (slices, places) = once_each(rows_of_params)?;
            let total = slices.len() * slice_len / row_len;
            let values = slices.len().saturating_mul(slice_len);
            let progress = self.progress(&params, total, values, params.checked_bytes());
            let progress = |bytes| progress.add(bytes);
            let read = Array {
                bytes: params.read_slices(&slices, slice_len, &progress)?,
                dtype: params.dtype.clone(),
                shape: Vec::new(),
            };
            let shape = vec![slices.len(), rows, row_len];
            let gather = Gather::new().bad_indices(BadIndices::Fill);
            let plan = gather.plan(&shape, &[places.len()])?;
            let count = vec![places.len()];
            let indices = Indices::of_numbers(self.indices.source.clone(), count, &places)?;
            return self.on(read, &shape, &plan, &indices, gpu, selected.as_deref());
        }
        let dims = params.shape.iter();
        let values = dims.fold(1, |len: usize, &dim| len.saturating_mul(dim));
        let rows = plan.params_len() / row_len.max(1);
        let progress = self.progress(&params, rows, values, 0);
        self.on(
            params.read(&|bytes| progress.add(bytes))?,
            self.shape,
            self.plan,
            self.indices,
            gpu,
            selected.as_deref(),
        )
    }

    /// Shows the progress while `rows` rows of params are read, `values` values in all, and `checked` bytes before.
    fn progress(&self, params: &Stored, rows: usize, values: usize, checked: u64) -> OfBytes {
        let bytes = checked + (values / params.dtype.block_len) as u64 * params.dtype.bytes as u64;
        let what = format!("reads {rows} rows of {}", self.args.params.display());
        OfBytes::new(what, bytes, self.args.quiet)
    }

    /// Gathers from `read`, whose values have `shape`, and fills bad rows.
    fn on(
        &self,
        mut read: Array,
        shape: &[usize],
        plan: &GatherPlan,
        indices: &Indices,
        gpu: Option<&Executor>,
        rows: Option<&[Option<usize>]>,
    ) -> Result<(Vec<u8>, Duration)> {
        if self.encoding.is_some() {
            read = read.little_endian();
        }
        let started = Instant::now();
        let kind = indices.kind;
        let gathered = match (self.encoding, gpu) {
            (Some(encoding), gpu) => {
                let to = self.args.to.unwrap_or_default();
                decoded::gather(&read, (encoding, to), shape, gpu, plan, indices)?
            }
            (None, _) if self.dtype.bytes == 0 => match indices.params_rows(plan)? {
                Ok(_) => Ok(Vec::new()),
                Err(error) => Err(error.into()),
            },
            (None, gpu) => {
                let types = ElementTypes::new(self.dtype.bytes as u64, kind);
                let (params, indices) = (&read.bytes, &indices.array.bytes);
                match gpu {
                    None => plan
                        .gather_bytes(types, params, indices)
                        .map_err(GpuError::from),
                    Some(gpu) => {
                        let upload = |bytes: &[u8]| gpu.upload(bytes, &[bytes.len()]);
                        let (params, indices) = (upload(params)?, upload(indices)?);
                        gpu.gather_bytes(plan, types, &params, &indices).wait()
                    }
                }
            }
        };
        let mut gathered = gathered.map_err(|error| self.explained(error))?;
        if let (Some(fill), Some(rows)) = (&self.fill, rows) {
            let slice_bytes = gathered.len() / rows.len().max(1);
            for (row, slice) in rows.iter().zip(gathered.chunks_mut(slice_bytes.max(1))) {
                if row.is_none() {
                    slice
                        .chunks_mut(fill.len())
                        .for_each(|to| to.copy_from_slice(fill));
                }
            }
        }
        Ok((gathered, started.elapsed()))
    }

    /// Adds the source of a bad index to an error, and suggests `--from-end` for a negative one.
    fn explained(&self, error: GpuError) -> String {
        match error {
            GpuError::Run(RunError::BadIndex(bad)) => {
                let is_negative = bad.index.iter().any(|&value| value < 0);
                let remedy = match is_negative && !self.args.from_end {
                    true => "; with --from-end a negative index counts from the end",
                    false => "",
                };
                format!("{}: {bad}{remedy}", self.indices.source)
            }
            error => error.to_string(),
        }
    }
}

/// The selected rows in ascending order, each once, and each output row's place among them; -1 for none.
fn once_each(rows: &[Option<usize>]) -> Result<(Vec<usize>, Vec<i64>)> {
    let no_memory = |_| format!("out of memory for {} rows", rows.len());
    let (mut slices, mut places) = (Vec::new(), Vec::new());
    slices.try_reserve_exact(rows.len()).map_err(no_memory)?;
    places.try_reserve_exact(rows.len()).map_err(no_memory)?;
    slices.extend(rows.iter().flatten());
    slices.sort_unstable();
    slices.dedup();
    for row in rows {
        let place = row.and_then(|row| slices.binary_search(&row).ok());
        places.push(place.map_or(Ok(-1), i64::try_from)?);
    }
    Ok((slices, places))
}

/// Returns an error if slices of floats smaller than a byte are not whole bytes, or the fill is to be such a float.
fn check_packed(args: &Run, dtype: &Dtype, plan: &GatherPlan) -> Result<()> {
    let (slice_len, block_len) = (plan.slice_len(), dtype.block_len);
    if !slice_len.is_multiple_of(block_len) {
        return Err(format!(
            "slices must be whole blocks of {dtype}, of {block_len} values each, found {slice_len}"
        )
        .into());
    }
    match args.fill {
        Some(_) => Err(no_fill(dtype).into()),
        None => Ok(()),
    }
}

fn no_fill(dtype: &Dtype) -> String {
    format!("--fill is for bool, integers, BF16, float16, float32 and float64, found {dtype}")
}

/// A number's bytes as an element of `dtype`.
fn element_of(number: &str, dtype: &Dtype) -> Result<Vec<u8>> {
    let element = dtype.element()?;
    let bytes = element.bytes;
    let wrong = || format!("--fill {number} is no {dtype}");
    let float = || number.parse::<f32>().map_err(|_| wrong());
    let check = |value: f32| {
        let is_large = value.is_infinite() && !number.to_ascii_lowercase().contains("inf");
        if is_large { Err(wrong()) } else { Ok(()) }
    };
    let mut little: Vec<u8> = match (&element.kind, bytes) {
        (Kind::Bool, _) => match number {
            "0" | "false" | "False" => vec![0],
            "1" | "true" | "True" => vec![1],
            _ => return Err(wrong().into()),
        },
        (Kind::Int, _) => {
            let value: i64 = number.parse().map_err(|_| wrong())?;
            let unused = 64 - 8 * bytes;
            match value << unused >> unused == value {
                true => value.to_le_bytes()[..bytes].to_vec(),
                false => return Err(wrong().into()),
            }
        }
        (Kind::Uint, _) => {
            let value: u64 = number.parse().map_err(|_| wrong())?;
            match value << (64 - 8 * bytes) >> (64 - 8 * bytes) == value {
                true => value.to_le_bytes()[..bytes].to_vec(),
                false => return Err(wrong().into()),
            }
        }
        (Kind::Float, 2) => {
            let value = f16::from_f32(float()?);
            check(value.to_f32())?;
            value.to_le_bytes().to_vec()
        }
        (Kind::Void, 2) if dtype.encoding() == "BF16" => {
            let value = bf16::from_f32(float()?);
            check(value.to_f32())?;
            value.to_le_bytes().to_vec()
        }
        (Kind::Float, 4) => {
            let value = float()?;
            check(value)?;
            value.to_le_bytes().to_vec()
        }
        (Kind::Float, 8) => number
            .parse::<f64>()
            .map_err(|_| wrong())?
            .to_le_bytes()
            .to_vec(),
        _ => return Err(no_fill(dtype).into()),
    };
    if element.is_big_endian {
        little.reverse();
    }
    Ok(little)
}

/// The dtype of decoded values.
fn dtype_of(to: FloatKind) -> Dtype {
    match to {
        // Written as ml_dtypes does: NumPy has no bfloat16.
        FloatKind::Bf16 => Dtype::of_format("BF16", 1, 2),
        FloatKind::F16 => Dtype::from_code("f2").expect("a dtype of NumPy"),
        _ => Dtype::from_code("f4").expect("a dtype of NumPy"),
    }
}

/// The encoding to decode params by, if they are blocks, or `--decode` or `--to` asks for it.
fn encoding(args: &Run, dtype: &Dtype) -> Result<Option<Encoding>> {
    let asks = args.decode || args.to.is_some();
    if (dtype.block_len == 1 || dtype.is_packed()) && !asks {
        return Ok(None);
    }
    let little_endian = dtype.little_endian();
    let dtype = little_endian.as_ref().unwrap_or(dtype);
    match dtype.encoding().parse() {
        Ok(encoding) => Ok(Some(encoding)),
        Err(_) => {
            // Rows with scales at their end have no name in a file.
            let named = Encoding::ALL.iter().filter(|of| of.row_bytes(0) == Some(0));
            let all: Vec<String> = named.map(Encoding::to_string).collect();
            let (path, all) = (args.params.display(), all.join(", "));
            Err(format!("{path}: {dtype} is not decoded, only {all}").into())
        }
    }
}

/// A time in the unit that leaves it at least 1.
fn time(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds >= 1.0 => format!("{seconds:.1} s"),
        seconds if seconds >= 1e-3 => format!("{:.1} ms", seconds * 1e3),
        seconds => format!("{:.0} us", seconds * 1e6),
    }
}

/// Opens a GPU, or a software adapter only if `WGPU_ADAPTER_NAME` asks for it: the CPU path is faster.
fn open_faster() -> std::result::Result<Executor, GpuError> {
    let gpu = pollster::block_on(choose::open(None))?;
    let info = gpu.device()?.adapter_info();
    let is_asked = std::env::var_os("WGPU_ADAPTER_NAME").is_some();
    if info.device_type == wgpu::DeviceType::Cpu && !is_asked {
        let name = info.name;
        return Err(GpuError::NoAdapter(format!(
            "only the software adapter {name}, which is slower than the CPU path"
        )));
    }
    Ok(gpu)
}

fn make_plan(
    args: &Run,
    bad_indices: BadIndices,
    params: &[usize],
    indices: &[usize],
) -> Result<GatherPlan> {
    let negative_indices = if args.from_end {
        NegativeIndices::FromEnd
    } else {
        NegativeIndices::Invalid
    };
    let plan = match args.operation {
        Operation::GatherNd => {
            let gather = GatherNd::new()
                .batch_dims(args.batch_dims)
                .bad_indices(bad_indices)
                .negative_indices(negative_indices);
            args.axis
                .map_or(gather, |axis| gather.axis(axis))
                .plan(params, indices)
        }
        Operation::GatherElements => GatherElements::new()
            .axis(args.axis.unwrap_or(0))
            .broadcast(args.broadcast)
            .bad_indices(bad_indices)
            .negative_indices(negative_indices)
            .plan(params, indices),
        Operation::Gather => {
            let gather = Gather::new()
                .batch_dims(args.batch_dims)
                .bad_indices(bad_indices)
                .negative_indices(negative_indices);
            args.axis
                .map_or(gather, |axis| gather.axis(axis))
                .plan(params, indices)
        }
    };
    Ok(plan?)
}
