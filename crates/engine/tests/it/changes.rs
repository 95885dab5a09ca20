//! Changes: what happened is reported once, in order, to every listener, and days are counted.

use crate::support::{begin, id, open, say};
use oneiro::{
    Actor, ActorKind, ActorSurface, BranchRequest, Change, ChangeKind, ChangeMark, Ending,
    EraseTarget, MessageId, Oneiro, SessionPatch, Subject, SubjectKind,
};
use oneiro_testkit::on_both_backends;

fn told(oneiro: &Oneiro, seen: &mut ChangeMark) -> Vec<(ChangeKind, Option<String>)> {
    let changes = oneiro.changes_since(*seen).unwrap();
    *seen = changes.last().map_or(*seen, |change| change.id);
    assert_eq!(oneiro.changes_since(*seen).unwrap(), []);
    changes
        .into_iter()
        .map(|change| (change.kind, change.session_id.map(|id| id.to_string())))
        .collect()
}

fn of(kind: ChangeKind, session: &str) -> (ChangeKind, Option<String>) {
    (kind, Some(session.to_owned()))
}

on_both_backends! {
    fn changes_of_a_session_are_reported_in_order(space) {
        let oneiro = open(space);
        let mut seen = oneiro.change_mark().unwrap();
        assert_eq!(told(&oneiro, &mut seen), []);
        begin(&oneiro, "s");
        let ids = say(&oneiro, "s", &["one", "two", "three"]);
        assert_eq!(told(&oneiro, &mut seen), [of(ChangeKind::Created, "s"), of(ChangeKind::Appended, "s")]);
        let title = SessionPatch { title: Some(Some("T".into())), ..SessionPatch::default() };
        oneiro.sessions().change(&id("s"), title).unwrap();
        oneiro.sessions().rewind(&id("s"), MessageId(ids[2]).into()).unwrap();
        oneiro.sessions().restore(&id("s"), oneiro::RestoreRequest { all: false }).unwrap();
        oneiro.sessions().end(&id("s"), Ending::new("done").unwrap()).unwrap();
        oneiro.sessions().reopen(&id("s")).unwrap();
        let branch = BranchRequest { id: Some(id("b")), ..BranchRequest::default() };
        oneiro.sessions().branch(&id("s"), branch).unwrap();
        oneiro.sessions().delete(&id("b")).unwrap();
        let expected = [
            of(ChangeKind::Changed, "s"),
            of(ChangeKind::Rewound, "s"),
            of(ChangeKind::Restored, "s"),
            of(ChangeKind::Ended, "s"),
            of(ChangeKind::Reopened, "s"),
            of(ChangeKind::Created, "b"),
            of(ChangeKind::Deleted, "b"),
        ];
        assert_eq!(told(&oneiro, &mut seen), expected);
    }

    fn a_change_has_its_subject_and_its_actor(space) {
        let oneiro = open(space);
        let mark = oneiro.change_mark().unwrap();
        let person = Actor::new(ActorKind::Person, ActorSurface::Page).with_client("Firefox");
        oneiro.acting_as(person.clone()).sessions().create(oneiro::NewSession::with_id(id("s"))).unwrap();
        oneiro.sessions().end(&id("s"), Ending::default()).unwrap();
        let changes = oneiro.changes_since(mark).unwrap();
        let subject = Subject { kind: SubjectKind::Session, id: "s".to_owned() };
        assert!(changes.iter().all(|change| change.subject.as_ref() == Some(&subject)));
        let actors: Vec<_> = changes.into_iter().map(|change| change.actor).collect();
        assert_eq!(actors, [Some(person), Some(Actor::default())]);
    }

    fn a_session_created_by_an_append_is_reported(space) {
        let oneiro = open(space);
        let mut seen = oneiro.change_mark().unwrap();
        for _ in 0..2 {
            let said = vec![oneiro::NewMessage::text(oneiro::Role::User, "x")];
            oneiro.messages().append_or_create(&id("s"), said, oneiro::NewSession::default()).unwrap();
        }
        let expected = [of(ChangeKind::Created, "s"), of(ChangeKind::Appended, "s")];
        assert_eq!(told(&oneiro, &mut seen), expected);
    }

    fn appended_messages_are_reported_by_session_and_across_processes(space) {
        let (oneiro, other) = (open(space), open(space));
        begin(&oneiro, "a");
        begin(&oneiro, "b");
        let seen = oneiro.change_mark().unwrap();
        let first = say(&other, "a", &["1", "2"]);
        let second = say(&oneiro, "b", &["3"]);
        let third = say(&other, "a", &["4"]);
        let found = oneiro.changes_since(seen).unwrap();
        let one = |change: &Change| (change.first_id, change.last_id, change.count);
        let message = |id: i64| Some(MessageId(id));
        assert_eq!(found.len(), 2);
        assert_eq!(one(&found[0]), (message(second[0]), message(second[0]), Some(1)));
        assert_eq!(one(&found[1]), (message(first[0]), message(third[0]), Some(3)));
        assert_eq!(oneiro.changes_since(found[1].id).unwrap(), []);
        // A listener that saw only the first gets the second, once, with everything since.
        let rest = oneiro.changes_since(ChangeMark::parse(&found[0].id.to_string()).unwrap()).unwrap();
        assert_eq!(rest, found[1..]);
        let fourth = say(&other, "b", &["5"]);
        begin(&other, "c");
        let rest = oneiro.changes_since(found[0].id).unwrap();
        assert_eq!(rest[0].kind, ChangeKind::Created);
        assert_eq!(rest[1..].iter().map(one).collect::<Vec<_>>(), [
            one(&found[1]),
            (message(fourth[0]), message(fourth[0]), Some(1)),
        ]);
        // From each of these it goes on with the next.
        for at in 0..rest.len() {
            let again: Vec<_> = oneiro.changes_since(rest[at].id).unwrap().iter().map(one).collect();
            assert_eq!(again, rest[at + 1..].iter().map(one).collect::<Vec<_>>(), "{:?}", rest[at].id);
        }
    }

    fn a_reader_that_is_too_far_behind_is_told_to_reload(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let seen = oneiro.change_mark().unwrap();
        let many: Vec<String> = (0..10_001).map(|n| n.to_string()).collect();
        say(&oneiro, "s", &many.iter().map(String::as_str).collect::<Vec<_>>());
        let found = oneiro.changes_since(seen).unwrap();
        assert_eq!(found.iter().map(|change| change.kind).collect::<Vec<_>>(), [ChangeKind::Missed]);
        assert_eq!(oneiro.changes_since(found[0].id).unwrap(), []);
        // A mark of another store, which was further, is not waited for.
        for beyond in ["0.9000000000000000000", "9000000000000000000.0"] {
            let beyond = ChangeMark::parse(beyond).unwrap();
            let now = ChangeMark { change: beyond.change.max(seen.change), ..beyond };
            let found = oneiro.changes_since(now).unwrap();
            assert_eq!(found.last().map(|one| one.kind), Some(ChangeKind::Missed), "{beyond}");
            assert_eq!(oneiro.changes_since(found[0].id).unwrap(), []);
        }
    }

    fn old_changes_are_removed_and_an_erased_session_has_none(space) {
        let oneiro = open(space);
        begin(&oneiro, "secret-name");
        let seen = oneiro.change_mark().unwrap();
        say(&oneiro, "secret-name", &["x"]);
        oneiro.erase(&EraseTarget::Session(id("secret-name"))).unwrap();
        let found = oneiro.changes_since(ChangeMark { change: 0, ..seen }).unwrap();
        assert!(found.iter().all(|change| change.session_id.is_none()), "{found:?}");
        assert_eq!(found.last().unwrap().kind, ChangeKind::Erased);
        begin(&oneiro, "s");
        let early = oneiro.change_mark().unwrap();
        oneiro.store().write_bulk(|tx| {
            (0..4_300).try_for_each(|_| {
                oneiro_store::changes::record(tx, ChangeKind::Changed, Some(&id("s")), oneiro.now())
            })
        }).unwrap();
        let kinds: Vec<_> = oneiro.changes_since(early).unwrap().iter().map(|one| one.kind).collect();
        assert_eq!(kinds, [ChangeKind::Missed]);
    }

    fn messages_per_day_are_counted_by_role(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        say(&oneiro, "s", &["today", "again"]);
        let long = "many words of a long message ".repeat(100);
        let at = |text: &str, day: &str| {
            oneiro::NewMessage::from_json(serde_json::json!({
                "role": "assistant", "content": text, "at": format!("2023-11-{day}T12:00:00Z"),
            })).unwrap()
        };
        oneiro.messages().append(&id("s"), vec![at(&long, "13"), at("old", "01")]).unwrap();
        for _ in 0..2 {
            let days = oneiro.activity(3).unwrap().days;
            let counts: Vec<_> =
                days.iter().map(|day| (day.date.as_str(), day.user, day.assistant, day.tool)).collect();
            assert_eq!(counts, [("2023-11-12", 0, 0, 0), ("2023-11-13", 0, 1, 0), ("2023-11-14", 2, 0, 0)]);
            oneiro.index().catch_up(&mut |_, _| {}).unwrap();
        }
        assert!(oneiro.activity(0).is_err());
    }
}
