//! Encodes numbers and posting lists. Postings are delta-coded, so that the lists of adjacent segments are
//! concatenated by changing one number.

use oneiro_model::{Error, ErrorKind, Remedy, Result};

/// Bits of a posting that hold the impact.
pub(crate) const IMPACT_BITS: u32 = 3;

/// The number of impact levels.
pub(crate) const IMPACTS: u8 = 1 << IMPACT_BITS;

/// Appends a number as a varint (LEB128).
pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a signed number as a zigzag varint.
pub(crate) fn put_signed(out: &mut Vec<u8>, value: i64) {
    put(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// Reads numbers and bytes from the front of a slice.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn number(&mut self) -> Result<u64> {
        let mut value = 0;
        let mut shift = 0;
        for (at, byte) in self.0.iter().enumerate() {
            value |= u64::from(byte & 0x7F) << shift;
            if *byte < 0x80 {
                self.0 = self.0.get(at + 1..).unwrap_or_default();
                return Ok(value);
            }
            shift += 7;
            if shift > 63 {
                break;
            }
        }
        Err(damaged("a number is truncated"))
    }

    pub(crate) fn signed(&mut self) -> Result<i64> {
        let value = self.number()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    pub(crate) fn length(&mut self) -> Result<usize> {
        usize::try_from(self.number()?).map_err(|_| damaged("a length is too large"))
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.0.split_at_checked(length).ok_or_else(|| damaged("a block is truncated"))?;
        self.0 = rest;
        Ok(taken)
    }
}

/// The error of a damaged segment. The index is derived data, so nothing is lost.
pub(crate) fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("the text index is damaged: {what}"))
        .remedy(Remedy::RebuildIndex)
        .because(Damaged)
}

/// The cause of errors about segments that cannot be decoded.
#[derive(Debug)]
struct Damaged;

impl std::fmt::Display for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a segment cannot be decoded")
    }
}

impl std::error::Error for Damaged {}

/// Whether an error is about a segment that cannot be decoded.
pub fn is_damaged(error: &Error) -> bool {
    std::error::Error::source(error).is_some_and(|cause| cause.is::<Damaged>())
}

/// One term in one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Posting {
    /// The document's number in its segment.
    pub(crate) doc: u32,
    /// The impact level of the term, below [`IMPACTS`].
    pub(crate) impact: u8,
}

/// Appends a posting to a list whose last document is `last`; `None` for an empty list.
pub(crate) fn put_posting(out: &mut Vec<u8>, last: Option<u32>, posting: Posting) {
    let delta = u64::from(posting.doc - last.unwrap_or(0));
    put(out, (delta << IMPACT_BITS) | u64::from(posting.impact));
}

/// The postings of a list, in order.
pub(crate) struct Postings<'a> {
    bytes: &'a [u8],
    doc: u32,
}

impl<'a> Postings<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Postings<'a> {
        Postings { bytes, doc: 0 }
    }
}

impl Iterator for Postings<'_> {
    type Item = Posting;

    #[inline]
    fn next(&mut self) -> Option<Posting> {
        let (first, rest) = self.bytes.split_first()?;
        let mut value = u32::from(first & 0x7F);
        self.bytes = rest;
        if *first >= 0x80 {
            let mut shift = 7;
            loop {
                let (byte, rest) = self.bytes.split_first()?;
                self.bytes = rest;
                value |= u32::from(byte & 0x7F).wrapping_shl(shift);
                if *byte < 0x80 {
                    break;
                }
                shift += 7;
            }
        }
        self.doc = self.doc.wrapping_add(value >> IMPACT_BITS);
        Some(Posting { doc: self.doc, impact: (value & u32::from(IMPACTS - 1)) as u8 })
    }
}

/// A list of postings under construction, or read for a merge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct List {
    /// Documents in it.
    pub(crate) count: u32,
    /// The last of them.
    pub(crate) last: u32,
    /// The postings.
    pub(crate) bytes: Vec<u8>,
}

impl List {
    pub(crate) fn push(&mut self, posting: Posting) {
        let last = (self.count > 0).then_some(self.last);
        put_posting(&mut self.bytes, last, posting);
        self.count += 1;
        self.last = posting.doc;
    }

    /// Appends a list of the documents that follow, `offset` further on.
    pub(crate) fn append(&mut self, next: ListRef<'_>, offset: u32) -> Result<()> {
        if next.count == 0 {
            return Ok(());
        }
        let mut bytes = Bytes(next.bytes);
        let first = bytes.number()?;
        let doc = u32::try_from(first >> IMPACT_BITS).map_err(|_| damaged("a document number"))?;
        let delta = u64::from(doc + offset - if self.count > 0 { self.last } else { 0 });
        put(&mut self.bytes, (delta << IMPACT_BITS) | (first & u64::from(IMPACTS - 1)));
        self.bytes.extend_from_slice(bytes.0);
        self.count += next.count;
        self.last = next.last + offset;
        Ok(())
    }

    pub(crate) fn as_list_ref(&self) -> ListRef<'_> {
        ListRef { count: self.count, last: self.last, bytes: &self.bytes }
    }
}

/// A list borrowed from a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListRef<'a> {
    pub(crate) count: u32,
    pub(crate) last: u32,
    pub(crate) bytes: &'a [u8],
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list(docs: &[u32]) -> List {
        let mut list = List::default();
        docs.iter().for_each(|doc| list.push(Posting { doc: *doc, impact: (doc % 8) as u8 }));
        list
    }

    fn docs(list: &List) -> Vec<u32> {
        Postings::new(&list.bytes).map(|posting| posting.doc).collect()
    }

    proptest! {
        #![proptest_config(oneiro_testkit::proptest_config(256))]

        #[test]
        fn numbers_are_decoded_as_encoded(value: u64, signed: i64) {
            let mut out = Vec::new();
            put(&mut out, value);
            put_signed(&mut out, signed);
            let mut bytes = Bytes(&out);
            prop_assert_eq!(bytes.number().unwrap(), value);
            prop_assert_eq!(bytes.signed().unwrap(), signed);
            prop_assert!(bytes.is_empty());
        }

        #[test]
        fn appended_lists_equal_the_list_of_both(
            a in prop::collection::btree_set(0u32..1_000, 0..40),
            b in prop::collection::btree_set(0u32..1_000_000, 0..40),
        ) {
            let (a, b): (Vec<u32>, Vec<u32>) = (a.into_iter().collect(), b.into_iter().collect());
            let mut joined = list(&a);
            joined.append(list(&b).as_list_ref(), 1_000).unwrap();
            let want: Vec<u32> = a.iter().copied().chain(b.iter().map(|doc| doc + 1_000)).collect();
            prop_assert_eq!(docs(&joined), want.clone());
            prop_assert_eq!(joined.count as usize, want.len());
            let impacts: Vec<u8> = Postings::new(&joined.bytes).map(|p| p.impact).collect();
            let kept: Vec<u8> = a.iter().chain(&b).map(|doc| (doc % 8) as u8).collect();
            prop_assert_eq!(impacts, kept);
        }

        #[test]
        fn decoding_any_bytes_terminates(bytes: Vec<u8>) {
            prop_assert!(Postings::new(&bytes).count() <= bytes.len());
            let mut reader = Bytes(&bytes);
            while reader.number().is_ok() {}
        }
    }
}
