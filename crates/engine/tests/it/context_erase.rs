//! Erasure under summaries and digests: what quoted the erased words goes with them, even what a
//! model is writing at that moment.

use crate::context_support::{
    Scripted, agent, assert_context_rules, begin, gist, live, open_llm, prose, until, user,
};
use crate::support::{Fixed, content, open};
use oneiro::{
    CompactRequest, EraseTarget, MessageId, NewMessage, SessionId, SplitRequest, SummaryLevel,
};
use oneiro_testkit::{Backend, TestSpace, on_both_backends};
use std::sync::{Arc, Mutex};

const SECRET: &str = "the lighthouse keeper hides forty amber coins";

/// Sixty turns; the fourth tells the secret.
fn turns() -> Vec<NewMessage> {
    let turn = |at: u64| {
        let words = if at == 3 {
            format!("We decided: {SECRET}.")
        } else {
            format!("We decided on plan {at}.")
        };
        [
            user(format!("Turn {at}. {words} {}", prose(at, 90))),
            agent(format!("Answer {at}. {}", prose(at + 500, 90))),
        ]
    };
    (0..60).flat_map(turn).collect()
}

fn told(oneiro: &Fixed, id: &SessionId) -> MessageId {
    live(oneiro, id).iter().find(|m| content(m).contains(SECRET)).unwrap().id
}

/// Nothing that is stored has the secret any more.
fn assert_clean(space: &TestSpace, oneiro: &Fixed, sessions: &[&SessionId]) {
    for id in sessions {
        assert_context_rules(oneiro, id);
        for summary in oneiro.context().summaries(id).unwrap() {
            assert!(
                !summary.content.contains("lighthouse"),
                "{} still tells: {}",
                summary.id,
                summary.content
            );
        }
        assert!(
            !oneiro.context().digest(id, "lighthouse coins").unwrap().content.contains("amber"),
            "a digest tells"
        );
    }
    if space.backend == Backend::Sqlite {
        let mut raw = std::fs::read(space.file()).unwrap();
        raw.extend(std::fs::read(format!("{}-wal", space.file().display())).unwrap_or_default());
        let needle = b"forty amber coins";
        assert!(!raw.windows(needle.len()).any(|part| part == needle), "the bytes are there");
    }
}

/// A model that repeats the secret as soon as it has read of it.
fn parrot() -> Arc<Scripted> {
    Scripted::new(|_, asked| {
        let known = asked.input.contains(SECRET);
        Ok(if known { format!("{SECRET}. {}", gist(asked)) } else { gist(asked) })
    })
}

on_both_backends! {
    fn an_erased_message_is_no_longer_told_by_extracts(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns());
        oneiro.context().digest(&id, "lighthouse coins").unwrap();
        until(&oneiro, &id, 1_500);
        let erased = oneiro.erase(&EraseTarget::Message(told(&oneiro, &id))).unwrap();
        assert_eq!(erased.proof.found, 0);
        assert_clean(space, &oneiro, &[&id]);
        assert_eq!(live(&oneiro, &id).len(), 119);
    }

    fn an_erased_message_is_no_longer_told_by_models(space) {
        let oneiro = open_llm(space, parrot());
        let id = begin(&oneiro, "s", turns());
        oneiro.context().digest(&id, "lighthouse coins").unwrap();
        until(&oneiro, &id, 1_500);
        assert!(oneiro.context().summaries(&id).unwrap().iter().any(|s| s.level == SummaryLevel::Model && s.content.contains(SECRET)));
        oneiro.erase(&EraseTarget::Message(told(&oneiro, &id))).unwrap();
        assert_clean(space, &oneiro, &[&id]);
    }

    fn an_erased_session_is_no_longer_told_by_its_continuation(space) {
        let oneiro = open_llm(space, parrot());
        let id = begin(&oneiro, "s", turns());
        let child = oneiro.sessions().split(&id, SplitRequest { until: Some(2_000), ..SplitRequest::default() }).unwrap().id;
        oneiro.messages().append(&child, turns().into_iter().skip(20).collect()).unwrap();
        // What went before is shown to the model, which repeats it in the words of the child.
        until(&oneiro, &child, 2_500);
        oneiro.erase(&EraseTarget::Session(id)).unwrap();
        assert_clean(space, &oneiro, &[&child]);
    }

    fn an_erased_message_of_the_parent_is_no_longer_told_by_the_continuation(space) {
        let oneiro = open_llm(space, parrot());
        let id = begin(&oneiro, "s", turns());
        let child = oneiro.sessions().split(&id, SplitRequest { until: Some(2_000), ..SplitRequest::default() }).unwrap().id;
        oneiro.messages().append(&child, turns().into_iter().skip(20).collect()).unwrap();
        until(&oneiro, &child, 2_500);
        oneiro.erase(&EraseTarget::Message(told(&oneiro, &id))).unwrap();
        assert_clean(space, &oneiro, &[&id, &child]);
    }

    // The digest is written after the erasure, of what was read before it.
    fn a_digest_that_is_being_written_does_not_bring_it_back(space) {
        let other = open(space);
        let id = begin(&other, "s", turns());
        let (eraser, message) = (other.oneiro.clone(), told(&other, &id));
        let llm = Scripted::new(move |number, asked| {
            if number == 1 {
                eraser.erase(&EraseTarget::Message(message))?;
            }
            Ok(if asked.input.contains(SECRET) { format!("{SECRET}. {}", gist(asked)) } else { gist(asked) })
        });
        let oneiro = open_llm(space, llm);
        let _ = oneiro.context().digest(&id, "lighthouse coins");
        assert_clean(space, &oneiro, &[&id]);
    }

    // So is a leaf: it does not cover the message, but its model was shown what went before.
    fn a_leaf_that_is_being_written_does_not_bring_it_back(space) {
        let other = open(space);
        let id = begin(&other, "s", turns());
        let (eraser, message) = (other.oneiro.clone(), told(&other, &id));
        let erased = Mutex::new(false);
        let llm = Scripted::new(move |_, asked| {
            let segment = asked.input.split("<segment>").nth(1).unwrap_or_default();
            let known = asked.input.contains(SECRET);
            if known && !segment.contains(SECRET) && !std::mem::replace(&mut *erased.lock().unwrap(), true) {
                eraser.erase(&EraseTarget::Message(message))?;
            }
            Ok(if known { format!("{SECRET}. {}", gist(asked)) } else { gist(asked) })
        });
        let oneiro = open_llm(space, Arc::clone(&llm) as _);
        oneiro.context().compact(&id, &CompactRequest { until: Some(3_000), redo: false }).unwrap();
        assert_eq!(live(&oneiro, &id).len(), 119, "the erasure was not reached");
        assert_clean(space, &oneiro, &[&id]);
    }

    fn extracts_that_are_being_redone_do_not_bring_it_back(space) {
        let other = open(space);
        let id = begin(&other, "s", turns());
        until(&other, &id, 1_500);
        let (eraser, message) = (other.oneiro.clone(), told(&other, &id));
        let erased = Mutex::new(false);
        let llm = Scripted::new(move |_, asked| {
            let known = asked.input.contains("lighthouse");
            if known && !std::mem::replace(&mut *erased.lock().unwrap(), true) {
                eraser.erase(&EraseTarget::Message(message))?;
            }
            Ok(if known { format!("{SECRET}. {}", gist(asked)) } else { gist(asked) })
        });
        let oneiro = open_llm(space, llm);
        oneiro.context().compact(&id, &CompactRequest { until: Some(1_500), redo: true }).unwrap();
        assert_eq!(live(&oneiro, &id).len(), 119, "the erasure was not reached");
        assert_clean(space, &oneiro, &[&id]);
    }
}
