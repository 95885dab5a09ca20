//! Describes tool calls in words: `ran cargo test`. Repeated calls become one sentence with a count
//! and the last outcome: `ran cargo test 11 times, last: 3 failed`.

use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::SourceMessage;
use crate::cues::{Cue, cues};
use crate::utterance::is_tool;

/// The start of a line that calls a tool.
const CALL_PREFIX: &str = "called ";

/// Arguments that name the subject of a call, the most specific first.
const SUBJECT_ARGUMENTS: [&str; 12] = [
    "command",
    "cmd",
    "path",
    "file_path",
    "file",
    "filename",
    "url",
    "query",
    "pattern",
    "text",
    "name",
    "id",
];

/// Maximum bytes shown of an argument, and of an outcome.
const MAX_ARGUMENT_BYTES: usize = 120;
const MAX_OUTCOME_BYTES: usize = 120;

/// Bytes at the end of a result that are searched for its outcome.
const RESULT_TAIL_BYTES: usize = 4 << 10;

/// The messages that call tools, by index.
#[derive(Debug, Default)]
pub(crate) struct Calls(FxHashMap<usize, CallingMessage>);

/// A message that calls tools.
#[derive(Debug, Default)]
pub(crate) struct CallingMessage {
    /// What else it says.
    pub words: String,
    /// Its calls, each a sentence; those that were made again later are left out.
    pub calls: Vec<CallSentence>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CallSentence {
    pub text: String,
    pub is_repeated: bool,
}

/// A call in a message.
struct FoundCall {
    message: usize,
    text: String,
    result: Option<usize>,
}

impl Calls {
    pub fn of(said: &[SourceMessage<'_>]) -> Calls {
        let mut calls = Calls::default();
        let mut found_calls: Vec<FoundCall> = Vec::new();
        // Calls that no result has come for yet.
        let mut waiting = 0..0;
        for (index, message) in said.iter().enumerate() {
            if is_tool(message.speaker) {
                if let Some(call) = waiting.next().and_then(|call: usize| found_calls.get_mut(call))
                {
                    call.result = Some(index);
                }
                continue;
            }
            let first = found_calls.len();
            if let Some(words) = take_calls(message.text, |text| {
                found_calls.push(FoundCall { message: index, text, result: None });
            }) {
                calls.0.insert(index, CallingMessage { words, calls: Vec::new() });
            }
            waiting = first..found_calls.len();
        }
        let mut times: FxHashMap<&str, usize> = FxHashMap::default();
        for call in &found_calls {
            *times.entry(&call.text).or_default() += 1;
        }
        let mut left = times.clone();
        for call in &found_calls {
            let Some(left) = left.get_mut(call.text.as_str()) else { continue };
            *left -= 1;
            // The last time stands for all.
            let Some(message) = calls.0.get_mut(&call.message).filter(|_| *left == 0) else {
                continue;
            };
            let count = times.get(call.text.as_str()).copied().unwrap_or(1);
            let result = call.result.and_then(|index| said.get(index)).map(|said| said.text);
            message.calls.push(call_sentence(&call.text, count, result.and_then(outcome)));
        }
        calls
    }

    /// The message at a index, if it calls tools.
    pub fn at(&self, index: usize) -> Option<&CallingMessage> {
        self.0.get(&index)
    }
}

fn call_sentence(text: &str, count: usize, outcome: Option<&str>) -> CallSentence {
    let text = match (count, outcome) {
        (1, _) => text.to_owned(),
        (_, None) => format!("{text} {count} times"),
        (_, Some(outcome)) => format!("{text} {count} times, last: {outcome}"),
    };
    CallSentence { text, is_repeated: count > 1 }
}

/// Calls `each` with the calls of a message; returns its other lines, or `None` without calls.
fn take_calls(text: &str, mut each: impl FnMut(String)) -> Option<String> {
    if !text.contains(CALL_PREFIX) {
        return None;
    }
    let mut words = String::new();
    let mut found = false;
    for line in text.lines() {
        match describe_call(line) {
            Some(text) => {
                found = true;
                each(text);
            }
            None => {
                words.push_str(line);
                words.push('\n');
            }
        }
    }
    found.then_some(words)
}

/// A line that calls a tool, in words.
fn describe_call(line: &str) -> Option<String> {
    let (name, arguments) = line.strip_prefix(CALL_PREFIX)?.split_once(' ')?;
    let arguments: Value = match arguments.as_bytes().first()? {
        b'{' | b'[' => serde_json::from_str(arguments).unwrap_or(Value::Null),
        // Prose: "called my sister".
        _ => return None,
    };
    let subject = SUBJECT_ARGUMENTS.iter().find_map(|key| Some((*key, arguments.get(key)?)));
    let first = || arguments.as_object()?.iter().find(|(_, value)| value.is_string());
    let subject = subject.or_else(|| first().map(|(key, value)| (key.as_str(), value)));
    let Some((key, value)) = subject else { return Some(format!("called {name}")) };
    let value = match value {
        Value::String(text) => text.clone(),
        // `bash -lc` and the like before what is run.
        Value::Array(words) => words.last().and_then(Value::as_str).unwrap_or_default().to_owned(),
        other => other.to_string(),
    };
    let value = value.lines().next().unwrap_or_default().trim();
    Some(if matches!(key, "command" | "cmd") {
        format!("ran {}", truncate(without_pipes(value), MAX_ARGUMENT_BYTES))
    } else {
        format!("called {name} {}", truncate(value, MAX_ARGUMENT_BYTES))
    })
}

/// A command without what only shortens its output.
fn without_pipes(command: &str) -> &str {
    let end = [" 2>", " | tail", " | head"].iter().filter_map(|mark| command.find(mark)).min();
    command.get(..end.unwrap_or(command.len())).unwrap_or(command)
}

/// The outcome of a result: its last line about success or failure, or its last line.
fn outcome(result: &str) -> Option<&str> {
    let end =
        result.get(result.ceil_char_boundary(result.len().saturating_sub(RESULT_TAIL_BYTES))..)?;
    let lines =
        || end.lines().rev().map(str::trim).filter(|line| line.contains(char::is_alphanumeric));
    let is_informative = |line: &&str| {
        let mut found = false;
        cues(line, |_, cue| found |= matches!(cue, Cue::Outcome | Cue::Error));
        found
    };
    let line = lines().find(is_informative).or_else(|| lines().next())?;
    Some(truncate(line, MAX_OUTCOME_BYTES).trim_end_matches(['.', ' ']))
}

fn truncate(text: &str, limit: usize) -> &str {
    text.get(..text.floor_char_boundary(limit)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source_message<'a>(speaker: &'a str, text: &'a str) -> SourceMessage<'a> {
        SourceMessage { speaker, text, day: None }
    }

    #[test]
    fn calls_are_told_in_words() {
        for (line, expected) in [
            (r#"called bash {"command":"cargo test 2>&1 | tail -5"}"#, Some("ran cargo test")),
            (r#"called shell {"cmd":["bash","-lc","ls src"]}"#, Some("ran ls src")),
            (r#"called edit {"new":"x","path":"src/a.rs"}"#, Some("called edit src/a.rs")),
            (r#"called look_up {"city":"Oslo"}"#, Some("called look_up Oslo")),
            (r#"called list {}"#, Some("called list")),
            (r#"called list {"cut…"#, Some("called list")),
            ("called my sister", None),
            ("She called bash {", None),
        ] {
            assert_eq!(describe_call(line).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn the_same_call_is_told_once_with_its_count_and_last_outcome() {
        let call = r#"called bash {"command":"cargo test"}"#;
        let said = [
            source_message("assistant", call),
            source_message("tool bash", "test a ... FAILED\n4 failed"),
            source_message("assistant", "I try again.\ncalled bash {\"command\":\"cargo test\"}"),
            source_message("tool bash", "test result: FAILED. 3 failed."),
            source_message("assistant", r#"called read {"path":"a.rs"}"#),
        ];
        let calls = Calls::of(&said);
        assert!(calls.at(0).unwrap().calls.is_empty());
        let last = calls.at(2).unwrap();
        assert_eq!(last.words, "I try again.\n");
        assert_eq!(
            last.calls,
            [CallSentence {
                text: "ran cargo test 2 times, last: test result: FAILED. 3 failed".to_owned(),
                is_repeated: true
            }]
        );
        assert_eq!(calls.at(4).unwrap().calls[0].text, "called read a.rs");
        assert!(calls.at(1).is_none());
    }
}
