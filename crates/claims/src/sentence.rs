//! Splits a typed line into sentences of tokens, each with its place and its folded form.

use oneiro_text::normalise;

use crate::language::{Language, VOCABULARY};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Word,
    Comma,
    Colon,
    /// A semicolon or a dash, which ends a clause.
    Break,
}

/// A word or a mark, by its place in the text and in the folded sentence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub start: usize,
    pub end: usize,
    pub fold_start: usize,
    pub fold_end: usize,
}

/// One sentence. Its folded form has lower case without accents, contractions written out and single
/// spaces between words, commas and colons.
#[derive(Debug, Default)]
pub(crate) struct Sentence {
    pub tokens: Vec<Token>,
    pub folded: String,
    pub is_question: bool,
    /// Byte ranges between quotation marks that have three or more words.
    pub quoted: Vec<(usize, usize)>,
    votes: [u32; Language::ALL.len()],
}

impl Sentence {
    fn clear(&mut self) {
        self.tokens.clear();
        self.folded.clear();
        self.is_question = false;
        self.quoted.clear();
        self.votes = Default::default();
    }

    /// The language that most of its words belong to.
    pub fn language(&self) -> Option<Language> {
        self.languages().next()
    }

    /// The languages that as many words belong to as to any other; none without such words.
    pub fn languages(&self) -> impl Iterator<Item = Language> {
        let most = self.votes.iter().copied().max().unwrap_or(0);
        let votes = self.votes.into_iter().zip(Language::ALL);
        votes.filter(move |(votes, _)| most > 0 && *votes == most).map(|(_, language)| language)
    }

    /// The folded form of some tokens.
    pub fn fold_of(&self, (from, to): (usize, usize)) -> &str {
        let start = self.tokens.get(from).map(|token| token.fold_start);
        let end = to.checked_sub(1).and_then(|last| self.tokens.get(last)).map(|it| it.fold_end);
        let range = start.zip(end).filter(|(start, end)| start <= end);
        range.and_then(|(start, end)| self.folded.get(start..end)).unwrap_or_default()
    }

    /// The folded form of one token.
    pub fn word(&self, at: usize) -> &str {
        self.fold_of((at, at + 1))
    }

    fn push(&mut self, kind: TokenKind, (start, end): (usize, usize), fold: &str) {
        if !self.folded.is_empty() {
            self.folded.push(' ');
        }
        let fold_start = self.folded.len();
        self.folded.push_str(fold);
        self.tokens.push(Token { kind, start, end, fold_start, fold_end: self.folded.len() });
    }

    fn push_word(&mut self, text: &str, start: usize, next: &str) {
        let folded = fold(text);
        let vocabulary = &*VOCABULARY;
        let range = (start, start + text.len());
        let entry = vocabulary.get(folded.as_str());
        for (votes, language) in self.votes.iter_mut().zip(Language::ALL) {
            *votes += u32::from(entry.is_some_and(|entry| entry.marks & language.bit() != 0));
        }
        // "Im" is German before a noun.
        let is_german = folded == "im" && !next.starts_with(char::is_lowercase);
        let expanded = entry.and_then(|entry| entry.expansion).filter(|_| !is_german);
        self.push(TokenKind::Word, range, expanded.unwrap_or(&folded));
    }
}

/// Lower case without accents; ß as ss, and one kind of apostrophe.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    // "Würde" says what is not so, "wurde" what was; without the mark they would be one word.
    let kept = [("ürde", "uerde"), ("ätte", "aette"), ("önnte", "oennte"), ("öchte", "oechte")];
    let more = [("wäre", "waere"), ("üsste", "uesste"), ("ürfte", "uerfte")];
    let verb = kept.into_iter().chain(more).find(|(marked, _)| text.contains(marked));
    let folded = match verb {
        Some((marked, plain)) => normalise(&text.replace(marked, plain)),
        None => normalise(text),
    };
    if folded.is_ascii() {
        folded
    } else {
        folded.replace('ß', "ss").replace(['’', '‘', '´'], "'")
    }
}

const OPENING: [char; 14] = ['(', '[', '"', '\'', '“', '„', '«', '‘', '*', '_', '¿', '¡', '`', '#'];

fn is_closing(letter: char) -> bool {
    matches!(letter, ')' | ']' | '"' | '\'' | '“' | '”' | '»' | '’' | '*' | '_' | '`')
}

pub(crate) fn is_quote(letter: char) -> bool {
    matches!(letter, '"' | '“' | '”' | '„' | '«' | '»')
}

/// Calls `each` with the sentences of a part of a text, in order.
pub(crate) fn sentences(
    text: &str,
    (start, end): (usize, usize),
    mut each: impl FnMut(&mut Sentence),
) {
    let line = text.get(start..end).unwrap_or_default();
    let quoted = quoted_ranges(line, start);
    let mut sentence = Sentence::default();
    let mut at = 0;
    while at < line.len() {
        let rest = line.get(at..).unwrap_or_default();
        let space = rest.len() - rest.trim_start().len();
        at += space;
        let rest = line.get(at..).unwrap_or_default();
        let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let chunk = rest.get(..length).unwrap_or_default();
        let next = rest.get(length..).unwrap_or_default().trim_start();
        if read_chunk(&mut sentence, (chunk, start + at), next) {
            finish(&mut sentence, &quoted, &mut each);
        }
        at += length.max(1);
    }
    finish(&mut sentence, &quoted, &mut each);
}

fn finish(
    sentence: &mut Sentence,
    quoted: &[(usize, usize)],
    each: &mut impl FnMut(&mut Sentence),
) {
    if let (Some(first), Some(last)) = (sentence.tokens.first(), sentence.tokens.last()) {
        let (start, end) = (first.start, last.end);
        let within = quoted.iter().filter(|(from, to)| *from < end && *to > start);
        sentence.quoted.extend(within.copied());
        each(sentence);
    }
    sentence.clear();
}

/// Adds what stands between two spaces; returns whether the sentence ends with it.
fn read_chunk(sentence: &mut Sentence, (chunk, start): (&str, usize), next: &str) -> bool {
    sentence.is_question |= chunk.starts_with('¿');
    let body = chunk.trim_start_matches(OPENING);
    let word_start = start + chunk.len() - body.len();
    if matches!(chunk, "-" | "–" | "—" | "--" | "->" | "=>") {
        sentence.push(TokenKind::Break, (start, start + chunk.len()), ";");
        return false;
    }
    let is_mark = |letter: char| {
        is_closing(letter) || matches!(letter, ',' | ';' | ':' | '.' | '!' | '?' | '…')
    };
    let word = body.trim_end_matches(is_mark);
    // An em dash joins words without spaces.
    let mut piece_start = word_start;
    for (index, piece) in word.split('—').enumerate() {
        if index > 0 {
            let dash = piece_start - '—'.len_utf8();
            sentence.push(TokenKind::Break, (dash, piece_start), ";");
        }
        if piece.contains(char::is_alphanumeric) {
            sentence.push_word(piece, piece_start, next);
        }
        piece_start += piece.len() + '—'.len_utf8();
    }
    let marks = body.get(word.len()..).unwrap_or_default();
    let mut ends = false;
    for (at, mark) in marks.char_indices() {
        let range = (word_start + word.len() + at, word_start + word.len() + at + mark.len_utf8());
        match mark {
            ',' => sentence.push(TokenKind::Comma, range, ","),
            ':' => sentence.push(TokenKind::Colon, range, ":"),
            ';' => sentence.push(TokenKind::Break, range, ";"),
            '?' => {
                sentence.is_question = true;
                ends = true;
            }
            '!' | '…' => ends = true,
            '.' => ends |= !is_abbreviation(word, next) || marks.contains(".."),
            _ => {}
        }
    }
    ends
}

/// Abbreviations that are names if they are capitalised.
const NAMES_TOO: [&str; 2] = ["max", "min"];

/// Whether the full stop after a word belongs to it.
fn is_abbreviation(word: &str, next: &str) -> bool {
    let folded = fold(word);
    let is_initial =
        word.chars().count() == 1 && word.starts_with(char::is_uppercase) && word != "I";
    let is_day = matches!(word.len(), 1 | 2) && word.bytes().all(|byte| byte.is_ascii_digit());
    let next_word = next.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
    let next_is_month = || {
        let next = fold(next_word);
        VOCABULARY.get(next.as_str()).is_some_and(|entry| entry.is_month)
    };
    let next_is_lower = next.starts_with(char::is_lowercase);
    let is_date = word.contains('.') && word.bytes().all(|it| it.is_ascii_digit() || it == b'.');
    let is_listed = VOCABULARY.get(folded.as_str()).is_some_and(|entry| entry.is_abbreviation);
    // "Max." is a name at the end of a sentence, "max." and "Max. 5" an amount.
    let is_name = NAMES_TOO.contains(&folded.as_str())
        && word.starts_with(char::is_uppercase)
        && !next.starts_with(|letter: char| letter.is_ascii_digit());
    is_initial
        || is_day && (next_is_month() || next_is_lower)
        || is_date && next_is_lower
        || is_listed && !is_name && !next.is_empty()
}

/// Where three or more words stand between quotation marks, or behind one that never closes.
fn quoted_ranges(line: &str, start: usize) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    let mut open: Option<usize> = None;
    for (at, letter) in line.char_indices().filter(|(_, letter)| is_quote(*letter)) {
        match open.take() {
            None => open = Some(at),
            Some(from) => {
                let inside = line.get(from..at + letter.len_utf8()).unwrap_or_default();
                if inside.split_whitespace().count() >= 3 {
                    ranges.push((start + from, start + at + letter.len_utf8()));
                }
            }
        }
    }
    if let Some(from) = open {
        ranges.push((start + from, start + line.len()));
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(String, bool)> {
        let mut all = Vec::new();
        sentences(text, (0, text.len()), |sentence| {
            all.push((sentence.folded.clone(), sentence.is_question));
        });
        all
    }

    #[test]
    fn sentences_are_folded_and_end_where_they_end() {
        for (text, expected) in [
            ("I'm Ana. Who are you?", vec![("i am ana", false), ("who are you", true)]),
            ("I work at St. Mary's, really", vec![("i work at st mary's , really", false)]),
            (
                "Die Abgabe ist am 3. Juni. Gut.",
                vec![("die abgabe ist am 3 juni", false), ("gut", false)],
            ),
            ("Es heißt: Grün", vec![("es heisst : grun", false)]),
            ("I love it—we both do", vec![("i love it ; we both do", false)]),
            ("Node.js 18.2 works...", vec![("node.js 18.2 works", false)]),
            ("Call me Max. My dog is old.", vec![("call me max", false), ("my dog is old", false)]),
            ("Es kommen max. 5 Leute", vec![("es kommen max 5 leute", false)]),
            ("Max. 5 Leute", vec![("max 5 leute", false)]),
        ] {
            let expected: Vec<(String, bool)> =
                expected.into_iter().map(|(text, question)| (text.to_owned(), question)).collect();
            assert_eq!(split(text), expected, "{text}");
        }
    }
}
