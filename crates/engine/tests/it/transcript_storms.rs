//! Transcripts under faults and crowds: each line is stored once, and the place that was reached is
//! the place of what is stored.

use crate::support::{assert_sound, clock, id, ids, open, target};
use crate::transcript_files::{File, OWN, answer_line, capture, user_line};
use oneiro::{Agent, CaptureRequest, Captured, Durability, Oneiro, Options, Result};
use oneiro_store::{Fault, FaultPlan, Store};
use oneiro_testkit::{TestSpace, on_both_backends};
use std::collections::HashSet;

fn with_faults(space: &TestSpace, fault: &Fault) -> Result<Oneiro> {
    let options = Options { clock: clock(), ids: ids(), ..Options::default() };
    let store = oneiro_store::Options {
        durability: Durability::Normal,
        ..oneiro_store::Options::default()
    };
    let store = Store::open_with_faults(&target(space), &store, options.clock.now(), fault)?;
    Ok(Oneiro::over(store, options))
}

fn slices(oneiro: &Oneiro, file: &File) -> Result<Captured> {
    let limit = Some(std::time::Duration::from_secs(3_600));
    let request = CaptureRequest { limit, ..CaptureRequest::new(&file.path, Agent::ClaudeCode) };
    oneiro.transfer().capture_transcript(&request, &mut |_| {})
}

/// Every line once, in the order of the file.
fn assert_once(oneiro: &Oneiro, count: usize) {
    let messages = oneiro.sessions().show(&id(OWN), true).unwrap().messages;
    let order: Vec<_> = messages.iter().map(|message| message.external_id.clone()).collect();
    assert_eq!(order.len(), count);
    assert_eq!(order.iter().collect::<HashSet<_>>().len(), count);
    assert!(order.is_sorted(), "out of order");
}

on_both_backends! {
    fn after_a_fault_at_any_call_each_line_is_stored_once(space) {
        let mut fired_in_all = 0;
        for plan in [FaultPlan::FailAt, FaultPlan::CrashBefore, FaultPlan::CrashAfter] {
            let mut at = 1;
            loop {
                let space = TestSpace::new(space.backend);
                drop(open(&space));
                let file = File::new(&space, OWN);
                // Three batches, an answer across the end of the first.
                file.add_all((1..=127).map(|n| user_line(n, "x")));
                file.add_all((128..=131).map(|n| answer_line(n, "m1", "y", n)));
                file.add_all((132..=300).map(|n| user_line(n, "z")));
                let fault = Fault::new(plan(at));
                let outcome = with_faults(&space, &fault).and_then(|oneiro| slices(&oneiro, &file));
                let fired = fault.calls() >= at;
                assert!(fired || outcome.is_ok(), "failed without a fault: {outcome:?}");
                let oneiro = open(&space);
                assert_sound(&oneiro);
                let before = oneiro.stats().unwrap().messages;
                assert!([0, 128, 256, 300].contains(&before), "{before} messages, {:?}", plan(at));
                let captured = capture(&oneiro, &file);
                // The place is that of the rows: what is stored is not even read again.
                assert_eq!((captured.messages, captured.duplicates), (300 - before as usize, 0));
                assert_once(&oneiro, 300);
                let session = oneiro.sessions().find(&id(OWN)).unwrap().unwrap();
                assert_eq!((session.output_tokens, session.api_call_count), (131, 1));
                if !fired {
                    break;
                }
                fired_in_all += 1;
                // Most calls are the same insert again: every call of the beginning, then a sample.
                at += if at < 24 { 1 } else { 53 };
            }
        }
        assert!(fired_in_all > 60, "only {fired_in_all} faults were tried");
    }

    fn many_may_capture_one_file_while_it_grows(space) {
        let file = File::new(space, OWN);
        drop(open(space));
        let (rounds, each) = (20_u32, 40_u32);
        let stored: usize = std::thread::scope(|scope| {
            let (file, last) = (&file, rounds * each);
            let readers: Vec<_> = (0..4)
                .map(|_| scope.spawn(move || {
                    let oneiro = open(space);
                    let mut stored = 0;
                    // Until the last line is stored, by whomever.
                    loop {
                        stored += capture(&oneiro, file).messages;
                        let there = oneiro.sessions().find(&id(OWN)).unwrap();
                        if there.is_some_and(|session| session.message_count == i64::from(last)) {
                            return stored;
                        }
                    }
                }))
                .collect();
            for round in 0..rounds {
                let first = round * each + 1;
                file.add_all((first..first + each - 1).map(|n| user_line(n, "x")));
                file.tear(&user_line(first + each - 1, "torn"), 60);
                file.finish_torn_line();
            }
            readers.into_iter().map(|reader| reader.join().unwrap()).sum()
        });
        assert_eq!(stored, (rounds * each) as usize);
        let oneiro = open(space);
        assert_once(&oneiro, stored);
        assert_sound(&oneiro);
    }
}
