//! The built-in embeddings: a text is the sum of the vectors of its word pieces, from a table distilled
//! from all-MiniLM-L6-v2. `scripts/distil/README.md` tells how the table is made.

mod asset;
mod vector_math;
mod wordpiece;

use asset::{Asset, DIMS};
use oneiro::WordModel;
use std::sync::Arc;
use vector_math::TopRows;

/// The name of the table in `assets/static.bin`. Vectors of different tables do not compare, so a new
/// table needs a new name.
const ID: &str = "oneiro-static-2";

/// Rows are added in batches of this size, so that a block of sums stays in registers.
const BATCH_ROWS: usize = 64;
/// Candidates whose exact cosine is computed for each neighbour returned, and in addition.
const CANDIDATES_PER_NEIGHBOUR: usize = 4;
const EXTRA_CANDIDATES: usize = 128;
/// The rarity of a word that is not in the vocabulary.
const UNSEEN_RARITY: f32 = 16.0;
/// The minimum rarity of a word of several pieces: common words are one piece.
const MIN_COMPOUND_RARITY: f32 = 12.0;

/// Static embeddings: no network, no file, microseconds per text.
pub struct StaticModel {
    asset: Asset,
}

/// The built-in word model.
pub fn static_words() -> Arc<dyn WordModel> {
    Arc::new(StaticModel::built_in())
}

impl StaticModel {
    /// The model compiled into the binary. Reads only its header.
    pub fn built_in() -> StaticModel {
        StaticModel { asset: Asset::built_in().unwrap_or_default() }
    }

    /// Whether a row may be returned as a neighbour of `word`: another word of several characters.
    fn is_neighbour(&self, row: usize, word: &str) -> bool {
        self.asset.entry(row).is_some_and(|entry| {
            entry.len() > 1
                && entry.chars().any(char::is_alphanumeric)
                && !entry.eq_ignore_ascii_case(word)
        })
    }
}

impl WordModel for StaticModel {
    fn id(&self) -> &str {
        ID
    }

    fn dims(&self) -> usize {
        DIMS
    }

    fn center(&self) -> &[f32] {
        self.asset.mean
    }

    fn embed(&self, text: &str, out: &mut [f32]) -> bool {
        let Ok(out) = <&mut [f32; DIMS]>::try_from(out) else { return false };
        *out = [0.0; DIMS];
        let mut batch = [0_u16; BATCH_ROWS];
        let mut count = 0;
        wordpiece::for_each_row(&self.asset, text, &mut |row| {
            if let Some(slot) = batch.get_mut(count) {
                *slot = row;
                count += 1;
            }
            if count == BATCH_ROWS {
                vector_math::add_rows(&self.asset, &batch, out);
                count = 0;
            }
        });
        vector_math::add_rows(&self.asset, batch.get(..count).unwrap_or_default(), out);
        vector_math::normalise(out)
    }

    /// Excludes the word itself, single characters and punctuation.
    fn nearest(&self, word: &str, count: usize) -> Vec<(&str, f32)> {
        let mut vector = [0.0; DIMS];
        if count == 0 || !self.embed(word, &mut vector) {
            return Vec::new();
        }
        let query = vector_math::quantise(&vector);
        let candidates =
            count.saturating_mul(CANDIDATES_PER_NEIGHBOUR).saturating_add(EXTRA_CANDIDATES);
        let mut nearest = TopRows::new(count);
        for row in vector_math::scan_heads(&self.asset, &query.head, candidates) {
            if let Some(found) = self.asset.row(row)
                && self.is_neighbour(row, word)
            {
                nearest.offer(vector_math::cosine(query.as_ref(), found), row);
            }
        }
        let rows = nearest.rows.into_iter();
        rows.filter_map(|(cosine, row)| Some((self.asset.entry(row)?, cosine))).collect()
    }

    /// `-ln p` in ordinary English: about 3 for `the`.
    fn rarity(&self, word: &str) -> f32 {
        let mut pieces = 0;
        let mut rarest = 0.0_f32;
        wordpiece::for_each_row(&self.asset, word, &mut |row| {
            pieces += 1;
            rarest = rarest.max(self.asset.rarity(row).unwrap_or(UNSEEN_RARITY));
        });
        match pieces {
            0 => UNSEEN_RARITY,
            1 => rarest,
            _ => rarest.max(MIN_COMPOUND_RARITY),
        }
    }
}

#[cfg(test)]
mod tests;
