//! A window as messages of OpenAI's chat completions, with the fields that every server of that
//! protocol accepts. It must not know the dialect a message came in.

use super::super::media::{Media, MediaKind, Source};
use super::super::part::{Call, Part};
use super::ids::{CallIds, is_valid_name, tool_name};
use super::plan::{Utterance, plain_name, words, words_of};
use oneiro_model::{MessageId, Role};
use serde_json::{Map, Value, json};

/// The system text first, then the messages, each call followed by its answer.
pub(super) fn render(system: Option<&str>, utterances: &[Utterance<'_>]) -> Vec<Value> {
    let mut out = Vec::new();
    out.extend(system.map(|text| json!({"role": "system", "content": text})));
    for utterance in utterances {
        match &utterance.message.role {
            Role::Assistant => assistant(utterance, &mut out),
            Role::System | Role::Developer => instructions(utterance, &mut out),
            Role::User | Role::Tool | Role::Other(_) => user(utterance, &mut out),
        }
    }
    out
}

fn message(role: &str, utterance: &Utterance<'_>, content: Value) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("role".to_owned(), role.into());
    if let Some(name) = utterance.speaker().filter(|name| is_valid_name(name)) {
        fields.insert("name".to_owned(), name.into());
    }
    fields.insert("content".to_owned(), content);
    fields
}

fn instructions(utterance: &Utterance<'_>, out: &mut Vec<Value>) {
    if let Some(text) = spoken(utterance) {
        out.push(message("system", utterance, text.into()).into());
    }
}

fn user(utterance: &Utterance<'_>, out: &mut Vec<Value>) {
    // A name that the field does not take is put in front of the words.
    let name = utterance.speaker().filter(|name| !is_valid_name(name)).map(plain_name);
    let has_media = utterance.parts.iter().any(|part| matches!(part, Part::Media(_)));
    let content: Value = match (has_media, name) {
        (false, None) => spoken(utterance).map(Value::from).unwrap_or_default(),
        (false, Some(name)) => {
            spoken(utterance).map(|text| format!("{name}: {text}").into()).unwrap_or_default()
        }
        (true, name) => {
            let name = name.map(|name| json!({"type": "text", "text": format!("{name}:")}));
            let parts = utterance.parts.iter().filter_map(|part| shown(part, utterance.message.id));
            name.into_iter().chain(parts).collect()
        }
    };
    if !content.is_null() {
        out.push(message("user", utterance, content).into());
    }
}

fn assistant(utterance: &Utterance<'_>, out: &mut Vec<Value>) {
    let content = spoken(utterance).map(Value::from).unwrap_or_default();
    let mut ids = CallIds::default();
    let (call_ids, calls): (Vec<String>, Vec<Value>) = utterance
        .calls()
        .map(|(place, call, _)| {
            let id = ids.give(call, (utterance.message.id, place), str::to_owned);
            let made = tool_call(&id, call);
            (id, made)
        })
        .unzip();
    if content.is_null() && calls.is_empty() {
        return;
    }
    let mut fields = message("assistant", utterance, content);
    if !calls.is_empty() {
        fields.insert("tool_calls".to_owned(), calls.into());
    }
    out.push(fields.into());
    // Tools answer in words alone, so what they showed follows as if the user showed it, under the
    // handles that stand in the answers.
    let mut pictures = Vec::new();
    for (id, (_, _, answer)) in call_ids.iter().zip(utterance.calls()) {
        out.push(json!({"role": "tool", "tool_call_id": id, "content": words_of(answer)}));
        for part in &answer.content {
            if let Part::Media(media) = part
                && let Some(sent) = sent(media)
            {
                pictures.push(json!({"type": "text", "text": media.handle(answer.from)}));
                pictures.push(sent);
            }
        }
    }
    if !pictures.is_empty() {
        out.push(json!({"role": "user", "content": pictures}));
    }
}

fn tool_call(id: &str, call: &Call<'_>) -> Value {
    let function = json!({"name": tool_name(call.name), "arguments": call.arguments_text()});
    json!({"id": id, "type": "function", "function": function})
}

/// All that is said in words, with a handle for what is not.
fn spoken(utterance: &Utterance<'_>) -> Option<String> {
    let mut said = utterance.parts.iter().filter_map(|part| words(part, utterance.message.id));
    let mut text = said.next()?.into_owned();
    for more in said {
        text.push('\n');
        text.push_str(&more);
    }
    Some(text)
}

/// A part as a content part of a user message.
fn shown(part: &Part<'_>, message: MessageId) -> Option<Value> {
    let media = match part {
        Part::Media(media) => sent(media),
        _ => None,
    };
    media.or_else(|| words(part, message).map(|text| json!({"type": "text", "text": text})))
}

/// Media as the provider takes it, if it takes it at all.
fn sent(media: &Media<'_>) -> Option<Value> {
    match (media.kind, media.source) {
        (MediaKind::Image, Source::Base64(data)) => {
            let mime = media.mime.filter(|mime| mime.starts_with("image/"))?;
            Some(image(media, &format!("data:{mime};base64,{data}")))
        }
        (MediaKind::Image, Source::Url(url)) => Some(image(media, url)),
        (MediaKind::Audio, Source::Base64(data)) => {
            let format = match media.mime? {
                "audio/wav" | "audio/x-wav" => "wav",
                "audio/mpeg" | "audio/mp3" => "mp3",
                _ => return None,
            };
            Some(json!({"type": "input_audio", "input_audio": {"data": data, "format": format}}))
        }
        (MediaKind::File, Source::Base64(data)) => {
            let mime = media.mime.unwrap_or("application/pdf");
            let name = media.name.unwrap_or("file");
            let data = format!("data:{mime};base64,{data}");
            Some(json!({"type": "file", "file": {"filename": name, "file_data": data}}))
        }
        (MediaKind::File, Source::OpenaiFile(id)) => {
            Some(json!({"type": "file", "file": {"file_id": id}}))
        }
        _ => None,
    }
}

fn image(media: &Media<'_>, url: &str) -> Value {
    match media.detail.filter(|detail| matches!(*detail, "auto" | "low" | "high")) {
        Some(detail) => json!({"type": "image_url", "image_url": {"url": url, "detail": detail}}),
        None => json!({"type": "image_url", "image_url": {"url": url}}),
    }
}
