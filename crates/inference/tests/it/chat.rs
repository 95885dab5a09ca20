//! Requests to a chat model, and how its responses are read.

use crate::server::{Reply, Server, error_reply, raw};
use oneiro::{ErrorKind, Llm, LlmRequest, LlmResponse, Result};
use oneiro_inference::{ChatConfig, OpenAiChat};
use serde_json::{Value, json};
use std::time::Duration;

pub fn config(server: &Server) -> ChatConfig {
    let mut config = ChatConfig::new(&server.url, "m");
    config.server.key = Some("sk-secret".to_owned());
    config.server.backoff = Duration::from_millis(5);
    config.server.timeout = Duration::from_secs(5);
    config
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

/// A response with this choice.
pub fn choice(choice: Value) -> Reply {
    let usage = json!({"prompt_tokens": 11, "completion_tokens": 7});
    raw(&json!({"choices": [choice], "usage": usage}).to_string())
}

pub fn wrote(content: &str) -> Reply {
    choice(json!({"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}))
}

fn complete(reply: Reply) -> Result<LlmResponse> {
    let server = Server::new(vec![reply]);
    OpenAiChat::new(config(&server)).unwrap().complete(&request())
}

#[test]
fn a_request_follows_the_api_and_its_response_is_read() {
    let server = Server::new(vec![wrote("  Tea: blue tin.\n")]);
    let chat = OpenAiChat::new(config(&server)).unwrap();
    let answer = chat.complete(&request()).unwrap();
    assert_eq!(answer.text, "Tea: blue tin.");
    assert_eq!((answer.input_tokens, answer.output_tokens), (Some(11), Some(7)));
    assert!(!answer.cut_short);
    assert_eq!(chat.id(), "openai:m");
    let requests = server.requests();
    assert!(requests[0].starts_with("POST /v1/chat/completions "), "{requests:?}");
    assert!(requests[0].contains("Bearer sk-secret"), "{requests:?}");
    let body: Value = serde_json::from_str(requests[0].split("\r\n\r\n").nth(1).unwrap()).unwrap();
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
fn no_authorization_is_sent_without_a_key() {
    let server = Server::new(vec![wrote("Tea.")]);
    let mut config = config(&server);
    config.server.key = None;
    OpenAiChat::new(config).unwrap().complete(&request()).unwrap();
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
    assert_eq!(
        complete(choice(json!({"message": {"content": parts}}))).unwrap().text,
        "Tea: blue tin."
    );
}

#[test]
fn reasoning_and_a_fence_around_the_text_are_stripped() {
    let content = "<think>They want it short.</think>\n\n```markdown\nTea: blue tin.\n```";
    assert_eq!(complete(wrote(content)).unwrap().text, "Tea: blue tin.");
}

#[test]
fn a_response_cut_at_its_token_limit_is_marked_as_cut_short() {
    let cut = json!({"message": {"content": "Tea: bl"}, "finish_reason": "length"});
    let answer = complete(choice(cut)).unwrap();
    assert_eq!((answer.text.as_str(), answer.cut_short), ("Tea: bl", true));
}

#[test]
fn token_counts_that_the_server_does_not_report_are_none() {
    for usage in [json!({}), json!({"usage": null}), json!({"usage": {"prompt_tokens": "many"}})] {
        let mut body = json!({"choices": [{"message": {"content": "Tea."}}]});
        body.as_object_mut().unwrap().extend(usage.as_object().unwrap().clone());
        let answer = complete(raw(&body.to_string())).unwrap();
        assert_eq!((answer.input_tokens, answer.output_tokens), (None, None), "{body}");
    }
}

#[test]
fn a_text_longer_than_the_token_limit_is_returned_in_full() {
    let text = "word ".repeat(400);
    let answer = complete(wrote(&text)).unwrap();
    assert_eq!(answer.text, text.trim());
}

#[test]
fn a_refusal_is_an_invalid_request_and_does_not_repeat_the_text() {
    let said = "I cannot help with the blue tin";
    for refused in [
        json!({"message": {"content": null, "refusal": said}, "finish_reason": "stop"}),
        json!({"message": {"content": [{"type": "refusal", "refusal": said}]}}),
        json!({"message": {"content": said}, "finish_reason": "content_filter"}),
    ] {
        let error = complete(choice(refused)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error:?}");
        assert!(!format!("{error:?}").contains("blue tin"), "{error:?}");
        assert!(error.remedy_text().is_some());
    }
}

#[test]
fn a_response_without_text_is_an_error() {
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
        let made_choice = json!({"message": message, "finish_reason": reason});
        let error = complete(choice(made_choice)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{message}: {error:?}");
    }
    assert!(complete(choice(json!(null))).unwrap_err().to_string().contains("wrote nothing"));
}

/// The model accepts neither `max_tokens` nor a temperature.
fn replies_of_a_reasoning_model() -> Vec<Reply> {
    vec![
        error_reply(
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
             'max_completion_tokens' instead.",
        ),
        error_reply(
            400,
            "Unsupported value: 'temperature' does not support 0.2 with this model. Only the \
             default (1) value is supported.",
        ),
        wrote("Tea."),
        wrote("Tin."),
    ]
}

#[test]
fn parameters_that_a_model_refuses_are_changed_once_and_remembered() {
    let server = Server::new(replies_of_a_reasoning_model());
    let chat = OpenAiChat::new(config(&server)).unwrap();
    assert_eq!(chat.complete(&request()).unwrap().text, "Tea.");
    assert_eq!(chat.complete(&request()).unwrap().text, "Tin.");
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
fn a_parameter_change_that_does_not_help_is_not_remembered() {
    let refusal = || error_reply(400, "'max_tokens' and 'max_completion_tokens' are both odd");
    let server = Server::new(vec![refusal(), refusal(), wrote("Tea.")]);
    let chat = OpenAiChat::new(config(&server)).unwrap();
    let error = chat.complete(&request()).unwrap_err();
    assert!(error.to_string().contains("answered 400"), "{error}");
    chat.complete(&request()).unwrap();
    let has_max_tokens = |body: &Value| body.get("max_tokens").is_some();
    assert_eq!(server.bodies().iter().map(has_max_tokens).collect::<Vec<_>>(), [true, false, true]);
}

#[test]
fn a_request_above_the_context_window_is_too_large_and_sent_once() {
    for (code, message_text) in [
        (400, "This model's maximum context length is 8192 tokens; reduce max_tokens"),
        (400, "'max_tokens' is too large: 99999"),
        (413, ""),
    ] {
        let server = Server::new(vec![error_reply(code, message_text), wrote("Tea.")]);
        let error = OpenAiChat::new(config(&server)).unwrap().complete(&request()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge, "{error:?}");
        assert_eq!(server.requests().len(), 1);
    }
}
