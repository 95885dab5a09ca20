//! Jobs: claimed under a lease, run by one at a time, put back or given up.

use crate::support::{NOW, open};
use oneiro::{Job, JobId, JobState, NewJob, Oneiro, Span, Timestamp};
use oneiro_store::jobs::{self, Failure};
use oneiro_testkit::on_both_backends;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

fn job(number: u8, unique_key: Option<&str>) -> NewJob {
    NewJob {
        id: JobId::from_random([number; 10]),
        kind: "scrub".into(),
        payload: json!({"n": number}),
        unique_key: unique_key.map(Into::into),
        run_at: NOW,
    }
}

fn add(oneiro: &Oneiro, job: NewJob) -> JobId {
    oneiro.store().write(move |tx| jobs::add(tx, &job, NOW)).unwrap()
}

fn claim(oneiro: &Oneiro, holder: &'static str, now: Timestamp) -> Option<Job> {
    oneiro.store().write(move |tx| jobs::claim(tx, holder, Span::seconds(60), now)).unwrap()
}

fn at(seconds: i64) -> Timestamp {
    NOW.plus(Span::seconds(seconds))
}

on_both_backends! {
    fn a_job_is_held_under_a_lease_and_taken_again_when_it_runs_out(space) {
        let oneiro = open(space);
        let id = add(&oneiro, job(1, None));
        assert!(claim(&oneiro, "early", at(-1)).is_none());
        let held = claim(&oneiro, "one", at(0)).unwrap();
        assert_eq!((held.id.clone(), held.attempts, held.state, held.lease_until), (id.clone(), 1, JobState::Running, Some(at(60))));
        assert!(claim(&oneiro, "two", at(59)).is_none());
        let again = claim(&oneiro, "two", at(60)).unwrap();
        assert_eq!((again.id, again.attempts), (id.clone(), 2));
        // The first holder has lost it.
        let (gone, lost) = (id.clone(), id.clone());
        assert!(!oneiro.store().write(move |tx| jobs::finish(tx, &gone, "one", at(61))).unwrap());
        assert!(!oneiro.store().write(move |tx| jobs::extend(tx, &lost, "one", (at(99), at(61)))).unwrap());
        let kept = id.clone();
        assert!(oneiro.store().write(move |tx| jobs::extend(tx, &kept, "two", (at(200), at(61)))).unwrap());
        assert!(claim(&oneiro, "three", at(199)).is_none());
        assert!(oneiro.store().write(move |tx| jobs::finish(tx, &id, "two", at(62))).unwrap());
        assert_eq!(oneiro.stats().unwrap().jobs, 0);
        assert!(claim(&oneiro, "three", at(500)).is_none());
    }

    fn a_job_whose_holders_all_die_is_given_up(space) {
        let oneiro = open(space);
        add(&oneiro, job(1, None));
        let mut deaths = 0;
        while let Some(job) = claim(&oneiro, "doomed", at(deaths * 60)) {
            deaths += 1;
            assert_eq!(job.attempts, deaths);
            assert!(deaths < 20, "it is claimed for ever");
        }
        assert_eq!(deaths, 8);
        let page = oneiro.list_jobs(None, 10).unwrap();
        assert_eq!(page.items[0].state, JobState::Failed);
        assert!(page.items[0].last_error.as_deref().unwrap().contains("died"));
    }

    fn a_failing_job_is_repeated_later_and_later_and_then_given_up(space) {
        let oneiro = open(space);
        add(&oneiro, job(1, None));
        let mut now = at(0);
        let mut pauses = Vec::new();
        while let Some(job) = claim(&oneiro, "h", now) {
            oneiro.store().write(move |tx| {
                jobs::fail(tx, &Failure { job: &job, holder: "h", error: "no luck" }, now)
            }).unwrap();
            let job = oneiro.list_jobs(None, 9).unwrap().items.remove(0);
            assert_eq!(job.last_error.as_deref(), Some("no luck"));
            if job.state == JobState::Failed {
                break;
            }
            assert!(claim(&oneiro, "h", now).is_none(), "repeated at once");
            pauses.push(job.next_run_at.micros() - now.micros());
            now = job.next_run_at;
        }
        assert_eq!(pauses.len(), 7);
        assert!(pauses.is_sorted_by(|a, b| a < b), "{pauses:?}");
        assert_eq!(oneiro.stats().unwrap().jobs, 0);
    }

    fn two_drainers_never_run_one_job_twice(space) {
        let oneiro = open(space);
        for number in 0..40 {
            add(&oneiro, job(number, None));
        }
        let taken: Vec<JobId> = std::thread::scope(|scope| {
            let drainers: Vec<_> = ["one", "two", "three", "four"].map(|holder| scope.spawn(move || {
                let other = open(space);
                std::iter::from_fn(|| claim(&other, holder, at(0))).map(|job| job.id).collect::<Vec<_>>()
            })).into_iter().collect();
            drainers.into_iter().flat_map(|drainer| drainer.join().unwrap()).collect()
        });
        assert_eq!((taken.len(), taken.iter().collect::<BTreeSet<_>>().len()), (40, 40));
    }

    fn at_most_one_job_waits_for_each_unique_key(space) {
        let oneiro = open(space);
        let first = add(&oneiro, job(1, Some("k")));
        assert_eq!(add(&oneiro, job(2, Some("k"))), first);
        assert_ne!(add(&oneiro, job(3, Some("other"))), first);
        let held = claim(&oneiro, "h", at(0)).unwrap();
        assert_eq!(add(&oneiro, job(4, Some("k"))), held.id);
        oneiro.store().write(move |tx| jobs::finish(tx, &held.id, "h", at(1))).unwrap();
        assert_ne!(add(&oneiro, job(5, Some("k"))), first);
    }

    fn draining_runs_what_is_due_and_keeps_what_it_cannot_do(space) {
        let oneiro = open(space);
        add(&oneiro, job(1, None));
        add(&oneiro, NewJob { kind: "from the future".into(), payload: Value::Null, ..job(2, None) });
        add(&oneiro, NewJob { run_at: at(1_000), ..job(3, None) });
        let ran = oneiro.run_jobs(Duration::from_secs(60)).unwrap();
        assert_eq!((ran.done, ran.failed), (1, 1));
        assert_eq!(oneiro.stats().unwrap().jobs, 2);
        let page = oneiro.list_jobs(None, 2).unwrap();
        let rest = oneiro.list_jobs(page.next, 2).unwrap();
        assert_eq!((page.items.len(), rest.items.len(), rest.next), (2, 1, None));
        assert!(page.items[1].last_error.as_deref().unwrap().contains("from the future"));
    }
}
