//! Strips comments, which are half of shaders/, indentation, and spaces and line ends that no parser needs: an app holds only the
//! rest.

/// A file's code. The first line stays: it says what the file needs. Debug builds keep all lines and the spaces in them, so that
/// naga's errors name lines of the file.
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

/// The code's first `LEN` bytes, and how many it has. Lines and the spaces in them stay if `keeps_lines` is true.
pub(crate) const fn code<const LEN: usize>(text: &[u8], keeps_lines: bool) -> ([u8; LEN], usize) {
    let (mut code, mut len, mut start) = ([0; LEN], 0, 0);
    let mut last = b'\n';
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
            let is_needed = match at < end {
                _ if keeps_lines || start == 0 => true,
                true => text[at] != b' ' || is_space_needed(text[at - 1], text[at + 1]),
                false => !matches!(text[end - 1], b'{' | b'}' | b';' | b',' | b'(' | b')'),
            };
            if is_needed {
                // No comma before what closes a list.
                let closes = at < end && matches!(text[at], b'}' | b')') && !keeps_lines;
                if closes && last == b',' {
                    len -= 1;
                }
                last = if at < end { text[at] } else { b'\n' };
                if len < LEN {
                    code[len] = last;
                }
                len += 1;
            }
            at += 1;
        }
        start = next;
    }
    (code, len)
}

/// False if a parser splits the two bytes without a space between them.
const fn is_space_needed(before: u8, after: u8) -> bool {
    // Two operators would be another one.
    const fn is_operator(byte: u8) -> bool {
        matches!(byte, b'!' | b'%'..=b'&' | b'*'..=b'+' | b'-' | b'/' | b'<'..=b'>' | b'^' | b'|' | b'~')
    }
    const fn is_word(byte: u8) -> bool {
        byte.is_ascii_alphanumeric() || byte == b'_'
    }
    is_word(before) && is_word(after) || is_operator(before) && is_operator(after)
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
    fn comments_and_what_no_parser_needs_are_left_out() {
        let text = b"// Needs: nothing\n//\n// A comment.\n\nfn f() {\n    return a / b < -c && !d; // why\n}";
        let expected = "// Needs: nothing\nfn f(){return a/b< -c&& !d;}";
        let (found, len) = code::<100>(text, false);
        assert_eq!(std::str::from_utf8(&found[..len]), Ok(expected));
        assert_eq!(code::<0>(text, false).1, expected.len());
        let (found, len) = code::<100>(text, true);
        let lines = std::str::from_utf8(&found[..len]).map(|code| code.lines().count());
        assert_eq!(lines, Ok(text.split(|&byte| byte == b'\n').count()));
    }
}
