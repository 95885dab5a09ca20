//! Summaries as resources: listed by name, read as Markdown, and not there where they are not.

use crate::http::{post, rpc};
use crate::support::{append_texts, compacted, open, split_at_tags};
use oneiro::{Oneiro, SessionId};
use oneiro_testkit::on_both_backends;
use serde_json::{Value, json};

const VERSIONS: [&str; 3] = ["2025-03-26", "2025-11-25", "2026-07-28"];

fn asked(oneiro: &Oneiro, version: &str, method: &str, params: Value) -> Value {
    post(oneiro, version, rpc(json!(1), method, params)).1
}

on_both_backends! {
    fn summaries_are_listed_and_read(space) {
        let oneiro = open(space);
        let (_, made) = compacted(&oneiro, "long", "kayak");
        let id = SessionId::new("long").unwrap();
        let all = oneiro.context().summaries(&id).unwrap();
        for version in VERSIONS {
            let listed = asked(&oneiro, version, "resources/list", json!({}));
            let resources = listed["result"]["resources"].as_array().unwrap();
            assert_eq!(resources.len(), made.len().min(50), "{listed}");
            for resource in resources {
                let uri = resource["uri"].as_str().unwrap();
                let summary = uri.strip_prefix("oneiro://summary/").unwrap();
                let summary = all.iter().find(|one| one.id.as_str() == summary).unwrap();
                let name = resource["name"].as_str().unwrap();
                let count = format!(", {} messages", summary.message_count);
                assert!(name.ends_with(&count) && name.starts_with("20"), "{name}");
                assert_eq!(resource["mimeType"], "text/markdown");
                let read = asked(&oneiro, version, "resources/read", json!({"uri": uri}));
                let content = &read["result"]["contents"][0];
                assert_eq!((&content["uri"], &content["mimeType"]), (&json!(uri), &json!("text/markdown")));
                let text = content["text"].as_str().unwrap();
                assert!(text.starts_with(&format!("# {name}\n")), "{text}");
                assert_eq!(split_at_tags(text).0, summary.content.trim_end_matches('\n'));
                for child in &summary.children {
                    assert!(text.contains(&format!("[{child}](oneiro://summary/{child})")), "{text}");
                }
            }
            let templates = asked(&oneiro, version, "resources/templates/list", json!({}));
            let template = &templates["result"]["resourceTemplates"][0];
            assert_eq!(template["uriTemplate"], "oneiro://summary/{id}", "{templates}");
        }
    }

    fn what_is_not_there_is_not_found(space) {
        let oneiro = open(space);
        append_texts(&oneiro, "s", &["tea"]);
        for version in VERSIONS {
            // The newest version has no code of its own for it.
            let code = if version < "2026-07-28" { -32002 } else { -32602 };
            for uri in ["oneiro://summary/sum_nosuch", "oneiro://summary/", "oneiro://summary/1",
                "file:///etc/passwd", "", "oneiro://summary/sum_\u{0}", "oneiro://summary/sum_%00"] {
                if version >= "2026-07-28" && uri.contains('\0') {
                    continue; // It goes into a header there, which cannot hold it.
                }
                let answer = asked(&oneiro, version, "resources/read", json!({"uri": uri}));
                assert_eq!(answer["error"]["code"], code, "{uri:?}: {answer}");
            }
            let empty = asked(&oneiro, version, "resources/list", json!({}));
            assert_eq!(empty["result"]["resources"], json!([]), "{empty}");
            let other = asked(&oneiro, version, "resources/list", json!({"cursor": "x"}));
            assert_eq!(other["error"]["code"], -32602, "{other}");
        }
    }

    fn where_nobody_looks_beyond_a_session_there_are_none(space) {
        let oneiro = open(space);
        let (_, made) = compacted(&oneiro, "long", "kayak");
        oneiro.settings().set("other_sessions", Some(json!("refuse"))).unwrap();
        let listed = asked(&oneiro, "2025-11-25", "resources/list", json!({}));
        assert_eq!(listed["result"]["resources"], json!([]), "{listed}");
        let uri = format!("oneiro://summary/{}", made[0]);
        let answer = asked(&oneiro, "2025-11-25", "resources/read", json!({"uri": uri}));
        assert_eq!(answer["error"]["data"]["kind"], "forbidden", "{answer}");
    }
}
