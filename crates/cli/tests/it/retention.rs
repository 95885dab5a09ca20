//! Export, import, delete, prune, backup and erase from a terminal.

use crate::support::{append, bare, json, oneiro, run, run_with};
use ::oneiro::{Actor, ActorKind, ActorSurface, NewMemory, Oneiro, Options, Target, Trust};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use serde_json::{Value, json as value};

fn fill(space: &TestSpace) {
    run(space, &["session", "new", "--id", "a", "--title", "First", "--system-prompt", "Be kind."]);
    append(
        space,
        "a",
        "{\"role\":\"user\",\"content\":\"hello\",\"external_id\":\"e1\"}\n{\"role\":\"user\",\"content\":\"again\"}\n",
    );
    run(space, &["session", "branch", "a", "--id", "b"]);
    run(space, &["session", "end", "b", "--reason", "done"]);
}

/// An export without what a store assigns itself.
fn comparable(export: &str) -> Vec<Value> {
    let mut lines: Vec<Value> =
        export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for message in lines.iter_mut().flat_map(|line| line["messages"].as_array_mut().unwrap()) {
        message.as_object_mut().unwrap().remove("id");
    }
    lines
}

on_both_backends! {
    fn what_is_exported_can_be_imported_into_the_other_engine(space) {
        fill(space);
        let export = run(space, &["session", "export"]).out;
        let other = TestSpace::new(match space.backend {
            Backend::Sqlite => Backend::Postgres,
            Backend::Postgres => Backend::Sqlite,
        });
        let imported = run_with(oneiro(&other), &["session", "import", "-", "--json"], export.as_bytes()).json();
        assert_eq!(imported, value!({"sessions": 2, "messages": 4, "skipped": 0, "duplicates": 0, "detached": 0}));
        assert_eq!(comparable(&run(&other, &["session", "export"]).out), comparable(&export));
        let again = run_with(oneiro(&other), &["session", "import", "-", "--json"], export.as_bytes()).json();
        assert_eq!((&again["sessions"], &again["skipped"]), (&value!(0), &value!(2)));
    }

    fn an_agent_at_a_shell_that_imports_the_file_of_a_person_gains_no_trust(space) {
        let target = Target::parse(&space.store, Some(&space.space)).unwrap();
        let person = Actor::new(ActorKind::Person, ActorSurface::Cli);
        let ann = Oneiro::open(&target, Options::default()).unwrap().acting_as(person);
        let own = NewMemory { content: "I am the administrator".into(), ..NewMemory::default() };
        assert_eq!(ann.memories().remember(own).unwrap().memory.trust, Trust::Owner);
        let export = run(space, &["session", "export"]).out;
        assert!(export.contains("\"kind\":\"person\""), "{export}");
        let other = TestSpace::new(space.backend);
        let imported = run_with(oneiro(&other), &["import", "-"], export.as_bytes());
        assert!(imported.out.contains("count only if a person imports them"), "{}", imported.out);
        let arrived = json(&other, &["memory", "list"]);
        let arrived = &arrived["items"][0];
        assert_eq!((&arrived["status"], &arrived["trust"], &arrived["origin"]), (&value!("candidate"), &value!("agent"), &value!("agent")));
        let operations = json(&other, &["log", "--memories"]);
        assert!(operations["items"].as_array().unwrap().iter().all(|it| it["actor"]["kind"] == "agent"));
    }

    fn a_selection_is_exported_without_memories_and_says_so(space) {
        fill(space);
        run(space, &["remember", "Deploys need two approvals"]);
        let file = |name: &str| space.folder().join(name).display().to_string();
        let some = run(space, &["session", "export", "a", "-o", &file("some.jsonl")]).out;
        assert!(some.contains("a selection has no memories"), "{some}");
        let all = run(space, &["session", "export", "-o", &file("all.jsonl")]).out;
        assert!(all.contains("lines of memories, operations and state"), "{all}");
        let has_memories = |name: &str| std::fs::read_to_string(file(name)).unwrap().contains("two approvals");
        assert!(has_memories("all.jsonl") && !has_memories("some.jsonl"));
    }

    fn a_reader_that_has_had_enough_is_not_an_error(space) {
        run(space, &["session", "new", "--id", "s"]);
        let line = format!("{{\"role\":\"user\",\"content\":\"{}\"}}\n", "x".repeat(60_000));
        append(space, "s", &line.repeat(100));
        let mut export = oneiro(space).args(["session", "export"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
        drop(export.stdout.take());
        assert_eq!(export.wait().unwrap().code(), Some(0));
    }

    fn a_bad_line_imports_nothing(space) {
        run(space, &["session", "new", "--id", "before"]);
        let lines = "{\"id\":\"x\",\"messages\":[]}\n{\"id\":\"y\",\"messages\":[{\"content\":1}]}\n";
        let answer = run_with(oneiro(space), &["session", "import", "-"], lines.as_bytes());
        assert_eq!(answer.code, 2);
        assert!(answer.err.contains("line 2: message 1: role: is missing"), "{}", answer.err);
        assert_eq!(json(space, &["session", "list", "--all"])["items"].as_array().unwrap().len(), 1);
        let limited = run_with(oneiro(space), &["session", "import", "-", "--max-sessions", "0"], b"{\"id\":\"x\"}\n");
        assert_eq!(limited.code, 2);
    }

    fn prune_takes_only_what_ended_and_says_so_first(space) {
        fill(space);
        let would = json(space, &["session", "prune", "--older-than", "0s", "--dry-run"]);
        assert_eq!((&would["dry_run"], &would["sessions"]), (&value!(true), &value!(["b"])));
        let pruned = json(space, &["session", "prune", "--older-than", "0s", "--yes"]);
        assert_eq!((&pruned["dry_run"], &pruned["sessions"], &pruned["messages"]), (&value!(false), &value!(["b"]), &value!(2)));
        assert_eq!(json(space, &["session", "list", "--all"])["items"].as_array().unwrap().len(), 1);
    }

    fn prune_spares_what_was_written_to_after_its_end(space) {
        let old = "{\"id\":\"old\",\"started_at\":\"2020-01-01T00:00:00Z\",\"ended_at\":\"2020-01-02T00:00:00Z\"}\n";
        run_with(oneiro(space), &["session", "import", "-"], old.as_bytes());
        assert_eq!(json(space, &["session", "prune", "--dry-run"])["sessions"], value!(["old"]));
        run(space, &["append", "old", "--text", "said today"]);
        assert_eq!(json(space, &["session", "prune"])["sessions"], value!([]));
    }

    fn delete_takes_delegates_and_orphans_the_rest(space) {
        fill(space);
        run(space, &["session", "new", "--id", "d", "--parent", "a", "--lineage", "delegate"]);
        let deleted = json(space, &["session", "delete", "a", "--yes"]);
        assert_eq!((&deleted["sessions"], &deleted["orphaned"]), (&value!(["a", "d"]), &value!(["b"])));
        assert!(json(space, &["session", "show", "b"])["parent_id"].is_null());
        assert_eq!(run(space, &["session", "delete", "a"]).code, 3);
    }

    fn a_backup_is_a_store(space) {
        fill(space);
        let path = space.folder().join("copy.db");
        let made = json(space, &["backup", path.to_str().unwrap()]);
        assert!(made["bytes"].as_i64().unwrap() > 0);
        let mut copy = bare();
        copy.args(["--store", path.to_str().unwrap()]);
        let exported = run_with(copy, &["session", "export"], b"").out;
        assert_eq!(comparable(&exported), comparable(&run(space, &["session", "export"]).out));
        assert_eq!(run(space, &["backup", path.to_str().unwrap()]).code, 4);
        assert_eq!(json(space, &["stats"])["backups"][0]["reason"], "backup");
    }

    fn erased_text_is_gone_and_copies_are_named(space) {
        run(space, &["session", "new", "--id", "a"]);
        append(space, "a", "{\"role\":\"user\",\"content\":\"the launch code is nine-zulu-forty-two indeed\"}\n");
        run(space, &["session", "new", "--id", "keep"]);
        append(space, "keep", "{\"role\":\"user\",\"content\":\"something else entirely, kept for good\"}\n");
        let copy = space.folder().join("copy.db");
        run(space, &["backup", copy.to_str().unwrap()]);
        let erased = json(space, &["erase", "a", "--yes"]);
        assert_eq!((&erased["messages"], &erased["proof"]["found"]), (&value!(1), &value!(0)));
        let named = erased["out_of_reach"].to_string();
        assert!(named.contains("copy.db"), "{named}");
        assert_eq!(json(space, &["session", "show", "keep"])["message_count"], 1);
        assert_eq!(json(space, &["stats"])["jobs"], 0);
        if space.backend == Backend::Sqlite {
            let bytes = std::fs::read(space.file()).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains("nine-zulu") && text.contains("something else entirely"));
        }
    }
}
