//! The postings of one term as a view has read them.

use crate::codec::{ListRef, Postings};
use std::ops::Range;

/// The postings of one term in all segments.
#[derive(Default)]
pub struct TermLists {
    /// Documents that have the term.
    pub count: u64,
    /// Newest part first.
    pub(crate) lists: Vec<ListPart>,
    /// Long lists of which only the newest part was read: segment, first document, part.
    pub(crate) rest: Vec<(i64, u32, i64)>,
    pub(crate) term: Vec<u8>,
}

/// Consecutive postings of one segment.
pub(crate) struct ListPart {
    /// The first document of the segment.
    pub(crate) base: u32,
    /// The last document in it, counted from `base`.
    last: u32,
    bytes: Vec<u8>,
}

impl ListPart {
    pub(crate) fn new(base: u32, list: ListRef<'_>) -> ListPart {
        ListPart { base, last: list.last, bytes: list.bytes.to_owned() }
    }

    /// The last document in it.
    fn last_doc(&self) -> u32 {
        self.base.saturating_add(self.last)
    }

    fn postings(&self) -> impl Iterator<Item = (u32, u8)> {
        let base = self.base;
        Postings::new(&self.bytes)
            .map(move |posting| (base.wrapping_add(posting.doc), posting.impact))
    }
}

impl TermLists {
    /// Every posting that was read: the number of the document in the view, and the impact.
    pub fn postings(&self) -> impl Iterator<Item = (u32, u8)> {
        self.lists.iter().flat_map(ListPart::postings)
    }

    /// Calls `each` with the postings that were read of documents in `ranges`, in order: the number
    /// of the range, the document and the impact. The ranges are in order and do not overlap. Parts
    /// of the list between two ranges are not decoded.
    pub fn postings_in(&self, ranges: &[Range<u32>], mut each: impl FnMut(usize, u32, u8)) {
        let mut parts: Vec<&ListPart> = self.lists.iter().collect();
        parts.sort_unstable_by_key(|part| part.last_doc());
        let mut left = ranges.iter().enumerate();
        let Some((mut at, mut range)) = left.next() else { return };
        for part in parts {
            if part.last_doc() < range.start {
                continue;
            }
            for (doc, impact) in part.postings() {
                if doc < range.start {
                    continue;
                }
                while doc >= range.end {
                    match left.next() {
                        Some(next) => (at, range) = next,
                        None => return,
                    }
                }
                if doc >= range.start {
                    each(at, doc, impact);
                }
            }
        }
    }
}
