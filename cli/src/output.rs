//! The answer of a command, and standard output. A closed pipe is no error: nobody reads on, and the work is done.

use std::io::{self, BufWriter, Write};

use wgpu_gather_cli::arrays::Result;

/// The result of a command.
pub struct Answer {
    /// The text for stdout; none if it is empty.
    pub text: String,
    /// True if nothing failed.
    pub passed: bool,
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self { text, passed: true }
    }
}

/// A text that is written in parts. After the first error nothing more is written.
pub struct Output {
    stdout: BufWriter<Box<dyn Write>>,
    written: io::Result<()>,
}

impl Output {
    /// For text, whose styles are for terminals.
    pub fn text() -> Self {
        Self::to(Box::new(anstream::stdout()))
    }

    /// For JSON, whose strings are written as they are.
    pub fn json() -> Self {
        Self::to(Box::new(io::stdout()))
    }

    fn to(stdout: Box<dyn Write>) -> Self {
        Self {
            stdout: BufWriter::new(stdout),
            written: Ok(()),
        }
    }

    pub fn write(&mut self, part: &str) {
        if self.written.is_ok() {
            self.written = self.stdout.write_all(part.as_bytes());
        }
    }

    /// Writes what is left. Returns the first error.
    pub fn end(mut self) -> Result<()> {
        let written = self.written.and_then(|()| self.stdout.flush());
        match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(format!("standard output: {error}").into())
            }
            _ => Ok(()),
        }
    }
}

/// Prints a text and a line break, or nothing if the text is empty. JSON is printed as it is.
pub fn print(text: &str, is_json: bool) -> Result<()> {
    let mut output = match is_json {
        true => Output::json(),
        false => Output::text(),
    };
    if !text.is_empty() {
        output.write(text);
        output.write("\n");
    }
    output.end()
}
