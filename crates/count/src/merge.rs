//! How many tokens a piece is that is not one itself. It owns byte-pair merging; it must not know
//! where pieces come from.
//!
//! Every byte begins as a part. Of all neighbours that make a token together, those of the lowest
//! rank are merged first, the leftmost of equals, until none do. Short pieces are searched for the
//! lowest again and again, which is fastest; in long ones a heap knows it, so that a megabyte
//! without a space takes no longer than a megabyte of words, within a factor. A piece longer than
//! [`LONGEST_PIECE`] is counted in parts of that length, so that time grows with the length alone
//! and memory not at all.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::vocabulary::Vocabulary;

/// Pieces longer than this, in bytes, are merged by a heap.
const SHORT: usize = 96;
/// Bytes of a piece that are merged together. No text that people or programs write has a longer
/// one; where bytes or one letter repeated do, each cut adds a token or two to what o200k counts, of
/// a thousand at least.
pub(crate) const LONGEST_PIECE: usize = 64 << 10;
/// The rank of neighbours that make no token.
const NONE: u32 = u32::MAX;

/// Room for merging, used again from piece to piece.
#[derive(Default)]
pub(crate) struct Merge {
    parts: Vec<Part>,
    nodes: Vec<Node>,
    /// Neighbours by the rank they make together, then by the place of the first.
    heap: BinaryHeap<Reverse<(u32, u32)>>,
}

/// A part of a short piece.
#[derive(Clone, Copy)]
struct Part {
    start: usize,
    /// Of this part and the next, together.
    rank: u32,
}

/// A part of a long piece, kept at the place where it begins.
struct Node {
    previous: u32,
    next: u32,
    /// Of this part and the next, together.
    rank: u32,
}

impl Merge {
    /// How many tokens a piece is.
    pub(crate) fn count(&mut self, vocabulary: &Vocabulary, piece: &[u8]) -> usize {
        if piece.len() <= SHORT {
            return self.short(vocabulary, piece);
        }
        piece.chunks(LONGEST_PIECE).map(|part| self.long(vocabulary, part)).sum()
    }

    fn short(&mut self, vocabulary: &Vocabulary, piece: &[u8]) -> usize {
        let rank = |start: usize, end: usize| {
            piece.get(start..end).and_then(|token| vocabulary.rank(token)).unwrap_or(NONE)
        };
        let parts = &mut self.parts;
        parts.clear();
        // The last one is the end of the piece, and no part.
        parts.extend((0..=piece.len()).map(|start| Part { start, rank: rank(start, start + 2) }));
        while let Some((lowest, part)) = parts.iter().enumerate().min_by_key(|(_, part)| part.rank)
            && part.rank != NONE
        {
            parts.remove(lowest + 1);
            for at in [Some(lowest), lowest.checked_sub(1)].into_iter().flatten() {
                let end = parts.get(at + 2).map(|part| part.start);
                if let Some(part) = parts.get_mut(at) {
                    part.rank = end.map_or(NONE, |end| rank(part.start, end));
                }
            }
        }
        parts.len() - 1
    }

    fn long(&mut self, vocabulary: &Vocabulary, piece: &[u8]) -> usize {
        let Merge { nodes, heap, .. } = self;
        let rank = |start: u32, end: u32| {
            let token = piece.get(start as usize..end as usize);
            token.and_then(|token| vocabulary.rank(token)).unwrap_or(NONE)
        };
        nodes.clear();
        nodes.extend((0..piece.len() as u32).map(|at| Node {
            previous: at.wrapping_sub(1),
            next: at + 1,
            rank: rank(at, at.saturating_add(2)),
        }));
        let starts = (0..).zip(nodes.iter()).filter(|(_, node)| node.rank != NONE);
        heap.clear();
        heap.extend(starts.map(|(start, node)| Reverse((node.rank, start))));
        let mut count = nodes.len();
        while let Some(Reverse((lowest, start))) = heap.pop() {
            // The heap keeps neighbours that are none any more: their first part has another rank now.
            let Some(node) = nodes.get(start as usize).filter(|node| node.rank == lowest) else {
                continue;
            };
            let (previous, gone) = (node.previous, node.next);
            let Some(node) = nodes.get_mut(gone as usize) else { continue };
            node.rank = NONE;
            let after = node.next;
            if let Some(node) = nodes.get_mut(after as usize) {
                node.previous = start;
            }
            if let Some(node) = nodes.get_mut(start as usize) {
                node.next = after;
            }
            count -= 1;
            for start in [start, previous] {
                let Some(next) = nodes.get(start as usize).map(|node| node.next) else { continue };
                let end = nodes.get(next as usize).map(|node| node.next);
                let rank = end.map_or(NONE, |end| rank(start, end));
                if let Some(node) = nodes.get_mut(start as usize) {
                    node.rank = rank;
                }
                if rank != NONE {
                    heap.push(Reverse((rank, start)));
                }
            }
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(oneiro_testkit::proptest_config(256))]

        #[test]
        fn both_ways_of_merging_agree(piece in "[a-dX\u{e9}\u{4e00}-\u{4e0f} ]{0,300}") {
            let vocabulary = Vocabulary::built_in();
            let piece = piece.as_bytes();
            let mut merge = Merge::default();
            let short = merge.short(vocabulary, piece);
            prop_assert_eq!(short, merge.long(vocabulary, piece));
        }
    }
    /// Pieces without an end, by what they repeat.
    const UNBROKEN: [&str; 5] = ["a", "-", "\u{301}", "字", "qzjxkvbw"];

    #[test]
    fn a_piece_without_an_end_needs_no_more_room_than_its_longest_part() {
        let vocabulary = Vocabulary::built_in();
        let mut merge = Merge::default();
        for unit in UNBROKEN {
            let piece = unit.repeat((1 << 20) / unit.len());
            assert!(merge.count(vocabulary, piece.as_bytes()) > 0);
        }
        // Every merge puts at most two neighbours on the heap for the one it takes.
        assert!(merge.nodes.capacity() <= LONGEST_PIECE * 2, "{}", merge.nodes.capacity());
        assert!(merge.heap.capacity() <= LONGEST_PIECE * 4, "{}", merge.heap.capacity());
    }

    #[test]
    fn cutting_a_piece_adds_two_tokens_to_each_part_at_most() {
        let vocabulary = Vocabulary::built_in();
        let mut merge = Merge::default();
        for unit in UNBROKEN {
            let piece = unit.repeat(LONGEST_PIECE * 2 / unit.len() + 7);
            let exact = merge.long(vocabulary, piece.as_bytes());
            let cut = merge.count(vocabulary, piece.as_bytes());
            let parts = piece.len().div_ceil(LONGEST_PIECE);
            assert!(exact <= cut && cut <= exact + parts * 2, "{unit}: {exact} and {cut}");
        }
    }
}
