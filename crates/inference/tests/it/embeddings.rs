//! The client of an embedding model, against an HTTP server on loopback.

use crate::server::{Reply, Server, raw, status, without_hanging};
use oneiro::ErrorKind;
use oneiro_inference::{EmbeddingConfig, OpenAiEmbedder};
use std::net::TcpListener;
use std::time::{Duration, Instant};

fn embeddings(vectors: &[&[f32]]) -> Reply {
    let items: Vec<_> = vectors
        .iter()
        .enumerate()
        .map(|(index, v)| format!(r#"{{"object":"embedding","index":{index},"embedding":{v:?}}}"#))
        .collect();
    raw(&format!(r#"{{"object":"list","data":[{}],"model":"m"}}"#, items.join(",")))
}

fn client(server: &Server, change: impl FnOnce(&mut EmbeddingConfig)) -> OpenAiEmbedder {
    let mut config = EmbeddingConfig::new(&server.url, "m");
    config.server.key = Some("sk-secret".to_owned());
    config.server.backoff = Duration::from_millis(5);
    config.server.timeout = Duration::from_secs(2);
    config.server.retries = 2;
    change(&mut config);
    OpenAiEmbedder::new(config).unwrap()
}

/// The error of one call. Asserts that it names the address and a remedy, and not the key.
fn assert_embed_fails(replies: Vec<Reply>) -> oneiro::Error {
    let server = Server::new(replies);
    let error = client(&server, |_| ()).embed(&["one", "two"]).unwrap_err();
    let text = format!("{error} {error:?} {:?}", error.remedy_text());
    assert!(text.contains(&server.url), "{text}");
    assert!(!text.contains("sk-secret"), "{text}");
    assert!(error.remedy_text().is_some(), "{text}");
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
    let requests = server.requests();
    assert!(requests[0].starts_with("POST /v1/embeddings "), "{requests:?}");
    assert!(requests[0].contains("Bearer sk-secret"), "{requests:?}");
    let body = requests[0].split("\r\n\r\n").nth(1).unwrap();
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["input"], serde_json::json!(["one", "two"]));
    assert_eq!(body["dimensions"], serde_json::json!(2));
    assert_eq!(body["model"], serde_json::json!("m"));
}

#[test]
fn texts_are_sent_in_batches_and_long_ones_are_cut() {
    let server = Server::new(vec![embeddings(&[&[1.0], &[1.0]]), embeddings(&[&[-1.0]])]);
    let client = client(&server, |c| {
        c.batch = 2;
        c.max_text_bytes = 4;
    });
    let vectors = client.embed(&["aaaé", "", "c"]).unwrap();
    assert_eq!(vectors, [[1.0], [1.0], [-1.0]]);
    let requests = server.requests();
    assert!(requests[0].contains(r#""input":["aaa"," "]"#), "{requests:?}");
    assert!(requests[1].contains(r#""input":["c"]"#), "{requests:?}");
}

#[test]
fn no_texts_send_no_request() {
    let server = Server::new(vec![]);
    assert!(client(&server, |_| ()).embed(&[]).unwrap().is_empty());
}

#[test]
fn retry_after_is_obeyed() {
    let server = Server::new(vec![
        Reply::Answer(429, "retry-after: 1\r\n".to_owned(), String::new()),
        embeddings(&[&[1.0, 0.0]]),
    ]);
    let start = Instant::now();
    assert_eq!(client(&server, |_| ()).embed(&["one"]).unwrap(), [[1.0, 0.0]]);
    assert!(start.elapsed() >= Duration::from_secs(1), "the server sent retry-after");
}

#[test]
fn a_retry_after_beyond_the_total_timeout_fails_at_once() {
    let server =
        Server::new(vec![Reply::Answer(429, "retry-after: 3600\r\n".to_owned(), String::new())]);
    let client = client(&server, |config| config.server.total_timeout = Duration::from_secs(600));
    let error = without_hanging(|| client.embed(&["one"]).unwrap_err());
    assert_eq!(error.kind(), ErrorKind::RateLimited);
}

#[test]
fn a_temporary_error_is_retried_and_then_reported() {
    let server = Server::new(vec![status(500), Reply::Close, embeddings(&[&[1.0]])]);
    assert_eq!(client(&server, |_| ()).embed(&["one"]).unwrap(), [[1.0]]);
    let error = assert_embed_fails(vec![status(500), status(503), status(500)]);
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("answered 500: no luck with ..."), "{error}");
}

#[test]
fn a_permanent_error_is_not_retried() {
    for code in [400, 401, 404, 302] {
        let error = assert_embed_fails(vec![status(code), embeddings(&[&[1.0], &[1.0]])]);
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(error.to_string().contains(&code.to_string()), "{error}");
    }
}

#[test]
fn a_server_that_hangs_times_out() {
    let server = Server::new(vec![Reply::Hang, Reply::Hang, Reply::Hang]);
    let client = client(&server, |c| {
        c.server.timeout = Duration::from_millis(200);
        c.server.total_timeout = Duration::from_millis(500);
    });
    let error = without_hanging(|| client.embed(&["one"]).unwrap_err());
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("in time"), "{error}");
}

#[test]
fn a_closed_port_is_reported_as_unreachable() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut config = EmbeddingConfig::new(format!("http://{closed}/v1/"), "m");
    config.server.retries = 0;
    let error = OpenAiEmbedder::new(config).unwrap().embed(&["one"]).unwrap_err();
    assert!(error.to_string().contains("/v1/embeddings cannot be reached"), "{error}");
}

#[test]
fn malformed_responses_are_refused() {
    let cases = [
        (embeddings(&[&[1.0]]), "1 vectors for 2 texts"),
        (raw("<html>"), "not the expected JSON"),
        (raw(r#"{"data":[{"index":0,"embedding":[NaN]}]}"#), "not the expected JSON"),
        // Refused by the JSON parser or by the check for finite numbers, depending on its features.
        (raw(r#"{"data":[{"embedding":[1]},{"embedding":[1e300]}]}"#), "cannot be used"),
        (raw(r#"{"data":[{"embedding":[1]},{"embedding":[null]}]}"#), "not the expected JSON"),
        (embeddings(&[&[1.0], &[0.0]]), "all zero"),
        (embeddings(&[&[1.0], &[1.0, 2.0]]), "2 numbers where 1"),
        (embeddings(&[&[], &[]]), "0 numbers"),
        (
            raw(r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#),
            "index 0 is given twice",
        ),
        (raw(r#"{"data":[{"index":0,"embedding":[1]},{"index":7,"embedding":[1]}]}"#), "index 7"),
    ];
    for (reply, expected) in cases {
        let error = assert_embed_fails(vec![reply]);
        assert!(error.to_string().contains(expected), "{error} instead of {expected}");
    }
}

#[test]
fn the_dimension_may_not_differ_between_batches_or_from_the_requested_one() {
    let server = Server::new(vec![embeddings(&[&[1.0, 0.0]]), embeddings(&[&[1.0]])]);
    let error = client(&server, |c| c.batch = 1).embed(&["one", "two"]).unwrap_err();
    assert!(error.to_string().contains("1 numbers where 2"), "{error}");
    let server = Server::new(vec![embeddings(&[&[1.0]])]);
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
        let mut config = EmbeddingConfig::new(url, model);
        config.server.key = key.map(str::to_owned);
        let shown = format!("{:?}", config.server.key.as_ref().map(|_| &config));
        assert!(!shown.contains("sk-secret"), "{shown}");
        let Err(error) = OpenAiEmbedder::new(config) else { panic!("{url} was taken") };
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(!format!("{error:?}").contains("sk-secret"), "{error}");
    }
}
