//! The memories of the demonstration: every kind of past, each resting on words that were said.

use crate::support::{NOW, fill, filled};
use oneiro::{
    ActorKind, ListMemories, ListNotes, ListRevisions, Memory, MemoryStatus, MessageRef, NoteEdit,
    NoteName, Oneiro, Timestamp, Trust,
};
use oneiro_demo::remove;
use oneiro_testkit::on_both_backends;

fn all(oneiro: &Oneiro) -> Vec<Memory> {
    oneiro.memories().list(&ListMemories { limit: 200, ..ListMemories::default() }).unwrap().items
}

fn of(memories: &[Memory], status: MemoryStatus) -> Vec<&Memory> {
    memories.iter().filter(|memory| memory.status == status).collect()
}

fn named<'m>(memories: &'m [Memory], words: &str) -> &'m Memory {
    memories.iter().find(|memory| memory.content.contains(words)).unwrap()
}

/// What a reader sees of the history of a memory.
fn kinds(oneiro: &Oneiro, memory: &Memory) -> Vec<String> {
    let items = oneiro.memories().history(memory.id.as_str()).unwrap().items;
    items.into_iter().map(|operation| operation.kind).collect()
}

on_both_backends! {
    fn there_are_active_superseded_contradicted_waiting_rejected_and_undone_memories(space) {
        let oneiro = filled(space, NOW);
        let memories = all(&oneiro);
        assert!(of(&memories, MemoryStatus::Active).len() >= 8);
        assert!(of(&memories, MemoryStatus::Candidate).len() >= 4);

        let mornings = named(&memories, "in the morning");
        let evenings = named(&memories, "in the evening");
        assert_eq!(mornings.status, MemoryStatus::Superseded);
        assert_eq!(mornings.superseded_by.as_ref(), Some(&evenings.id));
        assert!(evenings.confidence > evenings.initial_confidence, "it was used");

        let short = named(&memories, "is 2 hours");
        let long = named(&memories, "is 3 hours");
        assert_eq!(short.suspended_by.as_ref(), Some(&long.id), "the contradiction is not settled");
        assert_eq!((short.status, long.status), (MemoryStatus::Active, MemoryStatus::Active));
        assert_eq!(oneiro.memories().count_suspended().unwrap(), 1);

        assert_eq!(named(&memories, "rain shower").status, MemoryStatus::Invalid);
        let hook = named(&memories, "metrics hook");
        assert_eq!(hook.status, MemoryStatus::Candidate);
        assert_eq!(kinds(&oneiro, hook), ["memory.create", "memory.promote", "memory.undo"]);
        let editor = named(&memories, "Helix");
        assert_eq!(editor.status, MemoryStatus::Active);
        assert_eq!(kinds(&oneiro, editor), ["memory.create", "memory.forget", "memory.undo"]);
    }

    fn what_waits_has_a_duplicate_and_a_contradiction_to_show(space) {
        let oneiro = filled(space, NOW);
        let memories = all(&oneiro);
        let related = |words: &str| {
            let explain = oneiro::ShowMemory { explain: true, ..oneiro::ShowMemory::default() };
            let id = named(&memories, words).id.to_string();
            oneiro.memories().show(&id, &explain).unwrap().related.unwrap()
        };
        let goal = related("is 1:55");
        assert_eq!(goal.first().unwrap().relation, oneiro::Relation::Contradicts, "{goal:?}");
        let quiet = related("between 14:00 and 16:00.");
        assert!(quiet.iter().any(|other| other.relation != oneiro::Relation::Contradicts), "{quiet:?}");
        assert_eq!(named(&memories, "licence of Azulejos Prata").trust, Trust::Tool);
    }

    fn every_memory_rests_on_a_message_that_holds_its_quote(space) {
        let oneiro = filled(space, NOW);
        let now = Timestamp::parse(NOW).unwrap();
        for memory in all(&oneiro) {
            let [citation] = memory.citations.as_slice() else { panic!("{memory:?}") };
            let id = citation.message_id.unwrap_or_else(|| panic!("{memory:?}"));
            let message = oneiro.messages().get(MessageRef::Id(id)).unwrap();
            let text = serde_json::to_string(&message).unwrap();
            let quote = serde_json::to_string(&citation.quote).unwrap();
            assert!(text.contains(quote.trim_matches('"')), "{quote} in {text}");
            assert!(message.at < memory.created_at && memory.created_at < now, "{memory:?}");
        }
    }

    fn they_are_recorded_once_the_same_and_removed(space) {
        let oneiro = filled(space, NOW);
        let before = all(&oneiro);
        assert_eq!(fill(&oneiro, NOW).memories, 0);
        assert_eq!(all(&oneiro), before);
        let other = oneiro_testkit::TestSpace::new(space.backend);
        assert_eq!(all(&filled(&other, NOW)), before, "ids and times too");

        let removed = remove(&oneiro).unwrap();
        assert_eq!((removed.memories, removed.notes, removed.dreams), (before.len(), 4, 30));
        assert_eq!(oneiro.dreams().list(&oneiro::PageOf::default()).unwrap().items, []);
        assert_eq!(oneiro.notes().list(&ListNotes::default()).unwrap(), []);
        assert_eq!(all(&oneiro), []);
        assert_eq!(fill(&oneiro, NOW).memories, before.len());
    }

    fn notes_have_a_history_by_the_person_and_by_agents(space) {
        let oneiro = filled(space, NOW);
        let memory = NoteName::parse("MEMORY.md").unwrap();
        let names: Vec<String> = oneiro.notes().list(&ListNotes::default()).unwrap()
            .into_iter().map(|note| note.name.to_string()).collect();
        assert_eq!(names, ["DREAMS.md", "MEMORY.md", "USER.md", "memory/2026-11-12.md"]);
        let log = ListRevisions { note: Some(memory.clone()), ..ListRevisions::default() };
        let log = oneiro.notes().log(&log).unwrap().items;
        assert!(log.len() >= 6, "{log:?}");
        for kind in [ActorKind::Person, ActorKind::Agent] {
            assert!(log.iter().any(|revision| revision.author_kind == kind), "{kind:?}");
        }
        assert_eq!(log.iter().filter(|revision| revision.undone_by.is_some()).count(), 1);
        let text = oneiro.notes().get(&memory).unwrap().content;
        assert!(text.contains("white tiles") && !text.contains("rain shower"), "{text}");
        let ages: Vec<i64> =
            oneiro.notes().blame(&memory).unwrap().iter().map(|line| line.age_days).collect();
        assert!(ages.iter().min() < ages.iter().max(), "{ages:?}");
    }

    fn a_note_that_somebody_else_changed_is_kept(space) {
        let oneiro = filled(space, NOW);
        let memory = NoteName::parse("MEMORY.md").unwrap();
        let edit = NoteEdit {
            action: oneiro::EditAction::Add,
            text: Some("Mine.".to_owned()),
            old: None,
        };
        let edits = oneiro::EditNote { edits: vec![edit], style: None, message: None };
        oneiro.notes().edit(&memory, edits).unwrap();
        assert_eq!(remove(&oneiro).unwrap().notes, 3);
        assert!(oneiro.notes().get(&memory).unwrap().content.contains("Mine."));
        fill(&oneiro, NOW);
        assert_eq!(oneiro.notes().list(&ListNotes::default()).unwrap().len(), 1);
    }
}
