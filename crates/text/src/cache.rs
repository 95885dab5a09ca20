//! What is known of words met before: in which languages they are stop words, and their stems.
//! It owns the bound on its own memory; it must not change any answer.

use rustc_hash::FxHashMap;

use crate::language::{Language, stem, stop_set};

/// Words kept. The vocabulary of a large store is a few times that, but Zipf is on our side.
const MOST_WORDS: usize = 1 << 15;

/// Bytes of stems kept.
const MOST_BYTES: usize = 1 << 20;

/// A word not in the cache.
pub(crate) const UNKNOWN: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Entry {
    stop_set: u16,
    /// The stems in the languages last asked for: rows of two languages come side by side.
    stems: [Option<(Language, u32, u32)>; 2],
}

/// The cache. Ids are good until the next [`Words::make_room`].
#[derive(Debug, Default)]
pub(crate) struct Words {
    ids: FxHashMap<Box<str>, u32>,
    entries: Vec<Entry>,
    stems: String,
}

impl Words {
    /// Forgets everything once there is too much. To be called between texts.
    pub fn make_room(&mut self) {
        if self.entries.len() >= MOST_WORDS || self.stems.len() >= MOST_BYTES {
            self.ids.clear();
            self.entries.clear();
            self.stems.clear();
        }
    }

    /// The id of a word and its set of languages as a stop word.
    pub fn look_up(&mut self, norm: &str) -> (u32, u16) {
        if let Some(id) = self.ids.get(norm) {
            let entry = self.entries.get(*id as usize);
            return (*id, entry.map_or(0, |entry| entry.stop_set));
        }
        let stop_set = stop_set(norm);
        if self.entries.len() >= MOST_WORDS {
            return (UNKNOWN, stop_set);
        }
        let id = self.entries.len() as u32;
        self.ids.insert(norm.into(), id);
        self.entries.push(Entry { stop_set, stems: [None, None] });
        (id, stop_set)
    }

    /// The stop set of an id.
    pub fn stop_set(&self, id: u32, norm: &str) -> u16 {
        self.entries.get(id as usize).map_or_else(|| stop_set(norm), |entry| entry.stop_set)
    }

    /// The stem of a word by its id; `spare` holds it where there is no room.
    pub fn stem<'a>(
        &'a mut self,
        id: u32,
        (norm, language): (&str, Language),
        spare: &'a mut String,
    ) -> &'a str {
        let known = self.entries.get(id as usize).and_then(|entry| {
            entry.stems.iter().flatten().find(|(of, ..)| *of == language).copied()
        });
        if let Some((_, start, end)) = known {
            return self.stems.get(start as usize..end as usize).unwrap_or_default();
        }
        let stem = stem(norm, language);
        let Some(entry) = self.entries.get_mut(id as usize) else {
            spare.clear();
            spare.push_str(&stem);
            return spare;
        };
        if self.stems.len() >= MOST_BYTES {
            spare.clear();
            spare.push_str(&stem);
            return spare;
        }
        let start = self.stems.len();
        self.stems.push_str(&stem);
        let [first, second] = entry.stems;
        let added = Some((language, start as u32, self.stems.len() as u32));
        entry.stems = if first.is_none() { [added, second] } else { [first, added] };
        self.stems.get(start..).unwrap_or_default()
    }
}
