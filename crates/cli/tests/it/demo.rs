//! `demo`: fills a space once, mixes with nothing, and goes without a trace of its sessions.

use crate::support::{append, bare, config, json, run, run_with};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use serde_json::Value;

fn count(answer: &Value, what: &str) -> u64 {
    answer[what].as_u64().unwrap()
}

on_both_backends! {
    fn a_space_is_filled_once_and_emptied(space) {
        let first = json(space, &["demo"]);
        assert!(count(&first, "sessions") >= 40 && count(&first, "messages") >= 900, "{first}");
        assert_eq!(first["sessions"], first["all_sessions"]);
        let again = json(space, &["demo"]);
        assert_eq!((count(&again, "sessions"), count(&again, "messages")), (0, 0));
        // A memory that a contradiction suspends is not believed.
        let status = run(space, &["status"]).out;
        let active = json(space, &["status"])["memories"]["active"].as_i64().unwrap();
        let believed = format!("Believed: {} memories; contradicted: 1; ", active - 1);
        assert!(status.contains(&believed), "{believed}{status}");
        let told = run(space, &["demo"]);
        assert!(told.out.contains("0 new") && told.out.contains("session list"), "{}", told.out);
        // Nothing waits for the index: the first search need not read a month.
        assert_eq!(json(space, &["stats"])["index"]["tail"], 0);
        let found = json(space, &["search", "tiler quote"]);
        assert_eq!(found["hits"][0]["session_id"], "demo-flat-tiler");
        let removed = json(space, &["demo", "--remove"]);
        assert_eq!(removed["sessions"], first["sessions"]);
        assert_eq!(removed["messages"], first["messages"]);
        assert_eq!(json(space, &["stats"])["sessions"], 0);
    }

    fn a_space_of_somebodys_own_is_refused(space) {
        run(space, &["session", "new", "--id", "mine"]);
        append(space, "mine", "{\"role\":\"user\",\"content\":\"keep me\"}\n");
        let refused = run(space, &["demo", "--json"]);
        assert_eq!((refused.code, refused.error()["kind"].as_str()), (4, Some("conflict")));
        assert!(refused.error()["hint"].as_str().unwrap().contains("--force"));
        assert_eq!(json(space, &["stats"])["sessions"], 1);
        let filled = json(space, &["demo", "--force"]);
        // A space that holds the demonstration already can be completed without force.
        run(space, &["session", "delete", "demo-run-plan", "--yes"]);
        assert_eq!(json(space, &["demo"])["sessions"], 1);
        assert_eq!(json(space, &["demo", "--remove"])["sessions"], filled["sessions"]);
        assert_eq!(json(space, &["session", "show", "mine"])["message_count"], 1);
        assert_eq!(json(space, &["stats"])["sessions"], 1);
    }
}

#[test]
fn without_a_space_it_goes_into_its_own() {
    let space = TestSpace::new(Backend::Sqlite);
    let command = |store: &str, args: &[&str]| {
        let mut command = bare();
        command.env("ONEIRO_CONFIG", config(&space)).args(["--store", store]);
        run_with(command, args, b"")
    };
    let folder = space.folder().join("two words").to_string_lossy().into_owned();
    let told = command(&folder, &["demo"]);
    assert_eq!(told.code, 0, "{}", told.err);
    let way = format!("oneiro --store '{folder}'");
    assert!(told.out.contains(&format!("{way} --space demo search \"")), "{}", told.out);
    assert!(told.out.contains(&format!("{way} serve --demo")), "{}", told.out);
    let files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".db"))
        .collect();
    assert_eq!(files, ["demo.db"]);

    let file = space.folder().join("single.db").to_string_lossy().into_owned();
    let told = command(&file, &["demo"]);
    assert!(told.out.contains(&format!("oneiro --store {file} session list")), "{}", told.out);
    assert!(told.out.contains(&format!("oneiro --store {file} serve\n")), "{}", told.out);
    let nothing = space.folder().join("nothing.db").to_string_lossy().into_owned();
    assert_eq!(command(&nothing, &["demo", "--remove"]).code, 3);
    assert!(!std::path::Path::new(&nothing).exists());
}
