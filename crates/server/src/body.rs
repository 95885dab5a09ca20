//! Request bodies, limited in size, in time to arrive, and in the memory that all of them take
//! until they are answered.

use crate::problem::Problem;
use crate::state::State;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use oneiro::{Error, ErrorKind, Result, TokenRole};
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Smaller bodies take no shared memory: all connections together fit, and large bodies cannot keep
/// small ones out.
pub(crate) const SMALL_BODY_BYTES: usize = 64 << 10;

/// Memory that a JSON value takes beside its text: parsed, `[0,0,0]` is fifty times as large.
const JSON_VALUE_BYTES: usize = 96;

/// How long a received body waits for memory to be parsed in.
const MEMORY_WAIT: Duration = Duration::from_secs(5);

/// Largest body of a request that takes none: some clients send `{}` with every request.
const UNUSED_BODY_BYTES_MAX: usize = 1 << 10;

/// Largest form that is read before authentication: a token and a path. Less than
/// [`SMALL_BODY_BYTES`], so forms never use the shared memory.
pub(crate) const FORM_BYTES_MAX: usize = 8 << 10;

/// Forms received at once. A caller that holds all of them blocks logins for
/// [`Timeouts::form`](crate::Timeouts::form), and nothing else.
pub(crate) const CONCURRENT_FORMS_MAX: usize = 64;

/// The memory that bodies may take together.
pub(crate) struct BodyMemory {
    /// One permit per KiB of a body, or of its parsed form.
    permits: Arc<Semaphore>,
    bytes: usize,
}

impl BodyMemory {
    pub(crate) fn new(bytes: usize) -> BodyMemory {
        BodyMemory { permits: Arc::new(Semaphore::new(bytes / 1_024)), bytes }
    }

    async fn acquire(&self, bytes: usize) -> Result<OwnedSemaphorePermit> {
        let kilobytes = u32::try_from(bytes.div_ceil(1_024)).unwrap_or(u32::MAX);
        let wanted = Arc::clone(&self.permits).acquire_many_owned(kilobytes).await;
        wanted.map_err(|_| Error::internal("the server stops"))
    }
}

/// The sender of a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sender {
    pub(crate) role: TokenRole,
    /// Whether the endpoint takes a body.
    pub(crate) is_body_used: bool,
}

impl Sender {
    /// Callers that may only read send small requests. A large body would take memory from writers
    /// for as long as it takes to arrive.
    fn max_bytes(self, state: &State) -> usize {
        match self {
            Sender { is_body_used: false, .. } => UNUSED_BODY_BYTES_MAX.min(state.max_body),
            Sender { role: TokenRole::Read, .. } => SMALL_BODY_BYTES.min(state.max_body),
            Sender { .. } => state.max_body,
        }
    }

    /// Readers share separate memory, so they can only delay each other.
    fn room(self, state: &State) -> &BodyMemory {
        match self.role {
            TokenRole::Read => &state.reader_bodies,
            TokenRole::Write | TokenRole::Admin => &state.bodies,
        }
    }
}

/// A received body, and the memory it holds until it is dropped.
pub(crate) struct Received {
    bytes: Bytes,
    _room: Option<OwnedSemaphorePermit>,
}

impl Deref for Received {
    type Target = Bytes;

    fn deref(&self) -> &Bytes {
        &self.bytes
    }
}

/// Reads the body of an authenticated caller.
pub(crate) async fn read_body(
    (state, sender): (&State, Sender),
    headers: &HeaderMap,
    body: Body,
) -> Result<Received, Problem> {
    let limits = Limits { bytes: sender.max_bytes(state), timeout: state.timeouts.body };
    read_within(limits, sender.room(state), headers, body).await
}

/// Reads a form before authentication.
pub(crate) async fn read_form(
    state: &State,
    headers: &HeaderMap,
    body: Body,
) -> Result<Received, Problem> {
    let Ok(_place) = state.forms.try_acquire() else {
        return Err(Error::new(ErrorKind::Busy, "too many logins at once")
            .remedy("try again in a few seconds")
            .into());
    };
    let limits = Limits { bytes: FORM_BYTES_MAX, timeout: state.timeouts.form };
    read_within(limits, &state.bodies, headers, body).await
}

/// Limits of a body.
struct Limits {
    bytes: usize,
    timeout: Duration,
}

async fn read_within(
    limits: Limits,
    room: &BodyMemory,
    headers: &HeaderMap,
    body: Body,
) -> Result<Received, Problem> {
    check_encoding(headers)?;
    let most = limits.bytes;
    let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    let length: Option<usize> = length.and_then(|length| length.parse().ok());
    if length.is_some_and(|length| length > most) {
        return Err(too_large(most).into());
    }
    // A body without a length may turn out to have the maximum length.
    let reading = receive(room, body, (length.unwrap_or(most), most));
    match tokio::time::timeout(limits.timeout, reading).await {
        Ok(read) => Ok(read?),
        Err(_) => {
            let error = Error::new(ErrorKind::Invalid, "the body took too long to arrive");
            Err(Problem::of(StatusCode::REQUEST_TIMEOUT, error))
        }
    }
}

async fn receive(
    room: &BodyMemory,
    mut body: Body,
    (length, most): (usize, usize),
) -> Result<Received> {
    let mut held = BytesMut::new();
    let mut permit = None;
    while let Some(frame) = body.frame().await {
        let frame = frame
            .map_err(|error| Error::invalid("the body ended before its time").because(error))?;
        let Ok(data) = frame.into_data() else { continue };
        let size = held.len() + data.len();
        if size > most {
            return Err(too_large(most));
        }
        if permit.is_none() && size > SMALL_BODY_BYTES {
            permit = Some(room.acquire(length.max(size)).await?);
        }
        held.extend_from_slice(&data);
    }
    Ok(Received { bytes: held.freeze(), _room: permit })
}

/// Makes room for what a body becomes when it is read as JSON.
pub(crate) async fn unfold((state, sender): (&State, Sender), body: Received) -> Result<Received> {
    let size = count_values(&body).saturating_mul(JSON_VALUE_BYTES);
    if body.len() + size <= SMALL_BODY_BYTES {
        return Ok(body);
    }
    let room = sender.room(state);
    if body.len() + size > room.bytes {
        return Err(Error::too_large("the body holds too many values")
            .remedy("send fewer at a time, or send a part as a string"));
    }
    let Received { bytes, _room: mut permit } = body;
    // Bodies that wait for each other's memory are refused, and their clients try again.
    let more = tokio::time::timeout(MEMORY_WAIT, room.acquire(size)).await.map_err(|_| {
        Error::new(ErrorKind::Busy, "too many large requests at once").remedy("try again")
    })??;
    match &mut permit {
        Some(permit) => permit.merge(more),
        None => permit = Some(more),
    }
    Ok(Received { bytes, _room: permit })
}

/// How many values a JSON text may hold at most: what separates them, outside strings.
fn count_values(text: &[u8]) -> usize {
    let (mut count, mut in_string, mut escaped) = (1, false, false);
    for byte in text {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_string = !in_string,
            (false, b',' | b':' | b'[' | b'{') => count += 1,
            _ => {}
        }
    }
    count
}

fn too_large(most: usize) -> Error {
    Error::too_large(format!("the body is larger than {most} bytes")).remedy("send less at a time")
}

/// What is packed could be anything, however large: bodies come as they are.
fn check_encoding(headers: &HeaderMap) -> Result<(), Problem> {
    let packed = headers.get_all(header::CONTENT_ENCODING).iter();
    match packed.filter(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity")).count() {
        0 => Ok(()),
        _ => {
            let error = Error::invalid("the body is compressed")
                .remedy("send it as it is, without the header Content-Encoding");
            Err(Problem::of(StatusCode::UNSUPPORTED_MEDIA_TYPE, error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_outside_strings() {
        for (text, least) in [
            (r#""a,b:c[{""#, 1),
            (r#"{"a":[1,2,3]}"#, 5),
            (r#""a\",\"b""#, 1),
            (r#"["\\",1]"#, 3),
            ("[[[[]]]]", 4),
        ] {
            let counted = count_values(text.as_bytes());
            assert!((least..=least + 2).contains(&counted), "{text}: {counted}");
        }
    }
}
