//! Removes invisible characters from a query: control, bidirectional and zero-width characters.

use super::quote::is_quote;

/// Replaces control characters by spaces and removes invisible marks. A joiner is kept in scripts
/// that need it (Persian, Indic scripts, emoji).
pub(super) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let kept = match letter {
            _ if letter.is_control() => ' ',
            _ if is_joiner(letter) => {
                let joins = joinable(before) && letters.peek().copied().is_some_and(joinable);
                if !joins {
                    continue;
                }
                letter
            }
            _ if is_invisible(letter) => continue,
            _ => letter,
        };
        out.push(kept);
        before = kept;
    }
    out
}

/// Whether a character makes a word of punctuation: letters, digits, pictographs.
pub(super) fn is_wordy(letter: char) -> bool {
    letter.is_alphanumeric()
        || matches!(letter, '\u{2600}'..='\u{27BF}' | '\u{1F000}'..='\u{1FAFF}')
}

/// Whether there is anything to search for in `text`.
pub(super) fn has_word(text: &str) -> bool {
    text.chars().any(is_wordy)
}

fn is_joiner(letter: char) -> bool {
    matches!(letter, '\u{200C}' | '\u{200D}')
}

fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\u{00AD}'
            | '\u{061C}'
            | '\u{180E}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{FEFF}'
    )
}

/// Characters that never end a token, so that a joiner between two of them is part of a word.
fn joinable(letter: char) -> bool {
    !(letter.is_ascii()
        || letter.is_whitespace()
        || letter.is_control()
        || is_quote(letter)
        || is_invisible(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_harmless() {
        for (text, want) in [
            ("a\0b", "a b"),
            ("a\r\n\tb", "a   b"),
            ("\u{FEFF}foo", "foo"),
            ("f\u{200B}o\u{00AD}o", "foo"),
            ("\u{202E}abc\u{202C} \u{200F}שלום\u{200E}", "abc שלום"),
            ("foo\u{200D}bar", "foobar"),
            ("می\u{200C}خواهم", "می\u{200C}خواهم"),
            ("می\u{200C}", "می"),
            ("\u{1F468}\u{200D}\u{1F469}", "\u{1F468}\u{200D}\u{1F469}"),
            ("「\u{200D}猫", "「猫"),
        ] {
            assert_eq!(clean(text), want, "{text:?}");
            assert_eq!(clean(want), want, "{text:?}");
        }
    }
}
