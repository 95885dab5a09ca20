//! Merging segments: their documents follow each other, so lists are joined, not sorted. The same
//! pass leaves out documents that must be forgotten.

use super::bits::{Bits, decode_bits, encode_bits};
use super::codec::{List, ListRef, Postings};
use super::docs::Docs;
use super::terms::{TermReader, TermWriter};
use oneiro_model::Result;
use oneiro_store::segments::{self, Blocks, Segment, TermBlock};
use oneiro_store::{Tx, segments::Written};
use std::ops::ControlFlow;

/// Blocks of terms read at once.
const READ: usize = 64;

/// Blocks of terms handed over at once.
const WRITE: usize = 256;

/// Segments to be made into one.
pub(super) struct Merge {
    inputs: Vec<Input>,
    docs: Docs,
    bits: Vec<Bits>,
    /// The model of the vectors, when every input has those of the same.
    embedder: Option<String>,
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
    /// Reads the documents of adjacent segments, in order, and keeps those whose message `keep`
    /// agrees to.
    pub(super) fn begin(
        tx: &Tx<'_>,
        from: &[Segment],
        mut keep: impl FnMut(i64) -> bool,
    ) -> Result<Merge> {
        let embedder = from.first().and_then(|first| first.embedder.clone());
        let embedder = embedder
            .filter(|model| from.iter().all(|segment| segment.embedder.as_deref() == Some(model)));
        let mut merge =
            Merge { inputs: Vec::new(), docs: Docs::default(), bits: Vec::new(), embedder };
        for segment in from {
            let (docs, bits) = load(tx, segment, merge.embedder.is_some())?;
            let offset = merge.docs.len() as u32;
            let mut renumbered = Vec::with_capacity(docs.len());
            for (at, doc) in (0..docs.len()).filter_map(|at| docs.get(at).map(|doc| (at, doc))) {
                let kept = keep(doc.seq);
                renumbered.push(kept.then_some(merge.docs.len() as u32));
                if kept {
                    merge.docs.push(doc)?;
                    merge.bits.extend(bits.get(at));
                }
            }
            let some_go = renumbered.iter().any(Option::is_none);
            let renumbered = some_go.then_some(renumbered);
            merge.inputs.push(Input { id: segment.id, offset, renumbered });
        }
        Ok(merge)
    }

    /// The documents of the result.
    pub(super) fn docs(&self) -> &Docs {
        &self.docs
    }

    /// The model of its vectors.
    pub(super) fn embedder(&self) -> Option<&str> {
        self.embedder.as_deref()
    }

    /// Hands over the blocks of the result, a bounded number at a time, until `sink` breaks off.
    pub(super) fn write(
        &self,
        tx: &Tx<'_>,
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
        let mut cursors =
            self.inputs.iter().map(|input| Cursor::new(tx, input)).collect::<Result<Vec<_>>>()?;
        let mut writer = TermWriter::default();
        let mut full = Vec::new();
        while let Some(term) = cursors.iter().filter_map(Cursor::term).min().map(<[u8]>::to_owned) {
            let mut joined = List::default();
            for cursor in cursors.iter_mut().filter(|cursor| cursor.term() == Some(&*term)) {
                cursor.join_into(&mut joined)?;
                cursor.advance(tx)?;
            }
            if joined.count > 0 {
                writer.add(&term, joined.lend());
                full.append(&mut writer.take_full());
            }
            if full.len() >= WRITE {
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
pub(super) fn load(tx: &Tx<'_>, segment: &Segment, vectors: bool) -> Result<(Docs, Vec<Bits>)> {
    let mut docs = Docs::default();
    segments::docs(tx, segment.id, |block| docs.decode(block))?;
    let mut bits = Vec::new();
    if vectors {
        segments::vectors(tx, segment.id, |block| decode_bits(block, &mut bits))?;
    }
    Ok((docs, bits))
}

/// Writes the whole result of a merge within one transaction.
pub(super) fn write_into(tx: &Tx<'_>, merge: &Merge, id: i64) -> Result<()> {
    let mut written = Written::default();
    merge
        .write(tx, |blocks| {
            written = segments::insert_blocks(tx, id, blocks, written)?;
            Ok(ControlFlow::Continue(()))
        })
        .map(|_| ())
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
    fn new(tx: &Tx<'_>, input: &'m Input) -> Result<Cursor<'m>> {
        let mut cursor = Cursor {
            input,
            blocks: Vec::new().into_iter(),
            read: 0,
            entries: Vec::new().into_iter(),
            at: None,
            ahead: None,
        };
        cursor.ahead = cursor.entry(tx)?;
        cursor.advance(tx)?;
        Ok(cursor)
    }

    fn term(&self) -> Option<&[u8]> {
        self.at.as_ref().map(|(term, _)| term.as_slice())
    }

    /// Steps to the next term; the parts of a long list are one step.
    fn advance(&mut self, tx: &Tx<'_>) -> Result<()> {
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
            self.ahead = self.entry(tx)?;
        }
        Ok(())
    }

    fn entry(&mut self, tx: &Tx<'_>) -> Result<Option<(Vec<u8>, List)>> {
        loop {
            if let Some(entry) = self.entries.next() {
                return Ok(Some(entry));
            }
            let block = match self.blocks.next() {
                Some(block) => block,
                None => {
                    let blocks = segments::term_blocks(tx, self.input.id, self.read, READ)?;
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
