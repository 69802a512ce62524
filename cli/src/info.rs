//! `wgpu-gather info`: describes the arrays in files, from their headers.

use serde_json::{Value, json};

use crate::args::Info;
use crate::output::Output;
use crate::table::Columns;
use wgpu_gather_cli::arrays::names::on_one_line;
use wgpu_gather_cli::arrays::{Entry, Result, Source};

/// Prints a line for each array, or one JSON document. Nothing is printed before all headers were checked. Each array is printed
/// as it is read: a header may describe more than memory holds as text.
pub fn describe(args: &Info) -> Result<()> {
    let sources: Result<Vec<_>> = args
        .files
        .iter()
        .map(|file| Source::to_list(file))
        .collect();
    let mut sources = sources?;
    let has_files = sources.len() > 1;
    let names: &[&str] = match has_files {
        true => &["file", "name", "dtype", "shape"],
        false => &["name", "dtype", "shape"],
    };
    let mut columns = Columns::new(names, &["bytes"]);
    for source in &mut sources {
        let file = has_files.then(|| source.text());
        source.list(&mut |entry| columns.widen(&cells(file.as_deref(), entry)))?;
    }
    let mut output;
    if args.form.json {
        output = Output::json();
        output.write("{\n  \"arrays\": [");
        let mut is_first = true;
        for source in &mut sources {
            let file = source.text();
            source.list(&mut |entry| {
                if !is_first {
                    output.write(",");
                }
                is_first = false;
                let text = format!("\n{:#}", json_of(&file, entry));
                output.write(&text.replace('\n', "\n    "));
            })?;
        }
        output.write(if is_first { "]\n}\n" } else { "\n  ]\n}\n" });
    } else {
        output = Output::text();
        output.write(&columns.header());
        for source in &mut sources {
            let file = has_files.then(|| source.text());
            source
                .list(&mut |entry| output.write(&columns.line(&cells(file.as_deref(), entry))))?;
        }
    }
    output.end()
}

fn cells(file: Option<&str>, entry: Entry) -> Vec<String> {
    let or_dash = |text: Option<String>| text.unwrap_or("-".to_owned());
    let cells = [
        or_dash(entry.name),
        entry
            .dtype
            .unwrap_or_else(|error| format!("unreadable: {error}")),
        or_dash(entry.shape.map(|shape| format!("{shape:?}"))),
        or_dash(entry.bytes.map(|bytes| bytes.to_string())),
    ];
    let cells = file.map(str::to_owned).into_iter().chain(cells);
    cells.map(|text| on_one_line(&text)).collect()
}

fn json_of(file: &str, entry: Entry) -> Value {
    let mut value = json!({
        "file": file,
        "name": entry.name,
        "dtype": entry.dtype.as_ref().ok(),
        "shape": entry.shape,
        "bytes": entry.bytes,
    });
    if let Err(error) = entry.dtype {
        value["error"] = error.into();
    }
    value
}
