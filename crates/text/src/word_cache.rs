//! A cache of words: the languages in which they are stop words, and their stems.

use rustc_hash::FxHashMap;

use crate::language::{Language, stem, stop_set};

/// The vocabulary of a large store is a few times larger, but the frequent words are what counts.
const MAX_WORDS: usize = 1 << 15;

const MAX_STEM_BYTES: usize = 1 << 20;

/// The id of a word that is not in the cache.
pub(crate) const NOT_CACHED: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Entry {
    stop_set: u16,
    /// The stems in the two languages used last: texts in two languages are often interleaved.
    stems: [Option<(Language, u32, u32)>; 2],
}

/// Ids are valid until the next [`WordCache::evict_if_full`].
#[derive(Debug, Default)]
pub(crate) struct WordCache {
    ids: FxHashMap<Box<str>, u32>,
    entries: Vec<Entry>,
    stems: String,
    /// The last stem that did not fit.
    uncached_stem: String,
}

impl WordCache {
    /// Empties the cache if it is full. Call it between texts.
    pub fn evict_if_full(&mut self) {
        if self.entries.len() >= MAX_WORDS || self.stems.len() >= MAX_STEM_BYTES {
            self.ids.clear();
            self.entries.clear();
            self.stems.clear();
        }
    }

    /// The id of a word and the set of languages in which it is a stop word.
    pub fn look_up(&mut self, norm: &str) -> (u32, u16) {
        if let Some(id) = self.ids.get(norm) {
            let entry = self.entries.get(*id as usize);
            return (*id, entry.map_or(0, |entry| entry.stop_set));
        }
        let stop_set = stop_set(norm);
        if self.entries.len() >= MAX_WORDS {
            return (NOT_CACHED, stop_set);
        }
        let id = self.entries.len() as u32;
        self.ids.insert(norm.into(), id);
        self.entries.push(Entry { stop_set, stems: [None, None] });
        (id, stop_set)
    }

    /// The languages in which a word is a stop word.
    pub fn stop_set(&self, id: u32, norm: &str) -> u16 {
        self.entries.get(id as usize).map_or_else(|| stop_set(norm), |entry| entry.stop_set)
    }

    /// The stem of a word.
    pub fn stem(&mut self, id: u32, norm: &str, language: Language) -> &str {
        let cached = self.entries.get(id as usize).and_then(|entry| {
            entry.stems.iter().flatten().find(|(of, ..)| *of == language).copied()
        });
        if let Some((_, start, end)) = cached {
            return self.stems.get(start as usize..end as usize).unwrap_or_default();
        }
        let stem = stem(norm, language);
        let entry = self.entries.get_mut(id as usize);
        let Some(entry) = entry.filter(|_| self.stems.len() < MAX_STEM_BYTES) else {
            self.uncached_stem.clear();
            self.uncached_stem.push_str(&stem);
            return &self.uncached_stem;
        };
        let start = self.stems.len();
        self.stems.push_str(&stem);
        let [first, second] = entry.stems;
        let added = Some((language, start as u32, self.stems.len() as u32));
        entry.stems = if first.is_none() { [added, second] } else { [first, added] };
        self.stems.get(start..).unwrap_or_default()
    }
}
