//! Messages for the tests of this folder. It must not know what is tested.

use oneiro_model::{Message, MessageId, Role, SessionId, Timestamp, Visibility};
use serde_json::Value;

/// A stored message of one session; its body is an object.
pub(super) fn message(id: i64, role: &str, body: Value) -> Message {
    let Value::Object(body) = body else { panic!("a body is an object") };
    Message {
        id: MessageId(id),
        session_id: SessionId::new("s").unwrap(),
        role: Role::parse(role).unwrap(),
        body,
        at: Timestamp::from_micros(1_769_851_800_000_000 + id * 60_000_000),
        external_id: None,
        visibility: Visibility::Live,
    }
}
