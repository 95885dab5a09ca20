//! Split: a session ends and its continuation goes on with the compacted window; nothing said
//! before falls out of its reach, whatever happens to the parent.

use crate::context_support::{
    agent, assert_context_rules, begin, live, peek, prose, until, user, words_in_reach,
};
use crate::support::{content, id as sid, open};
use oneiro::{
    CompactRequest, EraseTarget, ErrorKind, NewMessage, Oneiro, SessionId, SessionPatch,
    SplitRequest,
};
use oneiro_testkit::on_both_backends;
use serde_json::json;
use std::collections::BTreeSet;

fn turns(from: usize, to: usize) -> Vec<NewMessage> {
    (from..to)
        .flat_map(|at| {
            [
                user(format!("Turn {at}. {}", prose(at as u64, 100))),
                agent(format!("Answer {at}. {}", prose(at as u64 + 500, 100))),
            ]
        })
        .collect()
}

/// A session of sixty turns that was split, its continuation, and all that was said in it.
fn split(oneiro: &Oneiro) -> (SessionId, SessionId, BTreeSet<String>) {
    let id = begin(oneiro, "s", turns(0, 60));
    let said = live(oneiro, &id).iter().map(content).collect();
    let request = SplitRequest { id: Some(sid("child")), until: Some(3_000) };
    let child = oneiro.sessions().split(&id, request).unwrap().id;
    (id, child, said)
}

/// The continuation reaches all of this, at any budget.
fn assert_reaches(oneiro: &Oneiro, id: &SessionId, said: &BTreeSet<String>) {
    assert_context_rules(oneiro, id);
    for budget in [700, 1_000_000] {
        let found = words_in_reach(oneiro, id, budget);
        let lost: Vec<String> =
            said.difference(&found).map(|text| text.chars().take(10).collect()).collect();
        assert!(lost.is_empty(), "budget {budget}: {lost:?}");
    }
}

on_both_backends! {
    fn a_continuation_carries_what_it_should_and_reaches_everything(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 60));
        let patch = SessionPatch { title: Some(Some("the move".into())), ..SessionPatch::default() };
        oneiro.sessions().change(&id, patch).unwrap();
        let (first, last) = (live(&oneiro, &id)[0].id, live(&oneiro, &id)[119].id);
        assert!(oneiro.messages().pin(&id, first).unwrap() && oneiro.messages().pin(&id, last).unwrap());
        let said: BTreeSet<String> = live(&oneiro, &id).iter().map(content).collect();
        let child = oneiro.sessions().split(&id, SplitRequest { until: Some(3_000), ..SplitRequest::default() }).unwrap();
        assert_eq!(child.title.as_deref(), Some("the move #2"));
        assert_eq!(child.parent_id.as_ref(), Some(&id));
        let parent = oneiro.sessions().find(&id).unwrap().unwrap();
        assert_eq!(parent.end_reason.as_deref(), Some("compression"));
        assert_reaches(&oneiro, &child.id, &said);
        let pinned: Vec<String> = oneiro.messages().pinned(&child.id).unwrap().iter().map(content).collect();
        assert_eq!(pinned.len(), 2, "{pinned:?}");
        assert!(format!("{:?}", peek(&oneiro, &child.id, 5_000).messages).contains("Turn 0."));
        // A second split of the same session names where it goes on.
        let error = oneiro.sessions().split(&id, SplitRequest::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert!(error.to_string().contains(child.id.as_str()) || format!("{error:?}").contains(child.id.as_str()), "{error:?}");
        let third = oneiro.sessions().split(&child.id, SplitRequest::default()).unwrap();
        assert_eq!(third.title.as_deref(), Some("the move #3"));
        assert_reaches(&oneiro, &third.id, &said);
        assert_eq!(oneiro.sessions().resolve("the move").unwrap(), third.id);
    }

    fn the_child_goes_on_with_the_newest_messages_of_the_parent(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 60));
        until(&oneiro, &id, 3_000);
        let before = peek(&oneiro, &id, 3_000);
        let child = oneiro.sessions().split(&id, SplitRequest { until: Some(3_000), ..SplitRequest::default() }).unwrap().id;
        let after = peek(&oneiro, &child, 3_000);
        assert!(after.messages.len() > 2 && before.messages.ends_with(&after.messages[1..]));
        assert_eq!(after.omitted.messages, 0);
    }

    fn a_continuation_compacts_further_and_splits_again(space) {
        let oneiro = open(space);
        let (_, mut child, mut said) = split(&oneiro);
        for round in 1..4 {
            oneiro.messages().append(&child, turns(round * 100, round * 100 + 30)).unwrap();
            said.extend(live(&oneiro, &child).iter().map(content));
            assert_reaches(&oneiro, &child, &said);
            until(&oneiro, &child, 1_500);
            assert_reaches(&oneiro, &child, &said);
            child = oneiro.sessions().split(&child, SplitRequest::default()).unwrap().id;
            assert_reaches(&oneiro, &child, &said);
        }
    }

    // What the continuation condensed stands under its own summaries: the parent must still not
    // be changed under it.
    fn a_parent_is_not_rewound_under_a_child_that_condensed_it(space) {
        let oneiro = open(space);
        let (id, child, mut said) = split(&oneiro);
        oneiro.messages().append(&child, turns(100, 160)).unwrap();
        said.extend(live(&oneiro, &child).iter().map(content));
        until(&oneiro, &child, 700);
        assert_reaches(&oneiro, &child, &said);
        let to = live(&oneiro, &id)[2].id;
        let refused = oneiro.sessions().rewind(&id, to.into());
        assert_eq!(refused.map(drop).unwrap_err().kind(), ErrorKind::Conflict);
        assert_reaches(&oneiro, &child, &said);
    }

    fn what_a_parent_restores_takes_nothing_from_the_child(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 10));
        let to = live(&oneiro, &id)[10].id;
        oneiro.sessions().rewind(&id, to.into()).unwrap();
        oneiro.messages().append(&id, turns(50, 80)).unwrap();
        let said: BTreeSet<String> = live(&oneiro, &id).iter().map(content).collect();
        let child = oneiro.sessions().split(&id, SplitRequest { until: Some(1_500), ..SplitRequest::default() }).unwrap().id;
        assert_reaches(&oneiro, &child, &said);
        let restored = oneiro.sessions().restore(&id, oneiro::RestoreRequest { all: true });
        assert!(restored.is_err() || restored.is_ok_and(|back| back.restored == 10));
        assert_reaches(&oneiro, &child, &said);
    }

    fn what_a_parent_sets_aside_takes_nothing_from_the_child(space) {
        let oneiro = open(space);
        let (id, child, mut said) = split(&oneiro);
        oneiro.messages().append(&child, turns(100, 160)).unwrap();
        said.extend(live(&oneiro, &child).iter().map(content));
        until(&oneiro, &child, 700);
        let last = live(&oneiro, &id)[40].id;
        let _ = oneiro.host().compact_messages(&id, last);
        assert_reaches(&oneiro, &child, &said);
        let _ = oneiro.messages().truncate_history(&id, 3);
        assert_reaches(&oneiro, &child, &said);
    }

    // The child asks for its own hand-written summary in place of the one it came with.
    fn a_hand_written_summary_is_replaced_in_the_child_and_stays_in_the_parent(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 20));
        oneiro.context().set_summary(&id, "Written for the parent.").unwrap();
        let child = oneiro.sessions().split(&id, SplitRequest::default()).unwrap().id;
        assert!(oneiro.context().summary_text(&child).unwrap().contains("Written for the parent."));
        oneiro.context().set_summary(&child, "Written for the child.").unwrap();
        let told = oneiro.context().summary_text(&child).unwrap();
        assert!(told.contains("Written for the child."), "{told}");
        assert!(!told.contains("Written for the parent."), "two hand-written roots: {told}");
        assert!(oneiro.context().summary_text(&id).unwrap().contains("Written for the parent."));
        // And what the parent does afterwards is the parent's business.
        oneiro.context().set_summary(&id, "").unwrap();
        assert!(oneiro.context().summary_text(&child).unwrap().contains("Written for the child."));
        assert_context_rules(&oneiro, &child);
    }

    fn deleting_the_parent_leaves_the_child_sound(space) {
        let oneiro = open(space);
        let (id, child, _) = split(&oneiro);
        oneiro.messages().append(&child, turns(100, 160)).unwrap();
        until(&oneiro, &child, 700);
        let own: BTreeSet<String> = live(&oneiro, &child).iter().map(content).collect();
        oneiro.sessions().delete(&id).unwrap();
        assert_reaches(&oneiro, &child, &own);
        until(&oneiro, &child, 900);
        assert_reaches(&oneiro, &child, &own);
    }

    fn deleting_the_one_between_leaves_what_the_window_names_in_reach(space) {
        let oneiro = open(space);
        let (_, child, _) = split(&oneiro);
        let last = oneiro.sessions().split(&child, SplitRequest::default()).unwrap().id;
        oneiro.sessions().delete(&child).unwrap();
        let own: BTreeSet<String> = live(&oneiro, &last).iter().map(content).collect();
        assert_reaches(&oneiro, &last, &own);
    }

    fn an_erased_message_of_the_parent_leaves_the_rest_in_the_reach_of_the_child(space) {
        let oneiro = open(space);
        let (id, child, mut said) = split(&oneiro);
        let gone = live(&oneiro, &id)[8].clone();
        oneiro.erase(&EraseTarget::Message(gone.id)).unwrap();
        said.remove(&content(&gone));
        assert_reaches(&oneiro, &child, &said);
        oneiro.messages().append(&child, turns(100, 160)).unwrap();
        said.extend(live(&oneiro, &child).iter().map(content));
        until(&oneiro, &child, 700);
        let gone = live(&oneiro, &id)[20].clone();
        oneiro.erase(&EraseTarget::Message(gone.id)).unwrap();
        said.remove(&content(&gone));
        assert_reaches(&oneiro, &child, &said);
    }

    // What is left of a leaf may be too little for one: it must stay in reach all the same.
    fn what_is_left_of_a_leaf_after_an_erasure_is_in_reach_however_little(space) {
        let oneiro = open(space);
        let mut said = vec![user("The code word is heron."), agent(prose(3, 9_000))];
        said.extend(turns(0, 3));
        let id = begin(&oneiro, "s", said);
        oneiro.settings().set("leaf_chunk_tokens", Some(json!(5_000))).unwrap();
        let child = oneiro.sessions().split(&id, SplitRequest { until: Some(900), ..SplitRequest::default() }).unwrap().id;
        let giant = live(&oneiro, &id)[1].clone();
        let mut left: BTreeSet<String> = live(&oneiro, &id).iter().map(content).collect();
        assert_reaches(&oneiro, &child, &left);
        oneiro.erase(&EraseTarget::Message(giant.id)).unwrap();
        left.remove(&content(&giant));
        assert_reaches(&oneiro, &child, &left);
    }

    fn rows_that_come_while_a_model_writes_go_along(space) {
        let meanwhile = open(space);
        let id = begin(&meanwhile, "s", turns(0, 60));
        let (other, late) = (meanwhile.oneiro.clone(), id.clone());
        let llm = crate::context_support::Scripted::new(move |number, asked| {
            if number < 4 {
                other.messages().append(&late, turns(200 + number, 201 + number))?;
            }
            Ok(crate::context_support::gist(asked))
        });
        let oneiro = crate::context_support::open_llm(space, llm);
        let child = oneiro.sessions().split(&id, SplitRequest { until: Some(3_000), ..SplitRequest::default() }).unwrap().id;
        let said: BTreeSet<String> = live(&oneiro, &id).iter().map(content).collect();
        assert!(said.len() >= 122);
        assert_reaches(&oneiro, &child, &said);
        let done = oneiro.context().compact(&child, &CompactRequest { until: Some(2_000), redo: true }).unwrap();
        assert!(done.tokens_after <= done.tokens_before);
        assert_reaches(&oneiro, &child, &said);
    }

    // The summaries stand in only for what does not fit: a large window of the continuation shows the
    // messages of the parent as the parent's own window does.
    fn a_large_window_of_a_continuation_shows_every_message_of_its_parents(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 60));
        until(&oneiro, &id, 2_000);
        let child = oneiro.sessions().split(&id, SplitRequest::default()).unwrap().id;
        let grandchild = oneiro.sessions().split(&child, SplitRequest::default()).unwrap().id;
        for id in [&child, &grandchild] {
            let window = peek(&oneiro, id, 100_000);
            assert_eq!((window.summaries.len(), window.omitted.messages), (0, 0));
            assert_eq!(window.messages.len(), 120, "{id:?}");
            assert_eq!(window.messages, peek(&oneiro, &sid("s"), 100_000).messages);
        }
        // A window between the two shows the newest in full and summaries of the rest.
        let between = peek(&oneiro, &grandchild, 8_000);
        assert!(!between.summaries.is_empty() && between.messages.len() > 20);
        oneiro.messages().append(&grandchild, turns(70, 72)).unwrap();
        assert_eq!(peek(&oneiro, &grandchild, 100_000).messages.len(), 124);
        assert_context_rules(&oneiro, &grandchild);
    }

    fn a_second_look_at_a_continuation_breaks_nothing(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 60));
        until(&oneiro, &id, 2_000);
        let child = oneiro.sessions().split(&id, SplitRequest::default()).unwrap().id;
        for budget in [2_000, 4_000, 100_000] {
            let request = oneiro::WindowRequest { budget, ..oneiro::WindowRequest::default() };
            let looks = [(); 3].map(|()| oneiro.context().window(&child, &request).unwrap());
            assert_eq!(looks[0].messages, looks[1].messages);
            assert!(looks.iter().all(|look| look.broke.is_none()), "{:?}", looks[1].broke);
        }
    }
}
