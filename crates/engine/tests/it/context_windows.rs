//! Windows: within budget, whole turns, everything reachable, and a beginning that stays.

use crate::context_support::{begin, by_hand, peek, shown_in, user};
use crate::support::{NOW, id as sid, open as fixed};
use oneiro::{
    BreakReason, CompactRequest, ContextScope, EXPAND_TOKENS, ExpandRequest, ExpandWhat,
    NewMessage, Oneiro, Role, SessionId, Span, Window, WindowFormat, WindowRequest,
};
use oneiro_testkit::on_both_backends;
use std::collections::BTreeSet;

/// Talk of some turns; every message tells its number and a topic of its own.
pub fn talk(oneiro: &Oneiro, id: &SessionId, turns: usize) {
    oneiro.sessions().create(oneiro::NewSession::with_id(id.clone())).unwrap();
    say(oneiro, id, (0, turns));
}

pub fn say(oneiro: &Oneiro, id: &SessionId, (from, to): (usize, usize)) {
    let topics =
        ["kayak", "sourdough", "visa", "violin", "garden", "server", "invoice", "marathon"];
    let said = (from..to).flat_map(|turn| {
        let topic = topics[turn % topics.len()];
        let at = NOW.plus(Span::seconds(turn as i64 * 60));
        [
            NewMessage::text(
                Role::User,
                format!(
                    "Turn {turn}: I would like to plan the {topic} for next week, please. It must \
                     cost less than {} euros, and Maria from office {turn} wants to join us there.",
                    turn * 10 + 5
                ),
            )
            .at(at),
            NewMessage::text(
                Role::Assistant,
                format!(
                    "Agreed, turn {turn}: the {topic} is set for Tuesday at 09:{:02}. I wrote it \
                     into plans/{topic}_{turn}.md and will remind Maria of it. Is there anything \
                     else that you would like me to look after today?",
                    turn % 60
                ),
            )
            .at(at),
        ]
    });
    oneiro.messages().append(id, said.collect()).unwrap();
}

pub fn window(oneiro: &Oneiro, id: &SessionId, budget: usize) -> Window {
    let request = WindowRequest { budget, peek: true, ..WindowRequest::default() };
    oneiro.context().window(id, &request).unwrap()
}

/// Every message that a window shows or leads to.
pub fn reachable(oneiro: &Oneiro, id: &SessionId, window: &Window) -> BTreeSet<i64> {
    let mut found = BTreeSet::new();
    let expand = |what: ExpandWhat, found: &mut BTreeSet<i64>| {
        let mut cursor = None;
        loop {
            let request = ExpandRequest {
                what: what.clone(),
                scope: ContextScope::Lineage(id.clone()),
                tokens: EXPAND_TOKENS,
                cursor,
            };
            let expanded = oneiro.context().expand(&request).unwrap();
            assert!(expanded.tokens <= EXPAND_TOKENS || expanded.messages.len() == 1);
            found.extend(expanded.messages.iter().map(|message| message.id.0));
            cursor = expanded.next;
            if cursor.is_none() {
                return;
            }
        }
    };
    for id in &window.summaries {
        expand(ExpandWhat::Summary(id.to_string()), &mut found);
    }
    if let (Some(first), Some(last)) = (window.omitted.first, window.omitted.last) {
        expand(ExpandWhat::Range(first.into(), last.into()), &mut found);
    }
    found
}

/// What `compact --until` promises: the next window of that budget leaves nothing out, in every
/// format, and has as many tokens as it said.
fn assert_compaction_is_shown(oneiro: &Oneiro, id: &SessionId, budget: usize) {
    let until = CompactRequest { until: Some(budget), redo: false };
    let compacted = oneiro.context().compact(id, &until).unwrap();
    assert_eq!(compacted.stopped, "under", "{budget}");
    for format in WindowFormat::ALL {
        let request = WindowRequest { budget, format, ..WindowRequest::default() };
        let window = oneiro.context().window(id, &request).unwrap();
        assert_eq!(window.omitted.messages, 0, "{format:?} at {budget}");
        assert!(window.tokens <= budget, "{format:?} at {budget}");
        if format == WindowFormat::Openai {
            assert_eq!(window.tokens, compacted.tokens_after, "at {budget}");
        }
    }
}

/// The window of a budget as a prompt would get it.
fn look(oneiro: &Oneiro, id: &SessionId, (budget, format): (usize, WindowFormat)) -> Window {
    let request = WindowRequest { budget, format, ..WindowRequest::default() };
    oneiro.context().window(id, &request).unwrap()
}

on_both_backends! {
    fn a_compaction_is_shown_by_the_next_window_whatever_was_looked_at_before(space) {
        for (number, turns) in [12, 40, 90].into_iter().enumerate() {
            for (looked, budget) in [(false, 700), (true, 700), (true, 1_000), (true, 2_000), (false, 3_000)] {
                let oneiro = fixed(space);
                let id = sid(&format!("s{number}-{looked}-{budget}"));
                talk(&oneiro, &id, turns);
                for format in WindowFormat::ALL.into_iter().filter(|_| looked) {
                    look(&oneiro, &id, (budget, format));
                }
                assert_compaction_is_shown(&oneiro, &id, budget);
                // The next messages are added to that window, as to any other.
                say(&oneiro, &id, (turns, turns + 1));
                assert!(look(&oneiro, &id, (budget, WindowFormat::Openai)).tokens <= budget);
            }
        }
    }

    fn a_window_that_a_compaction_completes_says_that_it_begins_differently(space) {
        let oneiro = fixed(space);
        talk(&oneiro, &sid("s"), 40);
        let of = (700, WindowFormat::Openai);
        let before = look(&oneiro, &sid("s"), of);
        assert!(before.omitted.messages > 0, "the window must leave something out");
        assert_compaction_is_shown(&oneiro, &sid("s"), 700);
        let mark = "SELECT COUNT(*) FROM windows WHERE hash = ''";
        assert_eq!(by_hand(&oneiro, mark), [0], "the looks of the check replaced the mark");
        talk(&oneiro, &sid("again"), 40);
        look(&oneiro, &sid("again"), of);
        let until = CompactRequest { until: Some(700), redo: false };
        oneiro.context().compact(&sid("again"), &until).unwrap();
        let broke = look(&oneiro, &sid("again"), of).broke.unwrap();
        assert_eq!(broke.reason, BreakReason::Compaction);
        assert_eq!(look(&oneiro, &sid("again"), of).broke, None, "told once");
    }

    fn a_short_session_is_shown_whole(space) {
        let oneiro = fixed(space);
        let id = sid("short");
        talk(&oneiro, &id, 3);
        let window = window(&oneiro, &id, 10_000);
        assert_eq!(window.messages.len(), 6);
        assert_eq!(window.omitted.messages, 0);
        assert!(window.summaries.is_empty() && window.over_budget.is_none());
        assert!(window.tokens > 100 && window.tokens < 1_000, "{}", window.tokens);
    }

    fn without_a_summary_the_newest_fit_and_the_rest_is_named(space) {
        let oneiro = fixed(space);
        let id = sid("long");
        talk(&oneiro, &id, 200);
        for budget in [600, 2_000, 8_000, 30_000] {
            let window = window(&oneiro, &id, budget);
            assert!(window.tokens <= budget, "{} of {budget}", window.tokens);
            assert!(window.tokens * 2 > budget || window.omitted.messages == 0);
            let shown = window.messages.iter().filter(|m| m["role"] != "system").count();
            assert_eq!(shown + window.omitted.messages, 400);
            assert_eq!(reachable(&oneiro, &id, &window).len() + shown, 400);
            let last = window.messages.last().unwrap()["content"].as_str().unwrap();
            assert!(last.contains("turn 199"), "{last}");
        }
    }

    fn a_compacted_session_keeps_every_message_in_reach(space) {
        let oneiro = fixed(space);
        let id = sid("compacted");
        talk(&oneiro, &id, 200);
        let before = window(&oneiro, &id, 100_000);
        let until = before.tokens / 8;
        let request = CompactRequest { until: Some(until), redo: false };
        let compacted = oneiro.context().compact(&id, &request).unwrap();
        assert_eq!(compacted.stopped, "under");
        assert!(compacted.tokens_after <= until, "{compacted:?}");
        assert_eq!(compacted.tokens_before, before.tokens);
        let after = window(&oneiro, &id, until + 200);
        assert_eq!(after.omitted.messages, 0, "{:?}", after.omitted);
        assert!(after.tokens <= until + 200);
        let shown = after.messages.iter().filter(|m| m["role"] != "system").count();
        assert!(shown >= 2 && !after.summaries.is_empty());
        let mut found = reachable(&oneiro, &id, &after);
        found.extend(shown_in(&peek(&oneiro, &id, until + 200)));
        assert_eq!(found.len(), 400);
        let system = after.messages[0]["content"].as_str().unwrap();
        assert!(system.contains(after.summaries[0].as_str()) && system.contains("session_expand"));
        assert!(oneiro.check().unwrap().ok, "{:?}", oneiro.check().unwrap());
    }

    fn a_window_goes_on_from_the_one_before(space) {
        let oneiro = fixed(space);
        let id = sid("stable");
        talk(&oneiro, &id, 1);
        let request = WindowRequest { budget: 3_000, ..WindowRequest::default() };
        let (mut breaks, mut last): (usize, Option<Window>) = (0, None);
        for turn in 1..120 {
            say(&oneiro, &id, (turn, turn + 1));
            let window = oneiro.context().window(&id, &request).unwrap();
            assert!(window.tokens <= 3_000);
            if let Some(last) = last {
                let goes_on = window.messages.starts_with(&last.messages);
                assert_eq!(goes_on, window.broke.is_none(), "turn {turn}: {:?}", window.broke);
                assert_eq!(goes_on, window.prefix_hash == last.prefix_hash);
                breaks += usize::from(!goes_on);
            }
            last = Some(window);
        }
        assert!((2..30).contains(&breaks), "{breaks} breaks in 120 turns");
    }

    fn the_formats_are_those_of_the_providers(space) {
        let oneiro = fixed(space);
        let id = sid("formats");
        talk(&oneiro, &id, 60);
        oneiro.context().compact(&id, &CompactRequest { until: Some(2_000), redo: false }).unwrap();
        let format = |format| {
            let request = WindowRequest { budget: 4_000, format, peek: true, ..Default::default() };
            oneiro.context().window(&id, &request).unwrap()
        };
        let anthropic = format(WindowFormat::Anthropic);
        assert!(anthropic.system.unwrap().contains("<summary id="));
        assert_eq!(anthropic.messages[0]["role"], "user");
        let text = format(WindowFormat::Text);
        assert!(text.text.unwrap().contains("user: Turn 59"));
        assert!(text.messages.is_empty());
    }
}

on_both_backends! {
    /// Text without breaks is the slowest to count: a window must not do it again. What is kept is
    /// changed by hand, so that only a window that counts again would show the true number.
    fn a_large_message_is_counted_once(space) {
        let oneiro = fixed(space);
        for (number, unit) in ["a", "-", "字", "👩", "\u{301}", "[{", "aGVsbG8gd29ybGQ"].iter().enumerate() {
            let text = unit.repeat(200_000 / unit.len());
            let id = begin(&oneiro, &format!("large-{number}"), vec![user(format!("x{text}"))]);
            let tokens = peek(&oneiro, &id, 1_000_000).tokens;
            assert!(tokens > 1_000, "{unit:?} has {tokens} tokens");
            let session = format!("(SELECT key FROM sessions WHERE id = '{id}')");
            let kept = format!("SELECT COUNT(*) FROM message_costs WHERE session_key = {session}");
            assert_eq!(by_hand(&oneiro, &kept), [1], "{unit:?}");
            by_hand(&oneiro, &format!(
                "UPDATE message_costs SET tokens = 50, short_tokens = 50, total = 50 \
                 WHERE session_key = {session} RETURNING seq"
            ));
            assert!(peek(&oneiro, &id, 1_000_000).tokens < 1_000, "{unit:?} was counted again");
        }
    }
}
