//! Models behind the engine's ports: static embeddings compiled into the binary, and servers with an
//! OpenAI-compatible API.

mod chat;
mod embeddings;
mod endpoint;
mod guard;
mod static_model;

pub use chat::{ChatConfig, OpenAiChat};
pub use embeddings::{EmbeddingConfig, OpenAiEmbedder, openai_embedder};
pub use endpoint::ServerConfig;
pub use guard::{Guarded, Limits, openai_chat};
pub use static_model::{StaticModel, static_words};
