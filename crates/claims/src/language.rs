//! The languages with rules, and what is known of their single words.

use std::sync::LazyLock;

use oneiro_text::sections;
use rustc_hash::FxHashMap;

use crate::sentence::fold;

/// A language with rules of at least 90 % measured precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    German,
    Spanish,
}

impl Language {
    pub const ALL: [Language; 3] = [Language::English, Language::German, Language::Spanish];

    pub fn bit(self) -> u8 {
        1 << self as u8
    }

    /// What the ids of its rules begin with.
    pub fn code(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::German => "de",
            Language::Spanish => "es",
        }
    }

    /// Its lists and rules; the format is described at the top of `assets/english.txt`.
    pub fn asset(self) -> &'static str {
        match self {
            Language::English => include_str!("../assets/english.txt"),
            Language::German => include_str!("../assets/german.txt"),
            Language::Spanish => include_str!("../assets/spanish.txt"),
        }
    }

    /// The entries of a list, separated by commas or line breaks.
    pub fn list(self, wanted: &'static str) -> impl Iterator<Item = &'static str> {
        sections(self.asset())
            .filter(move |(section, _)| *section == wanted)
            .flat_map(|(_, line)| line.split(','))
            .map(str::trim)
            .filter(|entry| !entry.is_empty())
    }
}

/// What is known of a folded word.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct WordEntry {
    /// The languages that it is typical of.
    pub marks: u8,
    /// What it stands for: i am for i'm.
    pub expansion: Option<&'static str>,
    pub is_month: bool,
    pub is_abbreviation: bool,
    /// The day of the week from Monday.
    pub weekday: Option<u8>,
}

/// All words of the lists, folded.
pub(crate) static VOCABULARY: LazyLock<FxHashMap<String, WordEntry>> = LazyLock::new(|| {
    let mut words: FxHashMap<String, WordEntry> = FxHashMap::default();
    for language in Language::ALL {
        for word in language.list("marks") {
            words.entry(fold(word)).or_default().marks |= language.bit();
        }
        for month in language.list("months").chain(language.list("month abbreviations")) {
            words.entry(fold(month)).or_default().is_month = true;
        }
        for (day, name) in (0..7).cycle().zip(language.list("weekdays")) {
            words.entry(fold(name)).or_default().weekday = Some(day);
        }
        for word in language.list("abbreviations") {
            words.entry(fold(word)).or_default().is_abbreviation = true;
        }
        for (short, long) in language.list("contractions").filter_map(|it| it.split_once(" = ")) {
            words.entry(fold(short)).or_default().expansion = Some(long);
        }
    }
    words
});
