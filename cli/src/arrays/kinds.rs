//! Names what people download in place of an array file, by its first bytes, and says how to get one.

/// First bytes that are read to tell a file's kind.
pub(super) const FIRST_BYTES: u64 = 512;

pub(super) const PYTORCH: &str =
    "it is a PyTorch checkpoint: save its tensors with safetensors.torch.save_file";

/// A pickle of PyTorch's magic number.
const PYTORCH_PICKLE: &[u8] = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

/// The error for a file that begins with these bytes.
pub(super) fn error_of(first: &[u8]) -> &'static str {
    match first {
        first if first.starts_with(b"version https://git-lfs") => {
            "it is a Git LFS pointer: fetch the file with git lfs pull"
        }
        first if first.starts_with(PYTORCH_PICKLE) => PYTORCH,
        first if is_html(first) => "it is a web page, saved in place of the file",
        _ => "not a .npy, .npz, .safetensors or .gguf file",
    }
}

fn is_html(first: &[u8]) -> bool {
    let first = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first);
    let text = first.trim_ascii_start().to_ascii_lowercase();
    text.starts_with(b"<!doctype html") || text.starts_with(b"<html")
}

/// True for the name that PyTorch gives the pickle in its archives: `archive/data.pkl`.
pub(super) fn is_pytorch(member: &str) -> bool {
    let folder = member.strip_suffix("/data.pkl");
    folder.is_some_and(|folder| !folder.contains('/'))
}
