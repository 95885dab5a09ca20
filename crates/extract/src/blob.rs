//! Finds encoded data in text: base64, hex, keys. Long words and paths are not encoded data.

use std::ops::Range;

/// Shorter runs are identifiers that somebody may ask for: a UUID, the hash of a commit.
const MIN_BLOB_BYTES: usize = 48;

/// Characters of one class in a row, on average twice, in encoded data. Paths and words have longer
/// runs.
const MAX_RUN_BYTES: usize = 5;

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Lower,
    Upper,
    Digit,
    Sign,
}

/// Calls `each` with the blobs of a line, in order.
pub(crate) fn blobs(line: &str, mut each: impl FnMut(Range<usize>)) {
    let bytes = line.as_bytes();
    if bytes.len() < MIN_BLOB_BYTES {
        return;
    }
    let mut start = 0;
    let mut changes = 0;
    let mut hex = true;
    let mut last = None;
    for at in 0..=bytes.len() {
        let class = bytes.get(at).and_then(|byte| char_class(*byte));
        if let (Some(class), Some(byte)) = (class, bytes.get(at)) {
            changes += usize::from(last != Some(class));
            hex &= byte.is_ascii_hexdigit();
            last = Some(class);
            continue;
        }
        let length = at - start;
        if length >= MIN_BLOB_BYTES && (hex || changes * MAX_RUN_BYTES >= length * 2) {
            each(start..at);
        }
        (start, changes, hex, last) = (at + 1, 0, true, None);
    }
}

fn char_class(byte: u8) -> Option<CharClass> {
    match byte {
        b'a'..=b'z' => Some(CharClass::Lower),
        b'A'..=b'Z' => Some(CharClass::Upper),
        b'0'..=b'9' => Some(CharClass::Digit),
        b'+' | b'/' | b'=' | b'_' | b'-' => Some(CharClass::Sign),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> usize {
        let mut count = 0;
        blobs(line, |_| count += 1);
        count
    }

    #[test]
    fn blobs_are_told_from_words() {
        let base64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
        assert_eq!(found(base64), 1);
        assert_eq!(found(&format!("data:image/png;base64,{base64} and {base64}")), 2);
        assert_eq!(found(&"0123456789abcdef".repeat(4)), 1);
        for word in [
            "crates/engine/src/index/view.rs/and/a/very/long/path/of/folders",
            "a_very_long_snake_case_identifier_that_somebody_wrote_by_hand",
            "3f2a9c1e5b7d8f60a1b2c3d4e5f60718293a4b5c",
            "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
        ] {
            assert_eq!(found(word), 0, "{word}");
        }
    }
}
