//! Reads an array whose header was read: all its data, or only some slices.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use super::array::{Array, Dtype, Place, fortran_place, row_major};
use super::names::{Result, named_by};
use super::npz::Npz;

/// Bytes read at once, from a whole array or across several wanted slices.
const READ_BYTES: u64 = 1 << 20;
/// Most bytes between two wanted slices that are read with them: skipping fewer takes longer.
const MAX_GAP_BYTES: u64 = 16 << 10;
/// An uncompressed member up to this size is read whole before its slices, to compare its checksum.
const MAX_CHECKED_BYTES: u64 = 64 << 20;

/// The error for MXFP4 as safetensors files have it.
const MXFP4_APART: &str = "MXFP4 with blocks and scales in two tensors, as in gpt-oss, is not decoded: \
     gather the bytes of each tensor in a run of its own";

/// An array whose data is still in its file, or was read with its header from a pipe or a compressed member.
pub struct Stored {
    source: PathBuf,
    pub dtype: Dtype,
    /// The dims, outermost first.
    pub shape: Vec<usize>,
    is_fortran: bool,
    is_verified: bool,
    data: Data,
}

enum Data {
    InFile {
        file: File,
        /// Where the data starts in the file, in bytes.
        start: u64,
        bytes: u64,
        /// The archive, if the data is an uncompressed member.
        member: Option<Member>,
    },
    Read(Vec<u8>),
}

/// An archive, and the name of an array in it.
struct Member {
    npz: Npz<BufReader<File>>,
    name: Option<String>,
}

/// Called with the number of bytes read since the last call.
pub type Progress<'a> = &'a dyn Fn(u64);

impl Stored {
    pub(super) fn in_file(source: &Path, file: File, place: Place) -> Self {
        Self::at(source, file, place, None)
    }

    fn at(source: &Path, file: File, place: Place, member: Option<Member>) -> Self {
        Self {
            source: source.to_owned(),
            dtype: place.dtype,
            shape: place.shape,
            is_fortran: place.is_fortran,
            is_verified: false,
            data: Data::InFile {
                file,
                start: place.start,
                bytes: place.bytes,
                member,
            },
        }
    }

    pub(super) fn in_member(
        source: &Path,
        mut npz: Npz<BufReader<File>>,
        file: File,
        name: Option<&str>,
    ) -> Result<Self> {
        let Some(place) = npz.place(name)? else {
            return Ok(Self::of(source, npz.read(name)?));
        };
        let name = name.map(str::to_owned);
        Ok(Self::at(source, file, place, Some(Member { npz, name })))
    }

    /// An array in memory, whose errors name `source`.
    pub fn of(source: &Path, array: Array) -> Self {
        Self {
            source: source.to_owned(),
            dtype: array.dtype,
            shape: array.shape,
            is_fortran: false,
            is_verified: false,
            data: Data::Read(array.bytes),
        }
    }

    /// Views the same bytes as elements or blocks of `dtype`, like `numpy.ndarray.view`: if their size differs,
    /// the last dim changes.
    pub fn view(mut self, dtype: Dtype) -> Result<Self> {
        let found = &self.dtype;
        if found.block_len > 1 {
            let error = format!("{found} is not read as {dtype}: the file says its type");
            return Err(self.error(error));
        }
        if found.bytes != dtype.bytes || dtype.block_len > 1 {
            if self.is_fortran {
                let error =
                    format!("{found} in Fortran order is not read as {dtype}, of another size");
                return Err(self.error(error));
            }
            let last = self.shape.last();
            let bytes = last.and_then(|last| last.checked_mul(found.bytes));
            let Some(bytes) = bytes.filter(|bytes| bytes.is_multiple_of(dtype.bytes)) else {
                let (shape, size) = (&self.shape, dtype.bytes);
                // gpt-oss has the 32 values of a block in 16 bytes, and its scale in another tensor.
                if dtype.encoding() == "MXFP4" && bytes.is_some_and(|bytes| bytes % 16 == 0) {
                    return Err(self.error(MXFP4_APART.to_owned()));
                }
                return Err(self.error(format!(
                    "{found} of shape {shape:?} is not read as {dtype}: rows must be whole multiples of {size} bytes"
                )));
            };
            if let Some(last) = self.shape.last_mut() {
                *last = bytes / dtype.bytes * dtype.block_len;
            }
        }
        self.dtype = dtype;
        Ok(self)
    }

    /// Views floats smaller than a byte as the bytes that hold them. Rows are whole bytes.
    #[must_use]
    pub fn unpacked(mut self) -> Self {
        if let Some(last) = self.shape.last_mut() {
            *last = *last / self.dtype.block_len * self.dtype.bytes;
        }
        self.dtype = Dtype::from_code("u1").expect("a dtype of NumPy");
        self
    }

    /// With `true`, [`read_slices`](Self::read_slices) compares the checksum of an archive's member of any size.
    #[must_use]
    pub fn verified(self, is_verified: bool) -> Self {
        Self {
            is_verified,
            ..self
        }
    }

    /// Bytes that [`read_slices`](Self::read_slices) reads beside the slices, to compare a checksum.
    pub fn checked_bytes(&self) -> u64 {
        match self.data {
            Data::InFile {
                bytes,
                member: Some(_),
                ..
            } if self.is_verified || bytes <= MAX_CHECKED_BYTES => bytes,
            _ => 0,
        }
    }

    fn error(&self, error: String) -> Box<dyn std::error::Error> {
        format!("{}: {error}", self.source.display()).into()
    }

    /// Bytes that `values` values take.
    fn bytes_of(&self, values: u64) -> u64 {
        (values / self.dtype.block_len as u64).saturating_mul(self.dtype.bytes as u64)
    }

    /// Reads the array. An error begins with its source.
    pub fn read(self, progress: Progress<'_>) -> Result<Array> {
        let bytes = match self.data {
            Data::Read(bytes) => Ok(bytes),
            Data::InFile {
                file,
                start,
                bytes,
                member: None,
            } => read_all(&file, start, bytes, progress),
            Data::InFile {
                member: Some(mut member),
                ..
            } => {
                let array = member.npz.read(member.name.as_deref());
                let array = array.map_err(|error| named_by(&self.source, &*error))?;
                return Ok(Array {
                    dtype: self.dtype,
                    shape: self.shape,
                    bytes: array.bytes,
                });
            }
        };
        let in_order = bytes.and_then(|bytes| match self.is_fortran {
            true => row_major(&bytes, &self.shape, self.dtype.bytes),
            false => Ok(bytes),
        });
        Ok(Array {
            bytes: in_order.map_err(|error| named_by(&self.source, &*error))?,
            dtype: self.dtype,
            shape: self.shape,
        })
    }

    /// True if `count` slices of this length can be read without the rest, at less cost than the whole array.
    pub fn has_slices(&self, count: usize, slice_len: usize) -> bool {
        /// If slices cover 1 / `MAX_PART` or more, the whole array is read.
        const MAX_PART: u64 = 4;
        /// In Fortran order, fewer elements than this are found one by one.
        const MAX_ELEMENTS: u64 = 1 << 20;

        /// Memory for a slice's places in the file and in the output, in bytes.
        const PLACE_BYTES: u64 = 40;

        let (count, slice_len) = (count as u64, slice_len as u64);
        let dims = self.shape.iter();
        let len = dims.fold(1_u64, |len, &dim| len.saturating_mul(dim as u64));
        let wanted = count.saturating_mul(slice_len);
        let with_places = self.bytes_of(slice_len).saturating_add(PLACE_BYTES);
        !matches!(self.data, Data::Read(_))
            && slice_len > 0
            && slice_len.is_multiple_of(self.dtype.block_len as u64)
            && wanted < len / MAX_PART
            && with_places.saturating_mul(count) < self.bytes_of(len)
            && (!self.is_fortran || wanted < MAX_ELEMENTS)
    }

    /// Reads slices of `slice_len` values. `slices` are their numbers in the array, in ascending order; slice `n` begins at
    /// value `n * slice_len`. An error begins with the source.
    pub fn read_slices(
        &mut self,
        slices: &[usize],
        slice_len: usize,
        progress: Progress<'_>,
    ) -> Result<Vec<u8>> {
        let is_checked = self.checked_bytes() > 0;
        if let Data::InFile {
            member: Some(member),
            ..
        } = &mut self.data
            && is_checked
        {
            let checked = member.npz.check(member.name.as_deref(), progress);
            checked.map_err(|error| named_by(&self.source, &*error))?;
        }
        let (file, start, bytes) = match &self.data {
            Data::InFile {
                file, start, bytes, ..
            } => (file, *start, *bytes),
            Data::Read(_) => return Err(self.error("it was read with its header".to_owned())),
        };
        let read = || match self.is_fortran {
            false => {
                let len = self.bytes_of(slice_len as u64);
                let places = slices.iter().map(|&slice| slice as u64 * len);
                let end = slices.last().map_or(0, |&last| (last as u64 + 1) * len);
                debug_assert!(end <= bytes);
                let mut read = zeros(slices.len() as u64 * len)?;
                let len = usize::try_from(len)?;
                read_places(file, start, len, places, progress, |n, from| {
                    read[n * len..][..len].copy_from_slice(from);
                })?;
                Ok(read)
            }
            true => {
                let size = self.dtype.bytes;
                let count = slices.len() * slice_len;
                let mut places: Vec<(u64, usize)> = Vec::new();
                places.try_reserve_exact(count)?;
                for &slice in slices {
                    for value in slice * slice_len..(slice + 1) * slice_len {
                        let place = fortran_place(value, &self.shape) * size as u64;
                        places.push((place, places.len()));
                    }
                }
                places.sort_unstable();
                let mut read = zeros(count as u64 * size as u64)?;
                let in_order = places.iter().map(|&(place, _)| place);
                read_places(file, start, size, in_order, progress, |n, from| {
                    read[places[n].1 * size..][..size].copy_from_slice(from);
                })?;
                Ok(read)
            }
        };
        read().map_err(|error: Box<dyn std::error::Error>| named_by(&self.source, &*error))
    }
}

/// A vector of zero bytes; an error if memory runs out.
fn zeros(bytes: u64) -> Result<Vec<u8>> {
    let mut zeros = Vec::new();
    let len = usize::try_from(bytes)?;
    (zeros.try_reserve_exact(len)).map_err(|_| format!("out of memory for {bytes} bytes"))?;
    zeros.resize(len, 0);
    Ok(zeros)
}

fn read_all(file: &File, start: u64, bytes: u64, progress: Progress<'_>) -> Result<Vec<u8>> {
    let mut read = zeros(bytes)?;
    let mut at = start;
    for part in read.chunks_mut(usize::try_from(READ_BYTES)?) {
        read_exact_at(file, part, at)?;
        at += part.len() as u64;
        progress(part.len() as u64);
    }
    Ok(read)
}

/// Reads `len` bytes at each place. Places ascend, and count from the file's byte `start`. Near ones are read at once. Calls
/// `each` with each place's number and bytes.
fn read_places(
    file: &File,
    start: u64,
    len: usize,
    places: impl Iterator<Item = u64>,
    progress: Progress<'_>,
    mut each: impl FnMut(usize, &[u8]),
) -> Result<()> {
    let mut places = places.enumerate().peekable();
    let (mut stretch, mut of_stretch) = (Vec::new(), Vec::new());
    while let Some((n, first)) = places.next() {
        of_stretch.clear();
        of_stretch.push((n, first));
        let mut end = first + len as u64;
        while let Some(next) = places.next_if(|&(_, place)| {
            place <= end + MAX_GAP_BYTES && place + len as u64 <= first + READ_BYTES
        }) {
            end = next.1 + len as u64;
            of_stretch.push(next);
        }
        let bytes = usize::try_from(end - first)?;
        if stretch.len() < bytes {
            stretch.try_reserve_exact(bytes - stretch.len())?;
            stretch.resize(bytes, 0);
        }
        read_exact_at(file, &mut stretch[..bytes], start + first)?;
        for &(n, place) in &of_stretch {
            each(n, &stretch[usize::try_from(place - first)?..][..len]);
        }
        progress((of_stretch.len() * len) as u64);
    }
    Ok(())
}

/// Fills `bytes` from the file's byte `at` on. If the file has become shorter, the error says so.
fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> Result<()> {
    #[cfg(unix)]
    let read = std::os::unix::fs::FileExt::read_exact_at(file, bytes, at);
    #[cfg(windows)]
    let read = {
        use std::os::windows::fs::FileExt;

        let mut done = 0;
        loop {
            if done == bytes.len() {
                break Ok(());
            }
            match file.seek_read(&mut bytes[done..], at + done as u64) {
                Ok(0) => break Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(len) => done += len,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        }
    };
    #[cfg(not(any(unix, windows)))]
    let read = {
        use io::{Read, Seek};

        let mut file = file;
        file.seek(io::SeekFrom::Start(at))
            .and_then(|_| file.read_exact(bytes))
    };
    read.map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => "the file ends within its data".into(),
        _ => error.into(),
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::Write;

    use super::*;

    /// Slices side by side, in one stretch, and in stretches of their own, in both orders.
    #[test]
    fn slices_are_those_of_the_whole_array() -> Result<()> {
        let values: Vec<u8> = (0..3 << 20)
            .map(|n: u32| (n ^ n >> 7 ^ n >> 13).to_le_bytes()[0])
            .collect();
        let mut file = tempfile::tempfile()?;
        file.write_all(b"header")?;
        file.write_all(&values)?;
        for (is_fortran, rows, count) in
            [(false, 1 << 16, 5000), (true, 1 << 16, 300), (true, 3, 1)]
        {
            let stored = || -> Result<Stored> {
                let place = Place {
                    dtype: Dtype::from_code("u2").ok_or("a dtype")?,
                    shape: vec![rows, (3 << 19) / rows],
                    is_fortran,
                    start: 6,
                    bytes: 3 << 20,
                };
                Ok(Stored::in_file(Path::new("x"), file.try_clone()?, place))
            };
            let whole = stored()?.read(&|_| ())?.bytes;
            let slice = whole.len() / rows;
            let mut slices: Vec<usize> = (0..count).map(|n| n * n * 7 % rows).collect();
            slices.extend((0..40).filter(|&slice| slice < rows));
            slices.sort_unstable();
            let read = Cell::new(0);
            let found = stored()?.read_slices(&slices, slice / 2, &|bytes| {
                read.set(read.get() + bytes);
            })?;
            let mut expected = Vec::new();
            for &slice_number in &slices {
                expected.extend_from_slice(&whole[slice_number * slice..][..slice]);
            }
            assert!(found == expected, "{is_fortran} {rows}");
            assert_eq!(read.get(), expected.len() as u64);
        }
        Ok(())
    }
}
