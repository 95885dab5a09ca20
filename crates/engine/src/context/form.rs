//! The forms in which a window shows a message, and their tokens: what is cut from a large message,
//! and the handle to read it by.

use super::media::{Media, size};
use super::part::{Part, is_result, parts};
use oneiro_model::{HarnessSpan, Message, MessageId, Role};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// How much of a message a window shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Everything.
    Full,
    /// Large texts by their head and tail, media by a handle, no thinking.
    Short,
}

/// Texts with more tokens are large.
pub(crate) const LARGE_TEXT_TOKENS: usize = 2_000;
/// Tokens kept of the head and of the tail of a large text.
const HEAD_TOKENS: usize = 360;
const TAIL_TOKENS: usize = 240;

/// Minimum length of base64 that counts as bytes, in a data URL and elsewhere.
const DATA_URL_BASE64_CHARS: usize = 64;
const BASE64_CHARS: usize = 1_024;

/// Tokens that a provider adds per message and per part.
const MESSAGE_OVERHEAD_TOKENS: usize = 4;
const PART_OVERHEAD_TOKENS: usize = 3;

/// Fields with the agent's thinking.
const REASONING_FIELDS: [&str; 4] =
    ["reasoning", "reasoning_content", "reasoning_details", "thinking"];

/// Tokens of a message in a prompt. A count given by the caller (`tokens`) is used as it is.
pub(crate) fn cost(message: &Message, form: Form) -> usize {
    match form {
        Form::Full => full_cost(message),
        Form::Short => costs(message).1,
    }
}

/// Tokens of a message in full and in its short form, which never has more.
pub(crate) fn costs(message: &Message) -> (usize, usize) {
    let full = full_cost(message);
    match short(message) {
        Cow::Owned(short) => (full, counted(&short).min(full)),
        Cow::Borrowed(_) => (full, full),
    }
}

fn full_cost(message: &Message) -> usize {
    let given = message.body.get("tokens").and_then(Value::as_u64).filter(|given| *given > 0);
    match given {
        Some(given) => usize::try_from(given).unwrap_or(usize::MAX),
        None => counted(message),
    }
}

fn counted(message: &Message) -> usize {
    let name = message.body.get("name").and_then(Value::as_str).unwrap_or_default();
    let role = match &message.role {
        Role::Other(role) => oneiro_count::tokens(role),
        _ => 0,
    };
    MESSAGE_OVERHEAD_TOKENS + oneiro_count::tokens(name) + role + parts_cost(&parts(message))
}

fn parts_cost(parts: &[Part<'_>]) -> usize {
    let one = |part: &Part<'_>| match part {
        Part::Text(text) => oneiro_count::tokens(text),
        Part::Media(media) => media.tokens(),
        Part::Thinking(block) => {
            block.get("thinking").and_then(Value::as_str).map_or(0, oneiro_count::tokens)
        }
        Part::Call(call) => {
            let arguments = oneiro_count::tokens(&call.arguments_text());
            oneiro_count::tokens(&call.id) + oneiro_count::tokens(call.name) + arguments
        }
        Part::Result(result) => oneiro_count::tokens(&result.id) + parts_cost(&result.content),
    };
    parts.iter().map(|part| PART_OVERHEAD_TOKENS + one(part)).sum()
}

/// The short form of a message; the message itself if nothing in it is large. Ids of calls and
/// results are kept.
pub(crate) fn short(message: &Message) -> Cow<'_, Message> {
    let cut = Cut { message: message.id };
    let mut body = Cow::Borrowed(&message.body);
    for name in REASONING_FIELDS {
        if body.contains_key(name) {
            body.to_mut().shift_remove(name);
        }
    }
    let content = message.body.get("content").and_then(|content| match message.role {
        Role::Tool => cut.result(content),
        _ if is_thinking(content) => Some(Value::Null),
        _ => cut.content(content),
    });
    if let Some(content) = content {
        body.to_mut().insert("content".to_owned(), content);
        HarnessSpan::remove_all(body.to_mut());
    }
    if let Some(calls) = message.body.get("tool_calls").and_then(|calls| cut.calls(calls)) {
        body.to_mut().insert("tool_calls".to_owned(), calls);
    }
    match body {
        Cow::Borrowed(_) => Cow::Borrowed(message),
        Cow::Owned(mut body) => {
            // The caller's count was for the whole message.
            body.shift_remove("tokens");
            Cow::Owned(Message { body, ..message.clone() })
        }
    }
}

/// Shortens the large parts of one message's JSON. Each function returns the replacement of a
/// value, or `None` if it is unchanged.
struct Cut {
    message: MessageId,
}

impl Cut {
    fn content(&self, content: &Value) -> Option<Value> {
        match content {
            Value::Array(blocks) => {
                let kept: Vec<&Value> = blocks.iter().filter(|block| !is_thinking(block)).collect();
                let cut: Vec<Option<Value>> =
                    kept.iter().map(|block| self.content(block)).collect();
                if kept.len() == blocks.len() && cut.iter().all(Option::is_none) {
                    return None;
                }
                let blocks = kept.into_iter().zip(cut);
                Some(blocks.map(|(block, cut)| cut.unwrap_or_else(|| block.clone())).collect())
            }
            Value::Object(block) => self.block(block),
            other => self.leaves(other),
        }
    }

    fn block(&self, block: &Map<String, Value>) -> Option<Value> {
        if let Some(media) = Media::of(block) {
            return Some(json!({"type": "text", "text": media.handle(self.message)}));
        }
        let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
        match kind {
            _ if is_result(kind) => self.field(block, "content", |content| self.result(content)),
            _ if kind.ends_with("tool_use") => {
                self.field(block, "input", |input| self.leaves(input))
            }
            _ => self.fields(block),
        }
    }

    /// The content of a tool result, whose texts are large together.
    fn result(&self, content: &Value) -> Option<Value> {
        let cut = self.content(content);
        let Value::Array(blocks) = cut.as_ref().unwrap_or(content) else { return cut };
        let texts: Option<Vec<&str>> = blocks
            .iter()
            .map(|block| block.as_str().or_else(|| block.get("text").and_then(Value::as_str)))
            .collect();
        let Some(texts) = texts else { return cut };
        let all = texts.join("\n");
        match shortened(&all, self.message) {
            Cow::Owned(all) => Some(json!([{"type": "text", "text": all}])),
            Cow::Borrowed(_) => cut,
        }
    }

    fn calls(&self, calls: &Value) -> Option<Value> {
        match calls {
            Value::Array(all) => {
                let cut: Vec<Option<Value>> = all.iter().map(|call| self.calls(call)).collect();
                if cut.iter().all(Option::is_none) {
                    return None;
                }
                let pairs = all.iter().zip(cut);
                Some(pairs.map(|(call, cut)| cut.unwrap_or_else(|| call.clone())).collect())
            }
            Value::Object(call) if call.get("function").is_some_and(Value::is_object) => {
                self.field(call, "function", |function| self.calls(function))
            }
            Value::Object(call) => {
                let name = if call.contains_key("arguments") { "arguments" } else { "input" };
                self.field(call, name, |arguments| self.arguments(arguments))
            }
            _ => None,
        }
    }

    /// Arguments are a JSON string and stay valid JSON: the large texts inside are shortened.
    fn arguments(&self, arguments: &Value) -> Option<Value> {
        let Value::String(text) = arguments else { return self.leaves(arguments) };
        match serde_json::from_str::<Value>(text) {
            Ok(inner @ (Value::Object(_) | Value::Array(_))) => {
                self.leaves(&inner).map(|inner| Value::from(inner.to_string()))
            }
            _ => self.leaves(arguments),
        }
    }

    /// Shortens every text inside a value.
    fn leaves(&self, value: &Value) -> Option<Value> {
        match value {
            Value::String(text) => match shortened(text, self.message) {
                Cow::Borrowed(_) => None,
                Cow::Owned(short) => Some(short.into()),
            },
            Value::Array(items) => {
                let cut: Vec<Option<Value>> = items.iter().map(|item| self.leaves(item)).collect();
                if cut.iter().all(Option::is_none) {
                    return None;
                }
                let pairs = items.iter().zip(cut);
                Some(pairs.map(|(item, cut)| cut.unwrap_or_else(|| item.clone())).collect())
            }
            Value::Object(fields) => self.fields(fields),
            _ => None,
        }
    }

    fn fields(&self, fields: &Map<String, Value>) -> Option<Value> {
        let mut cut = Cow::Borrowed(fields);
        for (name, value) in fields {
            if let Some(value) = self.leaves(value) {
                cut.to_mut().insert(name.clone(), value);
            }
        }
        match cut {
            Cow::Borrowed(_) => None,
            Cow::Owned(fields) => Some(Value::Object(fields)),
        }
    }

    fn field(
        &self,
        fields: &Map<String, Value>,
        name: &str,
        cut: impl FnOnce(&Value) -> Option<Value>,
    ) -> Option<Value> {
        let value = cut(fields.get(name)?)?;
        let mut fields = fields.clone();
        fields.insert(name.to_owned(), value);
        Some(Value::Object(fields))
    }
}

fn is_thinking(block: &Value) -> bool {
    let kind = block.get("type").and_then(Value::as_str);
    matches!(kind, Some("thinking" | "redacted_thinking" | "reasoning"))
}

/// Head and tail of a text if it is large; always without base64.
fn shortened(text: &str, message: MessageId) -> Cow<'_, str> {
    let text = without_base64(text, message);
    if !oneiro_count::exceeds(&text, LARGE_TEXT_TOKENS) {
        return text;
    }
    let head = beginning(&text);
    let rest = text.get(head.len()..).unwrap_or_default();
    let tail = ending(rest);
    let left_out = rest.get(..rest.len() - tail.len()).unwrap_or_default().chars().count();
    let left_out = oneiro_model::thousands(left_out as u64);
    let (before, after) = (head.trim_end_matches('\n'), tail.trim_start_matches('\n'));
    Cow::Owned(format!(
        "{before}\n[… {left_out} characters left out; read them all with session_expand id \
         {message} …]\n{after}"
    ))
}

/// The head of a text, up to a near line end.
fn beginning(text: &str) -> &str {
    let mut chars = HEAD_TOKENS * 8;
    loop {
        let end = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
        let head = text.get(..end).unwrap_or_default();
        let tokens = oneiro_count::tokens(head);
        if tokens <= HEAD_TOKENS || chars == 0 {
            let near = head.rfind('\n').filter(|at| *at >= head.len() * 3 / 4);
            return near.and_then(|at| head.get(..=at)).unwrap_or(head);
        }
        chars = (chars * HEAD_TOKENS / tokens).min(chars - 1);
    }
}

/// The tail of a text, from a near line start.
fn ending(text: &str) -> &str {
    let mut chars = TAIL_TOKENS * 8;
    loop {
        let back = text.char_indices().rev().nth(chars.saturating_sub(1));
        let start = if chars == 0 { text.len() } else { back.map_or(0, |(at, _)| at) };
        let tail = text.get(start..).unwrap_or_default();
        let tokens = oneiro_count::tokens(tail);
        if tokens <= TAIL_TOKENS || chars == 0 {
            let near = tail.find('\n').filter(|at| *at <= tail.len() / 4);
            return near.and_then(|at| tail.get(at + 1..)).unwrap_or(tail);
        }
        chars = (chars * TAIL_TOKENS / tokens).min(chars - 1);
    }
}

/// The text with a handle in place of each base64 run.
fn without_base64(text: &str, message: MessageId) -> Cow<'_, str> {
    let mut out = String::new();
    let mut done = 0;
    let mut from = 0;
    while let Some(rest) = text.get(from..).filter(|rest| rest.len() >= DATA_URL_BASE64_CHARS) {
        let skipped = rest.bytes().take_while(|byte| !is_base64(*byte)).count();
        let run = rest.bytes().skip(skipped).take_while(|byte| is_base64(*byte)).count();
        let start = from + skipped;
        from = start + run;
        let before = text.get(done..start).unwrap_or_default();
        let data = text.get(start..from).unwrap_or_default();
        if let (true, Some((address, mime))) =
            (run >= DATA_URL_BASE64_CHARS, address_before(before))
        {
            out.push_str(before.get(..address).unwrap_or_default());
            out.push_str(&format!("[{mime}, {}; message {message}]", size(data)));
            done = from;
        } else if run >= BASE64_CHARS && looks_mixed(data) {
            out.push_str(before);
            out.push_str(&format!("[base64, {}; message {message}]", size(data)));
            done = from;
        }
        if run == 0 {
            break;
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(out)
}

/// The start of `data:..;base64,` at the end of a text, and its media type.
fn address_before(text: &str) -> Option<(usize, &str)> {
    let head = text.strip_suffix(";base64,")?;
    let at = head.rfind("data:")?;
    let mime = head.get(at + "data:".len()..)?;
    let is_mime = |byte: u8| byte.is_ascii_alphanumeric() || b"/+-.;=_".contains(&byte);
    let named = mime.split(';').next().filter(|mime| !mime.is_empty()).unwrap_or("data");
    mime.bytes().all(is_mime).then_some((at, named))
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=-_".contains(&byte)
}

/// Rulers, hashes and repeated letters are long as well; encoded bytes mix all kinds of characters.
fn looks_mixed(text: &str) -> bool {
    let has = |is: fn(&u8) -> bool| text.as_bytes().iter().any(is);
    has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::super::samples::message;
    use super::*;
    use oneiro_count::tokens;

    fn long(lines: usize) -> String {
        (0..lines).map(|line| format!("line {line} of the log says nothing new\n")).collect()
    }

    /// What of a text stays, and how many characters the marker says do not.
    fn taken_apart(short: &str) -> (&str, usize, &str) {
        let (head, rest) = short.split_once("\n[… ").unwrap();
        let (count, rest) = rest.split_once(" characters left out; ").unwrap();
        let (how, tail) = rest.split_once(" …]\n").unwrap();
        assert_eq!(how, "read them all with session_expand id 1234");
        (head, count.replace(',', "").parse().unwrap(), tail)
    }

    #[test]
    fn a_large_text_keeps_its_beginning_and_its_end() {
        for text in [long(2_000), "な".repeat(30_000), "word ".repeat(9_000), "x".repeat(99_999)] {
            let whole = message(1234, "tool", json!({"tool_call_id": "c", "content": text}));
            let short = short(&whole);
            let shown = short.body["content"].as_str().unwrap();
            let (head, left_out, tail) = taken_apart(shown);
            assert!(text.starts_with(head) && text.ends_with(tail), "{shown}");
            let kept = head.chars().count() + tail.chars().count();
            let line_ends = 2;
            assert!(text.chars().count().abs_diff(kept + left_out) <= line_ends);
            assert!((HEAD_TOKENS / 2..=HEAD_TOKENS).contains(&tokens(head)), "{}", tokens(head));
            assert!((TAIL_TOKENS / 2..=TAIL_TOKENS).contains(&tokens(tail)), "{}", tokens(tail));
            assert_eq!(short.body["tool_call_id"], "c");
        }
        let whole = message(1234, "user", json!({"content": long(2_000)}));
        let short = short(&whole);
        let (head, _, tail) = taken_apart(short.body["content"].as_str().unwrap());
        assert!(head.ends_with("nothing new") && tail.starts_with("line "), "cut at line ends");
    }

    #[test]
    fn what_is_small_stays_as_it_is() {
        for body in [
            json!({"content": "hi", "tokens": 3, "odd": {"kept": [1.50]}}),
            json!({"content": "word ".repeat(LARGE_TEXT_TOKENS / 2)}),
            json!({"content": [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "c"}]}),
            json!({"content": 5, "tool_calls": "odd"}),
            json!({}),
        ] {
            let whole = message(1, "assistant", body);
            assert!(matches!(short(&whole), Cow::Borrowed(_)), "{:?}", whole.body);
            assert_eq!(cost(&whole, Form::Short), cost(&whole, Form::Full));
        }
    }

    #[test]
    fn bytes_and_thinking_go() {
        let data: String = "iVBORw0KGgo9aB".repeat(4_000);
        let url = format!("data:image/png;base64,{data}");
        for (role, body, want) in [
            (
                "user",
                json!({"content": [{"type": "image_url", "image_url": {"url": url}}]}),
                json!({"content": [{"type": "text", "text": "[image/png, 42 kB; message 7]"}]}),
            ),
            (
                "user",
                json!({"content": [{"type": "tool_result", "tool_use_id": "c", "content": [
                    {"type": "image", "source": {"media_type": "image/gif", "data": data}}]}]}),
                json!({"content": [{"type": "tool_result", "tool_use_id": "c", "content": [
                    {"type": "text", "text": "[image/gif, 42 kB; message 7]"}]}]}),
            ),
            (
                "tool",
                json!({"content": format!("{{\"shot\":\"{url}\",\"raw\":\"{data}\"}}")}),
                json!({"content": "{\"shot\":\"[image/png, 42 kB; message 7]\",\
                    \"raw\":\"[base64, 42 kB; message 7]\"}"}),
            ),
            (
                "assistant",
                json!({"content": [{"type": "thinking", "thinking": "hm", "signature": "s"},
                    {"type": "text", "text": "so"}], "reasoning": "hm", "tokens": 9}),
                json!({"content": [{"type": "text", "text": "so"}]}),
            ),
        ] {
            let whole = message(7, role, body);
            let cut = short(&whole);
            assert_eq!(Value::Object(cut.body.clone()), want);
            assert!(matches!(short(&cut), Cow::Borrowed(_)), "once is enough");
        }
    }

    #[test]
    fn calls_stay_json_and_results_are_large_together() {
        let arguments = json!({"path": "a.rs", "content": long(2_000)}).to_string();
        let calls = json!([{"id": "c", "function": {"name": "write", "arguments": arguments}}]);
        let whole = message(1234, "assistant", json!({"content": null, "tool_calls": calls}));
        let cut = short(&whole);
        let call = &cut.body["tool_calls"][0];
        let kept: Value =
            serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
        assert_eq!((&call["id"], &kept["path"]), (&json!("c"), &json!("a.rs")));
        taken_apart(kept["content"].as_str().unwrap());
        assert!(cost(&whole, Form::Short) < LARGE_TEXT_TOKENS);

        let blocks: Vec<Value> =
            (0..40).map(|_| json!({"type": "text", "text": long(10)})).collect();
        let whole = message(1234, "tool", json!({"content": blocks}));
        taken_apart(short(&whole).body["content"][0]["text"].as_str().unwrap());
    }

    #[test]
    fn costs_count_what_is_sent() {
        let data = "A".repeat(50_000);
        for (role, body, want) in [
            ("user", json!({"content": "hello"}), 4 + 3 + tokens("hello")),
            (
                "user",
                json!({"content": "hello", "name": "Ann"}),
                7 + tokens("hello") + tokens("Ann"),
            ),
            ("user", json!({"content": "hello", "tokens": 99}), 99),
            ("user", json!({"content": "hello", "tokens": 0}), 7 + tokens("hello")),
            ("user", json!({"content": "hello", "external_id": data}), 7 + tokens("hello")),
            ("user", json!({"content": [{"type": "image", "data": data}]}), 4 + 3 + 800),
            ("user", json!({"content": [{"type": "file", "file": {"file_data": data}}]}), 1_607),
            (
                "assistant",
                json!({"content": "so", "tool_calls": [
                    {"id": "c", "function": {"name": "ls", "arguments": "{\"a\":1}"}}]}),
                4 + 6 + tokens("so") + tokens("c") + tokens("ls") + tokens("{\"a\":1}"),
            ),
            (
                "tool",
                json!({"tool_call_id": "c", "content": "out"}),
                4 + 6 + tokens("c") + tokens("out"),
            ),
        ] {
            assert_eq!(cost(&message(1, role, body.clone()), Form::Full), want, "{body}");
        }
        let large = message(1, "user", json!({"content": long(2_000), "tokens": 5}));
        assert_eq!(cost(&large, Form::Short), 5, "never above what the whole costs");
    }
}
