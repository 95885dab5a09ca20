//! The beginning of a window stays, byte for byte, or the window says that it broke and what that
//! costs: over any sequence of what happens to a session.

use crate::context_mixes::{Said, messages, said};
use crate::context_support::{agent, begin, calls, live, prose, result, until, user};
use crate::support::{Fixed, id as sid, new, open};
use oneiro::{BreakReason, NewMessage, Role, SessionId, Window, WindowFormat, WindowRequest};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use proptest::prelude::*;
use serde_json::Value;

#[derive(Debug, Clone)]
enum Event {
    Say(Said),
    Compact(usize),
    Pin(usize),
    Unpin(usize),
    Rewind(usize),
    Restore,
    Prompt(u8),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        16 => said().prop_map(Event::Say),
        1 => (300..4_000_usize).prop_map(Event::Compact),
        1 => (0..40_usize).prop_map(Event::Pin),
        1 => (0..40_usize).prop_map(Event::Unpin),
        1 => (1..4_usize).prop_map(Event::Rewind),
        1 => Just(Event::Restore),
        1 => any::<u8>().prop_map(Event::Prompt),
    ]
}

fn happen(oneiro: &Fixed, id: &SessionId, event: &Event, at: u64) {
    let nth = |at: usize| live(oneiro, id).get(at).map(|message| message.id);
    match event {
        Event::Say(said) => drop(oneiro.host().append(id, messages(said, at), None).unwrap()),
        Event::Compact(goal) => drop(until(oneiro, id, *goal)),
        Event::Pin(at) => {
            let _ = nth(*at).map(|message| oneiro.messages().pin(id, message).unwrap());
        }
        Event::Unpin(at) => {
            let _ = nth(*at).map(|message| oneiro.messages().unpin(id, message).unwrap());
        }
        // There may be fewer turns than that.
        Event::Rewind(turns) => drop(oneiro.sessions().rewind(
            id,
            oneiro::RewindRequest { turns: Some(*turns), ..oneiro::RewindRequest::default() },
        )),
        Event::Restore => {
            oneiro.sessions().restore(id, oneiro::RestoreRequest { all: false }).unwrap();
        }
        Event::Prompt(number) => {
            let system_prompt = Some(Some(format!("You are agent number {}.", number % 3)));
            let patch = oneiro::SessionPatch { system_prompt, ..oneiro::SessionPatch::default() };
            oneiro.sessions().change(id, patch).unwrap();
        }
    }
}

/// Whether one window begins with another, as its provider reads it.
fn begins_with(window: &Window, before: &Window, format: WindowFormat) -> bool {
    match format {
        WindowFormat::Openai => window.messages.starts_with(&before.messages),
        WindowFormat::Text => {
            let text = |window: &Window| window.text.clone().unwrap_or_default();
            text(window).starts_with(text(before).trim_end())
        }
        WindowFormat::Anthropic => {
            window.system == before.system && blocks(window).starts_with(&blocks(before))
        }
    }
}

/// The blocks of Anthropic's messages with their roles: a last message may grow.
fn blocks(window: &Window) -> Vec<(Value, Value)> {
    let of = |message: &Value| {
        let content = match &message["content"] {
            Value::Array(blocks) => blocks.clone(),
            text => vec![serde_json::json!({"type": "text", "text": text})],
        };
        content.into_iter().map(|block| (message["role"].clone(), block)).collect::<Vec<_>>()
    };
    window.messages.iter().flat_map(of).collect()
}

fn assert_prefix_rules(
    oneiro: &Fixed,
    number: usize,
    (events, budget, format): (&[Event], usize, WindowFormat),
) {
    let id = sid(&format!("prefix-{number}"));
    oneiro.sessions().create(new(id.as_str())).unwrap();
    let request = WindowRequest { budget, format, ..WindowRequest::default() };
    let mut before: Option<Window> = None;
    for (at, event) in events.iter().enumerate() {
        happen(oneiro, &id, event, at as u64);
        let window = oneiro.context().window(&id, &request).unwrap();
        if let Some(before) = before {
            let goes_on = begins_with(&window, &before, format);
            let told =
                format!("event {at}, {format:?} of {budget}: {event:?}, broke: {:?}", window.broke);
            assert!(goes_on || window.broke.is_some(), "an untold break: {told}");
            assert_eq!(window.broke.is_none(), window.prefix_hash == before.prefix_hash, "{told}");
            if let Some(broke) = &window.broke {
                assert!(
                    broke.tokens > 0 || window.messages.len() <= 1,
                    "a break costs something: {told}"
                );
                let expected = match event {
                    Event::Compact(_) => vec![BreakReason::Compaction, BreakReason::Step],
                    Event::Pin(_) | Event::Unpin(_) => {
                        vec![BreakReason::Pin, BreakReason::Step, BreakReason::Compaction]
                    }
                    Event::Rewind(_) | Event::Restore => {
                        vec![BreakReason::History, BreakReason::Step, BreakReason::Compaction]
                    }
                    Event::Prompt(_) => {
                        vec![BreakReason::Prompt, BreakReason::Step, BreakReason::Compaction]
                    }
                    // A window that has outgrown its budget compacts at once; a result that comes
                    // late changes what its call was shown with.
                    Event::Say(Said::Late(_)) => {
                        vec![BreakReason::Step, BreakReason::Compaction, BreakReason::History]
                    }
                    Event::Say(_) => {
                        vec![BreakReason::Step, BreakReason::Compaction, BreakReason::History]
                    }
                };
                assert!(expected.contains(&broke.reason), "{told}");
            }
        }
        // A window without a message is the beginning of any: a test of its own.
        let spoken = |window: &Window| {
            window.text.is_some() || window.messages.iter().any(|m| m["role"] != "system")
        };
        before = Some(window).filter(|window| spoken(window) && !live(oneiro, &id).is_empty());
    }
}

fn assert_every_sequence_keeps_its_prefix(backend: Backend, cases: u32) {
    let space = TestSpace::new(backend);
    let oneiro = open(&space);
    let number = std::cell::Cell::new(0);
    let mut config = oneiro_testkit::proptest_config(cases);
    config.failure_persistence = None;
    config.max_shrink_iters = 200;
    let format = prop_oneof![
        Just(WindowFormat::Openai),
        Just(WindowFormat::Anthropic),
        Just(WindowFormat::Text)
    ];
    let budget = prop_oneof![Just(700_usize), Just(3_000), Just(5_000), Just(60_000)];
    proptest!(config, |(events in proptest::collection::vec(event(), 1..40), budget in budget, format in format)| {
        number.set(number.get() + 1);
        assert_prefix_rules(&oneiro, number.get(), (&events, budget, format));
    });
}

#[test]
fn a_beginning_stays_or_its_break_is_told_on_sqlite() {
    assert_every_sequence_keeps_its_prefix(Backend::Sqlite, 48);
}

#[test]
fn a_beginning_stays_or_its_break_is_told_on_postgres() {
    assert_every_sequence_keeps_its_prefix(Backend::Postgres, 12);
}

on_both_backends! {
    /// A result that came late is a reason for a break once, not for every break after it.
    fn a_changed_prompt_is_the_reason_even_after_a_late_result(space) {
        let oneiro = open(space);
        let late = [
            Event::Say(Said::Tools(vec![None])),
            Event::Say(Said::User(1)),
            Event::Say(Said::Late(0)),
            Event::Prompt(0),
        ];
        assert_prefix_rules(&oneiro, 1, (&late, 700, WindowFormat::Openai));
    }
}

fn window(oneiro: &Fixed, id: &SessionId, (budget, reserve): (usize, usize)) -> Window {
    let request = WindowRequest { budget, reserve, ..WindowRequest::default() };
    oneiro.context().window(id, &request).unwrap()
}

fn turns(from: u64, to: u64) -> Vec<NewMessage> {
    (from..to).flat_map(|at| [user(prose(at, 60)), agent(prose(at + 99, 60))]).collect()
}

on_both_backends! {
    // The call was shown without its result; now it has one, in the middle of what was sent.
    fn a_result_that_comes_late_is_a_break_that_is_told(space) {
        for format in [WindowFormat::Openai, WindowFormat::Anthropic, WindowFormat::Text] {
            let space = &TestSpace::new(space.backend);
            let oneiro = open(space);
            let id = begin(&oneiro, "s", vec![
                user("Look it up."), calls(&["c1", "c2"], "I do."), result("c1", "found one"),
                user("Never mind, go on."), agent("I go on."),
            ]);
            let request = WindowRequest { format, ..WindowRequest::default() };
            let before = oneiro.context().window(&id, &request).unwrap();
            oneiro.messages().append(&id, vec![result("c2", "found the other"), agent("There it is.")]).unwrap();
            let after = oneiro.context().window(&id, &request).unwrap();
            let goes_on = begins_with(&after, &before, format);
            assert!(goes_on || after.broke.is_some(), "{format:?}: an untold break");
            assert!(goes_on || after.prefix_hash != before.prefix_hash);
        }
    }

    fn a_rewind_is_a_break_that_is_told(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 10));
        window(&oneiro, &id, (3_000, 0));
        oneiro.sessions().rewind(&id, oneiro::RewindRequest { turns: Some(2), ..oneiro::RewindRequest::default() }).unwrap();
        oneiro.messages().append(&id, turns(50, 52)).unwrap();
        let broke = window(&oneiro, &id, (3_000, 0)).broke;
        assert!(broke.is_some_and(|broke| broke.reason == BreakReason::History), "an untold break");
    }

    fn an_empty_window_is_the_beginning_of_any(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", Vec::new());
        assert!(window(&oneiro, &id, (3_000, 0)).messages.is_empty());
        oneiro.messages().append(&id, vec![user("hello")]).unwrap();
        assert_eq!(window(&oneiro, &id, (3_000, 0)).broke, None);
    }

    // A host computes its reserve again for every prompt.
    fn a_reserve_that_changes_a_little_keeps_the_beginning_or_says_so(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 100));
        let mut before = window(&oneiro, &id, (3_000, 500));
        let mut breaks = 0;
        for at in 0..12 {
            oneiro.messages().append(&id, vec![agent(format!("one more word {at}"))]).unwrap();
            let after = window(&oneiro, &id, (3_000, 500 + at % 3));
            let goes_on = after.messages.starts_with(&before.messages);
            assert!(goes_on || after.broke.is_some(), "step {at}: an untold break");
            breaks += usize::from(!goes_on);
            before = after;
        }
        assert!(breaks <= 3, "{breaks} breaks for a few tokens");
    }

    // Two ways to ask for the same room must not make each other's windows small.
    fn budgets_that_leave_the_same_room_do_not_starve_each_other(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 150));
        for at in 0..12 {
            for (budget, reserve) in [(3_000, 0), (6_000, 3_000), (30_000, 27_000)] {
                let window = window(&oneiro, &id, (budget, reserve));
                assert!(window.tokens <= 3_000);
                assert!(window.tokens * 2 >= 3_000, "round {at}, {budget} - {reserve}: only {} tokens", window.tokens);
            }
            oneiro.messages().append(&id, turns(200 + at, 202 + at)).unwrap();
        }
    }

    fn a_peek_leaves_no_trace(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 100));
        let before = window(&oneiro, &id, (3_000, 0));
        oneiro.messages().append(&id, turns(100, 140)).unwrap();
        let dump = crate::support::dump(&oneiro);
        let request = WindowRequest { budget: 3_000, peek: true, ..WindowRequest::default() };
        let (one, two) = (oneiro.context().window(&id, &request).unwrap(), oneiro.context().window(&id, &request).unwrap());
        assert_eq!(one.messages, two.messages);
        assert_eq!(one.broke, two.broke);
        assert_eq!(crate::support::dump(&oneiro), dump);
        assert!(before.broke.is_none() && one.messages.last().unwrap()["role"] == Role::Assistant.as_str());
    }
}
