//! Blocks of terms: sorted, prefix-compressed, each term with its posting list. A list that is too long
//! for a shared block is split into parts, each in a block of its own.

use crate::codec::{Bytes, List, ListRef, Postings, damaged, put};
use crate::storage::TermBlock;
use oneiro_model::Result;

/// The size of a shared block; with its row it fits one page of the file.
const SHARED_BLOCK_BYTES: usize = 3_900;

/// The size of a part of a long list.
const LIST_PART_BYTES: usize = 16_780;

/// A bound on the lengths and counts of an entry.
const MAX_ENTRY_OVERHEAD_BYTES: usize = 16;

/// The first byte of a block with many terms.
const SHARED: u8 = 0;

/// The first byte of a block with one part of one list.
const LIST_PART: u8 = 1;

/// Writes terms into blocks; they must come in byte order.
#[derive(Default)]
pub(crate) struct TermWriter {
    blocks: Vec<TermBlock>,
    open: Option<TermBlock>,
    last_term: Vec<u8>,
}

impl TermWriter {
    /// Adds a term with its list.
    pub(crate) fn add(&mut self, term: &[u8], list: ListRef<'_>) {
        if list.bytes.len() > SHARED_BLOCK_BYTES / 2 {
            return self.add_parts(term, list);
        }
        let entry_bytes = term.len() + list.bytes.len() + MAX_ENTRY_OVERHEAD_BYTES;
        if self.open.as_ref().is_some_and(|open| open.data.len() + entry_bytes > SHARED_BLOCK_BYTES)
        {
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
        put_entry(&mut block.data, shared, term, list);
        self.last_term.clear();
        self.last_term.extend_from_slice(term);
    }

    /// Writes a long list in parts. Each starts with the number of documents in the parts before it, so
    /// that the last part gives the total.
    fn add_parts(&mut self, term: &[u8], list: ListRef<'_>) {
        self.close();
        let mut before = 0;
        let mut open = List::default();
        let mut parts = 0;
        let mut emit = |open: &mut List| {
            let mut data = vec![LIST_PART];
            put(&mut data, u64::from(before));
            put_entry(&mut data, 0, term, open.as_list_ref());
            self.blocks.push(TermBlock { first_term: term.to_owned(), part: parts, data });
            before += open.count;
            parts += 1;
            *open = List::default();
        };
        for posting in Postings::new(list.bytes) {
            open.push(posting);
            if open.bytes.len() >= LIST_PART_BYTES {
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

fn put_entry(out: &mut Vec<u8>, shared: usize, term: &[u8], list: ListRef<'_>) {
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
            [LIST_PART] => number(&mut bytes)?,
            _ => return Err(damaged("a block has an unknown kind")),
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
            return Err(damaged("a term is truncated"));
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

/// The list of a term in a block.
pub(crate) struct Found<'a> {
    /// The postings in this block.
    pub(crate) list: ListRef<'a>,
    /// How many there are in the parts before it.
    pub(crate) before: u32,
}

/// Finds a term in the block that may contain it.
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

    fn new_blocks(terms: &BTreeMap<String, usize>) -> Vec<TermBlock> {
        let mut writer = TermWriter::default();
        for (term, count) in terms {
            let mut list = List::default();
            (0..*count as u32).for_each(|doc| list.push(Posting { doc: doc * 40, impact: 1 }));
            writer.add(term.as_bytes(), list.as_list_ref());
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
            let blocks = new_blocks(&terms);
            for (term, count) in &terms {
                let found = block(&blocks, term).unwrap();
                let found = find(&found.data, term.as_bytes()).unwrap().unwrap();
                prop_assert_eq!((found.before + found.list.count) as usize, *count);
            }
            let missing = block(&blocks, "zz").and_then(|block| find(&block.data, b"zz").unwrap());
            prop_assert!(missing.is_none());
        }

        #[test]
        fn finding_a_term_in_any_bytes_does_not_panic(bytes: Vec<u8>) {
            let _ = find(&bytes, b"x");
        }
    }

    #[test]
    fn blocks_fit_a_page_and_keep_the_order() {
        let terms = (0..5_000).map(|n| (format!("term{n:05}"), 1 + n % 7)).collect();
        let blocks = new_blocks(&terms);
        assert!(blocks.iter().all(|block| block.data.len() <= SHARED_BLOCK_BYTES));
        assert!(blocks.is_sorted_by(|a, b| a.first_term < b.first_term));
    }
}
