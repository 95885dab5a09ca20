//! Messages that contain every word of an exact query, with their scores. They are found along the
//! rarest word: of longer lists only the postings of its messages are used, and each list is read
//! once.

use super::matcher::WordForm;
use super::query_terms::{QueryTerms, Word};
use oneiro_index::{TermLists, View, weight};
use oneiro_model::Result;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A message and the score of its words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ScoredDoc {
    /// The first document of the message.
    pub(super) first: u32,
    pub(super) score: f32,
}

/// The messages that contain every word, oldest first. A word is given by its forms, any of which
/// may occur. `query_terms` gives the weights; its lists are used up.
pub(super) fn messages_with_all(
    view: &View<'_>,
    words: &[&[WordForm]],
    query_terms: &mut QueryTerms,
) -> Result<Vec<ScoredDoc>> {
    let mut postings = PostingsByTerm::new(view, query_terms);
    let mut counted = Vec::with_capacity(words.len());
    for forms in words {
        counted.push((postings.count(forms)?, *forms));
    }
    counted.sort_by_key(|(count, _)| *count);
    let Some(((_, rarest), others)) = counted.split_first() else { return Ok(Vec::new()) };
    let mut messages = postings.messages(rarest)?;
    for (_, forms) in others {
        let mut present = postings.present(forms, &messages)?.into_iter();
        messages.retain(|_| present.next().unwrap_or(false));
    }
    let scores = postings.scores(&query_terms.words, &messages)?;
    let scored = messages.iter().zip(scores);
    Ok(scored.map(|(docs, score)| ScoredDoc { first: docs.start, score }).collect())
}

/// The documents of a message, one for each chunk.
type MessageDocs = Range<u32>;

/// The document and the impact of a posting.
type DocImpact = (u32, u8);

/// The postings of a query's terms.
struct PostingsByTerm<'v, 's> {
    view: &'v View<'s>,
    lists: FxHashMap<String, TermLists>,
    /// Postings in the messages that were candidates when the list was read, by document.
    read: FxHashMap<String, Vec<DocImpact>>,
}

impl<'v, 's> PostingsByTerm<'v, 's> {
    fn new(view: &'v View<'s>, query_terms: &mut QueryTerms) -> PostingsByTerm<'v, 's> {
        let mut lists = FxHashMap::default();
        for word in &mut query_terms.words {
            lists.extend(word.terms.iter().cloned().zip(word.lists.drain(..)));
        }
        PostingsByTerm { view, lists, read: FxHashMap::default() }
    }

    /// At most how many documents contain one of the forms.
    fn count(&mut self, forms: &[WordForm]) -> Result<u64> {
        let mut total = 0;
        for form in forms {
            let mut counts = Vec::with_capacity(form.terms.len());
            for term in &form.terms {
                if !self.lists.contains_key(term) {
                    self.lists.insert(term.clone(), self.view.lists(term.as_bytes())?);
                }
                counts.push(self.lists.get(term).map_or(0, |lists| lists.count));
            }
            let counts = counts.into_iter();
            total += if form.needs_all { counts.min().unwrap_or(0) } else { counts.sum() };
        }
        Ok(total)
    }

    /// The messages that contain one of the forms.
    fn messages(&mut self, forms: &[WordForm]) -> Result<Vec<MessageDocs>> {
        let mut messages = Vec::new();
        for form in forms {
            let [first, others @ ..] = form.terms.as_slice() else { continue };
            let mut with_form = self.messages_with_term(first)?;
            for term in others {
                if form.needs_all {
                    let mut present = vec![false; with_form.len()];
                    // Read again if another form needs the term in other messages.
                    drop(self.mark_present(term, &with_form, &mut present)?);
                    let mut present = present.into_iter();
                    with_form.retain(|_| present.next().unwrap_or(false));
                } else {
                    with_form.append(&mut self.messages_with_term(term)?);
                }
            }
            messages.append(&mut with_form);
        }
        messages.sort_unstable_by_key(|docs| docs.start);
        messages.dedup();
        Ok(messages)
    }

    fn messages_with_term(&mut self, term: &str) -> Result<Vec<MessageDocs>> {
        let view = self.view;
        let mut messages: Vec<MessageDocs> = Vec::new();
        let mut read = Vec::new();
        let all = 0..view.docs() as u32;
        self.each_in(term, std::slice::from_ref(&all), |_, doc, impact| {
            read.push((doc, impact));
            if messages.last().is_none_or(|docs| doc >= docs.end) {
                messages.push(view.chunks(doc));
            }
        })?;
        self.read.insert(term.to_owned(), read);
        Ok(messages)
    }

    /// Which of the messages contain one of the forms.
    fn present(&mut self, forms: &[WordForm], messages: &[MessageDocs]) -> Result<Vec<bool>> {
        let mut present = vec![false; messages.len()];
        for form in forms {
            if !form.needs_all {
                for term in &form.terms {
                    let read = self.mark_present(term, messages, &mut present)?;
                    self.read.insert(term.clone(), read);
                }
                continue;
            }
            let mut with_all = vec![!form.terms.is_empty(); messages.len()];
            for term in &form.terms {
                let mut with_term = vec![false; messages.len()];
                let read = self.mark_present(term, messages, &mut with_term)?;
                self.read.insert(term.clone(), read);
                with_all.iter_mut().zip(with_term).for_each(|(all, one)| *all &= one);
            }
            present.iter_mut().zip(with_all).for_each(|(any, all)| *any |= all);
        }
        Ok(present)
    }

    /// Sets `present` for the messages that contain a term, and returns its postings in them.
    fn mark_present(
        &mut self,
        term: &str,
        messages: &[MessageDocs],
        present: &mut [bool],
    ) -> Result<Vec<DocImpact>> {
        let mut read = Vec::new();
        self.each_in(term, messages, |at, doc, impact| {
            read.push((doc, impact));
            if let Some(is_present) = present.get_mut(at) {
                *is_present = true;
            }
        })?;
        Ok(read)
    }

    /// Calls `each` with the postings of a term in these messages. A term that was read before was
    /// read for these messages and others, because the messages only become fewer.
    fn each_in(
        &mut self,
        term: &str,
        messages: &[MessageDocs],
        mut each: impl FnMut(usize, u32, u8),
    ) -> Result<()> {
        if let Some(read) = self.read.get(term) {
            let mut left = messages.iter().enumerate().peekable();
            for (doc, impact) in read {
                while left.next_if(|(_, docs)| docs.end <= *doc).is_some() {}
                if let Some((at, _)) = left.peek().filter(|(_, docs)| docs.start <= *doc) {
                    each(*at, *doc, *impact);
                }
            }
            return Ok(());
        }
        let Some(lists) = self.lists.get_mut(term) else { return Ok(()) };
        self.view.read_rest(lists, u64::MAX)?;
        lists.postings_in(messages, each);
        Ok(())
    }

    /// The score of each message: the highest of its chunks.
    fn scores(&mut self, words: &[Word], messages: &[MessageDocs]) -> Result<Vec<f32>> {
        let mut next = 0;
        let offsets = messages.iter().map(|docs| {
            let offset = next;
            next += docs.len();
            offset
        });
        let offsets: Vec<usize> = offsets.collect();
        let mut chunks = vec![0.0_f32; next];
        for word in words {
            // The number of the word's terms in each chunk, and the impact of the first.
            let mut found: Vec<(usize, u8)> = vec![(0, 0); next];
            for term in &word.terms {
                self.each_in(term, messages, |at, doc, impact| {
                    let (Some(docs), Some(offset)) = (messages.get(at), offsets.get(at)) else {
                        return;
                    };
                    match found.get_mut(offset + (doc - docs.start) as usize) {
                        Some(first @ (0, _)) => *first = (1, impact),
                        Some((count, _)) => *count += 1,
                        None => {}
                    }
                })?;
            }
            let needed = if word.all { word.terms.len() } else { 1 };
            for (score, (count, impact)) in chunks.iter_mut().zip(found) {
                if count >= needed.max(1) {
                    *score += word.weight * weight(impact);
                }
            }
        }
        let highest = |(docs, offset): (&MessageDocs, &usize)| {
            let chunks = chunks.get(*offset..offset + docs.len()).unwrap_or_default();
            chunks.iter().copied().fold(0.0, f32::max)
        };
        Ok(messages.iter().zip(&offsets).map(highest).collect())
    }
}
