//! The table of tools: small enough to be read by every model on every turn, and whole.

use oneiro::count::tokens;
use oneiro_mcp::{TOOLS, Tool};
use serde_json::{Value, json};

fn listed(tool: &Tool) -> Value {
    json!({
        "name": tool.name, "title": tool.title, "description": tool.description,
        "inputSchema": (tool.input)(),
        "annotations": {
            "readOnlyHint": tool.hints.read_only, "destructiveHint": tool.hints.destructive,
            "idempotentHint": tool.hints.idempotent, "openWorldHint": tool.hints.open_world,
        },
    })
}

#[test]
fn the_list_is_small() {
    let list = json!({"tools": TOOLS.iter().map(listed).collect::<Vec<_>>()});
    let cost = tokens(&list.to_string());
    assert!(cost < 350 * TOOLS.len() && cost < 3_000, "{cost} tokens for {} tools", TOOLS.len());
    for tool in TOOLS {
        let words = tool.description.split_whitespace().count();
        assert!(words < 60, "{}: {words} words", tool.name);
    }
}

#[test]
fn names_are_unique_and_schemas_are_of_objects() {
    for tool in TOOLS {
        assert_eq!(TOOLS.iter().filter(|other| other.name == tool.name).count(), 1);
        let (input, output) = ((tool.input)(), (tool.output)());
        for schema in [&input, &output] {
            assert_eq!(schema["type"], "object", "{}", tool.name);
        }
        let required = output["required"].as_array().unwrap();
        for name in required.iter().filter_map(Value::as_str) {
            assert!(output["properties"].get(name).is_some(), "{}: {name}", tool.name);
        }
        assert_eq!(input["additionalProperties"], false, "{}", tool.name);
    }
}
