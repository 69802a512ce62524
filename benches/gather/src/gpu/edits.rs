//! `--edits` replaces text in shaders and times the changed kernel beside the unchanged one, without rebuilding this
//! program.

use std::path::Path;

use serde_json::Value;
use wgpu_gather::{Gatherer, wgpu};

use super::card::Card;

/// Replaces `from` by `to` in the modules whose label contains `shader`.
#[derive(Debug, Clone)]
struct Edit {
    shader: String,
    from: String,
    to: String,
}

/// The edits of one name, made together.
#[derive(Debug, Clone)]
pub struct Edits {
    pub name: String,
    edits: Vec<Edit>,
}

impl Edits {
    /// Reads a JSON list `[{"name": .., "shader": .., "from": .., "to": ..}, ..]`.
    pub fn read(file: &Path) -> Result<Vec<Self>, String> {
        let wrong = |reason: String| format!("{}: {reason}", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
        let list: Vec<Value> =
            serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let mut named: Vec<Self> = Vec::new();
        for edit in &list {
            let text = |key: &str| {
                let text = edit[key].as_str().map(str::to_owned);
                text.ok_or_else(|| wrong(format!("an edit has no text {key:?}")))
            };
            let name = text("name")?;
            let edit = Edit {
                shader: text("shader")?,
                from: text("from")?,
                to: text("to")?,
            };
            match named.iter_mut().find(|edits| edits.name == name) {
                Some(edits) => edits.edits.push(edit),
                None => named.push(Self {
                    name,
                    edits: vec![edit],
                }),
            }
        }
        Ok(named)
    }
}

/// A gatherer with edited shaders, with or without wgpu's runtime checks.
#[expect(unsafe_code, reason = "wgpu drops its checks in no other way")]
pub fn gatherer(card: &Card, is_checked: bool, edits: Option<&Edits>) -> Gatherer {
    let gatherer = Gatherer::new(&card.device);
    if is_checked && edits.is_none() {
        return gatherer;
    }
    let edits = edits.map_or(Vec::new(), |edits| edits.edits.clone());
    gatherer.with_shader_modules(move |device, mut descriptor| {
        let label = descriptor.label.unwrap_or_default().to_owned();
        if let wgpu::ShaderSource::Wgsl(source) = &mut descriptor.source {
            for edit in edits.iter().filter(|edit| label.contains(&edit.shader)) {
                if !source.contains(&edit.from) {
                    eprintln!("{label} has no {:?}", edit.from);
                }
                *source = source.replace(&edit.from, &edit.to).into();
            }
        }
        if is_checked {
            return device.create_shader_module(descriptor);
        }
        let unchecked = wgpu::ShaderRuntimeChecks::unchecked();
        // SAFETY: The shaders compare every index with its dim, end every loop, and have no other index that depends on
        // data. The caller answers for edits.
        unsafe { device.create_shader_module_trusted(descriptor, unchecked) }
    })
}
