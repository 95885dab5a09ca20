//! What was said, as a summary reads it: who spoke, the words, the calls that were made and what
//! came back. Thinking and media are left out.

use super::markup::minute;
use super::summarise::Line;
use crate::search::utc_date;
use oneiro_model::{Message, Part, Role, parts};
use serde_json::Value;

/// Arguments and answers of tools beyond this say little more: an extract need not read megabytes.
const LONGEST: usize = 256 << 10;

/// A message as a line.
pub(super) fn line(message: &Message) -> Line {
    let name = message.body.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
    let (mut text, mut harness) = (String::new(), String::new());
    let parts = parts(&message.role, &message.body);
    let is_result =
        !parts.is_empty() && parts.iter().all(|part| matches!(part, Part::ToolResult(_)));
    for part in parts {
        match part {
            Part::Text(words) => push(&mut text, words),
            Part::ToolCall { name, arguments } => {
                let arguments = match arguments {
                    Value::String(text) => text.clone(),
                    Value::Null => String::new(),
                    other => other.to_string(),
                };
                push(&mut text, &format!("called {name} {arguments}"));
            }
            Part::ToolResult(result) => push(&mut text, &words_of(result)),
            Part::Harness { text, .. } => push(&mut harness, text),
            Part::Media(_) | Part::Reasoning(_) => {}
        }
    }
    // The words of a message stand for it; harness text beside them is not what its speaker said.
    if text.is_empty() {
        text = harness;
    }
    let speaker = match (&message.role, name) {
        (Role::Tool, Some(name)) => format!("tool {name}"),
        (_, Some(name)) => name.to_owned(),
        // Some providers hand results back in the name of the user.
        (Role::User, None) if is_result => Role::Tool.as_str().to_owned(),
        (role, None) => role.as_str().to_owned(),
    };
    Line { when: minute(message.at), day: Some(utc_date(message.at)), speaker, text }
}

fn words_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().map(|block| match block {
                Value::String(text) => text.clone(),
                block => block.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn push(text: &mut String, more: &str) {
    if more.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    if more.len() > LONGEST {
        let head = more.get(..more.floor_char_boundary(LONGEST / 2)).unwrap_or_default();
        let tail = more.get(more.ceil_char_boundary(more.len() - LONGEST / 2)..);
        text.push_str(head);
        text.push_str("\n…\n");
        text.push_str(tail.unwrap_or_default());
    } else {
        text.push_str(more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneiro_model::{MessageId, SessionId, Timestamp, Visibility};
    use serde_json::json;

    fn line_of(content: Value) -> Line {
        line(&Message {
            id: MessageId(1),
            session_id: SessionId::new("work").unwrap(),
            role: Role::User,
            body: serde_json::Map::from_iter([("content".to_owned(), content)]),
            at: Timestamp::parse("2023-05-08T13:56:00Z").unwrap(),
            external_id: None,
            visibility: Visibility::Live,
        })
    }

    #[test]
    fn a_result_in_the_name_of_the_user_is_a_tools() {
        let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": "3 failed"}]);
        let result = line_of(result);
        assert_eq!((result.speaker.as_str(), result.text.as_str()), ("tool", "3 failed"));
        let words = line_of(json!("Why?"));
        assert_eq!(words.speaker, "user");
        assert_eq!(words.day, Some(jiff::civil::Date::constant(2023, 5, 8)));
    }
}
