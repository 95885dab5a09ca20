//! The built-in model behind the engine's port.

use crate::StaticModel;
use oneiro::WordModel;
use std::sync::Arc;

/// The built-in model of words, as the engine takes it.
pub fn static_words() -> Arc<dyn WordModel> {
    Arc::new(BuiltIn)
}

struct BuiltIn;

impl WordModel for BuiltIn {
    fn id(&self) -> &str {
        StaticModel::built_in().id()
    }

    fn dims(&self) -> usize {
        StaticModel::built_in().dims()
    }

    fn center(&self) -> &[f32] {
        StaticModel::built_in().mean()
    }

    fn embed(&self, text: &str, out: &mut [f32]) -> bool {
        StaticModel::built_in().embed(text, out)
    }

    fn nearest(&self, word: &str, count: usize) -> Vec<(&str, f32)> {
        StaticModel::built_in().nearest(word, count)
    }

    fn rarity(&self, word: &str) -> f32 {
        StaticModel::built_in().rarity(word)
    }
}
