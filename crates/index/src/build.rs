//! Builds a segment in memory from documents. Texts that no stored segment covers are searched in this
//! form too.

use crate::bits::{Bits, encode_bits};
use crate::codec::{IMPACTS, List, ListRef, Posting};
use crate::docs::{Doc, Docs};
use crate::storage::Blocks;
use crate::terms::TermWriter;
use oneiro_model::Result;
use rustc_hash::FxHashMap;

/// The average length of a document in words, as in BM25.
const AVERAGE_WORDS: f32 = 40.0;

/// A segment in memory.
#[derive(Default)]
pub(crate) struct SegmentBuilder {
    docs: Docs,
    bits: Vec<Bits>,
    lists: FxHashMap<Box<[u8]>, OpenList>,
}

/// The parameters of BM25.
const K1: f32 = 1.2;
const B: f32 = 0.5;

/// A list whose last document may have further occurrences of the term.
#[derive(Default)]
struct OpenList {
    list: List,
    doc: u32,
    occurrences: u16,
}

impl OpenList {
    fn close(&mut self, words: u16) {
        if self.occurrences > 0 {
            let impact = impact(self.occurrences, words);
            self.list.push(Posting { doc: self.doc, impact });
            self.occurrences = 0;
        }
    }
}

/// The impact of a term on a document: the saturated, length-normalised term frequency of BM25, quantised
/// to eight levels.
fn impact(times: u16, words: u16) -> u8 {
    let times = f32::from(times);
    let part = times / (times + K1 * (1.0 - B + B * f32::from(words) / AVERAGE_WORDS));
    ((part * f32::from(IMPACTS)) as u8).min(IMPACTS - 1)
}

/// The weight of an impact level, between 0 and 1.
#[inline]
pub fn weight(impact: u8) -> f32 {
    (f32::from(impact) + 0.5) / f32::from(IMPACTS)
}

impl SegmentBuilder {
    /// Adds a document; `tokens` calls its argument with each term.
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
                lists.insert(term.into(), OpenList::default());
            }
            let Some(open) = lists.get_mut(term) else { return };
            if open.occurrences > 0 && open.doc != number {
                open.close(docs.get(open.doc as usize).map_or(0, |doc| doc.words));
            }
            open.doc = number;
            open.occurrences = open.occurrences.saturating_add(1);
        });
        Ok(())
    }

    pub(crate) fn docs(&self) -> &Docs {
        &self.docs
    }

    pub(crate) fn bits(&self) -> &[Bits] {
        &self.bits
    }

    /// Closes every list, so that they can be read.
    pub(crate) fn close_lists(&mut self) {
        let docs = &self.docs;
        for open in self.lists.values_mut() {
            open.close(docs.get(open.doc as usize).map_or(0, |doc| doc.words));
        }
    }

    /// The list of a term.
    pub(crate) fn list(&self, term: &[u8]) -> Option<ListRef<'_>> {
        Some(self.lists.get(term)?.list.as_list_ref())
    }

    /// The terms, in no order.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &[u8]> {
        self.lists.keys().map(|term| &**term)
    }

    /// Encodes the segment as blocks.
    pub(crate) fn finish(mut self, with_vectors: bool) -> Blocks {
        self.close_lists();
        let mut sorted: Vec<(&Box<[u8]>, &OpenList)> = self.lists.iter().collect();
        sorted.sort_unstable_by_key(|(term, _)| *term);
        let mut writer = TermWriter::default();
        for (term, open) in sorted {
            writer.add(term, open.list.as_list_ref());
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
    fn impact_grows_with_occurrences_and_shrinks_with_length() {
        assert!(impact(3, 40) > impact(1, 40));
        assert!(impact(1, 5) > impact(1, 200));
        assert!(impact(u16::MAX, 0) < IMPACTS);
    }

    #[test]
    fn terms_are_counted_by_document() {
        let mut building = SegmentBuilder::default();
        for (seq, terms) in [(1, "a b a"), (2, "b"), (3, "a")] {
            let doc = Doc { seq, session: 1, role: 2, words: 3, ..Doc::default() };
            let add = |each: &mut dyn FnMut(&[u8])| {
                terms.split(' ').for_each(|term| each(term.as_bytes()));
            };
            building.add(doc, Bits::default(), add).unwrap();
        }
        building.close_lists();
        assert_eq!(building.list(b"a").unwrap().count, 2);
        assert_eq!(building.list(b"b").unwrap().count, 2);
        assert!(building.list(b"c").is_none());
    }
}
