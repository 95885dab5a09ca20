//! The client of embeddings against a real HTTP server on loopback.

use crate::server::{Reply, Server, raw, status, without_hanging};
use oneiro::ErrorKind;
use oneiro_inference::{OpenAiConfig, OpenAiEmbedder};
use std::net::TcpListener;
use std::time::{Duration, Instant};

fn good(vectors: &[&[f32]]) -> Reply {
    let items: Vec<_> = vectors
        .iter()
        .enumerate()
        .map(|(index, v)| format!(r#"{{"object":"embedding","index":{index},"embedding":{v:?}}}"#))
        .collect();
    raw(&format!(r#"{{"object":"list","data":[{}],"model":"m"}}"#, items.join(",")))
}

fn client(server: &Server, change: impl FnOnce(&mut OpenAiConfig)) -> OpenAiEmbedder {
    let mut config = OpenAiConfig::new(&server.url, "m");
    config.key = Some("sk-secret".to_owned());
    config.backoff = Duration::from_millis(5);
    config.timeout = Duration::from_secs(2);
    config.retries = 2;
    change(&mut config);
    OpenAiEmbedder::new(config).unwrap()
}

/// The error of one request, after checking that it names the address and not the key.
fn failure(replies: Vec<Reply>) -> oneiro::Error {
    let server = Server::new(replies);
    let error = client(&server, |_| ()).embed(&["one", "two"]).unwrap_err();
    let said = format!("{error} {error:?} {:?}", error.remedy_text());
    assert!(said.contains(&server.url), "{said}");
    assert!(!said.contains("sk-secret"), "{said}");
    assert!(error.remedy_text().is_some(), "{said}");
    error
}

#[test]
fn vectors_come_in_order_and_of_length_one() {
    let server = Server::new(vec![raw(
        r#"{"data":[{"index":1,"embedding":[0,5]},{"index":0,"embedding":[3,4]}]}"#,
    )]);
    let client = client(&server, |c| c.dimensions = Some(2));
    assert_eq!(client.embed(&["one", "two"]).unwrap(), [vec![0.6, 0.8], vec![0.0, 1.0]]);
    assert_eq!(client.id(), "openai:m:2");
    let asked = server.requests();
    assert!(asked[0].starts_with("POST /v1/embeddings "), "{asked:?}");
    assert!(asked[0].contains("Bearer sk-secret"), "{asked:?}");
    let body = asked[0].split("\r\n\r\n").nth(1).unwrap();
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["input"], serde_json::json!(["one", "two"]));
    assert_eq!(body["dimensions"], serde_json::json!(2));
    assert_eq!(body["model"], serde_json::json!("m"));
}

#[test]
fn many_texts_go_in_batches_and_long_ones_are_cut() {
    let server = Server::new(vec![good(&[&[1.0], &[1.0]]), good(&[&[-1.0]])]);
    let client = client(&server, |c| {
        c.batch = 2;
        c.max_bytes = 4;
    });
    let vectors = client.embed(&["aaaé", "", "c"]).unwrap();
    assert_eq!(vectors, [[1.0], [1.0], [-1.0]]);
    let asked = server.requests();
    assert!(asked[0].contains(r#""input":["aaa"," "]"#), "{asked:?}");
    assert!(asked[1].contains(r#""input":["c"]"#), "{asked:?}");
}

#[test]
fn nothing_to_embed_asks_nothing() {
    let server = Server::new(vec![]);
    assert!(client(&server, |_| ()).embed(&[]).unwrap().is_empty());
}

#[test]
fn too_many_requests_are_waited_out() {
    let server = Server::new(vec![
        Reply::Answer(429, "retry-after: 1\r\n".to_owned(), String::new()),
        good(&[&[1.0, 0.0]]),
    ]);
    let start = Instant::now();
    assert_eq!(client(&server, |_| ()).embed(&["one"]).unwrap(), [[1.0, 0.0]]);
    assert!(start.elapsed() >= Duration::from_secs(1), "the server said how long");
}

#[test]
fn a_wait_beyond_the_total_time_is_not_begun() {
    let server =
        Server::new(vec![Reply::Answer(429, "retry-after: 3600\r\n".to_owned(), String::new())]);
    let client = client(&server, |config| config.total_timeout = Duration::from_secs(600));
    let error = without_hanging(|| client.embed(&["one"]).unwrap_err());
    assert_eq!(error.kind(), ErrorKind::RateLimited);
}

#[test]
fn a_server_in_trouble_is_asked_again_and_then_named() {
    let server = Server::new(vec![status(500), Reply::Close, good(&[&[1.0]])]);
    assert_eq!(client(&server, |_| ()).embed(&["one"]).unwrap(), [[1.0]]);
    let error = failure(vec![status(500), status(503), status(500)]);
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("answered 500: no luck with ..."), "{error}");
}

#[test]
fn a_refusal_is_not_repeated() {
    for code in [400, 401, 404, 302] {
        let error = failure(vec![status(code), good(&[&[1.0], &[1.0]])]);
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(error.to_string().contains(&code.to_string()), "{error}");
    }
}

#[test]
fn a_server_that_hangs_is_given_up() {
    let server = Server::new(vec![Reply::Hang, Reply::Hang, Reply::Hang]);
    let client = client(&server, |c| {
        c.timeout = Duration::from_millis(200);
        c.total_timeout = Duration::from_millis(500);
    });
    let error = without_hanging(|| client.embed(&["one"]).unwrap_err());
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("in time"), "{error}");
}

#[test]
fn no_server_is_said_plainly() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut config = OpenAiConfig::new(format!("http://{closed}/v1/"), "m");
    config.retries = 0;
    let error = OpenAiEmbedder::new(config).unwrap().embed(&["one"]).unwrap_err();
    assert!(error.to_string().contains("/v1/embeddings cannot be reached"), "{error}");
}

#[test]
fn answers_that_cannot_be_trusted_are_refused() {
    let cases = [
        (good(&[&[1.0]]), "1 vectors for 2 texts"),
        (raw("<html>"), "not the expected JSON"),
        (raw(r#"{"data":[{"index":0,"embedding":[NaN]}]}"#), "not the expected JSON"),
        // Refused by the reader of JSON, or by us once it is read, as its features are.
        (raw(r#"{"data":[{"embedding":[1]},{"embedding":[1e300]}]}"#), "cannot be used"),
        (raw(r#"{"data":[{"embedding":[1]},{"embedding":[null]}]}"#), "not the expected JSON"),
        (good(&[&[1.0], &[0.0]]), "all zero"),
        (good(&[&[1.0], &[1.0, 2.0]]), "2 numbers where 1"),
        (good(&[&[], &[]]), "0 numbers"),
        (
            raw(r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#),
            "index 0 is given twice",
        ),
        (raw(r#"{"data":[{"index":0,"embedding":[1]},{"index":7,"embedding":[1]}]}"#), "index 7"),
    ];
    for (reply, expected) in cases {
        let error = failure(vec![reply]);
        assert!(error.to_string().contains(expected), "{error} instead of {expected}");
    }
}

#[test]
fn the_dimension_may_not_change_between_batches_or_from_what_was_asked() {
    let server = Server::new(vec![good(&[&[1.0, 0.0]]), good(&[&[1.0]])]);
    let error = client(&server, |c| c.batch = 1).embed(&["one", "two"]).unwrap_err();
    assert!(error.to_string().contains("1 numbers where 2"), "{error}");
    let server = Server::new(vec![good(&[&[1.0]])]);
    let error = client(&server, |c| c.dimensions = Some(4)).embed(&["one"]).unwrap_err();
    assert!(error.to_string().contains("1 numbers where 4"), "{error}");
}

#[test]
fn a_wrong_configuration_is_refused_and_never_shows_the_key() {
    let cases: [(&str, &str, Option<&str>); 6] = [
        ("localhost:1234/v1", "m", None),
        ("https://", "m", None),
        ("https://me:sk-secret@host/v1", "m", None),
        ("https://host/v1?key=sk-secret", "m", None),
        ("https://host/v1", " ", None),
        ("https://host/v1", "m", Some("sk-secret\n")),
    ];
    for (url, model, key) in cases {
        let mut config = OpenAiConfig::new(url, model);
        config.key = key.map(str::to_owned);
        let shown = format!("{:?}", config.key.as_ref().map(|_| &config));
        assert!(!shown.contains("sk-secret"), "{shown}");
        let Err(error) = OpenAiEmbedder::new(config) else { panic!("{url} was taken") };
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(!format!("{error:?}").contains("sk-secret"), "{error}");
    }
}
