//! The contract: what the OpenAPI document says is what is answered, for every endpoint; pages hold
//! every item once; the same external id is the same message, no matter who sends it.

use crate::serve_api::{Endpoint, NO_FOLDER, Names, document, endpoints};
use crate::serve_context::compacted;
use crate::serve_support::{Listening, Reply, Server};
use crate::support::person_token;
use oneiro_testkit::on_both_backends;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The document, and validators for the answers in it.
struct Contract {
    document: Value,
    validators: BTreeMap<String, jsonschema::Validator>,
}

impl Contract {
    fn new() -> Contract {
        Contract { document: document(), validators: BTreeMap::new() }
    }

    /// Checks a value against the schema at a place of the document.
    fn assert_contract(&mut self, place: &str, value: &Value) {
        let document = &self.document;
        let validator = self.validators.entry(place.to_owned()).or_insert_with(|| {
            let schema = document.pointer(place).unwrap_or_else(|| panic!("{place} is not there"));
            let schema = json!({"allOf": [schema], "components": document["components"]});
            jsonschema::options().should_validate_formats(true).build(&schema).unwrap()
        });
        let errors: Vec<String> = validator
            .iter_errors(value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{place}: {errors:#?}\n{value:#}");
    }

    fn assert_problem(&mut self, reply: &Reply) {
        assert_eq!(reply.header("content-type").as_deref(), Some("application/problem+json"));
        let problem = reply.json();
        self.assert_contract("/components/schemas/Problem", &problem);
        assert_eq!(problem["status"], reply.status);
    }

    /// Checks an answer of an endpoint: its status is one that is documented, and its body too.
    fn assert_documented(&mut self, endpoint: &Endpoint, reply: &Reply) {
        if reply.status >= 400 {
            return self.assert_problem(reply);
        }
        let answer = endpoint.answers.iter().find(|(status, _)| *status == reply.status);
        let (_, place) = answer.unwrap_or_else(|| panic!("{endpoint:?}: {}", reply.head));
        if reply.header("content-type").as_deref() == Some("application/json") {
            self.assert_contract(place, &reply.json());
        }
    }
}

fn find<'e>(endpoints: &'e [Endpoint], method: &str, path: &str) -> &'e Endpoint {
    endpoints.iter().find(|one| one.method == method && one.path == path).unwrap()
}

on_both_backends! {
    fn every_endpoint_answers_as_the_document_says(space) {
        let summary = compacted((space, space.space.as_str()), "long", "secret");
        let server = Server::start(space, &[]);
        let mut contract = Contract::new();
        let endpoints = endpoints(&contract.document);
        let mut client = server.client();
        let spoken = json!([
            {"role": "system", "content": "be kind"},
            {"role": "user", "content": [{"type": "text", "text": "the secret tea"}], "external_id": "1"},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function",
                "function": {"name": "brew", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "done", "extra": {"deep": [1.50, null]}},
            {"role": "user", "content": "another secret"},
        ]);
        let appended = client
            .call("POST", "/v1/sessions/s/messages?create=true&source=test", Some(&spoken)).unwrap();
        contract.assert_documented(find(&endpoints, "POST", "/v1/sessions/{id}/messages"), &appended);
        let token = client.call("POST", "/v1/tokens", Some(&json!({"role": "read"}))).unwrap().is(201);
        let person = person_token(space, space.space.as_str(), ::oneiro::TokenRole::Admin);
        let call = |method: &str, path: &str, body: Option<&Value>| {
            server.client().token(&person).call(method, path, body).unwrap()
        };
        // A memory of its own for each act, in the status that the act needs.
        let remember = |endpoint: &Endpoint| {
            let waits = endpoint.path.ends_with("/promote") || endpoint.path.ends_with("/reject");
            let status = if waits { "candidate" } else { "active" };
            let content = format!("for {} {}", endpoint.method, endpoint.path);
            let made = call("POST", "/v1/memories", Some(&json!({"content": content, "status": status})));
            made.is(201)
        };
        // What removes comes last, so that the rest has something to answer with.
        let mut ordered = endpoints.clone();
        ordered.sort_by_key(|one| {
            let last = ["erasures", "split", "rewind", "history"].map(|end| one.path.ends_with(end));
            (one.method == "DELETE", one.path == "/v1/sessions/{id}", last)
        });
        let asked = json!({"prompt": "what is the secret tea?"});
        let pack = call("POST", "/v1/packs", Some(&asked)).is(200);
        let told = json!({"prompt": "what is said?", "response": "a secret"});
        let interaction = call("POST", "/v1/interactions", Some(&told)).is(201);
        let said = appended.json()["ids"][1].as_i64().unwrap();
        let folder = tempfile::tempdir().unwrap();
        for endpoint in &ordered {
            let dreamt = call("POST", "/v1/dreams", Some(&json!({}))).is(200);
            let candidates = call("GET", "/v1/dreams/candidates", None).is(200);
            let id = token["id"].as_str().unwrap();
            let made = remember(endpoint);
            let note = json!({"content": format!("- for {} {}", endpoint.method, endpoint.path)});
            let note = call("PUT", "/v1/notes/walked", Some(&note)).is(200);
            let names = Names {
                session: "s",
                message: said,
                token: id,
                summary: &summary,
                memory: made["memory"]["id"].as_str().unwrap(),
                operation: made["operation"].as_str().unwrap(),
                revision: note["revision"].as_str().unwrap(),
                pack: pack["id"].as_str().unwrap(),
                interaction: interaction["id"].as_str().unwrap(),
                dream: dreamt["dream"]["id"].as_str().unwrap(),
                candidate: candidates["items"][0]["id"].as_str().unwrap_or_default(),
            };
            let path = endpoint.named(names).replace(NO_FOLDER, folder.path().to_str().unwrap());
            let body = match endpoint.body.as_deref() {
                Some("MountNotes") => Some(json!({"path": folder.path()})),
                Some("MergeRequest") => {
                    let other = call("POST", "/v1/memories", Some(&json!({"content": "it stays"}))).is(201);
                    Some(json!({"into": other["memory"]["id"]}))
                }
                _ => endpoint.request("s"),
            };
            let reply = call(&endpoint.method, &path, body.as_ref());
            // In a store of a day no dream has promoted anything, so there is nothing to undo.
            if endpoint.path == "/v1/dreams/{id}/undo" {
                assert_eq!(reply.status, 409, "{}", reply.text());
            } else {
                assert!(reply.status < 300, "{} {path}: {} {}", endpoint.method, reply.head, reply.text());
            }
            contract.assert_documented(endpoint, &reply);
            if endpoint.path == "/v1/erasures" {
                // Not by the first connection: the server may have closed it for being idle.
                call("POST", "/v1/sessions/s/messages?create=true", Some(&spoken)).is(200);
            }
        }
        // And what is not there, for each: a problem as documented.
        for endpoint in &ordered {
            let missing = endpoint.named(Names::NONE);
            let body = json!({"no_such_field": true});
            for (path, body) in [(missing.clone(), endpoint.request("no-such")), (missing, Some(body))] {
                let reply = server.call(&endpoint.method, &path, body.as_ref());
                assert!(reply.status < 500, "{} {path}: {}", endpoint.method, reply.text());
                contract.assert_documented(endpoint, &reply);
            }
            let path = endpoint.named(Names { session: "s", ..Names::NONE });
            let more = if path.contains('?') { '&' } else { '?' };
            let reply = server.call(&endpoint.method, &format!("{path}{more}no_such=1"), None);
            contract.assert_problem(&reply);
            assert!(reply.text().contains("no_such"), "{path}: {}", reply.text());
        }
        server.stop();
    }

    fn what_streams_answer_is_as_documented(space) {
        let server = Server::start(space, &[]);
        let mut contract = Contract::new();
        let mut listening = Listening::begin(server.client(), Some("0.0"));
        let said = json!({"role": "user", "content": "x"});
        server.call("POST", "/v1/sessions/s/messages?create=true", Some(&said)).is(200);
        let mut kinds = BTreeSet::new();
        while kinds.len() < 2 {
            let told = listening.next().unwrap().unwrap();
            contract.assert_contract("/components/schemas/Change", &told.data);
            assert_eq!(told.data["id"], told.id.as_str());
            kinds.insert(told.kind);
        }
        assert!(kinds.contains("created") && kinds.contains("appended"), "{kinds:?}");
        let export = server.call("GET", "/v1/export", None);
        assert_eq!(export.status, 200);
        for line in export.text().lines() {
            assert!(serde_json::from_str::<Value>(line).unwrap().is_object());
        }
        server.stop();
    }

    fn pages_hold_every_item_once_while_others_append(space) {
        let server = Server::start(space, &[]);
        let say = |session: String, n: usize| {
            let body = json!({"role": "user", "content": format!("item {n}")});
            let path = format!("/v1/sessions/{session}/messages?create=true");
            server.call("POST", &path, Some(&body)).is(200)["ids"][0].as_i64().unwrap()
        };
        let mut said: Vec<i64> = (0..60).map(|n| say("long".into(), n)).collect();
        let sessions: BTreeSet<String> = (0..60).map(|n| format!("s{n}")).collect();
        for (n, session) in sessions.iter().enumerate() {
            say(session.clone(), n);
        }
        let walk = |path: &str, each: &mut dyn FnMut(&Value)| {
            let mut cursor = String::new();
            loop {
                let page = server.call("GET", &format!("{path}?limit=7{cursor}"), None).is(200);
                page["items"].as_array().unwrap().iter().for_each(&mut *each);
                let Some(next) = page["next"].as_str() else { return };
                cursor = format!("&cursor={next}");
            }
        };
        let (mut seen, mut n) = (Vec::new(), 0);
        walk("/v1/sessions/long/messages", &mut |item| {
            n += 1;
            // Others go on for a while.
            if n <= 30 && n % 3 == 0 {
                said.push(say("long".into(), 1_000 + n));
                say(format!("later{n}"), n);
            }
            seen.push(item["id"].as_i64().unwrap());
        });
        assert_eq!(seen, said);
        let mut listed = Vec::new();
        walk("/v1/sessions", &mut |item| {
            let id = item["id"].as_str().unwrap().to_owned();
            if listed.len() % 10 == 0 {
                say(format!("new{}", listed.len()), 0);
            }
            listed.push(id);
        });
        let distinct: BTreeSet<String> = listed.iter().cloned().collect();
        assert_eq!(distinct.len(), listed.len(), "something was listed twice");
        assert!(sessions.is_subset(&distinct), "something that did not move was not listed");
        server.stop();
    }

    fn the_same_external_ids_from_eight_clients_are_one_row_each(space) {
        let server = Server::start(space, &[]);
        let all = |_: usize| {
            let mut client = server.client();
            (0..25).map(|n| {
                let body = json!([
                    {"role": "user", "content": format!("message {n}"), "external_id": format!("{n}")},
                    {"role": "assistant", "content": "yes", "external_id": format!("{n}-answer")},
                ]);
                client.call("POST", "/v1/sessions/s/messages?create=true", Some(&body)).unwrap().is(200)
            }).collect::<Vec<Value>>()
        };
        let answers = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..8).map(|n| scope.spawn(move || all(n))).collect();
            clients.into_iter().map(|client| client.join().unwrap()).collect::<Vec<_>>()
        });
        let mut duplicates = 0;
        for client in &answers {
            for (one, other) in client.iter().zip(&answers[0]) {
                assert_eq!(one["ids"], other["ids"], "different ids for the same message");
                duplicates += one["duplicates"].as_i64().unwrap();
            }
        }
        assert_eq!(duplicates, 7 * 50);
        let session = server.call("GET", "/v1/sessions/s", None).is(200);
        assert_eq!((session["message_count"].clone(), session["messages"].as_array().unwrap().len()), (json!(50), 50));
        server.stop();
    }
}
