//! Reads lines on a thread of its own, because reads of standard input block.

use std::io::{BufRead, BufReader, Read};
use tokio::sync::mpsc;

/// Maximum bytes of a line.
const LINE_MAX: u64 = 16 << 20;

/// Capacity of the queue of lines; a client that sends more waits.
const MAX_WAITING_BATCHES: usize = 16;

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Its bytes.
    Read(Vec<u8>),
    /// It is too long and was skipped.
    TooLong,
}

/// Starts the thread. It ends with the input, or when the receiver is dropped.
pub(super) fn start(input: impl Read + Send + 'static) -> std::io::Result<mpsc::Receiver<Line>> {
    let (sender, lines) = mpsc::channel(MAX_WAITING_BATCHES);
    let read = move || {
        let mut input = BufReader::with_capacity(64 << 10, input);
        loop {
            let line = match next(&mut input, LINE_MAX) {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!(%error, "standard input cannot be read");
                    break;
                }
            };
            if sender.blocking_send(line).is_err() {
                break;
            }
        }
    };
    std::thread::Builder::new().name("oneiro-mcp-in".to_owned()).spawn(read)?;
    Ok(lines)
}

/// The next line that is not blank; the last one may lack a line break.
fn next(input: &mut impl BufRead, most: u64) -> std::io::Result<Option<Line>> {
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(most + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        if line.len() as u64 > most && !line.ends_with(b"\n") {
            pass_over(input)?;
            return Ok(Some(Line::TooLong));
        }
        if !line.trim_ascii().is_empty() {
            return Ok(Some(Line::Read(line)));
        }
    }
}

/// Skips the rest of the line.
fn pass_over(input: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let (used, ends) = {
            let some = input.fill_buf()?;
            match some.iter().position(|byte| *byte == b'\n') {
                Some(end) => (end + 1, true),
                None => (some.len(), some.is_empty()),
            }
        };
        input.consume(used);
        if ends {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_passed_over_and_the_next_is_read() {
        let mut input =
            std::io::Cursor::new(b"12345\n\n  \n123456\n1234567890123\nab\nlast".to_vec());
        let mut lines = Vec::new();
        while let Some(line) = next(&mut input, 5).unwrap() {
            lines.push(line);
        }
        let read = |text: &str| Line::Read(text.as_bytes().to_vec());
        assert_eq!(
            lines,
            [read("12345\n"), Line::TooLong, Line::TooLong, read("ab\n"), read("last")]
        );
    }
}
