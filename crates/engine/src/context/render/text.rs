//! A window as a transcript to read. It must not know providers.

use super::super::part::Part;
use super::plan::{Utterance, plain_name, words, words_of};
use oneiro_model::Timestamp;
use serde_json::Value;

/// A string to the system text, to each message and to each answer of a tool.
pub(super) fn render(system: Option<&str>, utterances: &[Utterance<'_>]) -> Vec<Value> {
    let mut out: Vec<Value> = system.into_iter().map(Value::from).collect();
    for utterance in utterances {
        out.extend(said(utterance).map(Value::from));
        out.extend(
            utterance.calls().map(|(_, _, answer)| format!("<- {}", words_of(answer)).into()),
        );
    }
    out
}

fn said(utterance: &Utterance<'_>) -> Option<String> {
    let message = utterance.message;
    let mut lines = String::new();
    for part in &utterance.parts {
        if let Part::Call(call) = part {
            lines.push_str(&format!("\n-> {}({})", call.name, call.arguments_text()));
        } else if let Some(words) = words(part, message.id) {
            lines.push(if lines.is_empty() { ' ' } else { '\n' });
            lines.push_str(&words);
        }
    }
    let speaker = plain_name(utterance.speaker().unwrap_or(message.role.as_str()));
    (!lines.is_empty()).then(|| format!("[{}] {speaker}:{lines}", minute(message.at)))
}

fn minute(at: Timestamp) -> String {
    match jiff::Timestamp::from_microsecond(at.micros()) {
        Ok(at) => at.strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => at.to_string(),
    }
}
