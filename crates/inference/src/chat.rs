//! Text from any server that speaks the OpenAI protocol: `POST {base_url}/chat/completions`. It
//! owns what is asked, in the spelling that the model takes; it must not know why it is asked, what
//! becomes of the answer, or how a request is sent.

mod answer;
mod tidy;

use crate::endpoint::{Access, Endpoint, Failure, Refusal, Verdict};
use crate::guard::Limits;
use answer::Problem;
use oneiro::{Error, ErrorKind, Llm, LlmAnswer, LlmRequest, Result};
use serde::Serialize;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// An answer larger than this is not read: the longest that models write is below 1 MB.
const MAX_ANSWER: u64 = 8 << 20;

/// Where the server is and how it is asked.
#[derive(Clone)]
pub struct ChatConfig {
    /// Up to and without `/chat/completions`, for example `http://localhost:11434/v1`.
    pub base_url: String,
    /// The name the server knows the model by.
    pub model: String,
    /// Sent as a bearer token.
    pub key: Option<String>,
    /// The longest one request may take.
    pub timeout: Duration,
    /// The longest an answer may take, retries and waits included.
    pub total_timeout: Duration,
    /// How often a request is tried again.
    pub retries: u32,
    /// The wait before the first retry, give or take a half; it doubles.
    pub backoff: Duration,
    /// When it is left alone; [`OpenAiChat`] itself knows no limits.
    pub limits: Limits,
}

impl ChatConfig {
    /// The usual values for a server and a model.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        ChatConfig {
            base_url: base_url.into(),
            model: model.into(),
            key: None,
            timeout: Duration::from_secs(60),
            total_timeout: Duration::from_secs(180),
            retries: 2,
            backoff: Duration::from_secs(1),
            limits: Limits::default(),
        }
    }
}

impl fmt::Debug for ChatConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatConfig")
            .field("base_url", &self.base_url)
            .field("model", &self.model)
            .field("key", &self.key.as_ref().map(|_| "..."))
            .finish_non_exhaustive()
    }
}

/// A client of one model on one server.
pub struct OpenAiChat {
    id: String,
    model: String,
    endpoint: Endpoint,
    /// What the model was found to take.
    dialect: Mutex<Dialect>,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    messages: [Message<'a>; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    stream: bool,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

/// The fields that models differ in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Dialect {
    /// OpenAI's reasoning models have another name for the limit.
    completion_tokens: bool,
    /// Some models write at one temperature and refuse to be told any.
    no_temperature: bool,
}

impl Dialect {
    fn limit(self) -> &'static str {
        if self.completion_tokens { "max_completion_tokens" } else { "max_tokens" }
    }

    /// The dialect that a refusal asks for, if it is about a field that was not yet changed.
    fn corrected(self, first: Dialect, refusal: &Refusal) -> Option<Dialect> {
        if !matches!(refusal.status, 400 | 422) || is_about_size(&refusal.complaint) {
            return None;
        }
        let names = |field: &str| refusal.complaint.contains(field);
        if !self.no_temperature && names("temperature") {
            Some(Dialect { no_temperature: true, ..self })
        } else if self.completion_tokens == first.completion_tokens && names(self.limit()) {
            Some(Dialect { completion_tokens: !self.completion_tokens, ..self })
        } else {
            None
        }
    }
}

impl OpenAiChat {
    /// Checks the configuration. Nothing is sent yet.
    pub fn new(config: ChatConfig) -> Result<Self> {
        let endpoint = Endpoint::new(Access {
            base_url: config.base_url,
            path: "/chat/completions",
            model: config.model.clone(),
            key: config.key,
            timeout: config.timeout,
            total_timeout: config.total_timeout,
            retries: config.retries,
            backoff: config.backoff,
            max_answer: MAX_ANSWER,
            judge,
            other_kind: "check that it is a chat model behind an OpenAI-compatible address",
        })?;
        Ok(OpenAiChat {
            id: format!("openai:{}", config.model),
            model: config.model,
            endpoint,
            dialect: Mutex::default(),
        })
    }

    /// The body of an answer, asked for in the dialect that the model takes.
    fn ask(&self, request: &LlmRequest<'_>) -> Result<Vec<u8>> {
        let end = self.endpoint.end();
        let first = *self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        let mut dialect = first;
        loop {
            match self.endpoint.post(&self.body(request, dialect)?, end) {
                Ok(bytes) => {
                    // Only what was taken is worth remembering.
                    if dialect != first {
                        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = dialect;
                    }
                    return Ok(bytes);
                }
                Err(Failure { error, refusal }) => {
                    let corrected = refusal.and_then(|said| dialect.corrected(first, &said));
                    dialect = corrected.ok_or(error)?;
                }
            }
        }
    }

    fn body(&self, request: &LlmRequest<'_>, dialect: Dialect) -> Result<Vec<u8>> {
        let body = Request {
            model: &self.model,
            messages: [
                Message { role: "system", content: request.instructions },
                Message { role: "user", content: request.input },
            ],
            max_tokens: (!dialect.completion_tokens).then_some(request.max_tokens),
            max_completion_tokens: dialect.completion_tokens.then_some(request.max_tokens),
            temperature: (!dialect.no_temperature).then_some(request.temperature),
            stream: false,
        };
        serde_json::to_vec(&body)
            .map_err(|e| Error::internal("a request could not be written").because(e))
    }
}

impl Llm for OpenAiChat {
    fn id(&self) -> &str {
        &self.id
    }

    /// A key that is refused is `unauthorized` or `forbidden`; what the model will not or cannot
    /// write about is `invalid` or `too_large`; everything else may pass later.
    fn write(&self, request: &LlmRequest<'_>) -> Result<LlmAnswer> {
        let bytes = self.ask(request)?;
        answer::read(&bytes).map_err(|problem| match problem {
            Problem::Unusable(what) => self.endpoint.wrong_answer(&what),
            Problem::Refused(what) => Error::invalid(format!("{} {what}", self.id))
                .remedy("do without it for this text, or ask another model"),
        })
    }
}

fn judge(refusal: &Refusal) -> Verdict {
    match refusal.status {
        401 => (ErrorKind::Unauthorized, "check the key for this server"),
        403 => (ErrorKind::Forbidden, "check the key for this server, and what it may do"),
        404 => (
            ErrorKind::Unavailable,
            "check that the address ends before /chat/completions and that the server has the \
             model",
        ),
        408 | 429 => (ErrorKind::RateLimited, "wait, or ask for less at once"),
        413 => (ErrorKind::TooLarge, "give the model less to read"),
        400 | 422 if is_about_size(&refusal.complaint) => {
            (ErrorKind::TooLarge, "give the model less to read, or less to write")
        }
        300..400 => (ErrorKind::Unavailable, "give the address the server redirects to"),
        400..500 => (ErrorKind::Unavailable, "check the model's name"),
        _ => (ErrorKind::Unavailable, "see the log of that server"),
    }
}

/// Whether a server complains of the size of a request. Servers have no code for it in common, and
/// such a complaint often names the limit of tokens as well.
fn is_about_size(complaint: &str) -> bool {
    let said = complaint.to_lowercase();
    let window = ["context length", "context size", "context window", "context_length"];
    window.iter().chain(&["too large", "too long"]).any(|words| said.contains(words))
}
