//! Titles: cleaned, unique, numbered, handed on along continuations.

use crate::support::{Fixed, begin, id, new, open};
use oneiro::{ErrorKind, Lineage, NewSession, Result, Session, SessionPatch};
use oneiro_testkit::on_both_backends;

fn titled(oneiro: &Fixed, name: &str, title: &str) -> Result<Session> {
    oneiro.sessions().create(NewSession { title: Some(title.into()), ..new(name) })
}

fn rename(oneiro: &Fixed, name: &str, title: Option<&str>) -> Result<Session> {
    let patch = SessionPatch { title: Some(title.map(Into::into)), ..SessionPatch::default() };
    oneiro.sessions().change(&id(name), patch)
}

fn continued(oneiro: &Fixed, name: &str, parent: &str) -> Session {
    let session = NewSession {
        parent_id: Some(id(parent)),
        lineage: Some(Lineage::Continuation),
        ..new(name)
    };
    oneiro.sessions().create(session).unwrap()
}

fn title(oneiro: &Fixed, name: &str) -> Option<String> {
    oneiro.sessions().find(&id(name)).unwrap().unwrap().title
}

on_both_backends! {
    fn titles_are_cleaned_and_unique(space) {
        let oneiro = open(space);
        assert_eq!(titled(&oneiro, "a", " plan\t the\u{200B} trip ").unwrap().title.as_deref(), Some("plan the trip"));
        begin(&oneiro, "b");
        let error = rename(&oneiro, "b", Some("plan the  trip")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert!(error.remedy_text().unwrap().contains("plan the trip #2"), "{error:?}");
        assert_eq!(titled(&oneiro, "c", "plan the trip").unwrap_err().kind(), ErrorKind::Conflict);
        assert!(oneiro.sessions().find(&id("c")).unwrap().is_none(), "half a session was kept");
        assert_eq!(rename(&oneiro, "b", Some("Plan the trip")).unwrap().title.as_deref(), Some("Plan the trip"));
        assert_eq!(rename(&oneiro, "a", Some("plan the trip")).unwrap().title.as_deref(), Some("plan the trip"));
        assert_eq!(rename(&oneiro, "a", None).unwrap().title, None);
        assert_eq!(rename(&oneiro, "b", Some("\u{200B} ")).unwrap().title, None);
        assert_eq!(rename(&oneiro, "b", Some(&"x".repeat(101))).unwrap_err().kind(), ErrorKind::Invalid);
    }

    fn a_title_can_be_set_only_if_there_is_none(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        for (text, want) in [("first", "first"), ("second", "first")] {
            let patch = SessionPatch { title: Some(Some(text.into())), title_if_unset: true, ..SessionPatch::default() };
            assert_eq!(oneiro.sessions().change(&id("a"), patch).unwrap().title.as_deref(), Some(want));
        }
    }

    fn continuations_get_the_next_number(space) {
        let oneiro = open(space);
        titled(&oneiro, "a", "plan").unwrap();
        assert_eq!(continued(&oneiro, "b", "a").title.as_deref(), Some("plan #2"));
        assert_eq!(continued(&oneiro, "c", "b").title.as_deref(), Some("plan #3"));
        let branch = NewSession { parent_id: Some(id("a")), lineage: Some(Lineage::Branch), ..new("d") };
        assert_eq!(oneiro.sessions().create(branch).unwrap().title, None);
        for (base, next) in [("plan", "plan #4"), ("plan #2", "plan #4"), ("new", "new"), ("new #7", "new")] {
            assert_eq!(oneiro.sessions().next_title(base).unwrap(), next);
        }
    }

    fn a_title_moves_only_along_its_chain(space) {
        let oneiro = open(space);
        titled(&oneiro, "a", "plan").unwrap();
        continued(&oneiro, "b", "a");
        continued(&oneiro, "c", "b");
        assert_eq!(rename(&oneiro, "c", Some("plan")).unwrap().title.as_deref(), Some("plan"));
        assert_eq!((title(&oneiro, "a"), title(&oneiro, "c")), (None, Some("plan".into())));
        // Not backwards, and not to a branch.
        assert_eq!(rename(&oneiro, "a", Some("plan")).unwrap_err().kind(), ErrorKind::Conflict);
        let branch = NewSession { parent_id: Some(id("c")), lineage: Some(Lineage::Branch), title: Some("plan".into()), ..new("d") };
        assert_eq!(oneiro.sessions().create(branch).unwrap_err().kind(), ErrorKind::Conflict);
    }

    fn long_titles_and_huge_numbers_can_be_numbered(space) {
        let oneiro = open(space);
        titled(&oneiro, "a", &"x".repeat(100)).unwrap();
        for name in ["b", "c", "d"] {
            let title = continued(&oneiro, name, "a").title.unwrap();
            assert!(title.chars().count() <= 100, "{title}");
        }
        titled(&oneiro, "m", "m #18446744073709551615").unwrap();
        assert_eq!(oneiro.sessions().next_title("m #18446744073709551615").unwrap(), "m #18446744073709551615 #2");
        titled(&oneiro, "n", "n #999999999").unwrap();
        assert_eq!(oneiro.sessions().next_title("n").unwrap(), "n #1000000000");
    }
}
