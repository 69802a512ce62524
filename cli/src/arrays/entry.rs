//! The description of an array, from its header only.

/// An array of a file.
#[derive(Debug, PartialEq)]
pub struct Entry {
    /// The name of a member or a tensor; a .npy file has none.
    pub name: Option<String>,
    /// The name of the element type: NumPy's or, of a type that is not supported, the file's own. If the description cannot
    /// be read, the text of the error.
    pub dtype: Result<String, String>,
    /// The dims, outermost first, if they can be read.
    pub shape: Option<Vec<usize>>,
    /// The size of the data in bytes, if the file tells it.
    pub bytes: Option<u64>,
}
