//! The system prompts of the demonstration, by name.

use oneiro::{Error, Result};

/// Name, text, and the number of tokens of its tools, which exceeds that of the text.
const SYSTEM_PROMPTS: [(&str, &str, i64); 4] = [
    ("companion", include_str!("../assets/prompts/companion.txt"), 4_200),
    ("coder", include_str!("../assets/prompts/coder.txt"), 13_800),
    ("routine", include_str!("../assets/prompts/routine.txt"), 2_100),
    ("delegate", include_str!("../assets/prompts/delegate.txt"), 2_900),
];

/// The system prompt of a name, and the number of tokens of its tools.
pub(crate) fn prompt(name: &str) -> Result<(&'static str, i64)> {
    let found = SYSTEM_PROMPTS.iter().find(|(known, ..)| *known == name);
    found.map(|(_, text, tools)| (text.trim_end(), *tools)).ok_or_else(|| {
        let known: Vec<_> = SYSTEM_PROMPTS.iter().map(|(known, ..)| *known).collect();
        Error::invalid(format!("{name:?} is not a system prompt"))
            .remedy(format!("there are {}", known.join(", ")))
    })
}
