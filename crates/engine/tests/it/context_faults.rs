//! A crash or a failure at any statement of a compaction, a split, a redo, a pin or a set history:
//! the session is as before a step or as after it, everything is in reach, and going on works.

use crate::context_support::{
    Scripted, agent, assert_context_rules, by_hand, live, prose, until, user, words_in_reach,
};
use crate::support::{clock, content, id as sid, ids, new, target};
use oneiro::{CompactRequest, Durability, NewMessage, Oneiro, Options, Result, SplitRequest};
use oneiro_store::{Fault, FaultPlan, Store};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use std::collections::BTreeSet;
use std::sync::Arc;

fn turns() -> Vec<NewMessage> {
    (0..24)
        .flat_map(|at| [user(format!("Turn {at}. {}", prose(at, 60))), agent(prose(at + 500, 60))])
        .collect()
}

type Step = fn(&Oneiro) -> Result<()>;

const STEPS: &[(&str, Step)] = &[
    ("compact", |oneiro| {
        oneiro
            .context()
            .compact(&sid("s"), &CompactRequest { until: Some(900), redo: false })
            .map(drop)
    }),
    ("redo", |oneiro| {
        oneiro
            .context()
            .compact(&sid("s"), &CompactRequest { until: Some(900), redo: true })
            .map(drop)
    }),
    ("set_history", |oneiro| {
        oneiro
            .messages()
            .set_history(&sid("s"), turns().into_iter().take(30).chain([user("new")]).collect())
            .map(drop)
    }),
    ("split", |oneiro| {
        oneiro
            .sessions()
            .split(&sid("s"), SplitRequest { id: Some(sid("child")), until: Some(800) })
            .map(drop)
    }),
];

fn open(space: &TestSpace, model: bool, fault: &Fault) -> Result<Oneiro> {
    let llm = model.then(|| Scripted::good() as Arc<_>);
    let options = Options { clock: clock(), ids: ids(), llm, ..Options::default() };
    let store = oneiro_store::Options {
        durability: Durability::Normal,
        ..oneiro_store::Options::default()
    };
    let store = Store::open_with_faults(&target(space), &store, options.clock.now(), fault)?;
    Ok(Oneiro::over(store, options))
}

fn open_without_faults(space: &TestSpace) -> Oneiro {
    open(space, false, &Fault::new(FaultPlan::Count)).unwrap()
}

fn furnished(backend: Backend, steps: usize) -> TestSpace {
    let space = TestSpace::new(backend);
    let oneiro = open_without_faults(&space);
    oneiro
        .sessions()
        .create(oneiro::NewSession { title: Some("the talk".into()), ..new("s") })
        .unwrap();
    oneiro.messages().append(&sid("s"), turns()).unwrap();
    for (_, run) in &STEPS[..steps] {
        run(&oneiro).unwrap();
    }
    space
}

/// What holds after any fault.
fn assert_holds(space: &TestSpace, what: &str) {
    let oneiro = open_without_faults(space);
    assert_context_rules(&oneiro, &sid("s"));
    let orphans = by_hand(
        &oneiro,
        "SELECT COUNT(*) FROM summaries n WHERE n.kind <> 'written' AND NOT EXISTS \
        (SELECT 1 FROM root_summaries i WHERE i.summary_key = n.key) AND NOT EXISTS (SELECT 1 FROM summary_children c WHERE c.child_key = n.key) AND n.overview = 0",
    );
    assert_eq!(orphans, [0], "{what}: summaries that nothing shows");
    let parent = oneiro.sessions().find(&sid("s")).unwrap().unwrap();
    let child = oneiro.sessions().find(&sid("child")).unwrap();
    assert_eq!(
        parent.end_reason.as_deref() == Some("compression"),
        child.is_some(),
        "{what}: half a split"
    );
    if let Some(child) = child {
        let said: BTreeSet<String> = live(&oneiro, &sid("s")).iter().map(content).collect();
        let found = words_in_reach(&oneiro, &child.id, 1_000_000);
        assert!(said.is_subset(&found), "{what}: the child does not reach all");
        assert_eq!(child.title.is_some(), parent.title.is_some());
        assert_context_rules(&oneiro, &child.id);
    }
}

/// What a step changes, told in numbers; the lease of the dead is taken back.
fn state(space: &TestSpace) -> Vec<i64> {
    let oneiro = open_without_faults(space);
    by_hand(&oneiro, "UPDATE contexts SET holder = NULL, lease_until = NULL RETURNING 1");
    let tables = ["summaries", "sessions", "messages WHERE rewind = 0", "root_summaries"];
    let count = |table: &&str| by_hand(&oneiro, &format!("SELECT COUNT(*) FROM {table}"))[0];
    let epochs = by_hand(&oneiro, "SELECT epoch FROM contexts ORDER BY session_key");
    tables.iter().map(count).chain(epochs).collect()
}

fn every_call(backend: Backend, plan: fn(u64) -> FaultPlan) {
    for (step, (name, run)) in STEPS.iter().enumerate() {
        let mut space = furnished(backend, step);
        let before = state(&space);
        let (mut at, mut tried) = (1, 0);
        loop {
            let fault = Fault::new(plan(at));
            let done = open(&space, *name == "redo", &fault).and_then(|oneiro| run(&oneiro));
            let fired = fault.calls() >= at;
            assert!(fired || done.is_ok(), "{name} failed without a fault: {done:?}");
            assert_holds(&space, &format!("{name} at call {at}"));
            if !fired {
                break;
            }
            if state(&space) != before {
                space = furnished(backend, step);
            }
            tried += 1;
            // Calls are many and alike: all of the first, then every few. A server is slow to
            // furnish, and the transactions are the same.
            at += match (backend, at) {
                (Backend::Sqlite, ..40) => 1,
                (Backend::Sqlite, _) => 11,
                (Backend::Postgres, _) => 7,
            };
        }
        assert!(tried > 3, "only {tried} faults in {name}");
    }
}

on_both_backends! {
    fn a_failure_at_any_call_leaves_a_context_whole(space) {
        every_call(space.backend, FaultPlan::FailAt);
    }

    fn a_crash_before_any_call_leaves_a_context_whole(space) {
        every_call(space.backend, FaultPlan::CrashBefore);
    }

    fn a_crash_after_any_call_leaves_a_context_whole(space) {
        every_call(space.backend, FaultPlan::CrashAfter);
    }

    // The lease of the dead is no wall once it has run out.
    fn after_a_crash_another_goes_on(space) {
        let space = furnished(space.backend, 0);
        let fault = Fault::new(FaultPlan::CrashBefore(40));
        let crashed = open(&space, false, &fault).and_then(|oneiro| STEPS[0].1(&oneiro));
        assert!(crashed.is_err());
        let later = crate::support::open(&space);
        later.clock.set(130);
        assert_eq!(until(&later, &sid("s"), 900).stopped, "under");
        assert_context_rules(&later, &sid("s"));
    }
}
