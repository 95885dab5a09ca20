//! Windows as providers accept them, whatever dialect the messages came in. It owns what a valid
//! request is; it must not know budgets, summaries or stores.

mod anthropic;
mod ids;
mod openai;
mod plan;
#[cfg(test)]
mod tests;
mod text;

use super::form::{Form, short};
use oneiro_model::{Message, MessageId, WindowFormat};
use plan::Plan;
use serde_json::Value;
use std::borrow::Cow;

/// What to render.
pub(crate) struct RenderRequest<'a> {
    /// The system prompt and the summaries, as one text; blank for none.
    pub system: &'a str,
    /// Messages in the order in which they were said, each with the form it is shown in.
    pub messages: &'a [(Message, Form)],
    /// Whose messages to write.
    pub format: WindowFormat,
}

/// A window as its format has it.
///
/// More messages only add to it: the rendering of the first messages is a prefix of the rendering
/// of all (of the blocks in them, where the last message of Anthropic's may grow), unless `late`.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Rendered {
    /// The system text, where the format has it apart from the messages.
    pub system: Option<String>,
    /// The messages; of the format `text`, a string to each.
    pub messages: Vec<Value>,
    /// What is left out because a call in it, or before it, still waits for its result.
    pub pending: Vec<MessageId>,
    /// Messages with results that answer no call; those results are left out.
    pub unpaired: Vec<MessageId>,
    /// Calls without a result, which got a placeholder.
    pub placeholders: usize,
    /// Results that came after somebody had spoken, so that an earlier window may have shown a
    /// placeholder in their place. A placeholder alone changes nothing: the call was pending before.
    pub late: usize,
}

impl Rendered {
    /// The window as one text: the transcript of the format `text`, JSON lines of the others.
    pub(crate) fn text(&self) -> String {
        let lines: Vec<Cow<'_, str>> = self
            .messages
            .iter()
            .map(|message| match message {
                Value::String(text) => Cow::Borrowed(text.as_str()),
                other => Cow::Owned(other.to_string()),
            })
            .collect();
        lines.join("\n")
    }
}

/// Renders a window.
pub(crate) fn render(request: &RenderRequest<'_>) -> Rendered {
    let formed: Vec<Cow<'_, Message>> = request
        .messages
        .iter()
        .map(|(message, form)| match form {
            Form::Full => Cow::Borrowed(message),
            Form::Short => short(message),
        })
        .collect();
    let plan = Plan::of(&formed);
    let system = Some(request.system).filter(|text| !text.trim().is_empty());
    let (system, messages) = match request.format {
        WindowFormat::Openai => (None, openai::render(system, &plan.utterances)),
        WindowFormat::Anthropic => anthropic::render(system, &plan.utterances),
        WindowFormat::Text => (None, text::render(system, &plan.utterances)),
    };
    Rendered {
        system,
        messages,
        pending: plan.pending,
        unpaired: plan.unpaired,
        placeholders: plan.placeholders,
        late: plan.late,
    }
}
