//! Windows: within budget, whole turns, everything reachable, and a beginning that stays.

use crate::context_support::{begin, by_hand, peek, shown_in, user};
use crate::support::{NOW, id as sid, open as fixed};
use oneiro::{
    CompactRequest, ContextScope, EXPAND_TOKENS, ExpandRequest, ExpandWhat, NewMessage, Oneiro,
    Role, SessionId, Span, Window, WindowFormat, WindowRequest,
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

on_both_backends! {
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
