//! Memories in the one search: found at once, believed before unreviewed, past ones on request, and
//! gone from the index when they are erased.

use crate::memories::{about, agent, operation, person, propose, remember, statement, undo};
use crate::memories_erase::found_raw;
use crate::support::{begin, open, say};
use oneiro::{
    AnyHit, DreamRequest, EraseTarget, ErrorKind, Found, HitKind, MemoryId, MemoryPatch,
    MemoryStatus, NewMemory, NewMessage, Oneiro, ProjectRequest, Role, SearchRequest, ShowMemory,
    SignalKind, Sort, SupersedeRequest,
};
use oneiro_testkit::{Backend, on_both_backends};

/// Memories alone.
fn of_memories(query: &str) -> SearchRequest {
    SearchRequest { kinds: vec![HitKind::Memory], ..SearchRequest::new(query) }
}

fn find(oneiro: &Oneiro, request: &SearchRequest) -> Found {
    oneiro.search().run(request).unwrap()
}

fn statements(found: &Found) -> Vec<&str> {
    found.memories.iter().map(|hit| hit.content.as_str()).collect()
}

/// The hits in their order: memories by their statement, messages by their snippet.
fn in_order(found: &Found) -> Vec<String> {
    let text = |hit: AnyHit<'_>| match hit {
        AnyHit::Memory(hit) => format!("memory: {}", hit.content),
        AnyHit::Message(hit) => format!("message: {}", hit.snippet),
        AnyHit::Summary(hit) => format!("summary: {}", hit.snippet),
        AnyHit::Note(hit) => format!("note: {}", hit.snippet),
    };
    found.in_order().into_iter().map(text).collect()
}

fn edited(content: &str) -> MemoryPatch {
    MemoryPatch { content: Some(content.to_owned()), ..MemoryPatch::default() }
}

on_both_backends! {
    fn a_memory_is_found_as_soon_as_it_is_remembered_and_after_the_index_covers_it(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        remember(&ann, statement("The heron nests in the reeds"));
        assert_eq!(statements(&find(&oneiro, &of_memories("heron"))), ["The heron nests in the reeds"]);
        oneiro.index().catch_up(&mut |_, _| {}).unwrap();
        begin(&oneiro, "chat");
        say(&oneiro, "chat", &["I saw the heron again"]);
        remember(&ann, statement("The heron eats frogs"));
        let found = find(&oneiro, &of_memories("where is the heron?"));
        assert_eq!(statements(&found).len(), 2);
        assert!(found.hits.is_empty());
        oneiro.index().rebuild(&mut |_, _| {}).unwrap();
        assert_eq!(statements(&find(&oneiro, &of_memories("heron"))).len(), 2);
    }

    fn a_search_of_messages_does_not_return_memories(space) {
        let oneiro = open(space);
        begin(&oneiro, "chat");
        say(&oneiro, "chat", &["the heron sleeps"]);
        remember(&person(&oneiro), statement("The heron sleeps standing"));
        let found = find(&oneiro, &SearchRequest::new("heron"));
        assert_eq!((found.hits.len(), found.memories.len()), (1, 0));
        let found = find(&oneiro, &SearchRequest::recall("heron"));
        assert_eq!((found.hits.len(), found.memories.len()), (1, 1));
    }

    fn what_is_believed_comes_before_what_nobody_reviewed(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        propose(&oneiro, "The gate code is 4711");
        remember(&ann, statement("The code of the gate is printed on a card in the office"));
        begin(&oneiro, "chat");
        say(&oneiro, "chat", &["what is the gate code?", "the gate code was changed in May"]);
        let found = find(&oneiro, &SearchRequest::recall("what is the gate code?"));
        let believed: Vec<bool> = found.memories.iter().map(|hit| hit.status == MemoryStatus::Active).collect();
        assert_eq!(believed, [true, false]);
        assert!(found.hits.len() == 2, "{:?}", in_order(&found));
        assert!(in_order(&found)[0].starts_with("memory: The code of the gate"), "{:?}", in_order(&found));
    }

    fn past_memories_are_found_with_history_only_and_invalid_ones_never(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        let old = remember(&ann, statement("The release day is Monday")).memory;
        ann.memories().supersede(old.id.as_str(), SupersedeRequest {
            content: Some("The release day is Thursday".into()), ..SupersedeRequest::default()
        }).unwrap();
        let wrong = propose(&oneiro, "The release day is Sunday");
        ann.memories().reject(wrong.id.as_str(), None).unwrap();
        let found = find(&oneiro, &of_memories("release day"));
        assert_eq!(statements(&found), ["The release day is Thursday"]);
        let history = SearchRequest { history: true, ..of_memories("release day") };
        let found = find(&oneiro, &history);
        assert_eq!(statements(&found), ["The release day is Thursday", "The release day is Monday"]);
        assert!(found.memories[1].superseded_by.is_some());
        let bad = SearchRequest { history: true, ..SearchRequest::new("release day") };
        assert_eq!(oneiro.search().run(&bad).unwrap_err().kind(), ErrorKind::Invalid);
    }

    fn a_suspended_memory_is_not_recalled(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        remember(&ann, about("Ann", "I live in Porto"));
        remember(&ann, about("Ann", "I live in Lisbon"));
        let found = find(&oneiro, &of_memories("where does Ann live?"));
        assert_eq!(statements(&found), ["I live in Lisbon"]);
        let found = find(&oneiro, &SearchRequest { history: true, ..of_memories("where does Ann live?") });
        assert_eq!(statements(&found), ["I live in Lisbon", "I live in Porto"]);
        assert!(found.memories[1].suspended_by.is_some());
    }

    fn a_memory_is_found_by_the_name_of_its_subject(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        remember(&ann, about("Beatriz", "I drink my tea without sugar"));
        remember(&ann, about("Tomas", "I drink my tea with milk"));
        let found = find(&oneiro, &of_memories("how does Beatriz take her tea?"));
        assert_eq!(statements(&found)[0], "I drink my tea without sugar");
    }

    fn an_edited_memory_is_found_by_its_new_words_alone(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        let memory = remember(&ann, statement("The cellar floods in autumn")).memory;
        oneiro.index().catch_up(&mut |_, _| {}).unwrap();
        let changed = ann.memories().edit(memory.id.as_str(), edited("The attic leaks in autumn")).unwrap();
        assert!(find(&oneiro, &of_memories("cellar")).is_empty());
        assert_eq!(statements(&find(&oneiro, &of_memories("attic"))), ["The attic leaks in autumn"]);
        undo(&ann, &operation(&changed)).unwrap();
        assert!(find(&oneiro, &of_memories("attic")).is_empty());
        assert_eq!(statements(&find(&oneiro, &of_memories("cellar"))), ["The cellar floods in autumn"]);
    }

    fn a_memory_whose_creation_is_undone_is_not_found_until_that_is_undone(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        let memory = remember(&ann, statement("The orchard has nine trees")).memory;
        let history = oneiro.memories().history(memory.id.as_str()).unwrap();
        let undone = undo(&ann, history.items[0].id.as_str()).unwrap();
        assert!(find(&oneiro, &of_memories("orchard")).is_empty());
        undo(&ann, undone.operations[0].id.as_str()).unwrap();
        assert_eq!(find(&oneiro, &of_memories("orchard")).memories.len(), 1);
    }

    fn recall_of_an_earlier_time_searches_what_was_recorded_then(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        let memory = remember(&ann, statement("The server room is on the second floor")).memory;
        let then = oneiro.now();
        oneiro.clock.set(3_600);
        ann.memories().edit(memory.id.as_str(), edited("The server room is in the basement")).unwrap();
        remember(&ann, statement("The server is called Hugin"));
        let request = SearchRequest { known_at: Some(then), ..SearchRequest::recall("server floor") };
        assert_eq!(statements(&find(&oneiro, &request)), ["The server room is on the second floor"]);
        let now = find(&oneiro, &of_memories("server room"));
        assert_eq!(statements(&now)[0], "The server room is in the basement");
        let why = oneiro.memories().why(memory.id.as_str(), &oneiro::WhyRequest { known_at: Some(then) }).unwrap();
        assert_eq!((why.text.as_str(), why.children.len()), ("The server room is on the second floor", 1));
    }

    fn valid_time_chooses_what_held_then(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        let day = |text: &str| oneiro::Timestamp::parse(text).unwrap();
        let new = |content: &str, from: &str, until: Option<&str>| NewMemory {
            valid_from: Some(day(from)), valid_until: until.map(day), ..statement(content)
        };
        remember(&ann, new("Nadia leads the team", "2020-01-01T00:00:00Z", Some("2022-01-01T00:00:00Z")));
        remember(&ann, new("Omar leads the team", "2022-01-01T00:00:00Z", None));
        assert_eq!(statements(&find(&oneiro, &of_memories("who leads the team?"))), ["Omar leads the team"]);
        let at = SearchRequest { at: Some(day("2021-06-01T00:00:00Z")), ..of_memories("who leads the team?") };
        assert_eq!(statements(&find(&oneiro, &at)), ["Nadia leads the team"]);
    }

    fn a_project_recalls_its_own_memories_and_those_of_none(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        ann.projects().register(ProjectRequest {
            name: "atlas".into(), aliases: vec!["at".into()], root: None,
        }).unwrap();
        let of = |project: &str, content: &str| NewMemory { project: Some(project.into()), ..statement(content) };
        remember(&ann, of("atlas", "Atlas deploys at noon"));
        remember(&ann, of("boreas", "Boreas deploys at dawn"));
        remember(&ann, statement("Nobody deploys on Fridays"));
        let request = SearchRequest { project: Some("at".into()), ..of_memories("deploys") };
        let mut found = find(&oneiro, &request);
        found.memories.sort_by(|a, b| a.content.cmp(&b.content));
        assert_eq!(statements(&found), ["Atlas deploys at noon", "Nobody deploys on Fridays"]);
    }

    fn operators_phrases_and_orders_by_time_work_on_memories(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        remember(&ann, statement("The red apple tree is old"));
        oneiro.clock.set(60);
        remember(&ann, statement("An apple that is red is sweet"));
        let found = find(&oneiro, &of_memories("\"red apple\""));
        assert_eq!(statements(&found), ["The red apple tree is old"]);
        assert_eq!(statements(&find(&oneiro, &of_memories("apple -tree"))), ["An apple that is red is sweet"]);
        let oldest = SearchRequest { sort: Sort::Oldest, ..of_memories("apple") };
        assert_eq!(statements(&find(&oneiro, &oldest))[0], "The red apple tree is old");
        let newest = SearchRequest { sort: Sort::Newest, ..of_memories("apple") };
        assert_eq!(statements(&find(&oneiro, &newest))[0], "An apple that is red is sweet");
    }

    fn pages_of_memories_and_messages_hold_each_hit_once(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        begin(&oneiro, "chat");
        for n in 0..12 {
            remember(&ann, statement(&format!("The ferry number {n} leaves early")));
            say(&oneiro, "chat", &[&format!("I took the ferry at hour {n}")]);
        }
        let mut request = SearchRequest { limit: 5, ..SearchRequest::recall("when does the ferry leave?") };
        let mut seen = Vec::new();
        for _ in 0..10 {
            let found = find(&oneiro, &request);
            seen.extend(in_order(&found));
            request.cursor = found.next;
            if request.cursor.is_none() {
                break;
            }
        }
        let all = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!((seen.len(), all), (24, 24));
    }

    fn an_erased_memory_and_its_earlier_words_leave_the_index(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        let memory = remember(&ann, statement("The password hint is wolpertinger")).memory;
        oneiro.index().catch_up(&mut |_, _| {}).unwrap();
        ann.memories().edit(memory.id.as_str(), edited("The password hint is rasselbock")).unwrap();
        oneiro.index().catch_up(&mut |_, _| {}).unwrap();
        remember(&ann, statement("Another statement keeps the segment"));
        ann.erase(&EraseTarget::Memory(memory.id)).unwrap();
        assert!(find(&oneiro, &of_memories("rasselbock")).is_empty());
        if space.backend == Backend::Sqlite {
            assert_eq!(found_raw(space, &["wolperting", "rasselbock"]), Vec::<String>::new());
        }
    }

    fn a_question_in_other_words_asks_for_what_meets_it_best_and_for_nobody_elses(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        let own = remember(&ann, about("Ann", "My car is a Volvo")).memory;
        let other = remember(&ann, about("Ben", "My car is a Lancia")).memory;
        begin(&oneiro, "chat");
        let mut asked = NewMessage::text(Role::User, "Please fill in the make of my car for the parking permit of our street.");
        asked.body.insert("name".to_owned(), "Ann".into());
        oneiro.messages().append(&crate::support::id("chat"), vec![asked]).unwrap();
        let for_session = Some(crate::support::id("chat"));
        find(&agent(&oneiro), &SearchRequest { for_session, ..SearchRequest::recall("Ann car make") });
        let evidence = |id: &MemoryId| {
            let dreamt = oneiro.dreams().run(&DreamRequest::default()).unwrap();
            assert!(dreamt.handled, "{dreamt:?}");
            oneiro.dreams().explain(id.as_str()).ok().map(|it| it.candidate.evidence)
        };
        assert_eq!(evidence(&own.id).map(|it| (it.recalls, it.best)), Some((1, vec![0.5])));
        assert_eq!(evidence(&other.id), None, "Ben's car was not asked for");
    }

    fn a_recall_by_a_person_is_evidence_once_a_day_and_one_by_an_agent_is_none(space) {
        let oneiro = open(space);
        let (ann, bot) = (person(&oneiro), agent(&oneiro));
        let memory = remember(&ann, statement("The choir meets on Wednesdays")).memory;
        let recalled = |id: &MemoryId| {
            let shown = oneiro.memories().show(id.as_str(), &ShowMemory { explain: true, ..ShowMemory::default() }).unwrap();
            let signals = shown.explanation.unwrap().signals;
            signals.iter().find(|signal| signal.kind == SignalKind::Recalled).map_or(0, |signal| signal.count)
        };
        find(&bot, &SearchRequest::recall("when does the choir meet?"));
        assert_eq!(recalled(&memory.id), 0);
        find(&ann, &SearchRequest::recall("when does the choir meet?"));
        find(&ann, &SearchRequest::recall("When does the CHOIR meet?"));
        assert_eq!(recalled(&memory.id), 1);
        // An agent's search counts for the person whose message it answers.
        begin(&oneiro, "chat");
        say(&oneiro, "chat", &["is there choir practice this week?"]);
        let for_session = Some(crate::support::id("chat"));
        find(&bot, &SearchRequest { for_session, ..SearchRequest::recall("choir") });
        assert_eq!(recalled(&memory.id), 2);
        begin(&oneiro, "cron:nightly");
        say(&oneiro, "cron:nightly", &["summarise the choir"]);
        let for_session = Some(crate::support::id("cron:nightly"));
        find(&bot, &SearchRequest { for_session, ..SearchRequest::recall("choir") });
        assert_eq!(recalled(&memory.id), 2);
    }
}
