//! Reading JSONL messages from standard input: bounded lines, and batches of what has arrived.

use oneiro::{Error, ErrorKind, NewMessage, Result};
use std::io::{BufRead, BufReader, Read};

/// The longest line that is read. A message may be 256 MiB, and JSON may escape it threefold.
const LINE_BYTES: u64 = 1 << 30;

/// Messages taken in one go by a stream, at most.
const BATCH: usize = 256;

/// JSONL messages from a reader.
pub struct Lines<R> {
    input: BufReader<R>,
    number: usize,
}

impl<R: Read> Lines<R> {
    /// Reads from `input`.
    pub fn new(input: R) -> Lines<R> {
        Lines { input: BufReader::with_capacity(1 << 20, input), number: 0 }
    }

    /// The next message; `None` at the end.
    pub fn next(&mut self) -> Result<Option<NewMessage>> {
        loop {
            let mut line = Vec::new();
            let mut bounded = (&mut self.input).take(LINE_BYTES);
            let read = bounded.read_until(b'\n', &mut line).map_err(|error| {
                Error::new(
                    ErrorKind::Unavailable,
                    format!("reading standard input failed: {error}"),
                )
            })?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if read as u64 == LINE_BYTES {
                return Err(Error::too_large(format!("line {} is longer than 1 GiB", self.number)));
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            let place = format!("line {}", self.number);
            return NewMessage::parse(&line).map(Some).map_err(|error| error.at(place));
        }
    }

    /// Waits for a message, then takes what has arrived with it. A line that cannot be read ends
    /// the batch, and is answered beside what stands before it.
    pub fn batch(&mut self) -> (Vec<NewMessage>, Result<bool>) {
        let mut batch = Vec::new();
        loop {
            match self.next() {
                Ok(Some(message)) => batch.push(message),
                Ok(None) => return (batch, Ok(false)),
                Err(error) => return (batch, Err(error)),
            }
            if batch.len() == BATCH || !self.input.buffer().contains(&b'\n') {
                return (batch, Ok(true));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_what_stands_before_a_bad_line() {
        let text = "{\"role\":\"user\"}\n\n{\"role\":\"user\"}\nnonsense\n{\"role\":\"user\"}\n";
        let mut lines = Lines::new(text.as_bytes());
        let (batch, rest) = lines.batch();
        assert_eq!(batch.len(), 2);
        assert!(rest.unwrap_err().message().starts_with("line 4: not JSON"));
        let (batch, rest) = lines.batch();
        assert_eq!((batch.len(), rest.unwrap()), (1, true));
        assert!(!lines.batch().1.unwrap());
    }
}
