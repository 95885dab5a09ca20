//! The operations of the session store that agents know from picoclaw, each by a call or two of the
//! handle: one test to each, failures told.

use crate::context_support::{agent, live, prose, user};
use crate::support::{content, id as sid, open};
use oneiro::{
    Error, ErrorKind, Message, MessageId, NewMessage, NewSession, Oneiro, Result, Role, SessionId,
};
use oneiro_testkit::{TestSpace, on_both_backends};
use serde_json::json;

/// The store over a handle, as a host of picoclaw's kind would write it.
struct SessionStore {
    oneiro: Oneiro,
}

impl SessionStore {
    fn add_message(&self, key: &SessionId, role: Role, content: &str) -> Result<MessageId> {
        self.add_full_message(key, NewMessage::text(role, content))
    }

    fn add_full_message(&self, key: &SessionId, message: NewMessage) -> Result<MessageId> {
        let session = NewSession::with_id(key.clone());
        let appended = self.oneiro.messages().append_or_create(key, vec![message], session)?;
        appended.ids.first().copied().ok_or_else(|| Error::conflict("nothing is stored"))
    }

    fn get_history(&self, key: &SessionId) -> Result<Vec<Message>> {
        match self.oneiro.sessions().find(key)? {
            Some(_) => Ok(self.oneiro.sessions().show(key, false)?.messages),
            None => Ok(Vec::new()),
        }
    }

    fn get_summary(&self, key: &SessionId) -> Result<String> {
        match self.oneiro.sessions().find(key)? {
            Some(_) => self.oneiro.context().summary_text(key),
            None => Ok(String::new()),
        }
    }

    fn set_summary(&self, key: &SessionId, summary: &str) -> Result<()> {
        self.begin(key)?;
        self.oneiro.context().set_summary(key, summary).map(|_| ())
    }

    fn set_history(&self, key: &SessionId, history: Vec<NewMessage>) -> Result<()> {
        self.begin(key)?;
        self.oneiro.messages().set_history(key, history).map(|_| ())
    }

    fn begin(&self, key: &SessionId) -> Result<()> {
        match self.oneiro.sessions().find(key)? {
            Some(_) => Ok(()),
            None => self.oneiro.sessions().create(NewSession::with_id(key.clone())).map(|_| ()),
        }
    }
}

fn store(space: &TestSpace) -> (crate::support::Fixed, SessionStore) {
    let oneiro = open(space);
    let store = SessionStore { oneiro: oneiro.oneiro.clone() };
    (oneiro, store)
}

fn words(store: &SessionStore, name: &str) -> Vec<String> {
    store.get_history(&sid(name)).unwrap().iter().map(content).collect()
}

on_both_backends! {
    fn add_message(space) {
        let (_, store) = store(space);
        let one = store.add_message(&sid("s"), Role::User, "hello").unwrap();
        let two = store.add_message(&sid("s"), Role::Assistant, "hi").unwrap();
        assert!(one < two);
        assert_eq!(words(&store, "s"), ["hello", "hi"]);
    }

    fn add_full_message(space) {
        let (oneiro, store) = store(space);
        let full = json!({"role": "assistant", "content": "text beside", "reasoning": "because", "model_name": "m",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]});
        store.add_full_message(&sid("s"), NewMessage::from_json(full.clone()).unwrap()).unwrap();
        let stored = serde_json::to_value(&store.get_history(&sid("s")).unwrap()[0]).unwrap();
        for field in ["content", "reasoning", "model_name", "tool_calls"] {
            assert_eq!(stored[field], full[field], "{field}");
        }
        let twice = user("once").external_id("e1");
        let first = store.add_full_message(&sid("s"), twice.clone()).unwrap();
        assert_eq!(store.add_full_message(&sid("s"), twice).unwrap(), first);
        // What is not stored is an error, not a silence.
        oneiro.settings().set("stateless_session_patterns", Some(json!(["cron:*"]))).unwrap();
        for dropped in ["heartbeat", "cron:1"] {
            assert!(store.add_message(&sid(dropped), Role::User, "x").is_err(), "{dropped}");
        }
    }

    fn get_history(space) {
        let (oneiro, store) = store(space);
        assert!(store.get_history(&sid("nobody")).unwrap().is_empty());
        for at in 0..30 {
            store.add_message(&sid("s"), Role::User, &format!("m{at}")).unwrap();
        }
        oneiro.sessions().rewind(&sid("s"), oneiro::RewindRequest { turns: Some(10), ..oneiro::RewindRequest::default() }).unwrap();
        assert_eq!(words(&store, "s").len(), 20);
    }

    fn get_summary(space) {
        let (oneiro, store) = store(space);
        assert_eq!(store.get_summary(&sid("nobody")).unwrap(), "");
        for at in 0..80 {
            store.add_message(&sid("s"), Role::User, &prose(at, 120)).unwrap();
        }
        assert_eq!(store.get_summary(&sid("s")).unwrap(), "");
        crate::context_support::until(&oneiro, &sid("s"), 3_000);
        let made = store.get_summary(&sid("s")).unwrap();
        assert!(!made.is_empty());
        store.set_summary(&sid("s"), "By hand.").unwrap();
        assert_eq!(store.get_summary(&sid("s")).unwrap(), format!("By hand.\n\n{made}"));
    }

    fn set_summary(space) {
        let (oneiro, store) = store(space);
        store.set_summary(&sid("s"), " First. ").unwrap();
        assert_eq!(store.get_summary(&sid("s")).unwrap(), "First.");
        store.set_summary(&sid("s"), "Second.").unwrap();
        assert_eq!(store.get_summary(&sid("s")).unwrap(), "Second.");
        store.add_message(&sid("s"), Role::User, "hello").unwrap();
        let window = crate::context_support::peek(&oneiro, &sid("s"), 2_000);
        assert!(window.messages[0]["content"].as_str().unwrap().contains("Second."));
        store.set_summary(&sid("s"), "").unwrap();
        assert_eq!(store.get_summary(&sid("s")).unwrap(), "");
        assert!(store.set_summary(&sid("s"), "nul \u{0}").is_err());
        assert!(store.set_summary(&sid("s"), &"x".repeat(2 << 20)).is_err());
        assert!(store.set_summary(&sid("heartbeat"), "x").is_err());
        crate::support::assert_sound(&oneiro);
    }

    fn set_history(space) {
        let (oneiro, store) = store(space);
        for text in ["a", "b", "c", "d"] {
            store.add_message(&sid("s"), Role::User, text).unwrap();
        }
        store.set_history(&sid("s"), vec![user("a"), user("b"), user("x"), agent("y")]).unwrap();
        assert_eq!(words(&store, "s"), ["a", "b", "x", "y"]);
        // Hidden, never deleted.
        assert_eq!(oneiro.sessions().show(&sid("s"), true).unwrap().messages.len(), 6);
        store.set_history(&sid("s"), Vec::new()).unwrap();
        assert!(words(&store, "s").is_empty());
        oneiro.sessions().restore(&sid("s"), oneiro::RestoreRequest { all: true }).unwrap();
        assert_eq!(oneiro.sessions().show(&sid("s"), false).unwrap().messages.len(), 6);
        crate::support::assert_sound(&oneiro);
        // The same again changes nothing.
        store.set_history(&sid("n"), vec![user("one"), user("two")]).unwrap();
        let before = live(&oneiro, &sid("n")).iter().map(|m| m.id).collect::<Vec<_>>();
        store.set_history(&sid("n"), vec![user("one"), user("two")]).unwrap();
        assert_eq!(live(&oneiro, &sid("n")).iter().map(|m| m.id).collect::<Vec<_>>(), before);
    }

    fn set_history_shows_exactly_what_it_is_given_or_refuses(space) {
        let (oneiro, store) = store(space);
        store.add_full_message(&sid("s"), user("first").external_id("e1")).unwrap();
        store.add_full_message(&sid("s"), user("second").external_id("e2")).unwrap();
        // An id that a hidden message keeps.
        store.set_history(&sid("s"), vec![user("other words").external_id("e1"), user("more").external_id("e3")]).unwrap();
        assert_eq!(words(&store, "s"), ["other words", "more"]);
        // An id twice in one history: both are shown, or it is refused and nothing changes.
        let twice = vec![user("new one").external_id("e9"), user("new two").external_id("e9")];
        match store.set_history(&sid("s"), twice) {
            Ok(()) => assert_eq!(words(&store, "s"), ["new one", "new two"]),
            Err(_) => assert_eq!(words(&store, "s"), ["other words", "more"]),
        }
        crate::support::assert_sound(&oneiro);
    }

    fn set_history_stores_nothing_in_a_stateless_session(space) {
        let (oneiro, store) = store(space);
        // Nothing said in a stateless session is stored, by no door.
        oneiro.settings().set("stateless_session_patterns", Some(json!(["cron:*"]))).unwrap();
        let refused = store.set_history(&sid("cron:1"), vec![user("not to be kept")]);
        assert!(refused.is_err(), "an error is returned, not swallowed");
        assert!(store.get_history(&sid("cron:1")).unwrap().is_empty());
    }

    fn truncate_history(space) {
        let (oneiro, store) = store(space);
        for at in 0..10 {
            store.add_message(&sid("s"), Role::User, &format!("m{at}")).unwrap();
        }
        oneiro.messages().truncate_history(&sid("s"), 3).unwrap();
        assert_eq!(words(&store, "s"), ["m7", "m8", "m9"]);
        oneiro.messages().truncate_history(&sid("s"), 5).unwrap();
        assert_eq!(words(&store, "s").len(), 3);
        assert_eq!(oneiro.sessions().show(&sid("s"), true).unwrap().messages.len(), 10);
        oneiro.messages().truncate_history(&sid("s"), 0).unwrap();
        assert!(words(&store, "s").is_empty());
        assert_eq!(oneiro.messages().truncate_history(&sid("nobody"), 1).unwrap_err().kind(), ErrorKind::NotFound);
        crate::support::assert_sound(&oneiro);
    }
}
