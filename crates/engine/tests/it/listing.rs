//! Lists: conversations or everything, filters, order, pages.

use crate::support::{Fixed, id, new, open, say};
use oneiro::{
    Ending, ErrorKind, Lineage, ListOrder, ListSessions, NewSession, SessionPatch, Timestamp,
};
use oneiro_testkit::on_both_backends;

fn listed(oneiro: &Fixed, request: &ListSessions) -> Vec<String> {
    let page = oneiro.sessions().list(request).unwrap();
    page.items.into_iter().map(|session| session.id.to_string()).collect()
}

fn all() -> ListSessions {
    ListSessions { all: true, archived: oneiro::ArchivedFilter::Any, ..ListSessions::default() }
}

fn add_fixture(oneiro: &Fixed) {
    for (seconds, name, parent, kind) in [
        (1, "root", None, None),
        (2, "tip", Some("root"), Some(Lineage::Continuation)),
        (3, "branch", Some("root"), Some(Lineage::Branch)),
        (4, "delegate", Some("tip"), Some(Lineage::Delegate)),
        (5, "delegate-tip", Some("delegate"), Some(Lineage::Continuation)),
        (6, "other", None, None),
    ] {
        oneiro.clock.set(seconds);
        let session = NewSession { parent_id: parent.map(id), lineage: kind, ..new(name) };
        oneiro.sessions().create(session).unwrap();
    }
}

on_both_backends! {
    fn conversations_are_shown_as_their_tip_and_delegates_are_left_out(space) {
        let oneiro = open(space);
        add_fixture(&oneiro);
        assert_eq!(listed(&oneiro, &ListSessions::default()), ["other", "branch", "tip"]);
        assert_eq!(listed(&oneiro, &all()), ["other", "delegate-tip", "delegate", "branch", "tip", "root"]);
        let page = oneiro.sessions().list(&ListSessions::default()).unwrap();
        let root = oneiro.sessions().find(&id("root")).unwrap().unwrap();
        assert_eq!((page.items[2].root_id.clone(), page.items[2].started_at), (Some(id("root")), root.started_at));
    }

    fn filters_narrow_the_list(space) {
        let oneiro = open(space);
        for (seconds, name, source, cwd) in [(1, "a", "cli", "/srv/x"), (2, "b", "cron", "/srv/y"), (3, "C-c", "cli", "/tmp")] {
            oneiro.clock.set(seconds);
            let text = |text: &str| Some(format!("{text}-{name}"));
            oneiro.sessions().create(NewSession { source: Some(source.into()), cwd: Some(cwd.into()), project: text("p"), user_id: text("u"), title: text("The Ti-tle"), ..new(name) }).unwrap();
        }
        oneiro.clock.set(4);
        say(&oneiro, "a", &["one", "two"]);
        oneiro.sessions().end(&id("b"), Ending::new("x").unwrap()).unwrap();
        oneiro.sessions().change(&id("C-c"), SessionPatch { archived: Some(true), ..SessionPatch::default() }).unwrap();
        oneiro.sessions().create(NewSession { parent_id: Some(id("a")), ..new("kid") }).unwrap();
        let at = |seconds: i64| Some(Timestamp::from_micros(1_700_000_000_000_000 + seconds * 1_000_000));
        for (request, want) in [
            (all(), &["kid", "a", "C-c", "b"][..]),
            (ListSessions { source: Some("cli".into()), ..all() }, &["a", "C-c"]),
            (ListSessions { exclude_sources: vec!["cli".into(), "api".into()], ..all() }, &["b"]),
            (ListSessions { project: Some("p-b".into()), ..all() }, &["b"]),
            (ListSessions { user_id: Some("u-a".into()), ..all() }, &["a"]),
            (ListSessions { parent_id: Some(id("a")), ..all() }, &["kid"]),
            (ListSessions { cwd_prefix: Some("/srv".into()), ..all() }, &["a", "b"]),
            (ListSessions { min_messages: 2, ..all() }, &["a"]),
            (ListSessions { archived: oneiro::ArchivedFilter::Only, ..all() }, &["C-c"]),
            (ListSessions { archived: oneiro::ArchivedFilter::Without, ..all() }, &["kid", "a", "b"]),
            (ListSessions { ended: Some(true), ..all() }, &["b"]),
            (ListSessions { ended: Some(false), ..all() }, &["kid", "a", "C-c"]),
            (ListSessions { since: at(3), ..all() }, &["kid", "a", "C-c"]),
            (ListSessions { until: at(3), ..all() }, &["b"]),
            (ListSessions { matching: Some("title c C".into()), ..all() }, &["C-c"]),
            (ListSessions { matching: Some("cc".into()), ..all() }, &["C-c"]),
            (ListSessions { matching: Some("%".into()), ..all() }, &[]),
            (ListSessions { order: ListOrder::Started, ..all() }, &["kid", "C-c", "b", "a"]),
            (ListSessions { source: Some("' OR 1=1 --".into()), ..all() }, &[]),
        ] {
            assert_eq!(listed(&oneiro, &request), want, "{request:?}");
        }
    }

    fn pages_show_each_session_once(space) {
        let oneiro = open(space);
        for turn in 0..25 {
            // Several at the same moment: only the key tells them apart.
            oneiro.clock.set(turn / 4);
            oneiro.sessions().create(new(&format!("s{turn:02}"))).unwrap();
        }
        for order in [ListOrder::Active, ListOrder::Started] {
            for limit in [1, 4, 24, 25, 26] {
                let mut request = ListSessions { order, limit, ..ListSessions::default() };
                let mut seen = Vec::new();
                loop {
                    let page = oneiro.sessions().list(&request).unwrap();
                    assert!(page.items.len() <= limit);
                    seen.extend(page.items.into_iter().map(|session| session.id.to_string()));
                    match page.next {
                        Some(next) => request.cursor = Some(oneiro::Cursor::parse(&next.to_string()).unwrap()),
                        None => break,
                    }
                }
                let want: Vec<String> = (0..25).rev().map(|turn| format!("s{turn:02}")).collect();
                assert_eq!(seen, want, "{order:?} by {limit}");
            }
        }
        for limit in [0, 1_001] {
            let error = oneiro.sessions().list(&ListSessions { limit, ..all() }).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid);
        }
    }

    fn a_list_shows_how_a_session_began_and_leaves_its_prompt_out(space) {
        let oneiro = open(space);
        oneiro.sessions().create(NewSession { system_prompt: Some("secret".into()), ..new("a") }).unwrap();
        oneiro.clock.set(5);
        say(&oneiro, "a", &["first  thing\nsaid", "second"]);
        let listed = &oneiro.sessions().list(&ListSessions::default()).unwrap().items[0];
        assert_eq!((listed.preview.as_deref(), listed.system_prompt.as_deref()), (Some("first thing said"), None));
        assert_eq!(listed.last_active_at, oneiro.now());
    }
}
