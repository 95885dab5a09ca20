//! The HTTP service as a server mounts it: every protocol version, each request by itself, and
//! nobody without a space.

use crate::support::{append_texts, open};
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use oneiro::Oneiro;
use oneiro_mcp::{Caller, ModelLimits, ModelPermits, TokenRole, http_service};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use serde_json::{Value, json};
use tower_service::Service;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn request(body: &Value) -> http::request::Builder {
    let method = body["method"].as_str().unwrap_or_default();
    let mut request = Request::post("/mcp")
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json, text/event-stream")
        .header(header::HOST, "memory.example")
        .header("Mcp-Method", method);
    let named = body["params"]["name"].as_str().or(body["params"]["uri"].as_str());
    if let Some(name) = named.filter(|name| !name.contains(char::is_control)) {
        request = request.header("Mcp-Name", name);
    }
    request
}

fn permits() -> ModelPermits {
    let timeout = std::time::Duration::from_secs(60);
    ModelPermits::new(ModelLimits { running: 1, waiting: 1, timeout })
}

async fn send(request: Request<Full<bytes::Bytes>>) -> (StatusCode, String) {
    // A panic on a thread of the service would otherwise be waited for without end.
    let answered = http_service(permits()).call(request);
    let within = std::time::Duration::from_secs(60);
    let response = tokio::time::timeout(within, answered).await.unwrap().unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

/// Sends one message in a protocol version, as a caller.
pub fn post(oneiro: &Oneiro, version: &str, body: Value) -> (StatusCode, Value) {
    post_from("test/1", oneiro, version, body)
}

/// Sends one message as a client with this user agent.
fn post_from(
    user_agent: &str,
    oneiro: &Oneiro,
    version: &str,
    mut body: Value,
) -> (StatusCode, Value) {
    if version >= "2026-07-28" {
        body["params"]["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
    }
    let mut request = request(&body)
        .header("MCP-Protocol-Version", version)
        .header(header::USER_AGENT, user_agent)
        .body(Full::from(body.to_string()))
        .unwrap();
    request.extensions_mut().insert(Caller::local(oneiro.clone(), TokenRole::Read));
    let (status, answer) = runtime().block_on(send(request));
    (status, serde_json::from_str(&answer).unwrap_or(Value::String(answer)))
}

pub fn rpc(id: Value, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

on_both_backends! {
    fn every_version_is_answered(space) {
        let oneiro = open(space);
        let message_ids = append_texts(&oneiro, "monday", &["the tea is in the blue tin"]);
        for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
            if version < "2026-07-28" {
                let client = json!({
                    "protocolVersion": version, "capabilities": {},
                    "clientInfo": {"name": "test", "version": "1"},
                });
                let (status, answer) = post(&oneiro, version, rpc(json!(1), "initialize", client));
                assert_eq!(status, StatusCode::OK, "{answer}");
                assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
                assert!(answer["result"]["instructions"].is_string());
            } else {
                let (_, answer) = post(&oneiro, version, rpc(json!(1), "server/discover", json!({})));
                let versions = answer["result"]["supportedVersions"].as_array().unwrap();
                assert!(versions.contains(&json!(version)), "{answer}");
            }
            let (_, list) = post(&oneiro, version, rpc(json!("l"), "tools/list", json!({})));
            assert_eq!(list["id"], "l");
            assert_eq!(list["result"]["tools"][0]["name"], "session_search", "{list}");
            let params = json!({"name": "session_search", "arguments": {"query": "tea"}});
            let (_, found) = post(&oneiro, version, rpc(json!(2), "tools/call", params));
            let sessions = &found["result"]["structuredContent"]["sessions"];
            assert_eq!(sessions[0]["hit"]["message_id"], message_ids[0], "{found}");
        }
    }

    fn the_space_is_that_of_the_request(space) {
        let other = TestSpace::new(space.backend);
        let (mine, theirs) = (open(space), open(&other));
        append_texts(&mine, "mine", &["tea"]);
        append_texts(&theirs, "theirs", &["tea"]);
        for (oneiro, want) in [(&mine, "mine"), (&theirs, "theirs")] {
            let params = json!({"name": "session_search", "arguments": {"query": "tea"}});
            let (_, found) = post(oneiro, "2025-06-18", rpc(json!(1), "tools/call", params));
            let sessions = found["result"]["structuredContent"]["sessions"].as_array().unwrap();
            assert_eq!((sessions.len(), &sessions[0]["session_id"]), (1, &json!(want)));
        }
    }
}

on_both_backends! {
    fn a_handle_that_only_the_request_holds_goes_away_quietly(space) {
        let oneiro = open(space);
        append_texts(&oneiro, "monday", &["tea"]);
        let body = rpc(json!(1), "tools/list", json!({}));
        let mut request = request(&body).body(Full::from(body.to_string())).unwrap();
        request.extensions_mut().insert(Caller::local(oneiro, TokenRole::Read));
        // A client that is dropped on the wrong thread hangs the runtime, and must not hang us.
        let (done, answered) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime = runtime();
            let (status, _) = runtime.block_on(send(request));
            drop(runtime);
            done.send(status)
        });
        let within = std::time::Duration::from_secs(30);
        assert_eq!(answered.recv_timeout(within), Ok(StatusCode::OK));
    }
}

/// Such a client would show its model ids without words. No output schema is listed: a client that
/// saw one would miss the structured content.
#[test]
fn a_client_that_shows_structured_content_to_its_model_gets_text_alone() {
    let space = TestSpace::new(Backend::Sqlite);
    let oneiro = open(&space);
    append_texts(&oneiro, "monday", &["the tea is in the blue tin"]);
    let call = |agent: &str, name: &str, arguments: Value| {
        let body = rpc(json!(1), "tools/call", json!({"name": name, "arguments": arguments}));
        post_from(agent, &oneiro, "2025-06-18", body).1["result"].clone()
    };
    let search = |agent: &str| call(agent, "session_search", json!({"query": "tea"}));
    for (agent, has_structured) in [("test/1", true), ("claude-code/2.0 (cli)", false)] {
        let found = search(agent);
        assert!(found["content"][0]["text"].as_str().unwrap().contains("blue tin"), "{found}");
        assert_eq!(found["structuredContent"].is_object(), has_structured, "{agent}: {found}");
        let arguments = json!({"session": "monday", "format": "openai"});
        let window = call(agent, "memory_context", arguments);
        assert!(window["structuredContent"]["messages"].is_array(), "{agent}: {window}");
    }
    let (_, list) = post(&oneiro, "2025-06-18", rpc(json!(1), "tools/list", json!({})));
    for tool in list["result"]["tools"].as_array().unwrap() {
        assert!(tool["outputSchema"].is_null(), "{tool}");
    }
}

#[test]
fn nobody_comes_in_without_a_space() {
    let body = rpc(json!(1), "tools/list", json!({}));
    let request = request(&body).body(Full::from(body.to_string())).unwrap();
    let (status, answer) = runtime().block_on(send(request));
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    assert!(answer.contains("unauthorized"), "{answer}");
}

#[test]
fn what_is_no_request_is_refused() {
    let space = TestSpace::new(Backend::Sqlite);
    let oneiro = open(&space);
    let caller = Caller::local(oneiro.clone(), TokenRole::Read);
    let long = format!("{{\"x\":\"{}\"}}", "y".repeat(5 << 20));
    for (method, body, want) in [
        ("GET", "", StatusCode::METHOD_NOT_ALLOWED),
        ("DELETE", "", StatusCode::METHOD_NOT_ALLOWED),
        ("POST", "{", StatusCode::UNSUPPORTED_MEDIA_TYPE),
        ("POST", long.as_str(), StatusCode::PAYLOAD_TOO_LARGE),
    ] {
        let mut request =
            request(&Value::Null).method(method).body(Full::from(body.to_owned())).unwrap();
        request.extensions_mut().insert(caller.clone());
        let (status, answer) = runtime().block_on(send(request));
        assert_eq!(status, want, "{method}: {answer}");
    }
    let unknown = rpc(json!(1), "tools/call", json!({"name": "session_serch"}));
    let (_, answer) = post(&oneiro, "2025-06-18", unknown);
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let (_, answer) = post(&oneiro, "2025-06-18", rpc(json!(1), "nope", json!({})));
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
}
