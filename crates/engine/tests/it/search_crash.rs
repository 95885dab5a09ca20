//! Crashes: whatever a fold, a merge, a sweep, a rebuild or an erasure was at when its process
//! died, nothing acknowledged is missing from search, and nothing half-written answers.

use crate::search_child::Other;
use crate::search_support::{
    all_segments, assert_swept, exists, find, fold, ids, newest, open, own_ids, rebuild, request,
    search, without_segments,
};
use crate::support::{assert_sound, begin, clock, id, say, target};
use oneiro::{Durability, EraseTarget, MessageId, Oneiro, Options, Result};
use oneiro_store::segments::Stage;
use oneiro_store::{Fault, FaultPlan, Store};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};

fn open_with(space: &TestSpace, fault: &Fault) -> Result<Oneiro> {
    let options = Options { clock: clock(), ids: own_ids(), ..Options::default() };
    let store = oneiro_store::Options {
        durability: Durability::Normal,
        ..oneiro_store::Options::default()
    };
    let store = Store::open_with_faults(&target(space), &store, options.clock.now(), fault)?;
    Ok(Oneiro::over(store, options))
}

/// Five segments and a tail, so that the next fold also merges and sweeps.
fn add_fixture(oneiro: &Oneiro, said: &mut Vec<i64>) {
    if said.len() > 40 {
        // Begin again, or the last of many attempts would take the longest.
        oneiro.sessions().delete(&id("s")).unwrap();
        begin(oneiro, "s");
        *said = vec![say(oneiro, "s", &["dunnock number0"])[0]];
    }
    without_segments(oneiro);
    fold(oneiro);
    for turn in 0..5 {
        said.push(say(oneiro, "s", &[&format!("dunnock number{}", said.len())])[0]);
        if turn < 4 {
            fold(oneiro);
        }
    }
    assert_eq!(all_segments(oneiro).len(), 5);
}

/// Everything said is found, newest first, and each of the last by its own word.
fn assert_all_found(oneiro: &Oneiro, said: &[i64], why: &str) {
    let wanted: Vec<i64> = said.iter().rev().take(200).copied().collect();
    assert_eq!(newest(oneiro, "dunnock"), wanted, "{why}");
    for (at, id) in said.iter().enumerate().rev().take(6) {
        let found = find(oneiro, &format!("(number{at})"));
        assert_eq!(found, [*id], "{why}: number{at}");
    }
}

/// Lets the n-th call of `work` fail, for every n there is and each way of failing.
fn assert_survives_faults(
    space: &TestSpace,
    work: fn(&Oneiro, &mut Vec<i64>) -> Result<()>,
    least: u64,
) {
    let opening = Fault::new(FaultPlan::Count);
    let oneiro = open_with(space, &opening).unwrap();
    begin(&oneiro, "s");
    let mut said = vec![say(&oneiro, "s", &["dunnock number0"])[0]];
    drop(oneiro);
    let opening = Fault::new(FaultPlan::Count);
    drop(open_with(space, &opening).unwrap());
    let mut tried = 0;
    for plan in [FaultPlan::FailAt, FaultPlan::CrashBefore, FaultPlan::CrashAfter] {
        let mut at = opening.calls();
        loop {
            // Both engines are asked the same, so on the slower one some of the calls will do.
            at += if space.backend == Backend::Postgres { 6 } else { 1 };
            let why = format!("{:?}", plan(at));
            let repaired = open(space);
            add_fixture(&repaired, &mut said);
            drop(repaired);
            let fault = Fault::new(plan(at));
            let faulty = open_with(space, &fault).unwrap();
            let outcome = work(&faulty, &mut said);
            drop(faulty);
            if fault.calls() < at {
                outcome.unwrap_or_else(|error| panic!("{why}: {error}"));
                break;
            }
            tried += 1;
            let oneiro = open(space);
            said.retain(|id| exists(&oneiro, *id));
            assert_sound(&oneiro);
            // Numbers are by position, and an erasure moves them: only the newest tell.
            let wanted: Vec<i64> = said.iter().rev().take(200).copied().collect();
            assert_eq!(newest(&oneiro, "dunnock"), wanted, "{why}");
            // An hour later the next fold removes what was abandoned.
            oneiro.clock.set(3_600);
            fold(&oneiro);
            oneiro.jobs().run(std::time::Duration::from_secs(60)).unwrap();
            rebuild(&oneiro);
            assert_swept(&oneiro);
            assert_sound(&oneiro);
            assert_eq!(newest(&oneiro, "dunnock"), wanted, "{why}, repaired");
        }
    }
    assert!(tried >= least, "only {tried} faults were tried");
}

on_both_backends! {
    fn indexing_survives_a_fault_at_any_call(space) {
        assert_survives_faults(space, |oneiro, _| oneiro.index().catch_up(&mut |_, _| {}), 15);
    }

    fn a_rebuild_survives_a_fault_at_any_call(space) {
        assert_survives_faults(space, |oneiro, _| oneiro.index().rebuild(&mut |_, _| {}), 15);
    }

    fn an_erasure_survives_a_fault_at_any_call(space) {
        // One in a segment, one in the tail.
        assert_survives_faults(space, |oneiro, said| {
            oneiro.erase(&EraseTarget::Message(MessageId(said[said.len() - 3])))?;
            oneiro.erase(&EraseTarget::Message(MessageId(said[said.len() - 1]))).map(drop)
        }, 15);
    }

    fn a_search_after_a_fault_at_any_call_is_complete(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let mut said = vec![say(&oneiro, "s", &["dunnock number0"])[0]];
        add_fixture(&oneiro, &mut said);
        let opening = Fault::new(FaultPlan::Count);
        drop(open_with(space, &opening).unwrap());
        let mut at = opening.calls();
        loop {
            at += 1;
            let fault = Fault::new(FaultPlan::FailAt(at));
            let faulty = open_with(space, &fault).unwrap();
            let first = faulty.search().run(&request("dunnock number3"));
            let fired = fault.calls() >= at;
            if !fired {
                first.unwrap();
                break;
            }
            // Nothing of a failed search is kept that would make the next one wrong.
            let again = ids(&search(&faulty, request("dunnock number3")));
            assert_eq!(again, find(&oneiro, "dunnock number3"), "{at}");
            assert_all_found(&faulty, &said, "after a failed search");
        }
        assert!(at > opening.calls() + 5);
    }

    fn a_partially_written_segment_is_never_searched_and_is_removed(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let mut said = vec![say(&oneiro, "s", &["dunnock number0"])[0]];
        add_fixture(&oneiro, &mut said);
        drop(oneiro);
        // Somewhere on its way a merge leaves a segment that is being written.
        let mut found = false;
        for at in 1..200 {
            let fault = Fault::new(FaultPlan::CrashBefore(at));
            let Ok(faulty) = open_with(space, &fault) else { continue };
            let _ = faulty.index().catch_up(&mut |_, _| {});
            drop(faulty);
            let oneiro = open(space);
            if !all_segments(&oneiro).iter().any(|segment| segment.stage == Stage::Written) {
                continue;
            }
            found = true;
            assert_all_found(&oneiro, &said, "half written");
            assert_sound(&oneiro);
            // Its writer may still be at it.
            fold(&oneiro);
            assert_all_found(&oneiro, &said, "half written, folded");
            let is_written = |oneiro: &Oneiro| all_segments(oneiro).iter().any(|segment| segment.stage == Stage::Written);
            assert!(is_written(&oneiro));
            oneiro.clock.set(700);
            fold(&oneiro);
            assert!(!is_written(&oneiro));
            assert_swept(&oneiro);
            assert_all_found(&oneiro, &said, "swept");
            break;
        }
        assert!(found, "no call of a merge leaves a half-written segment");
    }

    fn messages_acknowledged_before_a_kill_are_found_after_it(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let mut acknowledged: Vec<(String, i64)> = Vec::new();
        for round in 0..5 {
            let mut other = Other::on(space);
            other.send(&format!("hammer {round}"));
            let batches_before_kill = [1, 60, 7, 30, 90][round];
            for n in 0.. {
                let Some(said) = other.receive() else { break };
                let [word, first, last] = said.split(' ').collect::<Vec<_>>()[..] else { panic!("{said}") };
                let (first, last): (i64, i64) = (first.parse().unwrap(), last.parse().unwrap());
                assert_eq!(last - first, 3, "a batch in one piece");
                acknowledged.push((word.to_owned(), first));
                if n == batches_before_kill {
                    other.kill();
                }
            }
            drop(other);
            let fresh = open(space);
            assert_sound(&fresh);
            for (word, first) in acknowledged.iter().rev().take(40) {
                for handle in [&fresh, &oneiro] {
                    let mut found = find(handle, word);
                    found.sort_unstable();
                    assert_eq!(found, [*first, first + 1, first + 2, first + 3], "{word}");
                }
            }
        }
        oneiro.clock.set(3_600);
        fold(&oneiro);
        // The clock of the killed is the machine's, and that of this handle began before.
        assert_sound(&oneiro);
        for (word, first) in &acknowledged {
            let mut found = find(&oneiro, word);
            found.sort_unstable();
            assert_eq!(found, [*first, first + 1, first + 2, first + 3], "{word}");
        }
        rebuild(&oneiro);
        assert_swept(&oneiro);
        assert_sound(&oneiro);
        assert_eq!(newest(&oneiro, "hammered").len(), 200);
    }
}

/// A space where nothing was ever folded has nothing to sweep, and a rebuild of it is one.
#[test]
fn an_empty_space_can_be_indexed_rebuilt_and_searched() {
    let space = TestSpace::new(Backend::Sqlite);
    let oneiro = open(&space);
    fold(&oneiro);
    rebuild(&oneiro);
    rebuild(&oneiro);
    assert_eq!(find(&oneiro, "anything"), [0; 0]);
    assert_sound(&oneiro);
    begin(&oneiro, "s");
    let said = say(&oneiro, "s", &["anything goes"])[0];
    assert_eq!(oneiro.sessions().show(&id("s"), true).unwrap().messages.len(), 1);
    assert_eq!(find(&oneiro, "anything"), [said]);
}
