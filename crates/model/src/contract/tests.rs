//! One request, decoded from the forms of all surfaces.

use super::*;
use crate::{
    ArchivedFilter, BackupRequest, HitKind, ListSessions, NewMemory, NewToken, RewindRequest,
    SearchRequest, SessionPatch, SessionSearchRequest,
};
use serde_json::json;

const NOW: Timestamp = Timestamp::from_micros(1_775_000_000_000_000);

fn read<R: Request>(form: Form, given: Value) -> Result<Decoded<R>> {
    let Value::Object(fields) = given else { panic!("{given} is not an object") };
    decode(fields, Reading { form, now: NOW })
}

fn refused<R: Request + std::fmt::Debug>(form: Form, given: Value) -> Error {
    let text = given.to_string();
    match read::<R>(form, given) {
        Ok(decoded) => panic!("{text} is taken as {decoded:?}"),
        Err(error) => error,
    }
}

#[test]
fn every_form_says_the_same_request() {
    let exact = json!({"query": "tea", "limit": 7, "roles": ["user", "tool"], "explain": true});
    let in_a_query =
        json!({"query": ["tea"], "limit": ["7"], "roles": ["user", "tool"], "explain": ["true"]});
    let by_an_agent = json!({"query": " tea ", "limit": "7", "roles": "user, tool", "explain": "yes", "project": ""});
    for (form, given) in [
        (Form::Json, exact.clone()),
        (Form::CommandLine, exact.clone()),
        (Form::Host, exact),
        (Form::Query, in_a_query),
        (Form::Agent, by_an_agent),
    ] {
        let request = read::<SearchRequest>(form, given).unwrap().request;
        let roles: Vec<&str> = request.roles.iter().map(|role| role.as_str()).collect();
        let told = (request.query.as_str(), request.limit, request.explain, request.neighbours);
        assert_eq!(told, ("tea", 7, true, 0), "{form:?}");
        assert_eq!((roles, request.project), (vec!["user", "tool"], None), "{form:?}");
    }
}

#[test]
fn a_list_has_at_most_the_entries_that_its_schema_allows() {
    for (form, count, is_allowed) in [
        (Form::Json, 20, true),
        (Form::Json, 21, false),
        (Form::CommandLine, 21, false),
        (Form::Agent, 20, true),
        (Form::Agent, 21, false),
    ] {
        let given = json!({"content": "tea", "tags": vec!["t"; count]});
        let read = read::<NewMemory>(form, given);
        assert_eq!(read.is_ok(), is_allowed, "{form:?} {count}");
        if let Err(error) = read {
            assert_eq!(error.field_name(), Some("tags"));
        }
    }
}

#[test]
fn what_cannot_be_taken_is_named() {
    for (given, field) in [
        (json!({}), "query"),
        (json!({"query": 1}), "query"),
        (json!({"query": "a\u{0}b"}), "query"),
        (json!({"query": "x", "limit": 0}), "limit"),
        (json!({"query": "x", "limit": 201}), "limit"),
        (json!({"query": "x", "limit": "5"}), "limit"),
        (json!({"query": "x", "limit": 1.5}), "limit"),
        (json!({"query": "x", "sort": "best"}), "sort"),
        (json!({"query": "x", "kinds": ["thought"]}), "kinds"),
        (json!({"query": "x", "roles": "user"}), "roles"),
        (json!({"query": "x", "since": "3d"}), "since"),
        (json!({"query": "x", "explain": "true"}), "explain"),
        (json!({"query": "x", "neighbours": 21}), "neighbours"),
        (json!({"query": "x", "cursor": "one"}), "cursor"),
        (json!({"query": "x", "session": ""}), "session"),
    ] {
        let error = refused::<SearchRequest>(Form::Json, given.clone());
        assert_eq!(error.field_name(), Some(field), "{given}: {error}");
        assert_eq!(error.http_status(), 422, "{given}");
    }
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest() {
    let error = refused::<SearchRequest>(Form::Json, json!({"query": "x", "limt": 5}));
    assert!(error.remedy_text().unwrap().contains("limit"), "{error:?}");
    let long = "x".repeat(100_000);
    assert!(refused::<SearchRequest>(Form::Json, json!({ &long: 1 })).message().len() < 200);
}

#[test]
fn older_names_are_accepted_once() {
    let given = json!({"query": "x", "role_filter": ["user"], "current": "s"});
    let request = read::<SearchRequest>(Form::Json, given).unwrap().request;
    assert_eq!(request.roles.len(), 1);
    assert_eq!(request.exclude_lineage.unwrap().as_str(), "s");
    let request = read::<ListSessions>(Form::Query, json!({"q": ["tea"]})).unwrap().request;
    assert_eq!(request.matching.as_deref(), Some("tea"));
    refused::<SearchRequest>(Form::Json, json!({"query": "x", "roles": [], "role_filter": []}));
}

#[test]
fn a_date_includes_its_day_in_every_form() {
    let end = "2026-02-01T00:00:00Z";
    for form in [Form::Json, Form::CommandLine, Form::Agent, Form::Host] {
        let given = json!({"query": "x", "since": "2026-01-31", "until": "2026-01-31"});
        let request = read::<SearchRequest>(form, given).unwrap().request;
        assert_eq!(request.until.unwrap().to_string(), end, "{form:?}");
        assert_eq!(request.since.unwrap().to_string(), "2026-01-31T00:00:00Z", "{form:?}");
    }
    let given = json!({"until": ["2026-01-31"]});
    let request = read::<ListSessions>(Form::Query, given).unwrap().request;
    assert_eq!(request.until.unwrap().to_string(), end);
}

#[test]
fn people_write_ages_and_hosts_microseconds() {
    for form in [Form::CommandLine, Form::Agent] {
        let given = json!({"query": "x", "since": "1h"});
        let since = read::<SearchRequest>(form, given).unwrap().request.since.unwrap();
        assert_eq!(NOW.micros() - since.micros(), 3_600_000_000, "{form:?}");
    }
    let given = json!({"query": "x", "since": 5_000_000});
    let since = read::<SearchRequest>(Form::Host, given).unwrap().request.since;
    assert_eq!(since, Some(Timestamp::from_micros(5_000_000)));
    refused::<SearchRequest>(Form::Json, json!({"query": "x", "since": 5_000_000}));
}

#[test]
fn null_clears_what_can_be_cleared_and_is_absent_elsewhere() {
    for form in [Form::Json, Form::Host, Form::CommandLine] {
        let given = json!({"title": null, "model": null, "cwd": "/x", "archived": null});
        let patch = read::<SessionPatch>(form, given).unwrap().request;
        assert_eq!((patch.title, patch.model), (Some(None), Some(None)), "{form:?}");
        assert_eq!((patch.cwd, patch.project), (Some(Some("/x".to_owned())), None), "{form:?}");
        assert_eq!(patch.archived, None);
    }
}

#[test]
fn an_agent_is_brought_within_bounds_and_told() {
    let given = json!({"query": "x", "limit": 999, "neighbours": -3});
    let decoded = read::<SearchRequest>(Form::Agent, given).unwrap();
    assert_eq!((decoded.request.limit, decoded.request.neighbours), (200, 0));
    assert_eq!(decoded.notes.len(), 2, "{:?}", decoded.notes);
    let many = vec!["a"; 51];
    refused::<SearchRequest>(Form::Agent, json!({"query": "x", "sources": many}));
}

#[test]
fn fields_for_hosts_are_unknown_to_others() {
    let given = json!({"query": "x", "exact": true});
    assert!(read::<SearchRequest>(Form::Host, given.clone()).unwrap().request.exact);
    for form in [Form::Json, Form::Agent, Form::CommandLine] {
        let error = refused::<SearchRequest>(form, given.clone());
        assert_eq!(error.field_name(), Some("exact"), "{form:?}");
    }
    let published = schema::published::<SearchRequest>();
    assert!(published.pointer("/properties/exact").is_none());
    assert!(published.pointer("/properties/limit").is_some());
}

#[test]
fn patterns_hold() {
    for bad in ["../x.db", "a/b.db", "x", ".db", "-x.db", "x.db\n"] {
        refused::<BackupRequest>(Form::Json, json!({ "name": bad }));
    }
    assert!(read::<BackupRequest>(Form::Json, json!({"name": "a-1.db"})).is_ok());
    refused::<NewToken>(Form::Json, json!({"role": "read", "name": "caf\u{e9}"}));
}

#[test]
fn what_excludes_each_other_is_refused_together() {
    assert!(read::<RewindRequest>(Form::Json, json!({"turns": 2})).is_ok());
    assert!(read::<RewindRequest>(Form::Json, json!({"turns": 2, "to": null})).is_ok());
    for given in [json!({}), json!({"to": 1, "turns": 2}), json!({"to": 0})] {
        refused::<RewindRequest>(Form::Json, given);
    }
    for given in [json!({"query": "x", "session": "s"}), json!({"around": 3})] {
        refused::<SessionSearchRequest>(Form::Json, given);
    }
    let alternatives = schema::published::<RewindRequest>();
    assert_eq!(alternatives["oneOf"].as_array().unwrap().len(), 2);
}

#[test]
fn defaults_are_published_and_taken() {
    let request = read::<ListSessions>(Form::Json, json!({})).unwrap().request;
    assert_eq!((request.limit, request.archived), (20, ArchivedFilter::Without));
    let published = schema::published::<ListSessions>();
    assert_eq!(published.pointer("/properties/limit/default"), Some(&json!(20)));
    let given = json!({"query": "x", "kinds": ["summary", "message"]});
    let request = read::<SearchRequest>(Form::Json, given).unwrap().request;
    assert_eq!(request.kinds, [HitKind::Summary, HitKind::Message]);
}
