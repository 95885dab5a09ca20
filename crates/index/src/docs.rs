//! The documents of a segment, stored by column. A document is a chunk of a text, with the fields that a
//! search needs without reading its row.

use crate::codec::{Bytes, damaged, put, put_signed};
use crate::{Kind, Kinds};
use oneiro_model::{Result, Role};
use std::ops::Range;

/// Documents per block.
const DOCS_PER_BLOCK: usize = 4_096;

/// One document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Doc {
    /// The number of its text.
    pub seq: i64,
    /// What the text is.
    pub kind: Kind,
    /// What it belongs to: the session of a message.
    pub session: i64,
    /// When it was said, in minutes.
    pub minute: i64,
    /// Who said it.
    pub role: u8,
    /// Words in it.
    pub words: u16,
}

/// The low bits of the kind-and-role byte hold the role. In segments of format 0 the byte is the role
/// alone, which reads as the kind `Message`.
const ROLE_BITS: u32 = 3;

impl Doc {
    fn kind_and_role(&self) -> u8 {
        (self.kind as u8) << ROLE_BITS | self.role
    }
}

/// Roles in `ROLE_BITS` bits.
pub mod role {
    /// A person.
    pub const USER: u8 = 2;
    /// The agent.
    pub const ASSISTANT: u8 = 3;
    /// A tool.
    pub const TOOL: u8 = 4;
    /// What every role fits into.
    pub(crate) const HIGHEST: u8 = (1 << super::ROLE_BITS) - 1;
}

/// A role as a number; roles that no provider defines share one.
pub fn role_code(role: &Role) -> u8 {
    match role {
        Role::System => 0,
        Role::Developer => 1,
        Role::User => role::USER,
        Role::Assistant => role::ASSISTANT,
        Role::Tool => role::TOOL,
        Role::Other(_) => role::HIGHEST,
    }
}

/// The documents of a segment in memory, column by column: a million take 15 MB.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Docs {
    first_seq: i64,
    seqs: Vec<u32>,
    sessions: Vec<u32>,
    minutes: Vec<i32>,
    kinds_and_roles: Vec<u8>,
    words: Vec<u16>,
    kinds: Kinds,
}

impl Docs {
    pub(crate) fn len(&self) -> usize {
        self.seqs.len()
    }

    /// The kinds of texts among them.
    pub(crate) fn kinds(&self) -> Kinds {
        self.kinds
    }

    /// The numbers of the documents of a kind, in order.
    pub(crate) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = usize> {
        let bytes = self.kinds_and_roles.iter().enumerate();
        bytes.filter(move |(_, byte)| **byte >> ROLE_BITS == kind as u8).map(|(doc, _)| doc)
    }

    /// Every document, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Doc> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// Adds a document; those of one text follow each other, and texts the order of their numbers.
    pub(crate) fn push(&mut self, doc: Doc) -> Result<()> {
        if doc.role > role::HIGHEST {
            return Err(damaged("a role is too large"));
        }
        if self.seqs.is_empty() {
            self.first_seq = doc.seq;
        }
        let narrow =
            |value: i64| u32::try_from(value).map_err(|_| damaged("a number is too large"));
        self.seqs.push(narrow(doc.seq - self.first_seq)?);
        self.sessions.push(narrow(doc.session)?);
        self.minutes.push(doc.minute.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32);
        self.kinds_and_roles.push(doc.kind_and_role());
        self.kinds = self.kinds.and(Kinds::of(&[doc.kind]));
        self.words.push(doc.words);
        Ok(())
    }

    /// A document by its number.
    #[inline]
    pub(crate) fn get(&self, doc: usize) -> Option<Doc> {
        let byte = *self.kinds_and_roles.get(doc)?;
        Some(Doc {
            seq: self.first_seq + i64::from(*self.seqs.get(doc)?),
            session: i64::from(*self.sessions.get(doc)?),
            minute: i64::from(*self.minutes.get(doc)?),
            kind: Kind::of(byte >> ROLE_BITS)?,
            role: byte & role::HIGHEST,
            words: *self.words.get(doc)?,
        })
    }

    /// The session of a document.
    #[inline]
    pub(crate) fn session(&self, doc: usize) -> Option<u32> {
        self.sessions.get(doc).copied()
    }

    /// The number of the first document of the text that this document is a chunk of.
    #[inline]
    pub(crate) fn first_chunk(&self, doc: usize) -> usize {
        let seq = self.seqs.get(doc);
        let mut at = doc;
        while at > 0 && self.seqs.get(at - 1) == seq {
            at -= 1;
        }
        at
    }

    /// The numbers of all chunks of the text that this document is a chunk of.
    #[inline]
    pub(crate) fn chunks(&self, doc: usize) -> Range<usize> {
        let seq = self.seqs.get(doc);
        let mut end = doc + 1;
        while seq.is_some() && self.seqs.get(end) == seq {
            end += 1;
        }
        self.first_chunk(doc)..end
    }

    /// Texts among the documents.
    pub(crate) fn texts(&self) -> usize {
        let repeats = self.seqs.windows(2).filter(|pair| pair.first() == pair.last()).count();
        self.len() - repeats
    }

    /// Words in all documents.
    pub(crate) fn total_words(&self) -> i64 {
        self.words.iter().map(|words| i64::from(*words)).sum()
    }

    /// The documents as blocks, each readable alone.
    pub(crate) fn encode(&self) -> Vec<Vec<u8>> {
        let mut blocks = Vec::new();
        for from in (0..self.len()).step_by(DOCS_PER_BLOCK) {
            let until = (from + DOCS_PER_BLOCK).min(self.len());
            let mut out = Vec::with_capacity((until - from) * 6);
            put(&mut out, (until - from) as u64);
            let mut last = Doc::default();
            for doc in (from..until).filter_map(|at| self.get(at)) {
                put(&mut out, (doc.seq - last.seq) as u64);
                if doc.seq != last.seq {
                    put_signed(&mut out, doc.session - last.session);
                    put_signed(&mut out, doc.minute - last.minute);
                    out.push(doc.kind_and_role());
                }
                put(&mut out, u64::from(doc.words));
                last = doc;
            }
            blocks.push(out);
        }
        blocks
    }

    /// Adds the documents of a block.
    pub(crate) fn decode(&mut self, block: &[u8]) -> Result<()> {
        let mut bytes = Bytes(block);
        let count = bytes.length()?.min(DOCS_PER_BLOCK);
        let mut doc = Doc::default();
        for _ in 0..count {
            let step = i64::try_from(bytes.number()?).map_err(|_| damaged("a number of a text"))?;
            if step != 0 {
                doc.seq = doc.seq.checked_add(step).ok_or_else(|| damaged("a number of a text"))?;
                doc.session = doc.session.wrapping_add(bytes.signed()?);
                doc.minute = doc.minute.wrapping_add(bytes.signed()?);
                let byte = bytes.take(1)?.first().copied().unwrap_or_default();
                doc.kind = Kind::of(byte >> ROLE_BITS).ok_or_else(|| damaged("a kind of text"))?;
                doc.role = byte & role::HIGHEST;
            }
            doc.words = u16::try_from(bytes.number()?).unwrap_or(u16::MAX);
            self.push(doc)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_bring_back_the_documents() {
        let mut docs = Docs::default();
        for n in 0..10_000i64 {
            docs.push(Doc {
                seq: 5 + n / 3 * 2,
                kind: Kind::ALL[(n / 300 % 4) as usize],
                session: 1 + n / 3 % 4,
                minute: 28_000_000 - n / 3,
                role: (n / 3 % 5) as u8,
                words: (n % 90) as u16,
            })
            .unwrap();
        }
        let mut again = Docs::default();
        let blocks = docs.encode();
        assert_eq!(blocks.len(), 3);
        blocks.iter().for_each(|block| again.decode(block).unwrap());
        assert_eq!(again.len(), docs.len());
        for at in 0..docs.len() {
            assert_eq!(again.get(at), docs.get(at), "document {at}");
            assert!(docs.first_chunk(at) <= at);
        }
        assert_eq!(again.texts(), 3_334);
    }

    #[test]
    fn damage_is_an_error() {
        assert!(Docs::default().decode(&[200, 1, 3]).is_err());
    }

    #[test]
    fn what_was_written_before_there_were_kinds_is_of_messages() {
        // Two documents of text 9 in session 1 at minute 0, by a tool, of 5 and 6 words.
        let mut docs = Docs::default();
        docs.decode(&[2, 9, 2, 0, role::TOOL, 5, 0, 6]).unwrap();
        let read: Vec<_> = docs.iter().map(|doc| (doc.seq, doc.kind, doc.role)).collect();
        assert_eq!(read, [(9, Kind::Message, role::TOOL); 2]);
    }

    #[test]
    fn no_two_kinds_share_a_value_or_need_more_bits_than_there_are() {
        for (at, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, at);
            assert!((kind as u8) < 1 << (u8::BITS - ROLE_BITS));
        }
    }
}
