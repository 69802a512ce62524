//! Reads members from .npz archives: zip files that hold .npy files, stored or deflated, as numpy.savez and savez_compressed
//! write them. Listings leave out other members.

use std::io::{Read, Seek};

use zip::read::ZipFile;
use zip::{CompressionMethod, ZipArchive};

use super::array::{Array, Entry, Place};
use super::kinds;
use super::names::{Result, not_found};
use super::npy_read::{MAGIC, Remaining, describe, place, read_array};

/// Bytes between two calls of a progress.
const READ_BYTES: u64 = 1 << 20;
/// Most bytes that one deflated byte can expand to.
const MAX_DEFLATION: u64 = 1032;

/// An archive whose directory was read.
pub struct Npz<R> {
    archive: ZipArchive<R>,
    bytes: u64,
}

impl<R: Read + Seek> Npz<R> {
    /// Reads the directory. The archive has `bytes` bytes.
    pub fn open(file: R, bytes: u64) -> Result<Self> {
        let archive = ZipArchive::new(file)?;
        let has_arrays = archive.file_names().any(|name| name.ends_with(".npy"));
        if !has_arrays && archive.file_names().any(kinds::is_pytorch) {
            return Err(kinds::PYTORCH.into());
        }
        Ok(Self { archive, bytes })
    }

    /// Reads the member `NAME.npy`, or else `NAME`. Without a name the error lists the members.
    pub fn read(&mut self, name: Option<&str>) -> Result<Array> {
        let index = self.find(name)?;
        let mut member = self.archive.by_index(index)?;
        let bytes = bytes_of(&member, self.bytes)?;
        let mut file = Remaining::new(&mut member, bytes);
        let array = read_array(&mut file)?;
        file.skip(file.bytes)?;
        check_end(&mut member, bytes)?;
        Ok(array)
    }

    /// Compares a member's checksum, for which it reads the whole member. Calls `progress` with the number of bytes read since
    /// the last call.
    pub(super) fn check(&mut self, name: Option<&str>, progress: &dyn Fn(u64)) -> Result<()> {
        let index = self.find(name)?;
        let mut member = self.archive.by_index(index)?;
        let bytes = bytes_of(&member, self.bytes)?;
        let mut file = Remaining::new(&mut member, bytes);
        file.part = "data";
        while file.bytes > 0 {
            let part = file.bytes.min(READ_BYTES);
            file.skip(part)?;
            progress(part);
        }
        check_end(&mut member, bytes)
    }

    /// Finds the data of the member `NAME.npy`, or else `NAME`; `None` if that is compressed or encrypted.
    pub(super) fn place(&mut self, name: Option<&str>) -> Result<Option<Place>> {
        let index = self.find(name)?;
        let mut member = self.archive.by_index(index)?;
        if member.compression() != CompressionMethod::Stored || member.encrypted() {
            return Ok(None);
        }
        let bytes = bytes_of(&member, self.bytes)?;
        let place = place(&mut Remaining::new(&mut member, bytes))?;
        Ok(member.data_start().map(|start| Place {
            start: start + place.start,
            ..place
        }))
    }

    /// Calls `each` with an entry for the member `name` or, without a name, for every .npy member. Reads only headers. A member
    /// that cannot be described is an error only if it is named.
    pub fn list(&mut self, name: Option<&str>, each: &mut dyn FnMut(Entry)) -> Result<()> {
        if name.is_some() {
            let index = self.find(name)?;
            each(self.entry(index)?.ok_or("not a .npy file")?);
            return Ok(());
        }
        for index in 0..self.archive.len() {
            let entry = self.entry(index).unwrap_or_else(|error| {
                let name = self.archive.name_for_index(index).unwrap_or_default();
                name.ends_with(".npy").then(|| Entry {
                    name: Some(array_name(name)),
                    dtype: Err(error.to_string()),
                    shape: None,
                    bytes: None,
                })
            });
            if let Some(entry) = entry {
                each(entry);
            }
        }
        Ok(())
    }

    /// Describes a member; `None` if it is no .npy file.
    fn entry(&mut self, index: usize) -> Result<Option<Entry>> {
        let mut member = self.archive.by_index(index)?;
        let mut start = Vec::new();
        (&mut member)
            .take(MAGIC.len() as u64)
            .read_to_end(&mut start)?;
        if start != MAGIC {
            return Ok(None);
        }
        let (name, bytes) = (array_name(member.name()), bytes_of(&member, self.bytes)?);
        let entry = describe(&mut Remaining::new(start.as_slice().chain(member), bytes))?;
        Ok(Some(Entry {
            name: Some(name),
            ..entry
        }))
    }

    /// The index of the member `NAME.npy`, or else `NAME`.
    fn find(&mut self, name: Option<&str>) -> Result<usize> {
        let index = name.and_then(|name| {
            let member = self.archive.index_for_name(&format!("{name}.npy"));
            member.or_else(|| self.archive.index_for_name(name))
        });
        if let Some(index) = index {
            return Ok(index);
        }
        let mut names = Vec::new();
        self.list(None, &mut |entry| names.extend(entry.name))?;
        Err(not_found("member", name, names).into())
    }
}

/// An array's name: its member's, without `.npy`.
fn array_name(member: &str) -> String {
    member.strip_suffix(".npy").unwrap_or(member).to_owned()
}

/// Reads on after a member's last byte: the zip reader then compares the checksum.
fn check_end(member: &mut impl Read, bytes: u64) -> Result<()> {
    let read = member.read(&mut [0]);
    match read.map_err(|error| format!("the member is damaged: {error}"))? {
        0 => Ok(()),
        _ => Err(format!("the member has more than the {bytes} bytes that it should have").into()),
    }
}

/// A member's size; an error if its compressed bytes cannot expand to that.
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
