//! Random lives, exported and imported: an empty store that imports a life has the same memories,
//! operations, signals, projects and state, on either engine; two lives that are merged in any order
//! break no rule.

use crate::memories::person;
use crate::memories_random::{CITIES, Step, act, assert_consistent, step};
use crate::support::{Fixed, begin, export, open, say};
use crate::transfer_memories::{beliefs, import_by_person, memories, operations, other};
use oneiro::{
    DistrustRequest, ListMemories, MemoryStatus, Oneiro, ProjectRequest, ReinforceRequest,
    StateRequest, Timestamp,
};
use oneiro_testkit::{Backend, TestSpace};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Lives a life in a session of this name, with signals, projects, facts and a distrusted source.
fn live(
    oneiro: &Fixed,
    session: &str,
    (steps, start): (&[Step], i64),
) -> Result<(), TestCaseError> {
    begin(oneiro, session);
    let texts = CITIES.map(|city| format!("she lives in {city}"));
    say(oneiro, session, &texts.each_ref().map(String::as_str));
    let ann = person(oneiro);
    for (number, step) in steps.iter().enumerate() {
        let number = number as i64;
        oneiro.clock.set(start + number * 60);
        act(oneiro, step)?;
        // What is refused here, such as a use of what is not active, is not the point.
        let any = memories(oneiro).into_iter().next();
        if let Some(memory) = any.filter(|memory| memory.status == MemoryStatus::Active) {
            let query = ReinforceRequest { query: Some(format!("where {}", number % 3)) };
            ann.memories().reinforce(memory.id.as_str(), query).unwrap();
        }
        let name = format!("project {}", number % 2);
        if number % 5 == 0 {
            let aliases = vec![format!("{session} {}", number % 2)];
            ann.projects()
                .register(ProjectRequest { name: name.clone(), aliases, root: None })
                .unwrap();
        }
        if number % 3 == 0 {
            let value = format!("value {number} of {session}");
            let fact =
                StateRequest { key: "status".into(), kind: None, value, since: None, reason: None };
            ann.projects().set_state(&name, fact).unwrap();
        }
    }
    if steps.len() % 2 == 0 {
        let request = DistrustRequest {
            source: Some(format!("rumours of {session}")),
            ..DistrustRequest::default()
        };
        ann.memories().distrust(request).unwrap();
    }
    Ok(())
}

/// Statuses and statements as they were known at a time.
fn known_at(oneiro: &Oneiro, at: Timestamp) -> BTreeSet<(String, String, String)> {
    let request = ListMemories { known_at: Some(at), limit: 1_000, ..ListMemories::default() };
    let known = oneiro.memories().list(&request).unwrap().items.into_iter();
    known.map(|it| (it.id.to_string(), it.status.as_str().to_owned(), it.content)).collect()
}

fn assert_round_trip(space: &TestSpace, steps: &[Step]) -> Result<(), TestCaseError> {
    let here = open(space);
    live(&here, "chat", (steps, 0))?;
    let last = steps.len() as i64 * 60;
    for copy in [TestSpace::new(space.backend), other(space.backend)] {
        let there = open(&copy);
        there.clock.set(last);
        import_by_person(&there, &export(&here));
        prop_assert_eq!(beliefs(&here), beliefs(&there));
        for operation in operations(&here) {
            prop_assert_eq!(known_at(&here, operation.at), known_at(&there, operation.at));
        }
        let before = export(&there);
        import_by_person(&there, &export(&here));
        prop_assert_eq!(&before, &export(&there));
        import_by_person(&here, &export(&there));
        prop_assert_eq!(beliefs(&here), beliefs(&there));
        prop_assert!(there.check().unwrap().ok);
    }
    Ok(())
}

/// Two stores that share a beginning and then change it apart are merged, there and back.
fn assert_merged(
    backend: Backend,
    [shared, first, second]: [&[Step]; 3],
) -> Result<(), TestCaseError> {
    let spaces = [TestSpace::new(backend), TestSpace::new(backend)];
    let [one, two] = spaces.each_ref().map(open);
    live(&one, "shared", (shared, 0))?;
    let mut at = shared.len() as i64 * 60;
    two.clock.set(at);
    import_by_person(&two, &export(&one));
    live(&one, "one", (first, at))?;
    // Times of both interleave.
    live(&two, "two", (second, at + 30))?;
    at += 60 * (first.len().max(second.len()) as i64 + 1);
    for clock in [&one.clock, &two.clock] {
        clock.set(at);
    }
    let written = export(&one);
    import_by_person(&two, &written);
    assert_merge_is_sound(&two)?;
    let before = export(&two);
    import_by_person(&two, &written);
    prop_assert_eq!(&before, &export(&two), "an import again changes nothing");
    import_by_person(&one, &before);
    assert_merge_is_sound(&one)?;
    // The first store has judged what the second brought; then both have all operations.
    import_by_person(&two, &export(&one));
    let states = |oneiro: &Oneiro| -> BTreeSet<_> {
        let memories = memories(oneiro).into_iter();
        memories
            .map(|it| (it.id.to_string(), it.status.as_str(), it.content, it.superseded_by))
            .collect()
    };
    prop_assert_eq!(states(&one), states(&two));
    Ok(())
}

fn assert_merge_is_sound(oneiro: &Fixed) -> Result<(), TestCaseError> {
    assert_consistent(oneiro)?;
    prop_assert!(oneiro.check().unwrap().ok);
    let active = memories(oneiro).into_iter().filter(|it| it.status == MemoryStatus::Active);
    let claims: Vec<_> = active.map(|it| (it.content, it.subject, it.project)).collect();
    let distinct: BTreeSet<_> = claims.iter().collect();
    prop_assert_eq!(distinct.len(), claims.len(), "one statement is active once: {:?}", claims);
    let times: Vec<_> = operations(oneiro).into_iter().map(|operation| operation.at).collect();
    prop_assert!(times.is_sorted_by(|newer, older| newer >= older), "times follow the order");
    for memory in memories(oneiro) {
        let now = known_at(oneiro, times[0]);
        let state = (memory.id.to_string(), memory.status.as_str().to_owned(), memory.content);
        prop_assert!(now.contains(&state), "{state:?}");
    }
    Ok(())
}

fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec(step(), 1..most)
}

proptest! {
    #![proptest_config(oneiro_testkit::proptest_config(12))]

    #[test]
    fn a_random_life_survives_a_round_trip_from_sqlite(steps in steps(30)) {
        assert_round_trip(&TestSpace::new(Backend::Sqlite), &steps)?;
    }

    #[test]
    fn two_random_lives_are_merged_on_sqlite(shared in steps(12), first in steps(16), second in steps(16)) {
        assert_merged(Backend::Sqlite, [&shared, &first, &second])?;
    }
}

proptest! {
    #![proptest_config(oneiro_testkit::proptest_config(4))]

    #[test]
    fn a_random_life_survives_a_round_trip_from_postgres(steps in steps(30)) {
        assert_round_trip(&TestSpace::new(Backend::Postgres), &steps)?;
    }

    #[test]
    fn two_random_lives_are_merged_on_postgres(shared in steps(12), first in steps(16), second in steps(16)) {
        assert_merged(Backend::Postgres, [&shared, &first, &second])?;
    }
}
