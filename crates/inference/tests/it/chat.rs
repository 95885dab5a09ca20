//! What is asked of a model that writes, and what is made of its answers.

use crate::server::{Reply, Server, complains, raw};
use oneiro::{ErrorKind, Llm, LlmAnswer, LlmRequest, Result};
use oneiro_inference::{ChatConfig, OpenAiChat};
use serde_json::{Value, json};
use std::time::Duration;

pub fn config(server: &Server) -> ChatConfig {
    ChatConfig {
        key: Some("sk-secret".to_owned()),
        backoff: Duration::from_millis(5),
        timeout: Duration::from_secs(5),
        ..ChatConfig::new(&server.url, "m")
    }
}

pub fn request() -> LlmRequest<'static> {
    LlmRequest {
        purpose: "leaf",
        instructions: "Summarise.",
        input: "the tea is in the blue tin",
        max_tokens: 40,
        temperature: 0.2,
    }
}

/// An answer with this choice.
pub fn choice(choice: Value) -> Reply {
    let usage = json!({"prompt_tokens": 11, "completion_tokens": 7});
    raw(&json!({"choices": [choice], "usage": usage}).to_string())
}

pub fn wrote(content: &str) -> Reply {
    choice(json!({"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}))
}

fn ask(reply: Reply) -> Result<LlmAnswer> {
    let server = Server::new(vec![reply]);
    OpenAiChat::new(config(&server)).unwrap().write(&request())
}

#[test]
fn a_model_is_asked_as_the_protocol_says_and_its_answer_is_read() {
    let server = Server::new(vec![wrote("  Tea: blue tin.\n")]);
    let chat = OpenAiChat::new(config(&server)).unwrap();
    let answer = chat.write(&request()).unwrap();
    assert_eq!(answer.text, "Tea: blue tin.");
    assert_eq!((answer.input_tokens, answer.output_tokens), (Some(11), Some(7)));
    assert!(!answer.cut_short);
    assert_eq!(chat.id(), "openai:m");
    let asked = server.requests();
    assert!(asked[0].starts_with("POST /v1/chat/completions "), "{asked:?}");
    assert!(asked[0].contains("Bearer sk-secret"), "{asked:?}");
    let body: Value = serde_json::from_str(asked[0].split("\r\n\r\n").nth(1).unwrap()).unwrap();
    let messages = json!([
        {"role": "system", "content": "Summarise."},
        {"role": "user", "content": "the tea is in the blue tin"},
    ]);
    let expected = json!({
        "model": "m", "messages": messages, "max_tokens": 40, "temperature": 0.2, "stream": false,
    });
    assert_eq!(body, expected);
}

#[test]
fn a_server_without_a_key_gets_none() {
    let server = Server::new(vec![wrote("Tea.")]);
    let config = ChatConfig { key: None, ..config(&server) };
    OpenAiChat::new(config).unwrap().write(&request()).unwrap();
    assert!(!server.requests()[0].to_lowercase().contains("authorization"));
}

#[test]
fn parts_of_a_list_are_joined_and_reasoning_is_left_out() {
    let parts = json!([
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "reasoning", "text": "hm"},
        {"type": "text", "text": "Tea: "},
        {"type": "text", "text": "blue tin."},
    ]);
    assert_eq!(ask(choice(json!({"message": {"content": parts}}))).unwrap().text, "Tea: blue tin.");
}

#[test]
fn what_surrounds_the_text_is_taken_off() {
    let content = "<think>They want it short.</think>\n\n```markdown\nTea: blue tin.\n```";
    assert_eq!(ask(wrote(content)).unwrap().text, "Tea: blue tin.");
}

#[test]
fn an_answer_that_was_cut_short_says_so() {
    let cut = json!({"message": {"content": "Tea: bl"}, "finish_reason": "length"});
    let answer = ask(choice(cut)).unwrap();
    assert_eq!((answer.text.as_str(), answer.cut_short), ("Tea: bl", true));
}

#[test]
fn counts_that_were_not_told_are_not_made_up() {
    for usage in [json!({}), json!({"usage": null}), json!({"usage": {"prompt_tokens": "many"}})] {
        let mut body = json!({"choices": [{"message": {"content": "Tea."}}]});
        body.as_object_mut().unwrap().extend(usage.as_object().unwrap().clone());
        let answer = ask(raw(&body.to_string())).unwrap();
        assert_eq!((answer.input_tokens, answer.output_tokens), (None, None), "{body}");
    }
}

#[test]
fn more_than_was_asked_for_is_handed_over_whole() {
    let text = "word ".repeat(400);
    let answer = ask(wrote(&text)).unwrap();
    assert_eq!(answer.text, text.trim());
}

#[test]
fn a_refusal_is_about_the_text_and_does_not_repeat_it() {
    let said = "I cannot help with the blue tin";
    for refused in [
        json!({"message": {"content": null, "refusal": said}, "finish_reason": "stop"}),
        json!({"message": {"content": [{"type": "refusal", "refusal": said}]}}),
        json!({"message": {"content": said}, "finish_reason": "content_filter"}),
    ] {
        let error = ask(choice(refused)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error:?}");
        assert!(!format!("{error:?}").contains("blue tin"), "{error:?}");
        assert!(error.remedy_text().is_some());
    }
}

#[test]
fn an_answer_without_text_is_an_error() {
    for (message, reason) in [
        (json!({"content": null}), "stop"),
        (json!({}), "stop"),
        (json!({"content": "  \n"}), "stop"),
        (json!({"content": []}), "stop"),
        (json!({"content": 5}), "stop"),
        (json!({"content": null, "tool_calls": []}), "tool_calls"),
        (json!({"content": "<think>and so on and so"}), "length"),
        (json!({"content": "Tea: bl"}), "error"),
    ] {
        let choice_made = json!({"message": message, "finish_reason": reason});
        let error = ask(choice(choice_made)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{message}: {error:?}");
    }
    assert!(ask(choice(json!(null))).unwrap_err().to_string().contains("wrote nothing"));
}

/// The model takes neither the usual limit nor a temperature.
fn particular() -> Vec<Reply> {
    vec![
        complains(
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
             'max_completion_tokens' instead.",
        ),
        complains(
            400,
            "Unsupported value: 'temperature' does not support 0.2 with this model. Only the \
             default (1) value is supported.",
        ),
        wrote("Tea."),
        wrote("Tin."),
    ]
}

#[test]
fn fields_that_a_model_refuses_are_changed_once_and_remembered() {
    let server = Server::new(particular());
    let chat = OpenAiChat::new(config(&server)).unwrap();
    assert_eq!(chat.write(&request()).unwrap().text, "Tea.");
    assert_eq!(chat.write(&request()).unwrap().text, "Tin.");
    let fields = |body: &Value| {
        ["max_tokens", "max_completion_tokens", "temperature"].map(|name| body.get(name).is_some())
    };
    let bodies = server.bodies();
    assert_eq!(
        bodies.iter().map(fields).collect::<Vec<_>>(),
        [[true, false, true], [false, true, true], [false, true, false], [false, true, false]]
    );
    assert_eq!(bodies[3]["max_completion_tokens"], json!(40));
}

#[test]
fn a_spelling_that_does_not_help_is_not_remembered() {
    let refusal = || complains(400, "'max_tokens' and 'max_completion_tokens' are both odd");
    let server = Server::new(vec![refusal(), refusal(), wrote("Tea.")]);
    let chat = OpenAiChat::new(config(&server)).unwrap();
    let error = chat.write(&request()).unwrap_err();
    assert!(error.to_string().contains("answered 400"), "{error}");
    chat.write(&request()).unwrap();
    let spelling = |body: &Value| body.get("max_tokens").is_some();
    assert_eq!(server.bodies().iter().map(spelling).collect::<Vec<_>>(), [true, false, true]);
}

#[test]
fn a_request_above_the_window_is_too_large_and_not_respelled() {
    for (code, complaint) in [
        (400, "This model's maximum context length is 8192 tokens; reduce max_tokens"),
        (400, "'max_tokens' is too large: 99999"),
        (413, ""),
    ] {
        let server = Server::new(vec![complains(code, complaint), wrote("Tea.")]);
        let error = OpenAiChat::new(config(&server)).unwrap().write(&request()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge, "{error:?}");
        assert_eq!(server.requests().len(), 1);
    }
}
