//! Summarises text at three levels: a model, the model with a stricter prompt, and an extract,
//! which needs no model and always succeeds. Independent of the store.

use super::prompts::Prompts;
use crate::secrets::redact_secrets;
use crate::{Llm, LlmRequest};
use jiff::civil::Date;
use oneiro_count::tokens;
use oneiro_extract::{ExtractRequest, SourceMessage, extract};
use oneiro_model::SummaryLevel;
use oneiro_text::Analyzer;
use std::collections::HashSet;

/// A message to summarise.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// The time, to the minute; empty if the text contains it.
    pub(super) when: String,
    /// The day; none if the text contains it.
    pub(super) day: Option<Date>,
    /// The speaker; empty if the text contains it.
    pub(super) speaker: String,
    pub(super) text: String,
}

/// The input of a summary.
pub(super) struct Source<'a> {
    /// The name of the prompt: `leaf`, `condensed` or `question`.
    pub(super) prompt: &'static str,
    pub(super) lines: &'a [Line],
    /// Previous summary text, for continuity.
    pub(super) prior: &'a [String],
    /// The question to focus on.
    pub(super) question: Option<&'a str>,
    /// Maximum tokens of the summary.
    pub(super) target: usize,
    /// Maximum input tokens of a model.
    pub(super) input_tokens: usize,
}

/// A summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Condensed {
    pub(super) content: String,
    pub(super) level: SummaryLevel,
    pub(super) model: Option<String>,
}

/// How far a model may exceed its target before it is asked again.
const LEEWAY: (usize, usize) = (5, 4);

/// Maximum tokens of a strict summary, and its share of the source.
const STRICT: (usize, usize) = (640, 5);

/// Summarises, falling back from level to level; never fails. Bad model output is logged.
pub(super) fn summarise(source: &Source<'_>, model: Option<(&dyn Llm, &Prompts)>) -> Condensed {
    // Redact before any text is moved: secrets are recognised by their context.
    let lines: Vec<Line> = source
        .lines
        .iter()
        .map(|line| Line { text: redact_secrets(&line.text).into_owned(), ..line.clone() })
        .collect();
    let prior: Vec<String> =
        source.prior.iter().map(|text| redact_secrets(text).into_owned()).collect();
    let source = &Source { lines: &lines, prior: &prior, ..*source };
    if let Some((llm, prompts)) = model {
        let written = by_model(source, llm, prompts);
        if let Some(condensed) = written {
            return condensed;
        }
    }
    let content = extracted(source, source.target);
    Condensed { content: cleaned(&content), level: SummaryLevel::Extract, model: None }
}

fn by_model(source: &Source<'_>, llm: &dyn Llm, prompts: &Prompts) -> Option<Condensed> {
    let input = input(source);
    let input_tokens = tokens(&input);
    let question = source.question.unwrap_or_default();
    let strict = source.target.min(STRICT.0).min(input_tokens / STRICT.1).max(16);
    let tries = [
        (source.prompt, source.target, 0.3, SummaryLevel::Model),
        (source.prompt, source.target, 0.0, SummaryLevel::Model),
        ("strict", strict, 0.0, SummaryLevel::Strict),
    ];
    let mut was_empty = true;
    for (index, (name, target, temperature, level)) in tries.into_iter().enumerate() {
        // Repeat the same request only after an empty answer.
        if index == 1 && !was_empty {
            continue;
        }
        let request = LlmRequest {
            purpose: source.prompt,
            instructions: &prompts.filled(name, target, question),
            input: &input,
            max_tokens: target * 2,
            temperature,
        };
        let answer = match llm.complete(&request) {
            Ok(answer) => answer,
            Err(error) => {
                tracing::warn!(purpose = source.prompt, %error, "the model did not condense");
                return None;
            }
        };
        let content = cleaned(&answer.text);
        was_empty = content.is_empty();
        match refused(&content, source, target * LEEWAY.0 / LEEWAY.1) {
            None => {
                let model = Some(llm.id().to_owned());
                return Some(Condensed { content, level, model });
            }
            Some(why) => tracing::warn!(
                purpose = source.prompt,
                model = llm.id(),
                try_number = index + 1,
                why,
                "what the model wrote is not taken"
            ),
        }
    }
    None
}

/// The reason to reject the output of a model, if any.
fn refused(content: &str, source: &Source<'_>, limit: usize) -> Option<&'static str> {
    if content.is_empty() {
        return Some("nothing");
    }
    if tokens(content) > limit {
        return Some("too long");
    }
    if !is_about_source(content, source) {
        return Some("not about the source");
    }
    None
}

/// Minimum number of distinct source words in a summary: a refusal has fewer.
const SHARED_WORDS_MIN: usize = 8;

/// Average repetitions per word above which the output is a loop.
const REPETITIONS_MAX: usize = 6;

/// Whether the output is about the source: it shares enough words with it and does not repeat
/// itself.
fn is_about_source(content: &str, source: &Source<'_>) -> bool {
    let mut analyzer = Analyzer::default();
    let mut terms = |text: &str| {
        let (mut found, mut count) = (HashSet::new(), 0);
        analyzer.tokens(text, |token| {
            if !token.stop {
                found.insert(token.term.to_owned());
                count += 1;
            }
        });
        (found, count)
    };
    let said: String = source.lines.iter().map(|line| format!("{}\n", line.text)).collect();
    let ((said, _), (written, count)) = (terms(&said), terms(content));
    if said.is_empty() {
        return true;
    }
    let shared = written.iter().filter(|term| said.contains(*term)).count();
    shared >= said.len().min(SHARED_WORDS_MIN) && count < written.len() * REPETITIONS_MAX + 40
}

/// The prompt: the previous summary, then the segment, each in a block.
fn input(source: &Source<'_>) -> String {
    let mut text = String::new();
    let prior: Vec<&str> = source.prior.iter().map(|text| text.trim()).collect();
    if !prior.is_empty() {
        text.push_str(&format!("<before>\n{}\n</before>\n\n", prior.join("\n\n")));
    }
    text.push_str("<segment>\n");
    let lines = |source: &Source<'_>| {
        let line = |line: &Line| match (line.when.is_empty(), line.speaker.is_empty()) {
            (true, true) => format!("{}\n", line.text),
            (true, false) => format!("{}: {}\n", line.speaker, line.text),
            (false, true) => format!("[{}]\n{}\n", line.when, line.text),
            (false, false) => format!("[{}] {}: {}\n", line.when, line.speaker, line.text),
        };
        source.lines.iter().map(line).collect::<String>()
    };
    let segment = lines(source);
    if tokens(&segment) > source.input_tokens {
        text.push_str(&extracted(source, source.input_tokens))
    } else {
        text.push_str(&segment)
    }
    text.push_str("</segment>");
    text
}

fn extracted(source: &Source<'_>, target: usize) -> String {
    let said: Vec<SourceMessage<'_>> = source
        .lines
        .iter()
        .map(|line| SourceMessage { speaker: &line.speaker, text: &line.text, day: line.day })
        .collect();
    extract(&ExtractRequest { said: &said, target, about: source.question, count: &tokens })
}

/// Removes secrets and characters that no database engine can store.
fn cleaned(text: &str) -> String {
    redact_secrets(text.trim()).replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests;
