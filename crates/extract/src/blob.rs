//! Runs of letters that were made by machines for machines: base64, hex, keys. It owns how they
//! are told from long words and paths; it must not know sentences.

use std::ops::Range;

/// Shorter runs are identifiers that somebody may ask for: a UUID, the hash of a commit.
const SHORTEST: usize = 48;

/// Letters, digits and signs between two changes of kind, at most, in a blob. Paths and words have
/// longer runs.
const CHANGES: usize = 5;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Lower,
    Upper,
    Digit,
    Sign,
}

/// Hands out the blobs of a line, in order.
pub(crate) fn blobs(line: &str, mut each: impl FnMut(Range<usize>)) {
    let bytes = line.as_bytes();
    if bytes.len() < SHORTEST {
        return;
    }
    let mut start = 0;
    let mut changes = 0;
    let mut hex = true;
    let mut last = None;
    for at in 0..=bytes.len() {
        let sort = bytes.get(at).and_then(|byte| sort(*byte));
        if let (Some(sort), Some(byte)) = (sort, bytes.get(at)) {
            changes += usize::from(last != Some(sort));
            hex &= byte.is_ascii_hexdigit();
            last = Some(sort);
            continue;
        }
        let length = at - start;
        if length >= SHORTEST && (hex || changes * CHANGES >= length * 2) {
            each(start..at);
        }
        (start, changes, hex, last) = (at + 1, 0, true, None);
    }
}

fn sort(byte: u8) -> Option<Sort> {
    match byte {
        b'a'..=b'z' => Some(Sort::Lower),
        b'A'..=b'Z' => Some(Sort::Upper),
        b'0'..=b'9' => Some(Sort::Digit),
        b'+' | b'/' | b'=' | b'_' | b'-' => Some(Sort::Sign),
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
