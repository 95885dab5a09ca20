//! What the engine needs from outside: time, random ids, embedding models and language models.

use oneiro_model::{Error, Result, Timestamp};

pub use oneiro_index::WordModel;

/// A source of time.
pub trait Clock: Send + Sync {
    /// The current time.
    fn now(&self) -> Timestamp;
}

/// The system clock.
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the port that everything else uses")]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let micros = since.map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX));
        Timestamp::from_micros(micros)
    }
}

/// A source of random ids.
pub trait Ids: Send + Sync {
    /// Ten random bytes.
    fn random(&self) -> [u8; 10];
    /// Thirty-two bytes from a cryptographic random generator.
    fn secret(&self) -> Result<[u8; 32]>;
}

/// The random generator of the operating system.
pub struct RandomIds;

impl Ids for RandomIds {
    fn random(&self) -> [u8; 10] {
        let mut bytes = [0; 10];
        if getrandom::fill(&mut bytes).is_err() {
            // Without it an id must still be unique: the hash differs by address space layout and
            // process.
            let seed = std::hash::RandomState::new();
            let hash = std::hash::BuildHasher::hash_one(&seed, std::process::id());
            bytes.iter_mut().zip(hash.to_le_bytes()).for_each(|(byte, random)| *byte = random);
        }
        bytes
    }

    fn secret(&self) -> Result<[u8; 32]> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| {
            Error::internal("this machine gives no randomness for a secret").because(error)
        })?;
        Ok(bytes)
    }
}

/// A remote embedding model. Calls may be slow, cost money, or fail.
pub trait Embedder: Send + Sync {
    /// The name of the model, under which its vectors are stored.
    fn id(&self) -> &str;
    /// The normalised vectors of texts, in order. Called in the background.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>>;
    /// The normalised vector of a query, with a short timeout.
    fn embed_query(&self, text: &str) -> Result<Vec<f32>>;
}

/// A language model. Calls may be slow, cost money, answer badly, or fail; every caller has a
/// fallback.
pub trait Llm: Send + Sync {
    /// The name of the model, which is recorded with its output.
    fn id(&self) -> &str;
    /// Generates text, within the timeouts of the model. Never called inside a transaction.
    fn complete(&self, request: &LlmRequest<'_>) -> Result<LlmResponse>;
}

/// A request to a language model.
#[derive(Debug, Clone)]
pub struct LlmRequest<'a> {
    /// The purpose, for logs and caches: `leaf`, `condensed`, `question`.
    pub purpose: &'a str,
    /// The system prompt.
    pub instructions: &'a str,
    /// The user prompt.
    pub input: &'a str,
    /// Maximum number of output tokens.
    pub max_tokens: usize,
    /// Sampling temperature.
    pub temperature: f32,
}

/// The output of a language model.
#[derive(Debug, Clone, Default)]
pub struct LlmResponse {
    /// The generated text.
    pub text: String,
    /// Input tokens, if reported.
    pub input_tokens: Option<u64>,
    /// Output tokens, if reported.
    pub output_tokens: Option<u64>,
    /// Whether the output was cut at `max_tokens`.
    pub cut_short: bool,
}
