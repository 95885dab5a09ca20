//! Models behind the engine's ports: static embeddings compiled into the binary, and servers that
//! speak the OpenAI protocol. It must not know stores, sessions or ranking.

pub mod chat;
mod endpoint;
pub mod guard;
pub mod openai;
pub mod static_model;

pub use chat::{ChatConfig, OpenAiChat};
pub use guard::{Guarded, Limits};
pub use openai::{OpenAiConfig, OpenAiEmbedder};
pub use static_model::StaticModel;

mod ports;

pub use ports::{openai_chat, openai_embedder, static_words};
