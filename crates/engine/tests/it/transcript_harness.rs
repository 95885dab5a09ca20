//! What the harness writes into a transcript is distinguished from what the person wrote, titles
//! come from the person, and sessions end when nothing comes any more.

use crate::search_support::find;
use crate::support::{
    Fixed, NOW, assert_sound, begin, content, export, id, import, open, say, user,
};
use crate::transcript_files::{File, OWN, answer_line, capture, user_line};
use oneiro::{
    EraseTarget, Message, NewSession, Part, RewindRequest, Role, SearchRequest, Session, Timestamp,
    WindowRequest, parts,
};
use oneiro_testkit::{TestSpace, on_both_backends};
use serde_json::{Value, json};

const REMINDER: &str = "<system-reminder>\nThe todo list is empty.\n</system-reminder>";
const CLEAR: &str = "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n\
                     <command-args></command-args>";

const DAY: i64 = 86_400;

/// A space with a transcript of these turns of the person.
fn captured(space: &TestSpace, turns: &[&str]) -> (Fixed, File) {
    let oneiro = open(space);
    let file = File::new(space, OWN);
    file.add_all(turns.iter().zip(1..).map(|(words, n)| user_line(n, words)));
    capture(&oneiro, &file);
    (oneiro, file)
}

fn session(oneiro: &Fixed) -> Session {
    oneiro.sessions().find(&id(OWN)).unwrap().unwrap()
}

fn messages(oneiro: &Fixed) -> Vec<Message> {
    oneiro.sessions().show(&id(OWN), true).unwrap().messages
}

/// Sets the clock to this many seconds after the last line of the transcripts.
fn set_clock_after_lines(oneiro: &Fixed, seconds: i64) {
    let lines = Timestamp::parse("2026-03-02T09:00:00Z").unwrap();
    oneiro.clock.set((lines.micros() - NOW.micros()) / 1_000_000 + seconds);
}

/// Does what `serve` does in the background.
fn run_background(oneiro: &Fixed) {
    oneiro.jobs().run_local(std::time::Duration::ZERO).unwrap();
}

on_both_backends! {
    fn a_question_after_a_reminder_is_the_persons(space) {
        let text = format!("{REMINDER}\n\nwhere is the tea?");
        let (oneiro, _) = captured(space, &[&text]);
        let [message] = &messages(&oneiro)[..] else { panic!("not one message") };
        assert_eq!((&message.role, content(message)), (&Role::User, text.clone()));
        assert_eq!(
            parts(&message.role, &message.body),
            [Part::Harness { kind: "reminder", text: &text[..REMINDER.len() + 2] },
             Part::Text("where is the tea?")]
        );
        assert_eq!(session(&oneiro).preview.as_deref(), Some("where is the tea?"));
        assert_sound(&oneiro);
    }

    fn an_export_gives_a_message_with_harness_text_back_as_it_was(space) {
        let text = format!("où?\n{REMINDER}\n");
        let (oneiro, _) = captured(space, &[&text]);
        let exported = export(&oneiro);
        let before = serde_json::to_value(messages(&oneiro)).unwrap();
        oneiro.sessions().delete(&id(OWN)).unwrap();
        import(&oneiro, &exported).unwrap();
        let mut after = serde_json::to_value(messages(&oneiro)).unwrap();
        after[0]["id"] = before[0]["id"].clone();
        assert_eq!(after.to_string(), before.to_string());
        assert_eq!(after[0]["content"], text);
    }

    fn a_provider_gets_the_message_as_the_harness_sent_it(space) {
        let text = format!("{REMINDER}\nwhere is the tea?");
        let (oneiro, _) = captured(space, &[&text]);
        let window = oneiro.context().window(&id(OWN), &WindowRequest::default()).unwrap();
        assert_eq!(json!(window.messages), json!([{"role": "user", "content": text}]));
    }

    fn harness_text_alone_is_not_a_turn_that_a_rewind_counts(space) {
        let interrupted = "[Request interrupted by user]";
        let (oneiro, _) = captured(space, &["first", CLEAR, "second", interrupted]);
        let roles: Vec<Role> = messages(&oneiro).into_iter().map(|message| message.role).collect();
        assert_eq!(roles, [Role::User, Role::System, Role::User, Role::System]);
        let request = RewindRequest { turns: Some(1), ..RewindRequest::default() };
        let rewound = oneiro.sessions().rewind(&id(OWN), request).unwrap();
        assert_eq!((content(&rewound.target).as_str(), rewound.rewound), ("second", 2));
    }

    fn a_message_that_nobody_captured_has_no_harness_text(space) {
        let oneiro = open(space);
        begin(&oneiro, "api");
        say(&oneiro, "api", &[REMINDER]);
        let view = oneiro.sessions().show(&id("api"), true).unwrap();
        let [message] = &view.messages[..] else { panic!("not one message") };
        assert_eq!(message.role, Role::User);
        assert_eq!(parts(&message.role, &message.body), [Part::Text(REMINDER)]);
    }

    fn harness_text_is_found_after_what_the_person_said(space) {
        let reminded = "<system-reminder>the marmalade is in the cellar</system-reminder>\nhello there";
        let (oneiro, _) = captured(space, &[reminded, "the marmalade is in the cellar"]);
        let ids: Vec<i64> = messages(&oneiro).iter().map(|message| message.id.0).collect();
        assert_eq!(find(&oneiro, "where is the marmalade"), [ids[1], ids[0]]);
    }

    fn a_neighbour_of_a_hit_is_shown_without_harness_text(space) {
        let question = format!("{REMINDER}\n\nwhere is the tea?");
        let (oneiro, _) = captured(space, &[&question, "it is beside the kettle"]);
        let request = SearchRequest { neighbours: 1, ..SearchRequest::new("kettle") };
        let found = oneiro.search().run(&request).unwrap();
        assert_eq!(found.hits[0].neighbours[0].text, "where is the tea?");
    }

    fn a_title_holds_no_secret_and_goes_with_its_erased_message(space) {
        let (oneiro, _) = captured(space, &["my password: hunter2hunter2 please log in", "done"]);
        let title = session(&oneiro).title.unwrap();
        assert!(!title.contains("hunter2") && title.contains("log in"), "{title}");
        let message = messages(&oneiro)[0].id;
        let erased = oneiro.erase(&EraseTarget::Message(message)).unwrap();
        assert_eq!((session(&oneiro).title, erased.proof.found), (None, 0));
    }

    fn a_title_is_the_first_real_sentence_of_the_person(space) {
        let question = format!("{REMINDER}\nWhy does the parser fail on tabs? It did not before.");
        let (oneiro, file) = captured(space, &[CLEAR, "/model opus", &question, "and now?"]);
        assert_eq!(session(&oneiro).title.as_deref(), Some("Why does the parser fail on tabs?"));
        assert_eq!(session(&oneiro).preview.as_deref(), Some("/model opus"));
        file.add(&json!({"type": "summary", "summary": CLEAR, "leafUuid": crate::transcript_files::line_uuid(1)}));
        file.add(&json!({"type": "ai-title", "aiTitle": "Tabs", "sessionId": OWN}));
        capture(&oneiro, &file);
        assert_eq!(session(&oneiro).title.as_deref(), Some("Tabs"));
    }

    fn a_session_of_a_transcript_ends_after_a_day_and_reopens_when_it_goes_on(space) {
        let (oneiro, file) = captured(space, &["first"]);
        set_clock_after_lines(&oneiro, DAY - 1);
        run_background(&oneiro);
        assert_eq!(session(&oneiro).ended_at, None);
        set_clock_after_lines(&oneiro, 2 * DAY);
        run_background(&oneiro);
        let ended = session(&oneiro);
        assert_eq!(ended.end_reason.as_deref(), Some("idle"));
        assert_eq!(ended.ended_at, Some(Timestamp::parse("2026-03-03T09:00:00Z").unwrap()));
        let mut line = user_line(2, "still there?");
        line["timestamp"] = "2026-03-04T08:00:00Z".into();
        file.add(&line);
        capture(&oneiro, &file);
        assert_eq!((session(&oneiro).ended_at, session(&oneiro).end_reason), (None, None));
    }

    fn an_old_transcript_has_ended_when_it_is_captured(space) {
        let oneiro = open(space);
        set_clock_after_lines(&oneiro, 30 * DAY);
        let file = File::new(space, OWN);
        file.add(&user_line(1, "first"));
        capture(&oneiro, &file);
        assert_eq!(session(&oneiro).end_reason.as_deref(), Some("idle"));
        // Lines that are as old are no reason to take it for open.
        file.add(&answer_line(2, "m1", "second", 1));
        capture(&oneiro, &file);
        assert_eq!(session(&oneiro).ended_at, Some(Timestamp::parse("2026-03-03T09:00:01Z").unwrap()));
    }

    fn sessions_that_came_in_another_way_stay_open(space) {
        let oneiro = open(space);
        for (name, source) in [("one", "claude-code"), ("two", "subagent"), ("three", "cli")] {
            let begun = NewSession { source: Some(source.into()), ..NewSession::with_id(id(name)) };
            oneiro.sessions().create(begun).unwrap();
            let message = user("hello").external_id(format!("{name}-1"));
            oneiro.messages().append(&id(name), vec![message]).unwrap();
        }
        set_clock_after_lines(&oneiro, 30 * DAY);
        run_background(&oneiro);
        for name in ["one", "two", "three"] {
            assert_eq!(oneiro.sessions().find(&id(name)).unwrap().unwrap().ended_at, None, "{name}");
        }
    }

    // A session as it was captured before harness text was told apart: the command is the person's
    // and the question is not. Messages are immutable, so they stay; the title is found beside
    // them.
    fn a_session_captured_earlier_gets_its_title_and_its_end(space) {
        let oneiro = open(space);
        let begun = NewSession { source: Some("claude-code".into()), ..NewSession::with_id(id(OWN)) };
        oneiro.sessions().create(begun).unwrap();
        let question = format!("{REMINDER}\nWhy does the parser fail?");
        let old = [
            json!({"role": "user", "content": CLEAR, "external_id": crate::transcript_files::line_uuid(1)}),
            json!({"role": "system", "kind": "meta", "content": question, "external_id": crate::transcript_files::line_uuid(2)}),
        ];
        let old: Vec<_> = old.into_iter().map(|one: Value| oneiro::NewMessage::from_json(one).unwrap()).collect();
        oneiro.messages().append(&id(OWN), old).unwrap();
        set_clock_after_lines(&oneiro, 2 * DAY);
        run_background(&oneiro);
        let session = session(&oneiro);
        assert_eq!(session.title.as_deref(), Some("Why does the parser fail?"));
        assert_eq!(session.end_reason.as_deref(), Some("idle"));
        let roles: Vec<Role> = messages(&oneiro).into_iter().map(|message| message.role).collect();
        assert_eq!(roles, [Role::User, Role::System]);
    }
}
