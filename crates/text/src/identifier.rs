//! Rules for identifiers: which characters join letters and which separate them.

use crate::folded_text::FoldedText;
use crate::scan::MAX_CLUSTER_CHARS;
use crate::script::{Class, ascii_class, class, extends_cluster, leads_cluster, stacks_next};
use crate::unit::Link;

/// English endings after an apostrophe that are not part of the word.
const ENGLISH_CLITICS: [&str; 6] = ["s", "ll", "ve", "re", "d", "m"];

/// Longer runs of separators are rules and borders.
const MAX_SEPARATOR_BYTES: usize = 9;

/// Folded text and its position in the original text.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    /// The folded text.
    pub text: &'a str,
    /// The start in the original text, if `piece` is `None`.
    pub offset: usize,
    /// The map to the original text, if folding changed the text.
    pub folded: Option<&'a FoldedText>,
}

impl Source<'_> {
    /// Where the character at a byte starts in the original.
    pub fn start(&self, at: usize) -> u32 {
        self.folded.map_or((self.offset + at) as u32, |folded| folded.start(at))
    }

    /// Where the character before a byte ends in the original.
    pub fn end(&self, at: usize) -> u32 {
        self.folded.map_or((self.offset + at) as u32, |folded| folded.end(at))
    }

    /// The character at a byte.
    pub fn letter(&self, at: usize) -> Option<char> {
        match self.text.as_bytes().get(at)? {
            byte if byte.is_ascii() => Some(char::from(*byte)),
            _ => self.text.get(at..)?.chars().next(),
        }
    }

    /// The class of the character at a byte.
    pub fn class(&self, at: usize) -> Class {
        self.letter(at).map_or(Class::Break, class)
    }

    /// Whether a letter or digit is there.
    pub fn is_run(&self, at: usize) -> bool {
        matches!(self.class(at), Class::Letter | Class::Digit)
    }
}

/// Whether a word of plain letters ends before these two bytes.
pub(crate) fn ends_word(byte: Option<u8>, next: Option<u8>) -> bool {
    let Some(byte) = byte else {
        return true;
    };
    match byte {
        b' ' | b'\n' | b',' | b'!' | b'?' => true,
        b'[' | b'+' | b'#' | 0x80.. => false,
        _ => match ascii_class(byte) {
            Class::Break => true,
            Class::Joiner => next.is_none_or(|next| next.is_ascii_whitespace()),
            Class::Apostrophe => next.is_none_or(|next| next < 0x80 && !next.is_ascii_alphabetic()),
            _ => false,
        },
    }
}

/// Whether a comma separates thousands.
pub(crate) fn groups_digits(source: Source<'_>, start: usize, at: usize) -> bool {
    let bytes = source.text.as_bytes();
    let before = bytes.get(start..at).unwrap_or_default();
    let leading = before.iter().position(|byte| *byte == b',').unwrap_or(before.len());
    leading <= 3
        && before.iter().all(|byte| byte.is_ascii_digit() || *byte == b',')
        && bytes.get(at + 1..at + 4).is_some_and(|group| group.iter().all(u8::is_ascii_digit))
        && !source.is_run(at + 4)
}

/// The length of an English ending after an apostrophe.
pub(crate) fn clitic(source: Source<'_>, at: usize) -> Option<usize> {
    let rest = source.text.as_bytes().get(at..)?;
    ENGLISH_CLITICS.iter().map(|clitic| clitic.len()).find(|length| {
        let goes_on = source.class(at + length) == Class::Apostrophe
            && source.class(at + length + 1) == Class::Letter;
        let ends = !source.is_run(at + length) && !goes_on;
        ends && rest.get(..*length).is_some_and(|ending| {
            ENGLISH_CLITICS.iter().any(|clitic| ending.eq_ignore_ascii_case(clitic.as_bytes()))
        })
    })
}

pub(crate) fn is_address(text: &str) -> bool {
    let bytes = text.as_bytes();
    let scheme = bytes.iter().take(16).position(|byte| !byte.is_ascii_alphanumeric());
    scheme.is_some_and(|end| bytes.get(end..).is_some_and(|rest| rest.starts_with(b"://")))
}

/// What joins two runs of an identifier.
pub(crate) struct Separator {
    /// In bytes.
    pub length: usize,
    pub link: Link,
}

/// The separator at `at`, if it joins the run before it to a run after it.
pub(crate) fn separator(source: Source<'_>, at: usize, is_address: bool) -> Option<Separator> {
    let bytes = source.text.as_bytes().get(at..).unwrap_or_default();
    if bytes.first() == Some(&b'[') {
        let inner = bytes.iter().skip(1).take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let is_closed = inner > 0 && bytes.get(inner + 1) == Some(&b']');
        return is_closed.then_some(Separator { length: 1, link: Link::Component });
    }
    let joins = |byte: &u8| {
        ascii_class(*byte) == Class::Joiner || (is_address && b"?&=#%+~,;!$*()".contains(byte))
    };
    let length = bytes.iter().take(MAX_SEPARATOR_BYTES).take_while(|byte| joins(byte)).count();
    let signs = bytes.get(..length).unwrap_or_default();
    let others = signs.iter().filter(|byte| **byte != b'_').count();
    let is_joined = length > 0
        && others <= 3
        && !signs.windows(2).any(|pair| pair == b".." || (pair == b"--" && !is_address))
        && source.is_run(at + length);
    let is_run = signs.iter().all(|byte| matches!(byte, b'_' | b'-' | b'.'));
    let link = if is_run { Link::Run } else { Link::Component };
    is_joined.then_some(Separator { length, link })
}

/// The end of the cluster at `at`.
pub(crate) fn cluster_end(source: Source<'_>, at: usize) -> usize {
    let mut end = at;
    let mut previous = None;
    for letter in source.text.get(at..).unwrap_or_default().chars().take(MAX_CLUSTER_CHARS) {
        let belongs = match previous {
            None => true,
            Some(before) => {
                class(letter) == Class::Gram
                    && (extends_cluster(letter)
                        || leads_cluster(before)
                        || stacks_next(before)
                        // Both letters come from one character.
                        || source.start(end) == source.start(end - before.len_utf8()))
            }
        };
        if !belongs {
            break;
        }
        previous = Some(letter);
        end += letter.len_utf8();
    }
    end
}
