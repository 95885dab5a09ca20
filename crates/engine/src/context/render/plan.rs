//! What a window says and in which order, for every format: calls with their answers right behind
//! them, nothing that still waits, nothing that answers nobody. It must not know providers.

use super::super::pairs::{Pairs, Ties, pair};
use super::super::part::{Call, Part, ToolResult, parts};
use oneiro_model::{Message, MessageId, Role};
use serde_json::Value;
use std::borrow::Cow;

/// Stands for a result that never came.
pub(super) const NO_RESULT: &str = "[no result was recorded]";
/// Stands for a result without content: providers refuse to be told nothing.
pub(super) const EMPTY_RESULT: &str = "[empty result]";

/// The longest name that a speaker is given in front of their words.
const NAME: usize = 64;

/// One message of a window: what was said, and the answers to the calls in it.
pub(super) struct Utterance<'a> {
    pub message: &'a Message,
    /// Everything but results, in order; never empty.
    pub parts: Vec<Part<'a>>,
    /// One to each call among the parts, in their order.
    pub answers: Vec<Answer<'a>>,
}

/// The answer to a call.
pub(super) struct Answer<'a> {
    /// The message that brought it; that of the call where none came.
    pub from: MessageId,
    /// Text and media; never empty.
    pub content: Vec<Part<'a>>,
    pub is_error: bool,
}

/// Everything that a window says.
#[derive(Default)]
pub(super) struct Plan<'a> {
    pub utterances: Vec<Utterance<'a>>,
    pub pending: Vec<MessageId>,
    pub unpaired: Vec<MessageId>,
    pub placeholders: usize,
    pub late: usize,
}

impl<'a> Plan<'a> {
    /// Plans a window of messages in the order in which they were said.
    pub(super) fn of(messages: &'a [Cow<'_, Message>]) -> Plan<'a> {
        let mut spoken: Vec<Vec<Part<'a>>> = Vec::new();
        let mut results: Vec<Vec<Option<ToolResult<'a>>>> = Vec::new();
        let mut ties = Vec::new();
        for message in messages {
            let parts = parts(message);
            ties.push(Ties::of_parts(&message.role, &parts));
            let (mut said, mut answered) = (Vec::new(), Vec::new());
            for part in parts {
                match part {
                    Part::Result(result) => answered.push(Some(result)),
                    other => said.push(other),
                }
            }
            spoken.push(said);
            results.push(answered);
        }
        let pairs = pair(&ties);
        let end = pairs.pending.unwrap_or(messages.len());
        let mut plan = Plan { late: pairs.late, ..Plan::default() };
        let said = messages.iter().zip(spoken).zip(&pairs.answers).take(end);
        for ((message, parts), answers) in said {
            let answers: Vec<Answer<'a>> = answers
                .iter()
                .map(|spot| {
                    let found = spot.and_then(|(at, place)| {
                        let result = results.get_mut(at)?.get_mut(place)?.take()?;
                        Some(Answer::given(messages.get(at)?.id, result))
                    });
                    plan.placeholders += usize::from(found.is_none());
                    found.unwrap_or_else(|| Answer::missing(message.id))
                })
                .collect();
            if !parts.is_empty() {
                plan.utterances.push(Utterance { message, parts, answers });
            }
        }
        plan.report(messages, &ties, &pairs);
        plan
    }

    /// Names the messages that are not shown, or not with all of their results.
    fn report(&mut self, messages: &[Cow<'_, Message>], ties: &[Ties], pairs: &Pairs) {
        let id = |at: usize| messages.get(at).map(|message| message.id);
        self.unpaired = pairs.unpaired.iter().filter_map(|(at, _)| id(*at)).collect();
        self.unpaired.dedup();
        let Some(first) = pairs.pending else { return };
        let mut waits: Vec<usize> = (first..messages.len())
            .filter(|at| ties.get(*at).is_some_and(|tied| tied.results.is_empty()))
            .collect();
        let answers = pairs.answers.iter().skip(first).flatten().flatten();
        waits.extend(answers.map(|(at, _)| *at));
        waits.sort_unstable();
        waits.dedup();
        self.pending = waits.into_iter().filter_map(id).collect();
    }
}

impl<'a> Answer<'a> {
    fn given(from: MessageId, result: ToolResult<'a>) -> Answer<'a> {
        let content = if result.content.is_empty() {
            vec![Part::Text(EMPTY_RESULT.into())]
        } else {
            result.content
        };
        Answer { from, content, is_error: result.is_error }
    }

    fn missing(from: MessageId) -> Answer<'a> {
        Answer { from, content: vec![Part::Text(NO_RESULT.into())], is_error: false }
    }
}

impl<'a> Utterance<'a> {
    /// Each call with its place among the calls, and its answer.
    pub(super) fn calls(&self) -> impl Iterator<Item = (usize, &Call<'a>, &Answer<'a>)> {
        let calls = self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        });
        calls.zip(&self.answers).enumerate().map(|(place, (call, answer))| (place, call, answer))
    }

    /// Who speaks, if the message says more than its role does; a role that nobody knows is a name.
    pub(super) fn speaker(&self) -> Option<&'a str> {
        let name = self.message.body.get("name").and_then(Value::as_str);
        let name = name.filter(|name| !name.trim().is_empty());
        match &self.message.role {
            Role::Other(role) => name.or(Some(role)),
            _ => name,
        }
    }
}

/// A name as it is put in front of words: on one line, and no longer than a name.
pub(super) fn plain_name(name: &str) -> String {
    let one_line = name.split(|c: char| c.is_control() || c.is_whitespace());
    let words: Vec<&str> = one_line.filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(NAME).collect()
}

/// The words of an answer on lines of their own, with a handle for what has none.
pub(super) fn words_of(answer: &Answer<'_>) -> String {
    let lines: Vec<Cow<'_, str>> =
        answer.content.iter().filter_map(|part| words(part, answer.from)).collect();
    lines.join("\n")
}

/// The words of a part, or the handle of media.
pub(super) fn words<'a>(part: &'a Part<'_>, message: MessageId) -> Option<Cow<'a, str>> {
    match part {
        Part::Text(text) => Some(Cow::Borrowed(text)),
        Part::Media(media) => Some(Cow::Owned(media.handle(message))),
        Part::Thinking(_) | Part::Call(_) | Part::Result(_) => None,
    }
}
