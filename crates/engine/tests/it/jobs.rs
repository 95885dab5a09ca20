//! Jobs: claimed under a lease, run by one at a time, put back or given up.

use crate::support::{NOW, open};
use oneiro::{Job, JobId, JobNeed, JobState, NewJob, Oneiro, Span, Timestamp};
use oneiro_store::jobs::{self, Claim, Failure};
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
        needs: None,
        run_at: NOW,
    }
}

fn add(oneiro: &Oneiro, job: NewJob) -> JobId {
    oneiro.store().write(move |tx| jobs::add(tx, &job, NOW)).unwrap()
}

fn claim(oneiro: &Oneiro, holder: &'static str, now: Timestamp) -> Option<Job> {
    claim_with(oneiro, holder, now, &[])
}

fn claim_with(
    oneiro: &Oneiro,
    holder: &'static str,
    now: Timestamp,
    can_meet: &[JobNeed],
) -> Option<Job> {
    let lease = Span::seconds(60);
    let claim = Claim { holder: holder.to_owned(), lease, now, can_meet: can_meet.to_vec() };
    let is_due = oneiro.store().read(|tx| jobs::is_due(tx, &claim)).unwrap();
    let claimed = oneiro.store().write(move |tx| jobs::claim(tx, &claim)).unwrap();
    assert!(is_due || claimed.is_none());
    claimed
}

fn at(seconds: i64) -> Timestamp {
    NOW.plus(Span::seconds(seconds))
}

on_both_backends! {
    fn a_job_can_be_claimed_again_when_its_lease_expires(space) {
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
        assert!(!oneiro.store().write(move |tx| jobs::extend(tx, &lost, "one", jobs::Lease { until: at(99), now: at(61) })).unwrap());
        let kept = id.clone();
        assert!(oneiro.store().write(move |tx| jobs::extend(tx, &kept, "two", jobs::Lease { until: at(200), now: at(61) })).unwrap());
        assert!(claim(&oneiro, "three", at(199)).is_none());
        assert!(oneiro.store().write(move |tx| jobs::finish(tx, &id, "two", at(62))).unwrap());
        assert_eq!(oneiro.stats().unwrap().jobs, 0);
        assert!(claim(&oneiro, "three", at(500)).is_none());
    }

    fn a_job_whose_holders_all_die_fails(space) {
        let oneiro = open(space);
        add(&oneiro, job(1, None));
        let mut deaths = 0;
        while let Some(job) = claim(&oneiro, "doomed", at(deaths * 60)) {
            deaths += 1;
            assert_eq!(job.attempts, deaths);
            assert!(deaths < 20, "it is claimed for ever");
        }
        assert_eq!(deaths, 8);
        let page = oneiro.jobs().list(None, 10).unwrap();
        assert_eq!(page.items[0].state, JobState::Failed);
        assert!(page.items[0].last_error.as_deref().unwrap().contains("died"));
    }

    fn a_failing_job_is_retried_with_growing_delays_and_then_fails(space) {
        let oneiro = open(space);
        add(&oneiro, job(1, None));
        let mut now = at(0);
        let mut pauses = Vec::new();
        while let Some(job) = claim(&oneiro, "h", now) {
            oneiro.store().write(move |tx| {
                jobs::fail(tx, &Failure { job: &job, holder: "h", error: "no luck" }, now)
            }).unwrap();
            let job = oneiro.jobs().list(None, 9).unwrap().items.remove(0);
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

    fn two_drainers_run_each_job_once(space) {
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

    fn a_unique_key_has_at_most_one_queued_and_one_running_job(space) {
        let oneiro = open(space);
        let first = add(&oneiro, job(1, Some("k")));
        assert_eq!(add(&oneiro, job(2, Some("k"))), first);
        let held = claim(&oneiro, "h", at(0)).unwrap();
        // What is added while the first runs is not swallowed by it, and waits for its end.
        let follow_up = add(&oneiro, job(4, Some("k")));
        assert_ne!(follow_up, held.id);
        assert_eq!(add(&oneiro, job(5, Some("k"))), follow_up);
        assert!(claim(&oneiro, "other", at(1)).is_none());
        oneiro.store().write(move |tx| jobs::finish(tx, &held.id, "h", at(1))).unwrap();
        assert_eq!(claim(&oneiro, "other", at(1)).unwrap().id, follow_up);
    }

    fn a_failed_or_released_job_is_replaced_by_its_follow_up(space) {
        let oneiro = open(space);
        for how in ["fail", "release"] {
            let held = add(&oneiro, job(if how == "fail" { 1 } else { 2 }, Some("k")));
            let job_held = claim(&oneiro, "h", at(0)).unwrap();
            let follow_up = add(&oneiro, job(if how == "fail" { 3 } else { 4 }, Some("k")));
            oneiro.store().write(move |tx| match how {
                "fail" => jobs::fail(tx, &Failure { job: &job_held, holder: "h", error: "no" }, at(1)),
                _ => jobs::release(tx, &held, "h", at(1)),
            }).unwrap();
            assert_eq!(claim(&oneiro, "h", at(1)).unwrap().id, follow_up);
            let id = follow_up.clone();
            oneiro.store().write(move |tx| jobs::finish(tx, &id, "h", at(2))).unwrap();
            assert!(claim(&oneiro, "h", at(2)).is_none());
        }
    }

    fn an_interrupted_job_is_claimed_at_once_and_its_attempt_is_not_counted(space) {
        let oneiro = open(space);
        add(&oneiro, job(1, Some("k")));
        let held = claim(&oneiro, "h", at(0)).unwrap();
        oneiro.store().write(move |tx| jobs::release(tx, &held.id, "h", at(1))).unwrap();
        assert_eq!(claim(&oneiro, "next", at(1)).unwrap().attempts, 1);
    }

    fn a_job_is_claimed_only_by_a_process_with_the_required_model(space) {
        let oneiro = open(space);
        add(&oneiro, NewJob { needs: Some(JobNeed::Model), ..job(1, None) });
        assert!(claim(&oneiro, "plain", at(0)).is_none());
        assert!(claim_with(&oneiro, "vectors", at(0), &[JobNeed::Embedder]).is_none());
        let held = claim_with(&oneiro, "model", at(0), &[JobNeed::Model]).unwrap();
        assert_eq!(held.needs, Some(JobNeed::Model));
        // A job that is queued again with a need has it from then on.
        let plain = add(&oneiro, job(2, Some("k")));
        assert_eq!(add(&oneiro, NewJob { needs: Some(JobNeed::Model), ..job(3, Some("k")) }), plain);
        assert!(claim(&oneiro, "plain", at(0)).is_none());
        assert_eq!(claim_with(&oneiro, "model", at(0), &[JobNeed::Model]).unwrap().id, plain);
    }

    fn a_job_without_its_model_runs_without_it_after_an_hour(space) {
        let oneiro = open(space);
        let id = add(&oneiro, NewJob { needs: Some(JobNeed::Model), ..job(1, Some("k")) });
        assert!(claim(&oneiro, "plain", at(3_599)).is_none());
        assert_eq!(claim(&oneiro, "plain", at(3_600)).unwrap().id, id);
    }

    fn a_job_of_a_dead_holder_waits_while_its_follow_up_runs(space) {
        let oneiro = open(space);
        let id = add(&oneiro, NewJob { needs: Some(JobNeed::Model), ..job(1, Some("k")) });
        claim_with(&oneiro, "dead", at(0), &[JobNeed::Model]).unwrap();
        let follow_up = add(&oneiro, job(2, Some("k")));
        // The lease of the dead is over; a process without the model takes the follow-up.
        assert_eq!(claim(&oneiro, "plain", at(61)).unwrap().id, follow_up);
        assert!(claim_with(&oneiro, "model", at(62), &[JobNeed::Model]).is_none());
        oneiro.store().write(move |tx| jobs::finish(tx, &follow_up, "plain", at(63))).unwrap();
        assert_eq!(claim_with(&oneiro, "model", at(64), &[JobNeed::Model]).unwrap().id, id);
    }

    fn a_clock_that_was_days_ahead_does_not_block_jobs(space) {
        let oneiro = open(space);
        let days = 2 * 86_400;
        let id = add(&oneiro, job(1, Some("k")));
        assert_eq!(claim(&oneiro, "ahead", at(days)).unwrap().id, id);
        let follow_up = add(&oneiro, NewJob { run_at: at(days), ..job(2, Some("k")) });
        let again = claim(&oneiro, "right", at(1)).unwrap();
        assert_eq!((again.id.clone(), again.attempts), (id, 2));
        oneiro.store().write(move |tx| jobs::finish(tx, &again.id, "right", at(2))).unwrap();
        assert_eq!(claim(&oneiro, "right", at(2)).unwrap().id, follow_up);
    }

    fn draining_runs_due_jobs_and_keeps_unknown_ones(space) {
        let oneiro = open(space);
        add(&oneiro, job(1, None));
        add(&oneiro, NewJob { kind: "from the future".into(), payload: Value::Null, ..job(2, None) });
        add(&oneiro, NewJob { run_at: at(1_000), ..job(3, None) });
        let ran = oneiro.jobs().run(Duration::from_secs(60)).unwrap();
        assert_eq!((ran.done, ran.failed), (1, 1));
        assert_eq!(oneiro.stats().unwrap().jobs, 2);
        let page = oneiro.jobs().list(None, 2).unwrap();
        let rest = oneiro.jobs().list(page.next, 2).unwrap();
        assert_eq!((page.items.len(), rest.items.len(), rest.next), (2, 1, None));
        assert!(page.items[1].last_error.as_deref().unwrap().contains("from the future"));
    }
}
