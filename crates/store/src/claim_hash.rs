//! Keyed hashes of what memories state, by which the same statement is found again in another
//! spelling, and after it was erased.

use crate::identity::Identity;
use oneiro_model::Memory;
use unicode_normalization::UnicodeNormalization;

/// Signs that are part of a word or a number.
const MEANINGFUL_SIGNS: [char; 8] = ['+', '#', '%', '$', '€', '£', '<', '>'];

/// A hash of what a memory states about whom, in which project.
pub fn of_memory(identity: &Identity, memory: &Memory) -> String {
    let of = |text: &Option<String>| comparable(text.as_deref().unwrap_or_default());
    let parts = [comparable(&memory.content), of(&memory.subject), of(&memory.project)];
    identity.hash(&parts.each_ref().map(String::as_str))
}

/// A hash of a statement alone.
pub fn of_statement(identity: &Identity, content: &str) -> String {
    identity.hash(&[&comparable(content)])
}

/// A text for comparison: in compatible forms and lower case, without marks, white space, invisible
/// characters and punctuation. Signs that make another word or number stay: C++, 1.5, 10 %.
fn comparable(text: &str) -> String {
    let folded: Vec<char> = text.nfkd().flat_map(char::to_lowercase).collect();
    let is_digit =
        |at: Option<usize>| at.and_then(|at| folded.get(at)).is_some_and(char::is_ascii_digit);
    let is_kept = |(at, letter): &(usize, char)| match letter {
        '.' | ',' | ':' | '/' => is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)),
        letter => letter.is_alphanumeric() || MEANINGFUL_SIGNS.contains(letter),
    };
    let kept = folded.iter().copied().enumerate().filter(is_kept);
    let kept: String = kept.map(|(_, letter)| letter).collect();
    if kept.is_empty() { text.trim().to_owned() } else { kept }
}
