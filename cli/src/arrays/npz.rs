//! Reads members of .npz archives: zip files of .npy files, stored or deflated, as numpy.savez and
//! savez_compressed write them.

use std::io::{BufReader, Read, Seek};
use std::path::Path;

use zip::read::ZipFile;
use zip::{CompressionMethod, ZipArchive};

use super::array::{Array, Result, start_of};
use super::entry::Entry;
use super::names::not_found;
use super::npy_read::{open, read_array};

/// Most bytes that one byte of deflated data can expand to.
const MAX_DEFLATION: u64 = 1032;

/// Reads the member `NAME.npy`, or else `NAME`. Without a name the error lists the members.
pub fn read(path: &Path, name: Option<&str>) -> Result<Array> {
    let (file, bytes) = open(path)?;
    read_member(BufReader::new(file), bytes, name)
}

/// As [`read`], but from an open archive of `file_bytes` bytes.
pub fn read_member(file: impl Read + Seek, file_bytes: u64, name: Option<&str>) -> Result<Array> {
    let mut archive = ZipArchive::new(file)?;
    let index = find(&archive, name)?;
    let mut member = archive.by_index(index)?;
    let bytes = bytes_of(&member, file_bytes)?;
    let array = read_array(&mut member, bytes)?;
    // The zip reader compares the checksum when it reaches the member's end.
    match member.read(&mut [0])? {
        0 => Ok(array),
        _ => Err(format!("the member has more than the {bytes} bytes that it should have").into()),
    }
}

/// Describes the member of this name, or all members. Reads their headers only.
pub fn list(path: &Path, name: Option<&str>) -> Result<Vec<Entry>> {
    let (file, file_bytes) = open(path)?;
    let mut archive = ZipArchive::new(BufReader::new(file))?;
    let members = match name {
        Some(_) => vec![find(&archive, name)?],
        None => (0..archive.len()).collect(),
    };
    let mut entries = Vec::new();
    for index in members {
        let member = archive.by_index(index)?;
        let name = member.name();
        let name = name.strip_suffix(".npy").unwrap_or(name).to_owned();
        let entry = bytes_of(&member, file_bytes)
            .and_then(|bytes| Entry::of_npy(member, bytes))
            .map_err(|error| format!("member {:?}: {error}", start_of(&name)))?;
        entries.push(Entry {
            name: Some(name),
            ..entry
        });
    }
    Ok(entries)
}

/// The place of the member `NAME.npy`, or else `NAME`.
fn find<R: Read + Seek>(archive: &ZipArchive<R>, name: Option<&str>) -> Result<usize> {
    let index = name.and_then(|name| {
        let member = archive.index_for_name(&format!("{name}.npy"));
        member.or_else(|| archive.index_for_name(name))
    });
    index.ok_or_else(|| {
        let names = archive.file_names();
        let names = names.map(|name| name.strip_suffix(".npy").unwrap_or(name));
        not_found("member", name, names).into()
    })
}

/// The size of a member, which cannot be more than its compressed bytes expand to.
fn bytes_of<R: Read>(member: &ZipFile<'_, R>, file_bytes: u64) -> Result<u64> {
    let (bytes, compressed) = (member.size(), member.compressed_size());
    let most = match member.compression() {
        CompressionMethod::Stored => compressed,
        _ => compressed.saturating_mul(MAX_DEFLATION),
    };
    if compressed > file_bytes || bytes > most {
        return Err(format!(
            "the member cannot have {bytes} bytes, {compressed} in the archive of {file_bytes}"
        )
        .into());
    }
    Ok(bytes)
}
