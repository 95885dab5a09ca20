//! Blocks of terms: sorted, with shared prefixes, each term with its list of postings. A list too
//! long for a shared block lies alone in several, its parts.

use crate::codec::{Bytes, List, ListRef, Postings, damaged, put};
use crate::storage::TermBlock;
use oneiro_model::Result;

/// Bytes a shared block is filled to: with its row it fits one page of the file.
const BLOCK: usize = 3_900;

/// Bytes a part of a long list is filled to.
const PART: usize = 16_780;

/// The first byte of a block: many terms.
const SHARED: u8 = 0;

/// The first byte of a block: one part of one list.
const ALONE: u8 = 1;

/// Writes terms, handed over in byte order, into blocks.
#[derive(Default)]
pub(crate) struct TermWriter {
    blocks: Vec<TermBlock>,
    open: Option<TermBlock>,
    last_term: Vec<u8>,
}

impl TermWriter {
    /// Adds a term with its list.
    pub(crate) fn add(&mut self, term: &[u8], list: ListRef<'_>) {
        if list.bytes.len() > BLOCK / 2 {
            return self.add_parts(term, list);
        }
        let entry_bytes = term.len() + list.bytes.len() + 16;
        if self.open.as_ref().is_some_and(|open| open.data.len() + entry_bytes > BLOCK) {
            self.close();
        }
        let last_term = &self.last_term;
        let block = self.open.get_or_insert_with(|| TermBlock {
            first_term: term.to_owned(),
            part: 0,
            data: vec![SHARED],
        });
        let shared = match block.data.len() {
            1 => 0,
            _ => term.iter().zip(last_term).take_while(|(a, b)| a == b).count(),
        };
        put_entry(&mut block.data, (shared, term), list);
        self.last_term.clear();
        self.last_term.extend_from_slice(term);
    }

    /// A list in blocks of its own. Each part begins with the count of documents before it, so
    /// that the last one tells how many there are in all.
    fn add_parts(&mut self, term: &[u8], list: ListRef<'_>) {
        self.close();
        let mut before = 0;
        let mut open = List::default();
        let mut parts = 0;
        let mut emit = |open: &mut List| {
            let mut data = vec![ALONE];
            put(&mut data, u64::from(before));
            put_entry(&mut data, (0, term), open.lend());
            self.blocks.push(TermBlock { first_term: term.to_owned(), part: parts, data });
            before += open.count;
            parts += 1;
            *open = List::default();
        };
        for posting in Postings::new(list.bytes) {
            open.push(posting);
            if open.bytes.len() >= PART {
                emit(&mut open);
            }
        }
        if open.count > 0 {
            emit(&mut open);
        }
    }

    fn close(&mut self) {
        self.blocks.extend(self.open.take());
    }

    /// Takes the blocks that are full, to be written while more come.
    pub(crate) fn take_full(&mut self) -> Vec<TermBlock> {
        std::mem::take(&mut self.blocks)
    }

    /// All blocks that were not taken.
    pub(crate) fn finish(mut self) -> Vec<TermBlock> {
        self.close();
        self.blocks
    }
}

fn put_entry(out: &mut Vec<u8>, (shared, term): (usize, &[u8]), list: ListRef<'_>) {
    let suffix = term.get(shared..).unwrap_or_default();
    put(out, shared as u64);
    put(out, suffix.len() as u64);
    out.extend_from_slice(suffix);
    put(out, u64::from(list.count));
    put(out, u64::from(list.last));
    put(out, list.bytes.len() as u64);
    out.extend_from_slice(list.bytes);
}

/// Reads the terms of a block, in order.
pub(crate) struct TermReader<'a> {
    bytes: Bytes<'a>,
    term: Vec<u8>,
    /// Documents in the parts before this one; 0 in a shared block.
    pub(crate) before: u32,
}

impl<'a> TermReader<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Result<TermReader<'a>> {
        let mut bytes = Bytes(data);
        let before = match bytes.take(1)? {
            [SHARED] => 0,
            [ALONE] => number(&mut bytes)?,
            _ => return Err(damaged("a block is of no known kind")),
        };
        Ok(TermReader { bytes, term: Vec::new(), before })
    }

    /// The next term and its list.
    pub(crate) fn next(&mut self) -> Result<Option<(&[u8], ListRef<'a>)>> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let shared = self.bytes.length()?;
        let suffix = self.bytes.length()?;
        let suffix = self.bytes.take(suffix)?;
        if shared > self.term.len() {
            return Err(damaged("a term is cut"));
        }
        self.term.truncate(shared);
        self.term.extend_from_slice(suffix);
        let count = number(&mut self.bytes)?;
        let last = number(&mut self.bytes)?;
        let length = self.bytes.length()?;
        Ok(Some((&self.term, ListRef { count, last, bytes: self.bytes.take(length)? })))
    }
}

fn number(bytes: &mut Bytes<'_>) -> Result<u32> {
    u32::try_from(bytes.number()?).map_err(|_| damaged("a count is too large"))
}

/// What a block knows of one term.
pub(crate) struct Found<'a> {
    /// The postings in this block.
    pub(crate) list: ListRef<'a>,
    /// How many there are in the parts before it.
    pub(crate) before: u32,
}

/// Looks for a term in the block that may hold it.
pub(crate) fn find<'a>(data: &'a [u8], term: &[u8]) -> Result<Option<Found<'a>>> {
    let mut reader = TermReader::new(data)?;
    let before = reader.before;
    while let Some((found, list)) = reader.next()? {
        match found.cmp(term) {
            std::cmp::Ordering::Less => {}
            std::cmp::Ordering::Equal => return Ok(Some(Found { list, before })),
            std::cmp::Ordering::Greater => return Ok(None),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Posting;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn written(terms: &BTreeMap<String, usize>) -> Vec<TermBlock> {
        let mut writer = TermWriter::default();
        for (term, count) in terms {
            let mut list = List::default();
            (0..*count as u32).for_each(|doc| list.push(Posting { doc: doc * 40, impact: 1 }));
            writer.add(term.as_bytes(), list.lend());
        }
        writer.finish()
    }

    /// The last block that does not begin after the term, as the store would find it.
    fn block<'b>(blocks: &'b [TermBlock], term: &str) -> Option<&'b TermBlock> {
        blocks.iter().rev().find(|block| block.first_term.as_slice() <= term.as_bytes())
    }

    proptest! {
        #![proptest_config(oneiro_testkit::proptest_config(32))]
        #[test]
        fn every_term_is_found_with_its_count(
            terms in prop::collection::btree_map("[a-d]{1,6}|é{1,3}", 1usize..30_000, 1..60),
        ) {
            let blocks = written(&terms);
            for (term, count) in &terms {
                let found = block(&blocks, term).unwrap();
                let found = find(&found.data, term.as_bytes()).unwrap().unwrap();
                prop_assert_eq!((found.before + found.list.count) as usize, *count);
            }
            let missing = block(&blocks, "zz").and_then(|block| find(&block.data, b"zz").unwrap());
            prop_assert!(missing.is_none());
        }

        #[test]
        fn damage_is_an_error_or_nothing(bytes: Vec<u8>) {
            let _ = find(&bytes, b"x");
        }
    }

    #[test]
    fn blocks_fit_a_page_and_keep_the_order() {
        let terms = (0..5_000).map(|n| (format!("term{n:05}"), 1 + n % 7)).collect();
        let blocks = written(&terms);
        assert!(blocks.iter().all(|block| block.data.len() <= BLOCK));
        assert!(blocks.is_sorted_by(|a, b| a.first_term < b.first_term));
    }
}
