//! A query as the ranking sees it: its words with weights and postings, the speakers and days that
//! it names, and its vector.

use super::query_vector::VectorSource;
use crate::WordModel;
use oneiro_index::{Bits, TermLists, View, name_term, signs};
use oneiro_model::{Result, Timestamp};
use oneiro_text::{Analyzer, DateSpan, QueryWord, Question};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Words of a query that count; more cost time and add little.
pub(super) const QUERY_WORDS_MAX: usize = 16;

/// Words whose weight is looked up, of which the highest `QUERY_WORDS_MAX` count.
const LOOKED_UP_WORDS_MAX: usize = 64;

/// Words with a higher rarity are not in the model's vocabulary.
const RARITY_KNOWN: f32 = 11.9;

/// Speakers that the words of a query are compared with.
const SPEAKER_NAMES_MAX: usize = 512;

/// One word of a query.
pub(super) struct Word {
    /// Normalised.
    pub(super) text: String,
    /// The terms it may be indexed under.
    pub(super) terms: Vec<String>,
    /// Whether all of the terms must occur, or any one.
    pub(super) all: bool,
    /// Rare words have a higher weight.
    pub(super) weight: f32,
    /// The postings of each term.
    pub(super) lists: Vec<TermLists>,
    /// Terms of similar words with their similarity, from 0 to 1.
    pub(super) near: Near,
    /// Whether it is a number, a version, a path or another identifier, or in Latin letters among
    /// others: it is the same in every language.
    pub(super) is_id: bool,
}

/// A parsed query.
pub(super) struct QueryTerms {
    pub(super) words: Vec<Word>,
    /// The index terms of the speakers that it names.
    pub(super) speakers: Vec<Vec<u8>>,
    /// Days that it names.
    pub(super) dates: Vec<DateSpan>,
    /// What it asks for.
    pub(super) question: Question,
    /// Whether it is a list of keywords rather than a sentence; each keyword is required.
    pub(super) is_keywords: bool,
    /// Whether the model knows any of its words; otherwise its vector is meaningless.
    pub(super) is_known: bool,
    /// Its vector and the signs of it.
    pub(super) vector: Option<(Vec<f32>, Bits)>,
}

/// The text of a query, and the time that its dates are relative to.
pub(super) struct QueryText<'q> {
    pub(super) text: &'q str,
    pub(super) now: Timestamp,
}

impl QueryTerms {
    /// Analyses a query.
    pub(super) fn new(
        query: QueryText<'_>,
        view: &View<'_>,
        analyzer: &mut Analyzer,
        vector_source: &VectorSource<'_>,
    ) -> Result<QueryTerms> {
        let QueryText { text, now } = query;
        let model = vector_source.words;
        let asked = analyzer.query_words(text);
        let (speakers, names) = speakers(text, &asked, view)?;
        let is_name = |word: &QueryWord| names.iter().any(|name| is_name(&word.norm, name));
        let is_content = |word: &QueryWord| {
            let is_filler = oneiro_text::is_filler(&word.norm) || is_grammar(&word.norm);
            !word.stop && !is_filler && !is_name(word)
        };
        let stops = asked.iter().filter(|word| word.stop).count();
        let is_sentence = asked.iter().any(|word| is_long_run(word) || is_grammar(&word.norm));
        let is_keywords = (stops == 0 || stops == asked.len()) && !is_sentence;
        let is_known = vector_source.remote.is_some()
            || asked.iter().any(|word| model.is_some_and(|m| m.rarity(&word.norm) < RARITY_KNOWN));
        // A query without content words falls back to fillers, then names, then stop words.
        let choices: [&dyn Fn(&QueryWord) -> bool; 3] =
            [&is_content, &|word| !word.stop, &|_| true];
        let chosen = choices.iter().find(|choice| asked.iter().any(choice));
        let mut wanted: Vec<QueryWord> = Vec::new();
        for word in asked.iter().filter(|word| chosen.is_some_and(|choice| choice(word))) {
            if !wanted.iter().any(|other| other.terms == word.terms) {
                wanted.push(word.clone());
            }
        }
        let mut wanted = split_runs(wanted);
        wanted.truncate(LOOKED_UP_WORDS_MAX);
        let embedded = without_names(text, &asked, &is_name);
        // The model knows characters too little to tell them apart: where words in Latin letters can
        // carry the question, they alone do.
        let has_latin = asked.iter().any(|word| !word.stop && word.norm.is_ascii());
        let embedded: String = if has_latin {
            embedded.chars().filter(|letter| *letter < FIRST_CJK).collect()
        } else {
            embedded
        };
        let own = || {
            let model = model.filter(|_| vector_source.by_words)?;
            let mut vector = vec![0.0; model.dims()];
            let known = model.embed(&embedded, &mut vector);
            known.then(|| {
                let bits = signs(&vector, Some(model.center()));
                (vector, bits)
            })
        };
        let vector = match vector_source.remote {
            Some(vector) => Some((vector.to_vec(), signs(vector, None))),
            None => own(),
        };
        let is_cjk = wanted.iter().any(is_outside_latin);
        let mut words = Vec::with_capacity(wanted.len());
        for word in wanted {
            let parts = word.parts.clone();
            let is_id = word.norm.contains(|letter: char| letter.is_ascii_digit())
                || word.norm.is_ascii() && (is_cjk || !word.parts.is_empty());
            let whole = Word { is_id, ..look_up_word(word, view, model)? };
            let whole = if is_id { whole.times(ID_WEIGHT) } else { whole };
            // A word that does not occur as written may occur in its parts, such as a path followed
            // by a line number.
            if parts.is_empty() || whole.lists.iter().any(|list| list.count > 0) {
                words.push(whole)
            } else {
                let terms = parts.into_iter().filter_map(|part| part.terms.into_iter().next());
                let in_parts = QueryWord {
                    norm: whole.text,
                    terms: terms.collect(),
                    all: true,
                    parts: Vec::new(),
                    stop: false,
                    start: 0,
                    end: 0,
                };
                let in_parts = look_up_word(in_parts, view, model)?;
                words.push(Word { is_id, ..in_parts.times(if is_id { ID_WEIGHT } else { 1.0 }) });
            }
        }
        words.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        words.truncate(QUERY_WORDS_MAX);
        if let Some(model) = model {
            for word in &mut words {
                word.near = vector_source.similar_words.of(&word.text, model, analyzer);
            }
        }
        Ok(QueryTerms {
            words,
            speakers,
            dates: oneiro_text::find_dates(text, utc_date(now)),
            question: Question::read(text),
            is_keywords,
            is_known,
            vector,
        })
    }

    pub(super) fn total_weight(&self) -> f32 {
        self.words.iter().map(|word| word.weight).sum::<f32>().max(f32::MIN_POSITIVE)
    }

    /// The share of the word weight that is matched.
    pub(super) fn share(&self, matched: &[f32; QUERY_WORDS_MAX]) -> f32 {
        let weighted = self.words.iter().zip(matched).map(|(word, matched)| word.weight * matched);
        weighted.sum::<f32>() / self.total_weight()
    }

    /// The same for identifiers alone, as they are written; 0 if there is none.
    pub(super) fn share_of_ids(&self, matched: &[f32; QUERY_WORDS_MAX]) -> f32 {
        let (mut found, mut all) = (0.0, 0.0);
        for (word, matched) in self.words.iter().zip(matched).filter(|(word, _)| word.is_id) {
            all += word.weight;
            found += if *matched >= 1.0 { word.weight } else { 0.0 };
        }
        if all > 0.0 { found / all } else { 0.0 }
    }

    /// The mask of a document that contains every word.
    pub(super) fn full_mask(&self) -> u16 {
        ((1u32 << self.words.len().min(QUERY_WORDS_MAX)) - 1) as u16
    }
}

/// How much more an identifier counts than a word that is as rare: it means one thing.
const ID_WEIGHT: f32 = 1.5;

impl Word {
    fn times(self, factor: f32) -> Word {
        Word { weight: self.weight * factor, ..self }
    }
}

fn look_up_word(word: QueryWord, view: &View<'_>, model: Option<&dyn WordModel>) -> Result<Word> {
    let mut lists = Vec::with_capacity(word.terms.len());
    for term in &word.terms {
        lists.push(view.lists(term.as_bytes())?);
    }
    let counts = lists.iter().map(|list| list.count);
    let count = if word.all { counts.min() } else { counts.max() }.unwrap_or(0);
    let docs = view.docs() as f32;
    let here = (1.0 + (docs - count as f32 + 0.5).max(0.0) / (count as f32 + 0.5)).ln();
    // A small store has too few documents to know which words are rare, so the rarity in general
    // text counts as well. At about twenty words per document, a share of words is a share of
    // documents.
    let weight = match model {
        Some(model) => 0.6 * here + 0.4 * (model.rarity(&word.norm) - 3.0).clamp(0.5, 9.0),
        None => here,
    };
    Ok(Word {
        text: word.norm,
        terms: word.terms,
        all: word.all,
        weight,
        lists,
        near: Arc::default(),
        is_id: false,
    })
}

/// Characters that a Chinese question uses without asking for them: of pairs with one of them, other
/// pairs say more.
const CHINESE_GRAMMAR: &str = "的了吗呢么是哪谁几怎吧啊";

/// Pairs that a Chinese or Japanese question uses without asking for them.
const GRAMMAR_PAIRS: [&str; 14] = [
    "多少", "什么", "为什", "如何", "为何", "是否", "可以", "没有", "我们", "何時", "何人", "何日",
    "怎样", "哪个",
];

/// Whether a run of characters is grammar: hiragana alone, in which Japanese writes endings and
/// particles, or a pair that only asks.
fn is_grammar(norm: &str) -> bool {
    let is_hiragana = |letter: char| matches!(letter, '\u{3041}'..='\u{309f}');
    !norm.is_empty() && norm.chars().all(is_hiragana)
        || GRAMMAR_PAIRS.contains(&norm)
        || norm.chars().count() == 2 && norm.contains(|letter| CHINESE_GRAMMAR.contains(letter))
}

/// Whether a word is a run of characters without spaces that is longer than a word.
fn is_long_run(word: &QueryWord) -> bool {
    let is_katakana = |letter: char| matches!(letter, '\u{30a0}'..='\u{30ff}');
    word.all && word.parts.len() > 2 && !word.norm.chars().all(is_katakana)
}

/// Splits runs of characters that are longer than a word into their pairs, each a word of its own:
/// no message repeats a whole question.
fn split_runs(words: Vec<QueryWord>) -> Vec<QueryWord> {
    let mut split: Vec<QueryWord> = Vec::with_capacity(words.len());
    for word in words {
        if !is_long_run(&word) {
            split.push(word);
            continue;
        }
        let is_known = |pair: &QueryWord| split.iter().any(|other| other.terms == pair.terms);
        let pairs: Vec<QueryWord> = word
            .parts
            .iter()
            .filter(|pair| !is_grammar(&pair.norm) && !is_known(pair))
            .cloned()
            .collect();
        if pairs.is_empty() { split.push(word) } else { split.extend(pairs) }
    }
    split
}

/// Whether a word is in a script without spaces, capitals and Latin letters.
fn is_outside_latin(word: &QueryWord) -> bool {
    word.norm.starts_with(|letter: char| letter >= FIRST_CJK)
}

/// Chinese, Japanese and Korean characters begin here.
const FIRST_CJK: char = '\u{2e80}';

fn starts_with(text: &str, word: &QueryWord, is: impl Fn(char) -> bool) -> bool {
    text.get(word.start as usize..).and_then(|rest| rest.chars().next()).is_some_and(is)
}

/// Similar words of the built-in model, cached.
#[derive(Default)]
pub(crate) struct SimilarWords(Mutex<FxHashMap<String, Near>>);

/// Terms with their similarity, from 0 to 1.
type Near = Arc<[(String, f32)]>;

/// Similar words that count.
const SIMILAR_WORDS_MAX: usize = 32;

/// Words that are cached.
const SIMILAR_WORDS_CACHE_SIZE: usize = 4_096;

impl SimilarWords {
    fn of(&self, word: &str, model: &dyn WordModel, analyzer: &mut Analyzer) -> Near {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(word) {
            return Arc::clone(known);
        }
        let mut near: Vec<(String, f32)> = Vec::new();
        for (other, cosine) in model.nearest(word, SIMILAR_WORDS_MAX) {
            // Lower similarities are noise.
            let matched = (cosine - 0.2) / 0.8;
            let words = analyzer.query_words(other);
            let term = words.first().and_then(|word| word.terms.first());
            if let Some(term) = term.filter(|_| matched > 0.0)
                && !near.iter().any(|(known, _)| known == term)
            {
                near.push((term.clone(), matched.min(1.0)));
            }
        }
        let near: Near = near.into();
        let mut known = lock();
        if known.len() >= SIMILAR_WORDS_CACHE_SIZE {
            known.clear();
        }
        known.insert(word.to_owned(), Arc::clone(&near));
        near
    }
}

/// The speakers that a query names: by a whole name, by a prefix of at least three letters, or with
/// a typing error. Only capitalised words may match a part of a name.
fn speakers(
    text: &str,
    asked: &[QueryWord],
    view: &View<'_>,
) -> Result<(Vec<Vec<u8>>, Vec<String>)> {
    let known = view.with_prefix(&[1], SPEAKER_NAMES_MAX)?.terms;
    let mut terms = Vec::new();
    let mut names = Vec::new();
    for term in known {
        let Some(name) = term.get(1..).and_then(|name| std::str::from_utf8(name).ok()) else {
            continue;
        };
        let is_named = asked.iter().any(|word| {
            let capital = starts_with(text, word, char::is_uppercase);
            word.norm == name || capital && !word.stop && is_name(&word.norm, name)
        });
        if is_named {
            names.push(name.to_owned());
            terms.push(name_term(name));
        }
    }
    Ok((terms, names))
}

/// Whether a word matches a part of a name.
fn is_name(word: &str, name: &str) -> bool {
    let letters = word.chars().count();
    name.split(' ').any(|part| {
        part == word
            || letters >= 3 && part.starts_with(word)
            || letters >= 6 && part.chars().count() >= 6 && strsim::levenshtein(word, part) <= 1
    })
}

/// The text without the names of speakers. The speaker is already known, and a name would draw the
/// vector towards every greeting.
fn without_names(text: &str, asked: &[QueryWord], is_name: &dyn Fn(&QueryWord) -> bool) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for word in asked.iter().filter(|word| is_name(word)) {
        kept.push_str(text.get(from..word.start as usize).unwrap_or_default());
        from = from.max(word.end as usize);
    }
    kept.push_str(text.get(from..).unwrap_or_default());
    kept
}

pub(crate) fn utc_date(now: Timestamp) -> jiff::civil::Date {
    let at = jiff::Timestamp::from_microsecond(now.micros()).unwrap_or_default();
    at.to_zoned(jiff::tz::TimeZone::UTC).date()
}
