//! Messages for tests.

use serde_json::{Value, json};

/// `count` generated words, deterministic by the seed.
pub fn words(seed: u64, count: usize) -> String {
    const SYLLABLES: [&str; 16] = [
        "ka", "lo", "mi", "ren", "sta", "ur", "vel", "no", "pi", "qua", "tor", "en", "ba", "shi",
        "du", "az",
    ];
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        SYLLABLES.get((state % 16) as usize).copied().unwrap_or("ka")
    };
    let words: Vec<String> = (0..count).map(|_| format!("{}{}", next(), next())).collect();
    words.join(" ")
}

/// Messages with edge cases, as clients send them.
pub fn awkward_messages() -> Vec<Value> {
    let deep = (0..100).fold(json!("bottom"), |inner, _| json!([inner]));
    vec![
        json!({"role": "tool", "tool_call_id": "c0", "content": ""}),
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{\"p\":\"/\"}"}},
            {"id": "c2", "type": "function", "function": {"name": "pwd", "arguments": ""}},
        ]}),
        json!({"role": "tool", "tool_call_id": "c1", "name": "ls", "content": "a\u{0}b\u{1b}[31m"}),
        json!({"role": "user", "content": [
            {"type": "text", "text": "look"},
            {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{}", "QUJD".repeat(30_000))}},
        ]}),
        json!({"role": "assistant", "content": "Robert'); DROP TABLE messages;--", "reasoning": ""}),
        json!({"role": "user", "content": "emoji 🦀, rtl \u{202e}abc, zero\u{200b}width, 漢字, ไทย"}),
        json!({"role": "function", "zeta": 1, "alpha": [1, 2.50, {"k": null}], "content": {"a": true}}),
        json!({"role": "user", "content": deep}),
        json!({"role": "system", "content": "You are careful. ".repeat(200)}),
        json!({"role": "user", "content": "x".repeat(300_000), "note": "y".repeat(70_000)}),
        json!({"role": "user", "content": "tokens and trust", "tokens": 3, "trust": "external"}),
    ]
}
