//! Chat servers that fail, hang or send malformed responses.

use crate::chat::{choice, config, request, wrote};
use crate::server::{Reply, Server, error_reply, raw, status, without_hanging};
use oneiro::{Error, ErrorKind, Llm};
use oneiro_inference::{ChatConfig, OpenAiChat, openai_chat};
use serde_json::json;
use std::net::TcpListener;
use std::time::{Duration, Instant};

/// The error of one call and the number of requests sent. Asserts that the error names the address
/// and a remedy, and not the key.
fn assert_call_fails(replies: Vec<Reply>, change: impl FnOnce(&mut ChatConfig)) -> (Error, usize) {
    let server = Server::new(replies);
    let mut config = config(&server);
    change(&mut config);
    let error = OpenAiChat::new(config).unwrap().complete(&request()).unwrap_err();
    let text = format!("{error} {error:?} {:?}", error.remedy_text());
    assert!(text.contains(&server.url), "{text}");
    assert!(!text.contains("sk-secret"), "{text}");
    assert!(error.remedy_text().is_some(), "{text}");
    (error, server.requests().len())
}

fn short_timeouts(config: &mut ChatConfig) {
    config.server.timeout = Duration::from_millis(200);
    config.server.total_timeout = Duration::from_millis(500);
}

#[test]
fn a_temporary_error_is_retried() {
    for code in [408, 409, 425, 429, 500, 502, 503] {
        let server = Server::new(vec![status(code), Reply::Close, wrote("Tea.")]);
        let answer = OpenAiChat::new(config(&server)).unwrap().complete(&request());
        assert_eq!(answer.unwrap().text, "Tea.", "{code}");
    }
    let (error, requests) = assert_call_fails(vec![status(500), status(500), status(503)], |_| ());
    assert_eq!((error.kind(), requests), (ErrorKind::Unavailable, 3));
    assert!(error.to_string().contains("answered 503: no luck with ..."), "{error}");
}

#[test]
fn a_permanent_error_is_not_retried() {
    for (code, kind) in [
        (400, ErrorKind::Unavailable),
        (401, ErrorKind::Unauthorized),
        (403, ErrorKind::Forbidden),
        (404, ErrorKind::Unavailable),
    ] {
        let (error, requests) = assert_call_fails(vec![status(code), wrote("Tea.")], |_| ());
        assert_eq!((error.kind(), requests), (kind, 1), "{error:?}");
        assert!(error.to_string().contains(&format!("answered {code}")), "{error}");
    }
}

#[test]
fn a_key_that_is_refused_is_not_sent_again() {
    let server = Server::new(vec![status(401), wrote("Tea.")]);
    let llm = openai_chat(config(&server)).unwrap();
    let error = llm.complete(&request()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "the token of the caller was not refused");
    assert!(error.remedy_text().unwrap().contains("key"), "{error:?}");
    let error = llm.complete(&request()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("its key was refused"), "{error}");
    assert!(error.to_string().contains("in 30 minutes"), "{error}");
    assert!(!format!("{error:?}").contains("sk-secret"), "{error:?}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn retry_after_is_obeyed_within_the_total_timeout() {
    let server = Server::new(vec![
        Reply::Answer(429, "retry-after: 1\r\n".to_owned(), String::new()),
        wrote("Tea."),
    ]);
    let start = Instant::now();
    OpenAiChat::new(config(&server)).unwrap().complete(&request()).unwrap();
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());
    for wait in ["retry-after: 3600\r\n", "retry-after: 18446744073709551615\r\n"] {
        let late = Reply::Answer(429, wait.to_owned(), String::new());
        // A wait that does not fit into the total time is not begun.
        let ten_minutes =
            |config: &mut ChatConfig| config.server.total_timeout = Duration::from_secs(600);
        let (error, requests) =
            without_hanging(|| assert_call_fails(vec![late, wrote("Tea.")], ten_minutes));
        assert_eq!((error.kind(), requests), (ErrorKind::RateLimited, 1));
    }
}

#[test]
fn a_server_that_hangs_times_out() {
    let hang = || assert_call_fails(vec![Reply::Hang, Reply::Hang, Reply::Hang], short_timeouts);
    let (error, _) = without_hanging(hang);
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("in time"), "{error}");
}

#[test]
fn a_body_that_trickles_times_out() {
    let trickle =
        || assert_call_fails(vec![Reply::Trickle, Reply::Trickle, Reply::Trickle], short_timeouts);
    let (error, _) = without_hanging(trickle);
    assert!(error.to_string().contains("in time"), "{error}");
}

#[test]
fn a_response_above_8_mb_is_refused_and_not_retried() {
    let (error, requests) = assert_call_fails(vec![wrote(&"word ".repeat(16 << 20))], |_| ());
    assert!(error.to_string().contains("larger than 8 MB"), "{error}");
    assert_eq!(requests, 1, "a retry would be as large");
}

#[test]
fn a_redirect_is_not_followed() {
    let target = Server::new(vec![wrote("Tea.")]);
    let location = format!("location: {}/chat/completions\r\n", target.url);
    for code in [301, 302, 307, 308] {
        let moved = Reply::Answer(code, location.clone(), String::new());
        let (error, requests) = assert_call_fails(vec![moved], |_| ());
        assert_eq!((error.kind(), requests), (ErrorKind::Unavailable, 1));
        assert!(error.remedy_text().unwrap().contains("redirects to"), "{error:?}");
    }
    assert_eq!(target.requests().len(), 0, "the key is not sent to the target");
}

#[test]
fn a_malformed_response_is_described_and_not_quoted() {
    for (reply, expected) in [
        (raw(""), "not the expected JSON"),
        (raw("{\"choices\": [{\"mess"), "not the expected JSON"),
        (raw("<html>sk-secret</html>"), "not the expected JSON"),
        (raw("[]"), "no choices"),
        (raw(r#"{"choices":[]}"#), "no choices"),
        (raw(r#"{"choices":"sk-secret"}"#), "no choices"),
        (raw(r#"{"message":"the tea is in the blue tin"}"#), "no choices"),
        (raw(r#"{"error":{"message":"out of sk-secret credits"}}"#), "out of ... credits"),
        (choice(json!("the tea is in the blue tin")), "wrote nothing"),
        (error_reply(400, "\u{1b}[31mred\nand more"), "answered 400: [31mred and more"),
        (
            Reply::Answer(502, String::new(), "<html>Bad Gateway</html>".to_owned()),
            "502: <html>Bad Gateway",
        ),
    ] {
        let (error, _) = assert_call_fails(vec![reply], |config| config.server.retries = 0);
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
        assert!(error.to_string().contains(expected), "{error} instead of {expected}");
        assert!(!format!("{error:?}").contains("blue tin"), "{error:?}");
    }
}

#[test]
fn a_key_at_the_end_of_a_cut_error_message_is_hidden() {
    let long = format!("{}sk-secret", "x".repeat(295));
    let (error, _) = assert_call_fails(vec![error_reply(400, &long)], |_| ());
    assert!(!error.to_string().contains("sk-"), "{error}");
}

#[test]
fn a_closed_port_is_reported_as_unreachable() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut config = ChatConfig::new(format!("http://{closed}/v1/"), "m");
    config.server.retries = 0;
    let error = OpenAiChat::new(config).unwrap().complete(&request()).unwrap_err();
    assert!(error.to_string().contains("/v1/chat/completions cannot be reached"), "{error}");
}

#[test]
fn a_wrong_configuration_is_refused_and_never_shows_the_key() {
    let cases: [(&str, &str, Option<&str>); 5] = [
        ("localhost:1234/v1", "m", Some("sk-secret")),
        ("https://me:sk-secret@host/v1", "m", None),
        ("https://host/v1?key=sk-secret", "m", None),
        ("https://host/v1", " ", Some("sk-secret")),
        ("https://host/v1", "m", Some("sk-secret\n")),
    ];
    for (url, model, key) in cases {
        let mut config = ChatConfig::new(url, model);
        config.server.key = key.map(str::to_owned);
        let shown = format!("{:?}", config.server.key.as_ref().map(|_| &config));
        assert!(!shown.contains("sk-secret"), "{shown}");
        let Err(error) = openai_chat(config) else { panic!("{url} was taken") };
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(!format!("{error:?}").contains("sk-secret"), "{error}");
    }
}
