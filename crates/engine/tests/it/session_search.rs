//! Session search: discover, scroll, read and browse, as agents use them.

use crate::support::{Fixed, agent, begin, id, new, open, say, user};
use oneiro::{
    Conversation, ErrorKind, Lineage, MessageId, NewMessage, NewSession, Role, SessionFound,
    SessionSearchRequest, ShownMessage, Sort, Tier,
};
use oneiro_testkit::on_both_backends;

fn search(oneiro: &Fixed, discover: SessionSearchRequest) -> Vec<Conversation> {
    match oneiro.search().sessions(&discover).unwrap() {
        SessionFound::Discover { conversations, .. } => conversations,
        other => panic!("{other:?}"),
    }
}

fn discover(oneiro: &Fixed, query: &str) -> Vec<Conversation> {
    search(oneiro, SessionSearchRequest::new(query))
}

fn ids(found: &[Conversation]) -> Vec<&str> {
    found.iter().map(|one| one.session.id.as_str()).collect()
}

fn scroll(
    oneiro: &Fixed,
    session: &str,
    around: i64,
    window: usize,
) -> oneiro::Result<SessionFound> {
    oneiro.search().sessions(&SessionSearchRequest {
        session: Some(id(session)),
        around: Some(MessageId(around).into()),
        window: Some(window),
        ..SessionSearchRequest::default()
    })
}

fn read(oneiro: &Fixed, session: &str) -> oneiro::Result<SessionFound> {
    oneiro.search().sessions(&SessionSearchRequest {
        session: Some(id(session)),
        ..SessionSearchRequest::default()
    })
}

fn texts(messages: &[ShownMessage]) -> Vec<&str> {
    messages.iter().map(|message| message.text.as_str()).collect()
}

fn of_source(oneiro: &Fixed, name: &str, source: &str) {
    oneiro.sessions().create(NewSession { source: Some(source.into()), ..new(name) }).unwrap();
}

fn child(oneiro: &Fixed, name: &str, parent: &str, lineage: Lineage) {
    let session = NewSession { parent_id: Some(id(parent)), lineage: Some(lineage), ..new(name) };
    oneiro.sessions().create(session).unwrap();
}

/// A session of `count` messages, person and agent in turns, numbered from 1.
fn long(oneiro: &Fixed, name: &str, count: usize) -> Vec<i64> {
    begin(oneiro, name);
    let message = |number: usize| match number % 2 {
        1 => user(&format!("question {number}")),
        _ => agent(&format!("answer {number}")),
    };
    let messages = (1..=count).map(message).collect();
    oneiro.messages().append(&id(name), messages).unwrap().ids.into_iter().map(|id| id.0).collect()
}

on_both_backends! {
    fn a_hit_is_shown_with_its_window_and_bookends(space) {
        let oneiro = open(space);
        let seqs = long(&oneiro, "a", 14);
        say(&oneiro, "a", &["the pomegranate is in the cellar"]);
        let rest: Vec<NewMessage> = (16..=30).map(|n| agent(&format!("answer {n}"))).collect();
        oneiro.messages().append(&id("a"), rest).unwrap();
        let found = discover(&oneiro, "where is the pomegranate");
        assert_eq!(ids(&found), ["a"]);
        let one = &found[0];
        assert_eq!(one.window.len(), 11);
        let anchor: Vec<_> = one.window.iter().filter(|message| message.anchor).collect();
        assert_eq!(texts(&[anchor[0].clone()]), ["the pomegranate is in the cellar"]);
        assert_eq!((anchor.len(), anchor[0].id), (1, one.hit.as_ref().unwrap().id));
        assert_eq!((one.before, one.after), (9, 10));
        assert_eq!(texts(&one.opening), ["question 1", "answer 2", "question 3"]);
        assert_eq!(texts(&one.closing), ["answer 28", "answer 29", "answer 30"]);
        assert_eq!(one.window[0].id.0, seqs[9]);
        assert!(one.root_id.is_none() && one.session.system_prompt.is_none() && !one.titled);
        let narrow = search(&oneiro, SessionSearchRequest { window: Some(1), ..SessionSearchRequest::new("pomegranate") });
        assert_eq!((narrow[0].window.len(), narrow[0].before, narrow[0].after), (3, 13, 14));
    }

    fn bookends_repeat_nothing_that_the_window_shows(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        say(&oneiro, "a", &["one", "two", "three", "a pomegranate", "five"]);
        let found = discover(&oneiro, "pomegranate");
        assert_eq!((found[0].window.len(), found[0].before, found[0].after), (5, 0, 0));
        assert!(found[0].opening.is_empty() && found[0].closing.is_empty());
        // Seven messages, a window of three: two are left on one side and two on the other.
        begin(&oneiro, "b");
        say(&oneiro, "b", &["1", "2", "3", "a quince", "5", "6", "7"]);
        let found = search(&oneiro, SessionSearchRequest { window: Some(1), ..SessionSearchRequest::new("quince") });
        assert_eq!(texts(&found[0].opening), ["1", "2"]);
        assert_eq!(texts(&found[0].closing), ["6", "7"]);
    }

    fn bookends_are_user_and_assistant_messages(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        let tool = |n: usize| NewMessage::text(Role::Tool, format!("tool output {n}"));
        let mut messages: Vec<NewMessage> = (0..20).map(tool).collect();
        messages.push(user("good morning"));
        messages.extend((20..30).map(tool));
        messages.push(user("the pomegranate is red"));
        messages.extend((30..50).map(tool));
        messages.push(agent("good night"));
        messages.extend((50..55).map(tool));
        oneiro.messages().append(&id("a"), messages).unwrap();
        let found = discover(&oneiro, "pomegranate");
        assert_eq!(texts(&found[0].opening), ["good morning"]);
        assert_eq!(texts(&found[0].closing), ["good night"]);
    }

    fn one_conversation_is_found_once_whatever_its_lineage(space) {
        let oneiro = open(space);
        for name in ["root", "other"] {
            begin(&oneiro, name);
        }
        child(&oneiro, "next", "root", Lineage::Continuation);
        child(&oneiro, "way", "next", Lineage::Branch);
        for name in ["root", "next", "way", "other"] {
            say(&oneiro, name, &["a pomegranate again"]);
        }
        say(&oneiro, "next", &["the pomegranate harvest is in october"]);
        let found = discover(&oneiro, "pomegranate harvest october");
        assert_eq!(found.len(), 2, "{:?}", ids(&found));
        assert_eq!(ids(&found)[0], "next");
        assert_eq!(found[0].root_id, Some(id("root")));
        let others = search(&oneiro, SessionSearchRequest { exclude_lineage: Some(id("way")), ..SessionSearchRequest::new("pomegranate") });
        assert_eq!(ids(&others), ["other"]);
        // A session that is not stored yet has no lineage to leave out.
        let all = search(&oneiro, SessionSearchRequest { exclude_lineage: Some(id("unknown")), ..SessionSearchRequest::new("pomegranate") });
        assert_eq!(all.len(), 2);
    }

    fn conversations_of_people_come_before_those_of_machines_and_tools_are_hidden(space) {
        let oneiro = open(space);
        for (name, source) in [("c", "cron"), ("h", "heartbeat"), ("t", "tool"), ("s", "subagent"), ("p", "telegram")] {
            of_source(&oneiro, name, source);
        }
        for name in ["c", "h", "t", "s"] {
            say(&oneiro, name, &["the pomegranate report"]);
        }
        say(&oneiro, "p", &["a long story in which, after many other things, somebody at last sells one pomegranate"]);
        let all = SessionSearchRequest { limit: Some(10), ..SessionSearchRequest::new("pomegranate report") };
        let found = search(&oneiro, all.clone());
        assert_eq!(ids(&found)[0], "p");
        assert_eq!(found.len(), 3, "{:?}", ids(&found));
        let tools = search(&oneiro, SessionSearchRequest { sources: vec!["tool".into()], ..all.clone() });
        assert_eq!(ids(&tools), ["t"]);
        let named = search(&oneiro, SessionSearchRequest { query: Some("pomegranate source:subagent".into()), ..all.clone() });
        assert_eq!(ids(&named), ["s"]);
        let fewer = search(&oneiro, SessionSearchRequest { exclude_sources: vec!["cron".into(), "heartbeat".into()], ..all });
        assert_eq!(ids(&fewer), ["p"]);
    }

    fn only_user_and_assistant_messages_are_found_unless_roles_are_given(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        begin(&oneiro, "b");
        oneiro.messages().append(&id("a"), vec![NewMessage::text(Role::Tool, "pomegranate listing")]).unwrap();
        oneiro.messages().append(&id("b"), vec![agent("a pomegranate")]).unwrap();
        assert_eq!(ids(&discover(&oneiro, "pomegranate")), ["b"]);
        let tool = SessionSearchRequest { roles: vec![Role::Tool], ..SessionSearchRequest::new("pomegranate") };
        assert_eq!(ids(&search(&oneiro, tool)), ["a"]);
        assert_eq!(ids(&discover(&oneiro, "pomegranate role:tool")), ["a"]);
    }

    fn conversations_can_be_sorted_by_time(space) {
        let oneiro = open(space);
        for (at, name) in ["a", "b", "c", "d"].iter().enumerate() {
            oneiro.clock.set(at as i64 * 3_600);
            begin(&oneiro, name);
            say(&oneiro, name, &["a pomegranate"]);
        }
        let by = |sort| search(&oneiro, SessionSearchRequest { sort, limit: Some(2), ..SessionSearchRequest::new("pomegranate") });
        assert_eq!(ids(&by(Sort::Newest)), ["d", "c"]);
        assert_eq!(ids(&by(Sort::Oldest)), ["a", "b"]);
        assert_eq!(discover(&oneiro, "pomegranate").len(), 3);
    }

    fn a_title_with_every_word_comes_first(space) {
        let oneiro = open(space);
        for name in ["a", "b", "c"] {
            begin(&oneiro, name);
            say(&oneiro, name, &["the garden plan, with a new garden plan of the garden"]);
        }
        let titled = NewSession { title: Some("Garden plan for spring".into()), ..new("t") };
        oneiro.sessions().create(titled).unwrap();
        say(&oneiro, "t", &["hello there", "let us begin", "all done", "bye"]);
        let found = discover(&oneiro, "the garden plans");
        assert_eq!((ids(&found)[0], found.len(), found[0].titled), ("t", 3, true));
        assert!(found[0].hit.is_none() && found[0].window.is_empty());
        assert_eq!(texts(&found[0].opening), ["hello there", "let us begin", "all done"]);
        assert_eq!(texts(&found[0].closing), ["bye"]);
        // Where the session also says it, the hit is shown.
        say(&oneiro, "t", &["our garden plan is ready"]);
        let found = discover(&oneiro, "garden plan");
        assert_eq!(ids(&found)[0], "t");
        assert_eq!(found[0].hit.as_ref().unwrap().tier, Tier::Precise);
        // A filter is about messages, and a title that lacks a word is no title match.
        assert!(discover(&oneiro, "garden plan since:2099-01-01").is_empty());
        assert!(!discover(&oneiro, "garden plan of autumn").iter().any(|one| one.titled));
        let without = SessionSearchRequest { exclude_lineage: Some(id("t")), ..SessionSearchRequest::new("garden plan") };
        assert!(!ids(&search(&oneiro, without)).contains(&"t"));
    }

    fn rewound_messages_are_hidden_and_compacted_ones_are_shown(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        let seqs = say(&oneiro, "a", &["first thing", "the pomegranate", "third thing", "secret quince"]);
        oneiro.host().compact_messages(&id("a"), MessageId(seqs[1])).unwrap();
        oneiro.sessions().rewind(&id("a"), MessageId(seqs[3]).into()).unwrap();
        let found = discover(&oneiro, "pomegranate");
        assert_eq!(texts(&found[0].window), ["first thing", "the pomegranate", "third thing"]);
        assert_eq!((found[0].before, found[0].after), (0, 0));
        assert!(discover(&oneiro, "quince").is_empty());
        let SessionFound::Read { messages, omitted, .. } = read(&oneiro, "a").unwrap() else { panic!() };
        assert_eq!((messages.len(), omitted), (3, 0));
        let error = scroll(&oneiro, "a", seqs[3], 5).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.message().contains("rewound"), "{error}");
    }

    fn scrolling_moves_the_window_and_counts_the_messages_outside(space) {
        let oneiro = open(space);
        let seqs = long(&oneiro, "a", 20);
        let at = |index: usize, window| match scroll(&oneiro, "a", seqs[index], window).unwrap() {
            SessionFound::Scroll { messages, before, after, note, session_id } => {
                assert_eq!((session_id, note), (id("a"), None));
                assert_eq!(messages.iter().filter(|message| message.anchor).count(), 1);
                (messages.len(), before, after)
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(at(9, 5), (11, 4, 5));
        assert_eq!(at(0, 5), (6, 0, 14));
        assert_eq!(at(19, 5), (6, 14, 0));
        assert_eq!(at(9, 20), (20, 0, 0));
        for window in [0, 21] {
            let error = scroll(&oneiro, "a", seqs[0], window).unwrap_err();
            assert_eq!((error.kind(), error.field_name()), (ErrorKind::Invalid, Some("window")));
        }
    }

    fn a_message_of_the_same_lineage_is_found_with_a_note(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        child(&oneiro, "b", "a", Lineage::Continuation);
        begin(&oneiro, "c");
        let inside = say(&oneiro, "b", &["in the continuation"])[0];
        let outside = say(&oneiro, "c", &["elsewhere"])[0];
        match scroll(&oneiro, "a", inside, 5).unwrap() {
            SessionFound::Scroll { session_id, note, messages, .. } => {
                assert_eq!(session_id, id("b"));
                assert!(note.unwrap().contains("\"b\""));
                assert_eq!(texts(&messages), ["in the continuation"]);
            }
            other => panic!("{other:?}"),
        }
        for (session, message) in [("a", outside), ("a", 99_999), ("nowhere", inside)] {
            let error = scroll(&oneiro, session, message, 5).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound, "{session} {message}");
            assert!(error.remedy_text().is_some());
        }
    }

    fn a_long_session_is_shown_by_its_start_and_end(space) {
        let oneiro = open(space);
        long(&oneiro, "short", 30);
        long(&oneiro, "longer", 31);
        let titled = NewSession { title: Some("My trip".into()), ..new("xyz-1") };
        oneiro.sessions().create(titled).unwrap();
        let of = |name: &str| match read(&oneiro, name).unwrap() {
            SessionFound::Read { session, messages, omitted } => (session.id, messages, omitted),
            other => panic!("{other:?}"),
        };
        let (_, messages, omitted) = of("short");
        assert_eq!((messages.len(), omitted), (30, 0));
        let (_, messages, omitted) = of("longer");
        assert_eq!((messages.len(), omitted), (30, 1));
        assert_eq!((messages[19].text.as_str(), messages[20].text.as_str()), ("answer 20", "answer 22"));
        assert_eq!(of("sho").0, id("short"));
        assert_eq!(of("My trip").0, id("xyz-1"));
        assert_eq!(read(&oneiro, "nothing").unwrap_err().kind(), ErrorKind::NotFound);
    }

    fn long_texts_are_cut_and_marked(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        let long = |word: &str| format!("{word} {}", "é".repeat(9_000));
        let mut texts: Vec<String> = vec![long("opening")];
        texts.extend((0..9).map(|n| format!("filler {n}")));
        texts.push(long("pomegranate"));
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        say(&oneiro, "a", &texts);
        let found = discover(&oneiro, "pomegranate");
        let anchor = found[0].window.iter().find(|message| message.anchor).unwrap();
        assert_eq!(anchor.text.chars().count(), 4_001);
        assert_eq!(found[0].opening[0].text.chars().count(), 1_201);
        assert!(anchor.text.ends_with('…') && found[0].opening[0].text.ends_with('…'));
    }

    fn browsing_lists_recently_active_sessions(space) {
        let oneiro = open(space);
        for (at, (name, source)) in [("a", "cli"), ("b", "cli"), ("t", "tool"), ("c", "cli")].iter().enumerate() {
            oneiro.clock.set(at as i64 * 60);
            of_source(&oneiro, name, source);
            say(&oneiro, name, &["hello"]);
        }
        oneiro.clock.set(600);
        child(&oneiro, "d", "b", Lineage::Continuation);
        say(&oneiro, "d", &["hello again"]);
        begin(&oneiro, "empty");
        let browse = |limit, not: Option<&str>| {
            let request = SessionSearchRequest { limit: Some(limit), exclude_lineage: not.map(id), ..SessionSearchRequest::default() };
            match oneiro.search().sessions(&request).unwrap() {
                SessionFound::Browse { sessions } => {
                    sessions.into_iter().map(|session| session.id.to_string()).collect::<Vec<_>>()
                }
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(browse(10, None), ["d", "c", "a"]);
        assert_eq!(browse(2, Some("b")), ["c", "a"]);
        assert_eq!(browse(1, Some("c")), ["d"]);
        let zero = SessionSearchRequest { limit: Some(0), ..SessionSearchRequest::default() };
        assert_eq!(oneiro.search().sessions(&zero).unwrap_err().kind(), ErrorKind::Invalid);
    }

    fn a_query_without_words_is_refused(space) {
        let oneiro = open(space);
        begin(&oneiro, "a");
        say(&oneiro, "a", &["hello"]);
        for query in ["", "   ", "?!", "\"\"", "AND"] {
            match oneiro.search().sessions(&SessionSearchRequest::new(query)).unwrap() {
                SessionFound::Discover { conversations, note, .. } => {
                    assert!(conversations.is_empty() && note.is_some(), "{query:?}");
                }
                other => panic!("{other:?}"),
            }
        }
        for limit in [0, 11] {
            let request = SessionSearchRequest { limit: Some(limit), ..SessionSearchRequest::new("hello") };
            assert_eq!(oneiro.search().sessions(&request).unwrap_err().field_name(), Some("limit"));
        }
    }

    fn a_long_conversation_does_not_hide_others(space) {
        let oneiro = open(space);
        for name in ["a", "b", "c"] {
            begin(&oneiro, name);
        }
        let many: Vec<NewMessage> = (0..1_000).map(|n| user(&format!("pomegranate {n}"))).collect();
        oneiro.messages().append(&id("a"), many).unwrap();
        for name in ["b", "c"] {
            say(&oneiro, name, &["among many other things that have nothing to do with fruit at all, somebody sells a pomegranate"]);
        }
        assert_eq!(discover(&oneiro, "pomegranate").len(), 3);
    }
}
