//! Documents of a segment: which message a number stands for, and what a search must know of it
//! without reading its row. A message has one document to each chunk.

use super::codec::{Bytes, damaged, put, put_signed};
use oneiro_model::{Result, Role};

/// Documents in a block.
const BLOCK: usize = 4_096;

/// One document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Doc {
    /// The message.
    pub(crate) seq: i64,
    /// Its session.
    pub(crate) session: i64,
    /// When it was said, in minutes.
    pub(crate) minute: i64,
    /// Who said it.
    pub(crate) role: u8,
    /// Words in it.
    pub(crate) words: u16,
}

/// Roles as one byte.
pub(crate) mod role {
    pub(crate) const USER: u8 = 2;
    pub(crate) const ASSISTANT: u8 = 3;
    pub(crate) const TOOL: u8 = 4;
}

/// A role as one byte; roles that no provider defines share one.
pub(crate) fn role_code(role: &Role) -> u8 {
    match role {
        Role::System => 0,
        Role::Developer => 1,
        Role::User => role::USER,
        Role::Assistant => role::ASSISTANT,
        Role::Tool => role::TOOL,
        Role::Other(_) => 7,
    }
}

/// The documents of a segment in memory, column by column: a million take 15 MB.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Docs {
    first_seq: i64,
    seqs: Vec<u32>,
    sessions: Vec<u32>,
    minutes: Vec<i32>,
    roles: Vec<u8>,
    words: Vec<u16>,
}

impl Docs {
    pub(crate) fn len(&self) -> usize {
        self.seqs.len()
    }

    /// Adds a document; those of one message follow each other, and messages their order.
    pub(crate) fn push(&mut self, doc: Doc) -> Result<()> {
        if self.seqs.is_empty() {
            self.first_seq = doc.seq;
        }
        let narrow =
            |value: i64| u32::try_from(value).map_err(|_| damaged("a number is too large"));
        self.seqs.push(narrow(doc.seq - self.first_seq)?);
        self.sessions.push(narrow(doc.session)?);
        self.minutes.push(doc.minute.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32);
        self.roles.push(doc.role);
        self.words.push(doc.words);
        Ok(())
    }

    /// A document by its number.
    #[inline]
    pub(crate) fn get(&self, doc: usize) -> Option<Doc> {
        Some(Doc {
            seq: self.first_seq + i64::from(*self.seqs.get(doc)?),
            session: i64::from(*self.sessions.get(doc)?),
            minute: i64::from(*self.minutes.get(doc)?),
            role: *self.roles.get(doc)?,
            words: *self.words.get(doc)?,
        })
    }

    /// The session of a document.
    #[inline]
    pub(crate) fn session(&self, doc: usize) -> Option<u32> {
        self.sessions.get(doc).copied()
    }

    /// The number of the first document of the message that this document is a chunk of.
    #[inline]
    pub(crate) fn first_chunk(&self, doc: usize) -> usize {
        let seq = self.seqs.get(doc);
        let mut at = doc;
        while at > 0 && self.seqs.get(at - 1) == seq {
            at -= 1;
        }
        at
    }

    /// Messages among the documents.
    pub(crate) fn messages(&self) -> usize {
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
        for from in (0..self.len()).step_by(BLOCK) {
            let until = (from + BLOCK).min(self.len());
            let mut out = Vec::with_capacity((until - from) * 6);
            put(&mut out, (until - from) as u64);
            let mut last = Doc { seq: 0, session: 0, minute: 0, role: 0, words: 0 };
            for doc in (from..until).filter_map(|at| self.get(at)) {
                put(&mut out, (doc.seq - last.seq) as u64);
                if doc.seq != last.seq {
                    put_signed(&mut out, doc.session - last.session);
                    put_signed(&mut out, doc.minute - last.minute);
                    out.push(doc.role);
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
        let count = bytes.length()?.min(BLOCK);
        let mut doc = Doc { seq: 0, session: 0, minute: 0, role: 0, words: 0 };
        for _ in 0..count {
            let step = i64::try_from(bytes.number()?).map_err(|_| damaged("a message number"))?;
            if step != 0 {
                doc.seq = doc.seq.checked_add(step).ok_or_else(|| damaged("a message number"))?;
                doc.session = doc.session.wrapping_add(bytes.signed()?);
                doc.minute = doc.minute.wrapping_add(bytes.signed()?);
                doc.role = bytes.take(1)?.first().copied().unwrap_or_default();
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
        assert_eq!(again.messages(), 3_334);
    }

    #[test]
    fn damage_is_an_error() {
        assert!(Docs::default().decode(&[200, 1, 3]).is_err());
    }
}
