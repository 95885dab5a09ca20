//! Windows and searches of a store that cannot be written now: another process writes, or the disk
//! is full. They are answered, and lack only what could not be stored.

use crate::context_windows::{reachable, talk, window};
use crate::support::{clock, id as sid, ids, open, target};
use oneiro::{Durability, Oneiro, Options, SearchRequest, SessionId, WindowRequest};
use oneiro_store::{Fault, FaultPlan, Store};
use oneiro_testkit::{TestSpace, on_both_backends};
use std::sync::mpsc;

/// Turns of two messages: more than a reader counts without storing the counts.
const TURNS: usize = 120;

const BUDGET: usize = 2_000;

/// A window within the budget, with every message in it or in reach of it.
fn assert_window_is_shown(oneiro: &Oneiro, id: &SessionId, peek: bool) {
    let request = WindowRequest { budget: BUDGET, peek, ..WindowRequest::default() };
    let shown = oneiro.context().window(id, &request).unwrap();
    assert!(shown.tokens <= BUDGET, "{} tokens", shown.tokens);
    let newest = shown.messages.last().unwrap()["content"].to_string();
    assert!(newest.contains(&format!("turn {}", TURNS - 1)), "{newest}");
    let in_it = shown.messages.iter().filter(|message| message["role"] != "system").count();
    assert_eq!(reachable(oneiro, id, &shown).len() + in_it, 2 * TURNS);
}

/// Calls `during` while another handle holds the write lock.
fn while_another_writes(space: &TestSpace, during: impl FnOnce()) {
    let other = open(space);
    let (holds, held) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let written = other.oneiro.store().write_bulk(|_| {
                holds.send(()).unwrap();
                released.recv().ok();
                Ok(())
            });
            written.unwrap();
        });
        held.recv().unwrap();
        during();
        drop(release);
    });
}

on_both_backends! {
    fn a_window_and_a_search_do_not_wait_for_a_writer(space) {
        let oneiro = open(space);
        talk(&oneiro, &sid("s"), TURNS);
        while_another_writes(space, || {
            assert_window_is_shown(&oneiro, &sid("s"), true);
            assert_window_is_shown(&oneiro, &sid("s"), false);
            let found = oneiro.search().run(&SearchRequest::new("marathon")).unwrap();
            assert!(!found.hits.is_empty());
        });
    }

    fn a_full_store_shows_windows_without_storing_anything(space) {
        talk(&open(space), &sid("s"), TURNS);
        let fault = Fault::new(FaultPlan::Count);
        let options = Options { clock: clock(), ids: ids(), ..Options::default() };
        let store = oneiro_store::Options {
            durability: Durability::Normal,
            ..oneiro_store::Options::default()
        };
        let store =
            Store::open_with_faults(&target(space), &store, options.clock.now(), &fault).unwrap();
        let full = Oneiro::over(store, options);
        fault.refuse_writes();
        assert_window_is_shown(&full, &sid("s"), true);
        assert_window_is_shown(&full, &sid("s"), false);
        // The windows are the same as in a store that can be written and was not looked at.
        let writable = open(space);
        let (full, writable) =
            (window(&full, &sid("s"), BUDGET), window(&writable, &sid("s"), BUDGET));
        assert_eq!((full.messages, full.tokens), (writable.messages, writable.tokens));
    }
}
