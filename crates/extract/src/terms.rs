//! The terms of a conversation and what each is worth. It owns their counts and weights; it must
//! not know sentences' order or what is chosen.

use rustc_hash::FxHashMap;

use oneiro_text::{Kind, Token, is_filler, is_time_word};

use crate::cues::is_plain;

/// A term, by its number.
pub(crate) type TermId = u32;

/// What is known of a term.
#[derive(Debug, Clone)]
pub(crate) struct Term {
    /// How often it was said; what tools print counts less.
    count: f32,
    /// Sentences it is in.
    sentences: u32,
    last_sentence: u32,
    /// How often it stood within a sentence with a capital letter.
    names: f32,
    sort: Sort,
    /// Whether it may be one who speaks.
    speaks: bool,
    /// Whether anybody said it, and not only a tool.
    said: bool,
    /// Where it was first met: the number of the utterance, and its place there.
    pub utterance: u32,
    pub start: u32,
    pub end: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
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

/// Where a token was met.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sighting {
    pub utterance: u32,
    /// The number of the sentence in the whole conversation.
    pub sentence: u32,
    /// Whether it has a capital letter and does not begin its sentence.
    pub named: bool,
    /// How much this speaker's words count.
    pub voice: f32,
}

/// All terms met so far.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    speakers: Vec<String>,
    ids: FxHashMap<Box<str>, TermId>,
    all: Vec<Term>,
}

impl Terms {
    /// None yet, of a conversation between these, by the words of their names, normalised.
    pub fn between(speakers: Vec<String>) -> Terms {
        Terms { speakers, ..Terms::default() }
    }

    /// Notes a token; nothing if it carries only grammar.
    pub fn note(&mut self, token: &Token<'_>, sighting: Sighting) -> Option<TermId> {
        if !counts(token) {
            return None;
        }
        let id = match self.ids.get(token.term) {
            Some(id) => *id,
            None => self.add(token, sighting.utterance),
        };
        let term = self.all.get_mut(id as usize)?;
        term.count += sighting.voice;
        term.said |= sighting.voice >= 1.0;
        if sighting.named {
            term.names += sighting.voice;
        }
        if term.last_sentence != sighting.sentence {
            term.last_sentence = sighting.sentence;
            term.sentences += 1;
        }
        if term.sort == Sort::Part && token.kind != Kind::Part {
            term.sort = sort_of(token);
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
            sort: sort_of(token),
            said: false,
            speaks: self.speakers.iter().any(|name| calls(token.norm, name)),
            utterance,
            start: token.start,
            end: token.end,
        });
        id
    }

    /// The term of a token, if it was ever met.
    pub fn find(&self, token: &Token<'_>) -> Option<TermId> {
        self.ids.get(token.term).copied().filter(|_| counts(token))
    }

    pub fn get(&self, id: TermId) -> Option<&Term> {
        self.all.get(id as usize)
    }

    /// What each term is worth, in a conversation of so many sentences.
    pub fn weights(&self, sentences: usize) -> Vec<f32> {
        self.all.iter().map(|term| term.weight(sentences as f32)).collect()
    }
}

/// Half words of scripts without spaces stand for words of which each is met about twice.
const PAIR: f32 = 0.45;

/// A piece of an identifier says less than the same word alone.
const PART: f32 = 0.35;

/// Words for feelings and doings that fit anywhere still help a sentence along.
const PLAIN: f32 = 0.4;

/// When is asked for as often as what.
const TIME: f32 = 1.35;

/// Who and where are what people ask by.
const NAME: f32 = 1.75;

/// Paths, versions and addresses are asked for as they stand.
const WHOLE: f32 = 1.4;

/// How much more it counts to be said often. At one, what is said often would be all there is.
const OFTEN: f32 = 0.7;

/// What is left of the weight of those who speak: their names are at the start of their lines.
const SPEAKER: f32 = 0.2;

impl Term {
    fn weight(&self, sentences: f32) -> f32 {
        if self.speaks && self.is_name() {
            return SPEAKER;
        }
        let sort = match self.sort {
            Sort::Plain => PLAIN,
            Sort::Pair => PAIR,
            Sort::Part => PART,
            Sort::Time => TIME,
            Sort::Word if self.is_name() => NAME,
            Sort::Word | Sort::Number => 1.0,
            Sort::Whole => WHOLE,
        };
        // Said again and again is what a conversation is about; said in every sentence is how these
        // people talk.
        let central = (1.0 + self.count.max(0.1)).ln();
        let rare = (1.0 + sentences / self.sentences.max(1) as f32).ln();
        sort * central.powf(OFTEN) * rare
    }

    fn is_name(&self) -> bool {
        self.names * 2.0 >= self.count.max(0.01)
    }

    /// Whether it says what is spoken of: not a word that fits anywhere, nor one who speaks.
    pub fn tells(&self) -> bool {
        self.sort != Sort::Plain && !self.speaks
    }

    /// Whether it can stand alone in a list of what was spoken of.
    pub fn names_a_topic(&self) -> bool {
        self.said && matches!(self.sort, Sort::Word | Sort::Whole)
    }
}

/// Whether a word is a name, or what friends make of it: Mel for Melanie, Caro for Caroline.
fn calls(word: &str, name: &str) -> bool {
    let shared = word.bytes().zip(name.bytes()).take_while(|(one, other)| one == other).count();
    word == name || (shared >= 3 && word.len() <= shared + 1 && word.len() < name.len())
}

/// Whether a token is a term: not one that carries only grammar, nor half of another.
fn counts(token: &Token<'_>) -> bool {
    let is_short = token.norm.len() < 2 && !token.norm.starts_with(char::is_numeric);
    match token.kind {
        Kind::Word | Kind::Part => !token.stop && !is_short && !token.term.is_empty(),
        Kind::Whole => !token.stop && !token.term.is_empty(),
        Kind::CjkPair => true,
        Kind::Gram => token.norm.chars().nth(1).is_some(),
        Kind::Cjk | Kind::Emoji => false,
    }
}

/// What sort of term a token is.
fn sort_of(token: &Token<'_>) -> Sort {
    let digits = token.norm.starts_with(char::is_numeric);
    match token.kind {
        Kind::Word if digits => Sort::Number,
        Kind::Word | Kind::Part if is_filler(token.norm) => Sort::Plain,
        Kind::Word if is_time_word(token.norm) => Sort::Time,
        Kind::Word | Kind::Part if is_plain(token.term, token.norm) => Sort::Plain,
        Kind::Word => Sort::Word,
        Kind::Part => Sort::Part,
        Kind::Whole if token.norm.contains(['/', '.', '_', ':', '@', '#']) => Sort::Whole,
        Kind::Whole if digits => Sort::Number,
        Kind::Whole => Sort::Word,
        Kind::CjkPair | Kind::Cjk | Kind::Gram | Kind::Emoji => Sort::Pair,
    }
}
