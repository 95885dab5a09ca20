//! Stretches of a session fit together, and sessions are counted by what they have in common.

use crate::support::{begin, content, id, new, open, say};
use oneiro::{Cursor, MessageId, NewSession, Oneiro, Stretch, StretchFrom, StretchRequest};
use oneiro_testkit::on_both_backends;

fn read(oneiro: &Oneiro, from: StretchFrom, hidden: bool) -> Stretch {
    oneiro.messages().stretch(&id("s"), StretchRequest { from, hidden, limit: 8 }).unwrap()
}

fn texts(stretch: &Stretch) -> Vec<String> {
    stretch.messages.iter().map(content).collect()
}

fn after(cursor: Cursor) -> StretchFrom {
    StretchFrom::After(Some(cursor))
}

on_both_backends! {
    fn consecutive_ranges_are_contiguous_in_both_directions(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        begin(&oneiro, "other");
        let mut ids = Vec::new();
        for n in 0..20 {
            ids.extend(say(&oneiro, "s", &[&n.to_string()]));
            say(&oneiro, "other", &["between"]);
        }
        let expected = |range: std::ops::Range<i32>| range.map(|n| n.to_string()).collect::<Vec<_>>();
        let first = read(&oneiro, StretchFrom::After(None), false);
        assert_eq!((texts(&first), first.earlier), (expected(0..8), None));
        let second = read(&oneiro, after(first.later.unwrap()), false);
        assert_eq!(texts(&second), expected(8..16));
        let third = read(&oneiro, after(second.later.unwrap()), false);
        assert_eq!((texts(&third), third.later), (expected(16..20), None));
        assert_eq!(texts(&read(&oneiro, after(third.earlier.unwrap()), false)), expected(8..16));
        let around = read(&oneiro, StretchFrom::Around(MessageId(ids[10])), false);
        assert_eq!(texts(&around), expected(8..16));
        assert_eq!(texts(&read(&oneiro, after(around.earlier.unwrap()), false)), expected(0..8));
        let at_first = read(&oneiro, StretchFrom::Around(MessageId(ids[0])), false);
        assert_eq!((texts(&at_first), at_first.earlier), (expected(0..8), None));
        // Beyond the end there is nothing, and a way back.
        let beyond = read(&oneiro, after(Cursor { order: i64::MAX, key: i64::MAX }), false);
        assert_eq!(texts(&beyond), Vec::<String>::new());
        assert_eq!(texts(&read(&oneiro, after(beyond.earlier.unwrap()), false)), expected(12..20));
        oneiro.sessions().rewind(&id("s"), MessageId(ids[4]).into()).unwrap();
        let shown = read(&oneiro, StretchFrom::After(None), false);
        assert_eq!((texts(&shown), shown.later), (expected(0..4), None));
        assert_eq!(texts(&read(&oneiro, StretchFrom::After(None), true)), expected(0..8));
    }

    fn sessions_are_counted_by_source_and_project(space) {
        let oneiro = open(space);
        for (name, source, project) in [("a", "cli", Some("x")), ("b", "cli", None), ("c", "web", Some("x"))] {
            let session = NewSession {
                source: Some(source.into()), project: project.map(Into::into), ..new(name)
            };
            oneiro.sessions().create(session).unwrap();
        }
        let ids = say(&oneiro, "a", &["1", "2", "3"]);
        oneiro.sessions().rewind(&id("a"), MessageId(ids[1]).into()).unwrap();
        let stats = oneiro.stats().unwrap();
        let told = |groups: &[oneiro::SessionGroup]| {
            groups.iter().map(|group| (group.name.clone(), group.sessions)).collect::<Vec<_>>()
        };
        assert_eq!(told(&stats.sources), [("cli".to_owned(), 2), ("web".to_owned(), 1)]);
        assert_eq!(told(&stats.projects), [("x".to_owned(), 2)]);
        assert_eq!((stats.messages, stats.rewound), (1, 2));
        assert_eq!(oneiro.sessions().groups().unwrap(), (stats.sources, stats.projects));
    }
}
