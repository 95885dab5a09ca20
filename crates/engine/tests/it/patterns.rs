//! Sessions that are ignored or stateless, as every process of a space agrees.

use crate::support::{begin, id, import, new, open, say, user};
use oneiro::{BranchRequest, ErrorKind, NewSession};
use oneiro_testkit::on_both_backends;
use serde_json::json;

on_both_backends! {
    fn nothing_of_an_ignored_session_is_stored(space) {
        let oneiro = open(space);
        let appended = oneiro.messages().append(&id("heartbeat"), vec![user("x"), user("y")]).unwrap();
        assert_eq!((appended.skipped, appended.ids.len()), (2, 0));
        oneiro.messages().append_or_create(&id("heartbeat"), vec![user("x")], NewSession::default()).unwrap();
        let refused = oneiro.sessions().create(new("heartbeat")).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        begin(&oneiro, "a");
        let branch = BranchRequest { id: Some(id("heartbeat")), ..BranchRequest::default() };
        assert_eq!(oneiro.sessions().branch(&id("a"), branch).unwrap_err().kind(), ErrorKind::Conflict);
        let file = r#"{"id":"heartbeat","messages":[{"role":"user"}]}"#;
        assert_eq!(import(&oneiro, file).unwrap().skipped, 1);
        let stats = oneiro.stats().unwrap();
        assert_eq!((stats.sessions, stats.messages), (1, 0));
    }

    fn a_stateless_session_exists_without_messages(space) {
        let oneiro = open(space);
        oneiro.settings().set("stateless_session_patterns", Some(json!(["cron:*"]))).unwrap();
        begin(&oneiro, "cron:daily");
        assert_eq!(oneiro.messages().append(&id("cron:daily"), vec![user("x")]).unwrap().skipped, 1);
        let create = NewSession::default();
        assert_eq!(oneiro.messages().append_or_create(&id("cron:new"), vec![user("x")], create).unwrap().skipped, 1);
        import(&oneiro, r#"{"id":"cron:old","messages":[{"role":"user"}]}"#).unwrap();
        let stats = oneiro.stats().unwrap();
        assert_eq!((stats.sessions, stats.messages), (3, 0));
        begin(&oneiro, "cron:a:b");
        say(&oneiro, "cron:a:b", &["x"]);
        assert_eq!(oneiro.stats().unwrap().messages, 1);
    }

    fn a_change_by_another_handle_is_seen_by_the_next_write(space) {
        let (one, two) = (open(space), open(space));
        begin(&one, "s");
        for turn in 0..4 {
            let name = ["ignore_session_patterns", "stateless_session_patterns"][turn % 2];
            say(&one, "s", &["kept"]);
            two.settings().set(name, Some(json!(["s"]))).unwrap();
            assert_eq!(one.messages().append(&id("s"), vec![user("x")]).unwrap().skipped, 1);
            two.settings().set(name, None).unwrap();
        }
        assert_eq!(one.stats().unwrap().messages, 4);
    }

    fn settings_have_defaults_and_refuse_invalid_values(space) {
        let oneiro = open(space);
        let settings = oneiro.settings().list().unwrap();
        assert_eq!((settings[0].name, &settings[0].value, settings[0].is_set), ("ignore_session_patterns", &json!(["heartbeat"]), false));
        for bad in [json!("x"), json!([1]), json!([""]), json!(["a\0"]), json!({})] {
            let error = oneiro.settings().set("ignore_session_patterns", Some(bad)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid);
        }
        assert_eq!(oneiro.settings().set("no_such", None).unwrap_err().kind(), ErrorKind::Invalid);
        let set = oneiro.settings().set("ignore_session_patterns", Some(json!([]))).unwrap();
        assert_eq!((set.value, set.is_set), (json!([]), true));
        begin(&oneiro, "heartbeat");
    }
}
