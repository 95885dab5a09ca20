//! A window is the best frontier of the summaries for its budget: a smaller window takes nothing from
//! a larger one, and looking changes nothing that another look can notice.

use crate::context_mixes::{Said, messages, said};
use crate::context_support::{agent, begin, in_reach, live, prose, shown_in, until, user};
use crate::support::{Fixed, id as sid, open};
use oneiro::{ContextScope, NewMessage, SessionId, Window, WindowRequest};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use proptest::prelude::*;
use serde_json::Value;

/// Talk in turns of two short messages.
fn chat(from: u64, to: u64) -> Vec<NewMessage> {
    (from..to).flat_map(|at| [user(prose(at, 35)), agent(prose(at + 10_000, 35))]).collect()
}

fn look(oneiro: &Fixed, id: &SessionId, budget: usize) -> Window {
    let request = WindowRequest { budget, explain: true, ..WindowRequest::default() };
    oneiro.context().window(id, &request).unwrap()
}

/// Looks that prepare nothing, after which nothing is left to prepare.
const LOOKS_WITHOUT_CHANGE: usize = 3;

/// Looks until nothing is left to prepare: one look stops after a while.
fn prepare(oneiro: &Fixed, id: &SessionId) {
    let roots = || {
        let summaries = oneiro.context().summaries(id).unwrap();
        let roots = summaries.into_iter().filter(|summary| summary.in_context);
        roots.map(|summary| summary.id).collect::<Vec<_>>()
    };
    // On a busy machine a look may end before it has made anything.
    let mut unchanged = 0;
    while unchanged < LOOKS_WITHOUT_CHANGE {
        let before = roots();
        look(oneiro, id, 500);
        unchanged = if roots() == before { unchanged + 1 } else { 0 };
    }
}

/// What a window shows, apart from ids: its messages, and what each of its summaries covers.
fn shape(oneiro: &Fixed, window: &Window) -> (Vec<String>, Vec<(i64, i64)>) {
    let ids = regex::Regex::new("[0-9]+").unwrap();
    let text = |message: &Value| ids.replace_all(&message.to_string(), "ID").into_owned();
    let messages = window.messages.iter().filter(|message| message["role"] != "system").map(text);
    let summaries = window.summaries.iter().map(|id| {
        let found = oneiro.context().look_up(id.as_str(), &ContextScope::Space).unwrap();
        let oneiro::LookedUp::Summary(summary) = found else { panic!("{found:?}") };
        (summary.depth, summary.message_count)
    });
    (messages.collect(), summaries.collect())
}

fn assert_filled(window: &Window, percent: usize) {
    let is_complete = window.summaries.is_empty() && window.omitted.messages == 0;
    assert!(
        is_complete || window.tokens * 100 >= window.budget * percent,
        "{} of {} tokens",
        window.tokens,
        window.budget
    );
}

on_both_backends! {
    fn a_small_window_takes_nothing_from_a_large_one(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", chat(0, 210));
        let before = look(&oneiro, &id, 100_000);
        assert_eq!(before.messages.len(), 420);
        let small = look(&oneiro, &id, 4_000);
        assert!(!small.summaries.is_empty() && small.tokens <= 4_000);
        let after = look(&oneiro, &id, 100_000);
        assert_eq!(after.messages, before.messages);
        assert!(after.broke.is_none());
        oneiro.context().compact(&id, &oneiro::CompactRequest::default()).unwrap();
        assert_eq!(look(&oneiro, &id, 100_000).messages, before.messages);
    }

    fn a_window_of_the_goal_of_a_compaction_is_what_the_compaction_says(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", chat(0, 210));
        for goal in [2_000, 3_000, 8_000] {
            let done = until(&oneiro, &id, goal);
            assert_eq!(done.stopped, "under");
            let window = look(&oneiro, &id, goal);
            assert_eq!(window.tokens, done.tokens_after);
            assert_eq!(window.omitted.messages, 0, "{:?}", window.omitted);
            assert_filled(&window, 85);
            assert!(shown_in(&window).len() > 4, "the newest messages are shown");
        }
    }

    fn small_windows_of_turns_of_every_length_are_filled(space) {
        let oneiro = open(space);
        let lengths = [12, 40, 700, 9, 160, 60, 1_400, 25, 300, 80];
        let said = (0..420).flat_map(|at| {
            let length = lengths[at % lengths.len()];
            [user(prose(at as u64, length / 3 + 5)), agent(prose(at as u64 + 10_000, length))]
        });
        let id = begin(&oneiro, "s", said.collect());
        prepare(&oneiro, &id);
        for budget in [1_200, 2_500, 2_800, 3_000, 3_500, 6_000] {
            let window = look(&oneiro, &id, budget);
            assert!(window.tokens <= budget);
            assert_filled(&window, 85);
        }
    }

    fn a_larger_window_shows_every_message_of_a_smaller_one(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", chat(0, 400));
        prepare(&oneiro, &id);
        let mut before = shown_in(&look(&oneiro, &id, 1_500));
        for budget in [2_000, 2_500, 3_500, 5_000, 8_000, 12_000, 20_000, 40_000, 100_000] {
            let window = look(&oneiro, &id, budget);
            assert!(window.tokens <= budget);
            assert_filled(&window, 85);
            let shown = shown_in(&window);
            assert!(shown.is_superset(&before), "at {budget}");
            before = shown;
        }
        assert_eq!(before.len(), 800);
    }

    fn a_step_leaves_a_quarter_free(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", chat(0, 40));
        let (mut steps, mut at) = (0, 40);
        while steps < 5 {
            oneiro.messages().append(&id, chat(at, at + 1)).unwrap();
            at += 1;
            assert!(at < 2_000, "{steps} steps");
            let window = look(&oneiro, &id, 6_000);
            assert!(window.tokens <= 6_000);
            if window.broke.is_some() {
                steps += 1;
                let percent = window.tokens / 60;
                assert!((70..=80).contains(&percent), "{percent} % after a step");
            }
        }
    }

    // Two processes with windows of their own do not disturb each other.
    fn windows_of_two_budgets_keep_their_beginnings(space) {
        let (one, two) = (open(space), open(space));
        let id = begin(&one, "s", chat(0, 200));
        prepare(&one, &id);
        let (mut small, mut large) = (look(&one, &id, 4_000), look(&two, &id, 12_000));
        let mut breaks = 0;
        for at in 200..230 {
            one.messages().append(&id, chat(at, at + 1)).unwrap();
            let (next_small, next_large) = (look(&one, &id, 4_000), look(&two, &id, 12_000));
            for (before, next) in [(&small, &next_small), (&large, &next_large)] {
                let goes_on = next.messages.starts_with(&before.messages);
                assert_eq!(goes_on, next.broke.is_none());
                breaks += usize::from(!goes_on);
            }
            (small, large) = (next_small, next_large);
        }
        assert!(breaks <= 8, "{breaks} breaks");
    }

    fn every_message_is_in_one_place(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", chat(0, 300));
        prepare(&oneiro, &id);
        for budget in [1_500, 3_000, 9_000] {
            let window = look(&oneiro, &id, budget);
            let items = window.items.as_ref().unwrap().iter();
            let mut places: Vec<(i64, i64)> = items
                .filter(|item| item.kind == "messages" || item.kind == "message")
                .map(|item| {
                    let first = item.id.as_ref().and_then(Value::as_i64).unwrap();
                    (first, item.last.map_or(first, |last| last.0))
                })
                .collect();
            places.sort_unstable();
            assert!(places.windows(2).all(|pair| pair[0].1 < pair[1].0), "{places:?}");
            let found = in_reach(&oneiro, &id, &window);
            assert_eq!(found.len(), live(&oneiro, &id).len());
        }
    }
}

/// Something that happens to one of two sessions with the same messages.
#[derive(Debug, Clone)]
enum Event {
    Say(Vec<Said>),
    Look(usize),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let budget = prop_oneof![Just(800_usize), Just(1_500), Just(4_000), Just(15_000)];
    let event = prop_oneof![
        2 => proptest::collection::vec(said(), 1..12).prop_map(Event::Say),
        2 => budget.prop_map(Event::Look),
    ];
    proptest::collection::vec(event, 1..16)
}

fn assert_looks_are_not_noticed(backend: Backend, cases: u32) {
    let space = TestSpace::new(backend);
    let oneiro = open(&space);
    // Message ids of four to six digits are two tokens, so that windows of two sessions cost the same.
    begin(&oneiro, "earlier", (0..1_000).map(|at| user(at.to_string())).collect());
    let number = std::cell::Cell::new(0);
    let mut config = oneiro_testkit::proptest_config(cases);
    config.failure_persistence = None;
    config.max_shrink_iters = 200;
    let budget = prop_oneof![Just(1_100_usize), Just(2_700), Just(7_000)];
    proptest!(config, |(events in events(), budget in budget)| {
        number.set(number.get() + 1);
        let looked = sid(&format!("a-{}", number.get()));
        let fresh = sid(&format!("b-{}", number.get()));
        for id in [&looked, &fresh] {
            oneiro.sessions().create(oneiro::NewSession::with_id(id.clone())).unwrap();
        }
        for (at, event) in events.iter().enumerate() {
            match event {
                Event::Say(all) => {
                    let at = at as u64 * 100;
                    let said = all.iter().zip(at..).flat_map(|(one, at)| messages(one, at));
                    let said: Vec<NewMessage> = said.collect();
                    for id in [&looked, &fresh] {
                        oneiro.host().append(id, said.clone(), None).unwrap();
                    }
                }
                Event::Look(budget) => drop(look(&oneiro, &looked, *budget)),
            }
        }
        for id in [&looked, &fresh] {
            prepare(&oneiro, id);
        }
        let (one, two) = (look(&oneiro, &looked, budget), look(&oneiro, &fresh, budget));
        prop_assert_eq!(shape(&oneiro, &one), shape(&oneiro, &two));
    });
}

#[test]
fn a_window_does_not_depend_on_the_looks_before_on_sqlite() {
    assert_looks_are_not_noticed(Backend::Sqlite, 48);
}

#[test]
fn a_window_does_not_depend_on_the_looks_before_on_postgres() {
    assert_looks_are_not_noticed(Backend::Postgres, 8);
}
