//! Session titles: cleaned, at most 100 characters, numbered `base #N` along a continuation.

use crate::{Error, Result};
use unicode_normalization::char::is_combining_mark;

/// A cleaned, non-empty title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title(String);

impl Title {
    /// The most characters a title may have.
    pub const MAX_CHARS: usize = 100;

    /// Cleans `text` (control, zero-width and bidi characters out, white space collapsed); `None`
    /// when nothing is left.
    pub fn clean(text: &str) -> Result<Option<Title>> {
        let title = one_visible_line(text);
        if title.is_empty() {
            return Ok(None);
        }
        let length = title.chars().count();
        if length > Title::MAX_CHARS {
            return Err(Error::field(
                "title",
                format!("has {length} characters, at most {} fit", Title::MAX_CHARS),
            )
            .remedy("shorten it"));
        }
        Ok(Some(Title(title)))
    }

    /// Cleans `text` and cuts what is too long, after a word where there are words, with `…` for
    /// the rest; `None` when nothing is left.
    pub fn shorten(text: &str) -> Option<Title> {
        let mut title = one_visible_line(text);
        let room = Title::MAX_CHARS - 1;
        if let Some((end, _)) = title.char_indices().nth(room)
            && title.chars().nth(Title::MAX_CHARS).is_some()
        {
            title.truncate(word_end(&title, end));
            title.push('…');
        }
        (!title.is_empty()).then_some(Title(title))
    }

    /// The title as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The title without its ` #N`, and N (1 when there is none).
    pub fn split_number(title: &str) -> (&str, u64) {
        match title.rsplit_once(" #") {
            Some((base, digits))
                if !base.is_empty()
                    && (1..=9).contains(&digits.len())
                    && digits.bytes().all(|b| b.is_ascii_digit()) =>
            {
                match digits.parse() {
                    Ok(number) => (base, number),
                    Err(_) => (title, 1),
                }
            }
            _ => (title, 1),
        }
    }

    /// `base #N`, with the base cut so that the whole still fits.
    pub fn numbered(base: &str, number: u64) -> String {
        let suffix = format!(" #{number}");
        let room = Title::MAX_CHARS.saturating_sub(suffix.chars().count());
        let base: String = base.chars().take(room).collect();
        format!("{}{suffix}", base.trim_end())
    }
}

fn one_visible_line(text: &str) -> String {
    let visible: String = text
        .chars()
        .filter(|letter| !is_invisible(*letter))
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The end of the last word before `limit`. Where a script has no spaces, or a word takes more than
/// half of the room, it is the end of the last letter, with the marks on it.
fn word_end(text: &str, limit: usize) -> usize {
    let head = text.get(..limit).unwrap_or_default();
    let is_end = |(at, letter): &(usize, char)| {
        *at > limit / 2 && (letter.is_whitespace() || matches!(letter, '、' | '，' | '。' | '；'))
    };
    if text.get(limit..).is_some_and(|rest| rest.starts_with(char::is_whitespace)) {
        return limit;
    }
    if let Some((end, _)) = head.char_indices().rev().find(is_end) {
        return end;
    }
    let letters = text.char_indices().filter(|(_, letter)| !is_combining_mark(*letter));
    letters.map(|(at, _)| at).take_while(|at| *at <= limit).last().unwrap_or(limit)
}

/// Zero-width and bidi characters, which make two titles look alike.
fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{00AD}' | '\u{061C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{2069}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_cleaned() {
        for (text, want) in [
            ("  plan\tthe\n trip ", Some("plan the trip")),
            ("a\u{200B}b\u{202E}c", Some("abc")),
            ("\0\u{1}", None),
            (" \u{FEFF} ", None),
            ("naïve 🦀", Some("naïve 🦀")),
        ] {
            let title = Title::clean(text).unwrap();
            assert_eq!(title.as_ref().map(Title::as_str), want, "{text:?}");
        }
        assert!(Title::clean(&"é".repeat(100)).unwrap().is_some());
        assert!(Title::clean(&"é".repeat(101)).is_err());
    }

    #[test]
    fn a_long_text_is_cut_after_a_word_or_between_letters() {
        let words = "word ".repeat(30);
        let thai = "ที่".repeat(60);
        for (text, want) in [
            (" short\n one ".to_owned(), "short one".to_owned()),
            ("x".repeat(100), "x".repeat(100)),
            ("x".repeat(101), "x".repeat(99) + "…"),
            (words.clone(), format!("{}…", words[..99].trim_end())),
            (format!("{}longer", words), format!("{}…", words[..99].trim_end())),
            ("茶".repeat(120), "茶".repeat(99) + "…"),
            ("茶、".repeat(60), "茶、".repeat(48) + "茶…"),
            (thai, "ที่".repeat(33) + "…"),
        ] {
            assert_eq!(Title::shorten(&text).unwrap().as_str(), want);
        }
        assert_eq!(Title::shorten(" \u{200B}\n"), None);
    }

    #[test]
    fn numbers_split_off_and_back_on() {
        for (title, want) in [
            ("plan", ("plan", 1)),
            ("plan #2", ("plan", 2)),
            ("issue #12 #3", ("issue #12", 3)),
            ("plan #", ("plan #", 1)),
            ("#4", ("#4", 1)),
            ("plan #999999999", ("plan", 999_999_999)),
            ("plan #18446744073709551615", ("plan #18446744073709551615", 1)),
        ] {
            assert_eq!(Title::split_number(title), want);
        }
        assert_eq!(Title::numbered("plan", 3), "plan #3");
        assert_eq!(Title::numbered(&"x".repeat(100), 12).chars().count(), 100);
    }
}
