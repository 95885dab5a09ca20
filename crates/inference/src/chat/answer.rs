//! What a model answered, whichever way its server wraps it. It owns the shape of the answer and
//! must not know how it came. What the model wrote is never repeated in an error: errors are logged
//! and kept, and it wrote about somebody's conversation.

use super::tidy::tidied;
use crate::endpoint::{MAX_COMPLAINT, complaint};
use oneiro::LlmAnswer;
use serde_json::Value;

/// Why an answer is of no use.
#[derive(Debug)]
pub(super) enum Problem {
    /// It is not what the protocol says, or nothing is in it.
    Unusable(String),
    /// The model, or a filter before it, will not write about this.
    Refused(&'static str),
}

/// The text of an answer, without what surrounds it.
pub(super) fn read(bytes: &[u8]) -> Result<LlmAnswer, Problem> {
    let answer: Value = serde_json::from_slice(bytes)
        .map_err(|e| Problem::Unusable(format!("not the expected JSON ({e})")))?;
    let Some(choice) = answer.get("choices").and_then(|choices| choices.get(0)) else {
        return Err(Problem::Unusable(without_choices(&answer, bytes)));
    };
    let reason = choice.get("finish_reason").and_then(Value::as_str).unwrap_or_default();
    let message = choice.get("message").unwrap_or(&Value::Null);
    if reason == "content_filter" {
        return Err(Problem::Refused("was stopped by the content filter of its server"));
    }
    if says(message.get("refusal")) {
        return Err(Problem::Refused("refused to write about this"));
    }
    if reason == "error" {
        return Err(Problem::Unusable("the model was interrupted while it wrote".to_owned()));
    }
    let text = match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) if parts.iter().any(|part| says(part.get("refusal"))) => {
            return Err(Problem::Refused("refused to write about this"));
        }
        Some(Value::Array(parts)) => parts.iter().filter_map(text_of).collect(),
        _ => String::new(),
    };
    let cut_short = reason == "length";
    let text = tidied(&text).to_owned();
    if text.is_empty() {
        let problem = if cut_short {
            "the model wrote nothing before it had written as much as it may"
        } else {
            "the model wrote nothing"
        };
        return Err(Problem::Unusable(problem.to_owned()));
    }
    let count = |name: &str| answer.get("usage")?.get(name)?.as_u64();
    Ok(LlmAnswer {
        text,
        input_tokens: count("prompt_tokens"),
        output_tokens: count("completion_tokens"),
        cut_short,
    })
}

fn says(refusal: Option<&Value>) -> bool {
    refusal.and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty())
}

/// The text of a part that is meant to be read; reasoning has another type.
fn text_of(part: &Value) -> Option<&str> {
    let kind = part.get("type").and_then(Value::as_str).unwrap_or("text");
    matches!(kind, "text" | "output_text").then(|| part.get("text")?.as_str()).flatten()
}

/// Some servers answer 200 and say in the body what went wrong.
fn without_choices(answer: &Value, bytes: &[u8]) -> String {
    let said = answer.get("error").map(|_| complaint(bytes)).unwrap_or_default();
    let said: String = said.chars().take(MAX_COMPLAINT).collect();
    if said.is_empty() { "it has no choices".to_owned() } else { format!("it is an error: {said}") }
}
