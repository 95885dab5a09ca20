//! The formats in which an assembled window is returned ([`WindowFormat`]).

json_name! {
    /// The format of a window.
    #[derive(Default)]
    WindowFormat "format" {
        /// Messages of OpenAI's chat completions, and compatible APIs.
        #[default]
        Openai "openai",
        /// Messages of Anthropic's API, with the system text apart.
        Anthropic "anthropic",
        /// A transcript to read.
        Text "text",
    }
}

impl WindowFormat {
    /// Every format.
    pub const ALL: [WindowFormat; 3] =
        [WindowFormat::Openai, WindowFormat::Anthropic, WindowFormat::Text];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_round_trip() {
        assert_eq!(WindowFormat::ALL.map(WindowFormat::as_str), WindowFormat::NAMES);
        for format in WindowFormat::ALL {
            assert_eq!(WindowFormat::parse(format.as_str()).unwrap(), format);
            assert_eq!(serde_json::to_value(format).unwrap(), format.as_str());
        }
        assert_eq!(WindowFormat::parse("gemini").unwrap_err().field_name(), Some("format"));
    }
}
