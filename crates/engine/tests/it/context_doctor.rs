//! Contexts broken by hand: a check names what is wrong, a repair makes it right, and nothing else
//! changes.

use crate::context_support::{
    agent, assert_context_rules, begin, by_hand, calls, live, prose, result, until, user,
};
use crate::support::{Fixed, open};
use oneiro::{CompactRequest, NewMessage, SessionId, Summary, SummaryKind};
use oneiro_testkit::on_both_backends;

fn turns(from: u64, to: u64) -> Vec<NewMessage> {
    (from..to).flat_map(|at| [user(prose(at, 100)), agent(prose(at + 500, 100))]).collect()
}

struct Broken {
    oneiro: Fixed,
    id: SessionId,
    other: Vec<String>,
}

/// Which summaries a session has.
#[derive(PartialEq)]
enum Shape {
    /// Leaves alone.
    Leaves,
    /// Leaves under condensed summaries.
    Condensed,
    /// What a small window needs.
    ForGoal,
}

/// Two sessions with summaries; the second must come through unharmed.
fn furnish(space: &oneiro_testkit::TestSpace, shape: Shape) -> Broken {
    let oneiro = open(space);
    let compact = |id: &SessionId| {
        if shape == Shape::ForGoal {
            until(&oneiro, id, 4_000)
        } else {
            oneiro.context().compact(id, &CompactRequest::default()).unwrap()
        }
    };
    if shape != Shape::ForGoal {
        let fanout = if shape == Shape::Leaves { 1_000 } else { 4 };
        let settings = [
            ("leaf_chunk_tokens", 1_500),
            ("leaf_target_tokens", 200),
            ("fresh_tail_turns", 2),
            ("condensed_min_fanout", fanout),
        ];
        for (name, value) in settings {
            oneiro.settings().set(name, Some(value.into())).unwrap();
        }
    }
    let id = begin(&oneiro, "s", turns(0, 60));
    compact(&id);
    let other = begin(&oneiro, "t", turns(100, 160));
    compact(&other);
    let other = told(&oneiro, &other);
    assert_context_rules(&oneiro, &id);
    Broken { oneiro, id, other }
}

fn told(oneiro: &Fixed, id: &SessionId) -> Vec<String> {
    oneiro.context().summaries(id).unwrap().iter().map(|summary| format!("{summary:?}")).collect()
}

impl Broken {
    fn of_kind(&self, kind: SummaryKind) -> Summary {
        self.oneiro
            .context()
            .summaries(&self.id)
            .unwrap()
            .into_iter()
            .find(|s| s.kind == kind)
            .unwrap()
    }

    fn key(&self, summary: &Summary) -> i64 {
        by_hand(&self.oneiro, &format!("SELECT key FROM summaries WHERE id = '{}'", summary.id))[0]
    }

    /// The check names the session, a repair makes it right at once, and the other is as it was.
    fn assert_found_and_repaired(&self, words: &str) {
        let checked = self.oneiro.check().unwrap();
        assert!(!checked.ok && !checked.contexts.is_empty(), "nothing was found");
        assert!(
            checked.contexts.iter().all(|problem| problem.contains("\"s\"")),
            "{:?}",
            checked.contexts
        );
        assert!(
            checked.contexts.iter().any(|problem| problem.contains(words)),
            "{:?}",
            checked.contexts
        );
        assert_eq!(self.oneiro.context().repair_all().unwrap(), 1);
        assert_context_rules(&self.oneiro, &self.id);
        assert_eq!(
            self.oneiro.context().repair_all().unwrap(),
            0,
            "a sound context is repaired again"
        );
        assert_eq!(told(&self.oneiro, &crate::support::id("t")), self.other);
        until(&self.oneiro, &self.id, 2_000);
        assert_context_rules(&self.oneiro, &self.id);
    }
}

on_both_backends! {
    fn a_link_to_a_message_is_gone(space) {
        let broken = furnish(space, Shape::ForGoal);
        let leaf = broken.key(&broken.of_kind(SummaryKind::Leaf));
        by_hand(&broken.oneiro, &format!(
            "DELETE FROM summary_messages WHERE seq = (SELECT seq FROM summary_messages WHERE summary_key = {leaf} ORDER BY seq LIMIT 1 OFFSET 2) RETURNING 1"));
        broken.assert_found_and_repaired("gap");
    }

    fn every_link_to_messages_is_gone(space) {
        let broken = furnish(space, Shape::ForGoal);
        let leaf = broken.key(&broken.of_kind(SummaryKind::Leaf));
        by_hand(&broken.oneiro, &format!("DELETE FROM summary_messages WHERE summary_key = {leaf} RETURNING 1"));
        broken.assert_found_and_repaired("covers no message");
    }

    /// What stores may hold that were written before history and summaries were kept in sync:
    ///
    /// ```text
    /// said:     .. user  call c  result c  agent ..
    /// summary:  [----- leaf ---]
    /// ```
    fn a_leaf_ends_between_a_call_and_its_result(space) {
        let oneiro = open(space);
        let said = |from: u64, to: u64| (from..to).flat_map(|at| {
            let id = format!("c{at}");
            [user(prose(at, 100)), calls(&[&id], "let me look"), result(&id, prose(at + 500, 100)), agent(prose(at + 900, 60))]
        }).collect();
        let id = begin(&oneiro, "s", said(0, 60));
        until(&oneiro, &id, 4_000);
        let other = begin(&oneiro, "t", said(100, 160));
        until(&oneiro, &other, 4_000);
        let other = told(&oneiro, &other);
        let broken = Broken { oneiro, id, other };
        let leaf = broken.of_kind(SummaryKind::Leaf);
        let key = broken.key(&leaf);
        let call = live(&broken.oneiro, &broken.id).into_iter()
            .filter(|message| message.id > leaf.first_message.unwrap() && message.id < leaf.last_message.unwrap())
            .rfind(|message| message.body.get("tool_calls").is_some())
            .unwrap().id;
        by_hand(&broken.oneiro, &format!("DELETE FROM summary_messages WHERE summary_key = {key} AND seq > {call} RETURNING 1"));
        by_hand(&broken.oneiro, &format!("UPDATE summaries SET last_seq = {call} WHERE key = {key} RETURNING 1"));
        broken.assert_found_and_repaired("parts a tool call from its result");
    }

    fn a_message_is_counted_into_the_wrong_step(space) {
        let broken = furnish(space, Shape::ForGoal);
        let seq = broken.of_kind(SummaryKind::Leaf).first_message.unwrap().0;
        by_hand(&broken.oneiro, &format!("UPDATE message_costs SET begins = 0 WHERE seq = {seq} RETURNING 1"));
        broken.assert_found_and_repaired("wrong step");
    }

    fn a_place_in_the_context_is_gone(space) {
        let broken = furnish(space, Shape::ForGoal);
        by_hand(&broken.oneiro, "DELETE FROM root_summaries WHERE session_key = (SELECT key FROM sessions WHERE id = 's') RETURNING 1");
        broken.assert_found_and_repaired("orphan");
    }

    fn a_summary_is_shown_beside_the_one_that_covers_it(space) {
        let broken = furnish(space, Shape::Condensed);
        let condensed = broken.of_kind(SummaryKind::Condensed);
        let child = broken.oneiro.context().summaries(&broken.id).unwrap().into_iter().find(|s| s.id == condensed.children[0]).unwrap();
        let child = broken.key(&child);
        by_hand(&broken.oneiro, &format!(
            "INSERT INTO root_summaries (session_key, summary_key) SELECT session_key, key FROM summaries WHERE key = {child} RETURNING 1"));
        broken.assert_found_and_repaired("beside");
    }

    fn a_link_between_summaries_is_gone(space) {
        let broken = furnish(space, Shape::Condensed);
        let condensed = broken.key(&broken.of_kind(SummaryKind::Condensed));
        by_hand(&broken.oneiro, &format!(
            "DELETE FROM summary_children WHERE parent_key = {condensed} AND child_key = (SELECT MAX(child_key) FROM summary_children WHERE parent_key = {condensed}) RETURNING 1"));
        broken.assert_found_and_repaired("sum_");
    }

    fn every_link_between_summaries_is_gone(space) {
        let broken = furnish(space, Shape::Condensed);
        let condensed = broken.key(&broken.of_kind(SummaryKind::Condensed));
        by_hand(&broken.oneiro, &format!("DELETE FROM summary_children WHERE parent_key = {condensed} RETURNING 1"));
        broken.assert_found_and_repaired("fewer than two");
    }

    fn two_leaves_overlap(space) {
        let broken = furnish(space, Shape::Leaves);
        let leaves: Vec<Summary> = broken.oneiro.context().summaries(&broken.id).unwrap().into_iter().filter(|s| s.kind == SummaryKind::Leaf && s.in_context).collect();
        assert!(leaves.len() > 1);
        let (first, second) = (broken.key(&leaves[0]), broken.key(&leaves[1]));
        by_hand(&broken.oneiro, &format!(
            "UPDATE summaries SET last_seq = (SELECT last_seq FROM summaries WHERE key = {second}) WHERE key = {first} RETURNING 1"));
        broken.assert_found_and_repaired("sum_");
    }

    fn a_covered_message_is_hidden(space) {
        let broken = furnish(space, Shape::ForGoal);
        let seq = broken.of_kind(SummaryKind::Leaf).first_message.unwrap().0 + 1;
        by_hand(&broken.oneiro, &format!("UPDATE messages SET rewind = 1 WHERE seq = {seq} RETURNING 1"));
        let checked = broken.oneiro.check().unwrap();
        assert!(checked.contexts.iter().any(|problem| problem.contains("hidden")), "{checked:?}");
        broken.oneiro.recount_sessions(&checked.miscounted).unwrap();
        broken.assert_found_and_repaired("hidden");
    }

    fn a_summary_is_as_large_as_what_it_covers(space) {
        let broken = furnish(space, Shape::ForGoal);
        let leaf = broken.key(&broken.of_kind(SummaryKind::Leaf));
        by_hand(&broken.oneiro, &format!("UPDATE summaries SET tokens = source_tokens WHERE key = {leaf} RETURNING 1"));
        broken.assert_found_and_repaired("not smaller");
    }

    // What a condensed summary spans but does not cover is in nobody's reach.
    fn a_message_lies_inside_a_condensed_summary_that_does_not_cover_it(space) {
        let broken = furnish(space, Shape::Condensed);
        let condensed = broken.of_kind(SummaryKind::Condensed);
        let child = broken.oneiro.context().summaries(&broken.id).unwrap().into_iter().find(|s| s.id == condensed.children[0]).unwrap();
        let (child, parent) = (broken.key(&child), broken.key(&condensed));
        by_hand(&broken.oneiro, &format!("DELETE FROM summary_children WHERE parent_key = {parent} AND child_key = {child} RETURNING 1"));
        by_hand(&broken.oneiro, &format!("DELETE FROM summaries WHERE key = {child} RETURNING 1"));
        broken.assert_found_and_repaired("sum_");
    }

    fn a_rebuild_of_a_sound_context_changes_nothing_it_shows(space) {
        let broken = furnish(space, Shape::Condensed);
        let before = told(&broken.oneiro, &broken.id);
        broken.oneiro.context().rebuild(&broken.id).unwrap();
        assert_eq!(told(&broken.oneiro, &broken.id), before);
        assert_eq!(live(&broken.oneiro, &broken.id).len(), 120);
        assert_eq!(broken.oneiro.context().repair_all().unwrap(), 0);
    }
}
