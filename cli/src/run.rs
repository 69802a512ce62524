//! `wgpu-gather run`: one gather, from files to a file. A gather moves bytes, so only an element's size matters:
//! float16 is gathered like uint16. Encoded rows are decoded to float32.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;
use wgpu_gather::{
    ElementTypes, Encoding, Executor, Gather, GatherElements, GatherNd, GatherPlan, GpuError,
    IndexKind, NegativeIndices, RunError, wgpu,
};

use crate::args::{Device, Operation, Run};
use crate::choose;
use crate::quantized::Table;
use wgpu_gather_cli::arrays::names::on_one_line;
use wgpu_gather_cli::arrays::npy_write::{check_stdout, write_to_stdout};
use wgpu_gather_cli::arrays::{Array, Dtype, Result, read, write};

/// Gathers from file to file. Returns a line that says what was gathered, or a JSON document. If standard output has the
/// array, the line is written to standard error.
pub fn run(args: &Run) -> Result<Option<String>> {
    if args.output_is_stdout() {
        check_stdout()?;
    }
    let params = read(&args.params)?;
    let indices = read(&args.indices)?;
    let index_kind = index_kind(args, indices.dtype)?;
    let table = Table::of(args, &params)?;
    let encoding = match &table {
        Some(table) => Some(table.encoding),
        None => encoding(args, params.dtype)?,
    };
    let types = match encoding {
        None => ElementTypes::new(params.dtype.bytes as u64, index_kind),
        Some(encoding) => ElementTypes::encoded(encoding, index_kind),
    };
    let plan = match &table {
        Some(table) => make_plan(args, &table.shape(&params.shape), &indices.shape)?,
        None => make_plan(args, &params.shape, &indices.shape)?,
    };
    let (gpu, device) = match args.device {
        Device::Cpu => (None, "the CPU".to_owned()),
        // A GPU that is named is not replaced by the CPU.
        Device::Auto if args.adapter.is_none() => match open_faster() {
            Ok(gpu) => (Some(gpu.clone()), gpu.to_string()),
            Err(error) => (None, format!("the CPU ({error})")),
        },
        Device::Auto | Device::Gpu => {
            let gpu = open(args)?;
            (Some(gpu.clone()), gpu.to_string())
        }
    };
    let started = Instant::now();
    let gathered = match (&table, &gpu) {
        (Some(table), gpu) => table.gather(gpu.as_ref(), &plan, &params, (index_kind, &indices))?,
        (None, Some(gpu)) => {
            let upload = |bytes: &[u8]| gpu.upload(bytes, &[bytes.len()]);
            let (params, indices) = (upload(&params.bytes)?, upload(&indices.bytes)?);
            gpu.gather_bytes(&plan, types, &params, &indices).wait()
        }
        _ => plan
            .run_bytes(types, &params.bytes, &indices.bytes)
            .map_err(GpuError::from),
    };
    let took = started.elapsed();
    // The file has a dtype of NumPy.
    let code = match encoding {
        None => params.dtype.code(),
        Some(_) => "f4",
    };
    let dtype = Dtype::from_code(code).expect("a dtype of NumPy");
    let output = Array {
        dtype,
        shape: plan.output_shape().to_vec(),
        bytes: gathered.map_err(|error| explained(args, error))?,
    };
    let rows = out_of_range(&plan, index_kind, &indices)?;
    let bad_rows = rows.iter().filter(|&&is_bad| is_bad).count();
    let (path, shape) = (args.output.display(), &output.shape);
    let line = format!(
        "{path}: {dtype} {shape:?}, {} gathered on {device} in {}, {} out of range",
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
    if args.output_is_stdout() {
        write_to_stdout(&output)?;
        // The array is all of standard output.
        let _ = writeln!(anstream::stderr(), "{}", on_one_line(&line));
        return Ok(None);
    }
    write(&args.output, &output)?;
    Ok(Some(match args.form.json {
        false => on_one_line(&line),
        true => format!(
            "{:#}",
            json!({
                "output": path.to_string(),
                "dtype": dtype.to_string(),
                "shape": shape,
                "device": device,
                "seconds": took.as_secs_f64(),
                "rows": rows.len(),
                "bad_rows": bad_rows,
            })
        ),
    }))
}

fn index_kind(args: &Run, dtype: Dtype) -> Result<IndexKind> {
    Ok(match dtype.code() {
        "i1" => IndexKind::I8,
        "u1" => IndexKind::U8,
        "i2" => IndexKind::I16,
        "u2" => IndexKind::U16,
        "i4" => IndexKind::I32,
        "i8" => IndexKind::I64,
        "u4" => IndexKind::U32,
        "u8" => IndexKind::U64,
        _ => {
            let path = args.indices.display();
            return Err(format!("{path}: indices must be integers, found {dtype}").into());
        }
    })
}

/// The encoding to decode params by, if they are blocks or `--decode` asks for it.
fn encoding(args: &Run, dtype: Dtype) -> Result<Option<Encoding>> {
    if dtype.block_len == 1 && !args.decode {
        return Ok(None);
    }
    match dtype.encoding().parse() {
        Ok(encoding) => Ok(Some(encoding)),
        Err(_) => {
            // Rows with scales at their end have no name in a file: options ask for them.
            let named = Encoding::ALL.iter().filter(|of| of.row_bytes(0) == Some(0));
            let all: Vec<String> = named.map(Encoding::to_string).collect();
            let (path, all) = (args.params.display(), all.join(", "));
            Err(format!("{path}: {dtype} is not decoded, only {all}").into())
        }
    }
}

/// An error with the file of the bad index, and the way out for a negative one.
fn explained(args: &Run, error: GpuError) -> String {
    match error {
        GpuError::Run(RunError::BadIndex(bad)) => {
            let remedy = match bad.index.iter().any(|&value| value < 0) && !args.from_end {
                true => "; with --from-end a negative index counts from the end",
                false => "",
            };
            format!("{}: {bad}{remedy}", args.indices.display())
        }
        error => error.to_string(),
    }
}

/// For each index row, true if it is out of range.
fn out_of_range(plan: &GatherPlan, kind: IndexKind, indices: &Array) -> Result<Vec<bool>> {
    macro_rules! of {
        ($number:ty) => {
            plan.out_of_range(&indices.numbers(<$number>::from_le_bytes)?)?
        };
    }
    Ok(match kind {
        IndexKind::I8 => of!(i8),
        IndexKind::U8 => of!(u8),
        IndexKind::I16 => of!(i16),
        IndexKind::U16 => of!(u16),
        IndexKind::I32 => of!(i32),
        IndexKind::U32 => of!(u32),
        IndexKind::I64 => of!(i64),
        IndexKind::U64 => of!(u64),
        kind => return Err(format!("indices of {kind:?} are not counted").into()),
    })
}

/// A time in the unit that leaves it at least 1.
fn time(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds >= 1.0 => format!("{seconds:.1} s"),
        seconds if seconds >= 1e-3 => format!("{:.1} ms", seconds * 1e3),
        seconds => format!("{:.0} us", seconds * 1e6),
    }
}

fn open(args: &Run) -> std::result::Result<Executor, GpuError> {
    pollster::block_on(choose::open(args.adapter.as_deref()))
}

/// A GPU, or a software adapter if `WGPU_ADAPTER_NAME` asks for it: the CPU path is faster.
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

fn make_plan(args: &Run, params: &[usize], indices: &[usize]) -> Result<GatherPlan> {
    let negative_indices = if args.from_end {
        NegativeIndices::FromEnd
    } else {
        NegativeIndices::Invalid
    };
    let plan = match args.operation {
        Operation::GatherNd => {
            let gather = GatherNd::new()
                .batch_dims(args.batch_dims)
                .bad_indices(args.bad_indices)
                .negative_indices(negative_indices);
            args.axis
                .map_or(gather, |axis| gather.axis(axis))
                .plan(params, indices)
        }
        Operation::GatherElements => GatherElements::new()
            .axis(args.axis.unwrap_or(0))
            .bad_indices(args.bad_indices)
            .negative_indices(negative_indices)
            .plan(params, indices),
        Operation::Gather => {
            let gather = Gather::new()
                .batch_dims(args.batch_dims)
                .bad_indices(args.bad_indices)
                .negative_indices(negative_indices);
            args.axis
                .map_or(gather, |axis| gather.axis(axis))
                .plan(params, indices)
        }
    };
    Ok(plan?)
}
