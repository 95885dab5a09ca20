//! How many tokens a piece is that is not one itself. It owns byte-pair merging; it must not know
//! where pieces come from.
//!
//! Every byte begins as a part. Of all neighbours that make a token together, those of the lowest
//! rank are merged first, the leftmost of equals, until none do. Short pieces are searched for the
//! lowest again and again, which is fastest; in long ones a heap knows it, so that a megabyte
//! without a space takes no longer than a megabyte of words, within a factor.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::vocabulary::Vocabulary;

/// Pieces longer than this, in bytes, are merged by a heap.
const SHORT: usize = 96;
/// Places in a piece are 32 bits wide. What is longer than they can say is counted in parts.
const WIDEST: usize = u32::MAX as usize;
/// The rank of neighbours that make no token.
const NONE: u32 = u32::MAX;

/// Room for merging, used again from piece to piece.
#[derive(Default)]
pub(crate) struct Merge {
    parts: Vec<Part>,
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
        piece.chunks(WIDEST).map(|piece| long(vocabulary, piece)).sum()
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
}

fn long(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    let rank = |start: u32, end: u32| {
        let token = piece.get(start as usize..end as usize);
        token.and_then(|token| vocabulary.rank(token)).unwrap_or(NONE)
    };
    let mut nodes: Vec<Node> = (0..piece.len() as u32)
        .map(|at| Node {
            previous: at.wrapping_sub(1),
            next: at + 1,
            rank: rank(at, at.saturating_add(2)),
        })
        .collect();
    let starts = (0..).zip(&nodes).filter(|(_, node)| node.rank != NONE);
    let mut heap: BinaryHeap<Reverse<(u32, u32)>> =
        starts.map(|(start, node)| Reverse((node.rank, start))).collect();
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
            prop_assert_eq!(merge.short(vocabulary, piece), long(vocabulary, piece));
        }
    }
}
