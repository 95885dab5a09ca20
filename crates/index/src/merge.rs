//! Merges adjacent segments. Their documents are consecutive, so posting lists are concatenated, not
//! sorted. The same pass removes documents that were erased. Nothing is changed in place: a merge that is
//! interrupted leaves its inputs as they are.

use crate::bits::{Bits, decode_bits, encode_bits};
use crate::codec::{List, ListRef, Postings};
use crate::docs::Docs;
use crate::storage::{Blocks, Segment, Storage, TermBlock, Written};
use crate::terms::{TermReader, TermWriter};
use oneiro_model::Result;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Blocks of terms read from the storage at a time.
const READ_BLOCKS: usize = 64;

/// Blocks of terms passed to the sink at a time.
const WRITE_BLOCKS: usize = 256;

/// A merge of several segments into one.
pub struct Merge {
    inputs: Vec<Input>,
    docs: Docs,
    bits: Vec<Bits>,
    /// The model of the vectors, if it is the same for every input.
    embedder: Option<String>,
    /// The range and the version of the result.
    covered: Segment,
}

/// An input segment and the new numbers of its documents.
struct Input {
    id: i64,
    /// The new number of its first document, if all are kept.
    offset: u32,
    /// The new number of each document, if some are removed.
    renumbered: Option<Vec<Option<u32>>>,
}

impl Merge {
    /// Reads the documents of adjacent segments, in order, and keeps those for whose text `keep` returns
    /// true.
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
            let (docs, bits) = read_docs(storage, segment, merge.embedder.is_some())?;
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

    /// The result, which is not stored yet.
    pub fn segment(&self) -> Segment {
        Segment {
            texts: self.docs.texts() as i64,
            docs: self.docs.len() as i64,
            words: self.docs.total_words(),
            embedder: self.embedder.clone(),
            ..self.covered.clone()
        }
    }

    /// Passes the blocks of the result to `sink`, a bounded number at a time, until it breaks.
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
            .map(|input| TermCursor::new(storage, input))
            .collect::<Result<Vec<_>>>()?;
        let mut writer = TermWriter::default();
        let mut full = Vec::new();
        while let Some(term) =
            cursors.iter().filter_map(TermCursor::term).min().map(<[u8]>::to_owned)
        {
            let mut joined = List::default();
            for cursor in cursors.iter_mut().filter(|cursor| cursor.term() == Some(&*term)) {
                cursor.append_to(&mut joined)?;
                cursor.advance(storage)?;
            }
            if joined.count > 0 {
                writer.add(&term, joined.as_list_ref());
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

/// Reads the documents of a segment, and their vectors if requested.
pub(crate) fn read_docs(
    storage: &dyn Storage,
    segment: &Segment,
    with_vectors: bool,
) -> Result<(Docs, Vec<Bits>)> {
    let mut docs = Docs::default();
    storage.docs(segment.id, &mut |block| docs.decode(block))?;
    let mut bits = Vec::new();
    if with_vectors {
        storage.vectors(segment.id, &mut |block| decode_bits(block, &mut bits))?;
    }
    Ok((docs, bits))
}

/// The text number of each document of a segment, in order.
pub fn text_numbers(storage: &dyn Storage, segment: &Segment) -> Result<Vec<i64>> {
    Ok(read_docs(storage, segment, false)?.0.iter().map(|doc| doc.seq).collect())
}

/// Replaces a segment by one without these texts. The caller provides the transaction.
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

/// Iterates over the terms of one segment.
struct TermCursor<'m> {
    input: &'m Input,
    blocks: std::vec::IntoIter<TermBlock>,
    /// The number of the next block to read.
    next_block: i64,
    /// The remaining entries of the current block.
    entries: std::vec::IntoIter<(Vec<u8>, List)>,
    /// The current term and the parts of its list.
    current: Option<(Vec<u8>, Vec<List>)>,
    /// The entry after the current term.
    lookahead: Option<(Vec<u8>, List)>,
}

impl<'m> TermCursor<'m> {
    fn new(storage: &dyn Storage, input: &'m Input) -> Result<TermCursor<'m>> {
        let mut cursor = TermCursor {
            input,
            blocks: Vec::new().into_iter(),
            next_block: 0,
            entries: Vec::new().into_iter(),
            current: None,
            lookahead: None,
        };
        cursor.lookahead = cursor.next_entry(storage)?;
        cursor.advance(storage)?;
        Ok(cursor)
    }

    fn term(&self) -> Option<&[u8]> {
        self.current.as_ref().map(|(term, _)| term.as_slice())
    }

    /// Moves to the next term and collects all parts of its list.
    fn advance(&mut self, storage: &dyn Storage) -> Result<()> {
        self.current = None;
        while let Some((term, list)) = self.lookahead.take() {
            match &mut self.current {
                None => self.current = Some((term, vec![list])),
                Some((at, lists)) if *at == term => lists.push(list),
                Some(_) => {
                    self.lookahead = Some((term, list));
                    break;
                }
            }
            self.lookahead = self.next_entry(storage)?;
        }
        Ok(())
    }

    fn next_entry(&mut self, storage: &dyn Storage) -> Result<Option<(Vec<u8>, List)>> {
        loop {
            if let Some(entry) = self.entries.next() {
                return Ok(Some(entry));
            }
            let block = match self.blocks.next() {
                Some(block) => block,
                None => {
                    let blocks = storage.terms(self.input.id, self.next_block, READ_BLOCKS)?;
                    self.next_block += blocks.len() as i64;
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

    fn append_to(&self, joined: &mut List) -> Result<()> {
        let lists = self.current.iter().flat_map(|(_, lists)| lists);
        for list in lists {
            match &self.input.renumbered {
                None => joined.append(list.as_list_ref(), self.input.offset)?,
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
