//! Orders and pages: each hit once, whatever the order, while messages arrive.

use crate::search_support::{
    at, find, fold, ids, newest, oldest, open, open_with_words, pages, repeated, request, search,
};
use crate::support::{Fixed, agent, begin, id, new, say, user};
use oneiro::{Lineage, MessageId, NewSession, SearchRequest, Sort};
use oneiro_testkit::{on_both_backends, words};

/// A conversation on one thing in many messages, over several sessions, some with neighbours.
pub fn chatter(oneiro: &Fixed, count: usize) -> Vec<i64> {
    for session in ["x", "y", "z"] {
        begin(oneiro, session);
    }
    let mut about = Vec::new();
    for n in 0..count {
        oneiro.clock.set(n as i64 * 7);
        let session = ["x", "y", "z"][n % 3];
        let text = format!(
            "fuchsia {} {}",
            words(n as u64, n % 13),
            if n % 4 == 0 { "serpent in the storm" } else { "" }
        );
        about.push(say(oneiro, session, &[&text])[0]);
        if n % 2 == 0 {
            let other = format!("{} ship", words(n as u64 + 1_000, 5));
            oneiro.messages().append(&id(session), vec![agent(&other)]).unwrap();
        }
    }
    about
}

on_both_backends! {
    fn sorting_by_time_uses_the_time_and_then_the_id(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        // Said in one order, appended in another, many within one minute.
        let mut said: Vec<(i64, i64)> = Vec::new();
        for n in 0..150i64 {
            let when = (n * 37) % 150 / 2;
            let message = at(user(&format!("hyacinth {n}")), when);
            said.push((when, oneiro.messages().append(&id("s"), vec![message]).unwrap().ids[0].0));
        }
        said.sort_unstable();
        let wanted: Vec<i64> = said.iter().map(|(_, id)| *id).collect();
        let back: Vec<i64> = wanted.iter().rev().copied().collect();
        for folded in [false, true] {
            assert_eq!(oldest(&oneiro, "hyacinth"), wanted, "folded: {folded}");
            assert_eq!(newest(&oneiro, "hyacinth"), back, "folded: {folded}");
            for limit in [1, 7, 40] {
                for (sort, wanted) in [(Sort::Oldest, &wanted), (Sort::Newest, &back)] {
                    let paged = pages(&oneiro, SearchRequest { sort, limit, ..request("hyacinth") }, || {});
                    assert_eq!(&paged, wanted, "{sort:?}, {limit} to a page, folded: {folded}");
                }
            }
            fold(&oneiro);
        }
    }

    fn pages_by_time_have_each_hit_once_while_messages_arrive(space) {
        let oneiro = open(space);
        let about = chatter(&oneiro, 90);
        for sort in [Sort::Newest, Sort::Oldest] {
            for query in ["fuchsia", "fuchsia -absent", "\"fuchsia\"", "fuch*", "*uchsi*", "/fuchsia/"] {
                let mut turn = 0;
                let seen = pages(&oneiro, SearchRequest { sort, limit: 7, ..request(query) }, || {
                    turn += 1;
                    say(&oneiro, "x", &["one more fuchsia"]);
                    if turn % 4 == 0 {
                        fold(&oneiro);
                    }
                });
                // Those of the search before came earlier; this search sees them.
                let mut missing = about.clone();
                missing.retain(|id| !seen.contains(id));
                assert_eq!((repeated(&seen), missing), (vec![], vec![]), "{query} {sort:?}");
            }
        }
    }

    fn pages_by_relevance_have_each_hit_once(space) {
        let (oneiro, _) = open_with_words(space);
        chatter(&oneiro, 90);
        for query in ["fuchsia", "fuchsia -absent", "where is the fuchsia in the storm?", "\"fuchsia\"", "fuch*"] {
            let whole = find(&oneiro, query);
            assert!(whole.len() > 60, "{query}: {}", whole.len());
            let seen = pages(&oneiro, SearchRequest { limit: 7, ..request(query) }, || {});
            let mut missing = whole.clone();
            missing.retain(|id| !seen.contains(id));
            assert_eq!((repeated(&seen), missing), (vec![], vec![]), "{query}");
        }
    }

    fn pages_by_relevance_have_each_hit_once_while_messages_arrive(space) {
        let (oneiro, _) = open_with_words(space);
        chatter(&oneiro, 90);
        for query in ["fuchsia", "fuchsia storm", "\"fuchsia\""] {
            let mut turn = 0;
            let whole = find(&oneiro, query);
            assert!(whole.len() > 60, "{query}: {}", whole.len());
            let seen = pages(&oneiro, SearchRequest { limit: 7, ..request(query) }, || {
                turn += 1;
                say(&oneiro, "x", &["one more fuchsia in a storm", "the storm"]);
                if turn % 4 == 0 {
                    fold(&oneiro);
                }
            });
            let mut missing = whole;
            missing.retain(|id| !seen.contains(id));
            assert_eq!((repeated(&seen), missing), (vec![], vec![]), "{query}");
        }
    }

    fn pages_have_each_hit_once_when_sources_are_demoted(space) {
        let oneiro = open(space);
        for (name, source) in [("p", "cli"), ("c", "cron")] {
            oneiro.sessions().create(NewSession { source: Some(source.into()), ..new(name) }).unwrap();
        }
        let mut people = Vec::new();
        let mut machines = Vec::new();
        // More than are read at once.
        for n in 0..80 {
            oneiro.clock.set(n * 60);
            machines.push(say(&oneiro, "c", &["an iris"])[0]);
            people.push(say(&oneiro, "p", &["an iris"])[0]);
        }
        for sort in [Sort::Newest, Sort::Oldest, Sort::Relevance] {
            let demoted = SearchRequest { sort, limit: 9, demote_sources: vec!["cron".into()], ..request("iris") };
            let seen = pages(&oneiro, demoted, || {});
            assert_eq!((repeated(&seen), seen.len()), (vec![], 160), "{sort:?}");
            assert!(seen[..80].iter().all(|id| people.contains(id)), "{sort:?}: {seen:?}");
            if sort == Sort::Oldest {
                assert_eq!(seen, [people.clone(), machines.clone()].concat());
            }
        }
    }

    fn a_lineage_has_one_hit_and_can_be_excluded(space) {
        let oneiro = open(space);
        let child = |name: &str, parent: &str, lineage| {
            let session = NewSession { parent_id: Some(id(parent)), lineage: Some(lineage), ..new(name) };
            oneiro.sessions().create(session).unwrap();
        };
        begin(&oneiro, "root");
        child("tip", "root", Lineage::Continuation);
        child("limb", "root", Lineage::Branch);
        child("twig", "limb", Lineage::Continuation);
        begin(&oneiro, "other");
        let mut said = Vec::new();
        for session in ["root", "tip", "limb", "twig", "other", "root", "twig"] {
            said.push(say(&oneiro, session, &["a crocus in the grass"])[0]);
        }
        for sort in [Sort::Relevance, Sort::Newest, Sort::Oldest] {
            for query in ["crocus", "crocus AND grass", "\"crocus in\"", "croc*"] {
                let found = search(&oneiro, SearchRequest { sort, one_per_lineage: true, ..request(query) });
                let mut sessions: Vec<&str> = found.hits.iter().map(|hit| hit.session_id.as_str()).collect();
                sessions.sort_unstable();
                assert_eq!(sessions.len(), 2, "{query} {sort:?}: {sessions:?}");
                assert!(sessions.contains(&"other"), "{query} {sort:?}");
                let paged = pages(&oneiro, SearchRequest { sort, one_per_lineage: true, limit: 1, ..request(query) }, || {});
                assert_eq!(paged, ids(&found), "{query} {sort:?}");
                for inside in ["root", "tip", "limb", "twig"] {
                    let without = SearchRequest { sort, exclude_lineage: Some(id(inside)), ..request(query) };
                    assert_eq!(ids(&search(&oneiro, without)), [said[4]], "{query} {sort:?} {inside}");
                }
            }
        }
        let newest = search(&oneiro, SearchRequest { sort: Sort::Newest, one_per_lineage: true, ..request("crocus") });
        assert_eq!(ids(&newest), [said[6], said[4]]);
        let alone = SearchRequest { exclude_lineage: Some(id("other")), ..request("crocus") };
        assert_eq!(search(&oneiro, alone).hits.len(), 6);
    }

    fn rewound_messages_do_not_hide_partial_matches(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        let said = say(&oneiro, "s", &["a magpie", "a jackdaw", "a magpie and a jackdaw"]);
        for folded in [false, true] {
            oneiro.sessions().rewind(&id("s"), MessageId(said[2]).into()).unwrap();
            assert_eq!(find(&oneiro, "magpie jackdaw").len(), 2, "folded: {folded}");
            assert_eq!(newest(&oneiro, "magpie jackdaw"), [said[1], said[0]], "folded: {folded}");
            assert_eq!(newest(&oneiro, "magpie AND jackdaw"), [said[1], said[0]], "folded: {folded}");
            oneiro.sessions().restore(&id("s"), oneiro::RestoreRequest { all: true }).unwrap();
            assert_eq!(newest(&oneiro, "magpie jackdaw"), [said[2]], "folded: {folded}");
            fold(&oneiro);
        }
    }
}
