//! What dreams tell: an idle night, why a candidate was promoted, a dry run that waits, events, and the audit of
//! what dreams store.

use crate::dreams::{NIGHT_SECONDS, learn_peanuts, memory_note};
use crate::support::{Fixed, open};
use oneiro::{
    Actor, ActorKind, ActorSurface, Change, ChangeKind, CountedKind, DreamOutcome, DreamRequest,
    DreamRun, ErrorKind, NewMemory, NoteName, Oneiro, PageOf, Severity, Subject, SubjectKind,
};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};

fn run(oneiro: &Oneiro, apply: bool) -> DreamRun {
    let request = DreamRequest { apply: Some(apply), ..DreamRequest::default() };
    oneiro.dreams().run(&request).unwrap()
}

/// Dreams in the night after a claim has earned its promotion.
fn dream_of_peanuts(oneiro: &Fixed) -> DreamRun {
    learn_peanuts(oneiro);
    oneiro.clock.set(NIGHT_SECONDS);
    run(oneiro, true)
}

fn diary(oneiro: &Oneiro) -> String {
    let name = NoteName::parse(NoteName::DIARY).unwrap();
    oneiro.notes().get(&name).map(|note| note.content).unwrap_or_default()
}

on_both_backends! {
    fn an_idle_night_is_in_the_ledger_and_not_in_the_diary(space) {
        let oneiro = open(space);
        assert_eq!(run(&oneiro, true).dream.unwrap().dream.revision, None);
        assert_eq!(diary(&oneiro), "");
        let promoted = dream_of_peanuts(&oneiro).dream.unwrap();
        assert!(promoted.dream.revision.is_some());
        let told = diary(&oneiro);
        let sentence = "- Kept “I'm allergic to peanuts.” in MEMORY.md: it came up 3 times, in 3 different ways, on 2 days (";
        assert!(told.contains(sentence), "{told}");
        let idle = run(&oneiro, true).dream.unwrap();
        assert_eq!((idle.dream.revision, idle.dream.group), (None, None));
        assert_eq!(diary(&oneiro), told);
        assert!(idle.diary.contains("nothing to change"), "{}", idle.diary);
        assert_eq!(oneiro.dreams().list(&PageOf::default()).unwrap().items.len(), 3);
    }

    fn a_promoted_candidate_is_explained_by_what_promoted_it(space) {
        let oneiro = open(space);
        let promoted = dream_of_peanuts(&oneiro).dream.unwrap();
        run(&oneiro, true);
        let explained = oneiro.dreams().explain("Peanuts allergic").unwrap();
        assert!(explained.candidate.reason.contains("still holds"), "{explained:?}");
        let promotion = explained.promotion.clone().unwrap();
        assert_eq!((promotion.dream_id, promotion.at), (promoted.dream.id, promoted.dream.started_at));
        assert_eq!(promotion.reason, "3 recalls by 3 prompts on 2 days");
        assert_eq!(promotion.evidence.recalls, 3);
        let line = explained.line.clone().unwrap();
        assert!(line.note.as_str() == "MEMORY.md" && memory_note(&oneiro).contains(&line.text), "{line:?}");
        let kinds: Vec<CountedKind> = explained.counted.iter().map(|one| one.kind).collect();
        assert_eq!(kinds, [CountedKind::Statement, CountedKind::Recall, CountedKind::Recall, CountedKind::Recall]);
        let asked = explained.counted[1].clone();
        assert_eq!(asked.text.as_deref(), Some("Which foods is Ana allergic to?"));
        assert_eq!((explained.preset.as_str(), explained.thresholds.min_recall_count), ("core", 3));
        // By its id, the beginning of it, and the id of its memory, too.
        let id = explained.candidate.id.to_string();
        for name in [&id, &id[..9], explained.candidate.memory_id.as_str()] {
            assert_eq!(oneiro.dreams().explain(name).unwrap(), explained, "{name}");
        }
    }

    fn words_of_several_candidates_list_them_and_unknown_words_are_not_found(space) {
        let oneiro = open(space);
        dream_of_peanuts(&oneiro);
        let person = oneiro.acting_as(Actor::new(ActorKind::Person, ActorSurface::Cli));
        let other = NewMemory { content: "I'm allergic to wool.".to_owned(), ..NewMemory::default() };
        let id = person.memories().remember(other).unwrap().memory.id.to_string();
        person.memories().confirm(&id, None).unwrap();
        run(&oneiro, true);
        let error = oneiro.dreams().explain("zeppelin").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let error = oneiro.dreams().explain("allergic").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert_eq!(error.message().matches("cnd_").count(), 2, "{error}");
    }

    fn a_dry_run_that_would_change_something_waits_until_it_is_applied(space) {
        let oneiro = open(space);
        run(&oneiro, false);
        assert_eq!(oneiro.dreams().digest().unwrap(), None, "it would change nothing");
        learn_peanuts(&oneiro);
        oneiro.clock.set(NIGHT_SECONDS);
        let dry = run(&oneiro, false).dream.unwrap();
        assert_eq!(oneiro.dreams().digest().unwrap().unwrap().dream.id, dry.dream.id);
        run(&oneiro, true);
        assert_eq!(oneiro.dreams().digest().unwrap(), None);
    }

    fn a_dream_is_told_to_watchers_when_it_starts_and_when_it_ends(space) {
        let oneiro = open(space);
        let mark = oneiro.change_mark().unwrap();
        let id = dream_of_peanuts(&oneiro).dream.unwrap().dream.id.to_string();
        let changes = oneiro.changes_since(mark).unwrap();
        let told: Vec<&Change> = changes.iter().filter(|it| it.kind == ChangeKind::Dream).collect();
        assert_eq!(told.len(), 2, "{changes:?}");
        for change in told {
            assert_eq!(change.subject, Some(Subject { kind: SubjectKind::Dream, id: id.clone() }));
            assert_eq!(change.outcome, Some(DreamOutcome::Processed));
            assert_eq!(change.session_id, None);
        }
    }
}

#[test]
fn damaged_rows_of_dreams_are_found_repaired_and_said_once() {
    let space = TestSpace::new(Backend::Sqlite);
    let oneiro = open(&space);
    dream_of_peanuts(&oneiro);
    run(&oneiro, true);
    assert!(oneiro.check().unwrap().dreams.is_empty());
    let store = rusqlite::Connection::open(space.file()).unwrap();
    store.pragma_update(None, "foreign_keys", false).unwrap();
    let damage = "UPDATE dreams SET counts = '{' WHERE key = (SELECT MIN(key) FROM dreams); \
                  UPDATE dream_candidates SET decision = 'nonsense';";
    store.execute_batch(damage).unwrap();
    let codes = |oneiro: &Oneiro| -> Vec<(&'static str, Severity, bool)> {
        let issues = oneiro.check().unwrap().dreams;
        issues.iter().map(|it| (it.code, it.severity, it.fixable)).collect()
    };
    let error = |code| (code, Severity::Error, true);
    let expected = [error("dream-row-invalid"), error("dream-candidate-invalid")];
    assert_eq!(codes(&oneiro), expected);
    assert!(!oneiro.check().unwrap().ok);
    let done = oneiro.repair_dreams().unwrap();
    assert_eq!(done.len(), 2, "{done:?}");
    assert_eq!(codes(&oneiro), []);
    assert!(oneiro.repair_dreams().unwrap().is_empty(), "a second repair does nothing");
    assert_eq!(run(&oneiro, true).outcome, DreamOutcome::Processed);
}
