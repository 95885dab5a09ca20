//! Counters match rows whatever is hidden, shown, copied or removed; rewinding hides and restores.

use crate::support::{Fixed, agent, assert_sound, begin, dump, id, message_texts, open, say, user};
use oneiro::{BranchRequest, EraseTarget, ErrorKind, MessageId, NewMessage, Visibility};
use oneiro_testkit::on_both_backends;
use serde_json::json;

fn counts(oneiro: &Fixed, name: &str) -> (i64, i64) {
    assert_sound(oneiro);
    let session = oneiro.sessions().find(&id(name)).unwrap().unwrap();
    (session.message_count, session.tool_call_count)
}

fn calls(count: usize) -> NewMessage {
    let calls = vec![json!({"function": {"name": "ls"}}); count];
    NewMessage::from_json(json!({"role": "assistant", "content": null, "tool_calls": calls}))
        .unwrap()
}

fn result() -> NewMessage {
    NewMessage::from_json(json!({"role": "tool", "content": "ok", "tool_call_id": "c"})).unwrap()
}

on_both_backends! {
    fn counters_match_rows_after_every_change(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        let messages = vec![user("one").external_id("1"), calls(3), result(), user("two"), result(), calls(1)];
        let ids = oneiro.messages().append(&id("a"), messages).unwrap().ids;
        assert_eq!(counts(&oneiro, "a"), (6, 4));
        oneiro.messages().append(&id("a"), vec![user("one").external_id("1")]).unwrap();
        assert_eq!(counts(&oneiro, "a"), (6, 4));
        oneiro.sessions().rewind(&id("a"), ids[3].into()).unwrap();
        assert_eq!(counts(&oneiro, "a"), (3, 3));
        let branch = oneiro.sessions().branch(&id("a"), BranchRequest::default()).unwrap();
        assert_eq!(counts(&oneiro, branch.id.as_str()), (3, 3));
        oneiro.sessions().restore(&id("a"), oneiro::RestoreRequest { all: false }).unwrap();
        assert_eq!(counts(&oneiro, "a"), (6, 4));
        oneiro.erase(&EraseTarget::Message(ids[1])).unwrap();
        assert_eq!(counts(&oneiro, "a"), (5, 1));
        oneiro.host().compact_messages(&id("a"), ids[3]).unwrap();
        assert_eq!(counts(&oneiro, "a"), (5, 1));
        let stats = oneiro.stats().unwrap();
        assert_eq!((stats.messages, stats.rewound, stats.sessions), (8, 0, 2));
    }

    fn a_rewind_goes_to_a_live_user_message_and_hides_the_rest(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        begin(&oneiro, "b");
        let foreign = say(&oneiro, "b", &["x"])[0];
        let ids = oneiro.messages().append(&id("a"), vec![user("1"), agent("2"), user("3"), agent("4")]).unwrap().ids;
        for (to, kind) in [(ids[1], ErrorKind::Invalid), (MessageId(foreign), ErrorKind::NotFound), (MessageId(999), ErrorKind::NotFound)] {
            let before = dump(&oneiro);
            assert_eq!(oneiro.sessions().rewind(&id("a"), to.into()).unwrap_err().kind(), kind);
            assert_eq!(dump(&oneiro), before);
        }
        let rewound = oneiro.sessions().rewind(&id("a"), ids[2].into()).unwrap();
        assert_eq!((rewound.rewound, rewound.target.id, rewound.head), (2, ids[2], Some(ids[1])));
        assert_eq!((message_texts(&oneiro, "a", false).len(), message_texts(&oneiro, "a", true).len()), (2, 4));
        assert_eq!(oneiro.sessions().rewind(&id("a"), ids[2].into()).unwrap_err().kind(), ErrorKind::Conflict);
        let points: Vec<MessageId> = oneiro.sessions().rewind_points(&id("a"), 9).unwrap().iter().map(|m| m.id).collect();
        assert_eq!(points, [ids[0]]);
        let all = oneiro.sessions().rewind(&id("a"), ids[0].into()).unwrap();
        assert_eq!((all.rewound, all.head), (2, None));
        let session = oneiro.sessions().find(&id("a")).unwrap().unwrap();
        assert_eq!((session.rewind_count, session.preview), (2, None));
    }

    fn rewinds_are_restored_one_by_one_or_all_at_once(space) {
        for all in [false, true] {
            let space = oneiro_testkit::TestSpace::new(space.backend);
            let oneiro = open(&space);
            begin(&oneiro, "a");
            let ids = say(&oneiro, "a", &["1", "2", "3", "4"]);
            oneiro.sessions().rewind(&id("a"), MessageId(ids[3]).into()).unwrap();
            oneiro.sessions().rewind(&id("a"), MessageId(ids[1]).into()).unwrap();
            say(&oneiro, "a", &["5"]);
            assert_eq!(message_texts(&oneiro, "a", false), ["1", "5"]);
            if all {
                assert_eq!(oneiro.sessions().restore(&id("a"), oneiro::RestoreRequest { all: true }).unwrap().restored, 3);
            } else {
                assert_eq!(oneiro.sessions().restore(&id("a"), oneiro::RestoreRequest { all: false }).unwrap().restored, 2);
                assert_eq!(message_texts(&oneiro, "a", false), ["1", "2", "3", "5"]);
                assert_eq!(oneiro.sessions().restore(&id("a"), oneiro::RestoreRequest { all: false }).unwrap().restored, 1);
            }
            assert_eq!(message_texts(&oneiro, "a", false), ["1", "2", "3", "4", "5"]);
            assert_eq!(oneiro.sessions().restore(&id("a"), oneiro::RestoreRequest { all }).unwrap().restored, 0);
            assert_sound(&oneiro);
        }
    }

    fn compacted_messages_stay_compacted_after_a_restore(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        let ids = say(&oneiro, "a", &["1", "2", "3"]);
        assert_eq!(oneiro.host().compact_messages(&id("a"), MessageId(ids[1])).unwrap(), 2);
        assert_eq!(message_texts(&oneiro, "a", false), ["3"]);
        oneiro.sessions().rewind(&id("a"), MessageId(ids[1]).into()).unwrap();
        assert_eq!(oneiro.sessions().restore(&id("a"), oneiro::RestoreRequest { all: true }).unwrap().restored, 2);
        assert_eq!(message_texts(&oneiro, "a", false), ["3"]);
        let view = oneiro.sessions().show(&id("a"), true).unwrap();
        let seen: Vec<Visibility> = view.messages.iter().map(|message| message.visibility).collect();
        assert_eq!(seen, [Visibility::Compacted, Visibility::Compacted, Visibility::Live]);
        assert_sound(&oneiro);
    }
}
