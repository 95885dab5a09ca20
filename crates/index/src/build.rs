//! A segment in memory: documents come in, blocks go out. The part of the store that no segment
//! covers yet is searched in this form too.

use crate::bits::{Bits, encode_bits};
use crate::codec::{IMPACTS, List, Posting};
use crate::docs::{Doc, Docs};
use crate::storage::Blocks;
use crate::terms::TermWriter;
use oneiro_model::Result;
use rustc_hash::FxHashMap;

/// Words of a document of ordinary length.
const ORDINARY: f32 = 40.0;

/// A segment in memory.
#[derive(Default)]
pub(crate) struct Building {
    docs: Docs,
    bits: Vec<Bits>,
    lists: FxHashMap<Box<[u8]>, Open>,
}

/// A list whose last document may still get more of its term.
#[derive(Default)]
struct Open {
    list: List,
    doc: u32,
    times: u16,
}

impl Open {
    fn close(&mut self, words: u16) {
        if self.times > 0 {
            let impact = impact(self.times, words);
            self.list.push(Posting { doc: self.doc, impact });
            self.times = 0;
        }
    }
}

/// How much a term that occurs so often in so many words says about them: the saturated, length
/// normalised frequency of BM25 in eight levels.
fn impact(times: u16, words: u16) -> u8 {
    let times = f32::from(times);
    let part = times / (times + 1.2 * (0.5 + 0.5 * f32::from(words) / ORDINARY));
    ((part * f32::from(IMPACTS)) as u8).min(IMPACTS - 1)
}

/// What an impact stands for, between 0 and 1.
#[inline]
pub fn weight(impact: u8) -> f32 {
    (f32::from(impact) + 0.5) / f32::from(IMPACTS)
}

impl Building {
    /// Adds a document with the terms that `tokens` hands over.
    pub(crate) fn add(
        &mut self,
        doc: Doc,
        bits: Bits,
        tokens: impl FnOnce(&mut dyn FnMut(&[u8])),
    ) -> Result<()> {
        let number = self.docs.len() as u32;
        self.docs.push(doc)?;
        self.bits.push(bits);
        let (lists, docs) = (&mut self.lists, &self.docs);
        tokens(&mut |term| {
            if !lists.contains_key(term) {
                lists.insert(term.into(), Open::default());
            }
            let Some(open) = lists.get_mut(term) else { return };
            if open.times > 0 && open.doc != number {
                open.close(docs.get(open.doc as usize).map_or(0, |doc| doc.words));
            }
            open.doc = number;
            open.times = open.times.saturating_add(1);
        });
        Ok(())
    }

    /// The documents.
    pub(crate) fn docs(&self) -> &Docs {
        &self.docs
    }

    /// Their vectors.
    pub(crate) fn bits(&self) -> &[Bits] {
        &self.bits
    }

    /// Ends every open list, so that they can be read.
    pub(crate) fn settle(&mut self) {
        let docs = &self.docs;
        for open in self.lists.values_mut() {
            open.close(docs.get(open.doc as usize).map_or(0, |doc| doc.words));
        }
    }

    /// The list of a term: how many documents, and the postings.
    pub(crate) fn list(&self, term: &[u8]) -> Option<(u32, &[u8])> {
        let open = self.lists.get(term)?;
        Some((open.list.count, &open.list.bytes))
    }

    /// The terms, in no order.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &[u8]> {
        self.lists.keys().map(|term| &**term)
    }

    /// Everything as blocks.
    pub(crate) fn finish(mut self, with_vectors: bool) -> Blocks {
        self.settle();
        let mut sorted: Vec<(&Box<[u8]>, &Open)> = self.lists.iter().collect();
        sorted.sort_unstable_by_key(|(term, _)| *term);
        let mut writer = TermWriter::default();
        for (term, open) in sorted {
            writer.add(term, open.list.lend());
        }
        Blocks {
            terms: writer.finish(),
            docs: self.docs.encode(),
            vectors: if with_vectors { encode_bits(&self.bits) } else { Vec::new() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_often_and_shorter_says_more() {
        assert!(impact(3, 40) > impact(1, 40));
        assert!(impact(1, 5) > impact(1, 200));
        assert!(impact(u16::MAX, 0) < IMPACTS);
    }

    #[test]
    fn terms_are_counted_by_document() {
        let mut building = Building::default();
        for (seq, terms) in [(1, "a b a"), (2, "b"), (3, "a")] {
            let doc = Doc { seq, session: 1, role: 2, words: 3, ..Doc::default() };
            let add = |each: &mut dyn FnMut(&[u8])| {
                terms.split(' ').for_each(|term| each(term.as_bytes()));
            };
            building.add(doc, Bits::default(), add).unwrap();
        }
        building.settle();
        assert_eq!(building.list(b"a").unwrap().0, 2);
        assert_eq!(building.list(b"b").unwrap().0, 2);
        assert!(building.list(b"c").is_none());
    }
}
