//! A text cut into pieces, which are turned into tokens one by one. It owns the pattern of o200k;
//! it must not know tokens.
//!
//! The pattern is a regular expression of seven alternatives; the first that matches wins, and
//! each gives back characters until it does. What they come to is written out below, and every
//! character is looked at a bounded number of times.
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

/// The pieces of a text, in order; together they are the text.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at_checked(end_of_first(rest)?)?;
        rest = after;
        Some(piece)
    })
}

/// Where the first piece ends; `None` when there is none.
fn end_of_first(text: &str) -> Option<usize> {
    let (first, width) = class_at(text, 0)?;
    let end = match word(text, first, width) {
        Some(end) => Some(end),
        None if first.is_number() => Some(number(text)),
        None => signs(text),
    };
    Some(end.unwrap_or_else(|| spaces(text)))
}

/// The character at a place: its class and its bytes.
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

/// Where a run of such characters ends that begins here.
#[inline]
fn run(text: &str, mut at: usize, is_in: impl Fn(Class) -> bool) -> usize {
    while let Some((class, width)) = class_at(text, at)
        && is_in(class)
    {
        at += width;
    }
    at
}

/// The first two alternatives: a word, with at most one character in front that is no letter.
#[inline]
fn word(text: &str, first: Class, width: usize) -> Option<usize> {
    let start = if first.is_lead() { width } else { 0 };
    let end = match letters(text, start) {
        Some(Letters::WithBody(end)) => end,
        // A mark in front of what the first alternative refuses is a word to it by itself.
        _ if first.is_mark() => width,
        Some(Letters::HeadsOnly(end)) => end,
        None => return None,
    };
    Some(end + contraction(text, end))
}

enum Letters {
    /// As the first alternative has it.
    WithBody(usize),
    /// Upper case alone: as the second has it.
    HeadsOnly(usize),
}

#[inline]
fn letters(text: &str, start: usize) -> Option<Letters> {
    let mut end = start;
    // The first alternative gives heads back until one is a body as well.
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

/// How many bytes of `'s`, `'ll` and the like follow a word.
#[inline]
fn contraction(text: &str, at: usize) -> usize {
    let Some([b'\'', rest @ ..]) = text.as_bytes().get(at..) else { return 0 };
    match rest {
        [b's' | b'S' | b't' | b'T' | b'm' | b'M' | b'd' | b'D', ..] => 2,
        [b'r' | b'R' | b'v' | b'V', b'e' | b'E', ..] => 3,
        [b'l' | b'L', b'l' | b'L', ..] => 3,
        // The long s, which is an s in another case.
        [0xc5, 0xbf, ..] => 3,
        _ => 0,
    }
}

/// At most three digits.
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

/// Signs, with a space in front and ends of lines and slashes behind.
fn signs(text: &str) -> Option<usize> {
    let start = usize::from(text.starts_with(' '));
    let end = run(text, start, Class::is_sign);
    if end == start {
        return None;
    }
    let behind = text.as_bytes().get(end..)?;
    let slashes = behind.iter().take_while(|byte| matches!(byte, b'\r' | b'\n' | b'/')).count();
    Some(end + slashes)
}

/// The last three alternatives: spaces up to the last end of a line among them; else all but the
/// last, which is left to the word behind it; else the one that there is.
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

    fn cut(text: &str) -> Vec<&str> {
        pieces(text).collect()
    }

    #[test]
    fn words_carry_one_sign_in_front_and_a_contraction_behind() {
        assert_eq!(cut(" she's (she'LL it'ſ"), [" she's", " (", "she'LL", " it'ſ"]);
        assert_eq!(cut("camelCaseHTTPServer"), ["camel", "Case", "HTTPServer"]);
        assert_eq!(cut("HTTP'S x''s x'r"), ["HTTP'S", " x", "''", "s", " x", "'r"]);
        assert_eq!(cut("\tтак\u{a0}ТАК"), ["\tтак", "\u{a0}ТАК"]);
    }

    #[test]
    fn a_word_of_capitals_ends_behind_the_last_letter_without_case() {
        assert_eq!(cut("AあB"), ["Aあ", "B"]);
        assert_eq!(cut("AあBc"), ["AあBc"]);
        assert_eq!(cut(".AあBあCD'm"), [".AあBあ", "CD'm"]);
    }

    #[test]
    fn a_mark_goes_with_what_is_before_it_or_stands_alone() {
        assert_eq!(cut("e\u{301}a !\u{301}"), ["e\u{301}a", " !\u{301}"]);
        assert_eq!(cut("\u{301}AB"), ["\u{301}", "AB"]);
        assert_eq!(cut("\u{301}ab"), ["\u{301}ab"]);
        assert_eq!(cut("\u{301}'s"), ["\u{301}'s"]);
    }

    #[test]
    fn numbers_have_three_digits_and_signs_take_ends_of_lines() {
        assert_eq!(cut("1234567 8"), ["123", "456", "7", " ", "8"]);
        assert_eq!(cut("a ==\n/\n!b"), ["a", " ==\n/\n", "!b"]);
    }

    #[test]
    fn spaces_end_with_the_last_line_or_leave_one_to_the_word_behind() {
        assert_eq!(cut(" \n \r\n  a"), [" \n \r\n", " ", " a"]);
        assert_eq!(cut("a   b  "), ["a", "  ", " b", "  "]);
        assert_eq!(cut("\t\t1 "), ["\t", "\t", "1", " "]);
    }

    proptest! {
        #![proptest_config(oneiro_testkit::proptest_config(256))]

        #[test]
        fn pieces_are_not_empty_and_together_are_the_text(text in any::<String>()) {
            prop_assert!(pieces(&text).all(|piece| !piece.is_empty()));
            prop_assert_eq!(cut(&text).concat(), text);
        }
    }
}
