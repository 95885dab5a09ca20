//! Windows never pass their budget but for the newest turn, and lead to everything they leave out.

use crate::context_mixes::{Said, messages, said};
use crate::context_support::{
    agent, begin, calls, in_reach, live, peek, picture, prose, result, shown_in, until, user,
};
use crate::support::{Fixed, id as sid, new, open};
use oneiro::{
    ErrorKind, ItemPlace, Message, NewMessage, NewSession, Role, SessionId, Window, WindowFormat,
    WindowRequest,
};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The newest turn: from the last thing that the person said on; all of it where nobody did.
fn newest_turn(oneiro: &Fixed, id: &SessionId) -> Vec<i64> {
    let live = live(oneiro, id);
    let is_said = |m: &Message| m.body.get("content").is_some_and(|content| content != "");
    let from = live.iter().rposition(|m| m.role == Role::User && is_said(m)).unwrap_or(0);
    live[from..].iter().map(|m| m.id.0).collect()
}

/// A window is what it says: within budget, or over it by its newest turn alone.
fn assert_within_budget(oneiro: &Fixed, id: &SessionId, request: &WindowRequest) {
    let request = WindowRequest { explain: true, peek: true, ..*request };
    let window = oneiro.context().window(id, &request).unwrap();
    let limit = request.budget - request.reserve;
    assert_eq!(window.over_budget, window.tokens.checked_sub(limit).filter(|over| *over > 0));
    let shown = shown_in(&window);
    if window.over_budget.is_some() {
        // A pin or two may be dear; how dear all of them may be is a test of its own.
        let mut newest = newest_turn(oneiro, id);
        let pinned = oneiro.messages().pinned(id).unwrap();
        newest.extend(pinned.iter().take(3).map(|message| message.id.0));
        let more: Vec<&i64> = shown.iter().filter(|seq| !newest.contains(seq)).collect();
        assert!(
            more.is_empty(),
            "over budget with {more:?} besides the newest turn: {}",
            told(&window)
        );
    }
    // What is handed out costs no more than it says.
    if let Some(text) = &window.text {
        let tools = tools_tokens(&window);
        let real = oneiro_count::tokens(text) + tools;
        assert!(
            real <= window.tokens,
            "{real} tokens of text, {} told: {}",
            window.tokens,
            told(&window)
        );
    }
    let found = in_reach(oneiro, id, &window);
    let lost: Vec<i64> =
        live(oneiro, id).iter().map(|m| m.id.0).filter(|seq| !found.contains(seq)).collect();
    assert!(lost.is_empty(), "{lost:?} are out of reach: {}", told(&window));
    assert_agrees(&window);
}

fn told(window: &Window) -> String {
    format!(
        "{} of {} - {}, {:?}, {} summaries",
        window.tokens,
        window.budget,
        window.reserve,
        window.omitted,
        window.summaries.len()
    )
}

fn tools_tokens(window: &Window) -> usize {
    let items = window.items.as_ref().unwrap().iter();
    items.filter(|item| item.kind == "tools").map(|item| item.tokens).sum()
}

/// What the window explains is what it is.
fn assert_agrees(window: &Window) {
    let items = window.items.as_ref().unwrap();
    let summaries: Vec<&str> = items
        .iter()
        .filter(|i| i.kind == "summary")
        .filter_map(|i| i.id.as_ref()?.as_str())
        .collect();
    assert_eq!(summaries, window.summaries.iter().map(|id| id.as_str()).collect::<Vec<_>>());
    let out: Vec<_> = items.iter().filter(|item| item.place == ItemPlace::Out).collect();
    assert_eq!(out.len(), usize::from(window.omitted.messages > 0));
    for run in out {
        assert_eq!(run.id.as_ref().and_then(Value::as_i64), window.omitted.first.map(|id| id.0));
        assert_eq!((run.last, run.tokens), (window.omitted.last, window.omitted.tokens));
    }
}

/// What is explained to be in costs no more than the window.
fn assert_sums_up(window: &Window) {
    let items = window.items.as_ref().unwrap().iter().filter(|item| item.place == ItemPlace::In);
    let inside: usize = items.map(|item| item.tokens).sum();
    assert!(inside <= window.tokens, "items cost {inside}, the window {}", window.tokens);
}

#[derive(Debug, Clone)]
struct Mix {
    said: Vec<Said>,
    prompt: usize,
    tools: usize,
    budget: usize,
    reserve: usize,
    compact_at: Option<(usize, usize)>,
    pins: Vec<usize>,
    format: WindowFormat,
}

fn mix() -> impl Strategy<Value = Mix> {
    let format = prop_oneof![
        Just(WindowFormat::Openai),
        Just(WindowFormat::Anthropic),
        Just(WindowFormat::Text)
    ];
    let compact = proptest::option::of((1..40_usize, 300..6_000_usize));
    (
        proptest::collection::vec(said(), 0..40),
        (prop_oneof![Just(0_usize), 1..300_usize], prop_oneof![Just(0_usize), 1..20_usize]),
        (prop_oneof![1..400_usize, 400..4_000_usize, 4_000..40_000_usize], 0..50_usize),
        compact,
        proptest::collection::vec(0..40_usize, 0..3),
        format,
    )
        .prop_map(|(said, (prompt, tools), (budget, percent), compact_at, pins, format)| Mix {
            said,
            prompt,
            tools,
            budget,
            reserve: budget * percent / 100,
            compact_at,
            pins,
            format,
        })
}

fn assert_mix_fits(oneiro: &Fixed, number: usize, mix: &Mix) {
    let id = sid(&format!("mix-{number}"));
    let tool = |at: usize| json!({"type": "function", "function": {"name": format!("tool_{at}"), "description": prose(at as u64, 30)}});
    let tools: Vec<Value> = (0..mix.tools).map(tool).collect();
    oneiro
        .sessions()
        .create(NewSession {
            system_prompt: (mix.prompt > 0).then(|| prose(1, mix.prompt)),
            model_config: (mix.tools > 0).then(|| json!({"tools": tools})),
            ..new(id.as_str())
        })
        .unwrap();
    let request = WindowRequest {
        budget: mix.budget,
        reserve: mix.reserve,
        format: mix.format,
        ..WindowRequest::default()
    };
    for (at, said) in mix.said.iter().enumerate() {
        oneiro.host().append(&id, messages(said, at as u64), None).unwrap();
        if let Some((when, goal)) = mix.compact_at
            && at == when
        {
            until(oneiro, &id, goal);
            assert_within_budget(oneiro, &id, &request);
        }
    }
    let there = live(oneiro, &id);
    for pin in &mix.pins {
        if let Some(message) = there.get(*pin) {
            oneiro.messages().pin(&id, message.id).unwrap();
        }
    }
    assert_within_budget(oneiro, &id, &request);
    oneiro.context().window(&id, &request).unwrap();
    assert_within_budget(oneiro, &id, &request);
}

fn assert_every_mix_fits(backend: Backend, cases: u32) {
    let space = TestSpace::new(backend);
    let oneiro = open(&space);
    let number = std::cell::Cell::new(0);
    let mut config = oneiro_testkit::proptest_config(cases);
    config.failure_persistence = None;
    config.max_shrink_iters = 60;
    proptest!(config, |(mix in mix())| {
        number.set(number.get() + 1);
        assert_mix_fits(&oneiro, number.get(), &mix);
    });
    assert!(oneiro.check().unwrap().ok);
}

#[test]
fn any_mix_is_within_its_budget_and_in_reach_on_sqlite() {
    assert_every_mix_fits(Backend::Sqlite, 64);
}

#[test]
fn any_mix_is_within_its_budget_and_in_reach_on_postgres() {
    assert_every_mix_fits(Backend::Postgres, 24);
}

on_both_backends! {
    // However long it is: a turn that is cut has lost the question it answers.
    fn the_newest_turn_is_never_split(space) {
        let oneiro = open(space);
        let mut said = vec![user("old"), agent("older"), user("The question that all of it is about.")];
        for step in 0..60 {
            let call = format!("c{step}");
            said.push(calls(&[&call], "On it."));
            said.push(result(&call, prose(step, 400)));
        }
        let id = begin(&oneiro, "s", said);
        for budget in [20_000, 6_000, 3_000, 1_000, 200] {
            let window = peek(&oneiro, &id, budget);
            let shown = shown_in(&window);
            let newest: Vec<i64> = live(&oneiro, &id)[2..].iter().map(|m| m.id.0).collect();
            let lost = newest.iter().filter(|seq| !shown.contains(seq)).count();
            assert_eq!(lost, 0, "budget {budget}: {lost} of the newest turn are not shown, {}", told(&window));
            assert!(window.over_budget.is_some() || window.tokens <= budget);
        }
    }

    fn a_call_stays_with_its_result_where_nobody_speaks(space) {
        let oneiro = open(space);
        let mut said = Vec::new();
        for step in 0..6 {
            let call = format!("c{step}");
            said.push(calls(&[&call], "On it."));
            said.push(result(&call, prose(step, 900)));
        }
        let id = begin(&oneiro, "s", said);
        for budget in [20_000, 1_500, 700, 300] {
            let window = peek(&oneiro, &id, budget);
            assert!(window.omitted.unpaired.is_empty(), "budget {budget}: {}", told(&window));
            assert!(window.messages.iter().any(|m| m["role"] == "tool"), "budget {budget}: nothing is shown");
        }
    }

    fn pins_do_not_push_a_window_over_its_budget(space) {
        let oneiro = open(space);
        let said: Vec<NewMessage> = (0..60).flat_map(|at| [user(prose(at, 300)), agent(prose(at + 99, 300))]).collect();
        let id = begin(&oneiro, "s", said);
        for message in live(&oneiro, &id).iter().take(40) {
            oneiro.messages().pin(&id, message.id).unwrap();
        }
        for budget in [4_000, 2_000, 1_000] {
            assert_within_budget(&oneiro, &id, &WindowRequest { budget, ..WindowRequest::default() });
        }
    }

    fn many_summaries_do_not_push_a_window_over_its_budget(space) {
        let oneiro = open(space);
        oneiro.settings().set("leaf_chunk_tokens", Some(json!(500))).unwrap();
        oneiro.settings().set("condensed_min_fanout", Some(json!(1_000))).unwrap();
        let said: Vec<NewMessage> = (0..200).flat_map(|at| [user(prose(at, 200)), agent(prose(at + 99, 200))]).collect();
        let id = begin(&oneiro, "s", said);
        oneiro.context().compact(&id, &oneiro::CompactRequest::default()).unwrap();
        assert!(oneiro.context().summaries(&id).unwrap().len() > 80);
        for budget in [20_000, 4_000, 2_000] {
            assert_within_budget(&oneiro, &id, &WindowRequest { budget, ..WindowRequest::default() });
        }
    }

    fn what_is_explained_sums_up(space) {
        let oneiro = open(space);
        oneiro.settings().set("leaf_chunk_tokens", Some(json!(500))).unwrap();
        let said: Vec<NewMessage> = (0..60).flat_map(|at| [user(prose(at, 200)), agent(prose(at + 99, 200))]).collect();
        let id = begin(&oneiro, "s", said);
        oneiro.context().compact(&id, &oneiro::CompactRequest::default()).unwrap();
        let pinned = live(&oneiro, &id)[0].id;
        oneiro.messages().pin(&id, pinned).unwrap();
        for budget in [100_000, 8_000, 3_000] {
            let window = peek(&oneiro, &id, budget);
            assert_sums_up(&window);
            let items = window.items.unwrap();
            let pin = items.iter().find(|item| item.id == Some(json!(pinned.0))).unwrap();
            assert!(pin.tokens > 0, "a pinned message costs something");
        }
    }

    fn pinned_messages_are_in_every_window_once(space) {
        let oneiro = open(space);
        let said: Vec<NewMessage> = (0..60).flat_map(|at| [user(format!("Turn {at}. {}", prose(at, 100))), agent(prose(at + 99, 100))]).collect();
        let id = begin(&oneiro, "s", said);
        let first = live(&oneiro, &id)[0].id;
        oneiro.messages().pin(&id, first).unwrap();
        for goal in [100_000, 4_000, 1_500] {
            until(&oneiro, &id, goal);
            for budget in [2_000, 100_000] {
                let window = peek(&oneiro, &id, budget);
                let text = serde_json::to_string(&window.messages).unwrap();
                assert!(text.contains("Turn 0."), "budget {budget}");
                assert!(window.tokens <= budget);
            }
        }
        assert!(!oneiro.messages().pin(&id, first).unwrap());
        assert!(oneiro.messages().unpin(&id, first).unwrap());
        let other = begin(&oneiro, "t", vec![user("elsewhere")]);
        let theirs = live(&oneiro, &other)[0].id;
        assert_eq!(oneiro.messages().pin(&id, theirs).unwrap_err().kind(), ErrorKind::NotFound);
    }

    // An ignored session does not exist; a stateless one has an empty window.
    fn ignored_and_stateless_sessions_are_answered_not_feared(space) {
        let oneiro = open(space);
        oneiro.settings().set("ignore_session_patterns", Some(json!(["ignored"]))).unwrap();
        oneiro.settings().set("stateless_session_patterns", Some(json!(["cron:*"]))).unwrap();
        let ignored = sid("ignored");
        let request = WindowRequest::default();
        assert_eq!(oneiro.context().window(&ignored, &request).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(oneiro.context().compact(&ignored, &oneiro::CompactRequest::default()).unwrap_err().kind(), ErrorKind::NotFound);
        let cron = begin(&oneiro, "cron:1", vec![user("not kept")]);
        let window = oneiro.context().window(&cron, &request).unwrap();
        assert!(window.messages.is_empty() && window.tokens == 0);
        assert!(until(&oneiro, &cron, 10).created.is_empty());
    }

    // Text beside calls and beside a picture is kept.
    fn text_beside_calls_and_pictures_is_shown(space) {
        let oneiro = open(space);
        let picture_with_words = NewMessage::from_json(json!({"role": "user", "content": [
            {"type": "text", "text": "What is on this picture?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]})).unwrap();
        let id = begin(&oneiro, "s", vec![
            picture_with_words, calls(&["c1"], "Let me look at it."), result("c1", "a heron"), agent("A heron."), picture(),
        ]);
        for format in [WindowFormat::Openai, WindowFormat::Anthropic, WindowFormat::Text] {
            let window = oneiro.context().window(&id, &WindowRequest { format, ..WindowRequest::default() }).unwrap();
            let text = format!("{}{}", serde_json::to_string(&window.messages).unwrap(), window.text.unwrap_or_default());
            for words in ["What is on this picture?", "Let me look at it.", "a heron"] {
                assert!(text.contains(words), "{format:?}: {words}");
            }
            assert!(format == WindowFormat::Text || text.matches("iVBORw0KGgo").count() >= 2, "fresh images are visible");
        }
    }

    fn ten_thousand_messages(space) {
        let oneiro = open(space);
        let said = (0..5_000).flat_map(|at| [user(format!("Turn {at}. The plan costs {at} euros.")), agent(format!("Noted {at} in plans/{at}.md."))]);
        let id = begin(&oneiro, "s", said.collect());
        for budget in [1_000, 30_000] {
            let window = peek(&oneiro, &id, budget);
            assert!(window.tokens <= budget);
            assert_eq!(shown_in(&window).len() + window.omitted.messages, 10_000);
        }
        let done = until(&oneiro, &id, 12_000);
        assert_eq!(done.stopped, "under");
        let window = peek(&oneiro, &id, 12_500);
        assert_eq!(window.omitted.messages, 0);
        assert_eq!(in_reach(&oneiro, &id, &window).len(), 10_000);
        assert!(oneiro.check().unwrap().ok);
    }
}
