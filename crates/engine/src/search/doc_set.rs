//! A set of documents as a bitmap.

/// A subset of the documents of a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DocSet {
    words: Vec<u64>,
    docs: usize,
}

impl DocSet {
    pub(super) fn none(docs: usize) -> DocSet {
        DocSet { words: vec![0; docs.div_ceil(64)], docs }
    }

    pub(super) fn all(docs: usize) -> DocSet {
        let mut set = DocSet::none(docs);
        set.flip();
        set
    }

    #[inline]
    pub(super) fn insert(&mut self, doc: u32) {
        if let Some(word) = self.words.get_mut(doc as usize / 64) {
            *word |= 1 << (doc % 64);
        }
    }

    #[inline]
    pub(super) fn has(&self, doc: u32) -> bool {
        self.words.get(doc as usize / 64).is_some_and(|word| word >> (doc % 64) & 1 == 1)
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn and(&mut self, other: &DocSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a &= b);
    }

    pub(super) fn or(&mut self, other: &DocSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(a, b)| *a |= b);
    }

    pub(super) fn flip(&mut self) {
        self.words.iter_mut().for_each(|word| *word = !*word);
        let used = self.docs % 64;
        if used > 0
            && let Some(last) = self.words.last_mut()
        {
            *last &= (1 << used) - 1;
        }
    }

    /// The documents, newest first.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = u32> {
        self.words.iter().enumerate().rev().flat_map(|(at, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = left.checked_ilog2()?;
                left &= !(1 << bit);
                Some((at * 64) as u32 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(oneiro_testkit::proptest_config(256))]

        #[test]
        fn it_is_a_set(docs in 1usize..300, members in prop::collection::btree_set(0u32..300, 0..50)) {
            let members: BTreeSet<u32> =
                members.into_iter().filter(|doc| (*doc as usize) < docs).collect();
            let mut set = DocSet::none(docs);
            members.iter().for_each(|doc| set.insert(*doc));
            prop_assert_eq!(set.count(), members.len());
            let listed: Vec<u32> = set.newest_first().collect();
            let want: Vec<u32> = members.iter().rev().copied().collect();
            prop_assert_eq!(listed, want);
            let mut rest = set.clone();
            rest.flip();
            prop_assert_eq!(rest.count(), docs - members.len());
            rest.or(&set);
            prop_assert_eq!(rest, DocSet::all(docs));
        }
    }
}
