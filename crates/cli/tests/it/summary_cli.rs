//! Summaries as they are described, drawn and found, and the prompts for models that write them.

use crate::support::{bare, json, run, run_with};
use crate::talk::{small_summaries, summaries, talk};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use serde_json::Value;

#[test]
fn a_tree_shows_every_summary_below_what_covers_it() {
    let space = TestSpace::new(Backend::Sqlite);
    small_summaries(&space);
    talk(&space, "long", 400);
    let empty = run(&space, &["session", "tree", "long"]);
    assert!(empty.out.contains("no summaries; 400 messages not summarised"), "{}", empty.out);
    run(&space, &["compact", "long"]);
    let nodes = summaries(&space, "long");
    let drawn = run(&space, &["session", "tree", "long"]).out;
    let place = |id: &Value| {
        let id = id.as_str().unwrap();
        let lines: Vec<usize> = drawn
            .lines()
            .enumerate()
            .filter(|(_, line)| line.contains(id))
            .map(|(at, _)| at)
            .collect();
        assert_eq!(lines.len(), 1, "{id}: {drawn}");
        lines[0]
    };
    let lines: Vec<&str> = drawn.lines().collect();
    let mut covered = 0;
    for node in &nodes {
        let line = lines[place(&node["id"])];
        let is_shown = node["in_context"] == true;
        assert_eq!(line.starts_with("● sum_"), is_shown, "{line}");
        assert_eq!(line.contains("─ ○ sum_"), !is_shown, "{line}");
        assert!(line.contains(&format!("depth {}", node["depth"])), "{line}");
        assert!(line.contains(&format!("{} messages", node["message_count"])), "{line}");
        covered += if is_shown { node["message_count"].as_u64().unwrap() } else { 0 };
        for child in node["children"].as_array().unwrap() {
            assert!(place(child) > place(&node["id"]), "{drawn}");
        }
    }
    let last = lines[lines.len() - 1];
    assert!(last.ends_with(&format!("; {} messages not summarised", 400 - covered)), "{last}");
    let roots = run(&space, &["session", "tree", "long", "--depth", "0"]).out;
    assert!(!roots.contains("○") && roots.contains("summaries below"), "{roots}");
}

#[test]
fn a_pinned_message_under_a_summary_is_not_counted_as_bare() {
    let space = TestSpace::new(Backend::Sqlite);
    talk(&space, "long", 200);
    run(&space, &["compact", "long", "--until", "2k"]);
    let last = |space: &TestSpace| {
        let drawn = run(space, &["session", "tree", "long"]).out;
        drawn.lines().last().unwrap().to_owned()
    };
    let before = last(&space);
    run(&space, &["session", "pin", "long", "2"]);
    assert_eq!(last(&space), before);
}

#[test]
fn a_summary_is_described() {
    let space = TestSpace::new(Backend::Sqlite);
    small_summaries(&space);
    talk(&space, "long", 400);
    run(&space, &["compact", "long"]);
    let nodes = summaries(&space, "long");
    let root = nodes.iter().find(|node| node["kind"] == "condensed").unwrap();
    let id = root["id"].as_str().unwrap();
    assert_eq!(&json(&space, &["summary", id]), root);
    let told = run(&space, &["summary", &id[..12], "--session", "long"]).out;
    let children: Vec<&str> =
        root["children"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    for says in [
        format!("summary   {id}\nsession   long\nkind      condensed, depth {}\n", root["depth"]),
        "level     an extract, made without a model\n".to_owned(),
        format!("from {} to {}\n", root["first_message"], root["last_message"]),
        format!("covers    {}\n", children.join("\n          ")),
        format!("\n\n{}", root["content"].as_str().unwrap().trim()),
    ] {
        assert!(told.contains(&says), "{says:?} is not in {told}");
    }
    let leaf = run(&space, &["summary", children[0]]).out;
    assert!(leaf.contains(&format!("under     {id}\n")), "{leaf}");
    assert!(leaf.contains("place     under another summary\n"), "{leaf}");
}

on_both_backends! {
    fn summaries_are_searched(space) {
        talk(space, "long", 120);
        talk(space, "other", 120);
        for session in ["long", "other"] {
            run(space, &["compact", session, "--until", "1k"]);
        }
        // A word that a summary kept, whichever the extract chose.
        let node = &summaries(space, "long")[0];
        let content = node["content"].as_str().unwrap();
        let at = content.find("box B").unwrap() + 4;
        let word = &content[at..at + 5];
        let search = |args: &[&str]| json(space, &[&["search", "--in-summaries"], args].concat());
        let found = search(&[word]);
        assert_eq!((&found["tier"], &found["next"]), (&"precise".into(), &Value::Null));
        let hits = found["hits"].as_array().unwrap();
        let hit = hits.iter().find(|hit| hit["id"] == node["id"]).unwrap();
        assert_eq!((&hit["kind"], &hit["session_id"]), (&"summary".into(), &"long".into()));
        assert!(hit["snippet"].as_str().unwrap().contains(word), "{hit}");
        let sessions = |found: &Value| -> Vec<String> {
            let hits = found["hits"].as_array().unwrap().iter();
            let mut ids: Vec<String> =
                hits.map(|hit| hit["session_id"].as_str().unwrap().to_owned()).collect();
            ids.sort();
            ids.dedup();
            ids
        };
        let pattern = format!("/{}\\d/", &word[..4]);
        assert_eq!(sessions(&search(&[&pattern])), ["long", "other"]);
        let phrase = format!("regex:\"box {}\\d goes\"", &word[..4]);
        assert_eq!(sessions(&search(&[&phrase])), ["long", "other"]);
        assert_eq!(sessions(&search(&[&pattern, "--session", "long"])), ["long"]);
        let none = serde_json::json!({"found": "none", "tier": null, "hits": [], "next": null});
        assert_eq!(search(&["--since", "2026-02-01", word]), none);
        assert_eq!(search(&["--until", "2025-12-31", word]), none);
        assert_eq!(search(&["zebra"]), none);
        assert!(!search(&["--since", "2026-01-01", "--until", "2026-01-31", word])["hits"][0].is_null());
        let told = run(space, &["search", word, "--in-summaries", "--session", "long"]).out;
        assert!(told.starts_with("In long, number 0") && told.contains("  long\n> 20") && told.contains("depth 0") && told.contains(node["id"].as_str().unwrap()), "{told}");
        assert!(run(space, &["search", "zebra", "--in-summaries"]).err.contains("Nothing found."));
    }

    fn conversations_are_condensed_around_the_question(space) {
        talk(space, "long", 80);
        let found = json(space, &["session", "search", "box", "B0042", "--summarise"]);
        let digest = &found["conversations"][0]["digest"];
        assert_eq!(digest["level"], "extract");
        assert!(!digest["content"].as_str().unwrap().trim().is_empty(), "{digest}");
        let told = run(space, &["session", "search", "box", "B0042", "--summarize"]).out;
        assert!(told.contains("condensed, as an extract\n  | "), "{told}");
        let plain = json(space, &["session", "search", "box", "B0042"]);
        assert!(plain["conversations"][0].get("digest").is_none());
    }
}

#[test]
fn what_summaries_have_not_cannot_be_asked_of_them() {
    let space = TestSpace::new(Backend::Sqlite);
    talk(&space, "long", 4);
    for (args, code, says) in [
        (&["search", "--in-summaries"][..], 2, "query: is empty"),
        (&["search", "box", "--in-summaries", "--role", "user"], 2, "cannot be used with"),
        (&["search", "box", "--in-summaries", "--sort", "newest"], 2, "cannot be used with"),
        (
            &["search", "box", "--in-summaries", "--limit", "0"],
            2,
            "limit: is not a whole number between",
        ),
        (&["search", "box", "--in-summaries", "--session", "nothing"], 3, "there is no session"),
        (&["search", "/box(/", "--in-summaries", "--since", "whenever"], 2, "since: "),
        (&["session", "search", "--summarise"], 2, "required"),
    ] {
        let answer = run(&space, args);
        assert_eq!(answer.code, code, "{args:?}: {}", answer.err);
        assert!(answer.err.contains(says), "{args:?}: {}", answer.err);
    }
}

#[test]
fn built_in_prompts_are_printed_to_be_copied() {
    let all = run_with(bare(), &["reference", "prompts"], b"");
    for name in ["leaf", "condensed", "strict", "question"] {
        let one = run_with(bare(), &["reference", "prompts", name], b"");
        assert_eq!(one.code, 0, "{}", one.err);
        assert!(one.out.contains("{target}") && !one.out.starts_with('#'), "{name}: {}", one.out);
        assert!(all.out.contains(&format!("## {name}\n\n{}", one.out)), "{name}");
    }
    let none = run_with(bare(), &["reference", "prompts", "nothing"], b"");
    assert_eq!(none.code, 3);
    assert!(none.err.contains("the prompts are leaf, condensed"), "{}", none.err);
    assert_eq!(run_with(bare(), &["reference", "cli", "leaf"], b"").code, 2);
}
