//! For whom a window is written.

json_name! {
    /// For whom a window is written.
    WindowFormat "format" {
        /// OpenAI chat messages.
        Openai "openai",
        /// Anthropic messages, with the system text apart.
        Anthropic "anthropic",
        /// A transcript to read.
        Text "text",
    }
}
