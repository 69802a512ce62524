//! The description of an array, from its header only.

use std::io::Read;

use super::array::Result;
use super::npy_read::{Remaining, read_header};

/// An array of a file.
#[derive(Debug, PartialEq)]
pub struct Entry {
    /// The name of a member or a tensor; a .npy file has none.
    pub name: Option<String>,
    /// NumPy's name of the element type, or the file's own if NumPy has none.
    pub dtype: String,
    /// The dims, outermost first.
    pub shape: Vec<usize>,
    /// The size of the data in bytes.
    pub bytes: u64,
}

impl Entry {
    /// Describes a .npy file of `bytes` bytes.
    pub fn of_npy(file: impl Read, bytes: u64) -> Result<Self> {
        let mut file = Remaining { file, bytes };
        let (dtype, shape) = read_header(&mut file)?;
        Ok(Self {
            name: None,
            dtype: dtype.to_string(),
            shape,
            bytes: file.bytes,
        })
    }
}
