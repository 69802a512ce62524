//! Strips comments, which are half of shaders/, and indentation: an app holds only the rest.

/// A file's text without comments, blank lines and indentation. The first line stays: it says what the file needs. Debug builds keep
/// blank lines, so that naga's errors name lines of the file.
macro_rules! wgsl {
    ($path:expr) => {
        const {
            const TEXT: &[u8] = include_bytes!($path);
            const LINES: bool = cfg!(debug_assertions);
            const LEN: usize = $crate::gpu::wgsl::code::<0>(TEXT, LINES).1;
            const CODE: &[u8] = &$crate::gpu::wgsl::code::<LEN>(TEXT, LINES).0;
            match std::str::from_utf8(CODE) {
                Ok(code) => code,
                Err(_) => panic!("a shader is UTF-8"),
            }
        }
    };
}
pub(crate) use wgsl;

/// The code's first `LEN` bytes, and how many it has. Blank lines stay if `keeps_lines` is true.
pub(crate) const fn code<const LEN: usize>(text: &[u8], keeps_lines: bool) -> ([u8; LEN], usize) {
    let (mut code, mut len, mut start) = ([0; LEN], 0, 0);
    while start < text.len() {
        let mut end = start;
        while end < text.len() && text[end] != b'\n' {
            end += 1;
        }
        let next = end + 1;
        if start > 0 {
            let mut at = start;
            while at < end && !(text[at] == b'/' && at + 1 < end && text[at + 1] == b'/') {
                at += 1;
            }
            end = at;
            while start < end && text[end - 1] == b' ' {
                end -= 1;
            }
            while start < end && text[start] == b' ' {
                start += 1;
            }
        }
        // The line and its end.
        let mut at = start;
        while (start < end || keeps_lines) && at <= end {
            if len < LEN {
                code[len] = if at < end { text[at] } else { b'\n' };
            }
            len += 1;
            at += 1;
        }
        start = next;
    }
    (code, len)
}

/// A file's code in the folder `GATHER_SHADERS`, if that is set: `.ci/mutations` changes shaders there, and builds nothing.
#[cfg(test)]
pub(crate) fn changed(file: &str) -> Option<&'static str> {
    use std::collections::HashMap;
    use std::sync::{LazyLock, Mutex};

    static FOLDER: LazyLock<Option<String>> =
        LazyLock::new(|| std::env::var("GATHER_SHADERS").ok());
    static READ: LazyLock<Mutex<HashMap<String, &str>>> = LazyLock::new(Mutex::default);
    let path = format!("{}/{file}.wgsl", FOLDER.as_ref()?);
    let mut read = READ.lock().expect("no test panics here");
    Some(read.entry(path).or_insert_with_key(|path| {
        let text = std::fs::read_to_string(path).expect("a shader");
        let code = |(number, line): (usize, &str)| match number {
            0 => line.to_owned(),
            _ => line
                .split("//")
                .next()
                .unwrap_or_default()
                .trim()
                .to_owned(),
        };
        let lines: Vec<_> = text.lines().enumerate().map(code).collect();
        Box::leak((lines.join("\n") + "\n").into_boxed_str())
    }))
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn comments_blank_lines_and_indentation_are_left_out() {
        let text = b"// Needs: nothing\n//\n// A comment.\n\nfn f() {\n    return a / b; // why\n}";
        let expected = "// Needs: nothing\nfn f() {\nreturn a / b;\n}\n";
        let (found, len) = code::<100>(text, false);
        assert_eq!(std::str::from_utf8(&found[..len]), Ok(expected));
        assert_eq!(code::<0>(text, false).1, expected.len());
        let (found, len) = code::<100>(text, true);
        let lines = std::str::from_utf8(&found[..len]).map(|code| code.lines().count());
        assert_eq!(lines, Ok(text.split(|&byte| byte == b'\n').count()));
    }
}
