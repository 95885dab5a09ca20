//! Faults and crashes at every call: after reopening, the space is as before the operation or as
//! after it, never between.

use crate::memories::{person, statement};
use crate::support::{FaultCalls, assert_sound, clock, dump, id, ids, new, target, user};
use oneiro::{
    BranchRequest, Durability, Ending, EraseTarget, ImportLimits, Lineage, ListOperations,
    MessageId, NewMemory, NewMessage, NewSession, Oneiro, Options, Result, SessionPatch, Usage,
    UsageKey,
};
use oneiro_store::{Fault, FaultPlan, Store};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use serde_json::json;

/// Seconds after which a job that nobody holds on to is anybody's.
const PAST_ITS_LEASE: usize = 91;

type Step = fn(&Oneiro) -> Result<()>;

/// Every kind of change there is.
const STEPS: &[Step] = &[
    |oneiro| {
        let prompt = Some("be careful".to_owned());
        oneiro
            .sessions()
            .create(NewSession { system_prompt: prompt, title: Some("plan".into()), ..new("a") })
            .map(drop)
    },
    |oneiro| {
        let large = "payload ".repeat(20_000);
        let messages = vec![
            user("one").external_id("e1"),
            NewMessage::from_json(
                json!({"role": "assistant", "content": large, "tool_calls": [{}, {}]}),
            )?,
            user("two").external_id("e2"),
            user("one").external_id("e1"),
        ];
        oneiro.messages().append(&id("a"), messages).map(drop)
    },
    |oneiro| oneiro.sessions().rewind(&id("a"), MessageId(3).into()).map(drop),
    |oneiro| oneiro.sessions().restore(&id("a"), oneiro::RestoreRequest { all: false }).map(drop),
    |oneiro| {
        let request = BranchRequest { id: Some(id("b")), ..BranchRequest::default() };
        oneiro.sessions().branch(&id("a"), request).map(drop)
    },
    |oneiro| {
        let used = Usage { api_calls: 1, input_tokens: 5, ..Usage::default() };
        oneiro
            .sessions()
            .add_usage(&id("a"), UsageKey { model: "m".into(), ..UsageKey::default() }, used)
            .map(drop)
    },
    |oneiro| oneiro.settings().set("stateless_session_patterns", Some(json!(["cron:*"]))).map(drop),
    |oneiro| {
        let create = NewSession {
            parent_id: Some(id("a")),
            lineage: Some(Lineage::Delegate),
            ..NewSession::default()
        };
        oneiro.messages().append_or_create(&id("c"), vec![user("delegated")], create).map(drop)
    },
    |oneiro| oneiro.sessions().end(&id("b"), Ending::new("compression")?).map(drop),
    |oneiro| {
        let patch = SessionPatch {
            archived: Some(true),
            title: Some(Some("other".into())),
            ..SessionPatch::default()
        };
        oneiro.sessions().change(&id("b"), patch).map(drop)
    },
    |oneiro| {
        let lines = "{\"id\":\"x\",\"title\":\"other\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}\n\
                     {\"id\":\"y\",\"parent_id\":\"x\",\"lineage\":\"continuation\"}\n";
        oneiro
            .transfer()
            .import(&mut lines.as_bytes(), ImportLimits::default(), &mut |_| {})
            .map(drop)
    },
    |oneiro| {
        let new = NewMemory {
            subject: Some("Bob".into()),
            quote: Some("hi".into()),
            ..statement("Bob lives in Rome")
        };
        person(oneiro).memories().remember(new).map(drop)
    },
    // It contradicts: two memories, three operations, a signal.
    |oneiro| {
        let new = NewMemory { subject: Some("Bob".into()), ..statement("Bob lives in Oslo") };
        person(oneiro).memories().remember(new).map(drop)
    },
    |oneiro| {
        let last = oneiro.operations().list(&ListOperations::default())?.items;
        let group = last.into_iter().next().and_then(|operation| operation.group).unwrap();
        person(oneiro).operations().undo(group.as_str(), None).map(drop)
    },
    |oneiro| oneiro.sessions().delete(&id("a")).map(drop),
];

fn open(space: &TestSpace, step: usize, fault: &Fault) -> Result<Oneiro> {
    let (clock, ids) = (clock(), ids());
    clock.set(step as i64);
    ids.set(1_000 * step as i64);
    let options = Options { clock, ids, ..Options::default() };
    let store = oneiro_store::Options {
        durability: Durability::Normal,
        ..oneiro_store::Options::default()
    };
    let store = Store::open_with_faults(&target(space), &store, options.clock.now(), fault)?;
    Ok(Oneiro::over(store, options))
}

fn open_without_faults(space: &TestSpace, step: usize) -> Oneiro {
    open(space, step, &Fault::new(FaultPlan::Count)).unwrap()
}

/// A space after the first `count` steps.
fn after(backend: Backend, count: usize) -> TestSpace {
    let space = TestSpace::new(backend);
    open_without_faults(&space, 0);
    for (step, run) in STEPS.iter().enumerate().take(count) {
        run(&open_without_faults(&space, step)).unwrap();
    }
    space
}

/// Runs one step under a fault; answers whether the fault was reached.
fn attempt(space: &TestSpace, step: usize, plan: FaultPlan, at: u64) -> bool {
    let fault = Fault::new(plan);
    let outcome = open(space, step, &fault).and_then(|oneiro| STEPS[step](&oneiro));
    let fired = fault.calls() >= at;
    assert!(fired || outcome.is_ok(), "step {step} failed without a fault: {outcome:?}");
    fired
}

/// What the space holds after each step, beginning with none.
fn dumps(backend: Backend) -> Vec<String> {
    let space = TestSpace::new(backend);
    let mut dumps = vec![dump(&open_without_faults(&space, 0))];
    for (step, run) in STEPS.iter().enumerate() {
        run(&open_without_faults(&space, step)).unwrap();
        dumps.push(dump(&open_without_faults(&space, 0)));
    }
    dumps
}

/// Lets the n-th call of every step fail as `plan` says, for every n there is.
fn assert_every_step_is_atomic(backend: Backend, plan: fn(u64) -> FaultPlan) {
    let dumps = dumps(backend);
    let mut space = after(backend, 0);
    let mut tried = 0;
    for step in 0..STEPS.len() {
        let (before, wanted) = (&dumps[step], &dumps[step + 1]);
        assert_ne!(before, wanted, "step {step} changes nothing");
        for at in FaultCalls::new(backend, plan(0)) {
            if !attempt(&space, step, plan(at), at) {
                break;
            }
            let reopened = open_without_faults(&space, 0);
            assert_sound(&reopened);
            let found = dump(&reopened);
            if found != *before {
                assert_eq!(found, *wanted, "step {step}, {:?}", plan(at));
                space = after(backend, step);
            }
            tried += 1;
        }
        assert_eq!(dump(&open_without_faults(&space, 0)), *wanted, "step {step}");
    }
    assert!(tried > 20, "only {tried} faults were tried");
}

on_both_backends! {
    fn a_change_is_atomic_if_any_call_of_it_fails(space) {
        assert_every_step_is_atomic(space.backend, FaultPlan::FailAt);
    }

    fn a_change_is_atomic_after_a_crash_before_any_call_of_it(space) {
        assert_every_step_is_atomic(space.backend, FaultPlan::CrashBefore);
    }

    fn a_change_is_atomic_after_a_crash_after_any_call_of_it(space) {
        assert_every_step_is_atomic(space.backend, FaultPlan::CrashAfter);
    }

    fn after_a_fault_at_any_call_a_new_space_can_be_opened(space) {
        for plan in [FaultPlan::FailAt, FaultPlan::CrashBefore, FaultPlan::CrashAfter] {
            let mut last_call = 0;
            for at in FaultCalls::new(space.backend, plan(0)) {
                let space = TestSpace::new(space.backend);
                let fault = Fault::new(plan(at));
                let opened = open(&space, 0, &fault);
                let fired = fault.calls() >= at;
                drop(opened);
                assert_eq!(open_without_faults(&space, 0).stats().unwrap().sessions, 0);
                if !fired {
                    break;
                }
                last_call = at;
            }
            assert!(last_call > 9, "opening makes only {last_call} calls");
        }
    }

    fn an_erasure_that_crashes_is_finished_by_its_job(space) {
        for plan in [FaultPlan::FailAt, FaultPlan::CrashBefore, FaultPlan::CrashAfter] {
            for at in FaultCalls::new(space.backend, plan(0)) {
                let space = TestSpace::new(space.backend);
                let first = open_without_faults(&space, 0);
                first.messages().append_or_create(&id("s"), vec![user("the secret of the blue tin")], new("s")).unwrap();
                first.messages().append_or_create(&id("t"), vec![user("untouched")], new("t")).unwrap();
                drop(first);
                let fault = Fault::new(plan(at));
                let erased = open(&space, 0, &fault)
                    .and_then(|oneiro| oneiro.erase(&EraseTarget::Session(id("s"))));
                let fired = fault.calls() >= at;
                // This process lives on, so what it did not finish is its own until its lease ends.
                let oneiro = open_without_faults(&space, PAST_ITS_LEASE);
                assert_sound(&oneiro);
                assert_eq!(oneiro.sessions().show(&id("t"), true).unwrap().messages.len(), 1);
                let gone = oneiro.sessions().find(&id("s")).unwrap().is_none();
                assert!(gone || erased.is_err());
                oneiro.jobs().run(std::time::Duration::from_secs(60)).unwrap();
                assert_eq!(oneiro.stats().unwrap().jobs, 0);
                if gone && space.backend == Backend::Sqlite {
                    drop(oneiro);
                    let raw = std::fs::read(space.file()).unwrap();
                    assert!(!raw.windows(8).any(|part| part == b"blue tin"), "{:?}", plan(at));
                }
                if !fired {
                    break;
                }
            }
        }
    }
}
