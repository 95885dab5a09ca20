//! The stream of changes: server-sent events, each with an id to resume from. The stream ends when
//! its token is revoked.

use crate::call::Call;
use crate::dispatch::blocking;
use crate::problem::Problem;
use crate::rate_limit::rate_limited;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use oneiro::{Change, ChangeMark, Error, EventsRequest, Result};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

/// Interval of keep-alive comments on a quiet stream.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// Interval at which the token of a stream is checked again.
const TOKEN_CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// Changes queued for one listener.
const QUEUED_EVENTS_MAX: usize = 64;

type Sender = mpsc::Sender<Result<Event, Infallible>>;

/// Starts a stream.
pub(crate) async fn events(call: Call, headers: &HeaderMap) -> Result<Response, Problem> {
    // Held until the stream ends.
    let Ok(place) = Arc::clone(&call.state.streams).try_acquire_owned() else {
        return Err(rate_limited().into());
    };
    let last = headers.get("last-event-id").map(|id| id.to_str().unwrap_or_default().to_owned());
    let request: EventsRequest = call.query_as()?;
    let since = match last {
        Some(last) => Some(ChangeMark::parse(&last)?),
        None => request.since,
    };
    let call = Arc::new(call);
    let seen = match since {
        Some(mark) => mark,
        None => run_blocking(&call, |call| call.oneiro()?.change_mark()).await?,
    };
    let (sender, receiver) = mpsc::channel(QUEUED_EVENTS_MAX);
    tokio::spawn(async move {
        let mut stopping = call.state.stopping.subscribe();
        // Whatever the stream waits for, a listener who does not listen included, it ends with the
        // server.
        tokio::select! {
            () = send_changes(&call, sender, seen) => {}
            _ = stopping.wait_for(|stopping| *stopping) => {}
        }
        drop(place);
    });
    let alive = KeepAlive::new().interval(KEEP_ALIVE_INTERVAL);
    Ok(Sse::new(ReceiverStream::new(receiver)).keep_alive(alive).into_response())
}

/// Sends changes until the client disconnects or its token is no longer valid. An error ends the
/// stream; the client reconnects with the last id.
async fn send_changes(call: &Arc<Call>, sender: Sender, mut seen: ChangeMark) {
    let Ok(Some(mut marks)) = call.visitor.space.watch.listen() else { return };
    loop {
        let from = seen;
        let Ok(changes) = run_blocking(call, move |call| changes(call, from)).await else { return };
        for change in changes {
            let sending =
                tokio::time::timeout(TOKEN_CHECK_INTERVAL, sender.send(Ok(event(&change)))).await;
            match sending {
                Ok(Ok(())) => seen = change.id,
                Ok(Err(_)) => return,
                // A slow client: the changes are read again, and the token is checked again.
                Err(_) => break,
            }
        }
        tokio::select! {
            changed = marks.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(TOKEN_CHECK_INTERVAL) => {}
            () = sender.closed() => return,
        }
    }
}

async fn run_blocking<T: Send + 'static>(
    call: &Arc<Call>,
    ask: impl FnOnce(&Call) -> Result<T> + Send + 'static,
) -> Result<T> {
    let call = Arc::clone(call);
    blocking(move || ask(&call)).await
}

fn changes(call: &Call, seen: ChangeMark) -> Result<Vec<Change>> {
    let oneiro = call.oneiro()?;
    if let Some(token) = &call.visitor.token {
        oneiro.tokens().authenticate(token)?;
    }
    oneiro.changes_since(seen)
}

fn event(change: &Change) -> Event {
    let event = Event::default().id(change.id.to_string()).event(change.kind.as_str());
    let data = serde_json::to_string(change)
        .map_err(|error| Error::internal("a change is not JSON").because(error));
    event.data(data.unwrap_or_else(|_| "{}".to_owned()))
}
