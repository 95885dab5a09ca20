//! Imports of files that were made by hand: undos without an end, rings of successors, values beyond the
//! limits, and an agent's undo of what a person did.

use crate::memories::{agent, operation, person, propose, remember, show, statement, undo};
use crate::support::{assert_sound, dump, export, import, open};
use crate::transfer_memories::{import_by_person, patch};
use oneiro::{ErrorKind, MemoryId, MemoryPatch, MemoryStatus, Oneiro, SupersedeRequest};
use oneiro_testkit::{TestSpace, on_both_backends};
use serde_json::{Value, json};

/// The lines of an export.
fn exported_lines(oneiro: &Oneiro) -> Vec<Value> {
    export(oneiro).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn joined(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The first line of this kind, such as `memory`, whose field has a value.
fn line_with<'l>(
    lines: &'l mut [Value],
    kind: &str,
    (field, value): (&str, &str),
) -> &'l mut Value {
    let mut records = lines.iter_mut().filter_map(|line| line.get_mut(kind));
    records.find(|record| record[field] == value).unwrap()
}

/// Removes the content of every operation, as erasing does.
fn erase_operations(lines: &mut [Value]) {
    for operation in lines.iter_mut().filter_map(|line| line.get_mut("operation")) {
        operation["before"] = Value::Null;
        operation["after"] = Value::Null;
        operation["erased"] = json!(true);
    }
}

fn superseded_by(id: &MemoryId) -> SupersedeRequest {
    SupersedeRequest { by: Some(id.clone()), ..SupersedeRequest::default() }
}

on_both_backends! {
    fn an_undo_of_itself_or_of_another_subject_is_refused(space) {
        let (first, second) = (open(space), TestSpace::new(space.backend));
        let second = open(&second);
        let ann = person(&first);
        let other = remember(&ann, statement("Kim drinks tea"));
        let memory = remember(&ann, statement("The office is in Bern")).memory;
        first.clock.set(10);
        let edit = ann.memories().edit(memory.id.as_str(), patch("The office is in Basel")).unwrap();
        first.clock.set(20);
        let undone = undo(&ann, &operation(&edit)).unwrap().operations.remove(0);
        let lines = exported_lines(&first);
        let before = dump(&second);
        let assert_refused = |undoes: &str, expected: &str| {
            let mut lines = lines.clone();
            line_with(&mut lines, "operation", ("kind", "memory.undo"))["undoes"] = json!(undoes);
            let error = import(&person(&second), &joined(&lines)).unwrap_err();
            assert!(error.message().contains("operation: undoes: "), "{error}");
            assert!(error.message().contains(expected), "{expected}: {error}");
            assert_eq!(dump(&second), before);
        };
        assert_refused(undone.id.as_str(), "is on no line before");
        assert_refused(other.operation.unwrap().as_str(), other.memory.id.as_str());
        import_by_person(&second, &joined(&lines));
        undo(&person(&second), undone.id.as_str()).unwrap();
        assert_eq!(show(&second, memory.id.as_str()).content, "The office is in Basel");
    }

    fn a_file_whose_memories_replace_themselves_is_refused(space) {
        let (first, second) = (open(space), TestSpace::new(space.backend));
        let second = open(&second);
        let ann = person(&first);
        let one = remember(&ann, statement("Kim drinks tea")).memory.id;
        let two = remember(&ann, statement("The office is in Bern")).memory.id;
        let mut lines = exported_lines(&first);
        // Of erased operations only the record is left to say what replaced a memory.
        erase_operations(&mut lines);
        let with_reference = |lines: &[Value], id: &MemoryId, (status, field, to): (&str, &str, &MemoryId)| {
            let mut lines = lines.to_vec();
            let memory = line_with(&mut lines, "memory", ("id", id.as_str()));
            memory["status"] = json!(status);
            memory[field] = json!(to);
            lines
        };
        let before = dump(&second);
        let assert_refused = |lines: &[Value], expected: &str| {
            let error = import(&person(&second), &joined(lines)).unwrap_err();
            assert!(error.message().contains(expected), "{expected}: {error}");
            let names_memory = [&one, &two].into_iter().any(|id| error.message().contains(id.as_str()));
            assert!(names_memory, "{error}");
            assert_eq!(dump(&second), before);
        };
        // one -> two -> one
        let half = with_reference(&lines, &two, ("superseded", "superseded_by", &one));
        assert_refused(&with_reference(&half, &one, ("superseded", "superseded_by", &two)), "replaces itself");
        assert_refused(&with_reference(&lines, &one, ("superseded", "superseded_by", &one)), "refers to itself");
        assert_refused(&with_reference(&lines, &one, ("active", "suspended_by", &one)), "refers to itself");
        // An active memory has no successor, whatever the file says.
        import_by_person(&second, &joined(&with_reference(&half, &one, ("active", "superseded_by", &two))));
        assert_eq!(show(&second, one.as_str()).superseded_by, None);
        let bea = person(&second);
        let third = remember(&bea, statement("The vault opens at nine")).memory;
        let replaced = bea.memories().supersede(third.id.as_str(), superseded_by(&one)).unwrap().memory;
        assert_eq!(replaced.superseded_by, Some(one));
        assert_sound(&second);
    }

    fn of_memories_that_two_stores_replaced_by_each_other_the_first_replaced_is_a_candidate(space) {
        // first:  one -> two, at 10
        // second: two -> one, at 20
        let (first, second) = (open(space), TestSpace::new(space.backend));
        let second = open(&second);
        let (ann, bea) = (person(&first), person(&second));
        let one = remember(&ann, statement("Kim drinks tea")).memory.id;
        let two = remember(&ann, statement("The office is in Bern")).memory.id;
        import_by_person(&second, &export(&first));
        first.clock.set(10);
        ann.memories().supersede(one.as_str(), superseded_by(&two)).unwrap();
        second.clock.set(20);
        bea.memories().supersede(two.as_str(), superseded_by(&one)).unwrap();
        first.clock.set(30);
        second.clock.set(30);
        import_by_person(&first, &export(&second));
        import_by_person(&second, &export(&first));
        for oneiro in [&first, &second] {
            let (one, two) = (show(oneiro, one.as_str()), show(oneiro, two.as_str()));
            assert_eq!((one.status, one.superseded_by), (MemoryStatus::Candidate, None));
            assert_eq!((two.status, two.superseded_by), (MemoryStatus::Superseded, Some(one.id)));
            assert_sound(oneiro);
        }
    }

    fn an_agent_redoes_nothing_that_a_person_did_through_an_imported_undo(space) {
        let (first, second) = (open(space), TestSpace::new(space.backend));
        let second = open(&second);
        let ann = person(&first);
        let memory = propose(&first, "Parcels go to the side door");
        let tags = MemoryPatch { tags: Some(vec!["urgent".into()]), ..MemoryPatch::default() };
        let tagged = ann.memories().edit(memory.id.as_str(), tags).unwrap();
        let undone = undo(&ann, &operation(&tagged)).unwrap().operations.remove(0);
        let mut lines = exported_lines(&first);
        // The file says that an agent undid it.
        let by_agent = line_with(&mut lines, "operation", ("kind", "memory.create"))["actor"].clone();
        line_with(&mut lines, "operation", ("kind", "memory.undo"))["actor"] = by_agent;
        import_by_person(&second, &joined(&lines));
        let error = undo(&agent(&second), undone.id.as_str()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Forbidden, "{error}");
        assert!(show(&second, memory.id.as_str()).tags.is_empty());
        undo(&person(&second), undone.id.as_str()).unwrap();
        assert_eq!(show(&second, memory.id.as_str()).tags, ["urgent"]);
    }

    fn limits_hold_for_imported_changes_of_a_memory_that_is_stored_already(space) {
        let (first, second) = (open(space), TestSpace::new(space.backend));
        let second = open(&second);
        let ann = person(&first);
        let memory = remember(&ann, statement("The office is in Bern")).memory;
        import_by_person(&second, &export(&first));
        first.clock.set(10);
        let edit = ann.memories().edit(memory.id.as_str(), patch("The office is in Basel")).unwrap();
        first.clock.set(20);
        ann.memories().edit(memory.id.as_str(), patch("The office is in Thun")).unwrap();
        let lines = exported_lines(&first);
        let before = dump(&second);
        let long = |chars: usize| "x".repeat(chars);
        for (after, expected) in [
            // The last edit gives a short content again, but undoing it would bring the long one back.
            (json!({"content": long(1_200_000)}), "memory: content: is longer"),
            (json!({"content": " "}), "memory: content: is empty"),
            (json!({"initial_confidence": 99.5}), "memory: initial_confidence: is not between"),
            (json!({"tags": [long(100_000)]}), "memory: tags: is longer"),
            (json!({"project": long(100_000)}), "memory: project: is longer"),
            (json!({"valid_from": "2023-02-01T00:00:00Z", "valid_until": "2023-01-01T00:00:00Z"}), "valid_until is before valid_from"),
        ] {
            let mut lines = lines.clone();
            line_with(&mut lines, "operation", ("id", operation(&edit).as_str()))["after"] = after;
            let error = import(&person(&second), &joined(&lines)).unwrap_err();
            assert!(error.message().contains(expected), "{expected}: {error}");
            assert_eq!(dump(&second), before);
        }
        import_by_person(&second, &joined(&lines));
        assert_eq!(show(&second, memory.id.as_str()).content, "The office is in Thun");
    }
}
