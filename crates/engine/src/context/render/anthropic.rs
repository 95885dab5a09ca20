//! A window as messages of Anthropic's API: the system text apart, user and assistant in turn. It
//! must not know the dialect a message came in.

use super::super::media::{Media, MediaKind, Source};
use super::super::part::{Call, Part};
use super::ids::{CallIds, spelled, tool_name};
use super::plan::{Answer, Utterance, plain_name, words};
use oneiro_model::{MessageId, Role};
use serde_json::{Map, Value, json};

/// Stands where a user message must be and none is.
const OPENING: &str = "(the conversation goes on)";

/// The system text, and the messages. What the host says first belongs to the system text; what it
/// says later stays in its place.
pub(super) fn render(
    system: Option<&str>,
    utterances: &[Utterance<'_>],
) -> (Option<String>, Vec<Value>) {
    let mut alternating = Alternating::default();
    let mut ids = CallIds::default();
    let leading = utterances.first().filter(|first| first.message.role.is_instructions());
    for utterance in utterances.iter().skip(usize::from(leading.is_some())) {
        match utterance.message.role {
            Role::Assistant => assistant(utterance, &mut ids, &mut alternating),
            _ => user(utterance, &mut alternating),
        }
    }
    let leading = leading.map(spoken);
    let texts: Vec<&str> = system.into_iter().chain(leading.as_deref()).collect();
    let system = (!texts.is_empty()).then(|| texts.join("\n\n"));
    (system, alternating.into_messages())
}

/// Blocks under the role that speaks them, neighbours of one role in one message.
#[derive(Default)]
struct Alternating {
    messages: Vec<(&'static str, Vec<Value>)>,
    /// Thinking that no other block of its message has followed yet: a message must not end on it.
    held: Vec<Value>,
}

impl Alternating {
    fn say(&mut self, role: &'static str, block: Value) {
        if self.messages.is_empty() && role == "assistant" {
            self.messages.push(("user", vec![text(OPENING)]));
        }
        let held = std::mem::take(&mut self.held);
        let blocks = held.into_iter().filter(|_| role == "assistant").chain([block]);
        match self.messages.last_mut() {
            Some((last, said)) if *last == role => said.extend(blocks),
            _ => self.messages.push((role, blocks.collect())),
        }
    }

    fn into_messages(self) -> Vec<Value> {
        let message = |(role, content)| json!({"role": role, "content": Value::Array(content)});
        self.messages.into_iter().map(message).collect()
    }
}

fn user(utterance: &Utterance<'_>, alternating: &mut Alternating) {
    if utterance.message.role.is_instructions() {
        let words = format!("<system>{}</system>", spoken(utterance));
        return alternating.say("user", text(&words));
    }
    let mut name = utterance.speaker().map(|name| format!("{}: ", plain_name(name)));
    for part in &utterance.parts {
        match (part, name.take()) {
            (Part::Text(words), name) => {
                alternating.say("user", text(&format!("{}{words}", name.unwrap_or_default())));
            }
            (_, name) => {
                if let Some(name) = name {
                    alternating.say("user", text(name.trim_end()));
                }
                if let Some(block) = shown(part, utterance.message.id) {
                    alternating.say("user", block);
                }
            }
        }
    }
}

fn assistant(utterance: &Utterance<'_>, ids: &mut CallIds, alternating: &mut Alternating) {
    let message = utterance.message.id;
    let mut calls = utterance.calls();
    let mut results = Vec::new();
    for part in &utterance.parts {
        match part {
            Part::Thinking(block) => alternating.held.push(thinking(block)),
            Part::Call(_) => {
                let Some((place, call, answer)) = calls.next() else { continue };
                let id = ids.give(call, (message, place), spelled);
                let (name, input) = (tool_name(call.name), input(call));
                let block = json!({"type": "tool_use", "id": id, "name": name, "input": input});
                alternating.say("assistant", block);
                results.push(tool_result(&id, answer));
            }
            _ => {
                if let Some(words) = words(part, message) {
                    alternating.say("assistant", text(&words));
                }
            }
        }
    }
    results.into_iter().for_each(|result| alternating.say("user", result));
}

fn tool_result(id: &str, answer: &Answer<'_>) -> Value {
    let content = answer.content.iter().filter_map(|part| shown(part, answer.from)).collect();
    let mut block = Map::new();
    block.insert("type".to_owned(), "tool_result".into());
    block.insert("tool_use_id".to_owned(), id.into());
    block.insert("content".to_owned(), Value::Array(content));
    if answer.is_error {
        block.insert("is_error".to_owned(), true.into());
    }
    block.into()
}

/// Arguments as an object. What is none is handed over as it was written.
fn input(call: &Call<'_>) -> Value {
    match call.arguments {
        Value::Object(_) => call.arguments.clone(),
        _ => {
            let written = call.arguments_text();
            match serde_json::from_str::<Value>(&written) {
                Ok(object @ Value::Object(_)) => object,
                _ => json!({"arguments": written}),
            }
        }
    }
}

/// A block of signed thinking, without what a host noted in it.
fn thinking(block: &Map<String, Value>) -> Value {
    let names = ["type", "thinking", "signature", "data"];
    let kept =
        names.iter().filter_map(|name| Some(((*name).to_owned(), block.get(*name)?.clone())));
    let mut kept: Map<String, Value> = kept.collect();
    if kept.get("type").and_then(Value::as_str) == Some("thinking") {
        kept.shift_remove("data");
        kept.entry("thinking").or_insert_with(|| "".into());
    } else {
        kept.retain(|name, _| matches!(name.as_str(), "type" | "data"));
    }
    kept.into()
}

fn spoken(utterance: &Utterance<'_>) -> String {
    let said = utterance.parts.iter().filter_map(|part| words(part, utterance.message.id));
    said.collect::<Vec<_>>().join("\n")
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

/// A part as a block of a user message or of a result.
fn shown(part: &Part<'_>, message: MessageId) -> Option<Value> {
    let media = match part {
        Part::Media(media) => sent(media),
        _ => None,
    };
    media.or_else(|| words(part, message).map(|words| text(&words)))
}

/// Media as the provider takes it, if it takes it at all.
fn sent(media: &Media<'_>) -> Option<Value> {
    let (kind, mimes): (&str, &[&str]) = match media.kind {
        MediaKind::Image => ("image", &["image/png", "image/jpeg", "image/gif", "image/webp"]),
        MediaKind::File => ("document", &["application/pdf"]),
        MediaKind::Audio => return None,
    };
    let source = match media.source {
        Source::Base64(data) => {
            let mime = media.mime.map(|mime| if mime == "image/jpg" { "image/jpeg" } else { mime });
            let mime = mime.filter(|mime| mimes.contains(mime))?;
            json!({"type": "base64", "media_type": mime, "data": data})
        }
        Source::Url(url) => json!({"type": "url", "url": url}),
        Source::AnthropicFile(id) => json!({"type": "file", "file_id": id}),
        Source::OpenaiFile(_) | Source::Missing => return None,
    };
    Some(json!({"type": kind, "source": source}))
}
