//! Memories that refer to each other: what suspends what, what supersedes what, and what of it an undo,
//! an edit or an erasure leaves.

use crate::memories::{agent, person, statement};
use crate::support::open;
use oneiro::{
    EraseTarget, ErrorKind, ListMemories, Memory, MemoryPatch, MemoryStatus, MergeRequest,
    NewMemory, Oneiro, Remembered, Result, ShowMemory, SupersedeRequest,
};
use oneiro_testkit::on_both_backends;

fn remember(oneiro: &Oneiro, content: &str) -> Memory {
    oneiro.memories().remember(statement(content)).unwrap().memory
}

fn show(oneiro: &Oneiro, memory: &Memory) -> Memory {
    oneiro.memories().show(memory.id.as_str(), &ShowMemory::default()).unwrap().memory
}

/// The statements that are active and not suspended, in order.
fn believed(oneiro: &Oneiro) -> Vec<String> {
    let request = ListMemories { status: Some(MemoryStatus::Active), ..ListMemories::default() };
    let mut found = oneiro.memories().list(&request).unwrap().items;
    found.retain(|memory| memory.suspended_by.is_none());
    let mut found: Vec<String> = found.into_iter().map(|memory| memory.content).collect();
    found.sort();
    found
}

fn content(text: &str) -> MemoryPatch {
    MemoryPatch { content: Some(text.to_owned()), ..MemoryPatch::default() }
}

fn status(status: MemoryStatus) -> MemoryPatch {
    MemoryPatch { status: Some(status), ..MemoryPatch::default() }
}

fn by(memory: &Memory) -> SupersedeRequest {
    SupersedeRequest { by: Some(memory.id.clone()), ..SupersedeRequest::default() }
}

fn kind_of<T: std::fmt::Debug>(result: Result<T>) -> ErrorKind {
    result.unwrap_err().kind()
}

fn group_of(remembered: &Remembered) -> String {
    remembered.group.clone().unwrap().to_string()
}

const BERLIN: &str = "I live in Berlin";
const PARIS: &str = "I live in Paris";
const ROME: &str = "I live in Rome";

on_both_backends! {
    fn the_newest_statement_of_a_person_holds(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        let berlin = remember(&ann, BERLIN);
        let paris = remember(&ann, PARIS);
        assert_eq!(believed(&oneiro), [PARIS]);
        remember(&ann, BERLIN);
        assert_eq!(believed(&oneiro), [BERLIN]);
        assert_eq!(show(&oneiro, &paris).suspended_by, Some(berlin.id));
        ann.memories().confirm(paris.id.as_str(), None).unwrap();
        assert_eq!(believed(&oneiro), [PARIS]);
    }

    fn a_suspension_ends_with_its_cause(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        let suspended = || {
            let berlin = remember(&ann, BERLIN);
            let paris = remember(&ann, PARIS);
            assert_eq!(show(&oneiro, &berlin).suspended_by.as_ref(), Some(&paris.id));
            (berlin, paris)
        };
        let end = |berlin: &Memory, paris: &Memory| {
            assert_eq!(show(&oneiro, berlin).suspended_by, None);
            ann.memories().forget(berlin.id.as_str(), None).unwrap();
            let _ = ann.memories().forget(paris.id.as_str(), None);
        };
        let (berlin, paris) = suspended();
        let other = remember(&ann, "The sky is blue");
        ann.memories().supersede(paris.id.as_str(), by(&other)).unwrap();
        end(&berlin, &paris);
        let (berlin, paris) = suspended();
        ann.memories().merge(paris.id.as_str(), MergeRequest { into: other.id.clone(), reason: None }).unwrap();
        end(&berlin, &paris);
        let (berlin, paris) = suspended();
        ann.memories().edit(paris.id.as_str(), content("I like Paris")).unwrap();
        end(&berlin, &paris);
        let (berlin, paris) = suspended();
        ann.memories().edit(paris.id.as_str(), status(MemoryStatus::Candidate)).unwrap();
        end(&berlin, &paris);
        let (berlin, paris) = suspended();
        ann.memories().edit(berlin.id.as_str(), content("I like Berlin")).unwrap();
        end(&berlin, &paris);
        // Another cause takes the place of one that is gone.
        let (berlin, paris) = suspended();
        let rome = SupersedeRequest { content: Some(ROME.into()), ..SupersedeRequest::default() };
        let rome = ann.memories().supersede(paris.id.as_str(), rome).unwrap().memory.superseded_by;
        assert_eq!(show(&oneiro, &berlin).suspended_by, rome);
    }

    fn undoing_a_promotion_ends_what_it_suspended(space) {
        let oneiro = open(space);
        let (ann, bot) = (person(&oneiro), agent(&oneiro));
        let berlin = remember(&ann, BERLIN);
        let paris = remember(&bot, PARIS);
        let promoted = ann.memories().promote(paris.id.as_str(), None).unwrap();
        assert_eq!(show(&oneiro, &berlin).suspended_by, Some(paris.id));
        ann.operations().undo(promoted.operation.unwrap().as_str(), None).unwrap();
        assert_eq!(believed(&oneiro), [BERLIN]);
    }

    fn every_way_to_active_looks_for_contradictions(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        let berlin = remember(&ann, BERLIN);
        ann.memories().forget(berlin.id.as_str(), None).unwrap();
        let paris = remember(&ann, PARIS);
        ann.memories().edit(berlin.id.as_str(), status(MemoryStatus::Active)).unwrap();
        assert_eq!(believed(&oneiro), [BERLIN]);
        ann.memories().edit(paris.id.as_str(), content(ROME)).unwrap();
        ann.memories().confirm(paris.id.as_str(), None).unwrap();
        assert_eq!(believed(&oneiro), [ROME]);
        let sky = remember(&ann, "The sky is blue");
        ann.memories().edit(sky.id.as_str(), content("I live in Oslo")).unwrap();
        assert_eq!(believed(&oneiro), ["I live in Oslo"]);
        let grass = remember(&ann, "The grass is green");
        let lima = SupersedeRequest { content: Some("I live in Lima".into()), ..SupersedeRequest::default() };
        ann.memories().supersede(grass.id.as_str(), lima).unwrap();
        assert_eq!(believed(&oneiro), ["I live in Lima"]);
    }

    fn an_undo_looks_for_contradictions(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        let berlin = remember(&ann, BERLIN);
        let forgotten = ann.memories().forget(berlin.id.as_str(), None).unwrap();
        remember(&ann, PARIS);
        ann.operations().undo(forgotten.operation.unwrap().as_str(), None).unwrap();
        assert_eq!(believed(&oneiro), [BERLIN]);
    }

    fn half_of_a_group_undone_leaves_one_of_two_contradicting_memories(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        let berlin = remember(&ann, BERLIN);
        let paris = ann.memories().remember(statement(PARIS)).unwrap();
        let suspension = oneiro.memories().history(berlin.id.as_str()).unwrap().items.pop().unwrap();
        assert_eq!(suspension.group, paris.group);
        ann.operations().undo(suspension.id.as_str(), None).unwrap();
        assert_eq!(believed(&oneiro), [BERLIN]);
        let rome = ann.memories().remember(statement(ROME)).unwrap();
        ann.operations().undo(rome.operation.clone().unwrap().as_str(), None).unwrap();
        assert_eq!(believed(&oneiro), [BERLIN]);
        assert!(oneiro.check().unwrap().ok);
    }

    fn the_old_statement_holds_until_the_new_one_does(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        let seconds = |seconds: i64| oneiro::Timestamp::from_micros(crate::support::NOW.micros() + seconds * 1_000_000);
        let at = |time: i64| {
            let request = ListMemories { at: Some(seconds(time)), ..ListMemories::default() };
            let found = oneiro.memories().list(&request).unwrap().items;
            found.into_iter().map(|memory| memory.content).collect::<Vec<_>>()
        };
        let berlin = remember(&ann, BERLIN);
        oneiro.clock.set(100);
        let replacing = NewMemory { replaces: Some(berlin.id.clone()), ..statement(PARIS) };
        let paris = ann.memories().remember(replacing).unwrap().memory;
        assert_eq!((at(50), at(150)), (vec![BERLIN.to_owned()], vec![PARIS.to_owned()]));
        let rome = remember(&ann, ROME);
        let since = SupersedeRequest { since: Some(seconds(120)), ..by(&rome) };
        ann.memories().supersede(paris.id.as_str(), since).unwrap();
        assert_eq!((at(110), at(150)), (vec![PARIS.to_owned()], vec![ROME.to_owned()]));
        // Back to active, it has not ended.
        ann.memories().forget(rome.id.as_str(), None).unwrap();
        oneiro.clock.set(200);
        let again = ann.memories().edit(paris.id.as_str(), status(MemoryStatus::Active)).unwrap().memory;
        assert_eq!((again.valid_until, again.superseded_by), (None, None));
    }

    fn what_a_duplicate_or_a_candidate_replaces_is_not_dropped_silently(space) {
        let oneiro = open(space);
        let (ann, bot) = (person(&oneiro), agent(&oneiro));
        let jenkins = remember(&ann, "CI runs on Jenkins");
        let buildkite = remember(&ann, "Builds run in Buildkite");
        let again = NewMemory { replaces: Some(jenkins.id.clone()), ..statement("Builds run in Buildkite") };
        assert!(ann.memories().remember(again).unwrap().is_duplicate);
        assert_eq!(show(&oneiro, &jenkins).superseded_by, Some(buildkite.id.clone()));
        let proposal = NewMemory { replaces: Some(buildkite.id.clone()), ..statement("Builds run in GitLab") };
        let proposed = bot.memories().remember(proposal).unwrap();
        assert_eq!(proposed.memory.status, MemoryStatus::Candidate);
        assert!(proposed.explanation.contains(buildkite.id.as_str()), "{}", proposed.explanation);
    }

    fn only_what_is_active_takes_the_place_of_an_active_memory(space) {
        let oneiro = open(space);
        let (ann, bot) = (person(&oneiro), agent(&oneiro));
        let active = remember(&ann, "The office is in Bern");
        let candidate = remember(&bot, "The office moved");
        let merge = MergeRequest { into: candidate.id.clone(), reason: None };
        assert_eq!(kind_of(ann.memories().supersede(active.id.as_str(), by(&candidate))), ErrorKind::Invalid);
        assert_eq!(kind_of(ann.memories().merge(active.id.as_str(), merge)), ErrorKind::Invalid);
    }

    fn a_statement_is_active_once(space) {
        let oneiro = open(space);
        let (ann, bot) = (person(&oneiro), agent(&oneiro));
        let candidate = remember(&bot, "Backups run at noon");
        let active = remember(&ann, "Backups run at noon");
        assert_ne!(candidate.id, active.id);
        assert_eq!(kind_of(ann.memories().promote(candidate.id.as_str(), None)), ErrorKind::Conflict);
        let other = remember(&ann, "The sky is blue");
        assert_eq!(kind_of(ann.memories().edit(other.id.as_str(), content("backups run at noon."))), ErrorKind::Conflict);
        let forgotten = ann.memories().forget(active.id.as_str(), None).unwrap();
        ann.memories().promote(candidate.id.as_str(), None).unwrap();
        assert_eq!(kind_of(ann.operations().undo(forgotten.operation.unwrap().as_str(), None)), ErrorKind::Conflict);
        // A supersession by what is already stated uses that.
        let request = SupersedeRequest { content: Some("Backups run at noon".into()), ..SupersedeRequest::default() };
        let superseded = ann.memories().supersede(other.id.as_str(), request).unwrap().memory;
        assert_eq!(superseded.superseded_by, Some(candidate.id));
    }

    fn no_undo_refers_to_what_is_gone(space) {
        let oneiro = open(space);
        let ann = person(&oneiro);
        let berlin = remember(&ann, BERLIN);
        let paris = ann.memories().remember(statement(PARIS)).unwrap();
        let group = ann.operations().undo(&group_of(&paris), None).unwrap();
        // The suspension alone is redone: what suspended it is removed.
        let suspension = group.operations.iter().find(|it| it.subject.id == berlin.id.as_str()).unwrap();
        ann.operations().undo(suspension.id.as_str(), None).unwrap();
        assert_eq!(show(&oneiro, &berlin).suspended_by, None);
        let rome = remember(&ann, ROME);
        let superseded = ann.memories().supersede(berlin.id.as_str(), by(&rome)).unwrap();
        let undone = ann.operations().undo(superseded.operation.unwrap().as_str(), None).unwrap();
        ann.erase(&EraseTarget::Memory(rome.id)).unwrap();
        assert_eq!(kind_of(ann.operations().undo(undone.operations[0].id.as_str(), None)), ErrorKind::Conflict);
        assert!(oneiro.check().unwrap().ok);
    }
}
