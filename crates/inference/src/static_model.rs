//! The built-in embeddings: a table of word pieces distilled from all-MiniLM-L6-v2, summed. It
//! owns vectors of texts and words and how rare a word is; it must not know what they are for.
//!
//! How the table was made, and from what: `scripts/distil/README.md`.

mod arithmetic;
mod asset;
mod wordpiece;

use arithmetic::Best;
use asset::{Asset, DIMS};
use std::sync::OnceLock;

/// The name of the table in `assets/static.bin`; vectors of different names do not compare.
const ID: &str = "oneiro-static-2";

/// Pieces gathered before their rows are added, so that a block of sums stays in registers.
const PENDING: usize = 64;

/// Static embeddings: no network, no file, microseconds a text.
pub struct StaticModel {
    asset: Asset,
}

impl StaticModel {
    /// The model compiled into the binary. Opening reads forty bytes.
    pub fn built_in() -> &'static StaticModel {
        static MODEL: OnceLock<StaticModel> = OnceLock::new();
        MODEL.get_or_init(|| StaticModel { asset: Asset::built_in().unwrap_or_default() })
    }

    /// The name vectors are stored under. It changes when the table does.
    pub fn id(&self) -> &str {
        ID
    }

    /// How many numbers a vector has.
    pub fn dims(&self) -> usize {
        DIMS
    }

    /// The mean of the vectors of typical texts, for centring.
    pub fn mean(&self) -> &[f32] {
        self.asset.mean
    }

    /// Writes the vector of `text`, of length one, to `out`, which is [`dims`](Self::dims) long.
    /// False, and all zero, when no part of the text is known.
    pub fn embed(&self, text: &str, out: &mut [f32]) -> bool {
        let Ok(out) = <&mut [f32; DIMS]>::try_from(out) else { return false };
        *out = [0.0; DIMS];
        let mut pending = [0_u16; PENDING];
        let mut count = 0;
        wordpiece::rows(&self.asset, text, &mut |row| {
            if let Some(place) = pending.get_mut(count) {
                *place = row;
                count += 1;
            }
            if count == PENDING {
                arithmetic::add(&self.asset, &pending, out);
                count = 0;
            }
        });
        arithmetic::add(&self.asset, pending.get(..count).unwrap_or_default(), out);
        arithmetic::normalise(out)
    }

    /// The vector of one word, the sum of its pieces, of length one. The same as
    /// [`embed`](Self::embed) of a text of one word.
    pub fn word(&self, word: &str, out: &mut [f32]) -> bool {
        self.embed(word, out)
    }

    /// How rare a word is in ordinary English: `-ln p`, about 3 for `the`, 16 for what was never
    /// seen. A word of several pieces is not among the common ones and counts as its rarest.
    pub fn rarity(&self, word: &str) -> f32 {
        let mut rarest: Option<f32> = None;
        let mut pieces = 0;
        wordpiece::rows(&self.asset, word, &mut |row| {
            pieces += 1;
            let rarity = self.asset.rarity(row).unwrap_or(UNSEEN);
            rarest = Some(rarest.map_or(rarity, |r| r.max(rarity)));
        });
        match rarest {
            Some(rarity) if pieces == 1 => rarity,
            Some(rarity) => rarity.max(COMPOUND),
            None => UNSEEN,
        }
    }

    /// The `n` whole words of the vocabulary nearest to `word`, nearest first, each with its
    /// cosine. Neither the word itself nor single letters and marks are among them.
    pub fn nearest(&self, word: &str, n: usize) -> Vec<(&'static str, f32)> {
        let mut vector = [0.0; DIMS];
        if n == 0 || !self.embed(word, &mut vector) {
            return Vec::new();
        }
        let (head, tail) = arithmetic::quantise(&vector);
        let rough = n.saturating_mul(4).saturating_add(SPARE);
        let mut best = Best::new(n);
        for row in arithmetic::scan(&self.asset, &head, rough) {
            if let Some(numbers) = self.asset.row(row)
                && self.is_neighbour(row, word)
            {
                best.offer(arithmetic::cosine((&head, &tail), numbers), row);
            }
        }
        let named = |(cosine, row)| Some((self.asset.entry(row)?, cosine));
        best.kept.into_iter().filter_map(named).collect()
    }

    fn is_neighbour(&self, row: usize, word: &str) -> bool {
        self.asset.entry(row).is_some_and(|e| {
            e.len() > 1 && e.chars().any(char::is_alphanumeric) && !e.eq_ignore_ascii_case(word)
        })
    }
}

/// Rows the search for neighbours looks at in full, beyond four for each wanted.
const SPARE: usize = 128;
/// What a word nobody saw counts as.
const UNSEEN: f32 = 16.0;
/// The least a word of several pieces counts as: common words are whole entries.
const COMPOUND: f32 = 12.0;

#[cfg(test)]
mod tests;
