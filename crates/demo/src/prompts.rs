//! The system prompts of Mira's agents, by name.

use oneiro::{Error, Result};

/// Name, text, and how many tokens of tools come with it: they weigh more than the text.
const PROMPTS: [(&str, &str, i64); 4] = [
    ("companion", include_str!("../assets/prompts/companion.txt"), 4_200),
    ("coder", include_str!("../assets/prompts/coder.txt"), 13_800),
    ("routine", include_str!("../assets/prompts/routine.txt"), 2_100),
    ("delegate", include_str!("../assets/prompts/delegate.txt"), 2_900),
];

/// The system prompt of this name, and the tokens of the tools that come with it.
pub(crate) fn prompt(name: &str) -> Result<(&'static str, i64)> {
    let found = PROMPTS.iter().find(|(known, ..)| *known == name);
    found.map(|(_, text, tools)| (text.trim_end(), *tools)).ok_or_else(|| {
        let known: Vec<_> = PROMPTS.iter().map(|(known, ..)| *known).collect();
        Error::invalid(format!("{name:?} is no system prompt"))
            .remedy(format!("there are {}", known.join(", ")))
    })
}
