//! Implements the model ports of the engine.

use crate::{ChatConfig, Guarded, OpenAiChat, OpenAiConfig, OpenAiEmbedder, StaticModel};
use oneiro::{Embedder, Error, Llm, Result, WordModel};
use std::sync::Arc;
use std::time::Duration;

/// How long a search waits for the vector of its query.
const QUERY_TIMEOUT: Duration = Duration::from_secs(3);

/// An embedder on a server with an OpenAI-compatible API.
pub fn openai_embedder(config: OpenAiConfig) -> Result<Arc<dyn Embedder>> {
    let query_config = OpenAiConfig {
        timeout: QUERY_TIMEOUT,
        total_timeout: QUERY_TIMEOUT,
        retries: 0,
        ..config.clone()
    };
    let (batch, query) = (OpenAiEmbedder::new(config)?, OpenAiEmbedder::new(query_config)?);
    Ok(Arc::new(RemoteEmbedder { id: batch.id(), batch, query }))
}

/// A chat model on a server with an OpenAI-compatible API, within limits.
pub fn openai_chat(config: ChatConfig) -> Result<Arc<dyn Llm>> {
    let limits = config.limits;
    Ok(Arc::new(Guarded::new(Arc::new(OpenAiChat::new(config)?), limits)))
}

/// One server with two clients, which differ in time-outs and retries.
struct RemoteEmbedder {
    id: String,
    /// For messages, in the background.
    batch: OpenAiEmbedder,
    /// For queries, while a person waits.
    query: OpenAiEmbedder,
}

impl Embedder for RemoteEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        self.batch.embed(texts)
    }

    fn ask(&self, text: &str) -> Result<Vec<f32>> {
        let vector = self.query.embed(&[text])?.into_iter().next();
        vector.ok_or_else(|| Error::internal("the embedder returned no vector"))
    }
}

/// The built-in word model.
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
