//! One address of a server that speaks the OpenAI protocol: time-outs, retries, refusals. It owns
//! how a request is sent and must not know what is asked or what the answer means. The key is sent
//! and never shown.

use oneiro::{Error, ErrorKind, Result};
use std::time::{Duration, Instant};

/// How much of a server's complaint is repeated in an error.
pub(crate) const MAX_COMPLAINT: usize = 300;
/// Longer times are meant as "for ever", and would pass what a clock can hold.
const LONGEST: Duration = Duration::from_secs(86_400);

/// Where the server is and how patiently it is asked.
pub(crate) struct Access {
    /// Up to and without the path of what is asked.
    pub base_url: String,
    /// What follows the base, with its slash.
    pub path: &'static str,
    /// The name the server knows the model by; it must have one.
    pub model: String,
    /// Sent as a bearer token.
    pub key: Option<String>,
    /// The longest one request may take.
    pub timeout: Duration,
    /// The longest all of them may take, waits included.
    pub total_timeout: Duration,
    /// How often a request is tried again.
    pub retries: u32,
    /// The wait before the first retry, give or take a half; it doubles.
    pub backoff: Duration,
    /// A larger answer is not read.
    pub max_answer: u64,
    /// What a refusal means to whoever asks.
    pub judge: fn(&Refusal) -> Verdict,
    /// What to do when the answer is none of the kind asked for.
    pub other_kind: &'static str,
}

/// A server's no.
pub(crate) struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// What the server says went wrong, in one line, without the key; may be empty.
    pub complaint: String,
}

/// What a refusal means: the kind of the error, and what can be done.
pub(crate) type Verdict = (ErrorKind, &'static str);

/// Why a request failed for good.
pub(crate) struct Failure {
    /// As it is told.
    pub error: Error,
    /// What the server said, if it was the server that refused.
    pub refusal: Option<Refusal>,
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        failure.error
    }
}

/// Why one try failed, and whether another may not.
struct Miss {
    failure: Failure,
    again: Again,
}

enum Again {
    Never,
    After(Option<Duration>),
}

/// A client of one address.
pub(crate) struct Endpoint {
    access: Access,
    url: String,
    agent: ureq::Agent,
}

impl Endpoint {
    /// Checks where the server is. Nothing is sent yet.
    pub(crate) fn new(access: Access) -> Result<Self> {
        let base = access.base_url.trim().trim_end_matches('/');
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
        if access.model.trim().is_empty() {
            return Err(Error::field("model", "is empty").remedy("name a model the server has"));
        }
        if access.key.as_ref().is_some_and(|key| !key.bytes().all(|b| b.is_ascii_graphic())) {
            return Err(Error::field("key", "has spaces or characters that cannot be sent")
                .remedy("check that it was copied whole and without a line end"));
        }
        let url = format!("{base}{}", access.path);
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(access.timeout))
            .http_status_as_error(false)
            // A redirected POST loses its body, and the key must not follow to another host.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent("oneiro")
            .build()
            .into();
        Ok(Endpoint { access, url, agent })
    }

    /// When everything that begins now must have ended.
    pub(crate) fn end(&self) -> Instant {
        Instant::now() + self.access.total_timeout.min(LONGEST)
    }

    /// The body of the answer to one request, tried again until `end` where that may help.
    pub(crate) fn post(&self, body: &[u8], end: Instant) -> Result<Vec<u8>, Failure> {
        let mut backoff = self.access.backoff.min(LONGEST);
        let mut tries = 0;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let miss = match self.send(body, left) {
                Ok(answer) => return Ok(answer),
                Err(miss) => miss,
            };
            let Again::After(wait) = miss.again else { return Err(miss.failure) };
            // Clients that failed together must not come back together.
            let wait = wait.unwrap_or_else(|| backoff.mul_f64(0.5 + fastrand::f64()));
            backoff = backoff.saturating_mul(2).min(LONGEST);
            tries += 1;
            if tries > self.access.retries || wait >= end.saturating_duration_since(Instant::now())
            {
                return Err(miss.failure);
            }
            std::thread::sleep(wait);
        }
    }

    /// One request, within `left`.
    fn send(&self, body: &[u8], left: Duration) -> Result<Vec<u8>, Miss> {
        let mut request = self
            .agent
            .post(&self.url)
            .header("content-type", "application/json")
            .header("accept", "application/json");
        if let Some(key) = &self.access.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let timeout = self.access.timeout.min(left.max(Duration::from_millis(1)));
        let request = request.config().timeout_global(Some(timeout)).build();
        let mut response = request.send(body).map_err(|e| self.unreachable(e))?;
        let status = response.status().as_u16();
        let wait = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok()?.trim().parse().ok())
            .map(Duration::from_secs);
        let read = response.body_mut().with_config().limit(self.access.max_answer).read_to_vec();
        let bytes = match read {
            Ok(bytes) => bytes,
            // A refusal stays the news even when its text cannot be read.
            Err(_) if status != 200 => Vec::new(),
            Err(ureq::Error::BodyExceedsLimit(_)) => return Err(self.too_large()),
            Err(e) => return Err(self.unreachable(e)),
        };
        if (200..300).contains(&status) {
            Ok(bytes)
        } else {
            Err(self.refused(status, wait, &bytes))
        }
    }

    fn unreachable(&self, cause: ureq::Error) -> Miss {
        let slow = matches!(cause, ureq::Error::Timeout(_));
        let problem = if slow { "did not answer in time" } else { "cannot be reached" };
        let remedy = if slow {
            "see whether the server is loading the model, or raise the time-out"
        } else {
            "check the address and that the server runs"
        };
        // What makes a request wrong in itself stays wrong.
        let again = match cause {
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => Again::Never,
            _ => Again::After(None),
        };
        let error = Error::new(ErrorKind::Unavailable, format!("{} {problem}: {cause}", self.url));
        Miss { failure: Failure { error: error.remedy(remedy), refusal: None }, again }
    }

    fn too_large(&self) -> Miss {
        let most = self.access.max_answer >> 20;
        let error = self.wrong_answer(&format!("it is larger than {most} MB"));
        Miss { failure: Failure { error, refusal: None }, again: Again::Never }
    }

    fn refused(&self, status: u16, wait: Option<Duration>, body: &[u8]) -> Miss {
        let refusal = Refusal { status, complaint: self.without_key(&complaint(body)) };
        let said: String = refusal.complaint.chars().take(MAX_COMPLAINT).collect();
        let colon = if said.is_empty() { "" } else { ": " };
        let message = format!("{} answered {status}{colon}{said}", self.url);
        let (kind, remedy) = (self.access.judge)(&refusal);
        let again = match status {
            408 | 409 | 425 | 429 | 500.. => Again::After(wait),
            _ => Again::Never,
        };
        let error = Error::new(kind, message).remedy(remedy);
        Miss { failure: Failure { error, refusal: Some(refusal) }, again }
    }

    /// The error of an answer that came and is not what was asked for.
    pub(crate) fn wrong_answer(&self, problem: &str) -> Error {
        let problem = self.without_key(problem);
        let message = format!("{} gave an answer that cannot be used: {problem}", self.url);
        Error::new(ErrorKind::Unavailable, message).remedy(self.access.other_kind)
    }

    /// Some servers repeat the key when they refuse it.
    pub(crate) fn without_key(&self, text: &str) -> String {
        match &self.access.key {
            Some(key) if !key.is_empty() => text.replace(key.as_str(), "..."),
            _ => text.to_owned(),
        }
    }
}

/// What a server says went wrong, in one line; empty when it says nothing.
pub(crate) fn complaint(body: &[u8]) -> String {
    let parsed: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    let text = match &parsed {
        Some(value) => [&["error", "message"][..], &["error"], &["message"], &["detail"]]
            .iter()
            .find_map(|path| path.iter().try_fold(value, |v, key| v.get(key))?.as_str())
            .unwrap_or_default()
            .to_owned(),
        None => String::from_utf8_lossy(body).into_owned(),
    };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).collect()
}
