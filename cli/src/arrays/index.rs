//! Reads models in several .safetensors files, its parts. An index in JSON says which part holds which tensor.
//!
//! A part that the user gives comes first: what it holds is read from it, and the index is read for all else. Only
//! parts that are needed are opened, one at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::array::{Entry, Place};
use super::names::{Result, not_found, shown};
use super::npy_read::{self, Remaining};
use super::safetensors::{MAX_HEADER_BYTES, Safetensors};

/// Most parts of a model: their names number them with five digits.
pub(super) const MAX_PARTS: u64 = 99_999;

/// Splits the name `STEM-NUMBER-of-COUNT` + `ending` of a part into its three texts.
pub(super) fn part_name<'a>(path: &'a Path, ending: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let name = path.file_name()?.to_str()?.strip_suffix(ending)?;
    let (rest, count) = name.rsplit_once("-of-")?;
    let (stem, number) = rest.rsplit_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(number) && is_number(count)).then_some((stem, number, count))
}

/// The path where the index lies, if `path` is named like a part.
fn index_beside(path: &Path) -> Option<PathBuf> {
    let (stem, ..) = part_name(path, ".safetensors")?;
    Some(path.with_file_name(format!("{stem}.safetensors.index.json")))
}

/// The index and the parts of the model, if `path` is its index or is named like a part.
pub(super) fn files_beside(path: &Path) -> Vec<PathBuf> {
    let path = index_beside(path).unwrap_or(path.to_owned());
    let mut files = vec![];
    if let Ok(index) = Index::open(&path) {
        files.extend(index.parts.keys().map(|part| index.path_of(part)));
    }
    files.push(path);
    files
}

/// True if a file that starts with these nine bytes may be an index: a JSON object. A .safetensors file that starts
/// with the same letter has zeros in its header's length.
pub(super) fn is_index(first: &[u8]) -> bool {
    first.trim_ascii_start().starts_with(b"{") && !first.contains(&0)
}

/// The first nine bytes of a file, or fewer if it ends before.
fn first_bytes(file: &mut File) -> Result<Vec<u8>> {
    let mut first = Vec::new();
    file.take(9).read_to_end(&mut first)?;
    file.rewind()?;
    Ok(first)
}

/// An index that was read.
struct Index {
    path: PathBuf,
    /// The sorted names of the tensors in each part.
    parts: BTreeMap<String, Vec<String>>,
}

impl Index {
    fn open(path: &Path) -> Result<Self> {
        let (mut file, bytes) = npy_read::open(path)?;
        match is_index(&first_bytes(&mut file)?) {
            true => Self::read(path, file, bytes),
            false => Err("not an object in JSON".into()),
        }
    }

    /// Reads the index, of `bytes` bytes.
    fn read(path: &Path, file: File, bytes: u64) -> Result<Self> {
        if bytes > MAX_HEADER_BYTES {
            return Err(format!(
                "an index must have at most {MAX_HEADER_BYTES} bytes, found {bytes}"
            )
            .into());
        }
        let mut file = Remaining::new(file, bytes);
        file.part = "index";
        let text = file.take(bytes)?;
        let Text { weight_map } = serde_json::from_slice(&text)
            .map_err(|error| format!("index is not valid: {}", shown(&error.to_string())))?;
        drop(text);
        let mut names = weight_map.0;
        names.sort_unstable();
        if let Some(two) = names.windows(2).find(|two| two[0].0 == two[1].0) {
            return Err(format!("weight_map has the name \"{}\" twice", shown(&two[0].0)).into());
        }
        let mut parts = BTreeMap::<_, Vec<_>>::new();
        for (name, part) in names {
            if !is_file_name(&part) {
                return Err(format!(
                    "weight_map must have the names of files beside the index, found \"{}\" for \"{}\"",
                    shown(&part),
                    shown(&name)
                )
                .into());
            }
            parts.entry(part).or_default().push(name);
            if parts.len() as u64 > MAX_PARTS {
                return Err(format!("weight_map must have at most {MAX_PARTS} parts").into());
            }
        }
        let path = path.to_owned();
        Ok(Self { path, parts })
    }

    fn path_of(&self, part: &str) -> PathBuf {
        self.path.with_file_name(part)
    }

    /// The part that holds the tensor `name`.
    fn part_with(&self, name: &str) -> Option<&str> {
        let mut parts = self.parts.iter();
        let found = parts.find(|(_, names)| has(names, name));
        found.map(|(part, _)| part.as_str())
    }

    /// The error of a part.
    fn error(&self, part: &str, error: &dyn fmt::Display) -> String {
        format!("part {}: {error}", self.path_of(&shown(part)).display())
    }

    /// Reads a part's header. An error names the part.
    fn open_part(&self, part: &str) -> Result<Safetensors<File>> {
        let opened = npy_read::open(&self.path_of(part)).and_then(|(mut file, bytes)| {
            match first_bytes(&mut file)?[..] {
                [.., b'{'] if bytes > 8 => Safetensors::open(file, bytes),
                _ => Err("not a .safetensors file".into()),
            }
        });
        opened.map_err(|error| self.error(part, &error).into())
    }

    /// The error if a part lacks a tensor.
    fn lacks(&self, part: &str, name: &str) -> String {
        let error = format!("no tensor \"{}\", which the index says it has", shown(name));
        self.error(part, &error)
    }
}

/// True if `name` is one of the sorted names.
fn has(names: &[String], name: &str) -> bool {
    names
        .binary_search_by(|other| other.as_str().cmp(name))
        .is_ok()
}

/// True if the text names a file in the folder of the index, on every system: it has no separators, and no colon, which
/// ends a drive's name on Windows.
fn is_file_name(text: &str) -> bool {
    !["", ".", ".."].contains(&text) && !text.contains(['/', '\\', ':', '\0'])
}

/// The text of an index. Its other keys are for other programs.
#[derive(Deserialize)]
struct Text {
    weight_map: WeightMap,
}

/// Each tensor's name, and the part that holds it. A map of the standard library would drop repeated names.
struct WeightMap(Vec<(String, String)>);

impl<'de> Deserialize<'de> for WeightMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = WeightMap;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of files' names")
            }

            fn visit_map<M: MapAccess<'de>>(
                self,
                mut map: M,
            ) -> std::result::Result<WeightMap, M::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs
                        .try_reserve(1)
                        .map_err(|error| serde::de::Error::custom(error.to_string()))?;
                    pairs.push(pair);
                }
                Ok(WeightMap(pairs))
            }
        }

        deserializer.deserialize_map(Pairs)
    }
}

/// A model: a file alone, or the parts that an index names.
pub(super) struct Model {
    /// The file that the user gave and its name in the index, unless the user gave the index.
    given: Option<(String, Safetensors<File>)>,
    index: Option<Index>,
    /// Why there is no index, if the file is named like a part.
    no_index: Option<String>,
}

impl Model {
    /// Reads an index, of `bytes` bytes.
    pub fn of_index(path: &Path, file: File, bytes: u64) -> Result<Self> {
        Ok(Self {
            given: None,
            index: Some(Index::read(path, file, bytes)?),
            no_index: None,
        })
    }

    /// Reads the header of a file of `bytes` bytes and, unless it has the tensor `name`, the index beside it.
    pub fn of_file(path: &Path, file: File, bytes: u64, name: Option<&str>) -> Result<Self> {
        let given = Safetensors::open(file, bytes)?;
        let (mut index, mut no_index) = (None, None);
        let part = path.file_name().unwrap_or_default().to_string_lossy();
        let is_there = name.is_some_and(|name| given.has(name));
        if let Some(beside) = index_beside(path).filter(|_| !is_there) {
            let name = shown(&beside.file_name().unwrap_or_default().to_string_lossy());
            let of_index = |error| format!("index {}: {error}", beside.display());
            if !beside
                .try_exists()
                .map_err(|error| of_index(error.into()))?
            {
                no_index = Some(format!("its index {name} is not beside it"));
            } else {
                let found = Index::open(&beside).map_err(of_index)?;
                match found.parts.contains_key(&*part) {
                    true => index = Some(found),
                    false => no_index = Some(format!("the index {name} does not name it")),
                }
            }
        }
        Ok(Self {
            given: Some((part.into_owned(), given)),
            index,
            no_index,
        })
    }

    /// The file that holds the tensor `name`, and its place there. Without a name the error lists the tensors.
    pub fn place(mut self, name: Option<&str>) -> Result<(File, Place)> {
        let given = self
            .given
            .take_if(|(_, given)| name.is_some_and(|name| given.has(name)));
        if let Some((_, given)) = given {
            let place = given.place(name)?;
            return Ok((given.into_file(), place));
        }
        let (index, part, opened) = self.part_with(name)?;
        let place = opened
            .place(name)
            .map_err(|error| index.error(part, &error))?;
        Ok((opened.into_file(), place))
    }

    /// Calls `each` with an entry for the tensor `name` or, without a name, for every tensor of all parts.
    pub fn list(&self, name: Option<&str>, each: &mut dyn FnMut(Entry)) -> Result<()> {
        let given = self.given.as_ref().map(|(_, given)| given);
        match (name, given, &self.index) {
            (Some(name), Some(given), _) if given.has(name) => given.list(Some(name), each),
            (Some(_), ..) => self.part_with(name)?.2.list(name, each),
            (None, _, Some(index)) => self.list_parts(index, each),
            (None, Some(given), None) => given.list(None, each),
            (None, None, None) => unreachable!("a model has a file or an index"),
        }
    }

    /// Calls `each` for every tensor of the given part, and for those of other parts that the index names.
    fn list_parts(&self, index: &Index, each: &mut dyn FnMut(Entry)) -> Result<()> {
        let own: BTreeSet<&str> = (self.given.iter())
            .flat_map(|(_, given)| given.names())
            .collect();
        for (part, names) in &index.parts {
            let opened;
            let (tensors, is_given) = match &self.given {
                Some((given, tensors)) if given == part => (tensors, true),
                _ => {
                    opened = index.open_part(part)?;
                    (&opened, false)
                }
            };
            let held: BTreeSet<&str> = tensors.names().collect();
            if let Some(absent) = names.iter().find(|name| !held.contains(name.as_str())) {
                return Err(index.lacks(part, absent).into());
            }
            tensors.list(None, &mut |entry| {
                let name = entry.name.as_deref().unwrap_or_default();
                if is_given || has(names, name) && !own.contains(name) {
                    each(entry);
                }
            })?;
        }
        Ok(())
    }

    /// The part that holds the tensor `name`, by the index.
    fn part_with(&self, name: Option<&str>) -> Result<(&Index, &str, Safetensors<File>)> {
        let found = (self.index.as_ref().zip(name))
            .and_then(|(index, name)| Some((index, name, index.part_with(name)?)));
        let Some((index, name, part)) = found else {
            return Err(self.not_found(name).into());
        };
        let opened = index.open_part(part)?;
        match opened.has(name) {
            true => Ok((index, part, opened)),
            false => Err(index.lacks(part, name).into()),
        }
    }

    fn not_found(&self, name: Option<&str>) -> String {
        let own = self.given.iter().flat_map(|(_, given)| given.names());
        let indexed = self
            .index
            .iter()
            .flat_map(|index| index.parts.values().flatten());
        let names: BTreeSet<&str> = own.chain(indexed.map(String::as_str)).collect();
        let error = not_found(
            "tensor",
            name,
            names.into_iter().map(str::to_owned).collect(),
        );
        match &self.no_index {
            Some(no_index) if name.is_some() => {
                format!("{error}; another part may have it, but {no_index}")
            }
            _ => error,
        }
    }
}
