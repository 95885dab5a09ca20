//! The terms of a conversation, their counts and their weights.

use rustc_hash::FxHashMap;

use oneiro_text::{Kind, Token, is_filler, is_time_word};

use crate::cues::is_plain;

/// A term, by its number.
pub(crate) type TermId = u32;

/// A term and its counts.
#[derive(Debug, Clone)]
pub(crate) struct Term {
    /// Weighted number of occurrences; tool output counts less.
    count: f32,
    /// Sentences it is in.
    sentences: u32,
    last_sentence: u32,
    /// How often it stood within a sentence with a capital letter.
    names: f32,
    kind: TermKind,
    /// Whether it may be the name of a speaker.
    is_speaker: bool,
    /// Whether it occurs outside tool output.
    is_spoken: bool,
    /// The first occurrence: the number of the utterance, and the range there.
    pub utterance: u32,
    pub start: u32,
    pub end: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TermKind {
    /// One that only carries others: great, think, tell.
    Plain,
    /// Half of a word, in scripts without spaces.
    Pair,
    /// Seen only within identifiers.
    Part,
    /// A day, a month, yesterday.
    Time,
    Word,
    Number,
    /// An identifier, a path, a version, an address.
    Whole,
}

/// An occurrence of a token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Occurrence {
    pub utterance: u32,
    /// The number of the sentence in the whole conversation.
    pub sentence: u32,
    /// Whether it has a capital letter and does not begin its sentence.
    pub named: bool,
    /// How much this speaker's words count.
    pub source: f32,
}

/// All terms so far.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    speakers: Vec<String>,
    ids: FxHashMap<Box<str>, TermId>,
    all: Vec<Term>,
}

impl Terms {
    /// No terms yet. `speakers` are the normalised words of their names.
    pub fn new(speakers: Vec<String>) -> Terms {
        Terms { speakers, ..Terms::default() }
    }

    /// Records an occurrence of a token; `None` for stop words and the like.
    pub fn record(&mut self, token: &Token<'_>, occurrence: Occurrence) -> Option<TermId> {
        if !is_term(token) {
            return None;
        }
        let id = match self.ids.get(token.term) {
            Some(id) => *id,
            None => self.add(token, occurrence.utterance),
        };
        let term = self.all.get_mut(id as usize)?;
        term.count += occurrence.source;
        term.is_spoken |= occurrence.source >= 1.0;
        if occurrence.named {
            term.names += occurrence.source;
        }
        if term.last_sentence != occurrence.sentence {
            term.last_sentence = occurrence.sentence;
            term.sentences += 1;
        }
        if term.kind == TermKind::Part && token.kind != Kind::Part {
            term.kind = kind_of(token);
        }
        Some(id)
    }

    fn add(&mut self, token: &Token<'_>, utterance: u32) -> TermId {
        let id = self.all.len() as TermId;
        self.ids.insert(token.term.into(), id);
        self.all.push(Term {
            count: 0.0,
            sentences: 0,
            last_sentence: u32::MAX,
            names: 0.0,
            kind: kind_of(token),
            is_spoken: false,
            is_speaker: self.speakers.iter().any(|name| is_name_of(token.norm, name)),
            utterance,
            start: token.start,
            end: token.end,
        });
        id
    }

    /// The term of a token, if it was ever met.
    pub fn find(&self, token: &Token<'_>) -> Option<TermId> {
        self.ids.get(token.term).copied().filter(|_| is_term(token))
    }

    pub fn get(&self, id: TermId) -> Option<&Term> {
        self.all.get(id as usize)
    }

    /// The weight of each term.
    pub fn weights(&self, sentences: usize) -> Vec<f32> {
        self.all.iter().map(|term| term.weight(sentences as f32)).collect()
    }
}

/// Pairs of characters in scripts without spaces: each word consists of about two.
const PAIR_WEIGHT: f32 = 0.45;

/// Parts of identifiers say less than the same word alone.
const PART_WEIGHT: f32 = 0.35;

/// Common words (great, think, tell).
const PLAIN_WEIGHT: f32 = 0.4;

/// Dates and times: people often ask when.
const TIME_WEIGHT: f32 = 1.35;

/// Names: people ask who and where.
const NAME_WEIGHT: f32 = 1.75;

/// Paths, versions and addresses are searched for literally.
const IDENTIFIER_WEIGHT: f32 = 1.4;

/// Dampens frequency. At one, frequent terms would fill the extract.
const FREQUENCY_EXPONENT: f32 = 0.7;

/// Names of speakers: they begin the lines anyway.
const SPEAKER_WEIGHT: f32 = 0.2;

impl Term {
    fn weight(&self, sentences: f32) -> f32 {
        if self.is_speaker && self.is_name() {
            return SPEAKER_WEIGHT;
        }
        let kind = match self.kind {
            TermKind::Plain => PLAIN_WEIGHT,
            TermKind::Pair => PAIR_WEIGHT,
            TermKind::Part => PART_WEIGHT,
            TermKind::Time => TIME_WEIGHT,
            TermKind::Word if self.is_name() => NAME_WEIGHT,
            TermKind::Word | TermKind::Number => 1.0,
            TermKind::Whole => IDENTIFIER_WEIGHT,
        };
        // A frequent term is what the conversation is about, unless it is in every sentence.
        let frequency = (1.0 + self.count.max(0.1)).ln();
        let rarity = (1.0 + sentences / self.sentences.max(1) as f32).ln();
        kind * frequency.powf(FREQUENCY_EXPONENT) * rarity
    }

    fn is_name(&self) -> bool {
        self.names * 2.0 >= self.count.max(0.01)
    }

    /// Whether it says what is spoken of: not a word that fits anywhere, nor a speaker.
    pub fn is_informative(&self) -> bool {
        self.kind != TermKind::Plain && !self.is_speaker
    }

    /// Whether it can stand alone in a list of what was spoken of.
    pub fn names_a_topic(&self) -> bool {
        self.is_spoken && matches!(self.kind, TermKind::Word | TermKind::Whole)
    }
}

/// Whether a word is a name, or what friends make of it: Mel for Melanie, Caro for Caroline.
fn is_name_of(word: &str, name: &str) -> bool {
    let shared = word.bytes().zip(name.bytes()).take_while(|(one, other)| one == other).count();
    word == name || (shared >= 3 && word.len() <= shared + 1 && word.len() < name.len())
}

/// Whether a token is a term: not one that carries only grammar, nor half of another.
fn is_term(token: &Token<'_>) -> bool {
    let is_short = token.norm.len() < 2 && !token.norm.starts_with(char::is_numeric);
    match token.kind {
        Kind::Word | Kind::Part => !token.stop && !is_short && !token.term.is_empty(),
        Kind::Whole => !token.stop && !token.term.is_empty(),
        Kind::CjkPair => true,
        Kind::Gram => token.norm.chars().nth(1).is_some(),
        Kind::Cjk | Kind::Emoji => false,
    }
}

/// What kind of term a token is.
fn kind_of(token: &Token<'_>) -> TermKind {
    let digits = token.norm.starts_with(char::is_numeric);
    match token.kind {
        Kind::Word if digits => TermKind::Number,
        Kind::Word | Kind::Part if is_filler(token.norm) => TermKind::Plain,
        Kind::Word if is_time_word(token.norm) => TermKind::Time,
        Kind::Word | Kind::Part if is_plain(token.term, token.norm) => TermKind::Plain,
        Kind::Word => TermKind::Word,
        Kind::Part => TermKind::Part,
        Kind::Whole if token.norm.contains(['/', '.', '_', ':', '@', '#']) => TermKind::Whole,
        Kind::Whole if digits => TermKind::Number,
        Kind::Whole => TermKind::Word,
        Kind::CjkPair | Kind::Cjk | Kind::Gram | Kind::Emoji => TermKind::Pair,
    }
}
