//! Decay of what machines made, and corrections that wait for a person.

use crate::memories::{agent, person, propose, remember, show, statement, undo};
use crate::support::{Fixed, begin, open, say};
use oneiro::{MemoryStatus, NewMemory, ReinforceRequest};
use oneiro_testkit::on_both_backends;
use std::time::Duration;

const DAY_SECONDS: i64 = 24 * 60 * 60;

/// Jobs that may be due at one time: one of each kind.
const JOBS_AT_ONCE_MAX: usize = 5;

/// Says something on each of these days, and then runs what is due.
fn live_through(oneiro: &Fixed, days: std::ops::RangeInclusive<i64>) {
    let last = *days.end();
    for day in days {
        oneiro.clock.set(day * DAY_SECONDS);
        say(oneiro, "chat", &["hello again"]);
    }
    oneiro.clock.set(last * DAY_SECONDS + 60);
    let ran = oneiro.jobs().run_local(Duration::from_secs(60)).unwrap();
    assert!(ran.done <= JOBS_AT_ONCE_MAX, "jobs queue each other without end: {ran:?}");
}

on_both_backends! {
    fn what_a_machine_made_and_nobody_used_decays_and_ends_invalid(space) {
        let oneiro = open(space);
        let (ann, bot) = (person(&oneiro), agent(&oneiro));
        begin(&oneiro, "chat");
        say(&oneiro, "chat", &["the build runs on the old machine in the cellar"]);
        let quoted = |content: &str| NewMemory {
            quote: Some("the build runs on the old machine".into()), ..statement(content)
        };
        let unused = remember(&bot, quoted("The build runs on an old machine")).memory;
        let used = remember(&bot, quoted("The build machine is in the cellar")).memory;
        let waiting = propose(&oneiro, "The machine is blue");
        let stated = remember(&ann, statement("The machine is loud")).memory;
        let confirmed = remember(&bot, quoted("The old machine builds")).memory;
        ann.memories().confirm(confirmed.id.as_str(), None).unwrap();
        bot.memories().reinforce(used.id.as_str(), ReinforceRequest::default()).unwrap();
        live_through(&oneiro, 1..=30);
        assert_eq!(show(&oneiro, unused.id.as_str()).confidence, 0.7);
        live_through(&oneiro, 31..=32);
        assert_eq!(show(&oneiro, unused.id.as_str()).confidence, 0.6586);
        // Days on which nothing was said do not count.
        oneiro.clock.set(300 * DAY_SECONDS);
        oneiro.jobs().run_local(Duration::from_secs(60)).unwrap();
        assert_eq!(show(&oneiro, unused.id.as_str()).confidence, 0.6586);
        live_through(&oneiro, 301..=330);
        for decayed in [&unused, &waiting] {
            assert_eq!(show(&oneiro, decayed.id.as_str()).status, MemoryStatus::Invalid, "{}", decayed.content);
        }
        for kept in [&used, &stated, &confirmed] {
            let now = show(&oneiro, kept.id.as_str());
            assert_eq!(now.status, MemoryStatus::Active, "{}", kept.content);
            assert!(now.confidence >= kept.confidence, "{}", kept.content);
        }
        let history = oneiro.memories().history(unused.id.as_str()).unwrap().items;
        let last = history.last().unwrap();
        assert_eq!(last.kind, "memory.forget");
        assert!(last.reason.as_deref().unwrap().starts_with("decayed"));
        undo(&ann, last.id.as_str()).unwrap();
        assert_eq!(show(&oneiro, unused.id.as_str()).status, MemoryStatus::Active);
    }

    fn a_correction_that_waits_replaces_the_old_memory_when_a_person_promotes_it(space) {
        let oneiro = open(space);
        let (ann, bot) = (person(&oneiro), agent(&oneiro));
        let old = remember(&ann, statement("The release is on Monday")).memory;
        let new = remember(&bot, NewMemory {
            replaces: Some(old.id.clone()), ..statement("The release is on Thursday")
        }).memory;
        assert_eq!((new.status, new.replaces.as_ref()), (MemoryStatus::Candidate, Some(&old.id)));
        assert_eq!(show(&oneiro, old.id.as_str()).status, MemoryStatus::Active);
        let promoted = ann.memories().promote(new.id.as_str(), None).unwrap();
        assert_eq!(promoted.memory.status, MemoryStatus::Active);
        let replaced = show(&oneiro, old.id.as_str());
        assert_eq!((replaced.status, replaced.superseded_by), (MemoryStatus::Superseded, Some(new.id.clone())));
        // Both are one group.
        undo(&ann, promoted.group.unwrap().as_str()).unwrap();
        assert_eq!(show(&oneiro, old.id.as_str()).status, MemoryStatus::Active);
        assert_eq!(show(&oneiro, new.id.as_str()).replaces, Some(old.id.clone()));
    }
}
