//! What comes from outside: time, randomness, models that turn text into vectors, and models that
//! write.

use oneiro_model::{Error, Result, Timestamp};

pub use oneiro_index::WordModel;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// The clock of the machine.
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the port that everything else uses")]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let micros = since.map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX));
        Timestamp::from_micros(micros)
    }
}

/// Makes random ids.
pub trait Ids: Send + Sync {
    /// Ten random bytes.
    fn random(&self) -> [u8; 10];
    /// Thirty-two random bytes that nobody can guess.
    fn secret(&self) -> Result<[u8; 32]>;
}

/// Randomness of the operating system.
pub struct RandomIds;

impl Ids for RandomIds {
    fn random(&self) -> [u8; 10] {
        let mut bytes = [0; 10];
        if getrandom::fill(&mut bytes).is_err() {
            // Without the system's randomness an id still has to be unique: address space layout,
            // process and time differ.
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

/// A model that answers from elsewhere: slow, dear, or not at all.
pub trait Embedder: Send + Sync {
    /// Names the model: derived data is kept under it.
    fn id(&self) -> &str;
    /// The normalised vectors of texts, in order; may take its time.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>>;
    /// The normalised vector of a question, while somebody waits for it.
    fn ask(&self, text: &str) -> Result<Vec<f32>>;
}

/// A model that writes. It may be slow, dear, wrong or silent; whoever asks has another way.
pub trait Llm: Send + Sync {
    /// Names the model, as it is recorded beside what it wrote.
    fn id(&self) -> &str;
    /// Has the model write. May take as long as its time-outs allow; never inside a transaction.
    fn write(&self, request: &LlmRequest<'_>) -> Result<LlmAnswer>;
}

/// What a model is asked for.
#[derive(Debug, Clone)]
pub struct LlmRequest<'a> {
    /// Why it is asked, for logs and caches: `leaf`, `condensed`, `question`.
    pub purpose: &'a str,
    /// What it must do.
    pub instructions: &'a str,
    /// What it works on.
    pub input: &'a str,
    /// The most tokens it may write.
    pub max_tokens: usize,
    /// How freely it writes; 0 is always the same.
    pub temperature: f32,
}

/// What a model wrote.
#[derive(Debug, Clone, Default)]
pub struct LlmAnswer {
    /// The words.
    pub text: String,
    /// Tokens it read, if it told.
    pub input_tokens: Option<u64>,
    /// Tokens it wrote, if it told.
    pub output_tokens: Option<u64>,
    /// Whether it stopped because it may not write more.
    pub cut_short: bool,
}
