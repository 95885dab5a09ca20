//! Batches: requests that came in one line, whose answers go out in one. It must not know how lines
//! are read or written.

use super::{NO_MESSAGE, problem};
use rmcp::model::{ClientJsonRpcMessage, ClientNotification};
use serde_json::Value;

/// The batches that are not answered yet.
#[derive(Default)]
pub(super) struct Batches {
    open: Vec<Batch>,
}

struct Batch {
    /// Ids of requests without an answer.
    awaited: Vec<Value>,
    answers: Vec<Value>,
}

impl Batches {
    /// Notes what is to be answered together; answers what of it is answered already, if that is
    /// all.
    pub(super) fn open(&mut self, read: &[Result<ClientJsonRpcMessage, Value>]) -> Option<Value> {
        let mut batch = Batch { awaited: Vec::new(), answers: Vec::new() };
        for message in read {
            match message {
                Ok(ClientJsonRpcMessage::Request(request)) => {
                    batch.awaited.push(request.id.clone().into_json_value());
                }
                Ok(_) => {}
                Err(id) => batch.answers.push(problem(id.clone(), NO_MESSAGE)),
            }
        }
        self.open.push(batch);
        self.complete()
    }

    /// Takes an answer; hands back what is to be written now, which is nothing while others of its
    /// batch are awaited.
    pub(super) fn close(&mut self, answer: Value) -> Option<Value> {
        let is_answer = answer.get("method").is_none();
        let Some(id) = answer.get("id").filter(|_| is_answer).cloned() else { return Some(answer) };
        let Some(batch) = self.open.iter_mut().find(|batch| batch.awaits(&id)) else {
            return Some(answer);
        };
        batch.remove(&id);
        batch.answers.push(answer);
        self.complete()
    }

    /// Awaits no answer to a request that was cancelled, for there will be none.
    pub(super) fn cancel(&mut self, notification: &ClientNotification) -> Option<Value> {
        let ClientNotification::CancelledNotification(cancelled) = notification else {
            return None;
        };
        let id = cancelled.params.request_id.clone()?.into_json_value();
        self.open.iter_mut().find(|batch| batch.awaits(&id))?.remove(&id);
        self.complete()
    }

    /// The answers of a batch that awaits none; nothing if it had only notifications.
    fn complete(&mut self) -> Option<Value> {
        let place = self.open.iter().position(|batch| batch.awaited.is_empty())?;
        let batch = self.open.remove(place);
        (!batch.answers.is_empty()).then_some(Value::Array(batch.answers))
    }
}

impl Batch {
    fn awaits(&self, id: &Value) -> bool {
        self.awaited.contains(id)
    }

    fn remove(&mut self, id: &Value) {
        if let Some(place) = self.awaited.iter().position(|awaited| awaited == id) {
            self.awaited.remove(place);
        }
    }
}
