//! Reading back: expansion by pages that miss nothing, ids of any kind, a scope that holds, and
//! grep over messages and summaries alike.

use crate::context_support::{
    Scripted, agent, begin, expand_all, gist, live, open_llm, prose, until, user,
};
use crate::support::{Fixed, content, id as sid, open};
use oneiro::{
    BranchRequest, ContextScope, ErrorKind, ExpandRequest, ExpandWhat, GrepRequest, Grepped,
    LookedUp, MessageId, NewMessage, Role, SessionId, Span, SummaryKind,
};
use oneiro_testkit::on_both_backends;
use serde_json::json;
use std::sync::Arc;

fn lineage(id: &SessionId) -> ContextScope {
    ContextScope::Lineage(id.clone())
}

fn turns(from: u64, to: u64) -> Vec<NewMessage> {
    (from..to)
        .flat_map(|at| {
            [
                user(format!("Turn {at}. {}", prose(at, 80))),
                agent(format!("Answer {at}. {}", prose(at + 500, 80))),
            ]
        })
        .collect()
}

fn grep(oneiro: &Fixed, id: &SessionId, pattern: &str) -> Grepped {
    oneiro
        .search()
        .grep(&GrepRequest {
            pattern: pattern.to_owned(),
            scope: lineage(id),
            messages: true,
            summaries: true,
            roles: Vec::new(),
            project: None,
            since: None,
            until: None,
            limit: 50,
        })
        .unwrap_or_else(|error| panic!("{pattern}: {error:?}"))
}

fn found(grepped: &Grepped) -> (usize, usize) {
    (grepped.messages.len(), grepped.summaries.len())
}

on_both_backends! {
    fn expansion_goes_through_everything_once_whatever_the_page(space) {
        let oneiro = open(space);
        let mut said = turns(0, 40);
        said.insert(20, agent(prose(1, 9_000)));
        let id = begin(&oneiro, "s", said);
        until(&oneiro, &id, 1_200);
        let top = oneiro.context().summaries(&id).unwrap().into_iter().filter(|s| s.in_context).max_by_key(|s| s.message_count).unwrap();
        let wanted: Vec<MessageId> = live(&oneiro, &id).iter().map(|m| m.id).filter(|m| Some(*m) >= top.first_message && Some(*m) <= top.last_message).collect();
        for tokens in [1, 300, 4_000, 1_000_000] {
            let what = ExpandWhat::Summary(top.id.to_string());
            let all = expand_all(&oneiro, &id, &what, tokens);
            assert_eq!(all.iter().map(|m| m.id).collect::<Vec<_>>(), wanted, "{tokens}");
            let range = ExpandWhat::Range(wanted[0].into(), wanted[wanted.len() - 1].into());
            assert_eq!(expand_all(&oneiro, &id, &range, tokens).len(), wanted.len());
        }
        // The exact words come back, and a giant message comes alone and whole.
        let giant = live(&oneiro, &id)[20].clone();
        let page = ExpandRequest { what: ExpandWhat::Message(giant.id.into()), scope: lineage(&id), tokens: 10, cursor: None };
        let page = oneiro.context().expand(&page).unwrap();
        assert_eq!((page.messages.len(), page.next), (1, None));
        assert_eq!(content(&page.messages[0]), content(&giant));
        assert_eq!(oneiro.context().expand(&ExpandRequest { what: ExpandWhat::Message(giant.id.into()), scope: lineage(&id), tokens: 0, cursor: None }).unwrap_err().field_name(), Some("tokens"));
    }

    fn any_id_is_looked_up_by_its_beginning(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 40));
        until(&oneiro, &id, 2_500);
        let summaries = oneiro.context().summaries(&id).unwrap();
        for summary in &summaries {
            let LookedUp::Summary(found) = oneiro.context().look_up(summary.id.as_str(), &lineage(&id)).unwrap() else { panic!() };
            assert_eq!(found.id, summary.id);
            if found.kind == SummaryKind::Leaf {
                assert!(found.children.is_empty());
            }
        }
        let message = live(&oneiro, &id)[3].id;
        let LookedUp::Message(found) = oneiro.context().look_up(&message.to_string(), &lineage(&id)).unwrap() else { panic!() };
        assert_eq!(found.id, message);
        for nothing in ["sum_zzzzzzzz", "99999999"] {
            assert_eq!(oneiro.context().look_up(nothing, &lineage(&id)).map(drop).unwrap_err().kind(), ErrorKind::NotFound, "{nothing}");
        }
        assert_eq!(oneiro.context().look_up("banana", &lineage(&id)).map(drop).unwrap_err().field_name(), Some("id"));
    }

    // Another lineage cannot be told from one that does not exist.
    fn what_is_in_another_lineage_is_as_if_it_were_not_there(space) {
        let oneiro = open(space);
        let mine = begin(&oneiro, "mine", turns(0, 40));
        let theirs = begin(&oneiro, "theirs", vec![user("The heron is at the pier."), agent(prose(7, 3_000))].into_iter().chain(turns(0, 40)).collect());
        until(&oneiro, &mine, 2_500);
        until(&oneiro, &theirs, 2_500);
        let hidden = oneiro.context().summaries(&theirs).unwrap()[0].clone();
        let message = live(&oneiro, &theirs)[0].id;
        for what in [ExpandWhat::Summary(hidden.id.to_string()), ExpandWhat::Message(message.into()), ExpandWhat::Range(message.into(), MessageId(message.0 + 5).into())] {
            let request = ExpandRequest { what, scope: lineage(&mine), tokens: 4_000, cursor: None };
            assert_eq!(oneiro.context().expand(&request).map(drop).unwrap_err().kind(), ErrorKind::NotFound);
            let request = ExpandRequest { scope: ContextScope::Space, ..request };
            assert!(!oneiro.context().expand(&request).unwrap().messages.is_empty());
        }
        assert_eq!(oneiro.context().look_up(hidden.id.as_str(), &lineage(&mine)).map(drop).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(oneiro.context().look_up(&message.to_string(), &lineage(&mine)).map(drop).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(found(&grep(&oneiro, &mine, "heron")), (0, 0));
        assert!(found(&grep(&oneiro, &theirs, "heron")).0 >= 1);
        // A range that begins at home does not reach into what was said elsewhere meanwhile.
        let (first, last) = (live(&oneiro, &mine)[0].id, MessageId(message.0 + 30));
        let range = expand_all(&oneiro, &mine, &ExpandWhat::Range(first.into(), last.into()), 4_000);
        assert!(range.iter().all(|m| m.session_id == mine));
        oneiro.settings().set("other_sessions", Some(json!("refuse"))).unwrap();
        let request = ExpandRequest { what: ExpandWhat::Message(message.into()), scope: ContextScope::Space, tokens: 10, cursor: None };
        assert_eq!(oneiro.context().expand(&request).map(drop).unwrap_err().kind(), ErrorKind::Forbidden);
        assert_eq!(oneiro.context().look_up(hidden.id.as_str(), &ContextScope::Space).map(drop).unwrap_err().kind(), ErrorKind::Forbidden);
        assert_eq!(oneiro.context().summary(hidden.id.as_str(), &ContextScope::Space).map(drop).unwrap_err().kind(), ErrorKind::Forbidden);
        let pattern = GrepRequest { pattern: "heron".into(), scope: ContextScope::Space, messages: true, summaries: true, roles: Vec::new(), project: None, since: None, until: None, limit: 5 };
        for only in [(true, false), (false, true)] {
            let request = GrepRequest { messages: only.0, summaries: only.1, ..pattern.clone() };
            assert_eq!(oneiro.search().grep(&request).map(drop).unwrap_err().kind(), ErrorKind::Forbidden);
        }
    }

    // The beginning of an id is unique among what is in reach: what is not there is not told of.
    fn a_beginning_is_not_made_ambiguous_by_what_is_out_of_reach(space) {
        let oneiro = open(space);
        let mine = begin(&oneiro, "mine", turns(0, 12));
        oneiro.context().set_summary(&mine, "The only one of mine.").unwrap();
        let theirs = begin(&oneiro, "theirs", turns(0, 12));
        oneiro.context().set_summary(&theirs, "The only one of theirs.").unwrap();
        for id in [&mine, &theirs] {
            let LookedUp::Summary(found) = oneiro.context().look_up("sum_", &lineage(id)).unwrap() else { panic!() };
            assert_eq!(found.session_id, *id);
        }
        assert_eq!(oneiro.context().look_up("sum_", &ContextScope::Space).map(drop).unwrap_err().kind(), ErrorKind::Conflict);
    }

    fn a_branch_reads_its_own_lineage(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 40));
        until(&oneiro, &id, 2_500);
        let branch = oneiro.sessions().branch(&id, BranchRequest { id: Some(sid("b")), ..BranchRequest::default() }).unwrap().id;
        let summary = oneiro.context().summaries(&id).unwrap()[0].id.to_string();
        assert!(oneiro.context().summary(&summary, &lineage(&branch)).is_ok());
        crate::context_support::assert_context_rules(&oneiro, &branch);
    }

    fn grep_finds_messages_and_summaries(space) {
        let oneiro = open(space);
        let at = |minute: i64| crate::support::NOW.plus(Span::seconds(minute * 60));
        let mut said: Vec<NewMessage> = Vec::new();
        for turn in 0..30_i64 {
            let words = match turn {
                3 => "We decided that the heron costs 100% of budget_a, see src/heron_main.rs today.",
                5 => "The otter, not the heron, is 50 percent done; budgetXa is fine.",
                7 => "我们决定把服务器迁移到新的机房。",
                _ => "Nothing to see here in this turn at all.",
            };
            said.push(user(format!("{words} {}", prose(turn as u64, 60))).at(at(turn)));
            said.push(agent(format!("Agreed on item {turn}. {}", prose(turn as u64 + 77, 60))).at(at(turn)));
        }
        let id = begin(&oneiro, "s", said);
        until(&oneiro, &id, 2_500);
        oneiro.context().set_summary(&id, "The heron and the otter; 机房 moved; 100% of budget_a; NOTHING was lost.").unwrap();
        let both = grep(&oneiro, &id, "heron otter");
        assert!(both.messages.iter().any(|hit| hit.snippet.contains("otter")), "{both:?}");
        assert!(both.summaries.iter().any(|hit| hit.snippet.contains("heron")));
        // The answer has depth, kind and total.
        assert!(both.summary_total >= both.summaries.len() && both.summaries.iter().all(|hit| hit.depth >= 0));
        // Operators are operators, in messages and in summaries.
        let neither = grep(&oneiro, &id, "heron NOT otter");
        assert!(neither.messages.iter().any(|hit| hit.snippet.contains("100")), "{neither:?}");
        assert!(neither.messages.iter().all(|hit| !hit.snippet.contains("otter")));
        assert!(neither.summaries.iter().all(|hit| !hit.snippet.contains("otter")));
        assert!(found(&grep(&oneiro, &id, "zebra OR otter")).0 >= 1 && found(&grep(&oneiro, &id, "zebra OR otter")).1 >= 1);
        // One and two characters of a script without spaces.
        for short in ["机房", "机", "决定"] {
            assert!(found(&grep(&oneiro, &id, short)).0 >= 1, "{short} in messages");
        }
        for short in ["机房", "机"] {
            assert!(found(&grep(&oneiro, &id, short)).1 >= 1, "{short} in summaries");
        }
        // Patterns.
        let pattern = grep(&oneiro, &id, r"/heron_\w+\.rs/");
        assert!(pattern.messages.iter().any(|hit| hit.snippet.contains("heron_main.rs")), "{pattern:?}");
        assert!(found(&grep(&oneiro, &id, "/otter|zebra/")).1 >= 1);
        // What is a wildcard elsewhere is a character here.
        let percent = grep(&oneiro, &id, "/100%/");
        assert!(found(&percent).0 >= 1 && percent.messages.iter().all(|hit| hit.snippet.contains("100%")), "{percent:?}");
        let underscore = grep(&oneiro, &id, "budget_a");
        assert!(underscore.summaries.iter().all(|hit| hit.snippet.contains("budget_a")), "{underscore:?}");
        assert!(found(&underscore).1 >= 1);
        // Roles are of messages.
        let request = GrepRequest { pattern: "heron".into(), scope: lineage(&id), messages: true, summaries: true, roles: vec![Role::Assistant], project: None, since: None, until: None, limit: 50 };
        assert_eq!(found(&oneiro.search().grep(&request).unwrap()), (0, 0));
        // Times are when it was said, not when it was summarised.
        let request = GrepRequest { roles: Vec::new(), since: Some(at(4)), until: Some(at(6)), ..request };
        let hits = oneiro.search().grep(&request).unwrap();
        assert!(hits.messages.iter().all(|hit| hit.snippet.contains("otter")) && hits.messages.len() == 1, "{hits:?}");
        for hit in &hits.summaries {
            assert!(hit.at >= at(4) && hit.earliest_at < at(6), "{hit:?}");
        }
        assert_eq!(oneiro.search().grep(&GrepRequest { limit: 0, ..request }).map(drop).unwrap_err().field_name(), Some("limit"));
    }

    // Digits in a query are words, not ids.
    fn digits_do_not_hit_ids(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(200, 240));
        until(&oneiro, &id, 2_500);
        for message in live(&oneiro, &id).iter().take(20) {
            let hits = grep(&oneiro, &id, &message.id.to_string());
            assert_eq!(found(&hits).0, 0, "{}: {hits:?}", message.id);
            // What a summary says of itself may have numbers, too: those are words of it.
            for hit in hits.summaries {
                let summary = oneiro.context().summary(hit.id.as_str(), &lineage(&id)).unwrap();
                assert!(summary.content.contains(&message.id.to_string()), "{}", hit.id);
            }
        }
    }

    fn a_digest_is_written_once_until_the_session_goes_on(space) {
        let llm = Scripted::new(|_, asked| Ok(gist(asked)));
        let oneiro = open_llm(space, Arc::clone(&llm) as _);
        let id = begin(&oneiro, "s", turns(0, 20));
        let first = oneiro.context().digest(&id, "What was Turn 3 about?").unwrap();
        assert_eq!(oneiro.context().digest(&id, "  what was turn 3 about? ").unwrap(), first);
        assert_eq!(llm.calls(), 1);
        oneiro.context().digest(&id, "Another question").unwrap();
        assert_eq!(llm.calls(), 2);
        oneiro.messages().append(&id, turns(50, 51)).unwrap();
        oneiro.context().digest(&id, "What was Turn 3 about?").unwrap();
        assert_eq!(llm.calls(), 3);
        oneiro.sessions().rewind(&id, oneiro::RewindRequest { turns: Some(1), ..oneiro::RewindRequest::default() }).unwrap();
        oneiro.context().digest(&id, "What was Turn 3 about?").unwrap();
        assert_eq!(llm.calls(), 4);
    }
}
