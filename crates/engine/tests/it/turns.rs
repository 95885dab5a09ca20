//! Turns of sessions are interactions without a second call and without a second copy of their text.

use crate::memories::kind_of;
use crate::support::{agent, begin, id, new, open, say};
use oneiro::{
    Ending, ErrorKind, Interaction, ListInteractions, MessageId, NewInteraction, NewSession,
    Oneiro, RewindRequest,
};
use oneiro_testkit::on_both_backends;
use serde_json::json;

fn list(oneiro: &Oneiro, request: &ListInteractions) -> Vec<Interaction> {
    oneiro.learning().interactions(request).unwrap()
}

fn prompts(oneiro: &Oneiro, request: &ListInteractions) -> Vec<String> {
    list(oneiro, request).into_iter().map(|one| one.prompt).collect()
}

fn answer(oneiro: &Oneiro, session: &str, text: &str) {
    oneiro.messages().append(&id(session), vec![agent(text)]).unwrap();
}

on_both_backends! {
    fn a_turn_is_listed_when_the_next_begins_or_the_session_ends(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        say(&oneiro, "s", &["Where is the key?"]);
        answer(&oneiro, "s", "Under the mat.");
        answer(&oneiro, "s", "The blue mat.");
        assert!(prompts(&oneiro, &ListInteractions::default()).is_empty(), "it is not closed");
        say(&oneiro, "s", &["And the car?"]);
        let all = list(&oneiro, &ListInteractions::default());
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].prompt.as_str(), all[0].response.as_deref()), ("Where is the key?", None));
        assert_eq!(all[0].session_id, Some(id("s")));
        let shown = oneiro.learning().interaction(all[0].id.as_str()).unwrap();
        assert_eq!(shown.response.as_deref(), Some("Under the mat.\n\nThe blue mat."));
        assert_eq!((&shown.id, shown.message_id), (&all[0].id, all[0].message_id));
        oneiro.sessions().end(&id("s"), Ending::default()).unwrap();
        assert_eq!(prompts(&oneiro, &ListInteractions::default()), ["And the car?", "Where is the key?"]);
    }

    fn turns_and_reported_interactions_share_filters_and_the_limit(space) {
        let oneiro = open(space);
        let of = |name: &str, source: &str, project: &str| NewSession {
            source: Some(source.into()), project: Some(project.into()), ..new(name)
        };
        oneiro.sessions().create(of("a", "claude-code", "atlas")).unwrap();
        oneiro.sessions().create(of("b", "codex", "beacon")).unwrap();
        for session in ["a", "b"] {
            say(&oneiro, session, &[&format!("What does {session} say?"), &format!("And then, {session}?")]);
            oneiro.sessions().end(&id(session), Ending::default()).unwrap();
        }
        let reported: NewInteraction = serde_json::from_value(
            json!({"prompt": "Who reports?", "project": "atlas", "client": "curl"})
        ).unwrap();
        oneiro.clock.set(60);
        oneiro.learning().capture(reported).unwrap();
        let with = |filter: ListInteractions| prompts(&oneiro, &filter);
        let any = ListInteractions::default;
        assert_eq!(with(any()).len(), 5);
        assert_eq!(with(any())[0], "Who reports?");
        assert_eq!(
            with(ListInteractions { project: Some("atlas".into()), ..any() }),
            ["Who reports?", "And then, a?", "What does a say?"]
        );
        assert_eq!(with(ListInteractions { client: Some("codex".into()), ..any() }).len(), 2);
        assert_eq!(with(ListInteractions { session: Some(id("a")), ..any() }).len(), 2);
        assert_eq!(with(ListInteractions { session: Some(id("none")), ..any() }).len(), 0);
        assert_eq!(with(ListInteractions { limit: 2, ..any() }).len(), 2);
        oneiro.settings().set("learn_exclude_projects", Some(json!(["beacon"]))).unwrap();
        assert_eq!(with(any()).len(), 3, "a project that is switched off has no interactions");
    }

    fn a_list_has_at_most_500_turns_and_rewound_ones_are_not_among_them(space) {
        let oneiro = open(space);
        begin(&oneiro, "long");
        let said: Vec<String> = (0..510).map(|turn| format!("Question number {turn}?")).collect();
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        say(&oneiro, "long", &said);
        let all = ListInteractions { limit: 1_000, ..ListInteractions::default() };
        let listed = prompts(&oneiro, &all);
        assert_eq!((listed.len(), listed[0].as_str()), (500, "Question number 508?"));
        oneiro.sessions().rewind(&id("long"), RewindRequest { turns: Some(3), to: None }).unwrap();
        assert_eq!(prompts(&oneiro, &all)[0], "Question number 505?");
    }

    fn a_turn_that_does_not_exist_is_not_found(space) {
        let oneiro = open(space);
        begin(&oneiro, "s");
        answer(&oneiro, "s", "Nobody asked.");
        for seq in [1, 99] {
            let id = oneiro::InteractionId::of_turn(MessageId(seq));
            assert_eq!(kind_of(oneiro.learning().interaction(id.as_str())), ErrorKind::NotFound);
        }
    }
}
