//! Byte-pair merging: counts the tokens of a piece that is not a token itself.
//!
//! Every byte starts as a part. The adjacent parts whose union has the lowest rank are merged,
//! leftmost first, until no union is a token. For short pieces a linear search for the lowest rank
//! is fastest; long pieces use a heap, so that a megabyte without a space is counted in about the
//! time of a megabyte of words. A piece longer than [`MAX_PIECE_BYTES`] is counted in parts, so
//! that time is linear and memory constant.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::vocabulary::Vocabulary;

/// Longer pieces are merged with a heap.
const MAX_LINEAR_BYTES: usize = 96;
/// The maximum number of bytes that are merged together. Only binary data and repeated characters
/// have longer pieces; each cut adds one or two tokens to at least a thousand.
pub(crate) const MAX_PIECE_BYTES: usize = 64 << 10;
/// The rank of adjacent parts whose union is not a token.
const NO_TOKEN: u32 = u32::MAX;

/// Buffers for merging. Reuse one for all pieces.
#[derive(Default)]
pub(crate) struct Merge {
    parts: Vec<Part>,
    nodes: Vec<Node>,
    /// Adjacent parts by the rank of their union, then by the start of the first.
    heap: BinaryHeap<Reverse<(u32, u32)>>,
}

/// A part of a short piece.
#[derive(Clone, Copy)]
struct Part {
    start: usize,
    /// Of the union of this part and the next.
    rank: u32,
}

/// A part of a long piece, at the index of its first byte.
struct Node {
    previous: u32,
    next: u32,
    /// Of the union of this part and the next.
    rank: u32,
}

impl Merge {
    pub(crate) fn count(&mut self, vocabulary: &Vocabulary, piece: &[u8]) -> usize {
        if piece.len() <= MAX_LINEAR_BYTES {
            return self.count_short(vocabulary, piece);
        }
        piece.chunks(MAX_PIECE_BYTES).map(|part| self.count_long(vocabulary, part)).sum()
    }

    fn count_short(&mut self, vocabulary: &Vocabulary, piece: &[u8]) -> usize {
        let rank = |start: usize, end: usize| {
            piece.get(start..end).and_then(|token| vocabulary.rank(token)).unwrap_or(NO_TOKEN)
        };
        let parts = &mut self.parts;
        parts.clear();
        // The last entry is the end of the piece.
        parts.extend((0..=piece.len()).map(|start| Part { start, rank: rank(start, start + 2) }));
        while let Some((lowest, part)) = parts.iter().enumerate().min_by_key(|(_, part)| part.rank)
            && part.rank != NO_TOKEN
        {
            parts.remove(lowest + 1);
            for at in [Some(lowest), lowest.checked_sub(1)].into_iter().flatten() {
                let end = parts.get(at + 2).map(|part| part.start);
                if let Some(part) = parts.get_mut(at) {
                    part.rank = end.map_or(NO_TOKEN, |end| rank(part.start, end));
                }
            }
        }
        parts.len() - 1
    }

    fn count_long(&mut self, vocabulary: &Vocabulary, piece: &[u8]) -> usize {
        let Merge { nodes, heap, .. } = self;
        let rank = |start: u32, end: u32| {
            let token = piece.get(start as usize..end as usize);
            token.and_then(|token| vocabulary.rank(token)).unwrap_or(NO_TOKEN)
        };
        nodes.clear();
        nodes.extend((0..piece.len() as u32).map(|at| Node {
            previous: at.wrapping_sub(1),
            next: at + 1,
            rank: rank(at, at.saturating_add(2)),
        }));
        let starts = (0..).zip(nodes.iter()).filter(|(_, node)| node.rank != NO_TOKEN);
        heap.clear();
        heap.extend(starts.map(|(start, node)| Reverse((node.rank, start))));
        let mut count = nodes.len();
        while let Some(Reverse((lowest, start))) = heap.pop() {
            // Stale: the part was merged since and has another rank.
            let Some(node) = nodes.get(start as usize).filter(|node| node.rank == lowest) else {
                continue;
            };
            let (previous, merged) = (node.previous, node.next);
            let Some(node) = nodes.get_mut(merged as usize) else { continue };
            node.rank = NO_TOKEN;
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
                let rank = end.map_or(NO_TOKEN, |end| rank(start, end));
                if let Some(node) = nodes.get_mut(start as usize) {
                    node.rank = rank;
                }
                if rank != NO_TOKEN {
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
        fn merging_by_search_and_by_heap_agree(piece in "[a-dX\u{e9}\u{4e00}-\u{4e0f} ]{0,300}") {
            let vocabulary = Vocabulary::built_in();
            let piece = piece.as_bytes();
            let mut merge = Merge::default();
            let count_short = merge.count_short(vocabulary, piece);
            prop_assert_eq!(count_short, merge.count_long(vocabulary, piece));
        }
    }
    /// Units of pieces without breaks.
    const UNBROKEN: [&str; 5] = ["a", "-", "\u{301}", "字", "qzjxkvbw"];

    #[test]
    fn merging_a_megabyte_without_breaks_needs_constant_memory() {
        let vocabulary = Vocabulary::built_in();
        let mut merge = Merge::default();
        for unit in UNBROKEN {
            let piece = unit.repeat((1 << 20) / unit.len());
            assert!(merge.count(vocabulary, piece.as_bytes()) > 0);
        }
        // A merge removes one entry and adds at most two.
        assert!(merge.nodes.capacity() <= MAX_PIECE_BYTES * 2, "{}", merge.nodes.capacity());
        assert!(merge.heap.capacity() <= MAX_PIECE_BYTES * 4, "{}", merge.heap.capacity());
    }

    #[test]
    fn cutting_a_piece_adds_two_tokens_to_each_part_at_most() {
        let vocabulary = Vocabulary::built_in();
        let mut merge = Merge::default();
        for unit in UNBROKEN {
            let piece = unit.repeat(MAX_PIECE_BYTES * 2 / unit.len() + 7);
            let exact = merge.count_long(vocabulary, piece.as_bytes());
            let cut = merge.count(vocabulary, piece.as_bytes());
            let parts = piece.len().div_ceil(MAX_PIECE_BYTES);
            assert!(exact <= cut && cut <= exact + parts * 2, "{unit}: {exact} and {cut}");
        }
    }
}
