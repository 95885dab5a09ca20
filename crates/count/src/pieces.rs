//! Splits a text into pieces by the pattern of o200k. Pieces are tokenised separately.
//!
//! The pattern is a regular expression of seven alternatives; the first one that matches is used,
//! with backtracking. The functions below match the same without backtracking: every character is
//! read a bounded number of times.
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! \p{N}{1,3}
//!  ?[^\s\p{L}\p{N}]+[\r\n/]*
//! \s*[\r\n]+
//! \s+(?!\S)
//! \s+
//! ```

use crate::class::Class;

/// The pieces of a text; their concatenation is the text.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at_checked(end_of_first(rest)?)?;
        rest = after;
        Some(piece)
    })
}

/// The end of the first piece.
fn end_of_first(text: &str) -> Option<usize> {
    let (first, width) = class_at(text, 0)?;
    let end = match word(text, first, width) {
        Some(end) => Some(end),
        None if first.is_number() => Some(number(text)),
        None => symbols(text),
    };
    Some(end.unwrap_or_else(|| spaces(text)))
}

/// The class and the length of the character at `at`.
#[inline]
fn class_at(text: &str, at: usize) -> Option<(Class, usize)> {
    let byte = *text.as_bytes().get(at)?;
    match Class::of_byte(byte) {
        Some(class) => Some((class, 1)),
        None => {
            let c = text.get(at..)?.chars().next()?;
            Some((Class::of(c), c.len_utf8()))
        }
    }
}

/// The end of the run of characters of a class.
#[inline]
fn run(text: &str, mut at: usize, is_in: impl Fn(Class) -> bool) -> usize {
    while let Some((class, width)) = class_at(text, at)
        && is_in(class)
    {
        at += width;
    }
    at
}

/// The first two alternatives: a word, with at most one preceding non-letter.
#[inline]
fn word(text: &str, first: Class, width: usize) -> Option<usize> {
    let start = if first.may_precede_word() { width } else { 0 };
    let end = match letters(text, start) {
        Some(Letters::WithBody(end)) => end,
        // A mark that does not precede a word is a word of its own in the first alternative.
        _ if first.is_mark() => width,
        Some(Letters::HeadsOnly(end)) => end,
        None => return None,
    };
    Some(end + contraction(text, end))
}

enum Letters {
    /// As in the first alternative.
    WithBody(usize),
    /// As in the second alternative: upper case only.
    HeadsOnly(usize),
}

#[inline]
fn letters(text: &str, start: usize) -> Option<Letters> {
    let mut end = start;
    // The first alternative backtracks to the last head that is also a body.
    let mut last_of_both = None;
    while let Some((class, width)) = class_at(text, end)
        && class.is_head()
    {
        end += width;
        if class.is_body() {
            last_of_both = Some(end);
        }
    }
    let end_of_heads = end;
    end = run(text, end, Class::is_body);
    if end > end_of_heads {
        return Some(Letters::WithBody(end));
    }
    match last_of_both {
        Some(end) => Some(Letters::WithBody(end)),
        None => (end > start).then_some(Letters::HeadsOnly(end)),
    }
}

/// The length of `'s`, `'ll` and the like after a word.
#[inline]
fn contraction(text: &str, at: usize) -> usize {
    let Some([b'\'', rest @ ..]) = text.as_bytes().get(at..) else { return 0 };
    match rest {
        [b's' | b'S' | b't' | b'T' | b'm' | b'M' | b'd' | b'D', ..] => 2,
        [b'r' | b'R' | b'v' | b'V', b'e' | b'E', ..] => 3,
        [b'l' | b'L', b'l' | b'L', ..] => 3,
        // The long s is an s in another case.
        [0xc5, 0xbf, ..] => 3,
        _ => 0,
    }
}

/// Up to three digits.
fn number(text: &str) -> usize {
    let mut end = 0;
    for _ in 0..3 {
        match class_at(text, end) {
            Some((class, width)) if class.is_number() => end += width,
            _ => break,
        }
    }
    end
}

/// Punctuation and symbols, with a preceding space and following newlines and slashes.
fn symbols(text: &str) -> Option<usize> {
    let start = usize::from(text.starts_with(' '));
    let end = run(text, start, Class::is_symbol);
    if end == start {
        return None;
    }
    let behind = text.as_bytes().get(end..)?;
    let slashes = behind.iter().take_while(|byte| matches!(byte, b'\r' | b'\n' | b'/')).count();
    Some(end + slashes)
}

/// The last three alternatives: spaces up to the last newline; else all but the last, which belongs
/// to the next word; else a single one.
fn spaces(text: &str) -> usize {
    let (mut end, mut before_last, mut end_of_lines) = (0, 0, 0);
    while let Some((class, width)) = class_at(text, end)
        && class.is_space()
    {
        before_last = end;
        end += width;
        if class.is_newline() {
            end_of_lines = end;
        }
    }
    if end_of_lines > 0 {
        end_of_lines
    } else if end < text.len() && before_last > 0 {
        before_last
    } else {
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(text: &str) -> Vec<&str> {
        pieces(text).collect()
    }

    #[test]
    fn a_word_includes_a_preceding_symbol_and_a_contraction() {
        assert_eq!(split(" she's (she'LL it'ſ"), [" she's", " (", "she'LL", " it'ſ"]);
        assert_eq!(split("camelCaseHTTPServer"), ["camel", "Case", "HTTPServer"]);
        assert_eq!(split("HTTP'S x''s x'r"), ["HTTP'S", " x", "''", "s", " x", "'r"]);
        assert_eq!(split("\tтак\u{a0}ТАК"), ["\tтак", "\u{a0}ТАК"]);
    }

    #[test]
    fn a_word_of_capitals_ends_after_the_last_letter_without_case() {
        assert_eq!(split("AあB"), ["Aあ", "B"]);
        assert_eq!(split("AあBc"), ["AあBc"]);
        assert_eq!(split(".AあBあCD'm"), [".AあBあ", "CD'm"]);
    }

    #[test]
    fn a_mark_joins_the_preceding_character_or_is_a_word() {
        assert_eq!(split("e\u{301}a !\u{301}"), ["e\u{301}a", " !\u{301}"]);
        assert_eq!(split("\u{301}AB"), ["\u{301}", "AB"]);
        assert_eq!(split("\u{301}ab"), ["\u{301}ab"]);
        assert_eq!(split("\u{301}'s"), ["\u{301}'s"]);
    }

    #[test]
    fn numbers_have_three_digits_and_symbols_include_newlines() {
        assert_eq!(split("1234567 8"), ["123", "456", "7", " ", "8"]);
        assert_eq!(split("a ==\n/\n!b"), ["a", " ==\n/\n", "!b"]);
    }

    #[test]
    fn spaces_end_with_a_newline_or_leave_one_to_the_next_word() {
        assert_eq!(split(" \n \r\n  a"), [" \n \r\n", " ", " a"]);
        assert_eq!(split("a   b  "), ["a", "  ", " b", "  "]);
        assert_eq!(split("\t\t1 "), ["\t", "\t", "1", " "]);
    }

    proptest! {
        #![proptest_config(oneiro_testkit::proptest_config(256))]

        #[test]
        fn pieces_are_not_empty_and_together_are_the_text(text in any::<String>()) {
            prop_assert!(pieces(&text).all(|piece| !piece.is_empty()));
            prop_assert_eq!(split(&text).concat(), text);
        }
    }
}
