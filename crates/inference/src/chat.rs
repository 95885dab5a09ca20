//! A chat model on a server with an OpenAI-compatible API: `POST {base_url}/chat/completions`.

mod response;
mod unwrap_text;

use crate::endpoint::{Api, Endpoint, ErrorResponse, ServerConfig};
use crate::guard::Limits;
use oneiro::{Error, ErrorKind, Llm, LlmRequest, LlmResponse, Result};
use response::Problem;
use serde::Serialize;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The longest output of a model is below 1 MB.
const MAX_RESPONSE_BYTES: u64 = 8 << 20;

/// A chat model and its limits.
#[derive(Debug, Clone)]
pub struct ChatConfig {
    /// Where the model is served.
    pub server: ServerConfig,
    /// Limits on calls. [`OpenAiChat`] itself has none.
    pub limits: Limits,
}

impl ChatConfig {
    /// The default timeouts and limits for a model on a server.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        let server = ServerConfig {
            base_url: base_url.into(),
            model: model.into(),
            key: None,
            timeout: Duration::from_secs(60),
            total_timeout: Duration::from_secs(180),
            retries: 2,
            backoff: Duration::from_secs(1),
        };
        ChatConfig { server, limits: Limits::default() }
    }
}

/// A client of one model on one server.
pub struct OpenAiChat {
    id: String,
    model: String,
    endpoint: Endpoint,
    /// The parameters that the last successful request had.
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

/// The parameters that not every model accepts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Dialect {
    token_limit: TokenLimit,
    temperature: Temperature,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum TokenLimit {
    #[default]
    MaxTokens,
    /// OpenAI's reasoning models refuse `max_tokens`.
    MaxCompletionTokens,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Temperature {
    #[default]
    Requested,
    /// Some models have one temperature and refuse the parameter.
    Omitted,
}

impl TokenLimit {
    fn parameter(self) -> &'static str {
        match self {
            TokenLimit::MaxTokens => "max_tokens",
            TokenLimit::MaxCompletionTokens => "max_completion_tokens",
        }
    }

    fn other(self) -> Self {
        match self {
            TokenLimit::MaxTokens => TokenLimit::MaxCompletionTokens,
            TokenLimit::MaxCompletionTokens => TokenLimit::MaxTokens,
        }
    }
}

impl Dialect {
    /// The dialect to try after an error about a parameter that was not changed since `first`.
    fn corrected(self, first: Dialect, response: &ErrorResponse) -> Option<Dialect> {
        if !matches!(response.status, 400 | 422) || is_about_size(&response.message) {
            return None;
        }
        let names = |parameter: &str| response.message.contains(parameter);
        if self.temperature == Temperature::Requested && names("temperature") {
            Some(Dialect { temperature: Temperature::Omitted, ..self })
        } else if self.token_limit == first.token_limit && names(self.token_limit.parameter()) {
            Some(Dialect { token_limit: self.token_limit.other(), ..self })
        } else {
            None
        }
    }
}

impl OpenAiChat {
    /// Validates the configuration. Sends nothing.
    pub fn new(config: ChatConfig) -> Result<Self> {
        let model = config.server.model.clone();
        let api = Api {
            path: "/chat/completions",
            max_response_bytes: MAX_RESPONSE_BYTES,
            classify,
            malformed_remedy: "check that it is a chat model behind an OpenAI-compatible address",
        };
        let endpoint = Endpoint::new(config.server, api)?;
        Ok(OpenAiChat { id: format!("openai:{model}"), model, endpoint, dialect: Mutex::default() })
    }

    /// Sends a request, and sends it again with other parameters if the model refuses some.
    fn send(&self, request: &LlmRequest<'_>) -> Result<Vec<u8>> {
        let deadline = self.endpoint.deadline();
        let first = *self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        let mut dialect = first;
        loop {
            let failure = match self.endpoint.post(&self.body(request, dialect), deadline) {
                Ok(bytes) => {
                    if dialect != first {
                        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = dialect;
                    }
                    return Ok(bytes);
                }
                Err(failure) => failure,
            };
            let response = failure.response.as_ref();
            match response.and_then(|response| dialect.corrected(first, response)) {
                Some(corrected) => dialect = corrected,
                None => return Err(failure.error),
            }
        }
    }

    fn body<'a>(&'a self, request: &LlmRequest<'a>, dialect: Dialect) -> Request<'a> {
        let limit = |name| (dialect.token_limit == name).then_some(request.max_tokens);
        Request {
            model: &self.model,
            messages: [
                Message { role: "system", content: request.instructions },
                Message { role: "user", content: request.input },
            ],
            max_tokens: limit(TokenLimit::MaxTokens),
            max_completion_tokens: limit(TokenLimit::MaxCompletionTokens),
            temperature: (dialect.temperature == Temperature::Requested)
                .then_some(request.temperature),
            stream: false,
        }
    }
}

impl Llm for OpenAiChat {
    fn id(&self) -> &str {
        &self.id
    }

    /// A refused key is `unauthorized` or `forbidden`; a request that the model cannot or will not
    /// answer is `invalid` or `too_large`; every other error may be temporary.
    fn complete(&self, request: &LlmRequest<'_>) -> Result<LlmResponse> {
        let bytes = self.send(request)?;
        response::parse(&bytes).map_err(|problem| match problem {
            Problem::Malformed(problem) => self.endpoint.malformed(&problem),
            Problem::Refused(problem) => Error::invalid(format!("{} {problem}", self.id))
                .remedy("do without it for this text, or use another model"),
        })
    }
}

fn classify(response: &ErrorResponse) -> Option<(ErrorKind, &'static str)> {
    match response.status {
        401 => Some((ErrorKind::Unauthorized, "check the key for this server")),
        403 => Some((ErrorKind::Forbidden, "check the key for this server and its permissions")),
        413 => Some((ErrorKind::TooLarge, "give the model less to read")),
        400 | 422 if is_about_size(&response.message) => {
            Some((ErrorKind::TooLarge, "give the model less to read, or less to write"))
        }
        _ => None,
    }
}

/// Whether an error is about the size of the request. Servers share no code for it, and the message
/// often names the token limit as well.
fn is_about_size(message: &str) -> bool {
    const PHRASES: [&str; 6] = [
        "context length",
        "context size",
        "context window",
        "context_length",
        "too large",
        "too long",
    ];
    let message = message.to_lowercase();
    PHRASES.iter().any(|phrase| message.contains(phrase))
}
