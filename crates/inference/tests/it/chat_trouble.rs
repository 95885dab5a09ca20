//! Servers of models that fail, dawdle or talk nonsense.

use crate::chat::{choice, config, request, wrote};
use crate::server::{Reply, Server, complains, raw, status, without_hanging};
use oneiro::{Error, ErrorKind, Llm};
use oneiro_inference::{ChatConfig, OpenAiChat, openai_chat};
use serde_json::json;
use std::net::TcpListener;
use std::time::{Duration, Instant};

/// The error of one call, after checking that it tells what to do and not the key.
fn failure(replies: Vec<Reply>, change: impl FnOnce(&mut ChatConfig)) -> (Error, usize) {
    let server = Server::new(replies);
    let mut config = config(&server);
    change(&mut config);
    let error = OpenAiChat::new(config).unwrap().write(&request()).unwrap_err();
    let said = format!("{error} {error:?} {:?}", error.remedy_text());
    assert!(said.contains(&server.url), "{said}");
    assert!(!said.contains("sk-secret"), "{said}");
    assert!(error.remedy_text().is_some(), "{said}");
    (error, server.requests().len())
}

fn impatient(config: &mut ChatConfig) {
    config.timeout = Duration::from_millis(200);
    config.total_timeout = Duration::from_millis(500);
}

#[test]
fn a_server_in_trouble_is_asked_again() {
    for code in [408, 409, 425, 429, 500, 502, 503] {
        let server = Server::new(vec![status(code), Reply::Close, wrote("Tea.")]);
        let answer = OpenAiChat::new(config(&server)).unwrap().write(&request());
        assert_eq!(answer.unwrap().text, "Tea.", "{code}");
    }
    let (error, asked) = failure(vec![status(500), status(500), status(503)], |_| ());
    assert_eq!((error.kind(), asked), (ErrorKind::Unavailable, 3));
    assert!(error.to_string().contains("answered 503: no luck with ..."), "{error}");
}

#[test]
fn a_refusal_is_not_repeated() {
    for (code, kind) in [
        (400, ErrorKind::Unavailable),
        (401, ErrorKind::Unauthorized),
        (403, ErrorKind::Forbidden),
        (404, ErrorKind::Unavailable),
    ] {
        let (error, asked) = failure(vec![status(code), wrote("Tea.")], |_| ());
        assert_eq!((error.kind(), asked), (kind, 1), "{error:?}");
        assert!(error.to_string().contains(&format!("answered {code}")), "{error}");
    }
}

#[test]
fn a_key_that_is_refused_is_not_sent_again() {
    let server = Server::new(vec![status(401), wrote("Tea.")]);
    let llm = openai_chat(config(&server)).unwrap();
    let error = llm.write(&request()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "nobody's token for us was refused");
    assert!(error.remedy_text().unwrap().contains("key"), "{error:?}");
    let error = llm.write(&request()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("its key was refused"), "{error}");
    assert!(error.to_string().contains("in 30 minutes"), "{error}");
    assert!(!format!("{error:?}").contains("sk-secret"), "{error:?}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_server_says_how_long_to_wait() {
    let server = Server::new(vec![
        Reply::Answer(429, "retry-after: 1\r\n".to_owned(), String::new()),
        wrote("Tea."),
    ]);
    let start = Instant::now();
    OpenAiChat::new(config(&server)).unwrap().write(&request()).unwrap();
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());
    for wait in ["retry-after: 3600\r\n", "retry-after: 18446744073709551615\r\n"] {
        let late = Reply::Answer(429, wait.to_owned(), String::new());
        // A wait that does not fit into the total time is not begun.
        let ten_minutes = |config: &mut ChatConfig| config.total_timeout = Duration::from_secs(600);
        let (error, asked) = without_hanging(|| failure(vec![late, wrote("Tea.")], ten_minutes));
        assert_eq!((error.kind(), asked), (ErrorKind::RateLimited, 1));
    }
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let hang = || failure(vec![Reply::Hang, Reply::Hang, Reply::Hang], impatient);
    let (error, _) = without_hanging(hang);
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("in time"), "{error}");
}

#[test]
fn a_body_that_trickles_is_given_up() {
    let trickle = || failure(vec![Reply::Trickle, Reply::Trickle, Reply::Trickle], impatient);
    let (error, _) = without_hanging(trickle);
    assert!(error.to_string().contains("in time"), "{error}");
}

#[test]
fn an_answer_far_too_large_is_not_read_to_its_end() {
    let (error, asked) = failure(vec![wrote(&"word ".repeat(16 << 20))], |_| ());
    assert!(error.to_string().contains("larger than 8 MB"), "{error}");
    assert_eq!(asked, 1, "it would be as large again");
}

#[test]
fn a_redirect_is_not_followed() {
    let target = Server::new(vec![wrote("Tea.")]);
    let location = format!("location: {}/chat/completions\r\n", target.url);
    for code in [301, 302, 307, 308] {
        let moved = Reply::Answer(code, location.clone(), String::new());
        let (error, asked) = failure(vec![moved], |_| ());
        assert_eq!((error.kind(), asked), (ErrorKind::Unavailable, 1));
        assert!(error.remedy_text().unwrap().contains("redirects to"), "{error:?}");
    }
    assert_eq!(target.requests().len(), 0, "the key stays where it was sent");
}

#[test]
fn nonsense_is_named_and_not_repeated() {
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
        (complains(400, "\u{1b}[31mred\nand more"), "answered 400: [31mred and more"),
        (
            Reply::Answer(502, String::new(), "<html>Bad Gateway</html>".to_owned()),
            "502: <html>Bad Gateway",
        ),
    ] {
        let (error, _) = failure(vec![reply], |config| config.retries = 0);
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
        assert!(error.to_string().contains(expected), "{error} instead of {expected}");
        assert!(!format!("{error:?}").contains("blue tin"), "{error:?}");
    }
}

#[test]
fn a_key_is_not_shown_in_part_where_a_long_complaint_is_cut() {
    let long = format!("{}sk-secret", "x".repeat(295));
    let (error, _) = failure(vec![complains(400, &long)], |_| ());
    assert!(!error.to_string().contains("sk-"), "{error}");
}

#[test]
fn no_server_is_said_plainly() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let config = ChatConfig { retries: 0, ..ChatConfig::new(format!("http://{closed}/v1/"), "m") };
    let error = OpenAiChat::new(config).unwrap().write(&request()).unwrap_err();
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
        let config = ChatConfig { key: key.map(str::to_owned), ..ChatConfig::new(url, model) };
        let shown = format!("{:?}", config.key.as_ref().map(|_| &config));
        assert!(!shown.contains("sk-secret"), "{shown}");
        let Err(error) = openai_chat(config) else { panic!("{url} was taken") };
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(!format!("{error:?}").contains("sk-secret"), "{error}");
    }
}
