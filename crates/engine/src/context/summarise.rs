//! Put something into fewer words, at three levels: a model, the model asked more strictly, and an
//! extract, which needs no model and always comes to an end. It must not know stores: it takes what
//! was said and hands back words.

use super::prompts::Prompts;
use crate::secrets::redact_secrets;
use crate::{Llm, LlmRequest};
use oneiro_count::tokens;
use oneiro_extract::{ExtractRequest, Said, extract};
use oneiro_model::SummaryLevel;
use oneiro_text::Analyzer;
use std::collections::HashSet;

/// Something said, ready to be condensed.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// When, to the minute; empty where the text tells.
    pub(super) when: String,
    /// By whom; empty where the text tells.
    pub(super) speaker: String,
    /// The words.
    pub(super) text: String,
}

/// What to condense.
pub(super) struct Source<'a> {
    /// The prompt that says how: `leaf`, `condensed` or `question`.
    pub(super) prompt: &'static str,
    /// What was said.
    pub(super) lines: &'a [Line],
    /// What went before, for a model to connect to.
    pub(super) prior: &'a [String],
    /// What it should be about.
    pub(super) question: Option<&'a str>,
    /// The most tokens that it may have.
    pub(super) target: usize,
    /// What a model may be handed.
    pub(super) input_tokens: usize,
}

/// What something came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Condensed {
    pub(super) content: String,
    pub(super) level: SummaryLevel,
    pub(super) model: Option<String>,
}

/// A model may write a little more than it was told before it is asked again.
const LEEWAY: (usize, usize) = (5, 4);

/// The most tokens of a strict summary, and its share of the source.
const STRICT: (usize, usize) = (640, 5);

/// Condenses; falls from level to level and never fails. What a model does wrong is logged.
pub(super) fn summarise(source: &Source<'_>, model: Option<(&dyn Llm, &Prompts)>) -> Condensed {
    // Before anything is taken out of its place: a secret is known by what stands beside it.
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
        // Asked the same again only when it said nothing at all.
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
        let answer = match llm.write(&request) {
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

/// Why what a model wrote cannot stand in for its source.
fn refused(content: &str, source: &Source<'_>, limit: usize) -> Option<&'static str> {
    if content.is_empty() {
        return Some("nothing");
    }
    if tokens(content) > limit {
        return Some("too long");
    }
    if !tells_of(content, source) {
        return Some("not about the source");
    }
    None
}

/// Words of the source that a summary must have at least: a refusal has fewer.
const SHARED: usize = 8;

/// A word that is said this often on average is said for want of others.
const REPEATED: usize = 6;

/// Whether what was written tells of the source: it has some of its words, and does not only say
/// them over and over.
fn tells_of(content: &str, source: &Source<'_>) -> bool {
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
    shared >= said.len().min(SHARED) && count < written.len() * REPEATED + 40
}

/// The source as a model reads it: what went before, then the segment, each in a block.
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
    match tokens(&segment) > source.input_tokens {
        // More than the model may be handed: it condenses what an extract leaves.
        true => text.push_str(&extracted(source, source.input_tokens)),
        false => text.push_str(&segment),
    }
    text.push_str("</segment>");
    text
}

fn extracted(source: &Source<'_>, target: usize) -> String {
    let said: Vec<Said<'_>> =
        source.lines.iter().map(|line| Said { speaker: &line.speaker, text: &line.text }).collect();
    extract(&ExtractRequest { said: &said, target, about: source.question, count: &tokens })
}

/// Words as they are kept: without secrets, and without what no engine can hold.
fn cleaned(text: &str) -> String {
    redact_secrets(text.trim()).replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests;
