//! Calls of tools as an extract tells them: `ran cargo test`, and the same call again and again as a
//! count with its last outcome: `ran cargo test 11 times, last: 3 failed`.

use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::Said;
use crate::cues::{Cue, cues};
use crate::utterance::is_tool;

/// What a line that calls a tool begins with.
const CALLED: &str = "called ";

/// Arguments that say what a call was about, the most telling first.
const TELLING: [&str; 12] = [
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

/// Bytes of an argument, and of an outcome, that are told.
const LONGEST_ARGUMENT: usize = 120;
const LONGEST_OUTCOME: usize = 120;

/// Bytes at the end of a result that its outcome is looked for in.
const RESULT_END: usize = 4 << 10;

/// The messages that call tools, by their place among all.
#[derive(Debug, Default)]
pub(crate) struct Calls(FxHashMap<usize, CallingMessage>);

/// A message that calls tools.
#[derive(Debug, Default)]
pub(crate) struct CallingMessage {
    /// What else it says.
    pub words: String,
    /// Its calls, each a sentence; those that were made again later are left out.
    pub calls: Vec<ToldCall>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ToldCall {
    pub text: String,
    pub is_repeated: bool,
}

/// A call as it was made.
struct Made {
    message: usize,
    told: String,
    result: Option<usize>,
}

impl Calls {
    pub fn of(said: &[Said<'_>]) -> Calls {
        let mut calls = Calls::default();
        let mut made: Vec<Made> = Vec::new();
        // Calls that no result has come for yet.
        let mut waiting = 0..0;
        for (place, said_now) in said.iter().enumerate() {
            if is_tool(said_now.speaker) {
                if let Some(call) = waiting.next().and_then(|call: usize| made.get_mut(call)) {
                    call.result = Some(place);
                }
                continue;
            }
            let first = made.len();
            if let Some(words) = take_calls(said_now.text, |told| {
                made.push(Made { message: place, told, result: None });
            }) {
                calls.0.insert(place, CallingMessage { words, calls: Vec::new() });
            }
            waiting = first..made.len();
        }
        let mut times: FxHashMap<&str, usize> = FxHashMap::default();
        for call in &made {
            *times.entry(&call.told).or_default() += 1;
        }
        let mut left = times.clone();
        for call in &made {
            let Some(left) = left.get_mut(call.told.as_str()) else { continue };
            *left -= 1;
            // The last time stands for all.
            let Some(message) = calls.0.get_mut(&call.message).filter(|_| *left == 0) else {
                continue;
            };
            let count = times.get(call.told.as_str()).copied().unwrap_or(1);
            let result = call.result.and_then(|place| said.get(place)).map(|said| said.text);
            message.calls.push(told_call(&call.told, count, result.and_then(outcome)));
        }
        calls
    }

    /// The message at a place, if it calls tools.
    pub fn at(&self, place: usize) -> Option<&CallingMessage> {
        self.0.get(&place)
    }
}

fn told_call(told: &str, count: usize, outcome: Option<&str>) -> ToldCall {
    let text = match (count, outcome) {
        (1, _) => told.to_owned(),
        (_, None) => format!("{told} {count} times"),
        (_, Some(outcome)) => format!("{told} {count} times, last: {outcome}"),
    };
    ToldCall { text, is_repeated: count > 1 }
}

/// Hands out the calls of a message; returns its other lines, if there are any calls.
fn take_calls(text: &str, mut each: impl FnMut(String)) -> Option<String> {
    if !text.contains(CALLED) {
        return None;
    }
    let mut words = String::new();
    let mut found = false;
    for line in text.lines() {
        match told(line) {
            Some(told) => {
                found = true;
                each(told);
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
fn told(line: &str) -> Option<String> {
    let (name, arguments) = line.strip_prefix(CALLED)?.split_once(' ')?;
    let arguments: Value = match arguments.as_bytes().first()? {
        b'{' | b'[' => serde_json::from_str(arguments).unwrap_or(Value::Null),
        // Prose: "called my sister".
        _ => return None,
    };
    let telling = TELLING.iter().find_map(|key| Some((*key, arguments.get(key)?)));
    let first = || arguments.as_object()?.iter().find(|(_, value)| value.is_string());
    let telling = telling.or_else(|| first().map(|(key, value)| (key.as_str(), value)));
    let Some((key, value)) = telling else { return Some(format!("called {name}")) };
    let value = match value {
        Value::String(text) => text.clone(),
        // `bash -lc` and the like before what is run.
        Value::Array(words) => words.last().and_then(Value::as_str).unwrap_or_default().to_owned(),
        other => other.to_string(),
    };
    let value = value.lines().next().unwrap_or_default().trim();
    Some(if matches!(key, "command" | "cmd") {
        format!("ran {}", clipped(without_pipes(value), LONGEST_ARGUMENT))
    } else {
        format!("called {name} {}", clipped(value, LONGEST_ARGUMENT))
    })
}

/// A command without what only shortens its output.
fn without_pipes(command: &str) -> &str {
    let end = [" 2>", " | tail", " | head"].iter().filter_map(|mark| command.find(mark)).min();
    command.get(..end.unwrap_or(command.len())).unwrap_or(command)
}

/// How a result ended: its last line that tells of success or failure, or its last line.
fn outcome(result: &str) -> Option<&str> {
    let end = result.get(result.ceil_char_boundary(result.len().saturating_sub(RESULT_END))..)?;
    let lines =
        || end.lines().rev().map(str::trim).filter(|line| line.contains(char::is_alphanumeric));
    let tells = |line: &&str| {
        let mut found = false;
        cues(line, |_, cue| found |= matches!(cue, Cue::Outcome | Cue::Error));
        found
    };
    let line = lines().find(tells).or_else(|| lines().next())?;
    Some(clipped(line, LONGEST_OUTCOME).trim_end_matches(['.', ' ']))
}

fn clipped(text: &str, longest: usize) -> &str {
    text.get(..text.floor_char_boundary(longest)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said<'a>(speaker: &'a str, text: &'a str) -> Said<'a> {
        Said { speaker, text, day: None }
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
            assert_eq!(told(line).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn the_same_call_is_told_once_with_its_count_and_last_outcome() {
        let call = r#"called bash {"command":"cargo test"}"#;
        let said = [
            said("assistant", call),
            said("tool bash", "test a ... FAILED\n4 failed"),
            said("assistant", "I try again.\ncalled bash {\"command\":\"cargo test\"}"),
            said("tool bash", "test result: FAILED. 3 failed."),
            said("assistant", r#"called read {"path":"a.rs"}"#),
        ];
        let calls = Calls::of(&said);
        assert!(calls.at(0).unwrap().calls.is_empty());
        let last = calls.at(2).unwrap();
        assert_eq!(last.words, "I try again.\n");
        assert_eq!(
            last.calls,
            [ToldCall {
                text: "ran cargo test 2 times, last: test result: FAILED. 3 failed".to_owned(),
                is_repeated: true
            }]
        );
        assert_eq!(calls.at(4).unwrap().calls[0].text, "called read a.rs");
        assert!(calls.at(1).is_none());
    }
}
