//! Made-up conversations of an agent at work: somebody asks, the agent calls a tool, reads what it
//! answers, and answers. It must not know stores.

use crate::text::{MESSAGE_WORDS as WORDS, Text};
use oneiro::{NewMessage, Result, Timestamp};
use serde_json::{Value, json};

/// The words that are said most. Real ones, because a model's tokens are made for them.
const COMMON: &[&str] = &[
    "the", "to", "and", "of", "a", "in", "we", "is", "for", "that", "it", "on", "with", "file",
    "test", "error", "this", "from", "be", "not", "when", "build", "line", "run", "function", "as",
    "change", "you", "are", "server", "by", "can", "should", "an", "or", "value", "all", "if",
    "request", "was", "but", "after", "before", "will", "message", "fails", "now", "which", "time",
    "table", "has", "one", "new", "user", "there", "because", "only", "then", "code", "index",
    "session", "query", "no", "two", "old", "same", "memory", "release", "next", "what", "first",
    "list", "check", "wrong", "page", "deploy", "branch", "number", "name", "token", "large",
    "small", "read", "write", "fixed", "still", "every", "command", "output", "version", "between",
    "returns", "does", "more", "than", "last", "into", "called", "without", "config", "second",
    "machine", "database", "thread", "left", "right", "under", "over", "again", "since",
    "database", "decided", "slow", "fast", "cache", "key", "where", "row", "text", "open", "close",
];

/// Messages of one turn.
pub(crate) const TURN: usize = 4;

/// When made-up conversations begin, in microseconds.
const BEGIN: i64 = 1_700_000_000_000_000;

/// A message to append, as JSON, and how many bytes of text are in it.
#[derive(Clone)]
pub(crate) struct Made {
    pub(crate) json: Value,
    pub(crate) bytes: usize,
}

impl Made {
    /// As the engine takes it.
    pub(crate) fn message(&self) -> Result<NewMessage> {
        NewMessage::from_json(self.json.clone())
    }

    /// The body as a store keeps it: without role and time.
    pub(crate) fn body(&self) -> String {
        let mut body = self.json.as_object().cloned().unwrap_or_default();
        body.remove("role");
        body.remove("at");
        Value::Object(body).to_string()
    }

    /// The words of it.
    pub(crate) fn content(&self) -> &str {
        self.json.get("content").and_then(Value::as_str).unwrap_or_default()
    }
}

/// A conversation that goes on for as long as it is asked to, the same for the same seed.
pub(crate) struct Said {
    text: Text,
    turns: usize,
}

impl Said {
    pub(crate) fn new(seed: u64) -> Said {
        Said { text: Text::beginning_with(COMMON, seed), turns: 0 }
    }

    /// A turn of [`TURN`] messages of [`WORDS`] words.
    pub(crate) fn turn(&mut self) -> Vec<Made> {
        self.turns += 1;
        let turn = self.turns;
        let at = |second: i64| {
            Timestamp::from_micros(BEGIN + (turn as i64 * 60 + second) * 1_000_000).to_string()
        };
        let arguments = format!("{{\"path\":\"src/part_{turn:06}.rs\"}}");
        let call = format!("call_{turn}");
        let texts: Vec<String> = (0..TURN).map(|_| self.sentences(WORDS)).collect();
        let [asked, says, result, answer] = texts.as_slice() else { return Vec::new() };
        let made = |json: Value, bytes: usize| Made { json, bytes };
        vec![
            made(json!({"role": "user", "content": asked, "at": at(0)}), asked.len()),
            made(
                json!({"role": "assistant", "content": says, "at": at(5), "tool_calls": [{
                    "id": call, "type": "function",
                    "function": {"name": "read_file", "arguments": arguments}}]}),
                says.len() + arguments.len(),
            ),
            made(
                json!({"role": "tool", "tool_call_id": call, "content": result, "at": at(6)}),
                result.len(),
            ),
            made(json!({"role": "assistant", "content": answer, "at": at(9)}), answer.len()),
        ]
    }

    /// Turns, until there are at least this many messages.
    pub(crate) fn messages(&mut self, count: usize) -> Vec<Made> {
        let mut made = Vec::with_capacity(count + TURN);
        while made.len() < count {
            made.append(&mut self.turn());
        }
        made
    }

    /// Something a person said, of this many words.
    pub(crate) fn words(&mut self, count: usize) -> Made {
        self.turns += 1;
        let at = Timestamp::from_micros(BEGIN + self.turns as i64 * 60_000_000).to_string();
        let content = self.sentences(count);
        let bytes = content.len();
        Made { json: json!({"role": "user", "content": content, "at": at}), bytes }
    }

    fn sentences(&mut self, words: usize) -> String {
        let mut text = String::with_capacity(words * 7);
        let mut left = 0;
        for index in 0..words {
            let begins = left == 0;
            if begins {
                if index > 0 {
                    text.push_str(if self.text.below(8) == 0 { "?" } else { "." });
                }
                left = 8 + self.text.below(9);
            }
            if index > 0 {
                text.push(' ');
            }
            if self.text.below(25) == 0 {
                text.push_str(&self.text.below(5_000).to_string());
            } else {
                let word = self.text.word();
                let (first, rest) = word.split_at(usize::from(begins).min(word.len()));
                text.push_str(&first.to_ascii_uppercase());
                text.push_str(rest);
            }
            left -= 1;
        }
        text.push('.');
        text
    }
}
