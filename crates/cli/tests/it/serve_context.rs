//! Lossless context over HTTP: windows, compaction, the way back to the exact messages and who may
//! take it, and what is said to requests that make no sense.

use crate::serve_support::Server;
use crate::support::{oneiro, run_with};
use oneiro_testkit::{TestSpace, on_both_backends};
use serde_json::{Value, json};

/// Makes a session of a space, by its store and name, long enough to be compacted; every message
/// has the word in it. Answers the id of the first summary.
pub fn compacted((space, name): (&TestSpace, &str), session: &str, word: &str) -> String {
    let name = oneiro::SpaceName::new(name).unwrap();
    let target = oneiro::Target::parse(&space.store, Some(&name)).unwrap();
    let opened = oneiro::Oneiro::open(&target, oneiro::Options::default()).unwrap();
    let id = oneiro::SessionId::new(session).unwrap();
    opened.sessions().create(oneiro::NewSession::with_id(id.clone())).unwrap();
    let messages =
        talk(word, 200).into_iter().map(|one| oneiro::NewMessage::from_json(one).unwrap());
    opened.messages().append(&id, messages.collect()).unwrap();
    let request = oneiro::CompactRequest { until: Some(4_000), redo: false };
    opened.context().compact(&id, &request).unwrap().created[0].to_string()
}

fn talk(word: &str, messages: usize) -> Vec<Value> {
    let said = |number: usize| {
        let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
        let text = format!(
            "Number {number}: the {word} plan for office {number} costs {} euros, and Maria has \
             written it into plans/{word}_{number}.md so that nobody forgets what was decided \
             about the boats, the bread and the garden in week {number}.",
            number * 7 + 3
        );
        json!({"role": role, "content": text})
    };
    (0..messages).map(said).collect()
}

fn say(server: &Server, session: &str, messages: &[Value]) -> Vec<i64> {
    let path = format!("/v1/sessions/{session}/messages?create=true");
    let ids = server.call("POST", &path, Some(&json!(messages))).is(200)["ids"].clone();
    ids.as_array().unwrap().iter().map(|id| id.as_i64().unwrap()).collect()
}

fn get(server: &Server, path: &str) -> Value {
    server.call("GET", path, None).is(200)
}

fn ids(list: &Value) -> Vec<i64> {
    list.as_array().unwrap().iter().map(|message| message["id"].as_i64().unwrap()).collect()
}

fn token(server: &Server, role: &str) -> String {
    let made = server.call("POST", "/v1/tokens", Some(&json!({"role": role}))).is(201);
    made["token"].as_str().unwrap().to_owned()
}

on_both_backends! {
    fn every_word_under_a_summary_comes_back_page_by_page(space) {
        let server = Server::start(space, &[]);
        let said = say(&server, "s", &talk("kayak", 200));
        let body = json!({"until": 4_000});
        let compacted = server.call("POST", "/v1/sessions/s/compact", Some(&body)).is(200);
        assert!(compacted["tokens_after"].as_i64() < compacted["tokens_before"].as_i64());
        let listed = get(&server, "/v1/sessions/s/summaries");
        let shown = get(&server, "/v1/sessions/s/context?budget=8000&explain=true");
        assert!(shown["tokens"].as_i64().unwrap() <= 8_000, "{shown}");
        assert!(shown["items"].as_array().unwrap().iter().any(|item| item["place"] == "summarised"));
        let mut found = Vec::new();
        for summary in listed["items"].as_array().unwrap() {
            let id = summary["id"].as_str().unwrap();
            assert_eq!(get(&server, &format!("/v1/summaries/{id}"))["content"], summary["content"]);
            if summary["depth"] != 0 {
                continue;
            }
            let (mut cursor, mut pages) = (String::new(), 0);
            loop {
                let path = format!("/v1/summaries/{id}/expand?tokens=500&session=s{cursor}");
                let page = get(&server, &path);
                found.extend(ids(&page["messages"]));
                pages += 1;
                let Some(next) = page["next"].as_str() else { break };
                cursor = format!("&cursor={next}");
            }
            assert!(pages > 1, "{id} was one page");
        }
        assert_eq!(found, said[..found.len()], "each once, in order");
        let first = found.len();
        let range = format!("{}-{}", said[0], said[9]);
        let path = format!("/v1/sessions/s/expand?id={range}&tokens=1000000");
        assert_eq!(ids(&get(&server, &path)["messages"]), said[..10]);
        let id = said[first - 1];
        let one = get(&server, &format!("/v1/messages/{id}?session=s"));
        assert_eq!(one, get(&server, &format!("/v1/sessions/s/expand?id={id}"))["messages"][0]);
        server.stop();
    }

    fn only_who_may_write_changes_a_context_by_looking(space) {
        let server = Server::start(space, &[]);
        say(&server, "s", &talk("kayak", 400));
        let reader = token(&server, "read");
        let writer = token(&server, "write");
        let look = |token: &str, query: &str| {
            let path = format!("/v1/sessions/s/context?budget=6000{query}");
            server.client().token(token).call("GET", &path, None).unwrap().is(200)
        };
        let window = look(&reader, "");
        assert!(window["tokens"].as_i64().unwrap() <= 6_000);
        assert!(window["omitted"]["messages"].as_i64().unwrap() > 0, "{}", window["omitted"]);
        look(&writer, "&peek=true");
        let none = get(&server, "/v1/sessions/s/summaries");
        assert_eq!(none, json!({"items": [], "next": null}), "a look made something");
        assert!(!look(&writer, "")["summaries"].as_array().unwrap().is_empty());
        for (method, path) in [
            ("POST", "/v1/sessions/s/compact"),
            ("PUT", "/v1/sessions/s/pins/1"),
            ("DELETE", "/v1/sessions/s/pins/1"),
        ] {
            let reply = server.client().token(&reader).call(method, path, None).unwrap();
            assert_eq!(reply.is(403)["kind"], "forbidden", "{method} {path}");
        }
        server.stop();
    }

    fn what_another_lineage_holds_is_not_there(space) {
        let server = Server::start(space, &[]);
        let summary = compacted((space, space.space.as_str()), "theirs", "secret");
        let said = say(&server, "ours", &[json!({"role": "user", "content": "tea"})]);
        let theirs = get(&server, "/v1/sessions/theirs/messages?limit=1");
        let message = theirs["items"][0]["id"].as_i64().unwrap();
        for path in [
            format!("/v1/summaries/{summary}?session=ours"),
            format!("/v1/summaries/{summary}/expand?session=ours"),
            format!("/v1/sessions/ours/expand?id={summary}"),
            format!("/v1/sessions/ours/expand?id={message}"),
            format!("/v1/sessions/ours/expand?id={message}-{}", message + 3),
            format!("/v1/messages/{message}?session=ours"),
            "/v1/summaries/sum_nosuch".to_owned(),
            "/v1/summaries/sum_%00".to_owned(),
            "/v1/summaries/mem_a".to_owned(),
            "/v1/summaries/sum_nosuch/expand".to_owned(),
        ] {
            let problem = server.call("GET", &path, None).is(404);
            assert!(problem["remedy"].is_string(), "{path}: {problem}");
            assert!(!problem.to_string().contains("secret"), "{path}: {problem}");
        }
        let path = format!("/v1/sessions/ours/pins/{message}");
        server.call("PUT", &path, None).is(404);
        assert_eq!(get(&server, &format!("/v1/summaries/{summary}"))["session_id"], "theirs");
        let refuse = ["config", "set", "other_sessions", "refuse"];
        assert_eq!(run_with(oneiro(space), &refuse, b"").code, 0);
        for path in [
            format!("/v1/summaries/{summary}"),
            format!("/v1/summaries/{summary}/expand"),
            format!("/v1/messages/{}", said[0]),
        ] {
            let problem = server.call("GET", &path, None).is(403);
            assert!(problem["remedy"].is_string(), "{path}: {problem}");
            let inside = if path.contains("messages") { "ours" } else { "theirs" };
            get(&server, &format!("{path}?session={inside}"));
        }
        let search = json!({"query": "secret", "kinds": ["summary"]});
        server.call("POST", "/v1/search", Some(&search)).is(403);
        let search = json!({"query": "secret", "kinds": ["summary"], "lineage": "theirs"});
        let found = server.call("POST", "/v1/search", Some(&search)).is(200);
        assert!(!found["hits"].as_array().unwrap().is_empty(), "{found}");
        server.stop();
    }

    fn summaries_are_found_beside_messages(space) {
        let server = Server::start(space, &[]);
        let summary = compacted((space, space.space.as_str()), "long", "kayak");
        say(&server, "short", &[json!({"role": "user", "content": "a kayak of my own"})]);
        let search = |more: Value| {
            let mut body = json!({"query": "kayak"});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            server.call("POST", "/v1/search", Some(&body)).is(200)
        };
        let kinds = |found: &Value| {
            let hits = found["hits"].as_array().unwrap();
            let of = |kind: &str| hits.iter().filter(|hit| hit["kind"] == kind).count();
            (of("summary"), of("message"))
        };
        assert_eq!(kinds(&search(json!({}))), (0, 10));
        let only = search(json!({"kinds": ["summary"], "limit": 200}));
        assert!(only["hits"].as_array().unwrap().iter().any(|hit| hit["id"] == summary.as_str()));
        assert_eq!((kinds(&only).1, &only["next"], &only["tier"]), (0, &Value::Null, &json!("precise")));
        let both = search(json!({"kinds": ["message", "summary"], "limit": 4}));
        let (summaries, messages) = kinds(&both);
        assert!((1..=2).contains(&summaries) && summaries + messages == 4, "{both}");
        // The pages after the first go on among the messages, and hold none twice.
        let mut seen: Vec<Value> = Vec::new();
        let mut page = both;
        for _ in 0..5 {
            let messages = page["hits"].as_array().unwrap().iter().filter(|hit| hit["kind"] == "message");
            seen.extend(messages.map(|hit| hit["id"].clone()));
            page = search(json!({"kinds": ["message", "summary"], "limit": 4, "cursor": page["next"]}));
            assert_eq!(kinds(&page).0, 0);
        }
        let mut once = seen.clone();
        once.sort_by_key(Value::as_i64);
        once.dedup();
        assert_eq!(once.len(), seen.len());
        assert_eq!(kinds(&search(json!({"kinds": ["summary"], "session": "short"}))), (0, 0));
        assert_eq!(kinds(&search(json!({"lineage": "short"}))), (0, 1));
        let by_role = search(json!({"kinds": ["summary"], "roles": ["user"]}));
        assert!(by_role["note"].as_str().unwrap().contains("roles"), "{by_role}");
        let condensed = json!({"query": "kayak", "summarise": true});
        let found = server.call("POST", "/v1/session-search", Some(&condensed)).is(200);
        let digest = found["conversations"][0]["digest"]["content"].as_str().unwrap();
        assert!(digest.to_lowercase().contains("kayak"), "{digest}");
        server.stop();
    }

    fn a_pinned_message_is_in_every_window(space) {
        let server = Server::start(space, &[]);
        let said = say(&server, "s", &talk("kayak", 100));
        let path = format!("/v1/sessions/s/pins/{}", said[3]);
        for _ in 0..2 {
            let pinned = server.call("PUT", &path, None).is(200);
            assert_eq!(ids(&pinned["items"]), [said[3]]);
        }
        let window = get(&server, "/v1/sessions/s/context?budget=2000&format=text");
        assert!(window["text"].as_str().unwrap().contains("Number 3:"), "{window}");
        assert!(!window["text"].as_str().unwrap().contains("Number 5:"));
        for _ in 0..2 {
            assert_eq!(server.call("DELETE", &path, None).is(200)["items"], json!([]));
        }
        assert_eq!(get(&server, "/v1/sessions/s/pins"), json!({"items": [], "next": null}));
        server.stop();
    }

    fn a_history_can_be_set_truncated_and_summed_up_and_loses_nothing(space) {
        let server = Server::start(space, &[]);
        let said = say(&server, "s", &talk("kayak", 10));
        let put = |what: &str, body: Value| {
            server.call("PUT", &format!("/v1/sessions/s/{what}"), Some(&body))
        };
        let kept = put("history", json!({"keep": 4})).is(200);
        assert_eq!(ids(&kept["items"]), said[6..]);
        let set = put("history", json!([{"role": "user", "content": "anew"}])).is(200);
        let shown: Vec<&Value> = set["items"].as_array().unwrap().iter().map(|one| &one["content"]).collect();
        assert_eq!(shown, ["anew"]);
        let again = put("history", json!({"messages": [{"role": "user", "content": "anew"}]})).is(200);
        assert_eq!(ids(&again["items"]), ids(&set["items"]), "what is there already stays");
        assert_eq!(put("history", json!([])).is(200)["items"], json!([]));
        for id in &said {
            get(&server, &format!("/v1/messages/{id}"));
        }
        for bad in [json!({}), json!({"keep": -1}), json!({"keep": 1, "messages": []}), json!(7),
            json!({"messages": {}}), json!([{"content": "nobody"}])] {
            put("history", bad).is(422);
        }
        assert_eq!(get(&server, "/v1/sessions/s/summary"), json!({"content": "", "summary": null}));
        let written = put("summary", json!({"content": "they went by boat"})).is(200);
        assert!(written["content"].as_str().unwrap().contains("they went by boat"));
        assert_eq!(written["summary"]["level"], "hand");
        assert_eq!(get(&server, "/v1/sessions/s/summary"), written);
        assert_eq!(put("summary", json!({"content": ""})).is(200)["summary"], Value::Null);
        put("summary", json!({})).is(422);
        put("summary", json!({"content": 7})).is(422);
        server.stop();
    }

    fn a_session_goes_on_where_it_was_split(space) {
        let server = Server::start(space, &[]);
        say(&server, "s", &talk("kayak", 100));
        let body = json!({"id": "next", "until": 3_000});
        let reply = server.call("POST", "/v1/sessions/s/split", Some(&body));
        let child = reply.is(201);
        assert_eq!(reply.header("location").unwrap(), "/v1/sessions/next");
        assert_eq!((&child["parent_id"], &child["lineage"]), (&json!("s"), &json!("continuation")));
        assert_eq!(get(&server, "/v1/sessions/s")["end_reason"], "compression");
        let window = get(&server, "/v1/sessions/next/context?budget=3000&format=text");
        let first = window["summaries"][0].as_str().unwrap();
        // What the child did not say itself is within its reach.
        let expanded = get(&server, &format!("/v1/sessions/next/expand?id={first}"));
        assert_eq!(expanded["messages"][0]["session_id"], "s");
        server.stop();
    }

    fn what_makes_no_sense_is_refused_by_name(space) {
        let server = Server::start(space, &[]);
        say(&server, "s", &[json!({"role": "user", "content": "tea"})]);
        for (path, field) in [
            ("context?budget=0", "budget"),
            ("context?budget=-5", "budget"),
            ("context?budget=99999999999999999999", "budget"),
            ("context?budget=100000001", "budget"),
            ("context?budget=many", "budget"),
            ("context?budget=", "budget"),
            ("context?budget=10&reserve=10", "reserve"),
            ("context?reserve=-1", "reserve"),
            ("context?format=gemini", "format"),
            ("context?explain=yes", "explain"),
            ("context?budgt=5", "budgt"),
            ("expand", "id"),
            ("expand?id=", "id"),
            ("expand?id=x", "id"),
            ("expand?id=9-3", "id"),
            ("expand?id=1&tokens=0", "tokens"),
            ("expand?id=1&cursor=x", "cursor"),
            ("pins?x=1", "x"),
        ] {
            let problem = server.call("GET", &format!("/v1/sessions/s/{path}"), None).is(422);
            assert_eq!(problem["field"], field, "{path}: {problem}");
        }
        for (body, field) in [
            (json!({"until": 0}), "until"),
            (json!({"until": "few"}), "until"),
            (json!({"redo": 1}), "redo"),
            (json!({"untl": 5}), "untl"),
        ] {
            let problem = server.call("POST", "/v1/sessions/s/compact", Some(&body)).is(422);
            assert_eq!(problem["field"], field, "{problem}");
        }
        let search = json!({"query": "tea", "kinds": ["dream"]});
        assert_eq!(server.call("POST", "/v1/search", Some(&search)).is(422)["field"], "kinds");
        for (method, path) in [("PUT", "/v1/sessions/s/pins/x"), ("DELETE", "/v1/sessions/s/pins/0")] {
            assert_eq!(server.call(method, path, None).is(422)["field"], "message");
        }
        let patched = server.call("PATCH", "/v1/sessions/s/history", None);
        assert_eq!((patched.status, patched.header("allow").as_deref()), (405, Some("PUT")));
        for path in ["context", "summaries", "summary", "pins", "expand?id=1"] {
            let problem = server.call("GET", &format!("/v1/sessions/nowhere/{path}"), None);
            assert_eq!(problem.status, 404, "{path}: {}", problem.text());
        }
        server.stop();
    }
}
