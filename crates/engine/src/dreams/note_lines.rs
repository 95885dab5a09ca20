//! Lines of dated notes as evidence: one that a person wrote and that states a claim counts as a recall on the
//! day of its note; one that an agent wrote counts for the rank alone.

use super::evidence::EvidenceKind;
use crate::notes::{line_authors, note_entries};
use oneiro_model::{ActorKind, Memory, NoteName, Result, Timestamp};
use oneiro_store::{Tx, notes};
use oneiro_text::Analyzer;
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, HashMap};

/// How relevant such a line is, as openclaw scores the lines of daily notes.
pub(super) const LINE_RELEVANCE: f64 = 0.62;

/// Newest dated notes that are read: more than a year of them.
const NOTES_MAX: usize = 400;

/// A line of a dated note that states a memory.
pub(super) struct NoteLine {
    /// The place of the memory in the list that was asked about.
    pub(super) memory: usize,
    pub(super) text: String,
    pub(super) at: Timestamp,
    pub(super) kind: EvidenceKind,
}

/// The words of a statement, without the name of whom it is about.
type Words = BTreeSet<String>;

/// The lines of dated notes, up to `now`, that state one of these memories in its words.
pub(super) fn note_lines(
    tx: &Tx<'_>,
    memories: &[&Memory],
    now: Timestamp,
) -> Result<Vec<NoteLine>> {
    let mut dated: Vec<(Timestamp, notes::StoredNote)> = notes::list(tx, "")?
        .into_iter()
        .filter_map(|note| Some((day_of_name(&note.name)?, note)))
        .filter(|(at, _)| *at <= now)
        .collect();
    dated.sort_by(|(one, a), (other, b)| other.cmp(one).then_with(|| a.name.cmp(&b.name)));
    dated.truncate(NOTES_MAX);
    if dated.is_empty() {
        return Ok(Vec::new());
    }
    let mut analyzer = Analyzer::default();
    let mut by_words: FxHashMap<Words, Vec<usize>> = FxHashMap::default();
    for (place, memory) in memories.iter().enumerate() {
        let words = words_of(&mut analyzer, &memory.content, memory.subject.as_deref());
        if !words.is_empty() {
            by_words.entry(words).or_default().push(place);
        }
    }
    let names: BTreeSet<&str> =
        memories.iter().filter_map(|memory| memory.subject.as_deref()).collect();
    let mut found = Vec::new();
    for (at, note) in dated {
        let mut authors: Option<HashMap<String, ActorKind>> = None;
        for text in note_entries(&note.text) {
            // A line may name whom it is about, which a memory says apart.
            let about = [None]
                .into_iter()
                .chain(names.iter().filter(|name| text.contains(**name)).map(|name| Some(*name)));
            let mut stated = BTreeSet::new();
            for name in about {
                let words = words_of(&mut analyzer, &text, name);
                let same = by_words.get(&words).into_iter().flatten().copied();
                stated.extend(same.filter(|place| {
                    let subject = memories.get(*place).and_then(|it| it.subject.as_deref());
                    name.is_none() || subject == name
                }));
            }
            if stated.is_empty() {
                continue;
            }
            let authors = match &mut authors {
                Some(authors) => authors,
                none => none.insert(line_authors(tx, &note.name)?),
            };
            let first = text.lines().next().unwrap_or_default().trim();
            let author = authors.iter().find(|(line, _)| line.contains(first)).map(|(_, it)| *it);
            let kind = match author {
                Some(ActorKind::Person) => EvidenceKind::Line,
                Some(ActorKind::Agent) => EvidenceKind::Use,
                _ => continue,
            };
            found.extend(stated.into_iter().map(|memory| NoteLine {
                memory,
                text: text.clone(),
                at,
                kind,
            }));
        }
    }
    Ok(found)
}

fn words_of(analyzer: &mut Analyzer, text: &str, without: Option<&str>) -> Words {
    let mut words: Words = analyzer.content_terms(text).into_iter().collect();
    if let Some(name) = without {
        analyzer.content_terms(name).iter().for_each(|word| {
            words.remove(word);
        });
    }
    words
}

/// The day that the name of a dated note says.
pub(super) fn day_of_name(name: &NoteName) -> Option<Timestamp> {
    let day = name.file_name().strip_suffix(".md")?.get(..10)?;
    Timestamp::parse(&format!("{day}T00:00:00Z")).ok()
}
