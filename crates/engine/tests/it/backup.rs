//! Backups: a store of their own, made while others write.

use crate::support::{assert_sound, begin, dump, export, id, message_texts, open, open_at, say};
use oneiro::{ErrorKind, Target};
use oneiro_testkit::{TestSpace, awkward_messages, on_both_backends};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

fn target(space: &TestSpace, path: &Path) -> Target {
    Target::File { path: path.to_owned(), space: space.space.clone() }
}

on_both_backends! {
    fn a_backup_contains_everything_and_can_be_opened(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        let messages = awkward_messages().into_iter().map(|m| oneiro::NewMessage::from_json(m).unwrap());
        oneiro.messages().append(&id("a"), messages.collect()).unwrap();
        oneiro.sessions().create(oneiro::NewSession { parent_id: Some(id("a")), system_prompt: Some("p".into()), ..crate::support::new("b") }).unwrap();
        oneiro.sessions().add_usage(&id("a"), oneiro::UsageKey::default(), oneiro::Usage { api_calls: 1, ..Default::default() }).unwrap();
        oneiro.settings().set("stateless_session_patterns", Some(serde_json::json!(["x"]))).unwrap();
        let before = dump(&oneiro);
        for name in ["one.db", "two.db"] {
            let path = space.folder().join("copies").join(name);
            let mut steps = Vec::new();
            oneiro.transfer().backup(&path, &mut |at| steps.push(at)).unwrap();
            assert!(steps.last().is_some_and(|at| at.done == at.total), "{steps:?}");
            let copy = open_at(&target(space, &path));
            assert_sound(&copy);
            if name == "one.db" {
                assert_eq!(dump(&copy), before);
            }
            assert_eq!(export(&copy), export(&oneiro));
            // Ids go on where they were.
            let (there, here) = (say(&copy, "a", &["next"]), say(&oneiro, "a", &["next"]));
            assert_eq!(there, here);
        }
        let recorded = oneiro.stats().unwrap().backups;
        assert_eq!(recorded.len(), 2);
        assert!(recorded[0].path.ends_with("one.db") && recorded[0].reason == "backup");
    }

    fn an_existing_file_is_not_overwritten(space) {
        let oneiro = open(space);
        let path = space.folder().join("there.db");
        std::fs::write(&path, b"precious").unwrap();
        let error = oneiro.transfer().backup(&path, &mut |_| {}).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert!(error.message().contains("there.db") && error.remedy_text().is_some());
        assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    }

    fn a_backup_during_writes_contains_everything_acknowledged_before(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        say(&oneiro, "s", &["x"; 200]);
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| while !done.load(Ordering::SeqCst) {
                    say(&oneiro, "s", &["y", "z"]);
                });
            }
            for turn in 0..3 {
                let acknowledged = say(&oneiro, "s", &["mark"])[0];
                let path = space.folder().join(format!("copy{turn}.db"));
                let copied = oneiro.transfer().backup(&path, &mut |_| {});
                if turn == 2 || copied.is_err() {
                    done.store(true, Ordering::SeqCst);
                }
                copied.unwrap();
                let copy = open_at(&target(space, &path));
                assert_sound(&copy);
                let ids: Vec<i64> = copy.sessions().show(&id("s"), true).unwrap().messages.iter().map(|m| m.id.0).collect();
                assert_eq!(ids, (1..=ids.len() as i64).collect::<Vec<_>>());
                assert!(ids.contains(&acknowledged));
            }
        });
        assert!(message_texts(&oneiro, "s", true).len() > 203);
        let left = std::fs::read_dir(space.folder()).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(left.filter(|name| name.to_string_lossy().contains(".part")).count(), 0);
    }
}
