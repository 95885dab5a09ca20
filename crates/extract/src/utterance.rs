//! Splits messages into utterances, one speaker each. The lines of an earlier extract are parsed
//! back into the utterances they came from.

use jiff::civil::Date;
use oneiro_text::normalise;
use rustc_hash::FxHashSet;

use crate::SourceMessage;
use crate::calls::{CallSentence, Calls};
use crate::dates::leading_day;

/// The start of the last line of an extract.
pub(crate) const LEFT_OUT: &str = "(left out: ";

/// The label of the terms in that line.
pub(crate) const TERMS: &str = "terms: ";

/// Maximum bytes of a name at the start of a line.
const MAX_NAME_BYTES: usize = 40;

/// Maximum number of speaker names that terms are compared with.
const MAX_NAMES: usize = 16;

/// A text by one speaker.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Utterance<'a> {
    pub speaker: &'a str,
    pub text: &'a str,
    pub source: Source,
    pub day: Option<Date>,
}

/// The source of an utterance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// A person, or an agent that only talks.
    Speaker,
    /// An agent that works with tools.
    Agent,
    /// A call of a tool, in words; one that was made again and again, or once.
    Call { is_repeated: bool },
    /// What a tool answered.
    Tool,
    /// Instructions that are the same in every conversation.
    System,
    /// Terms that an earlier extract could only name.
    Terms,
}

impl Source {
    /// Whether it is a person or an agent in their own words.
    pub fn is_spoken(self) -> bool {
        matches!(self, Source::Speaker | Source::Agent)
    }
}

/// What was said, and what earlier extracts had left out already.
#[derive(Debug, Default)]
pub(crate) struct Utterances<'a> {
    pub all: Vec<Utterance<'a>>,
    pub left_out: LeftOut,
}

/// How much was left out.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LeftOut {
    pub messages: usize,
    pub tool_results: usize,
}

/// Reads what was said. A text without a speaker whose first line names one is an extract.
pub(crate) fn utterances<'a>(said: &'a [SourceMessage<'a>], calls: &'a Calls) -> Utterances<'a> {
    let mut read = Utterances::default();
    for (place, said) in said.iter().enumerate() {
        if let Some(message) = calls.at(place) {
            let (speaker, day) = (first_line(said.speaker), said.day);
            let words = Utterance { speaker, text: &message.words, source: source(speaker), day };
            let call = |call: &'a CallSentence| {
                let source = Source::Call { is_repeated: call.is_repeated };
                Utterance { speaker, text: &call.text, source, day }
            };
            read.all.push(words);
            read.all.extend(message.calls.iter().map(call));
            continue;
        }
        let first = said.text.lines().next().unwrap_or_default();
        let is_extract = said.speaker.is_empty()
            && (!Header::of(first).is_empty() || first.starts_with(LEFT_OUT));
        if !is_extract {
            let speaker = first_line(said.speaker);
            let (text, source, day) = (said.text, source(speaker), said.day);
            read.all.push(Utterance { speaker, text, source, day });
            continue;
        }
        for line in said.text.lines() {
            if let Some(left_out) = line.strip_prefix(LEFT_OUT) {
                read.left_out.add(left_out);
                if let Some((_, text)) = left_out.split_once(TERMS) {
                    let text = text.trim_end_matches([')', ' ', '…']);
                    let source = Source::Terms;
                    read.all.push(Utterance { speaker: "", text, source, day: None });
                }
                continue;
            }
            let Header { day, speaker, text } = Header::of(line);
            read.all.push(Utterance { speaker, text, source: source(speaker), day });
        }
    }
    let agents = agents(&read.all);
    for said in read.all.iter_mut().filter(|said| agents.contains(said.speaker)) {
        if said.source == Source::Speaker {
            said.source = Source::Agent;
        }
    }
    read
}

/// Those who work with tools: they speak right before one answers.
fn agents<'a>(utterances: &[Utterance<'a>]) -> FxHashSet<&'a str> {
    let pairs = utterances.iter().zip(utterances.iter().skip(1));
    let calls =
        pairs.filter(|(said, next)| next.source == Source::Tool && said.source != Source::Tool);
    calls.map(|(said, _)| said.speaker).collect()
}

/// The names of those who speak, normalised, a word each.
pub(crate) fn speakers(utterances: &[Utterance<'_>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut last = "";
    for said in utterances.iter().filter(|said| said.source.is_spoken()) {
        if said.speaker == last || names.len() >= MAX_NAMES {
            continue;
        }
        last = said.speaker;
        for name in normalise(said.speaker).split_whitespace() {
            if names.iter().all(|known| known != name) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

impl LeftOut {
    fn add(&mut self, line: &str) {
        for part in line.split([';', ')']) {
            let mut words = part.split_whitespace();
            let count = words.next().and_then(|count| count.parse::<usize>().ok());
            let into = match words.next() {
                Some("message" | "messages") => &mut self.messages,
                Some("tool") => &mut self.tool_results,
                _ => continue,
            };
            *into = into.saturating_add(count.unwrap_or_default());
        }
    }
}

/// The first line of a text, without the space around it.
pub(crate) fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim()
}

/// Whether a speaker is a tool.
pub(crate) fn is_tool(speaker: &str) -> bool {
    let first = speaker.split([' ', ':', '(']).next();
    matches!(first, Some("tool" | "function" | "Tool"))
}

fn source(speaker: &str) -> Source {
    match speaker.split([' ', ':', '(']).next() {
        _ if is_tool(speaker) => Source::Tool,
        Some("system" | "developer" | "System") => Source::System,
        _ => Source::Speaker,
    }
}

/// What a line of an extract begins with: `8 May 2023 Ana: `, or a part of it.
struct Header<'a> {
    day: Option<Date>,
    speaker: &'a str,
    /// The rest of the line.
    text: &'a str,
}

impl<'a> Header<'a> {
    fn of(line: &'a str) -> Header<'a> {
        let (day, rest) = match leading_day(line) {
            Some((day, rest)) if rest.starts_with([' ', ':']) => (Some(day), rest),
            _ => (None, line),
        };
        // A sentence may begin with a date, too.
        let named = rest.strip_prefix(' ').unwrap_or(rest);
        let (day, rest) = match name_of(named) {
            Some(_) => (day, named),
            None if rest.starts_with(": ") => (day, rest),
            None => (None, line),
        };
        let speaker = name_of(rest).unwrap_or_default();
        let text = rest.get(speaker.len()..).unwrap_or_default();
        let is_headed = day.is_some() || !speaker.is_empty();
        let text = if is_headed { text.trim_start_matches([':', ' ']) } else { text };
        Header { day, speaker, text }
    }

    fn is_empty(&self) -> bool {
        self.day.is_none() && self.speaker.is_empty()
    }
}

/// The name that a line begins with, before a colon.
fn name_of(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(':')?;
    let fits = !name.is_empty()
        && name.len() <= MAX_NAME_BYTES
        && rest.starts_with(' ')
        && name.split(' ').count() <= 3
        && name.starts_with(char::is_alphanumeric)
        && !name.contains(['.', '!', '?', ',', ';', '"', '`', '(', '/', '=']);
    fits.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extract_is_read_back_by_its_lines() {
        let text = "8 May 2023 Ana: we go to Porto … on Friday\ntool bash: exit 1\n\
            no name here\n9 May 2023: no speaker\n9 May 2023 was hot\n\
            (left out: 12 messages; 3 tool results; terms: kayak, visa)";
        let said = [
            SourceMessage { speaker: "", text, day: None },
            SourceMessage { speaker: "user", text: "Note: hello\nyou", day: None },
        ];
        let calls = Calls::default();
        let read = utterances(&said, &calls);
        let shown: Vec<(&str, &str, Source)> =
            read.all.iter().map(|said| (said.speaker, said.text, said.source)).collect();
        assert_eq!(
            shown,
            [
                ("Ana", "we go to Porto … on Friday", Source::Agent),
                ("tool bash", "exit 1", Source::Tool),
                ("", "no name here", Source::Speaker),
                ("", "no speaker", Source::Speaker),
                ("", "9 May 2023 was hot", Source::Speaker),
                ("", "kayak, visa", Source::Terms),
                ("user", "Note: hello\nyou", Source::Speaker),
            ]
        );
        let days: Vec<Option<Date>> = read.all.iter().map(|said| said.day).collect();
        let (eighth, ninth) = (Date::constant(2023, 5, 8), Date::constant(2023, 5, 9));
        assert_eq!(days, [Some(eighth), None, None, Some(ninth), None, None, None]);
        assert_eq!(read.left_out, LeftOut { messages: 12, tool_results: 3 });
    }
}
