//! Reads a prompt: its words that carry meaning, or nothing if it is a command, a reply such as "ok", or
//! too short to ask for anything.

use oneiro_text::{Analyzer, QueryWord, Question, is_filler, is_first_person};

/// Words that carry meaning which a prompt has at least, unless it is a question.
const CONTENT_WORDS_MIN: usize = 3;

/// Words of any kind that a question has at least.
const QUESTION_WORDS_MIN: usize = 3;

/// Characters at the beginning and at the end of a long prompt that are read: between them is what was
/// pasted.
const HEAD_CHARS: usize = 1_500;
const TAIL_CHARS: usize = 500;

/// A prompt that may ask for something.
#[derive(Debug)]
pub(super) struct Prompt {
    /// What is searched for.
    pub(super) text: String,
    /// The words that carry meaning.
    pub(super) words: Vec<QueryWord>,
    /// Whether somebody speaks of themselves.
    pub(super) first_person: bool,
    pub(super) is_question: bool,
}

impl Prompt {
    /// Reads a prompt; `None` if it asks for nothing.
    pub(super) fn read(text: &str) -> Option<Prompt> {
        let text = text.trim();
        if text.starts_with(['/', '!', '#']) {
            return None;
        }
        let text = ends_of(&without_fences(text));
        let all = Analyzer::default().query_words(&text);
        let is_question = text.contains(['?', '？'])
            || oneiro_text::question_share(&text) > 0.0
            || Question::read(&text).asks;
        let count = all.len();
        let first_person = all.iter().any(|word| is_first_person(&word.norm));
        let mut words: Vec<QueryWord> = Vec::new();
        for word in all {
            let is_content = !word.stop && !is_filler(&word.norm);
            if is_content && !words.iter().any(|other| other.terms == word.terms) {
                words.push(word);
            }
        }
        let is_wide = text.contains(|letter: char| letter >= '\u{2E80}');
        let asks = is_question && !words.is_empty() && (count >= QUESTION_WORDS_MIN || is_wide);
        let is_enough = words.len() >= CONTENT_WORDS_MIN || asks;
        is_enough.then_some(Prompt { text, words, first_person, is_question })
    }
}

/// The text outside of fenced blocks and quoted lines, unless nothing is left.
pub(super) fn without_fences(text: &str) -> String {
    let mut is_fenced = false;
    let mut kept = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if !is_fenced && !line.starts_with('>') {
            kept.push(line);
        }
    }
    let kept = kept.join("\n");
    if kept.trim().is_empty() { text.to_owned() } else { kept }
}

fn ends_of(text: &str) -> String {
    let count = text.chars().count();
    if count <= HEAD_CHARS + TAIL_CHARS {
        return text.to_owned();
    }
    let head = text.chars().take(HEAD_CHARS);
    let tail = text.chars().skip(count - TAIL_CHARS);
    head.chain(std::iter::once('\n')).chain(tail).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_replies_and_short_prompts_ask_for_nothing() {
        for text in [
            "", "  ", "ok", "thanks", "continue", "go on", "/compact", "!ls -la", "# note",
            "run it",
        ] {
            assert!(Prompt::read(text).is_none(), "{text}");
        }
        for text in [
            "Where do I live?",
            "where do I live",
            "book a seat on the train to Bern",
            "¿Dónde vivo ahora?",
            "wo wohne ich jetzt",
        ] {
            assert!(Prompt::read(text).is_some(), "{text}");
        }
    }

    #[test]
    fn what_was_pasted_is_not_read() {
        let prompt = Prompt::read(
            "Why does the build of the gateway fail?\n```\nerror: heron\n```\n> quoted",
        );
        assert_eq!(prompt.unwrap().text, "Why does the build of the gateway fail?");
    }
}
