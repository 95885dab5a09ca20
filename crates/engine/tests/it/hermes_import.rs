//! Moving in from hermes: every version of its tables, whole, and without a trace in the file.

use crate::hermes_files::{Hermes, import, try_import};
use crate::support::{assert_sound, id, message_texts, open};
use oneiro::{
    ErrorKind, ForeignStore, Lineage, Oneiro, Options, Target, Visibility, foreign_store,
};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use rusqlite::params;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

const VERSIONS: [i64; 9] = [1, 2, 4, 6, 11, 22, 23, 26, 30];

/// Two sessions with what every version can hold.
fn filled(space: &TestSpace, version: i64) -> Hermes {
    let hermes = Hermes::new(space, version);
    hermes.set(
        "INSERT INTO sessions (id, source, user_id, model, model_config, system_prompt, started_at, \
         ended_at, end_reason, input_tokens, output_tokens, message_count) VALUES \
         ('a', 'telegram', 'u1', 'm1', '{\"temperature\": 0.1}', 'be kind', 1700000000.25, \
         1700000100.5, 'compression', 11, 7, 99)",
        &[],
    );
    hermes.set(
        "INSERT INTO sessions (id, source, parent_session_id, started_at) \
         VALUES ('b', 'cli', 'a', 1700000200)",
        &[],
    );
    hermes.say("a", "user", "where is the blue tin");
    hermes.set(
        "INSERT INTO messages (session_id, role, content, tool_calls, timestamp, token_count) \
         VALUES ('a', 'assistant', NULL, '[{\"id\": \"c1\"}]', 1700000001.123456789, 12)",
        &[],
    );
    hermes.set(
        "INSERT INTO messages (session_id, role, content, tool_call_id, tool_name, timestamp) \
         VALUES ('a', 'tool', 'on the shelf', 'c1', 'look', 1700000002)",
        &[],
    );
    hermes.say("b", "user", "and the red one");
    hermes
}

fn files(folder: &Path) -> BTreeMap<std::path::PathBuf, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let names = entries.filter(|path| path.to_string_lossy().contains("state-"));
    names.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

on_both_backends! {
    fn every_version_can_be_imported(space) {
        for version in VERSIONS {
            let space = TestSpace::new(space.backend);
            let path = filled(&space, version).path;
            let oneiro = open(&space);
            let done = import(&oneiro, &path);
            assert_eq!((done.version, done.sessions, done.messages), (version, 2, 4));
            assert_eq!((done.file, done.warnings.len()), (done.store, 0));
            let a = oneiro.sessions().show(&id("a"), true).unwrap();
            let session = &a.session;
            assert_eq!((session.source.as_str(), session.user_id.as_deref()), ("telegram", Some("u1")));
            assert_eq!(session.model_config, Some(json!({"temperature": 0.1})));
            assert_eq!(session.system_prompt.as_deref(), Some("be kind"));
            assert_eq!(session.started_at.micros(), 1_700_000_000_250_000);
            assert_eq!(session.ended_at.map(|at| at.micros()), Some(1_700_000_100_500_000));
            assert_eq!(session.end_reason.as_deref(), Some("compression"));
            assert_eq!((session.input_tokens, session.output_tokens), (11, 7));
            assert_eq!((session.message_count, session.tool_call_count), (3, 1));
            let [said, called, result] = &a.messages[..] else { panic!("{:?}", a.messages) };
            assert_eq!(said.external_id.as_deref(), Some("hermes:1"));
            assert_eq!(json!(called.body), json!({"content": null, "tool_calls": [{"id": "c1"}],
                "tokens": 12, "timestamp": 1700000001.1234567}));
            assert_eq!(json!(result.body), json!({"content": "on the shelf", "tool_call_id": "c1", "name": "look"}));
            let b = oneiro.sessions().find(&id("b")).unwrap().unwrap();
            assert_eq!((b.parent_id, b.lineage), (Some(id("a")), Some(Lineage::Continuation)));
            assert_sound(&oneiro);
        }
    }

    fn every_column_of_the_newest_version_is_imported(space) {
        let hermes = filled(space, 30);
        hermes.run("UPDATE sessions SET title = 'Tins', cwd = '/srv', rewind_count = 2, archived = 1, \
            cache_read_tokens = 3, cache_write_tokens = 4, reasoning_tokens = 5, api_call_count = 6, \
            estimated_cost_usd = 0.25, billing_provider = 'p', session_key = 'k', chat_id = 'c', \
            chat_type = 'dm', thread_id = 't', display_name = 'Ann', origin_json = '{\"a\": 1}', \
            expiry_finalized = 1, git_branch = 'main', handoff_state = 'pending', \
            compression_failure_cooldown_until = 1700000000.5, profile_name = 'work', \
            created_source = 'gateway', title_source = 'auto', pinned = 1, tool_names = '[\"x\"]', \
            system_prompt = NULL, system_prompt_hash = 'h1' WHERE id = 'a';
            INSERT INTO system_prompts VALUES ('h1', 'be kind and brief');
            INSERT INTO session_model_usage (session_id, model, billing_provider, task, \
              api_call_count, input_tokens, actual_cost_usd, first_seen, last_seen) \
              VALUES ('a', 'm1', 'p', 'title', 2, 30, 0.5, 1700000000, 1700000009);
            INSERT INTO state_meta VALUES ('last_auto_prune', '1700000000.5');
            INSERT INTO gateway_routing VALUES ('tg', 'k', '{\"x\": 1}', 1700000000.5);
            INSERT INTO compression_locks VALUES ('a', 'me', 1, 2);
            ALTER TABLE sessions ADD COLUMN from_the_future TEXT;
            ALTER TABLE messages ADD COLUMN visibility TEXT;
            UPDATE sessions SET from_the_future = 'kept' WHERE id = 'a';");
        hermes.set("UPDATE messages SET finish_reason = 'stop', reasoning = 'why', \
            reasoning_content = '', reasoning_details = '[{\"t\": 1}]', codex_reasoning_items = '[]', \
            codex_message_items = 'not json', platform_message_id = 'p1', observed = 1, \
            api_content = 'exact', effect_disposition = 'none', display_kind = 'k', \
            display_metadata = '{\"d\": 1}', display_identity = ?1, display_order = 3, \
            visibility = 'odd' WHERE id = 2", params![&[0_u8, 255]]);
        hermes.set("UPDATE messages SET content = ?1 WHERE id = 1", params!["\0json:[{\"type\": \"text\", \"text\": \"hi\"}]"]);
        let path = hermes.path;
        let oneiro = open(space);
        let done = import(&oneiro, &path);
        assert_eq!(done.tables_left, BTreeMap::from([("compression_locks".to_owned(), 1)]));
        assert_eq!(done.slots, 2);
        let a = oneiro.sessions().show(&id("a"), true).unwrap();
        let session = &a.session;
        assert_eq!((session.title.as_deref(), session.cwd.as_deref()), (Some("Tins"), Some("/srv")));
        assert_eq!((session.rewind_count, session.archived), (2, true));
        assert_eq!((session.cache_read_tokens, session.cache_write_tokens, session.reasoning_tokens), (3, 4, 5));
        assert_eq!((session.api_call_count, session.estimated_cost_usd), (6, 0.25));
        assert_eq!(session.system_prompt.as_deref(), Some("be kind and brief"));
        assert_eq!(json!(session.metadata), json!({
            "estimated_cost_set": true, "billing_provider": "p", "session_key": "k", "chat_id": "c",
            "chat_type": "dm", "thread_id": "t", "display_name": "Ann", "origin_json": "{\"a\": 1}",
            "expiry_finalized": 1, "git_branch": "main", "handoff_state": "pending",
            "compression_failure_cooldown_until": 1700000000.5, "profile_name": "work",
            "created_source": "gateway", "title_source": "auto", "pinned": 1, "tool_names": "[\"x\"]",
            "from_the_future": "kept",
        }));
        assert_eq!(json!(a.messages[0].body)["content"], json!([{"type": "text", "text": "hi"}]));
        assert_eq!(json!(a.messages[1].body), json!({
            "content": null, "tool_calls": [{"id": "c1"}], "tokens": 12, "finish_reason": "stop",
            "reasoning": "why", "reasoning_details": [{"t": 1}], "codex_reasoning_items": [],
            "reasoning_content": "", "codex_message_items": "not json", "platform_message_id": "p1",
            "observed": true, "api_content": "exact", "effect_disposition": "none",
            "display_kind": "k", "display_metadata": {"d": 1}, "display_identity": {"base64": "AP8="},
            "display_order": 3, "hermes_visibility": "odd", "timestamp": 1700000001.1234567,
        }));
        let usage = json!(oneiro.sessions().usage(&id("a")).unwrap());
        assert_eq!((&usage[0]["task"], &usage[0]["input_tokens"], &usage[0]["actual_cost_usd"]),
            (&json!("title"), &json!(30), &json!(0.5)));
        assert_eq!(usage[0]["last_at"], "2023-11-14T22:13:29Z");
        let held = |scope: &str| json!(oneiro.host().slots(scope).unwrap()[0].value);
        assert_eq!(held("hermes/meta"), "1700000000.5");
        assert_eq!(held("hermes/routing/tg"), json!({"entry_json": "{\"x\": 1}", "updated_at": 1700000000.5}));
    }

    fn messages_keep_their_visibility_and_the_order_of_their_ids(space) {
        let hermes = Hermes::new(space, 22);
        hermes.session("s", 1_700_000_000.0);
        for (content, active, compacted) in [("old", 0, 1), ("summary", 1, 0), ("taken back", 0, 0), ("now", 1, 1)] {
            let number = hermes.say("s", "user", content);
            hermes.set("UPDATE messages SET active = ?2, compacted = ?3, timestamp = 1800000000 - ?1 \
                WHERE id = ?1", params![number, active, compacted]);
        }
        let path = hermes.path;
        let oneiro = open(space);
        let done = import(&oneiro, &path);
        assert_eq!((done.store.live, done.store.compacted, done.store.rewound), (2, 1, 1));
        assert_eq!(message_texts(&oneiro, "s", false), ["summary", "now"]);
        assert_eq!(message_texts(&oneiro, "s", true), ["old", "summary", "taken back", "now"]);
        let view = oneiro.sessions().show(&id("s"), true).unwrap();
        let stand: Vec<Visibility> = view.messages.iter().map(|message| message.visibility).collect();
        use Visibility::{Compacted, Live, Rewound};
        assert_eq!(stand, [Compacted, Live, Rewound, Live]);
        // What the search finds is what hermes would: compacted yes, taken back no.
        assert_eq!(view.session.message_count, 3);
    }

    fn the_lineage_of_sessions_is_that_of_hermes(space) {
        let hermes = Hermes::new(space, 22);
        hermes.session("root", 1.0);
        hermes.session("open", 2.0);
        hermes.run("UPDATE sessions SET ended_at = 5, end_reason = 'compression' WHERE id = 'root'");
        for (child, parent, source, config) in [
            ("next", "root", "cli", ""),
            ("delegate", "root", "cli", "{\"_delegate_from\": \"root\"}"),
            ("branch", "root", "cli", "{\"_branched_from\": \"root\"}"),
            ("reset", "root", "cli", "{\"_reset_from\": \"root\"}"),
            ("tool", "root", "tool", ""),
            ("other", "open", "cli", ""),
            ("orphan", "nowhere", "cli", ""),
            ("self", "self", "cli", ""),
            ("x", "y", "cli", ""),
            ("y", "z", "cli", ""),
            ("z", "x", "cli", ""),
        ] {
            hermes.set("INSERT INTO sessions (id, source, model_config, parent_session_id, started_at) \
                VALUES (?1, ?2, NULLIF(?3, ''), ?4, 9)", params![child, source, config, parent]);
        }
        let path = hermes.path;
        let oneiro = open(space);
        let done = import(&oneiro, &path);
        assert_eq!(done.detached, 3, "the orphan, the one that is its own parent, one of the circle");
        let lineage = |name: &str| oneiro.sessions().find(&id(name)).unwrap().unwrap().lineage;
        for (name, want) in [
            ("next", Some(Lineage::Continuation)),
            ("delegate", Some(Lineage::Delegate)),
            ("branch", Some(Lineage::Branch)),
            ("reset", Some(Lineage::Reset)),
            ("tool", Some(Lineage::Branch)),
            ("other", Some(Lineage::Branch)),
            ("orphan", None),
            ("self", None),
        ] {
            assert_eq!(lineage(name), want, "{name}");
        }
        let circle = ["x", "y", "z"].iter().filter(|name| lineage(name).is_none()).count();
        assert_eq!(circle, 1);
        assert_sound(&oneiro);
        assert_eq!(import(&oneiro, &path).detached, 3);
    }

    fn the_newest_session_keeps_a_duplicate_title(space) {
        let hermes = Hermes::new(space, 3);
        for (name, started) in [("middle", 2.0), ("newest", 3.0), ("oldest", 1.0)] {
            hermes.session(name, started);
            hermes.set("UPDATE sessions SET title = 'Tea' WHERE id = ?1", params![name]);
        }
        hermes.session("long", 4.0);
        hermes.set("UPDATE sessions SET title = ?1 WHERE id = 'long'", params!["x".repeat(300)]);
        let path = hermes.path;
        let oneiro = open(space);
        let done = import(&oneiro, &path);
        let title = |name: &str| oneiro.sessions().find(&id(name)).unwrap().unwrap().title.unwrap();
        assert_eq!(title("newest"), "Tea");
        let mut others = [title("middle"), title("oldest")];
        others.sort();
        assert_eq!(others, ["Tea #2", "Tea #3"]);
        assert_eq!(done.retitled, 2);
        assert_eq!(title("long").chars().count(), 100);
        assert_eq!(import(&oneiro, &path).retitled, 0);
        assert_eq!(title("newest"), "Tea");
    }

    fn a_newer_version_is_imported_with_a_warning(space) {
        let hermes = filled(space, 30);
        hermes.run("UPDATE schema_version SET version = 77; CREATE TABLE dreams (id INTEGER); \
            INSERT INTO dreams VALUES (1), (2)");
        let path = hermes.path;
        let done = import(&open(space), &path);
        assert_eq!((done.version, done.messages), (77, 4));
        assert!(done.warnings[0].contains("77"), "{:?}", done.warnings);
        assert_eq!(done.tables_left["dreams"], 2);
    }

    fn a_dry_run_counts_and_stores_nothing(space) {
        let hermes = filled(space, 22);
        hermes.run("UPDATE messages SET active = 0 WHERE id = 4");
        let path = hermes.path;
        let oneiro = open(space);
        let preview = oneiro.transfer().preview_hermes(&path, &mut |_| {}).unwrap();
        assert_eq!((preview.sessions, preview.messages, preview.agrees), (2, 4, None));
        assert_eq!((preview.file.live, preview.file.rewound, preview.store.sessions), (3, 1, 0));
        assert_eq!(oneiro.stats().unwrap().sessions, 0);
        assert!(oneiro.host().slots("hermes/import").unwrap().is_empty());
        let done = import(&oneiro, &path);
        assert_eq!((done.sessions, done.messages, done.file), (preview.sessions, preview.messages, preview.file));
        let again = oneiro.transfer().preview_hermes(&path, &mut |_| {}).unwrap();
        assert_eq!((again.sessions, again.messages, again.store), (0, 0, done.store));
    }
}

#[test]
fn the_imported_file_and_its_folder_are_unchanged() {
    let space = TestSpace::new(Backend::Sqlite);
    let oneiro = open(&space);
    // Closed: no log, no index of it.
    let path = filled(&space, 22).path;
    let before = files(space.folder());
    import(&oneiro, &path);
    oneiro.transfer().preview_hermes(&path, &mut |_| {}).unwrap();
    assert_eq!(foreign_store(&path), Some(ForeignStore::Hermes));
    assert_eq!(files(space.folder()), before);
    // A log that was left behind, without its index: everything in it is read, nothing is copied back.
    let left = Hermes::new(&space, 26);
    let db = left.db();
    db.execute_batch(
        "INSERT INTO sessions (id, source, started_at) VALUES ('s', 'cli', 5);
         INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'x', 5);",
    )
    .unwrap();
    let copy = space.folder().join("state-left.db");
    std::fs::copy(&left.path, &copy).unwrap();
    let log = space.folder().join("state-left.db-wal");
    std::fs::copy(left.path.with_extension("db-wal"), &log).unwrap();
    let bytes = (std::fs::read(&copy).unwrap(), std::fs::read(&log).unwrap());
    assert_eq!(foreign_store(&copy), Some(ForeignStore::Hermes));
    assert_eq!(import(&oneiro, &copy).messages, 1);
    assert_eq!((std::fs::read(&copy).unwrap(), std::fs::read(&log).unwrap()), bytes);
    // The file itself is open in this process, where locks cannot be told apart.
    let error = try_import(&oneiro, &left.path).unwrap_err();
    assert!(error.message().contains("open in this process"), "{error}");
}

#[test]
fn files_that_are_not_of_hermes_are_refused() {
    let space = TestSpace::new(Backend::Sqlite);
    let oneiro = open(&space);
    let folder = space.folder();
    let named = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let plain = folder.join("plain.db");
    rusqlite::Connection::open(&plain).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let alike = folder.join("alike.db");
    let db = rusqlite::Connection::open(&alike).unwrap();
    db.execute_batch(
        "CREATE TABLE sessions (id); CREATE TABLE messages (id); \
        CREATE TABLE schema_version (version)",
    )
    .unwrap();
    drop(db);
    let cut = named("cut.db", b"SQLite format 3\0and then nothing");
    for (path, kind, said) in [
        (folder.join("nowhere.db"), ErrorKind::NotFound, "does not exist"),
        (folder.to_owned(), ErrorKind::Invalid, "is a folder"),
        (named("empty.db", b""), ErrorKind::Invalid, "is empty"),
        (named("garbage.db", &[7; 5_000]), ErrorKind::Invalid, "not a SQLite database"),
        (cut, ErrorKind::Invalid, "not a SQLite database"),
        (plain.clone(), ErrorKind::Invalid, "not a state.db of hermes"),
        (alike, ErrorKind::Invalid, "not a state.db of hermes"),
        (space.file(), ErrorKind::Invalid, "a store of Oneiro itself"),
    ] {
        let error = try_import(&oneiro, &path).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(said), "{error}");
        assert!(error.remedy_text().is_some(), "{error}");
    }
    // An empty file whose log is not: to open it would take the log away.
    let emptied = named("emptied.db", b"");
    let log = named("emptied.db-wal", &[1; 4_000]);
    let error = try_import(&oneiro, &emptied).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert_eq!(foreign_store(&emptied), None);
    assert_eq!(std::fs::read(&log).unwrap().len(), 4_000);
    assert_eq!(foreign_store(&plain), Some(ForeignStore::Sqlite));
    assert_eq!(foreign_store(&space.file()), None);
    assert_eq!(foreign_store(&folder.join("garbage.db")), None);
    assert_eq!(foreign_store(folder), None);
}

#[test]
fn a_state_db_opened_as_a_store_is_refused_and_unchanged() {
    let space = TestSpace::new(Backend::Sqlite);
    let hermes = filled(&space, 22);
    let target = Target::parse(&hermes.path.to_string_lossy(), None).unwrap();
    // While hermes has it open with words in its log, and when it is closed.
    for is_open in [true, false] {
        let db = is_open.then(|| hermes.db());
        if let Some(db) = &db {
            db.execute("UPDATE sessions SET model = 'x'", []).unwrap();
        }
        // The index of the log is shared memory: readers leave their marks in it.
        let content = || -> Vec<Value> {
            let mut files = files(space.folder());
            files.retain(|path, _| !path.to_string_lossy().ends_with("-shm"));
            files.into_iter().map(|(path, bytes)| json!([path, bytes])).collect()
        };
        let before = content();
        let error = Oneiro::open(&target, Options::default()).err().unwrap();
        assert!(error.message().contains("is the state.db of hermes"), "{error}");
        let remedy = error.remedy_for(oneiro::Surface::CommandLine).unwrap();
        assert!(remedy.contains("oneiro import hermes"), "{error:?}");
        assert_eq!(content(), before);
        assert_eq!(before.len(), if is_open { 2 } else { 1 });
    }
}
