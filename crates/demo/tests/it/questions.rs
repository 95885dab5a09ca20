//! Questions that a newcomer may ask, and where the answer is.

use crate::support::{NOW, filled};
use oneiro::{SearchRequest, SessionId};
use oneiro_testkit::{Backend, TestSpace};

/// A query, and the messages of which one is among the first five hits.
const QUESTIONS: [(&str, &[&str]); 19] = [
    ("what did the tiler quote", &["demo-flat-tiler:005"]),
    ("which ferry", &["demo-japan-ferry:008", "demo-japan-ferry:009"]),
    ("why did we drop async-std", &["demo-sluice-async-std:012"]),
    ("half marathon plan", &["demo-run-plan:004"]),
    ("passaporte", &["demo-mae-passaporte:002", "demo-mae-appointment:004"]),
    ("buckwheat allergy", &["demo-japan-start:005", "demo-japan-ryokan:003"]),
    ("SIN-2291-A", &["demo-flat-2:019", "demo-flat-3:012"]),
    ("light grey grout", &["demo-flat-3:016"]),
    ("day rate Katrin", &["demo-today-rate:001"]),
    ("why was 0.6.0 yanked", &["demo-sluice-yank:016", "demo-sluice-yank:015"]),
    ("window or aisle seat", &["demo-japan-seats:001", "demo-japan-seats:003"]),
    ("lease offshore hours", &["demo-nordlicht-race-4:002", "demo-nordlicht-race:022"]),
    ("minimum Rust version", &["demo-sluice-msrv:009"]),
    ("scotch bonnets", &["demo-recipe:008", "demo-recipe:007"]),
    ("mãe birthday", &["demo-people:018", "demo-people:019"]),
    ("Rechnung Umsatzsteuer", &["demo-nordlicht-invoice:006"]),
    ("アレルギー", &["demo-japan-card:002"]),
    ("突发容量", &["demo-sluice-issue-xu:001"]),
    ("دعوة", &["demo-yusuf:005"]),
];

#[test]
fn questions_are_answered_among_the_first_five_hits() {
    let space = TestSpace::new(Backend::Sqlite);
    let oneiro = filled(&space, NOW);
    let mut missed = Vec::new();
    for (query, wanted) in QUESTIONS {
        let request = SearchRequest { limit: 5, ..SearchRequest::new(query) };
        let found = oneiro.search().run(&request).unwrap();
        let ids: Vec<_> = found.hits.into_iter().filter_map(|hit| hit.external_id).collect();
        if !ids.iter().any(|id| wanted.contains(&id.as_str())) {
            missed.push(format!("{query}: {ids:?}"));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn what_was_taken_back_is_not_found() {
    let space = TestSpace::new(Backend::Sqlite);
    let oneiro = filled(&space, NOW);
    let found = || oneiro.search().run(&SearchRequest::new("crossbeam")).unwrap().hits.len();
    assert_eq!(found(), 0);
    let session = SessionId::new("demo-sluice-0-7-sharded").unwrap();
    assert_eq!(
        oneiro
            .sessions()
            .restore(&session, oneiro::RestoreRequest { all: false })
            .unwrap()
            .restored,
        2
    );
    assert_eq!(found(), 2);
}

#[test]
fn the_questions_that_are_shown_have_answers() {
    let space = TestSpace::new(Backend::Sqlite);
    let oneiro = filled(&space, NOW);
    for question in oneiro_demo::EXAMPLE_QUESTIONS {
        let found = oneiro.search().run(&SearchRequest::new(question)).unwrap();
        assert!(
            found.hits.iter().take(3).any(|hit| hit.tier == oneiro::Tier::Precise),
            "{question}"
        );
    }
}
