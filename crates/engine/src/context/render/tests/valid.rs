//! What providers accept, written from their rules alone: the judge must not know the renderer.

use serde_json::Value;
use std::collections::{BTreeSet, HashSet};

fn is_word(text: &str, most: usize) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !text.is_empty() && text.len() <= most && text.bytes().all(plain)
}

fn assert_only_fields(value: &Value, allowed: &[&str]) {
    for name in value.as_object().unwrap_or_else(|| panic!("no object: {value}")).keys() {
        assert!(allowed.contains(&name.as_str()), "{name} is no field of {value}");
    }
}

fn filled<'a>(value: &'a Value, name: &str) -> &'a str {
    let text = value[name].as_str().unwrap_or_else(|| panic!("{name} is no text in {value}"));
    assert!(!text.trim().is_empty(), "{name} is blank in {value}");
    text
}

/// Chat completions.
pub(super) fn assert_openai_valid(messages: &[Value]) {
    let mut at = 0;
    while let Some(message) = messages.get(at) {
        at += 1;
        if let Some(name) = message.get("name") {
            assert!(is_word(name.as_str().unwrap(), 64), "{name}");
        }
        match message["role"].as_str().unwrap() {
            "system" => {
                assert_only_fields(message, &["role", "name", "content"]);
                filled(message, "content");
            }
            "user" => {
                assert_only_fields(message, &["role", "name", "content"]);
                match &message["content"] {
                    Value::Array(parts) => {
                        assert!(!parts.is_empty());
                        parts.iter().for_each(assert_openai_part);
                    }
                    _ => drop(filled(message, "content")),
                }
            }
            "assistant" => {
                assert_only_fields(message, &["role", "name", "content", "tool_calls"]);
                let Some(calls) = message.get("tool_calls") else {
                    filled(message, "content");
                    continue;
                };
                if !message["content"].is_null() {
                    filled(message, "content");
                }
                let calls = calls.as_array().unwrap();
                assert!(!calls.is_empty());
                let asked: BTreeSet<&str> = calls.iter().map(openai_call).collect();
                assert_eq!(asked.len(), calls.len(), "an id twice in {message}");
                let mut answered = BTreeSet::new();
                while let Some(result) = messages.get(at).filter(|next| next["role"] == "tool") {
                    at += 1;
                    assert_only_fields(result, &["role", "tool_call_id", "content"]);
                    filled(result, "content");
                    assert!(answered.insert(filled(result, "tool_call_id")), "answered twice");
                }
                assert_eq!(asked, answered);
            }
            "tool" => panic!("a result without its call: {message}"),
            other => panic!("{other} is no role"),
        }
    }
}

fn openai_call(call: &Value) -> &str {
    assert_only_fields(call, &["id", "type", "function"]);
    assert_only_fields(&call["function"], &["name", "arguments"]);
    assert_eq!(call["type"], "function");
    assert!(is_word(call["function"]["name"].as_str().unwrap(), 64), "{call}");
    filled(&call["function"], "arguments");
    filled(call, "id")
}

fn assert_openai_part(part: &Value) {
    match part["type"].as_str().unwrap() {
        "text" => {
            assert_only_fields(part, &["type", "text"]);
            filled(part, "text");
        }
        "image_url" => {
            assert_only_fields(part, &["type", "image_url"]);
            let url = filled(&part["image_url"], "url");
            let is_data = url.starts_with("data:image/") && url.contains(";base64,");
            assert!(is_data || url.starts_with("http://") || url.starts_with("https://"), "{url}");
        }
        "input_audio" => {
            filled(&part["input_audio"], "data");
            assert!(["wav", "mp3"].contains(&part["input_audio"]["format"].as_str().unwrap()));
        }
        "file" => match part["file"].get("file_id") {
            Some(_) => drop(filled(&part["file"], "file_id")),
            None => {
                filled(&part["file"], "filename");
                assert!(filled(&part["file"], "file_data").starts_with("data:"));
            }
        },
        other => panic!("{other} is no content part"),
    }
}

/// Messages of Anthropic's API.
pub(super) fn assert_anthropic_valid(messages: &[Value]) {
    let mut used = HashSet::new();
    let mut waiting: BTreeSet<&str> = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        assert_only_fields(message, &["role", "content"]);
        let role = message["role"].as_str().unwrap();
        assert_eq!(role, ["user", "assistant"][at % 2], "they do not take turns");
        let blocks = message["content"].as_array().unwrap();
        assert!(!blocks.is_empty());
        let mut results_over = false;
        for block in blocks {
            let kind = block["type"].as_str().unwrap();
            match (role, kind) {
                ("user", "tool_result") => {
                    assert_only_fields(block, &["type", "tool_use_id", "content", "is_error"]);
                    assert!(!results_over, "a result after other blocks");
                    assert!(waiting.remove(filled(block, "tool_use_id")), "nobody asked: {block}");
                    let content = block["content"].as_array().unwrap();
                    assert!(!content.is_empty());
                    content.iter().for_each(assert_anthropic_content);
                    continue;
                }
                ("assistant", "tool_use") => {
                    assert_only_fields(block, &["type", "id", "name", "input"]);
                    assert!(block["input"].is_object(), "{block}");
                    assert!(is_word(block["name"].as_str().unwrap(), 128));
                    let id = block["id"].as_str().unwrap();
                    assert!(is_word(id, usize::MAX), "{id}");
                    assert!(used.insert(id), "{id} is used twice");
                    waiting.insert(id);
                }
                ("assistant", "thinking") => {
                    assert_only_fields(block, &["type", "thinking", "signature"]);
                    assert!(block["thinking"].is_string());
                    filled(block, "signature");
                }
                ("assistant", "redacted_thinking") => {
                    assert_only_fields(block, &["type", "data"]);
                    filled(block, "data");
                }
                ("assistant", "text") => drop(filled(block, "text")),
                ("user", _) => assert_anthropic_content(block),
                _ => panic!("{kind} is no block of {role}"),
            }
            if role == "user" && !results_over {
                assert!(waiting.is_empty(), "no results for {waiting:?}");
                results_over = true;
            }
        }
        if role == "user" {
            assert!(waiting.is_empty(), "no results for {waiting:?}");
        }
        let last = blocks.last().unwrap()["type"].as_str().unwrap();
        assert!(!last.contains("thinking"), "a message ends on thinking");
    }
    assert!(waiting.is_empty(), "no results for {waiting:?}");
}

fn assert_anthropic_content(block: &Value) {
    match block["type"].as_str().unwrap() {
        "text" => {
            assert_only_fields(block, &["type", "text"]);
            filled(block, "text");
        }
        kind @ ("image" | "document") => {
            assert_only_fields(block, &["type", "source"]);
            let source = &block["source"];
            match source["type"].as_str().unwrap() {
                "base64" => {
                    let mime = source["media_type"].as_str().unwrap();
                    let mimes: &[&str] = match kind {
                        "image" => &["image/png", "image/jpeg", "image/gif", "image/webp"],
                        _ => &["application/pdf"],
                    };
                    assert!(mimes.contains(&mime), "{mime}");
                    filled(source, "data");
                }
                "url" => assert!(filled(source, "url").starts_with("http")),
                "file" => drop(filled(source, "file_id")),
                other => panic!("{other} is no source"),
            }
        }
        other => panic!("{other} is no block to show"),
    }
}
