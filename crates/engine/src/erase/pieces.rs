//! Which parts of the erased text the raw bytes are searched for.

use std::collections::BTreeSet;

/// Pieces of the erased text to search for in the raw bytes. A long text is spread over several
/// pages, so short pieces from all over it are searched.
#[derive(Default)]
pub(super) struct Pieces {
    pub(super) found: BTreeSet<Vec<u8>>,
    /// Pieces that are not searched, because they are short or too many.
    pub(super) left_out: usize,
}

/// Long enough not to occur by chance, short enough to be inside one page.
const PIECE_BYTES: usize = 24;

/// Bounds the time of the search.
const PIECES: usize = 20_000;

/// Shorter pieces occur by chance.
const LEAST_BYTES: usize = 8;

impl Pieces {
    /// Adds pieces of a text.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let step = (bytes.len() / 16).max(PIECE_BYTES);
        let last = bytes.len().saturating_sub(PIECE_BYTES);
        for start in (0..last).step_by(step).chain([last]) {
            let piece = bytes.get(start..(start + PIECE_BYTES).min(bytes.len()));
            match piece {
                Some(piece) if piece.len() >= LEAST_BYTES && self.found.len() < PIECES => {
                    self.found.insert(piece.to_vec());
                }
                Some(piece) if !piece.is_empty() => self.left_out += 1,
                _ => {}
            }
        }
    }
}
