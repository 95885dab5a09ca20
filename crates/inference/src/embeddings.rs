//! An embedding model on a server with an OpenAI-compatible API: `POST {base_url}/embeddings`.

mod response;

use crate::endpoint::{Api, Endpoint, ErrorResponse, ServerConfig};
use oneiro::{Embedder, Error, ErrorKind, Result};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// 64 vectors of 4,096 numbers take about 6 MB.
const MAX_RESPONSE_BYTES: u64 = 256 << 20;

/// How long a search waits for the vector of its query.
const QUERY_TIMEOUT: Duration = Duration::from_secs(3);

/// An embedding model and its limits.
#[derive(Debug, Clone)]
pub struct EmbeddingConfig {
    /// Where the model is served.
    pub server: ServerConfig,
    /// Requested from the server and then required; `None` accepts any.
    pub dimensions: Option<usize>,
    /// The maximum number of texts in one request.
    pub batch: usize,
    /// Longer texts are cut to this many bytes: servers refuse texts longer than the model's
    /// context, and the start of a text says what it is about.
    pub max_text_bytes: usize,
}

impl EmbeddingConfig {
    /// The default timeouts and limits for a model on a server.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        let server = ServerConfig {
            base_url: base_url.into(),
            model: model.into(),
            key: None,
            timeout: Duration::from_secs(30),
            total_timeout: Duration::from_secs(120),
            retries: 4,
            backoff: Duration::from_millis(500),
        };
        EmbeddingConfig { server, dimensions: None, batch: 64, max_text_bytes: 24_000 }
    }

    fn for_queries(&self) -> Self {
        let mut config = self.clone();
        config.server.timeout = QUERY_TIMEOUT;
        config.server.total_timeout = QUERY_TIMEOUT;
        config.server.retries = 0;
        config
    }
}

/// An embedder on a server with an OpenAI-compatible API.
pub fn openai_embedder(config: EmbeddingConfig) -> Result<Arc<dyn Embedder>> {
    let query = OpenAiEmbedder::new(config.for_queries())?;
    let batch = OpenAiEmbedder::new(config)?;
    Ok(Arc::new(RemoteEmbedder { id: batch.id(), batch, query }))
}

/// Two clients of one server, which differ in timeouts and retries.
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

    fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        let vector = self.query.embed(&[text])?.into_iter().next();
        vector.ok_or_else(|| Error::internal("the embedder returned no vector"))
    }
}

/// A client of one model on one server.
pub struct OpenAiEmbedder {
    config: EmbeddingConfig,
    endpoint: Endpoint,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: Vec<&'a str>,
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

impl OpenAiEmbedder {
    /// Validates the configuration. Sends nothing.
    pub fn new(config: EmbeddingConfig) -> Result<Self> {
        // Four bytes hold every character.
        if config.batch == 0 || config.max_text_bytes < 4 || config.dimensions == Some(0) {
            return Err(Error::invalid("batch, max_text_bytes and dimensions must be above zero"));
        }
        let api = Api {
            path: "/embeddings",
            max_response_bytes: MAX_RESPONSE_BYTES,
            classify,
            malformed_remedy: "check that it is an embeddings model behind an OpenAI-compatible address",
        };
        let endpoint = Endpoint::new(config.server.clone(), api)?;
        Ok(OpenAiEmbedder { config, endpoint })
    }

    /// The name under which vectors are stored: the model, and its dimensions if requested.
    pub fn id(&self) -> String {
        let model = &self.config.server.model;
        match self.config.dimensions {
            Some(dimensions) => format!("openai:{model}:{dimensions}"),
            None => format!("openai:{model}"),
        }
    }

    /// The normalised vectors of texts, in order, all of the same dimension.
    pub fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let mut vectors: Vec<Vec<f32>> = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.config.batch) {
            let dimensions = vectors.first().map(Vec::len).or(self.config.dimensions);
            vectors.extend(self.embed_batch(batch, dimensions)?);
        }
        Ok(vectors)
    }

    fn embed_batch(&self, texts: &[&str], dimensions: Option<usize>) -> Result<Vec<Vec<f32>>> {
        let request = Request {
            model: &self.config.server.model,
            input: texts.iter().map(|text| self.truncate(text)).collect(),
            encoding_format: "float",
            dimensions: self.config.dimensions,
        };
        let bytes = self.endpoint.post(&request, self.endpoint.deadline())?;
        response::parse(&bytes, texts.len(), dimensions)
            .map_err(|problem| self.endpoint.malformed(&problem))
    }

    fn truncate<'a>(&self, text: &'a str) -> &'a str {
        let end = text.floor_char_boundary(self.config.max_text_bytes);
        let text = text.get(..end).unwrap_or(text);
        // OpenAI refuses an empty text, and with it the other texts of the request.
        if text.trim().is_empty() { " " } else { text }
    }
}

fn classify(response: &ErrorResponse) -> Option<(ErrorKind, &'static str)> {
    let remedy = match response.status {
        401 | 403 => "check the key for this server",
        413 => "make the batch smaller, or cut texts shorter",
        404 | 408 | 429 => return None,
        400..500 => "check the model's name and its dimensions",
        _ => return None,
    };
    Some((ErrorKind::Unavailable, remedy))
}
