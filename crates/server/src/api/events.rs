//! The stream of changes: server-sent events, each with an id to go on from. Whoever's token is
//! taken back is told nothing more.

use crate::call::Call;
use crate::dispatch::blocking;
use crate::problem::Problem;
use crate::rate::too_many;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use oneiro::{Change, ChangeMark, Error, Result};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

/// How often a stream that says nothing shows that it is there, and its token is looked at again.
const ALIVE: Duration = Duration::from_secs(15);

/// Changes on their way to one listener.
const AHEAD: usize = 64;

/// Begins a stream.
pub(crate) async fn events(call: Call, headers: &HeaderMap) -> Result<Response, Problem> {
    let permit = call.state.streams.try_acquire();
    if permit.is_err() {
        return Err(too_many().into());
    }
    drop(permit);
    let last = headers.get("last-event-id").map(|id| id.to_str().unwrap_or_default().to_owned());
    let since = last.or_else(|| call.query.text("since"));
    let since = since.as_deref().map(ChangeMark::parse).transpose()?;
    let call = Arc::new(call);
    let mut seen = match since {
        Some(mark) => mark,
        None => asked(&call, |call| call.oneiro()?.change_mark()).await?,
    };
    let (sender, receiver) = mpsc::channel::<Result<Event, Infallible>>(AHEAD);
    tokio::spawn(async move {
        let Ok(_permit) = call.state.streams.acquire().await else { return };
        let mut stopping = call.state.stopping.subscribe();
        let Ok(Some(mut marks)) = call.visitor.space.watch.listen() else { return };
        loop {
            let from = seen;
            // What cannot be told now ends the stream; the listener comes back with the last id.
            let Ok(changes) = asked(&call, move |call| changes(call, from)).await else { return };
            for change in changes {
                seen = change.id;
                if sender.send(Ok(event(&change))).await.is_err() {
                    return;
                }
            }
            tokio::select! {
                changed = marks.changed() => if changed.is_err() { return },
                () = tokio::time::sleep(ALIVE) => {}
                () = sender.closed() => return,
                _ = stopping.wait_for(|stopping| *stopping) => return,
            }
        }
    });
    let alive = KeepAlive::new().interval(ALIVE);
    Ok(Sse::new(ReceiverStream::new(receiver)).keep_alive(alive).into_response())
}

async fn asked<T: Send + 'static>(
    call: &Arc<Call>,
    ask: impl FnOnce(&Call) -> Result<T> + Send + 'static,
) -> Result<T> {
    let call = Arc::clone(call);
    blocking(move || ask(&call)).await
}

fn changes(call: &Call, seen: ChangeMark) -> Result<Vec<Change>> {
    let oneiro = call.oneiro()?;
    if let Some(token) = &call.visitor.token {
        oneiro.authenticate(token)?;
    }
    oneiro.changes_since(seen)
}

fn event(change: &Change) -> Event {
    let event = Event::default().id(change.id.to_string()).event(change.kind.as_str());
    let data = serde_json::to_string(change)
        .map_err(|error| Error::internal("a change is not JSON").because(error));
    event.data(data.unwrap_or_else(|_| "{}".to_owned()))
}
