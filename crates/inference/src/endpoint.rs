//! HTTP requests to a server with an OpenAI-compatible API: timeouts, retries and errors. The key is
//! sent, and never appears in an error.

use oneiro::{Error, ErrorKind, Result};
use serde::Serialize;
use std::fmt;
use std::time::{Duration, Instant};

/// How much of an error message of a server is repeated in ours.
pub(crate) const MAX_MESSAGE_CHARS: usize = 300;
/// Longer timeouts mean "for ever", and would overflow the clock.
const MAX_TIMEOUT: Duration = Duration::from_secs(86_400);

/// Where a model is served, and how long requests may take.
#[derive(Clone)]
pub struct ServerConfig {
    /// Without the path of the endpoint, for example `http://localhost:11434/v1`.
    pub base_url: String,
    /// The name of the model on the server.
    pub model: String,
    /// Sent as a bearer token.
    pub key: Option<String>,
    /// The timeout of one attempt.
    pub timeout: Duration,
    /// The timeout of all attempts and of the delays between them.
    pub total_timeout: Duration,
    /// The maximum number of attempts after the first.
    pub retries: u32,
    /// The delay before the first retry, plus or minus half; it doubles with each retry.
    pub backoff: Duration,
}

impl fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerConfig")
            .field("base_url", &self.base_url)
            .field("model", &self.model)
            .field("key", &self.key.as_ref().map(|_| "..."))
            .finish_non_exhaustive()
    }
}

/// What differs between the endpoints of a server.
pub(crate) struct Api {
    /// Appended to the base address.
    pub path: &'static str,
    /// A larger response is not read.
    pub max_response_bytes: u64,
    /// The kind and the remedy of an error response, where this endpoint has its own.
    pub classify: fn(&ErrorResponse) -> Option<(ErrorKind, &'static str)>,
    /// The remedy for a response that this endpoint would not send.
    pub malformed_remedy: &'static str,
}

/// A response with an error status.
pub(crate) struct ErrorResponse {
    pub status: u16,
    /// The server's explanation in one line, without the key; may be empty.
    pub message: String,
}

/// Why a request failed.
pub(crate) struct Failure {
    pub error: Error,
    /// What the server sent, if it responded.
    pub response: Option<ErrorResponse>,
    retry: Retry,
}

enum Retry {
    Never,
    WithBackoff,
    /// As the server demands.
    After(Duration),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        failure.error
    }
}

/// A client of one endpoint.
pub(crate) struct Endpoint {
    config: ServerConfig,
    api: Api,
    url: String,
    agent: ureq::Agent,
}

impl Endpoint {
    /// Validates the configuration. Sends nothing.
    pub(crate) fn new(config: ServerConfig, api: Api) -> Result<Self> {
        let base = config.base_url.trim().trim_end_matches('/');
        let host = base.strip_prefix("https://").or_else(|| base.strip_prefix("http://"));
        let Some(host) = host.filter(|host| !host.is_empty()) else {
            return Err(Error::field("base_url", "is not an http:// or https:// address")
                .remedy("give one such as http://localhost:11434/v1"));
        };
        // Errors name the address, so nothing secret may be in it.
        if host.contains(['@', '?', '#']) {
            return Err(Error::field("base_url", "has a user, a query or a fragment")
                .remedy("give the plain address, and the key as the key"));
        }
        if config.model.trim().is_empty() {
            return Err(Error::field("model", "is empty").remedy("name a model the server has"));
        }
        if config.key.as_ref().is_some_and(|key| !key.bytes().all(|b| b.is_ascii_graphic())) {
            return Err(Error::field("key", "has spaces or characters that cannot be sent")
                .remedy("check that it was copied completely and without a line end"));
        }
        let url = format!("{base}{}", api.path);
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // A redirected POST loses its body, and the key must not be sent to another host.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent("oneiro")
            .build()
            .into();
        Ok(Endpoint { config, api, url, agent })
    }

    /// The deadline of requests that start now.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.config.total_timeout.min(MAX_TIMEOUT)
    }

    /// Sends a request, with retries until `deadline`, and returns the body of the response.
    pub(crate) fn post(
        &self,
        request: &impl Serialize,
        deadline: Instant,
    ) -> Result<Vec<u8>, Failure> {
        let body = serde_json::to_vec(request).map_err(|e| {
            let error = Error::internal("cannot encode a request").because(e);
            Failure { error, response: None, retry: Retry::Never }
        })?;
        let mut backoff = self.config.backoff.min(MAX_TIMEOUT);
        let mut attempts = 0;
        loop {
            let failure = match self.send(&body, deadline) {
                Ok(response) => return Ok(response),
                Err(failure) => failure,
            };
            attempts += 1;
            let delay = match failure.retry {
                Retry::Never => return Err(failure),
                // Random, so that clients that failed together do not retry together.
                Retry::WithBackoff => backoff.mul_f64(0.5 + fastrand::f64()),
                Retry::After(delay) => delay,
            };
            let remaining = deadline.saturating_duration_since(Instant::now());
            if attempts > self.config.retries || delay >= remaining {
                return Err(failure);
            }
            backoff = backoff.saturating_mul(2).min(MAX_TIMEOUT);
            std::thread::sleep(delay);
        }
    }

    /// One attempt.
    fn send(&self, body: &[u8], deadline: Instant) -> Result<Vec<u8>, Failure> {
        let remaining = deadline.saturating_duration_since(Instant::now());
        let timeout = self.config.timeout.min(remaining.max(Duration::from_millis(1)));
        let mut request = self
            .agent
            .post(&self.url)
            .config()
            .timeout_global(Some(timeout))
            .build()
            .header("content-type", "application/json")
            .header("accept", "application/json");
        if let Some(key) = &self.config.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let mut response = request.send(body).map_err(|e| self.unreachable(e))?;
        let status = response.status();
        let retry_after = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok()?.trim().parse().ok())
            .map(Duration::from_secs);
        let body = response.body_mut().with_config().limit(self.api.max_response_bytes);
        match body.read_to_vec() {
            Ok(bytes) if status.is_success() => Ok(bytes),
            Ok(bytes) => Err(self.error_response(status.as_u16(), retry_after, &bytes)),
            // The status matters even if the body cannot be read.
            Err(_) if !status.is_success() => {
                Err(self.error_response(status.as_u16(), retry_after, &[]))
            }
            Err(ureq::Error::BodyExceedsLimit(_)) => {
                let limit = self.api.max_response_bytes >> 20;
                let error = self.malformed(&format!("it is larger than {limit} MB"));
                Err(Failure { error, response: None, retry: Retry::Never })
            }
            Err(e) => Err(self.unreachable(e)),
        }
    }

    fn unreachable(&self, cause: ureq::Error) -> Failure {
        let (problem, remedy) = if matches!(cause, ureq::Error::Timeout(_)) {
            (
                "did not answer in time",
                "see whether the server is loading the model, or raise the timeout",
            )
        } else {
            ("cannot be reached", "check the address and that the server runs")
        };
        let retry = match cause {
            // The request itself is invalid.
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => Retry::Never,
            _ => Retry::WithBackoff,
        };
        let message = format!("{} {problem}: {cause}", self.url);
        let error = Error::new(ErrorKind::Unavailable, message).remedy(remedy);
        Failure { error, response: None, retry }
    }

    fn error_response(&self, status: u16, retry_after: Option<Duration>, body: &[u8]) -> Failure {
        let response = ErrorResponse { status, message: self.hide_key(&error_message(body)) };
        let (kind, remedy) =
            (self.api.classify)(&response).unwrap_or_else(|| classify_status(status));
        let explanation: String = response.message.chars().take(MAX_MESSAGE_CHARS).collect();
        let separator = if explanation.is_empty() { "" } else { ": " };
        let message = format!("{} answered {status}{separator}{explanation}", self.url);
        let retry = match status {
            408 | 409 | 425 | 429 | 500.. => retry_after.map_or(Retry::WithBackoff, Retry::After),
            _ => Retry::Never,
        };
        Failure { error: Error::new(kind, message).remedy(remedy), response: Some(response), retry }
    }

    /// The error of a successful response whose body cannot be used.
    pub(crate) fn malformed(&self, problem: &str) -> Error {
        let problem = self.hide_key(problem);
        let message = format!("{} gave an answer that cannot be used: {problem}", self.url);
        Error::new(ErrorKind::Unavailable, message).remedy(self.api.malformed_remedy)
    }

    /// Some servers repeat the key when they refuse it.
    fn hide_key(&self, text: &str) -> String {
        match &self.config.key {
            Some(key) if !key.is_empty() => text.replace(key.as_str(), "..."),
            _ => text.to_owned(),
        }
    }
}

fn classify_status(status: u16) -> (ErrorKind, &'static str) {
    match status {
        404 => (
            ErrorKind::Unavailable,
            "check that the address ends before the path of the endpoint and that the server has \
             the model",
        ),
        408 | 429 => (ErrorKind::RateLimited, "wait, or send less at once"),
        300..400 => (ErrorKind::Unavailable, "give the address the server redirects to"),
        400..500 => (ErrorKind::Unavailable, "check the model's name"),
        _ => (ErrorKind::Unavailable, "see the log of that server"),
    }
}

/// The explanation in the body of an error response, in one line; empty if there is none.
pub(crate) fn error_message(body: &[u8]) -> String {
    let text = match serde_json::from_slice::<serde_json::Value>(body) {
        Ok(value) => ["/error/message", "/error", "/message", "/detail"]
            .iter()
            .find_map(|pointer| value.pointer(pointer)?.as_str())
            .unwrap_or_default()
            .to_owned(),
        Err(_) => String::from_utf8_lossy(body).into_owned(),
    };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).collect()
}
