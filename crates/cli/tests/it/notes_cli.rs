//! `note`, `log`, `show`, `diff`, `restore`, `undo` and `blame` on the command line.

use crate::support::{json, oneiro, run, run_with};
use oneiro_testkit::on_both_backends;

on_both_backends! {
    fn a_note_is_added_to_shown_and_taken_back(space) {
        let added = json(space, &["note", "add", "MEMORY.md", "likes tea"]);
        assert_eq!((&added["changed"], &added["chars"]), (&true.into(), &11.into()));
        run(space, &["note", "add", "MEMORY.md", "lives in Rome"]);
        assert_eq!(run(space, &["note", "show", "MEMORY.md"]).out, "- likes tea\n- lives in Rome\n");
        run(space, &["note", "replace", "MEMORY.md", "Rome", "lives in Oslo"]);
        let log = json(space, &["log"]);
        assert_eq!(log["items"].as_array().unwrap().len(), 4);
        let id = |at: usize| log["items"][at]["id"].as_str().unwrap().to_owned();
        assert!(run(space, &["show", &id(0)]).out.contains("+- lives in Oslo"));
        assert!(run(space, &["diff", &id(2), "--words"]).out.contains("{+"));
        assert_eq!(json(space, &["blame", "MEMORY.md"])["items"][0]["age_days"], 0);
        let undone = json(space, &["undo", &id(2)]);
        assert!(undone["revision"].as_str().unwrap().starts_with("rev_"), "{undone}");
        assert_eq!(run(space, &["note", "show", "MEMORY.md"]).out, "- lives in Oslo\n");
        json(space, &["restore", &id(2)]);
        assert_eq!(run(space, &["note", "show", "MEMORY.md"]).out, "- likes tea\n");
        json(space, &["note", "remove", "MEMORY.md", "tea"]);
        assert_eq!(json(space, &["note", "list"])["items"][0]["chars"], 0);
        json(space, &["note", "delete", "MEMORY.md"]);
        assert_eq!(json(space, &["note", "list"])["items"].as_array().unwrap().len(), 0);
        let operations = json(space, &["log", "--kind", "note.edit"]);
        assert_eq!(operations["items"].as_array().unwrap().len(), 3);
    }

    fn a_whole_note_is_written_from_standard_input_on_a_base(space) {
        let write = |args: &[&str], text: &str| {
            let args = [&["note", "write", "a.md", "--json"], args].concat();
            run_with(oneiro(space), &args, text.as_bytes())
        };
        let base = write(&[], "- one\n- two\n").json()["etag"].as_str().unwrap().to_owned();
        write(&[], "- ONE\n- two\n");
        let merged = write(&["--base", &base], "- one\n- TWO\n").json();
        assert_eq!((&merged["merged"], &merged["content"]), (&true.into(), &"- ONE\n- TWO\n".into()));
        let refused = write(&["--base", &base], "- uno\n- two\n");
        assert_eq!(refused.error()["kind"], "conflict");
        let large = write(&[], &"x".repeat(2 << 20));
        assert_eq!(large.error()["kind"], "too_large");
    }

    fn a_note_is_piped_unchanged_and_an_entry_may_have_its_bullet(space) {
        let text = "a\r\n\u{c}b\r\n";
        run_with(oneiro(space), &["note", "write", "a.md"], text.as_bytes());
        assert_eq!(run(space, &["note", "show", "a.md"]).out, text);
        run(space, &["note", "add", "MEMORY.md", "- tea"]);
        assert_eq!(run(space, &["note", "show", "MEMORY.md"]).out, "- tea\n");
        let cut = "é".repeat(oneiro::NOTE_BYTES_MAX);
        let large = run_with(oneiro(space), &["note", "write", "b.md", "--json"], cut.as_bytes());
        assert_eq!(large.error()["kind"], "too_large");
        let latin = run_with(oneiro(space), &["note", "write", "b.md", "--json"], b"caf\xe9");
        assert_eq!(latin.error()["kind"], "invalid");
    }

    fn mistakes_say_what_to_do(space) {
        json(space, &["note", "add", "MEMORY.md", "likes tea"]);
        let none = run(space, &["note", "show", "USER.md"]);
        assert!(none.err.contains("oneiro note list"), "{}", none.err);
        let escape = run(space, &["note", "add", "../x", "text"]);
        assert!(escape.err.contains("name: "), "{}", escape.err);
        let missing = run(space, &["note", "remove", "MEMORY.md", "coffee"]);
        assert!(missing.err.contains("\"likes tea\""), "{}", missing.err);
        assert!(run(space, &["show", "rev_zzz"]).err.contains("oneiro log"));
        let full = run(space, &["note", "add", "MEMORY.md", &"x".repeat(3_000)]);
        assert!(full.err.contains("of 2,200 characters"), "{}", full.err);
    }

    fn entries_are_recalled_and_generated_ones_only_among_notes(space) {
        json(space, &["note", "add", "MEMORY.md", "the heron nests in the reeds"]);
        json(space, &["note", "add", "DREAMS.md", "the heron of the night"]);
        let recalled = json(space, &["recall", "heron"]);
        let hits = recalled["hits"].as_array().unwrap();
        assert_eq!(hits.len(), 1, "{recalled}");
        assert_eq!((&hits[0]["kind"], &hits[0]["note"]), (&"note".into(), &"MEMORY.md".into()));
        let id = hits[0]["id"].as_str().unwrap();
        assert!(id.starts_with("MEMORY.md#"), "{id}");
        assert!(run(space, &["recall", "heron"]).out.contains(id));
        let notes = run(space, &["recall", "heron", "--notes"]).out;
        assert!(notes.contains("note, generated  DREAMS.md#"), "{notes}");
        assert!(json(space, &["search", "heron"])["hits"].as_array().unwrap().is_empty());
    }
}
