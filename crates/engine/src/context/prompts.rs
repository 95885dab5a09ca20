//! The prompts for models. The texts are files that an owner may replace one by one.

use oneiro_model::{Error, Result};
use std::collections::BTreeMap;

/// The built-in prompts by name.
pub const PROMPTS: &[(&str, &str)] = &[
    ("leaf", include_str!("prompts/leaf.md")),
    ("condensed", include_str!("prompts/condensed.md")),
    ("strict", include_str!("prompts/strict.md")),
    ("question", include_str!("prompts/question.md")),
];

/// The prompts of a handle: the built-in ones, and what replaces them.
#[derive(Debug, Clone, Default)]
pub struct Prompts(BTreeMap<String, String>);

impl Prompts {
    /// Takes texts in place of built-in prompts, by name.
    pub fn replacing(texts: BTreeMap<String, String>) -> Result<Prompts> {
        for (name, text) in &texts {
            if !PROMPTS.iter().any(|(known, _)| known == name) {
                let names: Vec<&str> = PROMPTS.iter().map(|(name, _)| *name).collect();
                return Err(Error::field("prompts", format!("there is no prompt {name:?}"))
                    .remedy(format!("the prompts are {}", names.join(", "))));
            }
            if text.trim().is_empty() {
                return Err(Error::field("prompts", format!("the prompt {name:?} is empty")));
            }
        }
        Ok(Prompts(texts))
    }

    /// A prompt, with its number of tokens and its question filled in.
    pub(super) fn filled(&self, name: &str, target: usize, question: &str) -> String {
        let built_in = PROMPTS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
        let text = self.0.get(name).map(String::as_str).or(built_in).unwrap_or_default();
        // The question last: it may hold the marks itself.
        text.replace("{target}", &target.to_string()).replace("{question}", question)
    }
}
