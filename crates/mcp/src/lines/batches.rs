//! Batches: requests that arrive in one line and are answered in one line.

use super::{NO_MESSAGE, problem};
use rmcp::model::{ClientJsonRpcMessage, ClientNotification};
use serde_json::Value;

/// The unanswered batches.
#[derive(Default)]
pub(super) struct Batches {
    open: Vec<Batch>,
}

struct Batch {
    /// Ids of unanswered requests.
    awaited: Vec<Value>,
    answers: Vec<Value>,
}

impl Batches {
    /// Adds a batch; returns its answers if they are complete already.
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

    /// Takes an answer; returns what to write now, which is nothing while other answers of its batch
    /// are missing.
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

    /// Removes a cancelled request, which gets no answer.
    pub(super) fn cancel(&mut self, notification: &ClientNotification) -> Option<Value> {
        let ClientNotification::CancelledNotification(cancelled) = notification else {
            return None;
        };
        let id = cancelled.params.request_id.clone()?.into_json_value();
        self.open.iter_mut().find(|batch| batch.awaits(&id))?.remove(&id);
        self.complete()
    }

    /// The answers of a complete batch; nothing if it had only notifications.
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
