//! `wgpu-gather info`: the arrays of files, from their headers.

use serde_json::{Value, json};

use crate::args::Info;
use crate::table::Table;
use wgpu_gather_cli::arrays::{Entry, Result, list};

/// A line for each array, or one JSON document.
pub fn describe(args: &Info) -> Result<String> {
    let mut entries = Vec::new();
    for file in &args.files {
        let of_file = list(file)?.into_iter();
        entries.extend(of_file.map(|entry| (file.display().to_string(), entry)));
    }
    if args.form.json {
        let arrays: Vec<Value> = entries.iter().map(json_of).collect();
        return Ok(format!("{:#}", json!({ "arrays": arrays })));
    }
    let has_files = args.files.len() > 1;
    let names: &[&str] = match has_files {
        true => &["file", "name", "dtype", "shape"],
        false => &["name", "dtype", "shape"],
    };
    let mut table = Table::new(names, &["bytes"]);
    for (file, entry) in entries {
        let name = entry.name.unwrap_or("-".to_owned());
        let texts = [file, name, entry.dtype, format!("{:?}", entry.shape)];
        // A name from a file may have line breaks or a terminal's control codes.
        let texts = texts.map(|text| text.replace(char::is_control, " "));
        let cells = texts.into_iter().skip(usize::from(!has_files));
        table.row(cells.chain([entry.bytes.to_string()]).collect());
    }
    Ok(table.to_string())
}

fn json_of((file, entry): &(String, Entry)) -> Value {
    json!({
        "file": file,
        "name": entry.name,
        "dtype": entry.dtype,
        "shape": entry.shape,
        "bytes": entry.bytes,
    })
}
