//! Embeddings from any server that speaks the OpenAI protocol: `POST {base_url}/embeddings`. It
//! owns batching and the checking of answers; it must not know what is embedded, where the vectors
//! go, or how a request is sent.

mod answer;

use crate::endpoint::{Access, Endpoint, Refusal, Verdict};
use answer::Answer;
use oneiro::{Error, ErrorKind, Result};
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// An answer larger than this is not read: 64 vectors of 4,096 numbers take some 6 MB.
const MAX_ANSWER: u64 = 256 << 20;

/// Where the server is and how it is asked.
#[derive(Clone)]
pub struct OpenAiConfig {
    /// Up to and without `/embeddings`, for example `http://localhost:11434/v1`.
    pub base_url: String,
    /// The name the server knows the model by.
    pub model: String,
    /// Sent as a bearer token.
    pub key: Option<String>,
    /// Asked for, and then insisted on; `None` takes what comes.
    pub dimensions: Option<usize>,
    /// The longest one request may take.
    pub timeout: Duration,
    /// The longest a batch may take, retries and waits included.
    pub total_timeout: Duration,
    /// The most texts in one request.
    pub batch: usize,
    /// How often a request is tried again.
    pub retries: u32,
    /// The wait before the first retry; it doubles.
    pub backoff: Duration,
    /// Longer texts are cut here, in bytes, at a character: servers refuse what passes the
    /// model's window, and the start of a text says what it is about.
    pub max_bytes: usize,
}

impl OpenAiConfig {
    /// The usual values for a server and a model.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        OpenAiConfig {
            base_url: base_url.into(),
            model: model.into(),
            key: None,
            dimensions: None,
            timeout: Duration::from_secs(30),
            total_timeout: Duration::from_secs(120),
            batch: 64,
            retries: 4,
            backoff: Duration::from_millis(500),
            max_bytes: 24_000,
        }
    }
}

impl fmt::Debug for OpenAiConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiConfig")
            .field("base_url", &self.base_url)
            .field("model", &self.model)
            .field("key", &self.key.as_ref().map(|_| "..."))
            .finish_non_exhaustive()
    }
}

/// A client of one model on one server.
pub struct OpenAiEmbedder {
    config: OpenAiConfig,
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
    /// Checks the configuration. Nothing is sent yet.
    pub fn new(config: OpenAiConfig) -> Result<Self> {
        if config.batch == 0 || config.max_bytes < 4 || config.dimensions == Some(0) {
            return Err(Error::invalid("batch, max_bytes and dimensions must be above zero"));
        }
        let endpoint = Endpoint::new(Access {
            base_url: config.base_url.clone(),
            path: "/embeddings",
            model: config.model.clone(),
            key: config.key.clone(),
            timeout: config.timeout,
            total_timeout: config.total_timeout,
            retries: config.retries,
            backoff: config.backoff,
            max_answer: MAX_ANSWER,
            judge,
            other_kind: "check that it is an embeddings model behind an OpenAI-compatible address",
        })?;
        Ok(OpenAiEmbedder { config, endpoint })
    }

    /// The name vectors are stored under: the model, and its dimensions where they were chosen.
    pub fn id(&self) -> String {
        match self.config.dimensions {
            Some(dimensions) => format!("openai:{}:{dimensions}", self.config.model),
            None => format!("openai:{}", self.config.model),
        }
    }

    /// One vector of length one for each text, in the order of the texts, all of the same
    /// dimension. All or an error.
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
            model: &self.config.model,
            input: texts.iter().map(|text| self.cut(text)).collect(),
            encoding_format: "float",
            dimensions: self.config.dimensions,
        };
        let body = serde_json::to_vec(&request)
            .map_err(|e| Error::internal("a request could not be written").because(e))?;
        let bytes = self.endpoint.post(&body, self.endpoint.end())?;
        Answer::parse(&bytes)
            .and_then(|answer| answer.vectors(texts.len(), dimensions))
            .map_err(|problem| self.endpoint.wrong_answer(&problem))
    }

    fn cut<'a>(&self, text: &'a str) -> &'a str {
        let text = text.get(..text.floor_char_boundary(self.config.max_bytes)).unwrap_or(text);
        // OpenAI refuses an empty text, and one refused text would fail its batch.
        if text.trim().is_empty() { " " } else { text }
    }
}

fn judge(refusal: &Refusal) -> Verdict {
    match refusal.status {
        401 | 403 => (ErrorKind::Unavailable, "check the key for this server"),
        404 => (
            ErrorKind::Unavailable,
            "check that the address ends before /embeddings and that the server has the model",
        ),
        408 | 429 => (ErrorKind::RateLimited, "wait, or ask for less at once"),
        413 => (ErrorKind::Unavailable, "make the batch smaller, or cut texts shorter"),
        300..400 => (ErrorKind::Unavailable, "give the address the server redirects to"),
        400..500 => (ErrorKind::Unavailable, "check the model's name and its dimensions"),
        _ => (ErrorKind::Unavailable, "see the log of that server"),
    }
}
