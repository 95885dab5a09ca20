//! The month has summaries to look at: leaves, and what condenses them.

use crate::support::{NOW, fill, filled};
use oneiro::{ListSessions, Oneiro, Summary, SummaryKind};
use oneiro_demo::remove;
use oneiro_testkit::on_both_backends;

fn trees(oneiro: &Oneiro) -> Vec<Vec<Summary>> {
    let every = ListSessions { all: true, limit: 200, ..ListSessions::default() };
    let sessions = oneiro.sessions().list(&every).unwrap().items;
    let trees = sessions.iter().map(|session| oneiro.context().summaries(&session.id).unwrap());
    trees.filter(|tree| !tree.is_empty()).collect()
}

on_both_backends! {
    fn two_conversations_are_condensed(space) {
        let oneiro = filled(space, NOW);
        let before = trees(&oneiro);
        assert_eq!(before.len(), 2);
        for tree in &before {
            let count = |kind| tree.iter().filter(|node| node.kind == kind).count();
            assert!(count(SummaryKind::Leaf) >= 3, "{tree:#?}");
            assert!(count(SummaryKind::Condensed) >= 1, "{tree:#?}");
            assert!(tree.iter().any(|node| node.in_context));
        }
        fill(&oneiro, NOW);
        let ids = |trees: &[Vec<Summary>]| -> Vec<String> {
            trees.iter().flatten().map(|node| node.id.to_string()).collect()
        };
        assert_eq!(ids(&before), ids(&trees(&oneiro)), "once");
    }

    fn they_go_with_the_demonstration(space) {
        let oneiro = filled(space, NOW);
        remove(&oneiro).unwrap();
        assert_eq!(oneiro.context().newest_summaries(10).unwrap().len(), 0);
    }
}
