//! The system prompts of Mira's agents, by name.

use oneiro::{Error, Result};

const PROMPTS: [(&str, &str); 4] = [
    ("companion", include_str!("../assets/prompts/companion.txt")),
    ("coder", include_str!("../assets/prompts/coder.txt")),
    ("routine", include_str!("../assets/prompts/routine.txt")),
    ("delegate", include_str!("../assets/prompts/delegate.txt")),
];

/// The system prompt of this name.
pub(crate) fn text(name: &str) -> Result<&'static str> {
    let found = PROMPTS.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| text.trim_end()).ok_or_else(|| {
        let known: Vec<_> = PROMPTS.iter().map(|(known, _)| *known).collect();
        Error::invalid(format!("{name:?} is no system prompt"))
            .remedy(format!("there are {}", known.join(", ")))
    })
}
