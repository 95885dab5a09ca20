//! Lines of tools that differ only in their numbers: a log, of which only the last line may be told.

use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::conversation::Sentence;
use crate::machine::Machine;
use crate::utterance::{Source, Utterance};

/// Lines of one pattern from which on they are a log.
const MIN_REPEATS: u32 = 3;

/// Marks lines of tools that differ only in their numbers as a log, but for the last of them.
pub(crate) fn mark_repeated_lines(sentences: &mut [Sentence], utterances: &[Utterance<'_>]) {
    let pattern = |sentence: &Sentence| {
        let said = utterances.get(sentence.utterance as usize)?;
        let shown = said.text.get(sentence.start..sentence.end)?;
        (said.source == Source::Tool).then(|| without_numbers(shown))
    };
    let mut times: FxHashMap<u64, u32> = FxHashMap::default();
    for pattern in sentences.iter().filter_map(pattern) {
        *times.entry(pattern).or_default() += 1;
    }
    let mut later: FxHashSet<u64> = FxHashSet::default();
    for sentence in sentences.iter_mut().rev() {
        let Some(pattern) = pattern(sentence) else { continue };
        let is_repeated = times.get(&pattern).is_some_and(|times| *times >= MIN_REPEATS);
        if is_repeated && !later.insert(pattern) {
            sentence.machine = Some(Machine::Log);
        }
    }
}

/// The hash of a line in which any number is the same number.
fn without_numbers(line: &str) -> u64 {
    let mut hasher = FxHasher::default();
    let mut in_number = false;
    for byte in line.bytes() {
        let is_digit = byte.is_ascii_digit();
        if !(is_digit && in_number) {
            hasher.write_u8(if is_digit { b'0' } else { byte });
        }
        in_number = is_digit;
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_make_no_difference() {
        assert_eq!(without_numbers("case_001 ok"), without_numbers("case_17 ok"));
        assert_ne!(without_numbers("case_001 ok"), without_numbers("case_001 FAILED"));
    }
}
