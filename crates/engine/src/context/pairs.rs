//! Matches tool calls with their results, and finds where steps and turns begin. It sees messages
//! only as their [`Ties`].

use super::part::{Part, parts};
use oneiro_model::{Message, Role};
use oneiro_store::costs::Begins;
use rustc_hash::FxHashMap;

/// The calls and results of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ties {
    /// The ids of its calls, in order; empty if it has none.
    pub calls: Vec<String>,
    /// The ids of the calls that its results answer, in order; empty if they have none.
    pub results: Vec<String>,
    /// Whether it is a user message with more than results.
    pub is_user: bool,
    /// Whether somebody speaks in it, which ends the wait for results. Host messages while a tool
    /// runs do not count.
    pub speaks: bool,
}

impl Ties {
    /// Reads the ties of a message.
    pub(crate) fn of(message: &Message) -> Ties {
        Ties::of_parts(&message.role, &parts(message))
    }

    /// Whether it begins a step or a turn regardless of the previous messages.
    pub(crate) fn always_begins(&self) -> bool {
        self.results.is_empty() && (self.is_user || (self.speaks && self.calls.is_empty()))
    }

    pub(super) fn of_parts(role: &Role, parts: &[Part<'_>]) -> Ties {
        let mut ties = Ties::default();
        for part in parts {
            match part {
                Part::Call(call) => ties.calls.push(call.id.clone().into_owned()),
                Part::Result(result) => ties.results.push(result.id.clone().into_owned()),
                Part::Text(_) | Part::Media(_) => {
                    ties.speaks = !role.is_instructions();
                    ties.is_user = matches!(role, Role::User | Role::Other(_));
                }
                Part::Thinking(_) => {}
            }
        }
        ties
    }
}

/// A call or a result: the index of its message, and its index in the message.
pub(crate) type Spot = (usize, usize);

/// Matched calls and results.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Pairs {
    /// For each call of each message, the result that answers it.
    pub answers: Vec<Vec<Option<Spot>>>,
    /// Results without a call.
    pub unpaired: Vec<Spot>,
    /// The first message with a call whose result may still arrive; it and all later ones are not
    /// shown yet.
    pub pending: Option<usize>,
    /// Whether a result arrived after somebody spoke, so that an earlier window may have shown its
    /// call without it.
    pub late: usize,
}

/// Matches results with calls: a result answers the nearest earlier unanswered call with its id,
/// because some hosts restart at `call_0` in every turn; within one message, the first. A result
/// without an id answers a call without one.
///
/// Consecutive messages with calls are one answer of the agent, stored in pieces: all of them wait
/// as long as only results follow.
pub(crate) fn pair(ties: &[Ties]) -> Pairs {
    let mut pairs = Pairs::default();
    let mut open: FxHashMap<&str, Vec<Spot>> = FxHashMap::default();
    let mut run: Option<usize> = None;
    let mut has_results = false;
    for (at, tied) in ties.iter().enumerate() {
        pairs.answers.push(vec![None; tied.calls.len()]);
        for (place, id) in tied.calls.iter().enumerate().rev() {
            open.entry(id).or_default().push((at, place));
        }
        for (place, id) in tied.results.iter().enumerate() {
            let Some((from, call)) = open.get_mut(id.as_str()).and_then(Vec::pop) else {
                pairs.unpaired.push((at, place));
                continue;
            };
            if let Some(answer) = pairs.answers.get_mut(from).and_then(|calls| calls.get_mut(call))
            {
                *answer = Some((at, place));
            }
            pairs.late += usize::from(from != at && run.is_none_or(|start| from < start));
        }
        has_results |= !tied.results.is_empty();
        if !tied.calls.is_empty() {
            run = run.filter(|_| !has_results).or(Some(at));
            has_results = false;
        } else if tied.speaks {
            run = None;
        }
    }
    let waits = |at: &usize| pairs.answers.get(*at).is_some_and(|calls| calls.contains(&None));
    pairs.pending = run.and_then(|start| (start..ties.len()).find(waits));
    pairs
}

/// Finds what each live message begins, in order. A run of calls stays together with the results
/// that follow it. A result that arrives after somebody spoke does not hold back the messages in
/// between; a window that begins between them shows it as unpaired.
///
/// After a message that begins something, the state depends on that message alone, so a scan may
/// start there with a fresh state.
#[derive(Debug, Clone, Default)]
pub(crate) struct Steps {
    /// Calls without a result.
    open: Vec<String>,
    /// The previous message made calls that are still unanswered.
    calling: bool,
}

impl Steps {
    /// What the next message begins.
    pub(crate) fn next(&mut self, ties: &Ties) -> Begins {
        let waited = self.open.len();
        for result in &ties.results {
            if let Some(at) = self.open.iter().position(|call| call == result) {
                self.open.remove(at);
            }
        }
        let answers = self.open.len() < waited;
        let is_piece = if ties.calls.is_empty() { !ties.speaks } else { self.calling };
        let begins = match () {
            // Text beside a result stays with the call.
            () if ties.is_user && !answers => Begins::Turn,
            () if !ties.results.is_empty() => Begins::Nothing,
            // An answer stored in pieces, or a host message while a tool runs.
            () if !self.open.is_empty() && is_piece => Begins::Nothing,
            () => Begins::Step,
        };
        if begins != Begins::Nothing {
            self.open.clear();
        }
        self.open.extend(ties.calls.iter().cloned());
        let is_said = ties.speaks || !ties.results.is_empty() || !ties.calls.is_empty();
        if is_said {
            // A result without a call changes nothing.
            let stray = !ties.results.is_empty() && !answers && self.calling;
            self.calling = !ties.calls.is_empty() || stray;
        }
        begins
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::message;
    use super::*;
    use serde_json::json;

    /// Messages in short: `u` user, `s` system, `a` assistant, `c1,2` calls, `r1,2` results,
    /// `m1` a user message with a result and words, `e` empty.
    fn ties(script: &str) -> Vec<Ties> {
        let one = |(at, word): (usize, &str)| {
            let (kind, ids) = word.split_at(1);
            let ids: Vec<&str> = ids.split(',').filter(|id| !id.is_empty()).collect();
            let calls: Vec<_> = ids.iter().map(|id| json!({"id": id, "name": "x"})).collect();
            let mut blocks: Vec<_> =
                ids.iter().map(|id| json!({"type": "tool_result", "tool_use_id": id})).collect();
            let (role, body) = match kind {
                "u" => ("user", json!({"content": "hi"})),
                "s" => ("system", json!({"content": "hi"})),
                "a" => ("assistant", json!({"content": "hi"})),
                "c" => ("assistant", json!({"tool_calls": calls})),
                "r" => ("user", json!({"content": blocks})),
                "m" => {
                    blocks.push(json!("and"));
                    ("user", json!({"content": blocks}))
                }
                _ => ("user", json!({"content": ""})),
            };
            Ties::of(&message(at as i64, role, body))
        };
        script.split_whitespace().enumerate().map(one).collect()
    }

    #[test]
    fn a_result_answers_the_nearest_open_call_of_its_id() {
        for (script, call, want) in [
            ("c0 r0 c0 r0", (0, 0), Some((1, 0))),
            ("c0 r0 c0 r0", (2, 0), Some((3, 0))),
            ("c0 u c0 r0 r0", (2, 0), Some((3, 0))),
            ("c0 u c0 r0 r0", (0, 0), Some((4, 0))),
            ("c0,0 r0,0", (0, 1), Some((1, 1))),
            ("r0 c0", (1, 0), None),
        ] {
            let pairs = pair(&ties(script));
            assert_eq!(pairs.answers[call.0][call.1], want, "{script}");
        }
        assert_eq!(pair(&ties("c0 r0 r0 r7")).unpaired, [(2, 0), (3, 0)]);
    }

    #[test]
    fn a_call_waits_while_only_results_follow() {
        for (script, pending, late) in [
            ("u c1", Some(1), false),
            ("u c1,2 r1", Some(1), false),
            ("u c1 e s", Some(1), false),
            ("u c1 r1", None, false),
            ("u c1 u", None, false),
            ("u c1 a", None, false),
            ("u c1 m9", None, false),
            // An answer that came in pieces.
            ("u c1 c2", Some(1), false),
            ("u c1 c2 r2", Some(1), false),
            ("u c1 c2 r1", Some(2), false),
            ("u c1 s c2 r1 r2", None, false),
            // The agent went on without it.
            ("u c1 c2 r2 c3", Some(4), false),
            ("u c1 c2 r2 c3 r1", Some(4), true),
            ("u c1 u r1", None, true),
            ("u c1 s r1", None, false),
        ] {
            let pairs = pair(&ties(script));
            assert_eq!((pairs.pending, pairs.late > 0), (pending, late), "{script}");
        }
    }

    #[test]
    fn calls_stay_with_their_results() {
        for (script, want) in [
            ("u c1 r1 a", "TS.S"),
            ("c1,2 r1 r2 u", "S..T"),
            ("c1 u a r1 u", "STS.T"),
            ("c1 c2 r1 r2", "S..."),
            ("u c1 s c2 r1 r2 a", "TS....S"),
            ("c1 u m1 u", "STTT"),
            ("u c1 m1 a u", "TS.ST"),
            // The agent went on without an answer.
            ("c1 c2 r2 c3 r3", "S..S."),
            ("c1 a c2 r2", "SSS."),
            ("r9 u c1", ".TS"),
            ("s u c1 r1 a u e m9 a", "STS.STSTS"),
        ] {
            let mut steps = Steps::default();
            let letter = |ties: Ties| match steps.next(&ties) {
                Begins::Nothing => '.',
                Begins::Step => 'S',
                Begins::Turn => 'T',
            };
            let found: String = ties(script).into_iter().map(letter).collect();
            assert_eq!(found, want, "{script}");
        }
    }

    #[test]
    fn results_without_ids_answer_calls_without_ids() {
        let call = message(1, "assistant", json!({"tool_calls": [{"name": "a"}, {"name": "b"}]}));
        let results = [2, 3].map(|id| message(id, "tool", json!({"content": "ok"})));
        let ties = [Ties::of(&call), Ties::of(&results[0]), Ties::of(&results[1])];
        assert_eq!(pair(&ties).answers[0], [Some((1, 0)), Some((2, 0))]);
    }
}
