//! Rows of hermes that no program should have written: none of them stops an import, and no message
//! is lost.

use crate::hermes_files::{Hermes, import, try_import};
use crate::support::{assert_sound, id, open};
use oneiro::Role;
use oneiro_testkit::on_both_backends;
use rusqlite::params;
use rusqlite::types::Value as Sql;
use serde_json::json;

/// A file whose columns may hold anything.
fn loose(space: &oneiro_testkit::TestSpace) -> Hermes {
    let hermes = Hermes::new(space, 22);
    hermes.run(
        "PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL', '') WHERE type = 'table';
        PRAGMA writable_schema = RESET;",
    );
    hermes
}

fn put(hermes: &Hermes, column: &str, value: &Sql) -> i64 {
    let number = hermes.say("s", "user", "words");
    hermes.set(&format!("UPDATE messages SET {column} = ?1 WHERE id = ?2"), params![value, number]);
    number
}

on_both_backends! {
    fn invalid_values_are_repaired_or_kept_as_metadata(space) {
        let hermes = loose(space);
        hermes.session("s", 1_700_000_000.0);
        let odd = [
            ("role", Sql::Null),
            ("role", Sql::Text("r".repeat(100))),
            ("role", Sql::Text("a\0b".to_owned())),
            ("role", Sql::Blob(b"user".to_vec())),
            ("content", Sql::Blob(vec![0xFF, 0xFE, 0x00])),
            ("content", Sql::Blob("bytes that are text".into())),
            ("content", Sql::Integer(7)),
            ("content", Sql::Text("\0json:{broken".to_owned())),
            ("content", Sql::Text("\0json:{\"a\": \"\\ud800\"}".to_owned())),
            ("content", Sql::Text(format!("\0json:{}1{}", "[".repeat(500), "]".repeat(500)))),
            ("tool_calls", Sql::Text("not json".to_owned())),
            ("timestamp", Sql::Null),
            ("timestamp", Sql::Real(-1.0)),
            ("timestamp", Sql::Real(1e18)),
            ("timestamp", Sql::Real(f64::INFINITY)),
            ("timestamp", Sql::Real(1_700_000_000_123.0)),
            ("timestamp", Sql::Text("yesterday".to_owned())),
            ("token_count", Sql::Integer(-3)),
            ("token_count", Sql::Text("many".to_owned())),
            ("active", Sql::Null),
            ("compacted", Sql::Text("".to_owned())),
        ];
        for (column, value) in &odd {
            put(&hermes, column, value);
        }
        // Text that is not UTF-8, as a program in C may write it.
        let number = hermes.say("s", "user", "x");
        hermes.run(&format!("UPDATE messages SET content = CAST(x'61ff62' AS TEXT) WHERE id = {number}"));
        let oneiro = open(space);
        let done = import(&oneiro, &hermes.path);
        assert_eq!((done.messages, done.not_kept.len()), (odd.len() + 1, 0));
        let messages = oneiro.sessions().show(&id("s"), true).unwrap().messages;
        let at = |number: usize| &messages[number - 1];
        assert_eq!(at(1).role, Role::Other("unknown".into()));
        assert_eq!(at(2).body["role_was"], "r".repeat(100));
        assert_eq!(at(4).role, Role::User);
        assert_eq!(at(5).body["content"], json!({"base64": "//4A"}));
        assert_eq!(at(6).body["content"], "bytes that are text");
        assert_eq!(at(7).body["content"], "7");
        assert_eq!(at(8).body["content"], "\0json:{broken");
        assert_eq!(at(9).body["content"], json!({"a": "\u{FFFD}"}));
        assert!(at(10).body["content"].as_str().unwrap().starts_with("\0json:[[["));
        assert_eq!(at(11).body["tool_calls"], "not json");
        // A row without a time has that of the row before it.
        for number in [12, 13, 15, 17] {
            assert_eq!(at(number).at, at(number - 1).at, "{number}");
        }
        assert_eq!(at(13).body["timestamp"], json!(-1.0));
        assert_eq!(at(14).body["timestamp"], json!(1e18));
        assert_eq!(at(15).body["timestamp_was"], "inf");
        assert_eq!(at(16).at.micros(), 1_700_000_000_123_000);
        assert_eq!(at(17).body["timestamp_was"], "yesterday");
        assert_eq!(at(18).body["token_count"], -3);
        assert_eq!(at(19).body["token_count"], "many");
        assert_eq!(at(22).body["content"], "a\u{FFFD}b");
        assert_eq!(done.file.live, 22);
        for kind in ["name", "text", "time", "surrogate"] {
            assert!(done.repaired.contains_key(kind), "{kind}: {:?}", done.repaired);
        }
        assert_sound(&oneiro);
        assert_eq!(import(&oneiro, &hermes.path).messages, 0);
    }

    fn invalid_sessions_are_imported_with_all_their_messages(space) {
        let hermes = loose(space);
        let long = "i".repeat(600);
        hermes.set("INSERT INTO sessions (id, source, started_at) VALUES (?1, NULL, NULL)", params![long]);
        hermes.set("INSERT INTO sessions (id, source, started_at) VALUES (?1, 'cli', 1)", params!["nul\0id"]);
        hermes.set("INSERT INTO sessions (id, source, started_at) VALUES (NULL, 'cli', 'soon')", params![]);
        hermes.set("INSERT INTO sessions (id, source, started_at, model, input_tokens, \
            output_tokens, estimated_cost_usd, actual_cost_usd, model_config, cwd) \
            VALUES ('s', 'cli', 1e18, ?1, -5, 'x', -1.0, 1e300, 'not json', ?2)",
            params!["m".repeat(9_000), "a\0b"]);
        for session in [long.as_str(), "nul\0id", "s", "no row", ""] {
            hermes.say(session, "user", "kept");
        }
        hermes.run("INSERT INTO messages (session_id, role, content, timestamp) VALUES (NULL, 'user', 'kept', 5)");
        let oneiro = open(space);
        let done = import(&oneiro, &hermes.path);
        assert_eq!((done.sessions, done.messages), (5, 6), "{done:#?}");
        assert_eq!(done.repaired["session"], 1);
        let s = oneiro.sessions().find(&id("s")).unwrap().unwrap();
        assert_eq!(s.model.as_ref().map(String::len), Some(4_096));
        assert_eq!(s.metadata["model"].as_str().map(str::len), Some(9_000));
        assert_eq!((s.input_tokens, s.output_tokens), (0, 0));
        assert_eq!((&s.metadata["input_tokens"], &s.metadata["output_tokens"]), (&json!(-5), &json!("x")));
        assert_eq!((&s.metadata["estimated_cost_usd"], &s.metadata["actual_cost_usd"]), (&json!(-1.0), &json!(1e300)));
        assert_eq!((s.model_config, s.cwd.as_deref()), (Some(json!("not json")), Some("ab")));
        assert_eq!(s.metadata["started_at"], json!(1e18));
        let lost = oneiro.sessions().find(&id("no row")).unwrap().unwrap();
        assert_eq!((lost.metadata["without_row"].as_bool(), lost.message_count), (Some(true), 1));
        assert_sound(&oneiro);
        let again = import(&oneiro, &hermes.path);
        assert_eq!((again.sessions, again.messages, again.sessions_changed), (0, 0, 0));
    }

    fn ids_may_be_negative_or_huge(space) {
        let hermes = loose(space);
        hermes.session("s", 1.0);
        for number in [i64::MIN, -5, 0, 3, i64::MAX] {
            hermes.set("INSERT INTO messages (id, session_id, role, content, timestamp) \
                VALUES (?1, 's', 'user', 'x', 5)", params![number]);
        }
        let oneiro = open(space);
        assert_eq!(import(&oneiro, &hermes.path).messages, 5);
        assert_eq!(import(&oneiro, &hermes.path).messages, 0);
        let messages = oneiro.sessions().show(&id("s"), true).unwrap().messages;
        assert_eq!(messages[0].external_id, Some(format!("hermes:{}", i64::MIN)));
    }

    fn damaged_rows_are_skipped_and_reported(space) {
        let hermes = Hermes::new(space, 22);
        hermes.run("PRAGMA journal_mode = DELETE");
        hermes.session("s", 1.0);
        let db = hermes.db();
        for number in 0..400 {
            db.execute("INSERT INTO messages (session_id, role, content, timestamp) \
                VALUES ('s', 'user', ?1, 5)", params![format!("number {number} {}", "x".repeat(300))]).unwrap();
        }
        let root: i64 = db.query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'messages'", [], |row| row.get(0)).unwrap();
        drop(db);
        // A leaf of the table in the middle of the file, overwritten.
        let mut bytes = std::fs::read(&hermes.path).unwrap();
        let pages = bytes.len() / 4_096;
        let is_leaf = |page: usize| bytes[page * 4_096] == 13 && page + 1 != root as usize
            && bytes[page * 4_096..(page + 1) * 4_096].windows(10).any(|part| part == b"number 200");
        let page = (1..pages).find(|page| is_leaf(*page)).unwrap();
        let on_page: Vec<bool> = (0..400)
            .map(|number| {
                let text = format!("number {number} ");
                let page = &bytes[page * 4_096..(page + 1) * 4_096];
                page.windows(text.len()).any(|part| part == text.as_bytes())
            })
            .collect();
        bytes[page * 4_096..(page + 1) * 4_096].fill(0xAA);
        std::fs::write(&hermes.path, bytes).unwrap();
        let oneiro = open(space);
        let done = try_import(&oneiro, &hermes.path).unwrap();
        assert_eq!(done.agrees, Some(false));
        assert!(!done.not_kept.is_empty());
        // Exactly the rows of that page are missing.
        let messages = oneiro.sessions().show(&id("s"), true).unwrap().messages;
        let kept: Vec<String> = messages.iter().map(crate::support::content).collect();
        let missing: Vec<bool> = (0..400)
            .map(|number| !kept.iter().any(|text| text.starts_with(&format!("number {number} "))))
            .collect();
        assert_eq!(missing, on_page);
        assert_sound(&oneiro);
    }
}
