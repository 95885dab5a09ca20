//! Parses responses of chat models. Errors never repeat the model's text: errors are logged, and the
//! text is about somebody's conversation.

use super::unwrap_text::unwrap_text;
use crate::endpoint::{MAX_MESSAGE_CHARS, error_message};
use oneiro::LlmResponse;
use serde_json::Value;

/// Why a response cannot be used.
#[derive(Debug)]
pub(super) enum Problem {
    /// It is not what the API specifies, or has no text.
    Malformed(String),
    /// The model or the content filter of its server declined.
    Refused(&'static str),
}

/// The text of a response, without reasoning and fences around it.
pub(super) fn parse(bytes: &[u8]) -> Result<LlmResponse, Problem> {
    let response: Value = serde_json::from_slice(bytes)
        .map_err(|e| Problem::Malformed(format!("not the expected JSON ({e})")))?;
    let Some(choice) = response.pointer("/choices/0") else {
        return Err(Problem::Malformed(describe_missing_choices(&response, bytes)));
    };
    let finish_reason = choice.get("finish_reason").and_then(Value::as_str).unwrap_or_default();
    let message = choice.get("message").unwrap_or(&Value::Null);
    if finish_reason == "content_filter" {
        return Err(Problem::Refused("was stopped by the content filter of its server"));
    }
    let parts = message.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if has_refusal(message) || parts.iter().any(has_refusal) {
        return Err(Problem::Refused("refused to write about this"));
    }
    if finish_reason == "error" {
        return Err(Problem::Malformed("the model was interrupted while it wrote".to_owned()));
    }
    let content = match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        _ => parts.iter().filter_map(part_text).collect(),
    };
    let text = unwrap_text(&content).to_owned();
    let cut_short = finish_reason == "length";
    if text.is_empty() {
        let problem = if cut_short {
            "the model wrote nothing within its token limit"
        } else {
            "the model wrote nothing"
        };
        return Err(Problem::Malformed(problem.to_owned()));
    }
    let tokens = |name: &str| response.get("usage")?.get(name)?.as_u64();
    Ok(LlmResponse {
        text,
        input_tokens: tokens("prompt_tokens"),
        output_tokens: tokens("completion_tokens"),
        cut_short,
    })
}

fn has_refusal(message: &Value) -> bool {
    let refusal = message.get("refusal").and_then(Value::as_str);
    refusal.is_some_and(|text| !text.trim().is_empty())
}

/// The text of a content part; reasoning has another type.
fn part_text(part: &Value) -> Option<&str> {
    let kind = part.get("type").and_then(Value::as_str).unwrap_or("text");
    if !matches!(kind, "text" | "output_text") {
        return None;
    }
    part.get("text")?.as_str()
}

/// Some servers report errors with status 200.
fn describe_missing_choices(response: &Value, bytes: &[u8]) -> String {
    if response.get("error").is_none() {
        return "it has no choices".to_owned();
    }
    let message: String = error_message(bytes).chars().take(MAX_MESSAGE_CHARS).collect();
    if message.is_empty() {
        "it has no choices".to_owned()
    } else {
        format!("it is an error: {message}")
    }
}
