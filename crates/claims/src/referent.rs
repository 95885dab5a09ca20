//! Finds what a pronoun stands for: the relative of the sentence before, or the subject of the
//! message before.

use crate::language::Language;
use crate::patterns::RuleBook;
use crate::sentence::{Sentence, TokenKind, sentences};

/// The last words of a message that a correction may refer to.
const PREVIOUS_BYTES: usize = 1000;

/// Words of a subject, at most.
const SUBJECT_WORDS: usize = 6;

/// Somebody that a clause spoke of: "My sister Clara".
#[derive(Debug, Clone)]
pub(crate) struct Referent {
    pub words: String,
    /// The folded word for the relation: sister.
    pub relation: String,
}

impl Referent {
    /// The relative that a clause begins with.
    pub fn of(text: &str, sentence: &Sentence, from: usize, book: &RuleBook) -> Option<Referent> {
        let is_owned = book.possessives.matches(sentence.word(from));
        let relation = sentence.word(from + 1);
        if !is_owned || !book.relations.matches(relation) {
            return None;
        }
        let next = sentence.tokens.get(from + 2).filter(|next| next.kind == TokenKind::Word);
        let is_name = |start: usize| {
            text.get(start..).is_some_and(|rest| rest.starts_with(char::is_uppercase))
        };
        let last = match next {
            Some(next) if is_name(next.start) => from + 2,
            _ => from + 1,
        };
        let (start, end) = (sentence.tokens.get(from)?.start, sentence.tokens.get(last)?.end);
        let words = text.get(start..end)?.to_owned();
        Some(Referent { words, relation: relation.to_owned() })
    }

    /// Whether a folded pronoun may stand for it.
    pub fn fits(&self, pronoun: &str, book: &RuleBook) -> bool {
        let is_she = book.she.matches(pronoun) && !book.male.matches(&self.relation);
        let is_he = book.he.matches(pronoun) && !book.female.matches(&self.relation);
        is_she || is_he
    }
}

/// The subject of the last statement of the message before, as its hearer says it: "your meeting
/// is on Tuesday" gives "My meeting".
pub(crate) fn previous_subject(previous: &str) -> Option<(String, bool)> {
    let start = previous.ceil_char_boundary(previous.len().saturating_sub(PREVIOUS_BYTES));
    let mut found = None;
    sentences(previous, (start, previous.len()), |sentence| {
        let language = sentence.language().unwrap_or(Language::English);
        found = subject_of(previous, sentence, language).or(found.take());
    });
    found
}

fn subject_of(text: &str, sentence: &Sentence, language: Language) -> Option<(String, bool)> {
    let book = RuleBook::of(language);
    let from =
        (0..sentence.tokens.len().min(4)).find(|at| book.addressed.matches(sentence.word(*at)))?;
    let verb = (from + 2..sentence.tokens.len().min(from + 2 + SUBJECT_WORDS)).find(|at| {
        matches!(
            sentence.word(*at),
            "is" | "are" | "ist" | "sind" | "es" | "son" | "esta" | "estan"
        )
    })?;
    let owner = sentence.word(from);
    let (start, end) = (sentence.tokens.get(from + 1)?.start, sentence.tokens.get(verb - 1)?.end);
    let rest = text.get(start..end)?;
    let spoken_to = match owner {
        "your" => Some("My"),
        "dein" | "ihr" => Some("Mein"),
        "deine" | "ihre" => Some("Meine"),
        "tu" | "su" => Some("Mi"),
        "tus" | "sus" => Some("Mis"),
        _ => None,
    };
    let first = match spoken_to {
        Some(own) => own.to_owned(),
        None => {
            text.get(sentence.tokens.get(from)?.start..sentence.tokens.get(from)?.end)?.to_owned()
        }
    };
    Some((format!("{first} {rest}"), spoken_to.is_some()))
}
