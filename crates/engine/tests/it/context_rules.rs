//! How far compaction goes: the settings of the space are kept, and every reason to stop is one.

use crate::context_support::{
    Scripted, agent, assert_context_rules, assert_nothing_lost, begin, gist, live, open_llm, prose,
    until, user,
};
use crate::support::open;
use oneiro::{CompactRequest, NewMessage, SummaryKind};
use oneiro_testkit::on_both_backends;
use serde_json::json;
use std::sync::Arc;

fn turns(from: u64, to: u64) -> Vec<NewMessage> {
    (from..to)
        .flat_map(|at| {
            [user(format!("Turn {at}. {}", prose(at, 100))), agent(prose(at + 500, 100))]
        })
        .collect()
}

on_both_backends! {
    fn the_settings_of_a_space_are_kept(space) {
        let oneiro = open(space);
        for (name, value) in [
            ("leaf_chunk_tokens", 2_000), ("leaf_target_tokens", 300), ("leaf_min_fanout", 6),
            ("condensed_min_fanout", 3), ("condensed_target_tokens", 400), ("fresh_tail_turns", 5),
        ] {
            oneiro.settings().set(name, Some(json!(value))).unwrap();
        }
        let id = begin(&oneiro, "s", turns(0, 100));
        let done = oneiro.context().compact(&id, &CompactRequest::default()).unwrap();
        assert_eq!(done.stopped, "nothing_left");
        assert_context_rules(&oneiro, &id);
        let summaries = oneiro.context().summaries(&id).unwrap();
        assert!(summaries.iter().any(|s| s.kind == SummaryKind::Condensed));
        for node in &summaries {
            match node.kind {
                SummaryKind::Leaf => {
                    assert!(node.source_tokens <= 2_000 + 300 && node.tokens <= 300 && node.message_count >= 6, "{node:?}");
                }
                _ => assert!(node.children.len() >= 2 && node.tokens <= 400, "{node:?}"),
            }
        }
        let tail = live(&oneiro, &id)[190].id;
        assert!(summaries.iter().all(|s| s.last_message < Some(tail)), "the newest five turns are left alone");
        let bounded = |name: &str, value: i64| oneiro.settings().set(name, Some(json!(value))).unwrap_err();
        assert_eq!(bounded("leaf_chunk_tokens", 3).field_name(), Some("leaf_chunk_tokens"));
        assert_eq!(bounded("context_threshold", 101).field_name(), Some("context_threshold"));
    }

    // It stops where it was told to, and does not condense on.
    fn a_goal_that_is_reached_is_the_end(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 100));
        let whole = until(&oneiro, &id, 1_000_000);
        assert_eq!((whole.stopped.as_str(), whole.created.len()), ("under", 0));
        let goal = whole.tokens_after * 6 / 10;
        let done = until(&oneiro, &id, goal);
        assert_eq!(done.stopped, "under");
        assert!(done.tokens_after <= goal && done.tokens_after * 3 >= goal, "far beyond the goal: {done:?}");
        let again = until(&oneiro, &id, goal);
        assert_eq!((again.created.len(), again.tokens_after), (0, done.tokens_after));
    }

    fn a_context_that_changes_all_the_time_is_given_up(space) {
        let meanwhile = open(space);
        let id = begin(&meanwhile, "s", turns(0, 60));
        let (other, changing) = (meanwhile.oneiro.clone(), id.clone());
        let first = live(&meanwhile, &id)[0].id;
        let llm = Scripted::new(move |number, asked| {
            // Not for ever: a compaction that does not give up has to end for the test to fail.
            if number < 60 {
                other.sessions().rewind(&changing, first.into())?;
                other.sessions().restore(&changing, oneiro::RestoreRequest { all: false })?;
            }
            Ok(gist(asked))
        });
        let oneiro = open_llm(space, Arc::clone(&llm) as _);
        let done = oneiro.context().compact(&id, &CompactRequest { until: Some(2_000), redo: false }).unwrap();
        assert_eq!(done.stopped, "changed", "after {} calls", llm.calls());
        assert!(llm.calls() < 40, "{} calls for nothing", llm.calls());
        assert_nothing_lost(&oneiro, &id);
        assert_eq!(live(&oneiro, &id).len(), 120);
    }

    fn a_goal_of_nothing_is_refused(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 3));
        let refused = oneiro.context().compact(&id, &CompactRequest { until: Some(0), redo: false });
        assert_eq!(refused.map(drop).unwrap_err().field_name(), Some("until"));
    }
}
