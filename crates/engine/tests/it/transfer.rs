//! Export and import: a round trip between engines, repeatable, all of a file or nothing of it.

use crate::support::{
    Fixed, agent, assert_sound, begin, dump, export, id, import, new, open, say, target, user,
    without_ids,
};
use oneiro::{
    Ending, ErrorKind, ExportRequest, ImportFile, ImportLimits, Lineage, MessageId, NewMessage,
    NewSession, Oneiro, Options, SessionPatch, Usage, UsageKey,
};
use oneiro_testkit::{Backend, TestSpace, awkward_messages, on_both_backends};
use serde_json::json;
use std::io::Write;
use std::time::Duration;

/// A space with one of everything.
fn add_fixture(oneiro: &Fixed) {
    let metadata = json!({"z": 1.50, "a": {"deep": [null, "\u{0}"]}});
    oneiro
        .sessions()
        .create(NewSession {
            source: Some("cli".into()),
            user_id: Some("u".into()),
            model_config: Some(json!({"t": 0.10})),
            system_prompt: Some("be careful".into()),
            title: Some("plan".into()),
            project: Some("p".into()),
            cwd: Some("/tmp".into()),
            metadata: metadata.as_object().cloned().unwrap(),
            ..new("a")
        })
        .unwrap();
    let messages =
        awkward_messages().into_iter().map(|message| NewMessage::from_json(message).unwrap());
    let mut ids = oneiro.messages().append(&id("a"), messages.collect()).unwrap().ids;
    oneiro.clock.set(10);
    let more = vec![user("later").external_id("e1"), agent("yes"), user("undone")];
    ids.extend(oneiro.messages().append(&id("a"), more).unwrap().ids);
    oneiro.host().compact_messages(&id("a"), ids[2]).unwrap();
    oneiro.sessions().rewind(&id("a"), (*ids.last().unwrap()).into()).unwrap();
    let used = Usage {
        api_calls: 2,
        output_tokens: 7,
        actual_cost_nanousd: 123_456_789,
        ..Usage::default()
    };
    for (seconds, task) in [(20, ""), (30, ""), (40, "title")] {
        oneiro.clock.set(seconds);
        let key = UsageKey { model: "m".into(), task: task.into(), ..UsageKey::default() };
        oneiro.sessions().add_usage(&id("a"), key, used).unwrap();
    }
    oneiro.sessions().end(&id("a"), Ending::new("compression").unwrap()).unwrap();
    oneiro.clock.set(50);
    oneiro.sessions().create(NewSession { parent_id: Some(id("a")), ..new("b") }).unwrap();
    oneiro
        .sessions()
        .create(NewSession {
            parent_id: Some(id("b")),
            lineage: Some(Lineage::Delegate),
            ..new("c")
        })
        .unwrap();
    oneiro
        .sessions()
        .change(&id("c"), SessionPatch { archived: Some(true), ..SessionPatch::default() })
        .unwrap();
}

fn other(backend: Backend) -> TestSpace {
    TestSpace::new(match backend {
        Backend::Sqlite => Backend::Postgres,
        Backend::Postgres => Backend::Sqlite,
    })
}

on_both_backends! {
    fn an_export_imported_into_the_other_engine_exports_the_same(space) {
        let (here, there) = (open(space), other(space.backend));
        let there = open(&there);
        add_fixture(&here);
        let written = export(&here);
        // Ids are taken there already, so that equal ids prove nothing.
        begin(&there, "first");
        say(&there, "first", &["x"]);
        there.sessions().delete(&id("first")).unwrap();
        let imported = import(&there, &written).unwrap();
        assert_eq!((imported.sessions, imported.messages, imported.skipped, imported.detached), (3, 14, 0, 0));
        let again = export(&there);
        for (one, two) in without_ids(&written).into_iter().zip(without_ids(&again)) {
            assert_eq!(one.to_string(), two.to_string());
        }
        assert_eq!(written.lines().count(), again.lines().count());
        assert_eq!(here.sessions().tip(&id("a")).unwrap(), there.sessions().tip(&id("a")).unwrap());
        assert_sound(&there);
        // Once more: everything is there, nothing changes.
        let before = dump(&there);
        let imported = import(&there, &written).unwrap();
        assert_eq!((imported.sessions, imported.messages, imported.skipped), (0, 0, 3));
        assert_eq!(dump(&there), before);
    }

    fn rewinds_are_restored_one_by_one_after_an_import(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let ids = say(&oneiro, "s", &["one", "two", "three", "four"]);
        oneiro.host().compact_messages(&id("s"), MessageId(ids[2])).unwrap();
        oneiro.sessions().rewind(&id("s"), MessageId(ids[3]).into()).unwrap();
        oneiro.sessions().rewind(&id("s"), MessageId(ids[1]).into()).unwrap();
        let other = TestSpace::new(Backend::Sqlite);
        let copy = open(&other);
        // Other ids than where they come from.
        begin(&copy, "before");
        say(&copy, "before", &["x", "y"]);
        import(&copy, &export(&oneiro)).unwrap();
        for oneiro in [&oneiro, &copy] {
            assert_eq!(oneiro.sessions().restore(&id("s"), oneiro::RestoreRequest { all: false }).unwrap().restored, 2);
            assert_eq!(oneiro.sessions().show(&id("s"), false).unwrap().messages.len(), 0);
            assert_eq!(oneiro.sessions().restore(&id("s"), oneiro::RestoreRequest { all: false }).unwrap().restored, 1);
            assert_eq!(oneiro.sessions().show(&id("s"), false).unwrap().messages.len(), 1);
        }
        let bad = r#"{"id":"t","rewinds":[{"message":"x"}],"messages":[{"role":"user"}]}"#;
        assert_eq!(import(&copy, bad).unwrap_err().field_name(), Some("rewinds"));
    }

    fn an_invalid_line_rejects_the_whole_import(space) {
        let oneiro = open(space);
        let before = dump(&oneiro);
        let good = r#"{"id":"x","messages":[{"role":"user","content":"hi"}]}"#;
        for (bad, what) in [
            ("{", "not JSON"),
            ("[]", "object"),
            ("{}", "id"),
            (r#"{"id":5}"#, "id"),
            (r#"{"id":"y","messages":{}}"#, "messages"),
            (r#"{"id":"y","messages":[{"content":"no role"}]}"#, "message 1"),
            (r#"{"id":"y","messages":[{"role":"user","at":"soon"}]}"#, "at"),
            (r#"{"id":"y","started_at":"never"}"#, "started_at"),
            (r#"{"id":"y","lineage":"twin","parent_id":"x"}"#, "lineage"),
            (r#"{"id":"y","metadata":[]}"#, "metadata"),
            (r#"{"id":"y","input_tokens":-1}"#, "input_tokens"),
            (r#"{"id":"y","usage":[{"last_at":"x"}]}"#, "usage"),
            (r#"{"id":"y","title":5}"#, "title"),
        ] {
            let error = import(&oneiro, &format!("{good}\n\n{bad}\n{good}\n")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid, "{bad}: {error:?}");
            assert!(error.message().contains("line 3") && error.message().contains(what), "{bad}: {error:?}");
            assert_eq!(dump(&oneiro), before, "{bad}");
        }
        let mut not_utf8 = format!("{good}\n").into_bytes();
        not_utf8.extend(b"{\"id\":\"\xff\"}\n");
        let limits = ImportLimits::default();
        assert!(oneiro.transfer().import(&mut not_utf8.as_slice(), limits, &mut |_| {}).is_err());
        assert_eq!(dump(&oneiro), before);
    }

    fn limits_of_an_import_are_enforced_and_named(space) {
        let oneiro = open(space);
        let line = |name: &str| format!("{{\"id\":\"{name}\",\"messages\":[{{\"role\":\"user\"}},{{\"role\":\"user\"}}]}}\n");
        let file = line("x") + &line("y");
        let all = ImportLimits::default();
        for (limits, what) in [
            (ImportLimits { sessions: 1, ..all }, "1 sessions"),
            (ImportLimits { messages: 1, ..all }, "2 messages"),
            (ImportLimits { session_bytes: 20, ..all }, "20 bytes"),
            (ImportLimits { bytes: file.len() as u64 - 1, ..all }, "file"),
        ] {
            let error = oneiro.transfer().import(&mut file.as_bytes(), limits, &mut |_| {}).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TooLarge, "{error:?}");
            assert!(error.message().contains(what) && error.remedy_text().is_some(), "{error:?}");
            assert_eq!(oneiro.stats().unwrap().sessions, 0);
        }
        let exact = ImportLimits { sessions: 2, messages: 2, session_bytes: line("x").len(), bytes: file.len() as u64 };
        assert_eq!(oneiro.transfer().import(&mut file.as_bytes(), exact, &mut |_| {}).unwrap().sessions, 2);
    }

    fn missing_and_cyclic_parents_are_not_set(space) {
        let oneiro = open(space);
        let file = r#"{"id":"orphan","parent_id":"nobody","lineage":"branch"}
            {"id":"a","parent_id":"c","lineage":"branch"}
            {"id":"b","parent_id":"a","lineage":"branch"}
            {"id":"c","parent_id":"b","lineage":"branch"}
            {"id":"self","parent_id":"self"}
            {"id":"child","parent_id":"later"}
            {"id":"later"}"#;
        let imported = import(&oneiro, file).unwrap();
        assert_eq!((imported.sessions, imported.detached), (7, 3));
        let parent = |name: &str| oneiro.sessions().find(&id(name)).unwrap().unwrap().parent_id;
        assert_eq!((parent("orphan"), parent("self"), parent("child")), (None, None, Some(id("later"))));
        assert_eq!(oneiro.sessions().root(&id("a")).unwrap(), oneiro.sessions().root(&id("c")).unwrap());
    }

    fn titles_that_are_in_use_get_a_number(space) {
        let oneiro = open(space);
        oneiro.sessions().create(NewSession { title: Some("plan".into()), ..new("a") }).unwrap();
        let file = "{\"id\":\"b\",\"title\":\"plan\"}\n{\"id\":\"c\",\"title\":\" plan\\t\"}\n{\"id\":\"d\",\"title\":\"free\"}";
        import(&oneiro, file).unwrap();
        let title = |name: &str| oneiro.sessions().find(&id(name)).unwrap().unwrap().title.unwrap();
        assert_eq!((title("b"), title("c"), title("d")), ("plan #2".into(), "plan #3".into(), "free".into()));
    }

    fn an_export_can_be_filtered(space) {
        let oneiro = open(space);
        for (name, source) in [("a", "cli"), ("b", "cron"), ("c", "cli")] {
            oneiro.sessions().create(NewSession { source: Some(source.into()), ..new(name) }).unwrap();
        }
        let ids = |request: ExportRequest| {
            let mut out = Vec::new();
            let done = oneiro.transfer().export(&request, &mut out, &mut |_| {}).unwrap();
            assert_eq!(done.bytes, out.len() as u64);
            without_ids(&String::from_utf8(out).unwrap()).iter().map(|s| s["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(ids(ExportRequest::default()), ["a", "b", "c"]);
        assert_eq!(ids(ExportRequest { source: Some("cli".into()), ..ExportRequest::default() }), ["a", "c"]);
        assert_eq!(ids(ExportRequest { sessions: vec![id("c"), id("b")], ..ExportRequest::default() }), ["c", "b"]);
        let missing = ExportRequest { sessions: vec![id("nobody")], ..ExportRequest::default() };
        assert_eq!(oneiro.transfer().export(&missing, &mut Vec::new(), &mut |_| {}).unwrap_err().kind(), ErrorKind::NotFound);
    }

    fn surrogates_of_an_import_are_counted_and_visibility_is_kept(space) {
        let oneiro = open(space);
        let file = r#"{"id":"a","messages":[{"role":"user","content":"\ud800"},{"role":"user","content":"c","visibility":"compacted"},{"role":"user","content":"r","visibility":"rewound"}]}"#;
        import(&oneiro, file).unwrap();
        assert_eq!(oneiro.stats().unwrap().repaired, 1);
        assert_eq!(oneiro.sessions().show(&id("a"), false).unwrap().messages.len(), 1);
        assert_eq!(oneiro.sessions().find(&id("a")).unwrap().unwrap().message_count, 2);
        assert_eq!(oneiro.sessions().restore(&id("a"), oneiro::RestoreRequest { all: false }).unwrap().restored, 1);
        assert_sound(&oneiro);
    }
}

/// What Python's `import_file` and `oneiro session import FILE` call.
#[test]
fn a_pipe_is_imported_to_its_end_and_another_handle_appends_while_it_waits() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let space = &TestSpace::new(backend);
        let (oneiro, other) = (open(space), open(space));
        begin(&other, "other");
        let (input, mut output) = std::io::pipe().unwrap();
        let limits = ImportLimits::default();
        std::thread::scope(|scope| {
            let importing = scope.spawn(|| {
                let path = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&input));
                let file = ImportFile::open(std::path::Path::new(&path), limits)?;
                oneiro.transfer().import_file(&file, limits, &mut |_| {})
            });
            // More than a pipe holds: the write ends only when the import has begun to read.
            let blank = vec![b'\n'; 256 << 10];
            output.write_all(&blank).unwrap();
            other.messages().append(&id("other"), vec![user("meanwhile")]).unwrap();
            output
                .write_all(b"{\"id\":\"a\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}")
                .unwrap();
            drop(output);
            let imported = importing.join().unwrap().unwrap();
            assert_eq!((imported.sessions, imported.messages), (1, 1));
        });
    }
}

#[test]
fn an_endless_pipe_is_refused_at_the_byte_limit() {
    let space = &TestSpace::new(Backend::Sqlite);
    let oneiro = open(space);
    let limits = ImportLimits { bytes: 1 << 20, ..ImportLimits::default() };
    let file = ImportFile::spool(std::io::repeat(b'\n'), limits).unwrap();
    assert_eq!(file.bytes(), limits.bytes + 1);
    let error = oneiro.transfer().import_file(&file, limits, &mut |_| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge, "{error:?}");
    let folder = ImportFile::open(space.folder(), limits).unwrap_err();
    assert_eq!(folder.kind(), ErrorKind::Invalid, "{folder:?}");
    let missing = ImportFile::open(&space.folder().join("missing"), limits).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound, "{missing:?}");
}

/// Input whose end comes late.
struct Pausing<'t> {
    text: &'t [u8],
    pause: Duration,
}

impl std::io::Read for Pausing<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.text.is_empty() {
            std::thread::sleep(std::mem::take(&mut self.pause));
        }
        self.text.read(into)
    }
}

/// The pause stands for the time that a very long line takes to be read and prepared.
#[test]
fn an_import_keeps_its_transaction_on_a_server_through_a_pause_between_lines() {
    let space = &TestSpace::new(Backend::Postgres);
    let busy_timeout = Duration::from_millis(100);
    let options = Options { busy_timeout, ..Options::default() };
    let oneiro = Oneiro::open(&target(space), options).unwrap();
    // Longer than the five seconds after which a server ends a write that says nothing.
    let pause = Duration::from_secs(8);
    let text = b"{\"id\":\"a\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}\n";
    let mut input = std::io::BufReader::new(Pausing { text, pause });
    let imported =
        oneiro.transfer().import(&mut input, ImportLimits::default(), &mut |_| {}).unwrap();
    assert_eq!((imported.sessions, imported.messages), (1, 1));
}
