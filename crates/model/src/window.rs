//! Windows: the forms in which an assembled prompt is handed out ([`WindowFormat`]). It must not
//! know how one is assembled.

json_name! {
    /// Whose messages a window is written as.
    #[derive(Default)]
    WindowFormat "format" {
        /// Messages of OpenAI's chat completions, and of everybody who speaks them.
        #[default]
        Openai "openai",
        /// Messages of Anthropic's API, with the system text apart.
        Anthropic "anthropic",
        /// A transcript to read.
        Text "text",
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
