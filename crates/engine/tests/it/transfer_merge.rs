//! Two stores imported into one: statements, contradictions, refusals, projects and distrusted sources of
//! both.

use crate::memories::{about, agent, operation, person, propose, remember, show, statement, undo};
use crate::support::{assert_sound, begin, dump, export, id, open, say};
use crate::transfer_memories::{
    active, beliefs, fact, import_by_person, is_unchanged, memories, operations, patch, quoted,
};
use oneiro::{
    ActorKind, DistrustRequest, ErrorKind, ListState, MemoryPatch, MemoryStatus, MergeRequest,
    NewMemory, Oneiro, ProjectRequest, ShowMemory, Trust,
};
use oneiro_testkit::{TestSpace, on_both_backends};

on_both_backends! {
    fn the_same_statement_of_two_stores_is_active_once_with_both_sources(space) {
        let (first, second, third) = (open(space), TestSpace::new(space.backend), TestSpace::new(space.backend));
        let (second, third) = (open(&second), open(&third));
        let mut ids = Vec::new();
        for (oneiro, session) in [(&first, "one"), (&second, "two")] {
            begin(oneiro, session);
            say(oneiro, session, &["the vault opens at nine"]);
            oneiro.clock.set(ids.len() as i64);
            ids.push(remember(&agent(oneiro), quoted("The vault opens at nine", "vault opens at nine")).memory.id.to_string());
        }
        third.clock.set(100);
        import_by_person(&third, &export(&first));
        let imported = import_by_person(&third, &export(&second));
        assert_eq!(imported.merged, 1);
        let merged = active(&third);
        assert_eq!(merged.len(), 1);
        assert_eq!((merged[0].id.as_str(), merged[0].citations.len()), (ids[0].as_str(), 2));
        let sessions: Vec<_> = merged[0].citations.iter().map(|it| it.session_id.clone().unwrap()).collect();
        assert_eq!(sessions, [id("one"), id("two")]);
        let duplicate = show(&third, &ids[1]);
        assert_eq!((duplicate.status, duplicate.superseded_by.as_ref()), (MemoryStatus::Superseded, Some(&merged[0].id)));
        let merge = operations(&third).into_iter().next().unwrap();
        assert_eq!((merge.actor.kind, merge.kind.as_str()), (ActorKind::Import, "memory.merge"));
        assert_sound(&third);
        // Every store that merges them keeps the same one.
        import_by_person(&second, &export(&first));
        assert_eq!(active(&second).iter().map(|it| it.id.to_string()).collect::<Vec<_>>(), [ids[0].as_str()]);
        import_by_person(&second, &export(&third));
        import_by_person(&third, &export(&second));
        assert_eq!(active(&third).len(), 1);
        let states = |oneiro: &Oneiro| {
            let mut states: Vec<_> = memories(oneiro).into_iter().map(|it| (it.id, it.status, it.superseded_by)).collect();
            states.sort();
            states
        };
        assert_eq!(states(&second), states(&third));
        let ann = person(&third);
        let undone = ann.operations().undo(merge.group.unwrap().as_str(), None).unwrap();
        let duplicate = show(&third, &ids[1]);
        assert_eq!((duplicate.status, duplicate.superseded_by), (MemoryStatus::Candidate, None));
        ann.operations().undo(undone.group.unwrap().as_str(), None).unwrap();
        assert_eq!(active(&third).len(), 1);
    }

    fn a_merge_by_an_import_can_be_undone(space) {
        let (first, second) = (open(space), TestSpace::new(space.backend));
        let second = open(&second);
        let kept = remember(&person(&first), statement("The vault opens at nine")).memory;
        second.clock.set(10);
        let tagged = NewMemory { tags: vec!["vault".into()], ..statement("The vault opens at nine!") };
        let duplicate = remember(&person(&second), tagged).memory;
        first.clock.set(20);
        assert_eq!(import_by_person(&first, &export(&second)).merged, 1);
        assert_eq!(show(&first, kept.id.as_str()).tags, ["vault"]);
        let ann = person(&first);
        let merge = operations(&first).remove(0);
        ann.operations().undo(merge.group.unwrap().as_str(), None).unwrap();
        // The statement is not active twice; a person decides what becomes of the other.
        assert_eq!(show(&first, duplicate.id.as_str()).status, MemoryStatus::Candidate);
        assert_eq!(show(&first, kept.id.as_str()).tags, Vec::<String>::new());
        assert!(is_unchanged(&import_by_person(&first, &export(&second))));
        ann.memories().merge(duplicate.id.as_str(), MergeRequest { into: kept.id.clone(), reason: None }).unwrap();
        assert_sound(&first);
    }

    fn of_contradicting_statements_of_two_stores_the_newest_of_a_person_holds(space) {
        let (first, second) = (open(space), TestSpace::new(space.backend));
        let second = open(&second);
        let old = remember(&person(&first), about("user", "I live in Bern")).memory;
        second.clock.set(10);
        let new = remember(&person(&second), about("user", "I live in Oslo")).memory;
        let exports = [export(&first), export(&second)];
        for order in [[0, 1], [1, 0]] {
            let third = TestSpace::new(space.backend);
            let third = open(&third);
            third.clock.set(100);
            import_by_person(&third, &exports[order[0]]);
            let imported = import_by_person(&third, &exports[order[1]]);
            assert_eq!(imported.suspended, 1);
            assert_eq!(show(&third, old.id.as_str()).suspended_by, Some(new.id.clone()));
            assert_eq!(show(&third, new.id.as_str()).suspended_by, None);
            assert_eq!(active(&third).len(), 2);
            let last = operations(&third).remove(0);
            assert_eq!((last.kind.as_str(), last.actor.kind), ("memory.suspend", ActorKind::Import));
            assert_sound(&third);
        }
    }

    fn what_a_person_refused_in_one_store_is_refused_in_the_merged_one(space) {
        let (first, second) = (open(space), TestSpace::new(space.backend));
        let second = open(&second);
        begin(&second, "chat");
        say(&second, "chat", &["the moon is made of cheese"]);
        let believed = remember(&agent(&second), quoted("The moon is made of cheese", "moon is made of cheese")).memory;
        let rejected = propose(&first, "The moon is made of cheese");
        first.clock.set(10);
        person(&first).memories().reject(rejected.id.as_str(), None).unwrap();
        let exports = [export(&first), export(&second)];
        for order in [[0, 1], [1, 0]] {
            let third = TestSpace::new(space.backend);
            let third = open(&third);
            third.clock.set(100);
            import_by_person(&third, &exports[order[0]]);
            let imported = import_by_person(&third, &exports[order[1]]);
            assert_eq!(imported.refused, 1);
            assert_eq!(active(&third), []);
            assert_eq!(show(&third, believed.id.as_str()).status, MemoryStatus::Invalid);
            let again = agent(&third).memories().remember(statement("The moon is made of cheese"));
            assert_eq!(again.unwrap_err().kind(), ErrorKind::Conflict);
        }
    }

    fn changes_of_one_memory_in_two_stores_are_merged_by_time(space) {
        // create (first) - tag (second) - edit (first) - confirm (second)
        let (first, second) = (open(space), TestSpace::new(space.backend));
        let second = open(&second);
        let (ann, bea) = (person(&first), person(&second));
        let memory = remember(&ann, statement("The office is in Bern")).memory;
        let id = memory.id.as_str();
        import_by_person(&second, &export(&first));
        second.clock.set(10);
        let tags = MemoryPatch { tags: Some(vec!["place".into()]), ..MemoryPatch::default() };
        bea.memories().edit(id, tags).unwrap();
        first.clock.set(20);
        ann.memories().edit(id, patch("The office is in Basel")).unwrap();
        second.clock.set(30);
        let confirmed = bea.memories().confirm(id, None).unwrap();
        let own = bea.memories().edit(id, patch("The office is in Thun")).unwrap();
        let imported = import_by_person(&second, &export(&first));
        assert_eq!((imported.memories, imported.operations), (1, 1));
        let merged = show(&second, id);
        assert_eq!((merged.content.as_str(), merged.tags.len()), ("The office is in Thun", 1));
        assert!(merged.confirmed_at.is_some());
        let at = |second: i64| oneiro::Timestamp::from_micros(crate::support::NOW.micros() + second * 1_000_000);
        let known = |second_: i64| {
            let request = ShowMemory { known_at: Some(at(second_)), ..ShowMemory::default() };
            second.memories().show(id, &request).unwrap().memory.content
        };
        assert_eq!([known(10), known(20), known(30)], ["The office is in Bern", "The office is in Basel", "The office is in Thun"]);
        // Undoing the later change gives what the other store had written before it.
        undo(&bea, &operation(&own)).unwrap();
        assert_eq!(show(&second, id).content, "The office is in Basel");
        undo(&bea, &operation(&confirmed)).unwrap();
        assert_eq!(show(&second, id).confirmed_at, None);
        import_by_person(&first, &export(&second));
        assert_eq!(beliefs(&first), beliefs(&second));
        assert_sound(&second);
    }

    fn what_one_store_removed_stays_removed_although_the_other_changed_it_later(space) {
        let (first, second) = (open(space), TestSpace::new(space.backend));
        let second = open(&second);
        let (ann, bea) = (person(&first), person(&second));
        let created = remember(&ann, statement("A slip of the tongue"));
        let id = created.memory.id.as_str();
        import_by_person(&second, &export(&first));
        first.clock.set(10);
        let removal = undo(&ann, created.operation.as_ref().unwrap().as_str()).unwrap();
        second.clock.set(20);
        bea.memories().edit(id, patch("A slip of the pen")).unwrap();
        import_by_person(&second, &export(&first));
        assert_eq!(second.memories().show(id, &ShowMemory::default()).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(memories(&second), []);
        import_by_person(&first, &export(&second));
        assert_eq!(beliefs(&first), beliefs(&second));
        undo(&bea, removal.operations[0].id.as_str()).unwrap();
        assert_eq!(show(&second, id).content, "A slip of the tongue");
    }

    fn projects_of_two_stores_have_the_aliases_of_both_and_one_value_of_a_fact(space) {
        let (first, second) = (open(space), TestSpace::new(space.backend));
        let second = open(&second);
        let (ann, bea) = (person(&first), person(&second));
        let project = |alias: &str| ProjectRequest { name: "atlas".into(), aliases: vec![alias.into()], root: None };
        ann.projects().register(project("at")).unwrap();
        ann.projects().set_state("atlas", fact("status", "green")).unwrap();
        remember(&ann, NewMemory { project: Some("map".into()), ..statement("Maps are drawn at night") });
        second.clock.set(10);
        bea.projects().register(project("map")).unwrap();
        bea.projects().register(ProjectRequest { name: "zeta".into(), aliases: vec!["at".into()], root: None }).unwrap();
        bea.projects().set_state("atlas", fact("status", "red")).unwrap();
        first.clock.set(20);
        import_by_person(&first, &export(&second));
        let projects = first.projects().list().unwrap();
        let aliases: Vec<_> = projects.iter().map(|project| (project.name.as_str(), project.aliases.clone())).collect();
        assert_eq!(aliases, [("atlas", vec!["at".to_owned(), "map".to_owned()]), ("zeta", vec![])]);
        let current = ListState { key: Some("status".into()), history: false };
        let values: Vec<_> = first.projects().state("atlas", &current).unwrap().into_iter().map(|it| it.value).collect();
        assert_eq!(values, ["red"]);
        assert_eq!(memories(&first)[0].project.as_deref(), Some("atlas"));
        let before = dump(&first);
        assert!(is_unchanged(&import_by_person(&first, &export(&second))));
        assert_eq!(dump(&first), before);
        assert_sound(&first);
    }

    fn a_source_that_one_store_distrusts_is_distrusted_in_the_merged_one(space) {
        let (first, second) = (open(space), TestSpace::new(space.backend));
        let second = open(&second);
        for oneiro in [&first, &second] {
            begin(oneiro, "chat");
            say(oneiro, "chat", &["the vault opens at nine"]);
        }
        let believed = remember(&agent(&first), quoted("The vault opens at nine", "vault opens at nine")).memory;
        assert_eq!(believed.status, MemoryStatus::Active);
        let chat = DistrustRequest { session: Some(id("chat")), ..DistrustRequest::default() };
        person(&second).memories().distrust(chat).unwrap();
        import_by_person(&first, &export(&second));
        let judged = show(&first, believed.id.as_str());
        assert_eq!((judged.status, judged.trust), (MemoryStatus::Candidate, Trust::External));
    }
}
