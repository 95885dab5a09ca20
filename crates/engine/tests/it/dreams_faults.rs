//! A crash or a failure at any call of a dream: it is applied as a whole or not at all, and after the
//! lease of the dead a later dream applies it.

use crate::dreams::{NIGHT_SECONDS, learn_peanuts, memory_note};
use crate::support::{FaultCalls, clock, ids, open as open_sound, target};
use oneiro::{
    DreamIssue, DreamOutcome, DreamRequest, DreamRun, Durability, ListOperations, Oneiro, Options,
    PageOf, Result,
};
use oneiro_store::{Fault, FaultPlan, Store};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};

/// Seconds between two attempts: more than a lease.
const ATTEMPT_SECONDS: i64 = 300;

fn open(space: &TestSpace, seconds: i64, fault: &Fault) -> Result<Oneiro> {
    let (clock, ids) = (clock(), ids());
    clock.set(seconds);
    let options = Options { clock, ids, ..Options::default() };
    let store = oneiro_store::Options {
        durability: Durability::Normal,
        ..oneiro_store::Options::default()
    };
    let store = Store::open_with_faults(&target(space), &store, options.clock.now(), fault)?;
    Ok(Oneiro::over(store, options))
}

fn open_without_faults(space: &TestSpace, seconds: i64) -> Oneiro {
    open(space, seconds, &Fault::new(FaultPlan::Count)).unwrap()
}

/// A space with a claim that has earned its promotion.
fn space_with_promotable_claim(backend: Backend) -> TestSpace {
    let space = TestSpace::new(backend);
    learn_peanuts(&open_sound(&space));
    space
}

fn dream(oneiro: &Oneiro) -> Result<DreamRun> {
    oneiro.dreams().run(&DreamRequest::default())
}

/// Note, ledger and operations tell the same; returns whether the dream was applied.
fn assert_whole_or_nothing(oneiro: &Oneiro, at: u64) -> bool {
    // The lease of the dead is all that doctor may find.
    let checked = oneiro.check().unwrap();
    let is_lease = |issue: &DreamIssue| issue.code == "dream-lease-stale";
    assert!(checked.dreams.iter().all(is_lease), "call {at}: {checked:?}");
    assert!(checked.ok || !checked.dreams.is_empty(), "call {at}: {checked:?}");
    let ledger = oneiro.dreams().list(&PageOf { limit: 500, ..PageOf::default() }).unwrap().items;
    let applied = ledger.iter().filter(|dream| dream.outcome == DreamOutcome::Processed).count();
    let lines = memory_note(oneiro).matches("peanuts").count();
    let request = ListOperations { limit: 500, ..ListOperations::default() };
    let operations = oneiro.operations().list(&request).unwrap().items;
    let of_notes = operations.iter().filter(|one| one.kind.starts_with("note.")).count();
    assert!(applied <= 1 && lines == applied, "call {at}: {applied} dreams, {lines} lines");
    assert_eq!(of_notes > 0, applied == 1, "call {at}: {operations:?}");
    applied == 1
}

fn assert_atomic_at_every_call(backend: Backend, plan: fn(u64) -> FaultPlan) {
    let mut space = space_with_promotable_claim(backend);
    let (mut last_call, mut seconds) = (0, NIGHT_SECONDS);
    for at in FaultCalls::new(backend, plan(0)) {
        let fault = Fault::new(plan(at));
        let done = open(&space, seconds, &fault).and_then(|oneiro| dream(&oneiro));
        let fired = fault.calls() >= at;
        assert!(fired || done.is_ok(), "failed without a fault: {done:?}");
        seconds += ATTEMPT_SECONDS;
        let is_applied = assert_whole_or_nothing(&open_without_faults(&space, seconds), at);
        if !fired {
            assert!(is_applied, "the last dream met no fault");
            break;
        }
        if is_applied {
            space = space_with_promotable_claim(backend);
            seconds = NIGHT_SECONDS;
        }
        last_call = at;
    }
    assert!(last_call > 30, "a dream makes only {last_call} calls");
}

on_both_backends! {
    fn a_failure_at_any_call_applies_all_of_a_dream_or_nothing(space) {
        assert_atomic_at_every_call(space.backend, FaultPlan::FailAt);
    }

    fn a_crash_before_any_call_applies_all_of_a_dream_or_nothing(space) {
        assert_atomic_at_every_call(space.backend, FaultPlan::CrashBefore);
    }

    fn a_crash_after_any_call_applies_all_of_a_dream_or_nothing(space) {
        assert_atomic_at_every_call(space.backend, FaultPlan::CrashAfter);
    }
}
