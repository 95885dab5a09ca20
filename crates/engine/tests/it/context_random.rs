//! Anything in any order: appends, compactions, rewinds, restores, pins, splits, truncations,
//! histories set, erasures, deletions. After every step the space is sound and nothing that lives
//! is out of reach.

use crate::context_mixes::{Said, messages, said};
use crate::context_support::{assert_nothing_lost, by_hand, live, peek, until, words_in_reach};
use crate::support::{Fixed, content, id as sid, new, open};
use oneiro::{CompactRequest, EraseTarget, NewMessage, SessionId, SplitRequest, WindowRequest};
use oneiro_testkit::{Backend, TestSpace};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Debug, Clone)]
pub enum Step {
    Say(Vec<Said>),
    Compact(Option<usize>),
    Window(usize),
    Rewind(usize),
    Restore(bool),
    Truncate(usize),
    SetHistory(usize),
    Pin(usize),
    Summary,
    Split,
    Erase(usize),
    EraseOfParent(usize),
    DeleteParent,
    RestoreParent,
    Jobs,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => proptest::collection::vec(said(), 1..12).prop_map(Step::Say),
        4 => proptest::option::of(300..3_000_usize).prop_map(Step::Compact),
        1 => (500..9_000_usize).prop_map(Step::Window),
        2 => (1..8_usize).prop_map(Step::Rewind),
        2 => any::<bool>().prop_map(Step::Restore),
        1 => (1..40_usize).prop_map(Step::Truncate),
        1 => (0..40_usize).prop_map(Step::SetHistory),
        1 => (0..40_usize).prop_map(Step::Pin),
        1 => Just(Step::Summary),
        2 => Just(Step::Split),
        2 => (0..60_usize).prop_map(Step::Erase),
        1 => (0..60_usize).prop_map(Step::EraseOfParent),
        1 => Just(Step::DeleteParent),
        1 => Just(Step::RestoreParent),
        1 => Just(Step::Jobs),
    ]
}

/// The session that goes on, those it continues, and what its window must lead to besides its own.
struct World {
    tip: SessionId,
    before: Vec<SessionId>,
    inherited: BTreeSet<String>,
    said: u64,
}

impl World {
    fn step(&mut self, oneiro: &Fixed, step: &Step) {
        let id = self.tip.clone();
        let nth = |id: &SessionId, at: usize| live(oneiro, id).into_iter().nth(at);
        match step {
            Step::Say(all) => {
                for said in all {
                    self.said += 1;
                    oneiro.host().append(&id, messages(said, self.said), None).unwrap();
                }
            }
            Step::Compact(Some(goal)) => drop(until(oneiro, &id, *goal)),
            Step::Compact(None) => {
                drop(oneiro.context().compact(&id, &CompactRequest::default()).unwrap())
            }
            Step::Window(budget) => drop(
                oneiro
                    .context()
                    .window(&id, &WindowRequest { budget: *budget, ..WindowRequest::default() })
                    .unwrap(),
            ),
            // There may be fewer turns, or the session was split.
            Step::Rewind(turns) => drop(oneiro.sessions().rewind(
                &id,
                oneiro::RewindRequest { turns: Some(*turns), ..oneiro::RewindRequest::default() },
            )),
            Step::Restore(all) => {
                oneiro.sessions().restore(&id, oneiro::RestoreRequest { all: *all }).unwrap();
            }
            Step::Truncate(keep) => drop(oneiro.messages().truncate_history(&id, *keep).unwrap()),
            Step::SetHistory(keep) => {
                self.said += 1;
                let kept = live(oneiro, &id).into_iter().take(*keep).map(|m| NewMessage {
                    at: Some(m.at),
                    ..NewMessage::from_json(serde_json::to_value(&m).map(without_ids).unwrap())
                        .unwrap()
                });
                let history: Vec<NewMessage> = kept
                    .chain([crate::context_support::user(format!("set again at {}", self.said))])
                    .collect();
                let count = history.len();
                assert_eq!(oneiro.messages().set_history(&id, history).unwrap().len(), count);
            }
            Step::Pin(at) => {
                if let Some(message) = nth(&id, *at) {
                    let _ = oneiro.messages().pin(&id, message.id);
                }
            }
            Step::Summary => drop(
                oneiro
                    .context()
                    .set_summary(&id, &format!("Written by hand at {}.", self.said))
                    .unwrap(),
            ),
            Step::Split => {
                let request = SplitRequest { id: None, until: Some(1_500) };
                let said: BTreeSet<String> = live(oneiro, &id).iter().map(content).collect();
                self.tip = oneiro.sessions().split(&id, request).unwrap().id;
                // What was copied is the continuation's own, to be taken back as it likes.
                let copied: BTreeSet<String> =
                    live(oneiro, &self.tip).iter().map(content).collect();
                self.inherited.extend(said.difference(&copied).cloned());
                self.before.push(id);
            }
            Step::Erase(at) => self.erase(oneiro, nth(&id, *at)),
            Step::EraseOfParent(at) => {
                let parent = self.before.last().cloned();
                self.erase(oneiro, parent.and_then(|parent| nth(&parent, *at)));
            }
            Step::DeleteParent => {
                if let Some(parent) = self.before.pop() {
                    oneiro.sessions().delete(&parent).unwrap();
                    // What only the deleted one said is gone; what is still there stays in reach.
                    self.inherited.clear();
                }
            }
            Step::RestoreParent => {
                if let Some(parent) = self.before.last() {
                    let _ = oneiro.sessions().restore(parent, oneiro::RestoreRequest { all: true });
                }
            }
            Step::Jobs => {
                assert_eq!(oneiro.jobs().run(std::time::Duration::from_secs(20)).unwrap().failed, 0)
            }
        }
    }

    fn erase(&mut self, oneiro: &Fixed, message: Option<oneiro::Message>) {
        if let Some(message) = message {
            self.inherited.remove(&content(&message));
            assert_eq!(oneiro.erase(&EraseTarget::Message(message.id)).unwrap().proof.found, 0);
        }
    }

    fn assert_sound(&self, oneiro: &Fixed) {
        assert_nothing_lost(oneiro, &self.tip);
        let found = words_in_reach(oneiro, &self.tip, 1_000_000);
        let lost: Vec<String> =
            self.inherited.difference(&found).map(|text| text.chars().take(20).collect()).collect();
        assert!(lost.is_empty(), "the continuation has lost {lost:?}");
        // What an erasure leaves of a leaf that a continuation needs may be too little to be
        // smaller.
        for id in [&self.tip].into_iter().chain(&self.before) {
            let larger = by_hand(
                oneiro,
                &format!(
                    "SELECT COUNT(*) FROM summaries WHERE tokens >= source_tokens \
                     AND kind <> 'written' AND source_tokens >= 96 \
                     AND session_key = (SELECT key FROM sessions WHERE id = '{id}')"
                ),
            );
            assert_eq!(larger, [0], "summaries of {id} that are not smaller than what they cover");
        }
        assert!(peek(oneiro, &self.tip, 2_000).tokens > 0 || live(oneiro, &self.tip).is_empty());
    }
}

fn without_ids(mut message: serde_json::Value) -> serde_json::Value {
    for field in ["id", "session_id", "visibility"] {
        message.as_object_mut().unwrap().remove(field);
    }
    message
}

/// A space in which contexts are compacted early, so that short sequences of steps reach every
/// rule.
fn open_compacting_early(space: &TestSpace) -> Fixed {
    let oneiro = open(space);
    for (name, value) in [
        ("leaf_chunk_tokens", 1_500),
        ("leaf_target_tokens", 200),
        ("fresh_tail_turns", 2),
        ("leaf_min_fanout", 3),
        ("condensed_min_fanout", 2),
    ] {
        oneiro.settings().set(name, Some(value.into())).unwrap();
    }
    oneiro
}

/// Says which words a failing sequence had: what compaction does depends on them.
struct WordsOnFailure(u64);

impl Drop for WordsOnFailure {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("replay: assert_loses_nothing(space, {}, &[steps])", self.0);
        }
    }
}

/// Runs steps in a session of its own, and checks after every one of them that nothing is lost.
/// `number` decides which words are said.
fn run(oneiro: &Fixed, number: u64, steps: &[Step]) {
    let _words = WordsOnFailure(number);
    let tip = sid(&format!("world-{number}"));
    oneiro.sessions().create(new(tip.as_str())).unwrap();
    let mut world =
        World { tip, before: Vec::new(), inherited: BTreeSet::new(), said: number * 1_000 };
    for step in steps {
        world.step(oneiro, step);
        world.assert_sound(oneiro);
    }
}

/// Runs one sequence of steps in a space that is empty.
pub fn assert_loses_nothing(space: &TestSpace, number: u64, steps: &[Step]) {
    run(&open_compacting_early(space), number, steps);
}

fn anything_goes(backend: Backend, cases: u32) {
    let space = TestSpace::new(backend);
    let oneiro = open_compacting_early(&space);
    let number = std::cell::Cell::new(0);
    let mut config = oneiro_testkit::proptest_config(cases);
    config.failure_persistence = None;
    config.max_shrink_iters = 150;
    proptest!(config, |(steps in proptest::collection::vec(step(), 1..25))| {
        number.set(number.get() + 1);
        run(&oneiro, number.get(), &steps);
    });
}

#[test]
fn anything_in_any_order_loses_nothing_on_sqlite() {
    anything_goes(Backend::Sqlite, 48);
}

#[test]
fn anything_in_any_order_loses_nothing_on_postgres() {
    anything_goes(Backend::Postgres, 12);
}
