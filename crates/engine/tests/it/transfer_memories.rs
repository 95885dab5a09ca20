//! Export and import of memories with their operations, signals, projects, facts and distrusted
//! sources: round trips, merges of two stores, and imports by agents.

use crate::memories::{about, agent, operation, person, propose, remember, show, statement, undo};
use crate::support::{Fixed, assert_sound, begin, dump, export, id, import, open, say};
use oneiro::{
    ActorKind, DistrustRequest, EraseTarget, ErrorKind, ExportRequest, Imported, ListMemories,
    ListOperations, ListState, Memory, MemoryPatch, MemoryStatus, MessageId, NewMemory, Oneiro,
    Operation, ProjectRequest, ReinforceRequest, ShowMemory, StateRequest, SupersedeRequest, Trust,
    WhyKind,
};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use serde_json::{Value, json};

/// A space on the other engine.
pub fn other(backend: Backend) -> TestSpace {
    TestSpace::new(match backend {
        Backend::Sqlite => Backend::Postgres,
        Backend::Postgres => Backend::Sqlite,
    })
}

pub fn memories(oneiro: &Oneiro) -> Vec<Memory> {
    let request = ListMemories { limit: 1_000, ..ListMemories::default() };
    oneiro.memories().list(&request).unwrap().items
}

pub fn operations(oneiro: &Oneiro) -> Vec<Operation> {
    let request = ListOperations { limit: 1_000, ..ListOperations::default() };
    oneiro.operations().list(&request).unwrap().items
}

pub fn active(oneiro: &Oneiro) -> Vec<Memory> {
    let mut memories = memories(oneiro);
    memories.retain(|memory| memory.status == MemoryStatus::Active);
    memories
}

/// Removes the ids of messages, which each space assigns itself.
fn without_message_ids(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(without_message_ids),
        Value::Object(fields) => {
            fields.shift_remove("message_id");
            if fields.get("target_kind") == Some(&json!("message")) {
                fields.shift_remove("target");
            }
            fields.values_mut().for_each(without_message_ids);
        }
        _ => {}
    }
}

/// Everything that is believed, with why, apart from the ids of messages.
pub fn beliefs(oneiro: &Oneiro) -> Value {
    let memories = memories(oneiro);
    let explain = ShowMemory { explain: true, ..ShowMemory::default() };
    let explained = memories.iter().map(|memory| {
        let view = oneiro.memories().show(memory.id.as_str(), &explain).unwrap();
        json!(view.explanation)
    });
    let explained: Vec<Value> = explained.collect();
    let projects = oneiro.projects().list().unwrap();
    let every = ListState { key: None, history: true };
    let names = projects.iter().map(|project| project.name.as_str()).chain(["atlas"]);
    let state: Vec<_> = names.map(|name| oneiro.projects().state(name, &every).unwrap()).collect();
    let mut beliefs = json!({
        "memories": memories,
        "explained": explained,
        "operations": operations(oneiro),
        "projects": projects,
        "state": state,
    });
    without_message_ids(&mut beliefs);
    beliefs
}

/// What an import changed besides sessions.
pub fn is_unchanged(imported: &Imported) -> bool {
    Imported { skipped: 0, ..imported.clone() } == Imported::default()
}

pub fn import_by_person(oneiro: &Oneiro, text: &str) -> Imported {
    import(&person(oneiro), text).unwrap()
}

pub fn quoted(content: &str, quote: &str) -> NewMemory {
    NewMemory { quote: Some(quote.into()), ..statement(content) }
}

pub fn patch(content: &str) -> MemoryPatch {
    MemoryPatch { content: Some(content.into()), ..MemoryPatch::default() }
}

pub fn fact(key: &str, value: &str) -> StateRequest {
    StateRequest { key: key.into(), kind: None, value: value.into(), since: None, reason: None }
}

/// A store with one of everything that is believed.
fn add_fixture(oneiro: &Fixed) {
    let (ann, bot) = (person(oneiro), agent(oneiro));
    begin(oneiro, "chat");
    let said =
        say(oneiro, "chat", &["I live in Bern", "the demo is in hall 3", "a rumour says so"]);
    remember(
        &bot,
        NewMemory { subject: Some("user".into()), ..quoted("I live in Bern", "I live in Bern") },
    );
    oneiro.clock.set(10);
    let demo = remember(&bot, quoted("The demo is in hall 3", "demo is in hall 3")).memory;
    let rejected = propose(oneiro, "The moon is made of cheese");
    oneiro.clock.set(20);
    ann.memories().reject(rejected.id.as_str(), Some("no".into())).unwrap();
    let office = remember(&ann, about("office", "The office is in Thun")).memory;
    oneiro.clock.set(30);
    let edit = ann.memories().edit(office.id.as_str(), patch("The office is in Basel")).unwrap();
    undo(&ann, &operation(&edit)).unwrap();
    let request = SupersedeRequest {
        content: Some("The demo is in hall 4".into()),
        ..SupersedeRequest::default()
    };
    ann.memories().supersede(demo.id.as_str(), request).unwrap();
    let query = ReinforceRequest { query: Some("where is the office".into()) };
    bot.memories().reinforce(office.id.as_str(), query).unwrap();
    oneiro.clock.set(40);
    let removed = remember(&ann, statement("A slip of the tongue"));
    undo(&ann, removed.operation.unwrap().as_str()).unwrap();
    ann.projects()
        .register(ProjectRequest {
            name: "atlas".into(),
            aliases: vec!["at".into()],
            root: Some("/src/atlas".into()),
        })
        .unwrap();
    ann.projects().set_state("atlas", fact("status", "green")).unwrap();
    oneiro.clock.set(50);
    ann.projects().set_state("at", fact("status", "red")).unwrap();
    let rumour =
        DistrustRequest { message: Some(MessageId(said[2]).into()), ..DistrustRequest::default() };
    ann.memories().distrust(rumour).unwrap();
}

on_both_backends! {
    fn everything_that_is_believed_survives_a_round_trip_to_the_other_engine(space) {
        let here = open(space);
        let other = other(space.backend);
        let there = open(&other);
        add_fixture(&here);
        // Ids are taken there already, so that equal ids prove nothing.
        begin(&there, "first");
        say(&there, "first", &["x", "y"]);
        there.clock.set(60);
        here.clock.set(60);
        let written = export(&here);
        let imported = import_by_person(&there, &written);
        assert_eq!((imported.sessions, imported.memories, imported.signals), (1, 6, 1), "{imported:?}");
        assert_eq!(imported.operations, operations(&here).len());
        assert_eq!(imported.state, 4);
        assert_eq!(beliefs(&here), beliefs(&there));
        assert_eq!(here.operations().store_id().unwrap(), operations(&there)[0].store_id);
        assert_sound(&there);
        // Citations lead to the messages there.
        let home = memories(&there).into_iter().find(|memory| memory.content == "I live in Bern").unwrap();
        let why = there.memories().why(home.id.as_str(), &oneiro::WhyRequest::default()).unwrap();
        let message = &why.children[0].children[0];
        assert_eq!((message.kind, message.text.as_str()), (WhyKind::Message, "user: I live in Bern"));
        // What was known at a time is known there too.
        for second in [0, 10, 20, 30, 40, 50] {
            let at = oneiro::Timestamp::from_micros(crate::support::NOW.micros() + second * 1_000_000);
            let request = ListMemories { known_at: Some(at), limit: 1_000, ..ListMemories::default() };
            let known = |oneiro: &Oneiro| {
                let mut known = json!(oneiro.memories().list(&request).unwrap().items);
                without_message_ids(&mut known);
                known
            };
            assert_eq!(known(&here), known(&there), "{at}");
        }
        // Again, and back: nothing changes.
        let before = dump(&there);
        assert!(is_unchanged(&import_by_person(&there, &written)));
        assert_eq!(dump(&there), before);
        let before = dump(&here);
        let imported = import_by_person(&here, &export(&there));
        assert_eq!(Imported { sessions: 0, messages: 0, ..imported.clone() }, Imported { skipped: 1, ..Imported::default() });
        let after = dump(&here);
        // Only the session that the other store had is new.
        let kept: Vec<&str> = before.lines().filter(|line| line.starts_with("{\"operation\"") || line.starts_with("{\"memory\"")).collect();
        assert!(kept.iter().all(|line| after.contains(line)));
    }

    fn imported_operations_are_undone_and_redone_as_own_ones(space) {
        let (here, there) = (open(space), TestSpace::new(space.backend));
        let there = open(&there);
        let ann = person(&here);
        let memory = remember(&ann, statement("The office is in Bern")).memory;
        let id = memory.id.as_str();
        let edit = ann.memories().edit(id, patch("The office is in Basel")).unwrap();
        import_by_person(&there, &export(&here));
        let bea = person(&there);
        assert_eq!(agent(&there).operations().undo(&operation(&edit), None).unwrap_err().kind(), ErrorKind::Forbidden);
        let undone = undo(&bea, &operation(&edit)).unwrap();
        assert_eq!(show(&there, id).content, "The office is in Bern");
        undo(&bea, undone.operations[0].id.as_str()).unwrap();
        assert_eq!(show(&there, id).content, "The office is in Basel");
        let history = there.memories().history(id).unwrap().items;
        assert_eq!(history.iter().map(|it| it.kind.as_str()).collect::<Vec<_>>(), ["memory.create", "memory.edit", "memory.undo", "memory.undo"]);
        assert_ne!(history[0].store_id, history[3].store_id);
        // And back into the first store.
        import_by_person(&here, &export(&there));
        assert_eq!(beliefs(&here), beliefs(&there));
    }

    fn citations_of_a_session_that_is_stored_already_lead_to_its_messages(space) {
        let here = open(space);
        begin(&here, "chat");
        say(&here, "chat", &["hello", "my dog is called Rex", "bye"]);
        let memory = remember(&agent(&here), quoted("The dog is called Rex", "dog is called Rex")).memory;
        let written = export(&here);
        let with_session = |texts: &[&str]| {
            let space = TestSpace::new(space.backend);
            let there = open(&space);
            begin(&there, "other");
            say(&there, "other", &["x"]);
            begin(&there, "chat");
            say(&there, "chat", texts);
            import_by_person(&there, &written);
            let cited = show(&there, memory.id.as_str()).citations[0].clone();
            let after = operations(&there)[0].after.clone().unwrap();
            assert_eq!(json!(cited), after["citations"][0]);
            assert_eq!(cited.quote, "dog is called Rex");
            cited.message_id
        };
        assert_eq!(with_session(&["hello", "my dog is called Rex", "bye", "more"]), Some(MessageId(3)));
        // Something else is said in its place.
        assert_eq!(with_session(&["hello", "my cat is called Tom"]), None);
    }

    fn an_agent_that_imports_a_file_gains_no_trust_of_a_person(space) {
        let (first, second) = (open(space), TestSpace::new(space.backend));
        let second = open(&second);
        add_fixture(&first);
        remember(&person(&first), about("user", "I am the administrator"));
        let written = export(&first);
        assert!(written.contains("\"kind\":\"person\""));
        let imported = import(&agent(&second), &written).unwrap();
        assert_eq!((imported.operations, imported.signals, imported.state), (0, 0, 0));
        assert!(imported.withheld > 0 && imported.memories > 0, "{imported:?}");
        let arrived = memories(&second);
        assert!(arrived.iter().all(|memory| memory.status == MemoryStatus::Candidate && memory.trust <= Trust::Agent), "{arrived:?}");
        assert!(arrived.iter().all(|memory| memory.origin == ActorKind::Agent && memory.confirmed_at.is_none()));
        assert!(arrived.iter().flat_map(|it| &it.citations).all(|it| it.trust <= Trust::Agent));
        assert!(operations(&second).iter().all(|it| it.actor.kind == ActorKind::Agent && it.kind == "memory.create"));
        assert_eq!(second.projects().list().unwrap(), []);
        // Neither are they a person's: an agent may reject them.
        agent(&second).memories().reject(arrived[0].id.as_str(), None).unwrap();
        let before = dump(&second);
        let imported = import(&agent(&second), &written).unwrap();
        assert_eq!((imported.sessions, imported.memories), (0, 1), "what was rejected is proposed again");
        assert_ne!(dump(&second), before);
        // A person who imports the same file has its history.
        second.clock.set(60);
        import_by_person(&second, &written);
        assert!(active(&second).iter().any(|memory| memory.content == "I am the administrator" && memory.trust == Trust::Owner));
        assert_sound(&second);
    }

    fn what_is_erased_stays_erased(space) {
        let (first, second) = (open(space), TestSpace::new(space.backend));
        let second = open(&second);
        let ann = person(&first);
        begin(&first, "chat");
        let said = say(&first, "chat", &["the treasure lies under the oak"]);
        let secret = remember(&ann, statement("The vault code is nineteen")).memory;
        let cited = remember(&ann, quoted("I hid a treasure", "treasure lies under the oak")).memory;
        let written = export(&first);
        import_by_person(&second, &written);
        ann.erase(&EraseTarget::Memory(secret.id.clone())).unwrap();
        let message = MessageId(said[0]);
        ann.erase(&EraseTarget::Message(message)).unwrap();
        // The old file does not bring it back.
        let imported = import_by_person(&first, &written);
        assert_eq!((imported.memories, imported.operations), (0, 0), "{imported:?}");
        let after = export(&first);
        assert!(!after.contains("vault code") && !after.contains("treasure lies"), "{after}");
        // Operations without content are imported as they are.
        let third = TestSpace::new(space.backend);
        let third = open(&third);
        import_by_person(&third, &after);
        assert_eq!(beliefs(&third), beliefs(&first));
        assert!(show(&third, cited.id.as_str()).citations.is_empty());
        ann.memories().edit(cited.id.as_str(), patch("I hid something")).unwrap();
        import_by_person(&third, &export(&first));
        assert_eq!(beliefs(&third), beliefs(&first));
        assert_sound(&third);
    }

    fn a_selection_of_sessions_is_exported_alone(space) {
        let oneiro = open(space);
        add_fixture(&oneiro);
        for request in [
            ExportRequest { sessions: vec![id("chat")], source: None },
            ExportRequest { sessions: Vec::new(), source: Some("library".into()) },
        ] {
            let mut out = Vec::new();
            let done = oneiro.transfer().export(&request, &mut out, &mut |_| {}).unwrap();
            assert_eq!(done.records, 0);
            assert!(String::from_utf8(out).unwrap().lines().all(|line| line.starts_with("{\"id\"")));
        }
        let everything = export(&oneiro);
        assert!(everything.starts_with("{\"store\":{\"id\":\"sto_"));
        assert!(!everything.contains("secret"));
    }

    fn a_broken_file_is_refused_with_line_and_field_and_changes_nothing(space) {
        let (first, second) = (open(space), TestSpace::new(space.backend));
        let second = open(&second);
        let ann = person(&first);
        let memory = remember(&ann, statement("The office is in Bern")).memory;
        first.clock.set(10);
        ann.memories().edit(memory.id.as_str(), patch("The office is in Basel")).unwrap();
        let written = export(&first);
        let lines: Vec<&str> = written.lines().collect();
        // store, memory, create, edit
        assert_eq!(lines.len(), 4);
        let before = dump(&second);
        let assert_refused = |lines: &[&str], expected: &str| {
            let error = import(&person(&second), &(lines.join("\n") + "\n")).unwrap_err();
            assert!(error.message().contains(expected), "{expected}: {error}");
            assert_eq!(dump(&second), before);
        };
        let changed = |line: usize, from: &str, to: &str| {
            assert!(lines[line].contains(from), "{from} in {}", lines[line]);
            lines[line].replacen(from, to, 1)
        };
        assert_refused(&lines[1..], "line 1: store: is on no line before");
        assert_refused(&[lines[0], lines[2], lines[1], lines[3]], "line 2: operation: subject:");
        assert_refused(&[lines[0], lines[1], lines[3], lines[2]], "line 4: operation: at:");
        assert_refused(&[lines[0], lines[1], lines[1], lines[2]], "line 3: memory: ");
        assert_refused(&[lines[0], lines[1], lines[2], lines[2]], "line 4: operation: op_");
        assert_refused(&lines[..2], "line 2: memory: ");
        assert_refused(&lines[..3], "line 2: memory: content: does not follow");
        assert_refused(&[lines[0], lines[1], &lines[2][..lines[2].len() / 2]], "line 3: ");
        assert_refused(&[lines[0], "{\"memry\":{}}"], "line 2: memry: is not a known field");
        assert_refused(&[&changed(0, "\"format\":1", "\"format\":2")], "line 1: store: format:");
        assert_refused(&[lines[0], &changed(1, "\"status\":\"active\"", "\"status\":\"golden\"")], "line 2: memory: status:");
        assert_refused(&[lines[0], &changed(1, "\"content\":", "\"contents\":")], "line 2: memory");
        assert_refused(&[lines[0], &changed(1, "in Basel", &"x".repeat(5_000))], "line 2: memory: content: is longer");
        assert_refused(&[lines[0], &changed(1, "in Basel", "in \\u0000")], "line 2: memory: contains a NUL");
        assert_refused(&[lines[0], lines[1], &changed(2, "memory.create", "memory.conjure")], "line 3: operation: kind:");
        assert_refused(&[lines[0], lines[1], &changed(2, "\"at\":\"2023", "\"at\":\"2093")], "line 3: operation: at:");
        assert_refused(&[lines[0], &changed(1, "\"trust\":\"owner\"", "\"trust\":\"agent\""), lines[2], lines[3]], "line 2: memory: trust: does not follow");
        // An id that is known with another content.
        import_by_person(&second, &written);
        let before = dump(&second);
        let other = changed(3, "in Basel", "in Thun");
        let lines = [lines[0], &changed(1, "in Basel", "in Thun"), lines[2], &other];
        let error = import(&person(&second), &(lines.join("\n") + "\n")).unwrap_err();
        assert!(error.kind() == ErrorKind::Conflict && error.message().contains("line 4: operation: after:"), "{error}");
        assert_eq!(dump(&second), before);
    }
}
