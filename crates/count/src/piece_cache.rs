//! A cache of the numbers of tokens of short pieces that are no tokens themselves: names and
//! identifiers come again and again, and merging them is most of the work of a count.

use rustc_hash::FxHasher;
use std::cell::RefCell;
use std::hash::Hasher;

/// Longer pieces are rare, and are merged each time.
const MAX_CACHED_BYTES: usize = 22;

/// Slots of a thread's cache: 96 KiB.
const SLOTS: usize = 1 << 12;

/// A piece and its number of tokens. An empty slot has length 0.
#[derive(Clone, Copy)]
struct Slot {
    bytes: [u8; MAX_CACHED_BYTES],
    length: u8,
    tokens: u8,
}

const EMPTY: Slot = Slot { bytes: [0; MAX_CACHED_BYTES], length: 0, tokens: 0 };

thread_local! {
    static CACHE: RefCell<Vec<Slot>> = const { RefCell::new(Vec::new()) };
}

/// The number of tokens of a piece, from the cache or as `count` says.
#[inline]
pub(crate) fn cached(piece: &[u8], count: impl FnOnce() -> usize) -> usize {
    if piece.len() > MAX_CACHED_BYTES {
        return count();
    }
    CACHE.with(|cache| {
        let Ok(mut cache) = cache.try_borrow_mut() else { return count() };
        if cache.is_empty() {
            cache.resize(SLOTS, EMPTY);
        }
        let Some(slot) = cache.get_mut(slot_of(piece)) else { return count() };
        if slot.bytes.get(..usize::from(slot.length)) == Some(piece) {
            return usize::from(slot.tokens);
        }
        let tokens = count();
        let length = u8::try_from(piece.len()).unwrap_or(0);
        if let (Ok(few), Some(bytes)) = (u8::try_from(tokens), slot.bytes.get_mut(..piece.len())) {
            bytes.copy_from_slice(piece);
            (slot.length, slot.tokens) = (length, few);
        }
        tokens
    })
}

#[inline]
fn slot_of(piece: &[u8]) -> usize {
    let mut hasher = FxHasher::default();
    hasher.write(piece);
    (hasher.finish() >> 32) as usize & (SLOTS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_counted_once_and_never_taken_for_another() {
        let asked = |piece: &str, tokens: usize| cached(piece.as_bytes(), || tokens);
        assert_eq!(asked("qzjx", 3), 3);
        assert_eq!(asked("qzjx", 99), 3, "it was counted again");
        // More pieces than slots: many share one, and each has its own count.
        for round in 0..2 {
            for at in 0..SLOTS * 2 {
                let piece = format!("piece-{at}");
                assert_eq!(asked(&piece, at % 200), at % 200, "{piece} in round {round}");
            }
        }
        let long = "x".repeat(MAX_CACHED_BYTES + 1);
        assert_eq!((asked(&long, 5), asked(&long, 6)), (5, 6));
        assert_eq!(asked("", 0), 0);
    }
}
