//! Windows: the forms in which an assembled prompt is handed out ([`WindowFormat`]). It must not
//! know how one is assembled.

use crate::{Error, Result};
use serde::Serialize;

/// Whose messages a window is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WindowFormat {
    /// Messages of OpenAI's chat completions, and of everybody who speaks them.
    #[default]
    Openai,
    /// Messages of Anthropic's API, with the system text apart.
    Anthropic,
    /// A transcript to read.
    Text,
}

impl WindowFormat {
    /// Reads a format.
    pub fn parse(name: &str) -> Result<WindowFormat> {
        match name {
            "openai" => Ok(WindowFormat::Openai),
            "anthropic" => Ok(WindowFormat::Anthropic),
            "text" => Ok(WindowFormat::Text),
            _ => Err(Error::field("format", format!("{name:?} is not a format of windows"))
                .remedy("give openai, anthropic or text")),
        }
    }

    /// The format as text.
    pub fn as_str(self) -> &'static str {
        match self {
            WindowFormat::Openai => "openai",
            WindowFormat::Anthropic => "anthropic",
            WindowFormat::Text => "text",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_round_trip() {
        for format in [WindowFormat::Openai, WindowFormat::Anthropic, WindowFormat::Text] {
            assert_eq!(WindowFormat::parse(format.as_str()).unwrap(), format);
            assert_eq!(serde_json::to_value(format).unwrap(), format.as_str());
        }
        assert_eq!(WindowFormat::parse("gemini").unwrap_err().field_name(), Some("format"));
    }
}
