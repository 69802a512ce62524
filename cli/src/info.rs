//! `wgpu-gather info`: the arrays of a file, from their headers.

use serde_json::{Value, json};

use crate::args::Info;
use crate::table::Table;
use wgpu_gather_cli::arrays::{Entry, Result, list};

/// A line for each array, or one JSON document.
pub fn describe(args: &Info) -> Result<String> {
    let entries = list(&args.file)?;
    if args.form.json {
        let arrays: Vec<Value> = entries.iter().map(json_of).collect();
        return Ok(format!("{:#}", json!({ "arrays": arrays })));
    }
    let mut table = Table::new(&["name", "dtype", "shape"], &["bytes"]);
    for entry in entries {
        // A name from a file may have line breaks or a terminal's control codes.
        let name = entry.name.map(|name| name.replace(char::is_control, " "));
        table.row(vec![
            name.unwrap_or("-".to_owned()),
            entry.dtype,
            format!("{:?}", entry.shape),
            entry.bytes.to_string(),
        ]);
    }
    Ok(table.to_string())
}

fn json_of(entry: &Entry) -> Value {
    json!({
        "name": entry.name,
        "dtype": entry.dtype,
        "shape": entry.shape,
        "bytes": entry.bytes,
    })
}
