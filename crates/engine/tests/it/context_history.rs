//! History changes under summaries: exactly those that covered what changed go, and nothing that is
//! live falls out of reach.

use crate::context_support::{
    Scripted, agent, assert_context_rules, begin, by_hand, live, open_llm, peek, prose, until, user,
};
use crate::support::{content, import, open};
use oneiro::{CompactRequest, NewMessage, Oneiro, SessionId, Summary};
use oneiro_testkit::on_both_backends;
use std::collections::BTreeMap;

/// Turns that each tell their number, of some two hundred tokens.
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

/// The summaries of a session, each as it stands, by id.
fn all(oneiro: &Oneiro, id: &SessionId) -> BTreeMap<String, String> {
    let told = |node: &Summary| {
        let node = Summary { parents: Vec::new(), in_context: true, ..node.clone() };
        (node.id.to_string(), format!("{node:?}"))
    };
    oneiro.context().summaries(id).unwrap().iter().map(told).collect()
}

/// Those of `before` that do not cover a message from `first` to `last`, as they were.
fn untouched(
    oneiro: &Oneiro,
    id: &SessionId,
    (first, last): (i64, i64),
) -> BTreeMap<String, String> {
    let touched = |node: &Summary| {
        let (from, to) = (node.first_message.unwrap().0, node.last_message.unwrap().0);
        from <= last && to >= first
    };
    let told = all(oneiro, id);
    let stay = oneiro.context().summaries(id).unwrap().into_iter().filter(|node| !touched(node));
    stay.map(|node| (node.id.to_string(), told[&node.id.to_string()].clone())).collect()
}

on_both_backends! {
    // A rewind removes exactly the summaries over what it hides.
    fn a_rewind_into_a_leaf_takes_that_leaf_and_no_other(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 60));
        until(&oneiro, &id, 4_000);
        assert_context_rules(&oneiro, &id);
        let to = live(&oneiro, &id)[60].id;
        let stay = untouched(&oneiro, &id, (to.0, i64::MAX));
        assert!(!stay.is_empty());
        oneiro.sessions().rewind(&id, to.into()).unwrap();
        assert_eq!(all(&oneiro, &id), stay);
        assert_context_rules(&oneiro, &id);
        let shown = peek(&oneiro, &id, 100_000);
        assert!(!format!("{:?}", shown.messages).contains("Turn 40."), "a stale fact is shown");
        oneiro.sessions().restore(&id, oneiro::RestoreRequest { all: false }).unwrap();
        assert_eq!(all(&oneiro, &id), stay);
        assert_context_rules(&oneiro, &id);
        until(&oneiro, &id, 4_000);
        assert_context_rules(&oneiro, &id);
    }

    // What comes back may come back between two leaves that a condensed summary joins by now.
    fn what_is_restored_between_condensed_leaves_is_in_reach(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 30));
        oneiro.settings().set("fresh_tail_turns", Some(1.into())).unwrap();
        until(&oneiro, &id, 2_500);
        let last = oneiro.context().summaries(&id).unwrap().iter().filter_map(|s| s.last_message).max().unwrap();
        let next = live(&oneiro, &id).into_iter().find(|m| m.id > last && m.role == oneiro::Role::User).unwrap();
        let hidden = content(&next);
        // Everything after the leaves is taken back; the talk goes on, and all is joined.
        oneiro.sessions().rewind(&id, next.id.into()).unwrap();
        oneiro.messages().append(&id, turns(100, 140)).unwrap();
        until(&oneiro, &id, 1_200);
        assert_context_rules(&oneiro, &id);
        oneiro.sessions().restore(&id, oneiro::RestoreRequest { all: false }).unwrap();
        assert!(live(&oneiro, &id).iter().any(|m| content(m) == hidden));
        assert_context_rules(&oneiro, &id);
    }

    fn what_is_truncated_is_no_longer_told_and_the_rest_stays(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 60));
        until(&oneiro, &id, 4_000);
        let keep = 50;
        let cut = live(&oneiro, &id)[120 - keep - 1].id;
        let stay = untouched(&oneiro, &id, (0, cut.0));
        assert_eq!(oneiro.messages().truncate_history(&id, keep).unwrap(), 120 - keep);
        assert_eq!(all(&oneiro, &id), stay);
        assert_eq!(live(&oneiro, &id).len(), keep);
        assert_context_rules(&oneiro, &id);
    }

    fn a_history_that_is_set_keeps_the_summaries_of_its_common_beginning(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 60));
        until(&oneiro, &id, 4_000);
        let before = live(&oneiro, &id);
        let stay = untouched(&oneiro, &id, (before[80].id.0, i64::MAX));
        let mut history = turns(0, 40);
        history.extend(turns(200, 210));
        let shown = oneiro.messages().set_history(&id, history).unwrap();
        assert_eq!(shown.len(), 100);
        assert_eq!(shown[..80].iter().map(|m| m.id).collect::<Vec<_>>(), before[..80].iter().map(|m| m.id).collect::<Vec<_>>());
        assert_eq!(all(&oneiro, &id), stay);
        assert_context_rules(&oneiro, &id);
        assert_eq!(oneiro.sessions().restore(&id, oneiro::RestoreRequest { all: false }).unwrap().restored, 40);
        assert_context_rules(&oneiro, &id);
    }

    fn an_import_beside_it_leaves_a_context_alone(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 60));
        until(&oneiro, &id, 4_000);
        let before = all(&oneiro, &id);
        let export = crate::support::export(&oneiro);
        import(&oneiro, &export).unwrap();
        import(&oneiro, "{\"id\":\"other\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}\n").unwrap();
        assert_eq!(all(&oneiro, &id), before);
        assert_context_rules(&oneiro, &id);
    }

    fn a_deleted_session_leaves_no_summary_behind(space) {
        let oneiro = open(space);
        let id = begin(&oneiro, "s", turns(0, 60));
        let other = begin(&oneiro, "t", turns(0, 60));
        until(&oneiro, &id, 2_000);
        until(&oneiro, &other, 2_000);
        let before = all(&oneiro, &other);
        oneiro.context().digest(&id, "what was said").unwrap();
        oneiro.sessions().delete(&id).unwrap();
        for table in ["summary_messages", "summary_children", "root_summaries", "contexts", "windows", "digests", "message_costs"] {
            let left = match table {
                "summary_messages" => by_hand(&oneiro, "SELECT COUNT(*) FROM summary_messages l WHERE NOT EXISTS (SELECT 1 FROM summaries s WHERE s.key = l.summary_key)"),
                "summary_children" => by_hand(&oneiro, "SELECT COUNT(*) FROM summary_children l WHERE NOT EXISTS (SELECT 1 FROM summaries s WHERE s.key = l.parent_key)"),
                table => by_hand(&oneiro, &format!("SELECT COUNT(*) FROM {table} l WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.key = l.session_key)")),
            };
            assert_eq!(left, [0], "{table}");
        }
        assert_eq!(all(&oneiro, &other), before);
        assert_context_rules(&oneiro, &other);
    }

    // The window must not go on telling what was rewound while a model was writing about it.
    fn a_rewind_while_a_model_writes_is_not_told_by_what_it_wrote(space) {
        let meanwhile = open(space);
        let id = begin(&meanwhile, "s", turns(0, 60));
        let (other, to) = (meanwhile.oneiro.clone(), live(&meanwhile, &id)[2].id);
        let rewound = id.clone();
        let llm = Scripted::new(move |number, asked| {
            if number == 1 {
                other.sessions().rewind(&rewound, to.into())?;
                other.messages().append(&rewound, turns(300, 305))?;
            }
            Ok(crate::context_support::gist(asked))
        });
        let oneiro = open_llm(space, llm);
        let done = oneiro.context().compact(&id, &CompactRequest { until: Some(3_000), redo: false }).unwrap();
        assert_context_rules(&oneiro, &id);
        for summary in oneiro.context().summaries(&id).unwrap() {
            assert!(!summary.content.contains("Turn 1."), "{done:?}");
        }
        assert_eq!(live(&oneiro, &id).len(), 12);
    }
}
