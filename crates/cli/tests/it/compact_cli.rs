//! `compact`, and what `doctor` finds of contexts.

use crate::support::{json, run};
use crate::talk::{small_summaries, summaries, talk};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};

on_both_backends! {
    fn a_session_is_compacted_until_it_fits(space) {
        talk(space, "long", 400);
        let made = json(space, &["compact", "long", "--until", "4k"]);
        let created = made["created"].as_array().unwrap();
        assert!(!created.is_empty() && made["stopped"] == "under", "{made}");
        assert!(made["tokens_before"].as_u64() > Some(20_000), "{made}");
        assert!(made["tokens_after"].as_u64() <= Some(4_000), "{made}");
        let there: Vec<_> = summaries(space, "long").iter().map(|node| node["id"].clone()).collect();
        assert!(created.iter().all(|id| there.contains(id)));

        let again = json(space, &["compact", "long", "--until", "4k"]);
        assert_eq!(again["created"].to_string(), "[]");
        assert_eq!(again["tokens_after"], made["tokens_after"]);
        let told = run(space, &["compact", "long", "--until", "4k"]);
        assert!(told.out.starts_with("Nothing to summarise: "), "{}", told.out);
        assert!(told.out.ends_with("A window of 4,000 tokens now leaves nothing out.\n"), "{}", told.out);
    }
}

#[test]
fn people_see_what_was_made_and_why_it_stopped() {
    let space = TestSpace::new(Backend::Sqlite);
    small_summaries(&space);
    talk(&space, "long", 400);
    let told = run(&space, &["compact", "long"]);
    assert_eq!(told.code, 0, "{}", told.err);
    let made = summaries(&space, "long");
    assert!(made.len() > 20, "{}", made.len());
    let head = told.out.lines().next().unwrap();
    assert!(head.starts_with(&format!("{} summaries made: ", made.len())), "{head}");
    assert!(head.contains(" -> ") && head.ends_with(" tokens"), "{head}");
    let rows = told.out.lines().filter(|line| line.starts_with("sum_")).count();
    assert_eq!(rows, 20);
    assert!(told.out.contains(&format!("... and {} before them", made.len() - 20)), "{}", told.out);
    assert!(told.out.contains("Nothing else is eligible"), "{}", told.out);

    let hard = run(&space, &["compact", "long", "--until", "10"]);
    assert!(hard.out.contains("The newest turn alone exceeds this budget"), "{}", hard.out);
}

#[test]
fn without_a_model_nothing_is_redone_and_that_is_said() {
    let space = TestSpace::new(Backend::Sqlite);
    talk(&space, "long", 200);
    run(&space, &["compact", "long"]);
    let told = run(&space, &["compact", "long", "--redo"]);
    assert_eq!(told.code, 0, "{}", told.err);
    assert!(told.err.contains("no model is configured") && told.err.contains("llm_url"));
    assert!(json(&space, &["compact", "long", "--redo"]).get("redone").is_none());
}

#[test]
fn what_cannot_be_compacted_is_refused() {
    let space = TestSpace::new(Backend::Sqlite);
    talk(&space, "long", 4);
    for (args, code, says) in [
        (&["compact", "nothing"][..], 3, "there is no session \"nothing\""),
        (&["compact", "long", "--until", "0"], 2, "until: is not a whole number between"),
        (&["compact", "long", "--until", "few"], 2, "is not a number of tokens"),
        (&["session", "tree", "nothing"], 3, "there is no session"),
    ] {
        let answer = run(&space, args);
        assert_eq!(answer.code, code, "{args:?}: {}", answer.err);
        assert!(answer.err.contains(says) && answer.out.is_empty(), "{args:?}: {}", answer.err);
    }
}

#[test]
fn the_doctor_finds_a_broken_context_and_mends_it() {
    let space = TestSpace::new(Backend::Sqlite);
    small_summaries(&space);
    let said = talk(&space, "long", 400);
    run(&space, &["compact", "long"]);
    assert_eq!(json(&space, &["doctor"])["ok"], true);
    let orphan = summaries(&space, "long").iter().find(|node| node["in_context"] == true).unwrap()
        ["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let store = rusqlite::Connection::open(space.file()).unwrap();
    let hidden = "DELETE FROM root_summaries WHERE summary_key = \
                  (SELECT key FROM summaries WHERE id = ?1)";
    assert_eq!(store.execute(hidden, [&orphan]).unwrap(), 1);

    let found = run(&space, &["doctor"]);
    assert_eq!(found.code, 7, "{}", found.err);
    let line = format!("context: session \"long\": {orphan} is an orphan");
    assert!(found.out.contains(&line), "{}", found.out);
    assert!(found.err.contains("contexts do not match"), "{}", found.err);
    assert!(found.err.contains("oneiro doctor --fix"), "{}", found.err);
    let checked = run(&space, &["doctor", "--json"]);
    assert_eq!(checked.code, 7);
    assert!(checked.out.contains("\"contexts\":[\"session"), "{}", checked.out);

    let fixed = run(&space, &["doctor", "--fix"]);
    assert_eq!(fixed.code, 0, "{}", fixed.err);
    assert!(fixed.err.contains("Rebuilt the contexts of 1 session; fixed 1 of 1 problem."));
    assert_eq!(fixed.out, "No problems found.\n");
    let back = json(&space, &["expand", &orphan, "--all"]);
    assert!(back["messages"].as_array().unwrap().len() < said.len());
    assert!(summaries(&space, "long").iter().any(|node| node["id"] == *orphan));
}
