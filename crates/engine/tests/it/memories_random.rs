//! Random lives of memories by several actors. Whatever happens: the status machine is not broken,
//! every active memory answers why, replaying the operations up to a time gives what was known then,
//! and undoing everything in reverse restores the beginning.

use crate::memories::{agent, person, statement};
use crate::support::{Fixed, begin, open, say};
use oneiro::{
    ErrorKind, ListMemories, ListOperations, Memory, MemoryPatch, MemoryStatus, MergeRequest,
    NewMemory, Oneiro, Operation, SupersedeRequest, Timestamp, WhyKind, WhyRequest,
};
use oneiro_testkit::{Backend, TestSpace};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
pub enum Act {
    Remember(usize),
    Quote(usize),
    Promote(usize),
    Reject(usize),
    Forget(usize),
    Confirm(usize),
    Edit(usize, usize),
    SetStatus(usize, usize),
    Supersede(usize, usize),
    Merge(usize, usize),
    Undo(usize),
    UndoGroup(usize),
}

#[derive(Debug, Clone)]
pub struct Step {
    pub by_person: bool,
    pub act: Act,
}

pub fn step() -> impl Strategy<Value = Step> {
    let index = || 0..64_usize;
    let act = prop_oneof![
        4 => index().prop_map(Act::Remember),
        2 => index().prop_map(Act::Quote),
        3 => index().prop_map(Act::Promote),
        1 => index().prop_map(Act::Reject),
        1 => index().prop_map(Act::Forget),
        1 => index().prop_map(Act::Confirm),
        2 => (index(), index()).prop_map(|(at, text)| Act::Edit(at, text)),
        1 => (index(), index()).prop_map(|(at, status)| Act::SetStatus(at, status)),
        2 => (index(), index()).prop_map(|(at, text)| Act::Supersede(at, text)),
        1 => (index(), index()).prop_map(|(from, into)| Act::Merge(from, into)),
        3 => index().prop_map(Act::Undo),
        1 => index().prop_map(Act::UndoGroup),
    ];
    (any::<bool>(), act).prop_map(|(by_person, act)| Step { by_person, act })
}

pub const CITIES: [&str; 4] = ["Rome", "Oslo", "Lima", "Kyoto"];

fn text(index: usize) -> String {
    format!("Person {} lives in {}", index % 3, CITIES[index / 3 % CITIES.len()])
}

fn all(oneiro: &Oneiro, request: ListMemories) -> Vec<Memory> {
    oneiro.memories().list(&ListMemories { limit: 1_000, ..request }).unwrap().items
}

/// Every operation, oldest first.
fn operations(oneiro: &Oneiro) -> Vec<Operation> {
    let request = ListOperations { limit: 1_000, ..ListOperations::default() };
    let mut items = oneiro.operations().list(&request).unwrap().items;
    items.reverse();
    items
}

fn nth<T: Clone>(items: &[T], index: usize) -> Option<T> {
    (!items.is_empty()).then(|| items[index % items.len()].clone())
}

/// Does one step. What is refused changes nothing and says why.
pub fn act(oneiro: &Fixed, step: &Step) -> Result<(), TestCaseError> {
    let handle = if step.by_person { person(oneiro) } else { agent(oneiro) };
    let memories = all(oneiro, ListMemories::default());
    let id = |index: usize| nth(&memories, index).map(|memory| memory.id.to_string());
    let done = operations(oneiro);
    let before = done.len();
    let result = match step.act {
        Act::Remember(index) => {
            let subject = Some(format!("person {}", index % 3));
            handle.memories().remember(NewMemory { subject, ..statement(&text(index)) }).map(|_| ())
        }
        Act::Quote(index) => {
            let quote = Some(format!("lives in {}", CITIES[index % CITIES.len()]));
            handle.memories().remember(NewMemory { quote, ..statement(&text(index)) }).map(|_| ())
        }
        Act::Promote(at) => match id(at) {
            Some(id) => handle.memories().promote(&id, None).map(|_| ()),
            None => Ok(()),
        },
        Act::Reject(at) => match id(at) {
            Some(id) => handle.memories().reject(&id, None).map(|_| ()),
            None => Ok(()),
        },
        Act::Forget(at) => match id(at) {
            Some(id) => handle.memories().forget(&id, None).map(|_| ()),
            None => Ok(()),
        },
        Act::Confirm(at) => match id(at) {
            Some(id) => handle.memories().confirm(&id, None).map(|_| ()),
            None => Ok(()),
        },
        Act::Edit(at, new) => match id(at) {
            Some(id) => {
                let patch = MemoryPatch { content: Some(text(new)), ..MemoryPatch::default() };
                handle.memories().edit(&id, patch).map(|_| ())
            }
            None => Ok(()),
        },
        Act::SetStatus(at, status) => match id(at) {
            Some(id) => {
                let statuses =
                    [MemoryStatus::Candidate, MemoryStatus::Active, MemoryStatus::Invalid];
                let patch =
                    MemoryPatch { status: nth(&statuses, status), ..MemoryPatch::default() };
                handle.memories().edit(&id, patch).map(|_| ())
            }
            None => Ok(()),
        },
        Act::Supersede(at, new) => match id(at) {
            Some(id) => {
                let request =
                    SupersedeRequest { content: Some(text(new)), ..SupersedeRequest::default() };
                handle.memories().supersede(&id, request).map(|_| ())
            }
            None => Ok(()),
        },
        Act::Merge(from, into) => match (id(from), nth(&memories, into)) {
            (Some(from), Some(into)) => handle
                .memories()
                .merge(&from, MergeRequest { into: into.id, reason: None })
                .map(|_| ()),
            _ => Ok(()),
        },
        Act::Undo(at) => match nth(&done, at) {
            Some(operation) => handle.operations().undo(operation.id.as_str(), None).map(|_| ()),
            None => Ok(()),
        },
        Act::UndoGroup(at) => match nth(&done, at).and_then(|operation| operation.group) {
            Some(group) => handle.operations().undo(group.as_str(), None).map(|_| ()),
            None => Ok(()),
        },
    };
    if let Err(error) = result {
        let kinds =
            [ErrorKind::Conflict, ErrorKind::Forbidden, ErrorKind::NotFound, ErrorKind::Invalid];
        prop_assert!(kinds.contains(&error.kind()), "{step:?}: {error}");
        prop_assert_eq!(operations(oneiro).len(), before, "{:?}: {}", step, error);
    }
    Ok(())
}

type States = BTreeMap<String, (String, String)>;

/// Status and statement of every memory.
fn states(memories: &[Memory]) -> States {
    let state = |memory: &Memory| (memory.status.as_str().to_owned(), memory.content.clone());
    memories.iter().map(|memory| (memory.id.to_string(), state(memory))).collect()
}

/// The same, from the operations alone.
fn replay(operations: &[Operation]) -> States {
    let mut states = States::new();
    for operation in operations {
        let id = operation.subject.id.clone();
        match operation.after.as_ref() {
            None => drop(states.remove(&id)),
            Some(after) => {
                let state = states.entry(id).or_default();
                let text = |name: &str| after.get(name).and_then(Value::as_str).map(str::to_owned);
                state.0 = text("status").unwrap_or(state.0.clone());
                state.1 = text("content").unwrap_or(state.1.clone());
            }
        }
    }
    states
}

pub fn assert_consistent(oneiro: &Oneiro) -> Result<(), TestCaseError> {
    for memory in all(oneiro, ListMemories::default()) {
        let is_superseded = memory.status == MemoryStatus::Superseded;
        prop_assert!(memory.superseded_by.is_none() || is_superseded, "{memory:?}");
        let is_active = memory.status == MemoryStatus::Active;
        prop_assert!(memory.suspended_by.is_none() || is_active, "{memory:?}");
        let why = oneiro.memories().why(memory.id.as_str(), &WhyRequest::default()).unwrap();
        let is_source = |kind: WhyKind| matches!(kind, WhyKind::Quote | WhyKind::Operation);
        prop_assert!(why.children.iter().any(|child| is_source(child.kind)), "{why:?}");
    }
    Ok(())
}

fn live(space: &TestSpace, steps: &[Step]) -> Result<(), TestCaseError> {
    let oneiro = open(space);
    begin(&oneiro, "chat");
    say(
        &oneiro,
        "chat",
        &CITIES.map(|city| format!("she lives in {city}")).each_ref().map(String::as_str),
    );
    let mut known: Vec<(Timestamp, States)> = Vec::new();
    for (second, step) in steps.iter().enumerate() {
        oneiro.clock.set(second as i64 * 60);
        act(&oneiro, step)?;
        assert_consistent(&oneiro)?;
        known.push((oneiro.now(), states(&all(&oneiro, ListMemories::default()))));
    }
    let recorded = operations(&oneiro);
    for (at, states_then) in &known {
        let until: Vec<Operation> = recorded.iter().filter(|it| it.at <= *at).cloned().collect();
        prop_assert_eq!(&replay(&until), states_then);
        let request = ListMemories { known_at: Some(*at), ..ListMemories::default() };
        prop_assert_eq!(&states(&all(&oneiro, request)), states_then);
    }
    // Undoing everything that stands, newest first and groups together, restores the beginning.
    let ann = person(&oneiro);
    let mut undone = 0;
    // Suspensions are judged again after each undo.
    let is_act = |it: &&Operation| {
        it.undone_by.is_none() && it.undoes.is_none() && it.kind != "memory.suspend"
    };
    while let Some(last) = operations(&oneiro).iter().rev().find(is_act) {
        undone += 1;
        prop_assert!(undone <= recorded.len(), "an undo leads to another: {last:?}");
        let group = last.group.as_ref().map(|group| group.as_str());
        ann.operations().undo(group.unwrap_or(last.id.as_str()), None).unwrap();
    }
    prop_assert!(all(&oneiro, ListMemories::default()).is_empty());
    Ok(())
}

proptest! {
    #![proptest_config(oneiro_testkit::proptest_config(24))]

    #[test]
    fn random_lives_on_sqlite(steps in proptest::collection::vec(step(), 1..40)) {
        live(&TestSpace::new(Backend::Sqlite), &steps)?;
    }
}

proptest! {
    #![proptest_config(oneiro_testkit::proptest_config(6))]

    #[test]
    fn random_lives_on_postgres(steps in proptest::collection::vec(step(), 1..40)) {
        live(&TestSpace::new(Backend::Postgres), &steps)?;
    }
}
