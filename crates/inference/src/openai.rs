//! Embeddings from any server that speaks the OpenAI protocol: `POST {base_url}/embeddings`. It
//! owns batching, retries and the checking of answers; it must not know what is embedded or where
//! the vectors go. The key is sent and never shown.

mod answer;

use answer::Answer;
use oneiro::{Error, ErrorKind, Result};
use serde::Serialize;
use std::fmt;
use std::time::{Duration, Instant};

/// An answer larger than this is not read: 64 vectors of 4,096 numbers take some 6 MB.
const MAX_ANSWER: u64 = 256 << 20;
/// How much of a server's complaint is repeated in an error.
const MAX_COMPLAINT: usize = 300;

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
    url: String,
    agent: ureq::Agent,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: Vec<&'a str>,
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

/// Why one request failed, and whether another may not.
struct Failure {
    error: Error,
    again: Again,
}

enum Again {
    Never,
    After(Option<Duration>),
}

impl OpenAiEmbedder {
    /// Checks the configuration. Nothing is sent yet.
    pub fn new(config: OpenAiConfig) -> Result<Self> {
        let base = config.base_url.trim().trim_end_matches('/');
        let host = base.strip_prefix("https://").or_else(|| base.strip_prefix("http://"));
        let Some(host) = host.filter(|h| !h.is_empty()) else {
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
                .remedy("check that it was copied whole and without a line end"));
        }
        if config.batch == 0 || config.max_bytes < 4 || config.dimensions == Some(0) {
            return Err(Error::invalid("batch, max_bytes and dimensions must be above zero"));
        }
        let url = format!("{base}/embeddings");
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(config.timeout))
            .http_status_as_error(false)
            // A redirected POST loses its body, and the key must not follow to another host.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent("oneiro")
            .build()
            .into();
        Ok(OpenAiEmbedder { config, url, agent })
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
        let end = Instant::now() + self.config.total_timeout;
        let mut backoff = self.config.backoff;
        let mut tries = 0;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let failure = match self.send(&body, left) {
                Ok(answer) => {
                    let checked = answer.vectors(texts.len(), dimensions);
                    return checked.map_err(|problem| self.wrong_answer(&problem));
                }
                Err(failure) => failure,
            };
            let Again::After(wait) = failure.again else { return Err(failure.error) };
            let wait = wait.unwrap_or(backoff);
            backoff = backoff.saturating_mul(2);
            tries += 1;
            if tries > self.config.retries || wait >= end.saturating_duration_since(Instant::now())
            {
                return Err(failure.error);
            }
            std::thread::sleep(wait);
        }
    }

    /// One request, within `left`.
    fn send(&self, body: &[u8], left: Duration) -> Result<Answer, Failure> {
        let mut request = self
            .agent
            .post(&self.url)
            .header("content-type", "application/json")
            .header("accept", "application/json");
        if let Some(key) = &self.config.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let timeout = self.config.timeout.min(left.max(Duration::from_millis(1)));
        let request = request.config().timeout_global(Some(timeout)).build();
        let mut response = request.send(body).map_err(|e| self.unreachable(e))?;
        let status = response.status().as_u16();
        let wait = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok()?.trim().parse().ok())
            .map(Duration::from_secs);
        let read = response.body_mut().with_config().limit(MAX_ANSWER).read_to_vec();
        let bytes = match read {
            Ok(bytes) => bytes,
            // A refusal stays the news even when its text cannot be read.
            Err(_) if status != 200 => Vec::new(),
            Err(e) => return Err(self.unreachable(e)),
        };
        if !(200..300).contains(&status) {
            return Err(self.refused(status, wait, &bytes));
        }
        Answer::parse(&bytes)
            .map_err(|problem| Failure { error: self.wrong_answer(&problem), again: Again::Never })
    }

    fn cut<'a>(&self, text: &'a str) -> &'a str {
        let text = text.get(..text.floor_char_boundary(self.config.max_bytes)).unwrap_or(text);
        // OpenAI refuses an empty text, and one refused text would fail its batch.
        if text.trim().is_empty() { " " } else { text }
    }

    fn unreachable(&self, cause: ureq::Error) -> Failure {
        let slow = matches!(cause, ureq::Error::Timeout(_));
        let problem = if slow { "did not answer in time" } else { "cannot be reached" };
        let remedy = if slow {
            "see whether the server is loading the model, or raise the time-out"
        } else {
            "check the address and that the server runs"
        };
        // What makes a request wrong in itself stays wrong.
        let again = match cause {
            ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::BodyExceedsLimit(_) => {
                Again::Never
            }
            _ => Again::After(None),
        };
        let error = Error::new(ErrorKind::Unavailable, format!("{} {problem}: {cause}", self.url));
        Failure { error: error.remedy(remedy), again }
    }

    fn refused(&self, status: u16, wait: Option<Duration>, body: &[u8]) -> Failure {
        let complaint = answer::complaint(body, MAX_COMPLAINT);
        let complaint = self.without_key(&complaint);
        let message = format!("{} answered {status}{complaint}", self.url);
        let (kind, remedy) = match status {
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
        };
        let again = match status {
            408 | 425 | 429 | 500.. => Again::After(wait),
            _ => Again::Never,
        };
        Failure { error: Error::new(kind, message).remedy(remedy), again }
    }

    fn wrong_answer(&self, problem: &str) -> Error {
        let message = format!("{} gave an answer that cannot be used: {problem}", self.url);
        Error::new(ErrorKind::Unavailable, message)
            .remedy("check that it is an embeddings model behind an OpenAI-compatible address")
    }

    /// Some servers repeat the key when they refuse it.
    fn without_key(&self, text: &str) -> String {
        match &self.config.key {
            Some(key) if !key.is_empty() => text.replace(key.as_str(), "..."),
            _ => text.to_owned(),
        }
    }
}
