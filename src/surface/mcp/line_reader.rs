//! Reads lines of limited length: no line longer than [`MAX_LINE`](super::jsonrpc_frame::MAX_LINE) is held in memory.

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};

use super::jsonrpc_frame::MAX_LINE;

/// The number of bytes that are kept of a line that is too long.
const BEGINNING: usize = 1 << 10;

/// A reader of lines. It is cancel safe: a read that is dropped continues with the next call.
#[derive(Debug)]
pub struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    /// Whether the rest of a line that is too long is being skipped.
    is_skipping: bool,
}

/// The result of a read.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// A line, without its end.
    Text(Vec<u8>),
    /// The beginning of a line that was too long, and whose rest is skipped.
    Oversized(Vec<u8>),
    /// The end of the stream.
    End,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Creates a reader of `input`.
    pub fn new(input: R) -> Self {
        Self { input: BufReader::new(input), line: Vec::new(), is_skipping: false }
    }

    /// Reads the next line. A last line without a line end counts as a line.
    pub async fn next(&mut self) -> Line {
        loop {
            // The line end needs a byte, too.
            let room = MAX_LINE + 1 - self.line.len();
            // A read error counts as the end of the stream.
            let _ = (&mut self.input).take(room as u64).read_until(b'\n', &mut self.line).await;
            let is_whole = self.line.pop_if(|last| *last == b'\n').is_some();
            let is_end = !is_whole && self.line.len() <= MAX_LINE;
            let was_skipping = std::mem::replace(&mut self.is_skipping, !is_whole && !is_end);
            let mut line = std::mem::take(&mut self.line);
            match (is_end, was_skipping) {
                (false, true) => {}
                (false, false) if is_whole => return Line::Text(line),
                (false, false) => {
                    line.truncate(BEGINNING);
                    return Line::Oversized(line);
                }
                (true, _) => return if was_skipping || line.is_empty() { Line::End } else { Line::Text(line) },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(input: &[u8]) -> Vec<Line> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut lines = Lines::new(input);
            let mut found = Vec::new();
            loop {
                match lines.next().await {
                    Line::End => return found,
                    line => found.push(line),
                }
            }
        })
    }

    fn text(text: &str) -> Line {
        Line::Text(text.into())
    }

    #[test]
    fn lines_end_with_a_line_end_or_the_end_of_the_stream() {
        assert_eq!(all(b"a\n\nb"), [text("a"), text(""), text("b")]);
        assert_eq!(all(b""), []);
    }

    #[test]
    fn a_long_line_is_skipped_and_the_next_one_is_read() {
        let oversized = || Line::Oversized(vec![b'x'; BEGINNING]);
        let long = "x".repeat(MAX_LINE + 1);
        assert_eq!(all(format!("{long}\na\n").as_bytes()), [oversized(), text("a")]);
        let longer = "x".repeat(MAX_LINE * 3);
        assert_eq!(
            all(format!("a\n{longer}\n{longer}\nb").as_bytes()),
            [text("a"), oversized(), oversized(), text("b")]
        );
        let longest = "x".repeat(MAX_LINE);
        assert_eq!(all(format!("{longest}\n").as_bytes()), [text(&longest)]);
    }
}
