//! Taking the demonstration out again.

use crate::support::{NOW, dump, filled};
use oneiro::{BranchRequest, NewMessage, NewSession, Role, SessionId};
use oneiro_demo::{Removed, SessionCounts, count_sessions, remove};
use oneiro_testkit::on_both_backends;

on_both_backends! {
    fn what_is_not_the_demonstrations_stays(space) {
        let oneiro = filled(space, NOW);
        let there = count_sessions(&oneiro).unwrap().demo;
        let messages = oneiro.stats().unwrap();
        let mine = SessionId::new("demo-of-mine").unwrap();
        oneiro.sessions().create(NewSession::with_id(mine.clone())).unwrap();
        oneiro.messages().append(&mine, vec![NewMessage::text(Role::User, "mine")]).unwrap();
        let branch = SessionId::new("my-way").unwrap();
        let request = BranchRequest { id: Some(branch.clone()), ..BranchRequest::default() };
        oneiro.sessions().branch(&SessionId::new("demo-run-plan").unwrap(), request).unwrap();

        let removed = remove(&oneiro).unwrap();
        assert_eq!((removed.sessions, removed.messages), (there, messages.messages + messages.rewound));
        assert_eq!(count_sessions(&oneiro).unwrap(), SessionCounts { demo: 0, others: 2 });
        let left = oneiro.sessions().show(&branch, false).unwrap();
        assert!(left.messages.len() > 5 && left.session.parent_id.is_none());
        let before = dump(&oneiro);
        assert_eq!(remove(&oneiro).unwrap(), Removed::default());
        assert_eq!(before, dump(&oneiro));
    }
}
