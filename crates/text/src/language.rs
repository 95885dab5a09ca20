//! Detects the language of a text by its stop words, and stems words.

use std::borrow::Cow;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;

use crate::fold::normalise;
use crate::lists::entries;

/// A language with stop words and stems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// The default for texts in Latin letters.
    English,
    /// German.
    German,
    /// French.
    French,
    /// Spanish.
    Spanish,
    /// Italian.
    Italian,
    /// Portuguese.
    Portuguese,
    /// Dutch.
    Dutch,
    /// Swedish.
    Swedish,
    /// Danish.
    Danish,
    /// Norwegian.
    Norwegian,
    /// Finnish.
    Finnish,
    /// Detected by its script.
    Russian,
}

/// The languages that are detected by stop words.
pub(crate) const LATIN_LANGUAGES: [Language; 11] = [
    Language::English,
    Language::German,
    Language::French,
    Language::Spanish,
    Language::Italian,
    Language::Portuguese,
    Language::Dutch,
    Language::Swedish,
    Language::Danish,
    Language::Norwegian,
    Language::Finnish,
];

impl Language {
    /// Its bit in a set of languages.
    pub fn bit(self) -> u16 {
        1 << self as u16
    }

    fn algorithm(self) -> Algorithm {
        match self {
            Language::English => Algorithm::English,
            Language::German => Algorithm::German,
            Language::French => Algorithm::French,
            Language::Spanish => Algorithm::Spanish,
            Language::Italian => Algorithm::Italian,
            Language::Portuguese => Algorithm::Portuguese,
            Language::Dutch => Algorithm::Dutch,
            Language::Swedish => Algorithm::Swedish,
            Language::Danish => Algorithm::Danish,
            Language::Norwegian => Algorithm::Norwegian,
            Language::Finnish => Algorithm::Finnish,
            Language::Russian => Algorithm::Russian,
        }
    }

    fn stop_words(self) -> &'static str {
        match self {
            Language::English => include_str!("../assets/stop_words/english.txt"),
            Language::German => include_str!("../assets/stop_words/german.txt"),
            Language::French => include_str!("../assets/stop_words/french.txt"),
            Language::Spanish => include_str!("../assets/stop_words/spanish.txt"),
            Language::Italian => include_str!("../assets/stop_words/italian.txt"),
            Language::Portuguese => include_str!("../assets/stop_words/portuguese.txt"),
            Language::Dutch => include_str!("../assets/stop_words/dutch.txt"),
            Language::Swedish => include_str!("../assets/stop_words/swedish.txt"),
            Language::Danish => include_str!("../assets/stop_words/danish.txt"),
            Language::Norwegian => include_str!("../assets/stop_words/norwegian.txt"),
            Language::Finnish => include_str!("../assets/stop_words/finnish.txt"),
            Language::Russian => include_str!("../assets/stop_words/russian.txt"),
        }
    }

    /// Endings that the stemmer knows only with marks, which folding has removed.
    fn marked_endings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Language::Spanish => &[("ion", "ión"), ("logia", "logía"), ("logias", "logías")],
            Language::Portuguese => {
                &[("cao", "ção"), ("coes", "ções"), ("sao", "são"), ("soes", "sões")]
            }
            Language::Italian => &[("ita", "ità")],
            Language::French => &[("ee", "ée"), ("ees", "ées"), ("ite", "ité"), ("ites", "ités")],
            _ => &[],
        }
    }
}

/// Marks stop words of other languages that are English words with another meaning.
const WEAK_BIT: u16 = 1 << 15;

/// Fewer votes for another language are a coincidence in an English text.
const MIN_VOTES: u32 = 30;

static STOP_WORDS: LazyLock<FxHashMap<String, u16>> = LazyLock::new(|| {
    let mut sets: FxHashMap<String, u16> = FxHashMap::default();
    for language in LATIN_LANGUAGES.into_iter().chain([Language::Russian]) {
        for word in entries(language.stop_words()) {
            *sets.entry(normalise(word)).or_insert(0) |= language.bit();
        }
    }
    for word in entries(include_str!("../assets/stop_words/also_english.txt")) {
        if let Some(set) = sets.get_mut(word)
            && *set & Language::English.bit() == 0
        {
            *set |= WEAK_BIT;
        }
    }
    sets
});

/// English inflected forms with their base form.
fn irregular_forms() -> impl Iterator<Item = (&'static str, &'static str)> {
    entries(include_str!("../assets/irregular_english.txt")).flat_map(|line| {
        let (base, forms) = line.split_once(' ').unwrap_or((line, ""));
        forms.split_whitespace().map(move |form| (form, base))
    })
}

static IRREGULAR_FORMS: LazyLock<FxHashMap<&'static str, &'static str>> =
    LazyLock::new(|| irregular_forms().collect());

/// Irregular English forms that start with a prefix.
pub fn irregular_words(prefix: &str) -> Vec<&'static str> {
    irregular_forms().map(|(form, _)| form).filter(|form| form.starts_with(prefix)).collect()
}

/// The languages in which a normalised word is a stop word, as a set of bits.
pub(crate) fn stop_set(norm: &str) -> u16 {
    STOP_WORDS.get(norm).copied().unwrap_or(0)
}

/// Votes for the language of a text.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Vote([u32; LATIN_LANGUAGES.len()]);

impl Vote {
    /// Counts a stop word. It is worth more in fewer languages.
    pub fn count(&mut self, stop_set: u16) {
        let latin = stop_set & !Language::Russian.bit() & !WEAK_BIT;
        if latin == 0 {
            return;
        }
        let full = if stop_set & WEAK_BIT == 0 { 60 } else { 10 };
        let weight = full / latin.count_ones();
        for (votes, language) in self.0.iter_mut().zip(LATIN_LANGUAGES) {
            if latin & language.bit() != 0 {
                *votes += weight;
            }
        }
    }

    /// The language with the most votes; the first one if several have as many.
    pub fn winner(&self) -> Language {
        let mut best = (Language::English, 0);
        for (votes, language) in self.0.iter().zip(LATIN_LANGUAGES) {
            if *votes > best.1 && (*votes >= MIN_VOTES || language == Language::English) {
                best = (language, *votes);
            }
        }
        best.0
    }
}

/// The language in which a normalised word is stemmed; `None` if its script has no stemmer.
pub(crate) fn language_of(norm: &str, latin: Language) -> Option<Language> {
    match norm.as_bytes().first()? {
        b'a'..=b'z' => Some(latin),
        // The two lead bytes of Cyrillic.
        0xd0 | 0xd1 => Some(Language::Russian),
        _ => None,
    }
}

/// The stem of a normalised word of letters, without marks again.
pub(crate) fn stem(norm: &str, language: Language) -> Cow<'_, str> {
    if norm.len() < 3 {
        return Cow::Borrowed(norm);
    }
    let mut word = norm;
    if language == Language::English
        && let Some(base) = IRREGULAR_FORMS.get(norm)
    {
        word = base;
    }
    let marked = language.marked_endings().iter().find_map(|(plain, marked)| {
        let root = word.strip_suffix(plain)?;
        (root.len() > 2).then(|| format!("{root}{marked}"))
    });
    let stemmer = Stemmer::create(language.algorithm());
    let stem = match &marked {
        Some(marked) => Cow::Owned(stemmer.stem(marked).into_owned()),
        None => stemmer.stem(word),
    };
    let stem = if stem.is_ascii() || language == Language::Russian {
        stem
    } else {
        Cow::Owned(normalise(&stem))
    };
    if stem.is_empty() { Cow::Borrowed(norm) } else { stem }
}
