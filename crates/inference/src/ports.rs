//! The models behind the engine's ports.

use crate::{ChatConfig, Guarded, OpenAiChat, OpenAiConfig, OpenAiEmbedder, StaticModel};
use oneiro::{Embedder, Error, Llm, Result, WordModel};
use std::sync::Arc;
use std::time::Duration;

/// The longest that a search waits for the vector of its question.
const PATIENCE: Duration = Duration::from_secs(3);

/// A server that speaks the OpenAI protocol, as the engine takes it.
pub fn openai_embedder(config: OpenAiConfig) -> Result<Arc<dyn Embedder>> {
    let quick =
        OpenAiConfig { timeout: PATIENCE, total_timeout: PATIENCE, retries: 0, ..config.clone() };
    let (patient, quick) = (OpenAiEmbedder::new(config)?, OpenAiEmbedder::new(quick)?);
    Ok(Arc::new(Server { id: patient.id(), patient, quick }))
}

/// A model that writes, on a server that speaks the OpenAI protocol, with a guard before it.
pub fn openai_chat(config: ChatConfig) -> Result<Arc<dyn Llm>> {
    let limits = config.limits;
    Ok(Arc::new(Guarded::new(Arc::new(OpenAiChat::new(config)?), limits)))
}

/// One server, asked patiently for messages and quickly for questions.
struct Server {
    id: String,
    patient: OpenAiEmbedder,
    quick: OpenAiEmbedder,
}

impl Embedder for Server {
    fn id(&self) -> &str {
        &self.id
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        self.patient.embed(texts)
    }

    fn ask(&self, text: &str) -> Result<Vec<f32>> {
        let vector = self.quick.embed(&[text])?.into_iter().next();
        vector.ok_or_else(|| Error::internal("the embedder answered no vector"))
    }
}

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
