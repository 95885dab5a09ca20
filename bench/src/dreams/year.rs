//! A simulated year: what happens on each day, and what is true. Deterministic by its seed, and
//! independent of the engine.

use super::claim::Claim;
use super::plan::Planner;
use std::collections::BTreeMap;

/// Which year.
#[derive(Debug, Clone, Copy)]
pub struct YearRequest {
    /// The seed.
    pub seed: u64,
    /// How many days.
    pub days: usize,
    /// How many people, up to eight.
    pub people: usize,
    /// How many times as many packs and echoes; everything else stays the same.
    pub exposure: usize,
}

impl YearRequest {
    /// A stretch of this many days with three people.
    pub fn new(seed: u64, days: usize) -> YearRequest {
        YearRequest { seed, days, people: 3, exposure: 1 }
    }
}

/// A simulated year.
#[derive(Debug, Clone)]
pub struct Year {
    /// Everything that is stated, with what it is worth.
    pub claims: Vec<Claim>,
    /// The sessions, by id.
    pub sessions: BTreeMap<String, SessionInfo>,
    /// What happens on each day, in order.
    pub days: Vec<Vec<Event>>,
}

impl Year {
    /// The year of a request.
    pub fn generate(request: &YearRequest) -> Year {
        Planner::new(request).plan()
    }

    /// How many messages are appended, without answers to questions.
    pub fn messages(&self) -> usize {
        self.days.iter().flatten().filter(|event| !matches!(event.act, Act::Pack { .. })).count()
    }
}

/// A session of the year.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionInfo {
    /// The person, unless several people or a machine speak.
    pub user: Option<String>,
    /// Where it happens.
    pub source: &'static str,
    /// The day on which it begins.
    pub day: usize,
}

/// Something that happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Seconds since midnight.
    pub second: u32,
    /// The session.
    pub session: String,
    /// The claim that it is about.
    pub claim: Option<usize>,
    /// What happens.
    pub act: Act,
}

/// What happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// A message of a person, or of a machine in their place.
    Say {
        /// Who speaks.
        name: Option<String>,
        /// The text.
        text: String,
    },
    /// A message of the assistant.
    Answer {
        /// The text.
        text: String,
    },
    /// A tool is called and gives this.
    ToolOutput {
        /// The text.
        text: String,
    },
    /// A prompt for which the agent searches the memory, and then answers.
    Ask {
        /// Who asks.
        name: Option<String>,
        /// What they type.
        prompt: String,
        /// What the agent searches for.
        query: String,
        /// What the agent answers.
        reply: String,
    },
    /// A pack is served for a prompt: exposure.
    Pack {
        /// The prompt.
        prompt: String,
    },
    /// The last pack of the session comes back.
    Echo {
        /// Who hands it back.
        name: Option<String>,
        /// In which way.
        form: EchoForm,
    },
}

/// How hosts and people hand back what was served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EchoForm {
    /// The whole text in a message of the person.
    Whole,
    /// Its lines as quotes.
    Quoted,
    /// As the output of a tool.
    Tool,
    /// Repeated by the assistant.
    Repeated,
}

impl EchoForm {
    pub(super) const ALL: [EchoForm; 4] =
        [EchoForm::Whole, EchoForm::Quoted, EchoForm::Tool, EchoForm::Repeated];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dreams::claim::{End, MINIMA, Matcher};
    use crate::dreams::words::ClaimKind;
    use std::collections::BTreeSet;

    fn year(seed: u64) -> Year {
        Year::generate(&YearRequest::new(seed, 365))
    }

    #[test]
    fn a_seed_gives_one_year_and_another_gives_another() {
        assert_eq!(year(7).days, year(7).days);
        assert_ne!(year(7).days, year(8).days);
    }

    #[test]
    fn exposure_changes_nothing_but_packs_and_echoes() {
        let exposed = Year::generate(&YearRequest { exposure: 10, ..YearRequest::new(7, 60) });
        let base = Year::generate(&YearRequest::new(7, 60));
        let is_exposure = |event: &&Event| matches!(event.act, Act::Pack { .. } | Act::Echo { .. });
        for (one, other) in base.days.iter().zip(&exposed.days) {
            let without = |day: &[Event]| -> Vec<Event> {
                day.iter().filter(|event| !is_exposure(event)).cloned().collect()
            };
            assert_eq!(without(one), without(other));
            let exposures = |day: &[Event]| day.iter().filter(is_exposure).count();
            assert_eq!(exposures(one) * 10, exposures(other));
        }
    }

    /// A year has enough of everything that the benchmark measures.
    #[test]
    fn a_year_holds_every_kind_and_the_plain_rules_would_fail_on_it() {
        for seed in [1, 2, 3] {
            let year = year(seed);
            for kind in ClaimKind::ALL {
                let count = year.claims.iter().filter(|claim| claim.kind == kind).count();
                assert!(count >= 8, "seed {seed}: {count} of {}", kind.as_str());
            }
            for end in [End::Superseded, End::Stopped] {
                let ended = year.claims.iter().filter(|it| it.ended.is_some_and(|it| it.1 == end));
                assert!(ended.count() >= 1, "seed {seed}: {end:?}");
            }
            let due: Vec<&Claim> =
                year.claims.iter().filter(|claim| claim.due_on(&MINIMA[0]).is_some()).collect();
            assert!(due.len() >= 20, "seed {seed}: {} due", due.len());
            let said_twice = due.iter().filter(|claim| claim.said_on.len() > 1).count();
            assert!(said_twice * 2 < due.len(), "seed {seed}: {said_twice} of {}", due.len());
            let tempting = year.claims.iter().filter(|claim| {
                claim.kind != ClaimKind::Durable
                    && (claim.evidence.len() >= 3 || claim.said_on.len() >= 2)
            });
            assert!(tempting.count() >= 20, "seed {seed}");
        }
    }

    /// What is said of a claim is what a matcher finds in it.
    #[test]
    fn texts_state_the_claims_that_they_are_about() {
        let year = year(4);
        let matcher = Matcher::new(&year.claims);
        let mut seen = BTreeSet::new();
        for event in year.days.iter().flatten() {
            let text = match &event.act {
                Act::Say { text, .. } | Act::Answer { text } | Act::ToolOutput { text } => text,
                _ => continue,
            };
            let stated = matcher.stated(text);
            assert_eq!(stated.is_known, event.claim.is_some(), "{text}");
            let ended = event.claim.and_then(|claim| year.claims[claim].ended);
            if stated.claims.is_empty() {
                assert!(event.claim.is_none() || ended.is_some_and(|it| it.1 == End::Stopped));
            } else {
                assert_eq!(stated.claims, Vec::from_iter(event.claim), "{text}");
            }
            seen.extend(event.claim);
        }
        assert_eq!(seen.len(), year.claims.len(), "a claim is never stated");
    }

    #[test]
    fn days_are_in_order_and_sessions_are_known() {
        let year = year(5);
        for day in &year.days {
            assert!(day.is_sorted_by_key(|event| event.second));
            assert!(day.iter().all(|event| year.sessions.contains_key(&event.session)));
        }
        for claim in &year.claims {
            assert!(claim.evidence.is_sorted_by_key(|evidence| evidence.day), "{claim:?}");
            assert!(claim.evidence.iter().all(|it| it.day > claim.first_day), "{claim:?}");
        }
    }
}
