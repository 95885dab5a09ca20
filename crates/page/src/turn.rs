//! Renders one message: speaker, time, and each of its parts.

use crate::budget::{TEXT_BYTES, cost, cut};
use crate::call::{
    Answer, Call, call, format_json, kind_of_media, more, result, result_text, whole_result,
};
use crate::numbers::{counted, number};
use crate::text::{one_line, plain};
use crate::{learnt, link, markdown, when};
use maud::{Markup, html};
use oneiro::{Memory, Message, MessageId, Part, Role, Visibility, parts};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Messages that are read together: which result belongs to which call, and how much of each text
/// is shown.
#[derive(Debug, Default)]
pub struct Reading<'a> {
    /// Results by the message and the place of their call in it.
    answers: BTreeMap<(MessageId, usize), Answer<'a>>,
    /// Messages whose results are all shown below their calls.
    shown_with_calls: BTreeSet<MessageId>,
    /// What each text may take; everything is shown whole without it.
    room: Option<usize>,
    /// The message that the address names, which is open.
    at: Option<MessageId>,
    /// Messages that every window of the session shows.
    pinned: &'a [MessageId],
    /// What was learnt from the messages.
    learnt: Option<&'a BTreeMap<MessageId, Vec<Memory>>>,
    /// The messages are shown outside their conversation, so each links to its place there.
    links_to_conversation: bool,
}

impl<'a> Reading<'a> {
    /// Messages in their order.
    pub fn of(messages: &'a [Message], room: usize, at: Option<MessageId>) -> Reading<'a> {
        let mut reading = Reading { room: Some(room), at, ..Reading::default() };
        let mut waiting: BTreeMap<&str, (MessageId, usize)> = BTreeMap::new();
        for message in messages {
            let results = results_in(message);
            let mut paired = 0;
            for (id, answer) in &results {
                if let Some(call) = id.and_then(|id| waiting.remove(id)) {
                    reading.answers.insert(call, *answer);
                    paired += 1;
                }
            }
            if paired > 0 && paired == results.len() && has_only_results(message) {
                reading.shown_with_calls.insert(message.id);
            }
            for (nth, id) in call_ids(message).into_iter().enumerate() {
                // A host may use the same id again: the latest call is the one that is answered.
                id.map(|id| waiting.insert(id, (message.id, nth)));
            }
        }
        reading
    }

    /// With these of the messages marked as pinned.
    pub fn pinned(self, pinned: &'a [MessageId]) -> Reading<'a> {
        Reading { pinned, ..self }
    }

    /// With what was learnt beside the messages.
    pub fn learnt(self, learnt: &'a BTreeMap<MessageId, Vec<Memory>>) -> Reading<'a> {
        Reading { learnt: Some(learnt), ..self }
    }

    fn learnt_from(&self, message: MessageId) -> &[Memory] {
        self.learnt.and_then(|learnt| learnt.get(&message)).map_or(&[], Vec::as_slice)
    }

    /// For a view outside the conversation.
    pub fn linking_to_conversation(self) -> Reading<'a> {
        Reading { links_to_conversation: true, ..self }
    }

    fn is_pinned(&self, message: MessageId) -> bool {
        self.pinned.contains(&message)
    }

    /// Whether a message is shown elsewhere, with the calls that it answers.
    pub fn is_shown_with_calls(&self, message: &Message) -> bool {
        self.shown_with_calls.contains(&message.id)
    }
}

/// What the texts of a message take at most.
pub fn costs(message: &Message) -> Vec<usize> {
    let part = |part: Part<'_>| match part {
        Part::Text(text) | Part::Reasoning(text) | Part::Harness { text, .. } => {
            cost(text).min(TEXT_BYTES)
        }
        Part::ToolCall { arguments, .. } => cost(&format_json(arguments)).min(TEXT_BYTES),
        Part::ToolResult(value) => cost(&result_text(value)).min(crate::budget::RESULT.1),
        Part::Media(_) => 0,
    };
    parts(&message.role, &message.body).into_iter().map(part).filter(|cost| *cost > 0).collect()
}

/// Renders a message. `again` when the same one spoke just before.
pub fn article(message: &Message, reading: &Reading<'_>, again: bool) -> Markup {
    let class = match &message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        _ => "system",
    };
    let at = reading.at == Some(message.id);
    let href = if reading.links_to_conversation {
        link::at(&message.session_id, message.id)
    } else {
        link::message(message.id)
    };
    html! {
        article.turn.(class).again[again].found[at] id={ "m" (message.id) } {
            header {
                strong.who {
                    bdi { (speaker(&message.role, name_of(message))) }
                }
                " "
                a   href=(href)
                    title={ "Message " (message.id) ", " (when::exact(message.at)) }
                { (when::clock(message.at)) }
                @if message.visibility == Visibility::Compacted {
                    " "
                    span.badge { "compacted" }
                }
                @if reading.is_pinned(message.id) { (pin()) }
            }
            div.content {
                (body(message, reading))
                (learnt::section(reading.learnt_from(message.id)))
            }
        }
    }
}

/// The mark of a message that every window shows.
fn pin() -> Markup {
    html! {
        " "
        span.badge.pinned title="Included in every context window of this session" { "pinned" }
    }
}

/// The speaker, by name if there is one.
pub fn speaker(role: &Role, name: Option<&str>) -> Markup {
    let known = match role {
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::Tool => "Tool",
        Role::System => "System",
        Role::Developer => "Developer",
        Role::Other(other) => other,
    };
    html! {
        (plain(&one_line(name.unwrap_or(known), 40)))
    }
}

/// The speaker's name.
pub fn name_of(message: &Message) -> Option<&str> {
    message.body.get("name").and_then(Value::as_str).filter(|name| !name.trim().is_empty())
}

fn body(message: &Message, reading: &Reading<'_>) -> Markup {
    let folded = message.role.is_instructions() && reading.room.is_some();
    let parts = message_parts(message, reading);
    html! {
        @if folded {
            details.instructions open[reading.at == Some(message.id)] {
                summary { "System instructions" }
                (parts)
            }
        } @else { (parts) }
    }
}

fn message_parts(message: &Message, reading: &Reading<'_>) -> Markup {
    let (mut calls, mut results, mut texts) = (0, 0, 0);
    let mut part = |part: &Part<'_>| match part {
        Part::Text(content) => text(message, content, (next_index(&mut texts), reading.room)),
        Part::Reasoning(thought) => {
            let words = counted(thought.split_whitespace().count() as i64, "word");
            let thought = text(message, thought, (next_index(&mut texts), reading.room));
            html! {
                details.reasoning {
                    summary { "Reasoning, " (words) }
                    (thought)
                }
            }
        }
        Part::Harness { kind, text: harness } => {
            let harness = text(message, harness, (next_index(&mut texts), reading.room));
            // A message that is nothing else is folded as a whole.
            html! {
                @if message.role.is_instructions() { (harness) } @else {
                    details.harness {
                        summary { "Added by the agent harness: " (plain(&kind.replace('_', " "))) }
                        (harness)
                    }
                }
            }
        }
        Part::ToolCall { name, arguments } => tool_step(
            &Call { message: message.id, nth: next_index(&mut calls), name, arguments },
            reading,
        ),
        Part::ToolResult(value) => separate_result(
            &Answer { message: message.id, nth: next_index(&mut results), value },
            reading,
        ),
        Part::Media(block) => html! {
            p.media { (plain(&kind_of_media(block))) }
        },
    };
    let parts: Vec<Markup> = parts(&message.role, &message.body).iter().map(&mut part).collect();
    html! {
        @if parts.is_empty() {
            p.none { "Empty message." }
        }
        @for part in parts { (part) }
    }
}

/// Increments a counter and returns its value before.
fn next_index(count: &mut usize) -> usize {
    *count += 1;
    *count - 1
}

fn text(message: &Message, text: &str, (nth, room): (usize, Option<usize>)) -> Markup {
    let shown = room.and_then(|room| cut(text, room));
    let all = format!("Show all {} characters", number(text.chars().count() as i64));
    html! {
        @if !text.trim().is_empty() {
            div.words dir="auto" data-part={ "text-" (nth) } {
                (markdown::set(shown.unwrap_or(text)))
                @if shown.is_some() { (more(message.id, &all)) }
            }
        }
    }
}

fn tool_step(made: &Call<'_>, reading: &Reading<'_>) -> Markup {
    let room = reading.room.unwrap_or(usize::MAX);
    let answer = reading.answers.get(&(made.message, made.nth));
    let is_open = |answer: &Answer<'_>| reading.at == Some(answer.message);
    let is_first = |answer: &Answer<'_>| answer.nth == 0;
    html! {
        div.step {
            (call(made, room))
            @if let Some(answer) = answer {
                // The message that carried the result can be linked to here.
                div id=[is_first(answer).then(|| format!("m{}", answer.message))] {
                    (result(answer, room, is_open(answer)))
                    @if reading.is_pinned(answer.message) && is_first(answer) { (pin()) }
                }
            }
        }
    }
}

fn separate_result(answer: &Answer<'_>, reading: &Reading<'_>) -> Markup {
    match reading.room {
        Some(room) => {
            let open = reading.at == Some(answer.message);
            html! {
                div.step { (result(answer, room, open)) }
            }
        }
        None => html! {
            div.step { (whole_result(answer)) }
        },
    }
}

/// The ids of the calls that a message makes, in the order of its parts.
fn call_ids(message: &Message) -> Vec<Option<&str>> {
    let blocks = message.body.get("content").and_then(Value::as_array);
    let uses = blocks.into_iter().flatten().filter(|block| has_type(block, "tool_use"));
    let calls = message.body.get("tool_calls").and_then(Value::as_array);
    let all = uses.chain(calls.into_iter().flatten());
    all.map(|call| call.get("id").and_then(Value::as_str)).collect()
}

fn results_in(message: &Message) -> Vec<(Option<&str>, Answer<'_>)> {
    let answer = |nth, value| Answer { message: message.id, nth, value };
    if message.role == Role::Tool {
        let id = message.body.get("tool_call_id").and_then(Value::as_str);
        return message
            .body
            .get("content")
            .map(|value| (id, answer(0, value)))
            .into_iter()
            .collect();
    }
    let blocks = message.body.get("content").and_then(Value::as_array);
    let results = blocks.into_iter().flatten().filter(|block| has_type(block, "tool_result"));
    let results = results.enumerate().map(|(nth, block)| {
        let id = block.get("tool_use_id").and_then(Value::as_str);
        (id, answer(nth, block.get("content").unwrap_or(&Value::Null)))
    });
    results.collect()
}

fn has_only_results(message: &Message) -> bool {
    parts(&message.role, &message.body).iter().all(|part| matches!(part, Part::ToolResult(_)))
}

fn has_type(block: &Value, name: &str) -> bool {
    block.get("type").and_then(Value::as_str) == Some(name)
}
