//! The reference of the tools, generated from their table.

use crate::TOOLS;
use crate::handler::INSTRUCTIONS;
use crate::resources::{MARKDOWN, MAX_LISTED_IDS, TEMPLATE};
use serde_json::Value;
use std::fmt::Write;

/// The text of docs/reference/mcp.md.
pub fn reference() -> String {
    let mut text = format!(
        "# MCP\n\nGenerated from the table of tools. They are served on standard input and output, \
         and over HTTP at `/mcp`. The profile `host` also lists the \
         tools for the program that runs the agent; over HTTP, `/mcp?profile=host` names it. Every \
         tool may be called in either.\n\n> {INSTRUCTIONS}\n"
    );
    for tool in TOOLS {
        let hints = tool.hints;
        let all = [
            (hints.read_only, "read only"),
            (hints.destructive, "destructive"),
            (hints.idempotent, "idempotent"),
            (hints.open_world, "open world"),
        ];
        let names: Vec<&str> = all.iter().filter(|hint| hint.0).map(|hint| hint.1).collect();
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n## {}\n\n{}\n\nRole: {}. Profile: {}. Hints: {}.\n",
            tool.name,
            tool.description,
            tool.role.as_str(),
            tool.profile.as_str(),
            names.join(", ")
        );
        arguments(&mut text, &(tool.input)());
        let schema = serde_json::to_string_pretty(&(tool.output)()).unwrap_or_default();
        let _ = write!(text, "\nStructured content:\n\n```json\n{schema}\n```\n");
    }
    let _ = write!(
        text,
        "\n## Resources\n\n`resources/list` lists the {MAX_LISTED_IDS} newest summaries with their dates and \
         sizes; `{TEMPLATE}` reads one as `{MARKDOWN}`: its facts, its text, and links to the \
         summaries below and above it.\n"
    );
    text
}

fn arguments(text: &mut String, schema: &Value) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    if properties.is_empty() {
        text.push_str("\nNo arguments.\n");
        return;
    }
    text.push_str("\n| argument | type | description |\n|---|---|---|\n");
    for (name, property) in properties {
        let part = |key| property.get(key).and_then(Value::as_str).unwrap_or_default();
        let kind = match property.get("enum").and_then(Value::as_array) {
            Some(values) => {
                let values: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
                values.join(", ")
            }
            None => match property.get("type").and_then(Value::as_array) {
                Some(kinds) => {
                    kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
                }
                None => part("type").to_owned(),
            },
        };
        let _ = writeln!(text, "| `{name}` | {kind} | {} |", part("description"));
    }
}
