//! Merging segments: their documents follow each other, so lists are joined, not sorted. The same
//! pass leaves out documents that must be forgotten.

use crate::bits::{Bits, decode_bits, encode_bits};
use crate::codec::{List, ListRef, Postings};
use crate::docs::Docs;
use crate::storage::{Blocks, Segment, Storage, TermBlock, Written};
use crate::terms::{TermReader, TermWriter};
use oneiro_model::Result;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Blocks of terms read at once.
const READ_BLOCKS: usize = 64;

/// Blocks of terms handed over at once.
const WRITE_BLOCKS: usize = 256;

/// Segments to be made into one.
pub struct Merge {
    inputs: Vec<Input>,
    docs: Docs,
    bits: Vec<Bits>,
    /// The model of the vectors, when every input has those of the same.
    embedder: Option<String>,
    /// What the result covers, and which version made it.
    covered: Segment,
}

/// One of the segments, and what becomes of its documents.
struct Input {
    id: i64,
    /// The new number of its first document, when all are kept.
    offset: u32,
    /// The new number of each document, when some are left out.
    renumbered: Option<Vec<Option<u32>>>,
}

impl Merge {
    /// Reads the documents of adjacent segments, in order, and keeps those whose text `keep`
    /// agrees to.
    pub fn begin(
        storage: &dyn Storage,
        from: &[Segment],
        mut keep: impl FnMut(i64) -> bool,
    ) -> Result<Merge> {
        let embedder = from.first().and_then(|first| first.embedder.clone());
        let embedder = embedder
            .filter(|model| from.iter().all(|segment| segment.embedder.as_deref() == Some(model)));
        let covered = match (from.first(), from.last()) {
            (Some(first), Some(last)) => {
                let version = from.iter().map(|segment| segment.version).min().unwrap_or(0);
                Segment { last: last.last, version, ..first.clone() }
            }
            _ => Segment::default(),
        };
        let mut merge = Merge {
            inputs: Vec::new(),
            docs: Docs::default(),
            bits: Vec::new(),
            embedder,
            covered,
        };
        for segment in from {
            let (docs, bits) = load(storage, segment, merge.embedder.is_some())?;
            let offset = merge.docs.len() as u32;
            let mut renumbered = Vec::with_capacity(docs.len());
            for (at, doc) in docs.iter().enumerate() {
                let kept = keep(doc.seq);
                renumbered.push(kept.then_some(merge.docs.len() as u32));
                if kept {
                    merge.docs.push(doc)?;
                    merge.bits.extend(bits.get(at));
                }
            }
            let any_removed = renumbered.iter().any(Option::is_none);
            let renumbered = any_removed.then_some(renumbered);
            merge.inputs.push(Input { id: segment.id, offset, renumbered });
        }
        Ok(merge)
    }

    /// The result as a segment that is not stored yet.
    pub fn segment(&self) -> Segment {
        Segment {
            texts: self.docs.texts() as i64,
            docs: self.docs.len() as i64,
            words: self.docs.total_words(),
            embedder: self.embedder.clone(),
            ..self.covered.clone()
        }
    }

    /// Hands over the blocks of the result, a bounded number at a time, until `sink` breaks off.
    pub fn write(
        &self,
        storage: &dyn Storage,
        mut sink: impl FnMut(&Blocks) -> Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>> {
        let vectors = match self.embedder {
            Some(_) => encode_bits(&self.bits),
            None => Vec::new(),
        };
        let docs = Blocks { terms: Vec::new(), docs: self.docs.encode(), vectors };
        if sink(&docs)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        let mut cursors = self
            .inputs
            .iter()
            .map(|input| Cursor::new(storage, input))
            .collect::<Result<Vec<_>>>()?;
        let mut writer = TermWriter::default();
        let mut full = Vec::new();
        while let Some(term) = cursors.iter().filter_map(Cursor::term).min().map(<[u8]>::to_owned) {
            let mut joined = List::default();
            for cursor in cursors.iter_mut().filter(|cursor| cursor.term() == Some(&*term)) {
                cursor.join_into(&mut joined)?;
                cursor.advance(storage)?;
            }
            if joined.count > 0 {
                writer.add(&term, joined.lend());
                full.append(&mut writer.take_full());
            }
            if full.len() >= WRITE_BLOCKS {
                let blocks = Blocks { terms: std::mem::take(&mut full), ..Blocks::default() };
                if sink(&blocks)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        full.append(&mut writer.finish());
        sink(&Blocks { terms: full, ..Blocks::default() })
    }
}

/// The documents of a segment, and their vectors if wanted.
pub(crate) fn load(
    storage: &dyn Storage,
    segment: &Segment,
    vectors: bool,
) -> Result<(Docs, Vec<Bits>)> {
    let mut docs = Docs::default();
    storage.docs(segment.id, &mut |block| docs.decode(block))?;
    let mut bits = Vec::new();
    if vectors {
        storage.vectors(segment.id, &mut |block| decode_bits(block, &mut bits))?;
    }
    Ok((docs, bits))
}

/// The number of the text of each document of a segment, in order.
pub fn numbers(storage: &dyn Storage, segment: &Segment) -> Result<Vec<i64>> {
    Ok(load(storage, segment, false)?.0.iter().map(|doc| doc.seq).collect())
}

/// Puts a segment without these texts into the place of one, in one transaction.
pub fn rewrite(storage: &dyn Storage, segment: &Segment, without: &BTreeSet<i64>) -> Result<()> {
    let merge =
        Merge::begin(storage, std::slice::from_ref(segment), |number| !without.contains(&number))?;
    let id = storage.insert(&merge.segment())?;
    let mut written = Written::default();
    let _: ControlFlow<()> = merge.write(storage, |blocks| {
        written = storage.write(id, blocks, written)?;
        Ok(ControlFlow::Continue(()))
    })?;
    storage.remove(segment.id)
}

/// Walks the terms of one segment.
struct Cursor<'m> {
    input: &'m Input,
    blocks: std::vec::IntoIter<TermBlock>,
    read: i64,
    /// What is left of the block at hand, each term with its list.
    entries: std::vec::IntoIter<(Vec<u8>, List)>,
    at: Option<(Vec<u8>, Vec<List>)>,
    ahead: Option<(Vec<u8>, List)>,
}

impl<'m> Cursor<'m> {
    fn new(storage: &dyn Storage, input: &'m Input) -> Result<Cursor<'m>> {
        let mut cursor = Cursor {
            input,
            blocks: Vec::new().into_iter(),
            read: 0,
            entries: Vec::new().into_iter(),
            at: None,
            ahead: None,
        };
        cursor.ahead = cursor.entry(storage)?;
        cursor.advance(storage)?;
        Ok(cursor)
    }

    fn term(&self) -> Option<&[u8]> {
        self.at.as_ref().map(|(term, _)| term.as_slice())
    }

    /// Steps to the next term; the parts of a long list are one step.
    fn advance(&mut self, storage: &dyn Storage) -> Result<()> {
        self.at = None;
        while let Some((term, list)) = self.ahead.take() {
            match &mut self.at {
                None => self.at = Some((term, vec![list])),
                Some((at, lists)) if *at == term => lists.push(list),
                Some(_) => {
                    self.ahead = Some((term, list));
                    break;
                }
            }
            self.ahead = self.entry(storage)?;
        }
        Ok(())
    }

    fn entry(&mut self, storage: &dyn Storage) -> Result<Option<(Vec<u8>, List)>> {
        loop {
            if let Some(entry) = self.entries.next() {
                return Ok(Some(entry));
            }
            let block = match self.blocks.next() {
                Some(block) => block,
                None => {
                    let blocks = storage.terms(self.input.id, self.read, READ_BLOCKS)?;
                    self.read += blocks.len() as i64;
                    self.blocks = blocks.into_iter();
                    match self.blocks.next() {
                        Some(block) => block,
                        None => return Ok(None),
                    }
                }
            };
            let mut reader = TermReader::new(&block.data)?;
            let mut entries = Vec::new();
            while let Some((term, ListRef { count, last, bytes })) = reader.next()? {
                entries.push((term.to_owned(), List { count, last, bytes: bytes.to_owned() }));
            }
            self.entries = entries.into_iter();
        }
    }

    fn join_into(&self, joined: &mut List) -> Result<()> {
        let lists = self.at.iter().flat_map(|(_, lists)| lists);
        for list in lists {
            match &self.input.renumbered {
                None => joined.join(list.lend(), self.input.offset)?,
                Some(renumbered) => {
                    for mut posting in Postings::new(&list.bytes) {
                        if let Some(Some(doc)) = renumbered.get(posting.doc as usize) {
                            posting.doc = *doc;
                            joined.push(posting);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
