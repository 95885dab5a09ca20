//! Compaction comes to an end and reaches its goal on any mix of messages, or says why not.

use crate::context_support::{
    agent, assert_context_rules, begin, calls, peek, picture, prose, result, until, user,
};
use crate::support::open;
use oneiro::{CompactRequest, NewMessage};
use oneiro_testkit::{TestSpace, on_both_backends};
use serde_json::json;

/// Compacts a session to a goal that its newest turn fits well, and proves that it got there.
fn assert_reaches(space: &TestSpace, said: Vec<NewMessage>, goal: usize) {
    let oneiro = open(space);
    let id = begin(&oneiro, "s", said);
    let done = until(&oneiro, &id, goal);
    assert_eq!(done.stopped, "under", "{done:?}");
    assert!(done.tokens_after <= goal, "{done:?}");
    assert_context_rules(&oneiro, &id);
    let window = peek(&oneiro, &id, goal + 200);
    assert!(window.tokens <= goal + 200 && window.omitted.messages == 0, "{:?}", window.omitted);
}

fn newest() -> [NewMessage; 2] {
    [user("And now the newest turn, please."), agent("Here it is.")]
}

on_both_backends! {
    fn one_giant_message_at_the_head(space) {
        let mut said = vec![user(prose(1, 50_000)), agent("Read.")];
        said.extend(newest());
        assert_reaches(space, said, 3_000);
    }

    // A large group behind a small message must not stall the head.
    fn a_giant_message_behind_a_small_one(space) {
        let mut said = vec![user("hi"), agent(prose(2, 50_000))];
        said.extend(newest());
        assert_reaches(space, said, 3_000);
    }

    // The giant one is a tool result, which belongs to its call.
    fn a_giant_tool_result_behind_a_small_question(space) {
        let mut said = vec![
            user("look"),
            calls(&["c1", "c2"], "I look."),
            result("c1", prose(3, 45_000)),
            result("c2", "small"),
            agent("Done."),
        ];
        said.extend(newest());
        assert_reaches(space, said, 3_000);
    }

    fn many_giant_messages_between_small_ones(space) {
        let mut said = Vec::new();
        for turn in 0..6 {
            said.push(user(format!("question {turn}")));
            said.push(agent(prose(turn, 25_000)));
        }
        said.extend(newest());
        assert_reaches(space, said, 4_000);
    }

    fn a_thousand_tiny_messages(space) {
        let tiny = (0..1_000).map(|at| match at % 2 {
            0 => user(format!("ping {at}")),
            _ => agent(format!("pong {at}")),
        });
        assert_reaches(space, tiny.collect(), 2_000);
    }

    // Results without calls have no place where a step begins.
    fn a_session_of_nothing_but_tool_results_is_one_step(space) {
        let said = (0..60).map(|at| result(&format!("c{at}"), prose(at, 800)));
        let oneiro = open(space);
        let id = begin(&oneiro, "s", said.collect());
        let done = until(&oneiro, &id, 4_000);
        assert_eq!((done.stopped.as_str(), done.created.len()), ("newest_turn", 0));
        assert_context_rules(&oneiro, &id);
    }

    fn a_session_in_which_only_the_agent_speaks(space) {
        let said = (0..80).map(|at| agent(prose(at, 700)));
        assert_reaches(space, said.collect(), 4_000);
    }

    fn pictures_without_words_are_no_wall(space) {
        let mut said: Vec<NewMessage> = (0..30).flat_map(|_| [picture(), agent("Nice.")]).collect();
        said.extend((0..40).flat_map(|at| [user(prose(at, 400)), agent(prose(at + 100, 400))]));
        said.extend(newest());
        assert_reaches(space, said, 6_000);
    }

    // What says nothing that can be told (thinking alone) is no wall before what can.
    fn messages_of_thinking_alone_are_no_wall(space) {
        let thinking = |at: u64| {
            NewMessage::from_json(json!({"role": "assistant", "content": "", "reasoning": prose(at, 6_000)})).unwrap()
        };
        let mut said: Vec<NewMessage> = (0..20).map(thinking).collect();
        said.extend((0..40).flat_map(|at| [user(prose(at, 400)), agent(prose(at + 100, 400))]));
        said.extend(newest());
        let oneiro = open(space);
        let id = begin(&oneiro, "s", said);
        let done = oneiro.context().compact(&id, &CompactRequest::default()).unwrap();
        assert_eq!(done.stopped, "nothing_left", "{done:?}");
        let done = until(&oneiro, &id, 6_000);
        assert_eq!(done.stopped, "under", "{done:?}");
        assert_context_rules(&oneiro, &id);
    }

    fn empty_messages_everywhere(space) {
        let mut said = Vec::new();
        for at in 0..200 {
            said.push(user(if at % 3 == 0 { "" } else { "words of the user that say a little" }));
            said.push(agent(if at % 2 == 0 { "" } else { "words of the agent that say a little" }));
        }
        said.extend(newest());
        assert_reaches(space, said, 1_500);
    }

    fn scripts_without_spaces(space) {
        let line = "今天我们决定在下周二把服务器迁移到新的机房,预算是三千欧元,负责人是王芳。";
        let said = (0..200).flat_map(|at| [user(format!("{at} {line}")), agent(line.repeat(4))]);
        assert_reaches(space, said.collect(), 5_000);
    }

    fn a_newest_turn_larger_than_the_goal_is_named_as_the_reason(space) {
        let oneiro = open(space);
        let mut said: Vec<NewMessage> = (0..40).flat_map(|at| [user(prose(at, 300)), agent(prose(at + 50, 300))]).collect();
        said.push(user("the newest turn"));
        said.extend((0..60).map(|at| agent(prose(at, 150))));
        let id = begin(&oneiro, "s", said);
        let done = until(&oneiro, &id, 3_000);
        assert_eq!(done.stopped, "newest_turn");
        assert!(done.tokens_after < 9_000 + 2_500, "all but the newest turn is small: {done:?}");
        assert_context_rules(&oneiro, &id);
    }

    // Even when it is all there is, the newest turn is not summarised.
    fn a_single_turn_is_left_alone(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", vec![user(prose(1, 8_000)), agent(prose(2, 8_000))]);
        let done = until(&oneiro, &id, 1_000);
        assert_eq!((done.stopped.as_str(), done.created.len()), ("newest_turn", 0));
        assert_context_rules(&oneiro, &id);
    }

    // A group may be longer than what is read at once: its results still go with the call.
    fn many_parallel_calls_stay_with_all_their_results(space) {
        let oneiro = open(space);
        oneiro.settings().set("leaf_chunk_tokens", Some(json!(500))).unwrap();
        let ids: Vec<String> = (0..12).map(|at| format!("c{at}")).collect();
        let refs: Vec<&str> = ids.iter().map(String::as_str).collect();
        let mut said = Vec::new();
        for turn in 0..4 {
            said.push(user(prose(turn, 300)));
            said.push(calls(&refs, "I read all of them."));
            said.extend(ids.iter().map(|id| result(id, prose(turn + 7, 400))));
            said.push(agent("Read."));
        }
        said.extend(newest());
        let id = begin(&oneiro, "s", said);
        oneiro.context().compact(&id, &CompactRequest::default()).unwrap();
        assert_context_rules(&oneiro, &id);
        until(&oneiro, &id, 2_000);
        assert_context_rules(&oneiro, &id);
    }

    fn a_session_without_messages_has_nothing_to_compact(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", Vec::new());
        let done = oneiro.context().compact(&id, &CompactRequest::default()).unwrap();
        assert_eq!((done.stopped.as_str(), done.created.len(), done.tokens_after), ("nothing_left", 0, 0));
        assert_eq!(until(&oneiro, &id, 10).stopped, "under");
        assert!(peek(&oneiro, &id, 100).messages.is_empty());
    }
}
